"""A ladder is fitted to its own matches; whether that is better, newer matches say."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from typer.testing import Result

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.errors import InvalidEntry, NoSuchEntry
from cutpurse.leaderboard.ladders import NewLadder, ensure_ladder
from cutpurse.leaderboard.parameter_fit import RankedMatch, log_loss
from cutpurse.leaderboard.queries import ladder_history
from cutpurse.leaderboard.ratings import TrueSkill
from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.refit import LEAST, refit
from cutpurse.leaderboard.store import Store
from tests.leaderboard.sample_results import add_version, player_of, result
from tests.typed import run as cutpurse

MATCHES = LEAST + 40
NERVOUS = TrueSkill(draw_probability=0.2, beta=1.0, tau=3.0)  # takes luck for skill, and forgets it at once


@pytest.fixture(scope="module")
def league(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ladder of a lucky game whose bots never change, rated by numbers for one without luck."""
    path = tmp_path_factory.mktemp("refit") / "league.db"
    rng = random.Random("refit")
    with Store(path) as store:
        store.write(ensure_ladder, NewLadder("lucky", game="greed", seats=2, rating=NERVOUS))
        store.write(ensure_ladder, NewLadder("young", game="greed", seats=2, rating=NERVOUS))
        bots = {add_version(store, "ann", f"bot{at}", "1"): rng.gauss(0, 50) for at in range(8)}
        stored = []
        for number in range(MATCHES):
            pair = rng.sample(sorted(bots), 2)
            scores = [round(1_000 + bots[bot] + rng.gauss(0, 100)) for bot in pair]
            stored.append(store.submit(result(f"m{number}", pair, scores, ladder="lucky")))
        stored[-1].result()
    return path


def run(*words: object) -> Result:
    return cutpurse("db", *words)


def test_what_is_fitted_knows_the_luck_and_foretells_newer_matches_better(league: Path) -> None:
    with LeaderboardReader(league) as reader, reader.reading() as connection:
        found = refit(connection, "lucky")
        outcomes = [RankedMatch(step.versions, step.places) for step in ladder_history(connection, "lucky")]
        assert refit(connection, "lucky", most=LEAST).matches == LEAST
    assert (found.matches, found.judged, found.now) == (MATCHES, MATCHES // 4, NERVOUS)
    assert found.is_better
    assert found.fitted.beta > found.fitted.sigma  # twice the spread of skill was played
    assert found.fitted.tau < 0.2 < NERVOUS.tau
    assert found.now_loss == log_loss(outcomes, NERVOUS, after=MATCHES - MATCHES // 4)
    assert found.fitted_loss == log_loss(outcomes, found.fitted, after=MATCHES - MATCHES // 4)


def test_a_ladder_with_few_matches_or_none_is_refused(league: Path) -> None:
    with LeaderboardReader(league) as reader, reader.reading() as connection:
        with pytest.raises(
            InvalidEntry, match=f"ladder young: 0 rated matches are too few to fit to; {LEAST} are needed"
        ):
            refit(connection, "young")
        with pytest.raises(NoSuchEntry):
            refit(connection, "nowhere")
    assert run("estimate", "--fit", league, "young").exit_code == 2
    assert run("estimate", "--fit", league, "nowhere").exit_code == 4
    assert run("estimate", "--fit", league, "lucky", "--matches", "0").exit_code == 2
    for words, problem in (
        (("--fit",), "--fit needs one ladder"),
        (("lucky", "young", "--fit"), "--fit needs one ladder"),
        (("lucky", "--apply"), "add --fit"),
        (("lucky", "--matches", 500), "add --fit"),
    ):
        refused = run("estimate", league, *words)
        assert (refused.exit_code, problem in refused.stderr) == (2, True)


def test_the_command_shows_both_and_changes_nothing_unless_told_to(league: Path) -> None:
    shown = run("estimate", "--fit", league, "lucky")
    assert shown.exit_code == 0
    assert [line.split()[0] for line in shown.stdout.splitlines()] == ["beta", "now", "fitted"]
    assert "use --apply to rate with them" in shown.stderr
    with LeaderboardReader(league) as reader:
        assert reader.run(queries.ladder, "lucky").rating == NERVOUS


def test_put_begins_an_epoch_and_ratings_go_on_from_where_they_are(league: Path) -> None:
    with LeaderboardReader(league) as reader:
        before = {one.bot: one.pairing_skill for one in reader.run(queries.rankings, "lucky")}
    told = json.loads(run("estimate", "--fit", league, "lucky", "--apply", "--json").stdout)
    assert told["epoch"] == 2
    assert told["fitted"]["log_loss"] < told["now"]["log_loss"]
    with Store(league) as store:
        assert {one.bot: one.pairing_skill for one in store.run(queries.rankings, "lucky")} == before
        rating = store.run(queries.ladder, "lucky").rating
        assert (rating.beta, rating.tau) == (told["fitted"]["beta"], told["fitted"]["tau"])
        versions = [player_of(one) for one in store.run(queries.rankings, "lucky")[:2]]
        store.submit(result("one more", versions, ladder="lucky")).result()
        assert all(one.equal for one in recompute(store))
    again = run("estimate", "--fit", league, "lucky", "--apply")
    with LeaderboardReader(league) as reader:
        told_better = reader.run(queries.ladder, "lucky").rating != rating
    assert again.exit_code == (0 if told_better else 1)
