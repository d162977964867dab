"""Playing on from a moment of a record: a planted improvement is found there, and none where there is none."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from cutpurse.bots.greedy_bot import GreedyBot
from cutpurse.engine.chance import Chance, match_key
from cutpurse.engine.errors import RecordError, UsageError
from cutpurse.engine.imagine import imagine
from cutpurse.engine.match import Match
from cutpurse.engine.record import Record, read_record, replay, write_record
from cutpurse.games import GAMES
from cutpurse.lab.comparison import Compared, compare
from cutpurse.lab.moment import RecordedMoment, moment_of
from cutpurse.leaderboard.statistics.sprt import Design, Verdict
from cutpurse.sdk.bot import MatchInfo
from cutpurse.sdk.local import play
from tests.sdk.bot_files import CRASHES, bot_file
from tests.sdk.stays import First
from tests.typed import run

PLANTED = 74  # in `record`, a card that `greedy` picks well


class Blunders(GreedyBot):
    """Takes another option at the moment, and is `greedy` from there on."""

    def choose(self, view: Any, decision: Any) -> Any:
        best = super().choose(view, decision)
        if decision.number:
            return best
        return (best.index + 1) % decision.count


class Guesses(GreedyBot):
    """Guesses at the moment, by a number of its own, and is `greedy` from there on."""

    salt = ""

    def start(self, match: MatchInfo) -> None:
        self.guess = Random(f"{self.salt}/{match.chance.getrandbits(64)}")

    def choose(self, view: Any, decision: Any) -> Any:
        return super().choose(view, decision) if decision.number else self.guess.randrange(decision.count)


class GuessesToo(Guesses):
    salt = "too"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("moment") / "run.jsonl"
    play("greed", ["greedy"] * 3, record=path)
    return path


@pytest.fixture(scope="module")
def record(file: Path) -> Record:
    return read_record(file.read_text(encoding="utf-8").strip())


def compared(moment: RecordedMoment, new: type, old: type, seed: int = 0, most: int = 400) -> Compared:
    design = Design(max_boards=most)
    done = compare("greed", new, old, field=["greedy"], seed=seed, moment=moment, design=design)
    assert not done.failures
    return done


def test_a_planted_improvement_is_found_and_none_where_there_is_none(record: Record) -> None:
    moment = moment_of(record, PLANTED)
    better = compared(moment, GreedyBot, Blunders)
    assert better.result.verdict is Verdict.BETTER
    assert better.result.interval[0] >= 0
    assert compared(moment, Guesses, GuessesToo, most=60).result.verdict is not Verdict.BETTER


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(20))
def test_twenty_trials(record: Record, seed: int) -> None:
    moment = moment_of(record, PLANTED)
    assert compared(moment, GreedyBot, Blunders, seed).result.verdict is Verdict.BETTER
    assert compared(moment, Guesses, GuessesToo, seed, 4_000).result.verdict is not Verdict.BETTER


@pytest.mark.parametrize("game", list(GAMES))
def test_worlds_agree_with_what_the_seat_saw(game: str) -> None:
    rules = GAMES[game]
    match = Match(rules, ["first"] * rules.usual_seats, match_key("worlds", 1), log=True)
    while (asked := match.decision()) is not None:
        match.answer(asked.seat, asked.number, (7 * len(match.choices)) % len(asked.options))
    record = read_record(write_record(match))
    at = len(record.choices) // 2
    for is_true in (False, True):
        moment = moment_of(record, at, is_true)
        for number in range(3):
            position = moment.position(match_key(5, number))
            assert position.view(moment.seat) == moment.view
            assert position.question.name == moment.ask


class Spies(First):
    """Writes down everything that the asked bot can know at its first decision."""

    seen: list[object]

    def start(self, match: MatchInfo) -> None:
        self.match = match

    def choose(self, view: Any, decision: Any) -> int:
        if not decision.number:
            options = [option.text for option in decision.options]
            events = [event.text for event in view.events]
            chance = match.chance.random() if (match := self.match) else None
            self.seen.append((view.raw.to_bytes(), options, events, chance, match.seats, dict(match.settings)))
        return 0


def test_twin_worlds_are_played_alike(record: Record) -> None:
    moment = moment_of(record, 20)
    twin = imagine(moment.view, Chance(match_key("another world", 1)))
    assert twin.save()["zones"] != moment_of(record, 20, True).true["zones"]  # type: ignore[index]
    seen: list[list[object]] = []
    for view in (moment.view, twin.view(moment.seat)):
        Spies.seen = []
        seat = [Spies if seat == moment.seat else First for seat in range(3)]
        played = play("greed", seat, matches=4, position=replace(moment, view=view).position)
        seen.append([*Spies.seen, played.digest])
    assert seen[0] == seen[1]
    assert {spied[0] for spied in seen[0][:-1]} == {moment.view.to_bytes()}  # type: ignore[index]


def test_both_versions_play_the_same_worlds_and_in_any_number_of_processes(record: Record) -> None:
    moment = moment_of(record, PLANTED)
    same = compare("greed", "greedy", "greedy", field=["greedy"], moment=moment, design=Design(max_boards=20))
    assert (same.is_same, same.result.differing) == (True, 0)
    runs = [
        compare("greed", "greedy", "random", jobs=jobs, moment=moment, design=Design(max_boards=20)).digest
        for jobs in (1, 2)
    ]
    assert runs[0] == runs[1]


def test_the_true_world_has_the_cards_as_they_lay(record: Record) -> None:
    at = 20
    true, drawn = moment_of(record, at, True), moment_of(record, at)
    zones = [true.position(match_key(1, number)).save()["zones"] for number in range(2)]
    assert zones[0] == zones[1] == next(match for match, _, _ in replay_to(record, at)).game.save()["zones"]
    assert drawn.position(match_key(1, 0)).save()["zones"] != zones[0]
    assert true.identity() != drawn.identity()


def replay_to(record: Record, at: int) -> Any:
    for match, asked, chosen in replay(record, GAMES[record.game]):
        if len(match.choices) == at:
            yield match, asked, chosen
            return


@pytest.mark.parametrize(
    ("at", "said"), [(-1, "--at -1: the record has decisions 0 to 78"), (79, "--at 79: the record has decisions 0 to")]
)
def test_a_decision_that_is_none(record: Record, at: int, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        moment_of(record, at)


def test_a_moment_at_which_nobody_is_asked_names_those_near_it(tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    play("greed", [bot_file(tmp_path, CRASHES), "greedy"], record=out)
    taken_over = read_record(out.read_text(encoding="utf-8").strip())
    asked = {len(match.choices) for match, _, _ in replay(taken_over, GAMES["greed"])}
    at = next(at for at in range(len(taken_over.choices)) if at not in asked)
    with pytest.raises(UsageError, match=rf"--at {at}: nobody was asked there, .*: .*\b{at - 1}\b"):
        moment_of(taken_over, at)


def test_a_record_of_another_version_of_the_rules_is_one_line(record: Record) -> None:
    with pytest.raises(RecordError, match=r"under version 0\.1 of the rules of greed"):
        moment_of(replace(record, rules="0.1"), 0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("compare greedy random --from FILE", "--from needs --at D"),
        ("compare greedy random --at 3", "name it, --from FILE"),
        ("compare greed greedy --from FILE --at 3", "with --from name NEW and OLD"),
        ("compare greedy random --from FILE --at 3 --seats 2", "--seats has no meaning with --from"),
        ("compare greedy random --from FILE --at 3 --match 4", "--match 4: .* has matches 0 to 0"),
        ("compare greedy", "Missing argument 'NEW'"),
        ("compare greed greedy", "name GAME, NEW and OLD"),
        ("play greed random random --times 3", "name it, --from FILE"),
        ("play random --from FILE --at 3", "is for 2 to 6 players|is for 2 to 5 players"),
        ("play random greedy --from FILE --at 3", "the record has 3 seats, and not 2"),
        ("play --from FILE --at 3 --matches 4", "--matches has no meaning with --from"),
        ("play", "name a GAME and a bot for each seat"),
        ("play --from none.jsonl --at 3", "no record none.jsonl"),
    ],
)
def test_bad_input_is_one_line(words: str, said: str, file: Path) -> None:
    shown = run(*words.replace("FILE", str(file)).split())
    assert shown.exit_code == (4 if "no record" in said else 2)
    assert re.search(said, shown.stderr.splitlines()[-1]), shown.stderr


def test_commands_play_on_and_say_before_what_it_costs(file: Path) -> None:
    shown = run("compare", "greedy", "random", "--from", str(file), "--at", "74", "--max-boards", "20", "--json")
    assert "from decision 74 of 79 on (play_a_card, seat 0), in imagined worlds: at most 20 boards" in shown.stderr
    assert "s for all with 1 process" in shown.stderr
    assert json.loads(shown.stdout)["boards"] == 20
    played = run("play", "--from", str(file), "--at", "74", "--times", "12", "--true")
    assert "in the true world: 12 matches; " in played.stderr
    assert "12 matches of greed" in played.stdout
    assert played.stdout.strip().splitlines()[-1].startswith("greedy in seat 0: mean place ")
    document = json.loads(run("play", "greed", "--from", str(file), "--at", "74", "--json").stdout)
    assert (document["matches"], document["from"]["seat"]) == (100, 0)
    low, high = document["from"]["mean_place"]
    assert low <= document["seats"][0]["mean_place"] <= high
