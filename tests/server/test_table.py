"""What one table tells its seats: all that happened with each question, and nothing more once the rules broke down."""

from __future__ import annotations

from typing import Any

import pytest

from cutpurse.engine.clocks import OutcomeKind, TimedMatch
from cutpurse.games.greed.rules import Greed
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.server_match import ServerMatch
from cutpurse.v1 import arena_pb2
from tests.builds import needs_pure
from tests.server.small_world import BotThere, Manner, Played, World

SILENT = Manner(never=1.0)


def _asked(world: World, *bots: BotThere) -> Played:
    """The table of the first of these bots that is asked something."""
    world.run(lambda: any(played.decisions for bot in bots for played in bot.open.values()))
    return next(played for bot in bots for played in bot.open.values() if played.decisions)


def _table(played: Played) -> ServerMatch:
    table = played.seat_at._table  # type: ignore[attr-defined]  # the table behind the protocol
    assert isinstance(table, ServerMatch)
    return table


@pytest.mark.parametrize("game", ["greed", "szmal"])
def test_with_each_question_a_seat_is_told_all_that_has_happened(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    behind: list[int] = []
    read = BotThere._asked

    def asked(bot: BotThere, played: Played, body: bytes) -> None:
        read(bot, played, body)
        log = _table(played).match.game.log
        assert log is not None
        behind.append(len(log) - len(played.events))

    monkeypatch.setattr(BotThere, "_asked", asked)
    world = World([Ladder("it", game, 2)])
    for name in ("ann", "bob"):
        world.bot(name, tables=1)
    world.run(lambda: bool(world.store.kept))
    assert len(behind) > 20
    assert set(behind) == {0}


def test_a_question_that_is_fetched_again_brings_the_same_events() -> None:
    world = World([Ladder("it", "greed", 2)])
    bots = [world.bot(name, tables=1, manner=SILENT) for name in ("ann", "bob")]
    played = _asked(world, *bots)
    once = arena_pb2.Decision.FromString(played.told[-1])
    body = played.seat_at.decision(world.now)
    assert body is not None
    again = arena_pb2.Decision.FromString(body)
    assert once.events
    assert (again.first_event, list(again.events)) == (once.first_event, list(once.events))


@needs_pure
def test_a_broken_match_asks_nothing_and_takes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World([Ladder("it", "greed", 2)])
    bots = [world.bot(name, tables=1, manner=SILENT) for name in ("ann", "bob")]
    world.store.takes_s = 60.0  # the result is on its way while the bots go on to answer
    played = _asked(world, *bots)
    seat, table = played.seat_at, _table(played)
    number = max(played.decisions) - 1

    def broken(*arguments: Any) -> None:
        raise RuntimeError("the rules broke down")

    with monkeypatch.context() as planted:
        planted.setattr(Greed, "seat_values", broken)
        assert seat.decision(world.now) is None
    incident, taken = seat.incident, len(table.match.choices)
    assert incident
    assert seat.answer(number, 0, world.now).kind is OutcomeKind.STALE
    assert seat.give_up(number, "why", world.now).kind is OutcomeKind.STALE
    assert seat.decision(world.now) is None
    assert not seat.has_decision()
    assert table.next_event_at() is None
    assert len(table.match.choices) == taken
    assert (table.match.faults, seat.incident) == ([], incident)
    world.run(lambda: bool(world.store.kept))
    (result,) = world.store.kept.values()
    assert [(one.place, one.score) for one in result.seats] == [(None, None), (None, None)]


def test_a_result_that_cannot_be_made_is_void_and_logged_like_any_other_break(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World([Ladder("it", "greed", 2, matches_wanted=1)])
    ann, _ = (world.bot(name, tables=1) for name in ("ann", "bob"))

    def broken(timed: TimedMatch) -> None:
        raise RuntimeError("no result")

    monkeypatch.setattr(TimedMatch, "result", broken)
    world.run(lambda: bool(ann.done))
    ended = ann.done[0].ended
    assert ended is not None
    assert ended.voided
    (incident,) = world.log.errors()
    assert (incident["error"], incident["number"]) == ("RuntimeError", ann.done[0].seat_at.incident)


def test_what_is_said_again_on_another_stream_counts_once() -> None:
    world = World([Ladder("it", "greed", 2)])
    bots = [world.bot(name, tables=1, manner=SILENT) for name in ("ann", "bob")]
    seat = _asked(world, *bots).seat_at
    assert seat.note(1, "what I hold", 1_000)
    seat.disconnected()
    seat.connected()
    assert not seat.note(1, "what I hold", 1_000)
