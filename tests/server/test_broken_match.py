"""A match whose rules break down is void; the others go on, and nobody is told what the exception says."""

from __future__ import annotations

from typing import Any

import pytest

from cutpurse.engine.clocks import TimeControl
from cutpurse.engine.match import EndCause
from cutpurse.games import GAMES
from cutpurse.games.greed.rules import Greed
from cutpurse.server.ladder_config import Ladder
from cutpurse.v1 import arena_pb2
from tests.builds import needs_pure
from tests.server.small_world import Manner, World
from tests.server.stores import match_of

SECRET = "the top card is copper_wire, key 0011223344"

# Where a match may break: what is called when a bot answers, when it is told, when it is late.
PLACES = ["choose", "options", "seat_values", "safe_option"]


class Planted:
    """Breaks one call of one method of one match, and of no other."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, method: str, after: int) -> None:
        self.victim: Any = None
        self.left = after
        self.is_armed = False
        real = getattr(Greed, method)

        def broken(game: Any, *arguments: Any) -> Any:
            if self.is_armed and self.victim in (None, game):
                self.victim = game
                self.left -= 1
                if self.left < 0:
                    raise KeyError(SECRET)
            return real(game, *arguments)

        monkeypatch.setattr(Greed, method, broken)


@needs_pure
@pytest.mark.parametrize("method", PLACES)
@pytest.mark.parametrize("after", [0, 7])
def test_only_the_broken_match_is_void(monkeypatch: pytest.MonkeyPatch, method: str, after: int) -> None:
    planted = Planted(monkeypatch, method, after)
    world = World([Ladder("it", "greed", 3)])
    bots = [world.bot(name, tables=4) for name in ("ann", "bob", "cid")]
    world.run(lambda: world.lobby.tables == 4)
    planted.is_armed = True
    world.run(lambda: len(world.store.kept) >= 8)
    planted.is_armed = False
    world.lobby.drain(world.now)
    world.run(lambda: world.lobby.is_idle and not any(bot.sat for bot in bots))
    broken = [result for result in world.store.kept.values() if result.is_void]
    assert [match_of(result).game for result in broken] == [planted.victim]
    assert {seat.end_cause for seat in broken[0].seats} == {EndCause.VOID_SERVER.value}
    (incident,) = world.log.errors()
    assert incident["error"] == "KeyError"
    assert any("test_broken_match.py" in place for place in incident["places"])
    for bot in bots:
        (played,) = [one for one in bot.done if one.started.match == broken[0].match]
        assert played.ended is not None
        assert (played.ended.voided, played.ended.rated) == (True, False)
        assert {one.end_cause for one in played.ended.seats} == {arena_pb2.END_CAUSE_VOID_SERVER}
        assert played.seat_at.incident == incident["number"] != ""
        assert not played.seat_at.has_decision()
        assert all(SECRET.encode() not in body for body in played.told)
        assert all(SECRET not in outcome.problem for outcome in played.outcomes)
        others = [one for one in bot.done if one is not played]
        assert all(one.ended is not None and one.ended.rated for one in others)
        assert all(one.seat_at.incident == "" for one in others)
    assert SECRET not in str(world.log.lines)
    assert SECRET not in broken[0].record()


@pytest.mark.parametrize("manner", [Manner(never=1.0), Manner(gives_up=1.0)], ids=["late", "gives up"])
def test_rules_that_break_down_over_the_safe_option_void_their_match_only(
    monkeypatch: pytest.MonkeyPatch, manner: Manner
) -> None:
    planted = Planted(monkeypatch, "choose", after=3)
    control = TimeControl(base_ms=200, bank_ms=0)
    world = World([Ladder("it", "greed", 2, control=control)])
    bots = [world.bot(name, tables=2, manner=manner) for name in ("ann", "bob")]
    world.run(lambda: world.lobby.tables == 2)
    planted.is_armed = True
    world.run(lambda: len(world.store.kept) >= 2)
    voids = {match_of(result).game: result.void_cause for result in world.store.kept.values()}
    assert voids.pop(planted.victim) == EndCause.VOID_SERVER.value
    assert set(voids.values()) == {None}
    (incident,) = world.log.errors()
    assert incident["error"] == "KeyError"
    assert all(bot.done for bot in bots)
    assert SECRET not in str(world.log.lines)


@needs_pure
def test_a_game_that_cannot_be_set_up_is_tried_again_later(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Greed.begin

    def broken(game: Any) -> None:
        raise ValueError(SECRET)

    monkeypatch.setattr(Greed, "begin", broken)
    world = World([Ladder("it", "greed", 2), Ladder("other", "szmal", 2)])
    ann, _ = (world.bot(name) for name in ("ann", "bob"))
    world.run(lambda: len(world.store.kept) >= 5)
    assert {result.ladder for result in world.store.kept.values()} == {"other"}
    failures, seconds = len(world.log.errors()), world.now - 1_000.0
    assert 1 <= failures <= 1 + seconds  # once a second at most
    monkeypatch.setattr(Greed, "begin", real)
    world.run(lambda: "it" in {result.ladder for result in world.store.kept.values()})
    assert SECRET not in str(world.log.lines)
    assert ann.free_tables >= 0


def test_a_match_that_cannot_be_written_down_is_void(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World([Ladder("it", "greed", 2)])
    ann, _ = (world.bot(name, tables=1) for name in ("ann", "bob"))
    world.run(lambda: bool(ann.open))
    match = ann.open[1].seat_at._table.match  # type: ignore[attr-defined]  # the table behind the protocol

    def submit(result: Any, real: Any = world.store.submit) -> Any:
        if match_of(result) is match and not result.is_void:
            match.game.log = None  # what `write_record` cannot do without
            result.record()
        return real(result)

    monkeypatch.setattr(world.store, "submit", submit)
    world.run(lambda: len(world.store.kept) >= 3)
    voids = {result.match: result.void_cause for result in world.store.kept.values()}
    assert voids.pop(ann.done[0].started.match) == EndCause.VOID_SERVER.value
    assert set(voids.values()) == {None}


def test_every_game_can_break_without_a_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    for game, rules in GAMES.items():
        world = World([Ladder("it", game, rules.usual_seats)])
        bots = [world.bot(f"bot{at}", tables=1) for at in range(rules.usual_seats)]
        world.run(lambda there=bots: any(p.decisions for b in there for p in b.open.values()))  # type: ignore[misc]

        def broken(*arguments: Any) -> None:
            raise RuntimeError(SECRET)

        with monkeypatch.context() as planted:
            planted.setattr(rules, "choose", broken)
            world.run(lambda there=bots: all(bot.done for bot in there))  # type: ignore[misc]
        assert all(bot.done[0].ended is not None and bot.done[0].ended.voided for bot in bots)
        assert SECRET not in str(world.log.lines)
