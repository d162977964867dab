"""At whichever envelope a stream breaks, and however: no bot that thinks within its limit loses a decision."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

import pytest

from cutpurse.leaderboard.results import NORMAL, SeatNote
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.streams import server_session
from cutpurse.server.streams.link import Link
from cutpurse.v1 import arena_pb2
from cutpurse.wire import client_session
from cutpurse.wire.client_session import Todo
from tests.faults.streams import LIMITS, Bot, Fault, FaultKind, House, answers_taken, said_about
from tests.server.stores import match_of

ROUGH = 17  # every so manieth envelope is tried; in `make soak` each
CLOSE = 2  # of Szmal, whose matches are short: a half of the kinds tries the even ones, the other half the odd ones
# A deal waits for nonces for one second, and a fault lasts longer.
OF_A_LOST_NONCE = "the nonce came .* too late; the deal is made without it|took this bot's nonce along"
SHORT: dict[str, Mapping[str, str]] = {
    "bag_o_loot": {"rounds": "1"},
    "steal_and_plunder": {"max_games": "1"},
    "stolen_treasure": {"target": "500"},
}
WAYS = [
    pytest.param((kind, is_up), id=f"{kind.name.lower()}-{'up' if is_up else 'down'}")
    for kind in FaultKind
    for is_up in (True, False)
]
GAMES = ("szmal", "greed", "bag_o_loot", "steal_and_plunder", "stolen_treasure")


def played(game: str, tables: int, fault: Fault | None = None) -> Bot:
    """One match on each of so many ladders between the same bots, with a fault of the first one's stream; that bot.

    All that is promised is looked after here.
    """
    names = ("ann", "bob", "cid")
    settings = SHORT.get(game, {})
    ladders = [Ladder(f"{game}-{number}", game, len(names), settings, matches_wanted=1) for number in range(tables)]
    house = House(ladders, f"{game}/{tables}")
    bots = [Bot(house, name, tables, tables, fault if name == "ann" else None) for name in names]
    house.run(bots)
    results = house.world.store.kept
    assert house.world.store.offered == len(results) == tables
    assert house.world.log.errors() == []
    for result in results.values():
        assert [seat.end_cause for seat in result.seats] == [NORMAL] * len(names)
        assert match_of(result).faults == []
        taken = answers_taken(result)
        for seat, sat in enumerate(result.seats):
            (bot,) = [bot for bot in bots if bot.session.bot == sat.player.bot]
            assert bot.answers[result.match] == taken[seat], "not the answers that the bot gave"
            notes = tuple([SeatNote(number, said_about(number, option)) for number, option in taken[seat].items()])
            assert sat.notes == notes, "not what the bot said about each of them, once"
    for bot in bots:
        assert sorted(bot.begun) == sorted(match for match, _ in bot.finished) == sorted(results)
        assert [note for note in bot.notes if not re.search(OF_A_LOST_NONCE, note)] == []
        for match, finish in bot.finished:
            assert finish.result.places == tuple(seat.place for seat in results[match].seats)
            assert finish.rated
    later = house.now + LIMITS.resume_window_ms / 1_000 + 3.0
    house.at(later, lambda: house.sessions.tick(house.now))
    house.world.run(lambda: house.now > later)
    assert len(house.sessions) == 0, "nobody is kept who has left"
    return bots[0]


@cache
def envelopes(game: str, tables: int) -> Mapping[bool, int]:
    """Return how many envelopes pass upwards and downwards in a match without a fault."""
    return played(game, tables).passed


def first(kind: FaultKind) -> int:
    """A Hello without a session to resume that comes so late is taken for another program of the same name."""
    return 1 if kind in (FaultKind.STALLED, FaultKind.OVERTAKEN, FaultKind.GHOST) else 0


@pytest.mark.sampled
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("game", GAMES)
def test_a_fault_at_any_envelope_costs_nothing_but_time(game: str, way: tuple[FaultKind, bool], soak: bool) -> None:
    kind, is_up = way
    points = envelopes(game, 1)[is_up]
    assert points > 10
    resumed = 0
    step = 1 if soak else CLOSE if game == "szmal" else ROUGH
    for at in range(first(kind) + list(FaultKind).index(kind) % min(step, CLOSE), points, step):
        resumed += played(game, 1, Fault(kind, is_up, at)).streams > 1
    assert (resumed == 0) == (kind is FaultKind.STALLED)


@pytest.mark.parametrize("way", WAYS)
def test_a_fault_at_two_tables_at_once_costs_nothing_but_time(way: tuple[FaultKind, bool], soak: bool) -> None:
    kind, is_up = way
    for at in range(first(kind), envelopes("szmal", 2)[is_up], 1 if soak else ROUGH):
        played("szmal", 2, Fault(kind, is_up, at))


# -- that these tests can fail
def test_a_server_that_forgets_what_is_open_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = server_session.ServerSession.connect

    def forgets(session: server_session.ServerSession, link: Link) -> None:
        connect(session, link)
        session.ready_places.clear()

    monkeypatch.setattr(server_session.ServerSession, "connect", forgets)
    assert_one_fails(FaultKind.LOST)


def test_a_bot_that_does_not_send_its_answer_again_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    put = client_session.ClientSession._decision

    def forgets(
        session: client_session.ClientSession, decision: arena_pb2.Decision, todos: list[Todo], now: float
    ) -> None:
        waiting = len(session._out)
        put(session, decision, todos, now)
        del session._out[waiting:]

    monkeypatch.setattr(client_session.ClientSession, "_decision", forgets)
    assert_one_fails(FaultKind.LOST)


def test_a_bot_that_does_not_send_its_notes_again_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    put = client_session.ClientSession._decision

    def forgets(
        session: client_session.ClientSession, decision: arena_pb2.Decision, todos: list[Todo], now: float
    ) -> None:
        waiting = len(session._out)
        put(session, decision, todos, now)
        for number, again in enumerate(session._out[waiting:], waiting):
            request = arena_pb2.PlayRequest.FromString(again)
            del request.notes[:]
            session._out[number] = request.SerializeToString()

    monkeypatch.setattr(client_session.ClientSession, "_decision", forgets)
    assert_one_fails(FaultKind.LOST)


def assert_one_fails(kind: FaultKind) -> None:
    """At one envelope at least the promise is broken."""

    def tried() -> None:
        for at in range(10, 30):
            played("szmal", 1, Fault(kind, True, at))

    with pytest.raises(AssertionError):
        tried()
