"""On a ladder with such a term an outage of a language model voids the match, three times a day for each owner."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cutpurse.engine.clocks import TimeControl
from cutpurse.engine.match import EndCause
from cutpurse.engine.record import read_record, replay
from cutpurse.games import GAMES
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.results import DecisionUsage, FinishedMatch, Identity, LadderTerms
from cutpurse.llm import LlmBot, Outage, Reply
from cutpurse.sdk.online.bot_pool import PlayedMatch
from cutpurse.sdk.run import connect
from cutpurse.server.hosting import open_arena
from cutpurse.server.ladder_config import Ladder, ladder_of, terms_defined
from cutpurse.server.matches.outages import MOST_VOID, OutageLimit
from cutpurse.v1 import arena_pb2, ladder_pb2
from tests.server.arenas import running_arena
from tests.server.small_world import BotThere, World
from tests.typed import run

VOIDS = LadderTerms(voids_outages=True)


# -- how often
class Days:
    """A calendar."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 26, 22, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def test_of_each_owner_three_matches_a_day_and_ladder() -> None:
    days = Days()
    limit = OutageLimit(days)
    first, second, other = Identity("ann", "one", "1"), Identity("ann", "two", "7"), Identity("bob", "one", "1")
    assert [limit.take("slow", bot) for bot in (first, second, first, second, first)] == [True] * 3 + [False] * 2
    assert limit.take("slow", other)
    assert limit.take("elsewhere", first)
    days.now += timedelta(hours=1)
    assert not limit.take("slow", first)
    days.now += timedelta(hours=1)
    assert limit.take("slow", first)


def test_without_tokens_it_is_of_each_bot() -> None:
    limit = OutageLimit(Days())
    bots = [Identity("local", name, version) for name in ("one", "two") for version in "12"]
    assert [limit.take("slow", bot) for bot in bots * 2] == [True, True, True, True, True, False, True, False]


# -- what becomes of the match
def asked(terms: LadderTerms, seed: str = "down") -> tuple[World, BotThere, BotThere, int]:
    """Return a world in which a bot called ann has an open decision, and the number of that."""
    world = World([Ladder("it", "greed", 2, terms=terms)], seed=seed)
    ann, bob = world.bot("ann", 1, owner="ann"), world.bot("bob", 1, owner="bob")
    world.run(lambda: any(len(played.decisions) > 2 for played in ann.open.values()))
    (played,) = ann.open.values()
    return world, ann, bob, max(played.decisions)


def ended(world: World) -> FinishedMatch:
    world.lobby.drain(world.now)
    world.run(lambda: world.lobby.is_idle and not any(bot.sat for bot in world.bots))
    (result,) = world.store.kept.values()
    return result


def test_an_outage_at_an_open_decision_voids_the_match_and_is_nobodys_fault() -> None:
    world, ann, bob, decision = asked(VOIDS)
    bob.sends_usage = False  # as a bot of before does
    (seat,) = ann.sat.values()
    seat.report(DecisionUsage(decision, 100, fallback="outage"))
    result = ended(world)
    assert result.void_cause == "void_outage"
    assert [(one.place, one.score, one.faults, one.end_cause) for one in result.seats] == [
        (None, None, 0, "void_outage")
    ] * 2
    (course,) = [one.course for one in result.seats if one.player.bot == "ann"]
    assert course is not None
    assert course.usages[-1] == DecisionUsage(decision, 100, fallback="outage")
    for bot, cause in ((ann, arena_pb2.END_CAUSE_VOID_OUTAGE), (bob, arena_pb2.END_CAUSE_VOID_OPERATOR)):
        (played,) = bot.done
        assert played.ended is not None
        assert (played.ended.voided, played.ended.rated) == (True, False)
        assert [one.end_cause for one in played.ended.seats] == [cause, cause]
    *_, (match, _, _) = replay(read_record(result.record()), GAMES["greed"])
    assert match.result().end_causes == (EndCause.VOID_OUTAGE,) * 2


@pytest.mark.parametrize(
    ("terms", "said", "ahead"),
    [
        (LadderTerms(), "outage", 0),  # the ladder plays on
        (VOIDS, "time", 0),  # another cause
        (VOIDS, "", 0),
        (VOIDS, "outage", -1),  # a decision that is over
        (VOIDS, "outage", 1),  # one that was not asked yet
    ],
)
def test_otherwise_the_match_goes_on(terms: LadderTerms, said: str, ahead: int) -> None:
    world, ann, _, decision = asked(terms)
    (seat,) = ann.sat.values()
    seat.report(DecisionUsage(decision + ahead, fallback=said))
    result = ended(world)
    assert not result.is_void
    assert sorted(one.place or 0 for one in result.seats) in ([1, 2], [1, 1])


def test_who_has_had_three_plays_on() -> None:
    world = World([Ladder("it", "greed", 2, terms=VOIDS)], seed="often")
    ann, _ = world.bot("ann", 1, owner="ann"), world.bot("bob", 1, owner="bob")
    reported: set[str] = set()

    def goes_down() -> bool:
        for number, played in list(ann.open.items()):
            if played.decisions and played.started.match not in reported and number in ann.sat:
                reported.add(played.started.match)
                ann.sat[number].report(DecisionUsage(max(played.decisions), fallback="outage"))
        return len(world.store.kept) > MOST_VOID

    world.run(goes_down)
    voids = [result.void_cause for result in world.store.kept.values()]
    assert voids[: MOST_VOID + 1] == ["void_outage"] * MOST_VOID + [None]


# -- the term
def test_the_term_goes_through_message_and_database(tmp_path: Path) -> None:
    assert terms_defined(ladder_pb2.LadderTerms(voids_outages=True)).voids_outages
    database = f"{tmp_path / 'it.db'}"
    made = run("ladder", "create", "slow", "--game", "greed", "--on-outage", "void", "--db", database, "--json")
    assert made.exit_code == 0, made.stderr
    assert json.loads(made.stdout)["on_outage"] == "void"
    changed = run("ladder", "change", "slow", "--on-outage", "play", "--db", database, "--json")
    assert json.loads(changed.stdout)["on_outage"] == "play"
    assert run("ladder", "change", "slow", "--on-outage", "void", "--db", database).exit_code == 0
    assert "on outage   a match is void" in run("ladder", "show", "slow", "--db", database).stdout
    wrong = run("ladder", "change", "slow", "--on-outage", "maybe", "--db", database)
    assert (wrong.exit_code, wrong.stderr) == (2, "cutpurse: --on-outage is 'maybe'; it is one of: void, play\n")


# -- a model of a script, over the wire
class Down(LlmBot):
    """A bot whose model answers twice and then cannot be reached, until the clock is nearly out."""

    def __init__(self) -> None:
        self.calls = 0
        super().__init__(self.ask, pause=self.wait)

    def ask(self, messages: list[dict[str, str]]) -> Any:
        self.calls += 1
        if self.calls > 2:
            raise Outage("503", retry_after_s=1_000_000)  # longer than any clock
        return Reply('{"option": 0}', 100, 5, cost_micros=310, model="scripted")

    async def wait(self, seconds: float) -> None:
        raise AssertionError("nothing is waited for that cannot come in time")


async def test_a_scripted_model_that_is_down_voids_the_match_and_its_page_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_arena, "_utc", lambda: datetime(2026, 1, 1, tzinfo=UTC))  # the matches are of one day
    control = TimeControl(base_ms=5_000, bank_ms=60_000)
    ladder = Ladder("slow", "greed", 2, control=control, terms=VOIDS, matches_wanted=1)
    played: list[PlayedMatch] = []
    async with running_arena(tmp_path, [ladder]) as arena:
        # a bot called down alone has matches in this arena, so that the fourth of them counts
        await asyncio.gather(
            connect(Down, "greed", server=arena.address, matches=4, quiet=True, on_match=played.append),
            connect("random", "greed", server=arena.address, matches=4, quiet=True),
        )
        store = arena.opened.store
        assert ladder_of(store.run(queries.ladder, "slow")).terms == VOIDS
        found = store.run(queries.matches, ladder="slow")
    assert [one.void_cause for one in reversed(found)] == ["void_outage"] * MOST_VOID + [None]
    assert [one.voided for one in played] == [True] * MOST_VOID + [False]
    assert played[0].text().endswith(": void (void_outage)")
    last = found[0].seats[played[-1].seat]
    assert (last.end_cause, last.faults) == ("normal", 0)
    assert last.usage is not None
    assert last.usage.fallbacks > 1
    assert (last.usage.input_tokens, last.usage.model) == (200, "scripted")
