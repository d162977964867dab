"""The matches of an event: which they are, and that an event which a caller cannot see names none."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from cutpurse.leaderboard import events, queries, seasons, tournaments, version_tests
from cutpurse.leaderboard.events import SEASON, TEST, TOURNAMENT, EventEntry
from cutpurse.leaderboard.formats.brackets import ELIMINATION
from cutpurse.leaderboard.ladders import NewLadder, ensure_ladder
from cutpurse.leaderboard.ratings import TrueSkill
from cutpurse.leaderboard.results import Deal, EventBoard, FinishedMatch, Identity
from cutpurse.leaderboard.seasons import NewSeason, SeasonBot
from cutpurse.leaderboard.statistics.sprt import Design
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tournaments import TournamentBoardEntry
from cutpurse.server.parts.events.tournament_rules import TournamentPlan
from cutpurse.server.parts.events.version_test_results import plan_text
from tests.leaderboard.sample_results import DAWN, DEAL, add_version, result
from tests.leaderboard.test_announced import announcement
from tests.server.dialling import Ended
from tests.server.league_world import league_world
from tests.typed import typed

T, S, V, OLD, FINAL = ("a" * 12, "b" * 12, "c" * 12, "d" * 12, "e" * 12)
LADDER: Final = "greed"
RATING: Final = TrueSkill(draw_probability=0.05)
TWO: Final = [Identity("owner 0", "bot 0", "1.0"), Identity("owner 1", "bot 1", "1.0")]


def play(store: Store, match: str, event_board: EventBoard | None = None, ladder: str = LADDER) -> None:
    deal = DEAL._replace(board=f"board of {match}")
    finished: FinishedMatch = result(match, TWO, ladder=ladder, deal=Deal(*deal))
    if event_board is not None:
        finished = replace(finished, is_rated=False, requested_by="root")
        store.announce(announcement(finished, event_board)).result()
    store.submit(finished).result()


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tournament, one of version 0.2, a version test, a season with a final, and a match of none of them."""
    path = tmp_path_factory.mktemp("events") / "league.db"
    with Store(path) as store:
        store.write(ensure_ladder, NewLadder(LADDER, game="greed", seats=2, rating=RATING))
        for bot in TWO:
            add_version(store, *bot)
        plan = TournamentPlan(LADDER, ELIMINATION, 1, tuple(TWO))
        for event in (T, OLD):
            store.write(tournaments.start, EventEntry(event, LADDER, "root", plan.text, DAWN), 9)
        test = EventEntry(V, LADDER, "owner 0", "{}", DAWN)
        store.write(version_tests.start, test, Identity("owner 0", "bot 0", "2"), TWO[0], 9, 9)
        ladder = NewLadder("cup-1-s1", game="greed", seats=2, rating=RATING)
        first = NewSeason([ladder], [SeasonBot(*bot[:2], 1, seed) for seed, bot in enumerate(TWO)], DAWN)
        store.write(seasons.start, EventEntry(S, "", "root", "{}", DAWN, name="cup"), first, 9)
        store.write(tournaments.start, EventEntry(FINAL, LADDER, "root", "{}", DAWN), 9, f"{S}.1")
        play(store, "m-tournament", EventBoard(T, 0, 0))
        play(store, "m-earlier")
        store.write(tournaments.put_board, OLD, TournamentBoardEntry(0, 0, "m-earlier", "10"))
        play(store, "m-test", EventBoard(V, 0, 0))
        play(store, "m-season", ladder="cup-1-s1")
        play(store, "m-final", EventBoard(FINAL, 0, 0))
        play(store, "m-plain")
    return path


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (T, ["tournament"]),
        (OLD, ["earlier"]),
        (V, ["test"]),
        (S, ["final", "season"]),
        (FINAL, ["final"]),
        (TOURNAMENT, ["final", "earlier", "tournament"]),
        (SEASON, ["final", "season"]),
        (TEST, ["test"]),
        ("0" * 12, []),
    ],
)
def test_matches_of_an_event_or_of_a_kind_are_listed_with_every_other_filter(
    database: Path, event: str, expected: list[str]
) -> None:
    with Store(database) as store:
        for more in (
            {},
            {"bot": "bot 0", "owner": "owner 0"},
            {"owner": "owner 0", "others": [("owner 1", "bot 1", None)]},
            {"since": DAWN, "until": DAWN + timedelta(days=1)},
            {"among": [LADDER, "cup-1-s1"]},
        ):
            entries = store.run(queries.matches, event=event, **more)
            assert [entry.match for entry in entries] == [f"m-{name}" for name in expected], more
        newest = store.run(queries.matches, event=event, limit=1)
        assert [entry.match for entry in newest] == [f"m-{name}" for name in expected[:1]]
        assert store.run(queries.matches, event=event, faulted=True) == []
        on_cup = store.run(queries.matches, "cup-1-s1", event=event)
        assert [entry.match for entry in on_cup] == ["m-season"] * ("season" in expected)


def test_the_command_lists_them_and_answers_a_wrong_id_in_one_line(database: Path) -> None:
    listed = json.loads(typed("match", "list", "--event", T, "--db", database, "--json").stdout)["matches"]
    assert [match["match"] for match in listed] == ["m-tournament"]
    missing = typed("match", "list", "--event", "0" * 12, "--db", database)
    assert (missing.returncode, missing.stderr.count("\n")) == (4, 1)
    assert "there is no event '000000000000' here" in missing.stderr


async def test_a_test_names_its_matches_to_its_owner_and_hosts_only(tmp_path: Path) -> None:
    async with league_world(tmp_path) as world:
        new, old = Identity("ann", "sneak", "3"), Identity("ann", "sneak", "2")
        entry = EventEntry(V, "duel", "ann", plan_text("duel", new, old, Design()), datetime.now(UTC))
        world.store.write(version_tests.start, entry, new, old, 9, 9)
        finished = result("m-test", [new, old], ladder="duel", is_rated=False, requested_by="ann")
        world.store.announce(announcement(finished, EventBoard(V, 0, 0))).result()
        world.store.submit(finished).result()
        world.store.write(events.end, V, "stopped", datetime.now(UTC))
        for who in ("ann", "root"):
            page = await world.ask("ListMatches", who, event=V)
            assert [match.match for match in page.matches] == ["m-test"]
        for who in ("", "bob"):
            with pytest.raises(Ended) as ended:
                await world.ask("ListMatches", who, event=V)
            assert (ended.value.reason, ended.value.text) == ("NOT_FOUND", f"there is no event '{V}' here")
