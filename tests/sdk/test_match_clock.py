"""The clock of a ladder in local matches: the faults of a server, by a clock that is handed in."""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cutpurse.cli.clock_option import read_clock, slowest_lines
from cutpurse.cli.match_source import fetched
from cutpurse.engine.clocks import TimeControl
from cutpurse.engine.errors import UsageError
from cutpurse.engine.match import EndCause, Match
from cutpurse.engine.record import read_record, verify, write_record
from cutpurse.games import GAMES
from cutpurse.lab.comparison import compare
from cutpurse.leaderboard.statistics.sprt import Design
from cutpurse.process.own_time import waited_s
from cutpurse.sdk.bot import BotMaker
from cutpurse.sdk.local import play
from cutpurse.sdk.matches.match_file import read_matches
from cutpurse.sdk.playing.match_clock import MatchClock, SlowDecision
from cutpurse.sdk.playing.timed import play_timed
from cutpurse.sdk.run import PlayedMatch, connect
from cutpurse.server.ladder_config import Ladder
from tests.sdk.bot_files import FIRST, bot_file
from tests.sdk.stays import First
from tests.server.arenas import running_arena
from tests.typed import run

CONTROL = TimeControl(base_ms=1_000, bank_ms=600)


class Watch:
    """A clock that only bots move."""

    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        return self.at


def thinker(watch: Watch, *seconds: float, answer: Any = 0) -> type:
    """A bot that takes this long for its first decisions, and for all others as long as for the last of them."""

    class Thinks:
        def __init__(self) -> None:
            self.asked = 0
            self.left: list[tuple[float, float]] = []

        def choose(self, view: Any, decision: Any) -> Any:
            watch.at += seconds[min(self.asked, len(seconds) - 1)]
            self.asked += 1
            self.left.append((decision.base_left_s, decision.bank_left_s))
            seen.append(self)
            return answer

    seen: list[Any] = []
    Thinks.seen = seen  # type: ignore[attr-defined]
    return Thinks


@pytest.mark.parametrize(
    ("seconds", "faults", "cause"),
    [
        ((1.15,), 0, EndCause.NORMAL),  # base and grace, equality included
        ((1.75, 1.15), 0, EndCause.NORMAL),  # the bank, to the last
        ((1.75, 1.151, 1.0), 1, EndCause.NORMAL),
        ((1.752, 0.0), 1, EndCause.NORMAL),
        ((1.5,), 3, EndCause.TIMEOUT),
        ((30.0, 0.0), 3, EndCause.TIMEOUT),  # busy while its next decisions ran out
    ],
)
def test_faults_are_those_of_the_servers_clock(seconds: tuple[float, ...], faults: int, cause: EndCause) -> None:
    watch = Watch()
    played = play("greed", [thinker(watch, *seconds), First], clock=MatchClock("duel", CONTROL, watch))
    assert (played.faults, played.rows[0].end_causes[0]) == ((faults, 0), cause.value)
    assert {failure.cause for failure in played.failures} == ({EndCause.TIMEOUT} if faults else set())
    without = play("greed", [thinker(watch, *seconds), First])
    assert (without.faults, without.slowest) == ((0, 0), ())


def test_a_late_bot_thinks_on_while_its_next_decision_runs() -> None:
    watch = Watch()
    # The first two are over after 1.75 and 2.9 s, when it still thinks; the third has time until 4.05 s.
    bot = thinker(watch, 4.0, 0.0)
    match = Match(GAMES["greed"], ["bot", "first"], bytes(32), log=True, hold_polls=True)
    makers = [BotMaker("bot", bot), BotMaker("first", First)]
    _, failed, decisions, thoughts = play_timed(match, makers, MatchClock("duel", CONTROL, watch))
    assert [(fault.seat, fault.number) for fault in match.faults] == [(0, 0), (0, 1)]
    assert [(seat, parts[4]) for seat, parts in failed] == [
        (0, "no answer in 1750 ms: it came after 4000 ms"),
        (0, "no answer in 1150 ms: the bot still thought about an earlier decision"),
    ]
    assert len(thoughts) == decisions - 1, "what is over when the bot is free is not put to it"


@pytest.mark.parametrize("game", list(GAMES))
def test_in_time_nothing_changes_and_a_record_with_late_decisions_verifies(game: str, tmp_path: Path) -> None:
    watch = Watch()
    bots: list[Any] = [thinker(watch, 0.1), "random", "first_option"]
    clock = MatchClock("duel", TimeControl(), watch)
    assert play(game, bots, matches=2, clock=clock).digest == play(game, bots, matches=2).digest
    out = tmp_path / "run.jsonl"
    late = play(game, [thinker(watch, 0.0, 9.0, 0.0), *bots[1:]], record=out, clock=MatchClock("d", CONTROL, watch))
    assert late.faults[0]
    assert verify(out.read_text(encoding="utf-8").rstrip(), GAMES[game])


def test_bots_know_what_time_is_left() -> None:
    watch = Watch()
    bot = thinker(watch, 0.4, 1.35)
    play("greed", [bot, First], clock=MatchClock("duel", CONTROL, watch))
    left = bot.seen[0].left  # type: ignore[attr-defined]
    assert left[0] == pytest.approx((0.6, 0.6))
    assert left[1] == pytest.approx((-0.35, 0.25))
    assert left[2] == pytest.approx((-0.35, 0.05)), "the grace was not counted at the second"


@pytest.mark.parametrize(("answer", "cause", "faults"), [(99, EndCause.ILLEGAL, 3), (None, EndCause.ILLEGAL, 3)])
def test_illegal_answers_are_corrected_on_the_same_clock(answer: Any, cause: EndCause, faults: int) -> None:
    watch = Watch()
    played = play("greed", [thinker(watch, 0.3, answer=answer), First], clock=MatchClock("duel", CONTROL, watch))
    assert (played.faults[0], played.rows[0].end_causes[0]) == (faults, cause.value)
    assert played.slowest[0].seconds == pytest.approx(0.9), "three times for each decision"
    # With 0.6 s a try the third comes after the base, the bank and the grace.
    late = play("greed", [thinker(watch, 0.6, answer=answer), First], clock=MatchClock("duel", CONTROL, watch))
    assert late.rows[0].end_causes[0] == EndCause.TIMEOUT.value


def test_a_bot_that_raises_or_cannot_be_made_fails_as_without_a_clock() -> None:
    class Raises:
        def choose(self, view: Any, decision: Any) -> int:
            raise KeyError("no plan")

    class CannotBeMade(First):
        def __init__(self) -> None:
            raise OSError("no model")

    clock = MatchClock("duel", CONTROL, Watch())
    for bot in (Raises, CannotBeMade):
        runs = [play("greed", [bot, First, First], clock=used) for used in (None, clock)]
        assert runs[0].rows == runs[1].rows
        assert [replace(run.failures[0], trace="") for run in runs[:1]] == [
            replace(run.failures[0], trace="") for run in runs[1:]
        ]


def test_the_slowest_decision_is_found_in_any_number_of_parts() -> None:
    watch = Watch()
    runs = [
        play("greed", [thinker(watch, 0.125, 0.75, 0.25), First], matches=3, clock=clock, aggregate=is_sum)
        for clock in [MatchClock("greed", TimeControl(), watch)]
        for is_sum in (False, True)
    ]
    # Without the wait for a processor, which is that of this machine.
    slowest = [[slow._replace(waited_s=0.0) for slow in run.slowest] for run in runs]
    assert slowest[0] == slowest[1]
    slow = slowest[0][0]
    assert (slow.seconds, slow.bot, slow.match) == (0.75, 0, 0)
    assert slowest_lines(MatchClock("greed", TimeControl()), slowest[0], ["ann", "bob"]) == [
        f"ann, slowest: 750 ms at decision {slow.decision} of match 0; the clock of greed is 1 s + 10 s bank"
    ]


def test_a_machine_that_is_slow_is_named_as_what_it_is() -> None:
    clock = MatchClock("1s+10s", TimeControl())
    busy = SlowDecision(2.4, 0, 7, 31, 1.9)
    assert busy.text("ann", clock) == (
        "ann, slowest: 2.4 s at decision 31 of match 7 (the machine was busy, and gave no processor for 1.9 s of it); "
        "the clock is 1 s + 10 s bank"
    )
    assert "busy" not in busy._replace(waited_s=0.1).text("ann", clock)


def test_waiting_for_a_processor_is_read_from_the_scheduler(tmp_path: Path) -> None:
    assert waited_s(str(tmp_path).encode()) == 0.0
    (tmp_path / "schedstat").write_text("5000000 2500000000 17\n")
    assert waited_s(str(tmp_path).encode()) == 2.5


def test_versions_are_compared_by_the_clock() -> None:
    watch = Watch()
    design = Design(min_boards=2, max_boards=2)
    slow = thinker(watch, 1.5)
    done = compare("greed", slow, First, seats=2, design=design, clock=MatchClock("duel", CONTROL, watch))
    assert not done.has_verdict
    assert done.taken_over[:2] == (2, 0)
    assert done.slowest[0].bot == 0
    assert done.slowest[0].seconds == pytest.approx(1.5)
    assert compare("greed", slow, First, seats=2, design=design).has_verdict


LADDERS = """
[[ladder]]
name = "blitz"
game = "greed"
clock = { base_ms = 200, bank_ms = 0 }
"""
TWO = LADDERS + '[[ladder]]\nname = "calm"\ngame = "greed"\npeople = true\n'


@pytest.mark.parametrize(
    ("terms", "file", "control"),
    [
        ("1s+10s", "", TimeControl()),
        ("500ms+1.5m", "", TimeControl(500, 90_000)),
        ("l.toml", LADDERS, TimeControl(200, 0)),
        ("l.toml:blitz", TWO, TimeControl(200, 0)),
        ("l.toml:calm", TWO, TimeControl(90_000, 900_000, 1_000)),
    ],
)
def test_terms_of_a_clock(
    terms: str, file: str, control: TimeControl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "l.toml").write_text(file, encoding="utf-8")
    clock = read_clock(terms)
    assert clock is not None
    assert clock.control == control


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ("0s+1s", "setting base_ms cannot be 0"),
        ("l.toml", "l.toml has 2 ladders; name one of them: l.toml:blitz, l.toml:calm"),
        ("l.toml:x", "l.toml has no ladder 'x'; name one of them"),
        ("none.toml", "no file none.toml with ladders"),
    ],
)
def test_terms_that_are_none(terms: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "l.toml").write_text(TWO, encoding="utf-8")
    with pytest.raises(UsageError, match=said):
        read_clock(terms)


def test_a_ladder_of_a_server_that_cannot_be_asked_names_the_other_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUTPURSE_SERVER", "127.0.0.1:1")
    shown = run("play", "greed", "random", "random", "--clock", "1s")
    assert shown.exit_code == 5
    assert shown.stderr.startswith("cutpurse: --clock 1s: the server at 127.0.0.1:1: ")
    assert shown.stderr.rstrip().endswith(
        "; a clock is a ladder of the server, FILE.toml or FILE.toml:LADDER with ladders, or BASE+BANK as 1s+10s"
    )


def test_commands_print_the_clock(tmp_path: Path) -> None:
    first = bot_file(tmp_path, FIRST)
    played = run("play", "greed", first, "random", "--clock", "1m+0s")
    assert "; the clock is 60 s + 0 s bank" in played.stdout
    document = json.loads(run("play", "greed", first, "random", "--clock", "1m+0s", "--json").stdout)
    assert document["clock"] == {"name": "1m+0s", "base_ms": 60_000, "bank_ms": 0, "grace_ms": 150}
    assert [row["bot"] for row in document["slowest"]] == [first, "random"]
    assert "clock" not in json.loads(run("play", "greed", first, "random", "--json").stdout)
    cup = tmp_path / "cup.toml"
    cup.write_text(
        'name = "cup"\ngame = "greed"\nseats = 2\nbots = ["random", "first_option"]\ndeals = 1\n'
        '[format]\nkind = "round_robin"\n',
        encoding="utf-8",
    )
    over = json.loads(run("tournament", "run", str(cup), "--clock", "1m+0s", "--json").stdout)
    assert {row["bot"] for row in over["slowest"]} == {"random", "first_option"}
    other = run("tournament", "run", str(cup), "--clock", "2m+0s")
    assert "clock" not in over["table"][0]
    assert "base_ms, name differ" in other.stderr


class Sleeper:
    def choose(self, view: Any, decision: Any) -> int:
        threading.Event().wait(1.5)
        return 0


@pytest.mark.soak  # by the machine's own time, on which a busy machine would decide
async def test_a_bot_that_sleeps_has_the_same_faults_at_home_as_on_a_ladder(tmp_path: Path) -> None:
    ladder = Ladder("duel", "greed", 2, control=CONTROL, matches_wanted=1)
    over: list[PlayedMatch] = []
    async with running_arena(tmp_path, [ladder]) as arena:
        stays = [
            connect(bot, server=arena.address, name=name, matches=1, quiet=True, on_match=over.append)
            for name, bot in (("sleeper", Sleeper), ("first", First))
        ]
        await asyncio.gather(*stays)
        content = await asyncio.to_thread(fetched, over[0].match, arena.address, None, None)
    record = next(read_matches(content)).record()
    makers = [BotMaker(name, Sleeper if "sleeper" in name else First) for name in record.seats]
    asleep = next(seat for seat, name in enumerate(record.seats) if "sleeper" in name)

    def at_home(clock: MatchClock | None) -> Match:
        match = Match(GAMES["greed"], record.seats, record.key, log=True, hold_polls=clock is not None)
        play_timed(match, makers, clock)
        return match

    home = read_record(write_record(at_home(MatchClock("duel", CONTROL))))
    assert record.result["end_causes"][asleep] == "timeout"
    assert (home.choices, home.result) == (record.choices, record.result)
