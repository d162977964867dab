"""Bots of owners: of one name, and with tokens that count no more."""

from __future__ import annotations

import pytest

from cutpurse.leaderboard.tokens import HOUSE, PEOPLE
from cutpurse.server.access.owners import Grant, HostedBotIdentity
from cutpurse.server.limits import ServerLimits
from cutpurse.server.parts.people.kind import MAX_PEOPLE
from cutpurse.v1 import arena_pb2
from tests.server.session.house import House

ANN = Grant("ann", "annsfirst")
ANN_TOO = Grant("ann", "annsother")
BOB = Grant("bob", "bobsfirst")


def test_bots_of_one_name_and_two_owners_are_two_bots() -> None:
    house = House()
    one, other = house.dial("sneak", ANN).welcomed(), house.dial("sneak", BOB).welcomed()
    assert one.link.closed is other.link.closed is None
    assert one.session is not other.session
    (seat,) = one.tables(1)
    again = house.dial("sneak", ANN_TOO)  # another token of the same owner
    assert one.ended() == ("ABORTED", "SUPERSEDED")
    assert other.link.closed is None
    assert again.session is not one.session
    assert not seat.is_connected


def test_a_session_is_resumed_by_its_owner_only() -> None:
    house = House()
    peer = house.dial("sneak", ANN).welcomed()
    resume = arena_pb2.Resume(session=peer.session.id, secret=peer.session.secret)
    never = arena_pb2.Resume(session="nonesuch", secret=peer.session.secret)
    stolen = house.refusal(bot="sneak", grant=BOB, resume=resume)
    assert stolen == house.refusal(bot="sneak", grant=BOB, resume=never)
    assert stolen.reason == "RESUME_EXPIRED"
    assert peer.link.closed is None
    again = house.dial("sneak", ANN_TOO, resume=resume)
    assert again.session is peer.session
    assert peer.ended() == ("UNAVAILABLE", "")


def test_a_session_ends_with_its_token_and_cannot_be_resumed() -> None:
    house = House()
    ann, bob = house.dial("sneak", ANN).welcomed(), house.dial("thug", BOB).welcomed()
    (seat,) = ann.tables(1)
    house.bad.add(ANN.token)
    house.now += 1.0
    house.sessions.tick(house.now)
    assert ann.ended() == ("UNAUTHENTICATED", "TOKEN_INVALID")
    assert bob.link.closed is None
    assert not seat.is_connected  # its match goes on without it
    assert len(house.sessions) == 1
    resume = arena_pb2.Resume(session=ann.session.id, secret=ann.session.secret)
    assert house.refusal(bot="sneak", grant=ANN_TOO, resume=resume).reason == "RESUME_EXPIRED"


def test_a_session_without_a_stream_ends_with_its_token_too() -> None:
    house = House()
    ann = house.dial("sneak", ANN).welcomed()
    ann.link.lost(house.now)
    house.bad.add(ANN.token)
    house.sessions.check_tokens(house.now)
    assert len(house.sessions) == 0


def test_the_token_that_counts_is_that_of_the_present_stream() -> None:
    house = House()
    first = house.dial("sneak", ANN).welcomed()
    resume = arena_pb2.Resume(session=first.session.id, secret=first.session.secret)
    second = house.dial("sneak", ANN_TOO, resume=resume).welcomed()
    house.bad.add(ANN.token)
    house.sessions.check_tokens(house.now)
    assert second.link.closed is None
    house.bad.add(ANN_TOO.token)
    house.sessions.check_tokens(house.now)
    assert second.ended() == ("UNAUTHENTICATED", "TOKEN_INVALID")


NAMES = ["", " ann", "Ann", "ann\n", "ann\x1b[31m", "<b>ann</b>", "ann\u202ebob", "\U0001f600", "zoë", "-ann", "a" * 33]
NAMES += ["a" * 10_000, "../ann", "ann/bob", "ann,bob", "\0", "ann' OR '1'='1"]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_a_name_that_is_none_is_refused_in_a_line_that_can_be_shown(name: str) -> None:
    house = House()
    for refusal in (house.refusal(bot=name), house.refusal(version=name or " ")):
        assert refusal.reason == "HELLO"
        assert "it can be 1 to 32 of a-z, 0-9" in refusal.text
        assert refusal.text.isprintable()
        assert len(refusal.text) < 200
    assert len(house.sessions) == 0


def test_an_owner_has_so_many_bots_here_and_others_get_in() -> None:
    house = House(ServerLimits(sessions_per_owner=2))
    lost = house.dial("a", ANN).welcomed()
    house.dial("b", ANN_TOO).welcomed()  # by either token
    refusal = house.refusal(bot="c", grant=ANN)
    assert (refusal.reason, refusal.retry_s) == ("STREAMS", 5.0)
    assert refusal.text == "ann has 2 bots here, as many as an owner may; end one of them first"
    assert house.refusal(bot="a", version="2", grant=ANN) == refusal
    house.dial("c", BOB)
    house.dial("b", ANN)  # who is there already takes no place
    lost.lose()
    resume = arena_pb2.Resume(session=lost.session.id, secret=lost.session.secret)
    house.dial("a", ANN, resume=resume).lose()  # nor who comes back
    assert house.refusal(bot="c", grant=ANN) == refusal
    house.now += 31.0
    house.sessions.tick(house.now)
    house.dial("c", ANN)


def test_bots_without_tokens_and_those_of_the_server_itself_are_not_counted_by_owner() -> None:
    house = House(ServerLimits(sessions_per_owner=2))
    for number in range(5):
        house.dial(f"bot{number}")
        house.dial(f"bot{number}", Grant(HOUSE, "housetok", forgets=True))
        house.dial(f"person-{number}", Grant(PEOPLE, "peopletk"))
        house.dial("x", Grant("ann", f"residen{number}", resident=HostedBotIdentity(f"bot{number}", "1")))
    house.dial("one", ANN)
    house.dial("two", ANN)
    assert house.refusal(bot="three", grant=ANN).reason == "STREAMS"


def test_a_house_bot_may_play_with_more_people_than_another_bot_has_tables() -> None:
    house = House()
    own = house.dial("people.greedy", Grant(HOUSE, "housetok", forgets=True), max_tables=1_000).welcomed()
    assert own.session.max_tables == MAX_PEOPLE
    assert (
        house.dial("a", ANN, max_tables=1_000).welcomed().session.max_tables == ServerLimits().most_tables < MAX_PEOPLE
    )
