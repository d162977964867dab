"""A process that may play one match: no second one by whatever it says, and who waits for it hears when it is over."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from cutpurse.engine.clocks import TimeControl
from cutpurse.engine.match import EndCause
from cutpurse.games import GAMES
from cutpurse.server.access.one_match import OneMatch
from cutpurse.server.access.owners import Grant, HostedBotIdentity
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.open_boards import WAITS_S
from cutpurse.v1 import arena_pb2
from tests.engine.toy import Toy
from tests.server.session.house import House, Peer
from tests.server.small_world import BotThere, World

CONTROL = TimeControl(base_ms=200, bank_ms=1_000, grace_ms=50, poll_floor_ms=20, handover_ms=100)


def grant(token: str, one_match: OneMatch) -> Grant:
    return Grant("ann", token, ("play",), True, HostedBotIdentity("sneak", "1", (), 4, one_match))


def come(house: House, one_match: OneMatch, token: str = "first", **more: Any) -> Peer:
    return house.dial("sneak", grant(token, one_match), max_tables=9, **more)


def state(one_match: OneMatch) -> tuple[bool, bool, bool]:
    return one_match.has_begun, one_match.is_over, one_match.is_heard


# -- sessions
def test_it_sits_down_once() -> None:
    house, one_match = House(), OneMatch()
    peer = come(house, one_match).welcomed()
    assert (peer.session.free_tables, peer.session.forgets) == (1, True)
    (seat,) = peer.tables(1)
    assert state(one_match) == (True, False, False)
    peer.say(max_tables=9)
    assert peer.session.free_tables == 0
    seat.end()
    assert state(one_match) == (True, True, False)
    peer.expect("end 1")
    assert state(one_match) == (True, True, False)
    peer.say()
    assert state(one_match) == (True, True, True)
    assert peer.session.free_tables == 0


def test_whoever_comes_again_with_the_same_token_gets_no_other_match() -> None:
    house, woken = House(), list[int]()
    one_match = OneMatch(lambda: woken.append(1))
    peer = come(house, one_match).welcomed()
    (seat,) = peer.tables(1)
    again = come(house, one_match).welcomed()  # it takes over from itself, and its match goes on without it
    assert again.session is not peer.session
    assert again.session.free_tables == 0
    assert woken == []
    seat.end()  # though nobody can be told
    assert (one_match.is_over, one_match.is_heard, woken) == (True, False, [1])
    assert come(house, one_match).welcomed().session.free_tables == 0


def test_it_may_resume_and_another_process_may_not_go_on_where_it_was() -> None:
    house, one_match, other = House(), OneMatch(), OneMatch()
    peer = come(house, one_match).welcomed()
    resume = arena_pb2.Resume(session=peer.session.id, secret=peer.session.secret)
    refused = house.refusal(bot="sneak", grant=grant("second", other), resume=resume)
    assert refused.reason == "RESUME_EXPIRED"
    (seat,) = peer.tables(1)
    peer.link.lost(house.now)
    again = come(house, one_match, resume=resume)
    assert again.session is peer.session
    again.expect("welcome", "start 1")
    again.say()
    seat.end()
    again.expect("end 1")
    again.say()
    assert (one_match.is_heard, again.session.free_tables) == (True, 0)
    fresh = come(house, other, "second").welcomed()
    assert fresh.session.free_tables == 1
    assert fresh.session.places == {}


# -- boards
@pytest.fixture
def rotation(monkeypatch: pytest.MonkeyPatch) -> Ladder:
    monkeypatch.setitem(GAMES, "toy", Toy)
    return Ladder("rot", "toy", 3, {"rounds": "3"}, CONTROL, boards="rotation")


def come_in(world: World, name: str, forgets: bool = True) -> BotThere:
    bot = BotThere(world, name, 1, owner=name)
    bot.is_forgetful = forgets
    world.bots.append(bot)
    world.lobby.enter(bot)
    return bot


def go(world: World, bot: BotThere) -> None:
    """It is gone, and none of that name comes back as that session."""
    world.bots.remove(bot)
    bot.is_there = False
    world.lobby.leave(bot)


def played_out(world: World, away_s: float, boards: int) -> list[str | None]:
    """How matches ended where each bot is another session for each match, and away so long between them."""

    def come_back(name: str) -> None:
        come_in(world, name)

    def renew() -> None:
        for bot in [bot for bot in world.bots if bot.done]:
            go(world, bot)
            world.after(away_s, partial(come_back, bot.identity.bot))

    for name in ("ann", "bob", "eve", "joe"):
        come_in(world, name)
    while len(world.store.kept) < 3 * boards:
        world.run(lambda: any(bot.done for bot in world.bots))
        renew()
    return [result.void_cause for result in world.store.kept.values()][: 3 * boards]


def test_a_rotation_is_played_to_its_end_by_bots_that_are_others_each_time(rotation: Ladder) -> None:
    world = World([rotation])
    assert set(played_out(world, 2.0, 20)) == {None}
    sat = [seat.player.bot for result in world.store.kept.values() for seat in result.seats]
    counts = [sat.count(name) for name in ("ann", "bob", "eve", "joe")]
    assert max(counts) - min(counts) <= 9  # who comes and goes is neither starved nor preferred
    world.lobby.drain(world.now)
    world.run(lambda: world.lobby.is_idle)


def test_a_board_waits_from_its_last_match_on_and_not_from_its_deal(rotation: Ladder) -> None:
    world = World([rotation])
    assert set(played_out(world, 0.9 * WAITS_S, 4)) == {None}  # the third match begins long after a minute


def test_who_remembers_is_no_stand_in(rotation: Ladder) -> None:
    world = World([rotation])
    bots = [come_in(world, name) for name in ("ann", "bob", "eve")]
    world.run(lambda: all(bot.done for bot in bots))
    go(world, bots[0])
    come_in(world, "ann", forgets=False)
    world.run(lambda: len(world.store.kept) == 3)
    assert [result.void_cause for result in world.store.kept.values()][1:] == [EndCause.VOID_SERVER.value] * 2
