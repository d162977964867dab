"""Coming in: what a Hello is answered with, and which are refused."""

from __future__ import annotations

import pytest

from cutpurse.server.errors import CallRefused
from cutpurse.server.limits import ServerLimits
from cutpurse.v1 import arena_pb2
from tests.server.session.house import CODES, SERVER, House


def test_hello_is_answered_by_welcome_with_every_limit(house: House) -> None:
    peer = house.dial(max_tables=7, features=["agenda", "telepathy"], protocol_minor=9, version="2.1-b", sdk="x" * 99)
    response = peer.read()
    assert response is not None
    assert response == arena_pb2.PlayResponse(
        envelope=1,
        welcome=arena_pb2.Welcome(
            session=peer.session.id,
            resume_secret=peer.session.secret,
            protocol_minor=1,
            resumed=False,
            resume_window_ms=30_000,
            max_tables=7,
            most_tables=64,
            max_bytes=65_536,
            max_envelopes_per_second=200,
            heartbeat_ms=15_000,
            server=SERVER,
            bot="ann",
            version="2.1-b",
            features=["agenda"],
            owner="local",
        ),
    )
    assert peer.session.wants_agenda
    assert peer.session.introduction.sdk == "x" * 80
    assert house.lobby.told == ["enter ann"]


def test_a_bot_that_names_little_gets_the_usual(house: House) -> None:
    peer = house.dial().welcomed()
    session = peer.session
    assert (session.identity.version, session.free_tables, session.wants_events, session.wants_agenda) == (
        "1",
        4,
        False,
        False,
    )
    assert session.plays("greed", "greed")
    assert session.plays("szmal", "szmal")


def test_a_bot_is_paired_on_what_it_wants(house: House) -> None:
    wanted = [arena_pb2.GameWanted(game="greed", ladders=["greed-fast"])]
    session = house.dial(games=wanted).session
    assert not session.plays("greed", "greed")
    assert session.plays("greed", "greed-fast")
    assert not session.plays("szmal", "szmal")


@pytest.mark.parametrize(
    ("hello", "code", "reason", "text"),
    [
        ({"protocol_major": 2}, "FAILED_PRECONDITION", "PROTOCOL_VERSION", "version 1.1 of the protocol, the bot 2.0"),
        ({"protocol_major": 0}, "FAILED_PRECONDITION", "PROTOCOL_VERSION", "the bot 0.0"),
        ({"bot": ""}, "FAILED_PRECONDITION", "HELLO", "Hello.bot is ''; it can be 1 to 32 of a-z"),
        ({"bot": "Ann"}, "FAILED_PRECONDITION", "HELLO", "'Ann'"),
        ({"bot": "-ann"}, "FAILED_PRECONDITION", "HELLO", "the first a letter or digit"),
        ({"bot": "a" * 33}, "FAILED_PRECONDITION", "HELLO", "a" * 33),
        ({"bot": "ann\n\x1b[2J"}, "FAILED_PRECONDITION", "HELLO", "'ann??[2J'"),
        ({"version": "1 2"}, "FAILED_PRECONDITION", "HELLO", "Hello.version is '1 2'"),
        (
            {"games": [arena_pb2.GameWanted(game="chess\x00")]},
            "NOT_FOUND",
            "NOT_FOUND",
            "no game is called 'chess?' here; there are: greed, szmal",
        ),
        (
            {"games": [arena_pb2.GameWanted(game="greed", rules_version="0")]},
            "FAILED_PRECONDITION",
            "RULES_VERSION",
            "the bot was written for '0'",
        ),
        (
            {"games": [arena_pb2.GameWanted(game="greed", ladders=["gold"])]},
            "NOT_FOUND",
            "NOT_FOUND",
            "no ladder of greed is called 'gold'; there are: greed, greed-fast",
        ),
        (
            {"games": [arena_pb2.GameWanted(game="greed")] * 2},
            "FAILED_PRECONDITION",
            "HELLO",
            "names greed twice",
        ),
        (
            {"resume": arena_pb2.Resume(session="no such", secret=b"x")},
            "NOT_FOUND",
            "RESUME_EXPIRED",
            "say Hello without resume",
        ),
    ],
)
def test_a_wrong_hello_is_refused_with_what_was_possible(
    house: House, hello: dict[str, object], code: str, reason: str, text: str
) -> None:
    refusal = house.refusal(**hello)
    assert (refusal.code, refusal.reason) == (CODES[code], reason)
    assert text in refusal.text
    assert refusal.text.isprintable()
    assert len(house.sessions) == 0
    assert house.lobby.told == []


def test_there_are_only_so_many_sessions_and_those_that_were_lost_count() -> None:
    house = House(ServerLimits(most_sessions=2))
    house.dial("ann").welcomed().lose()
    house.dial("bob")
    refusal = house.refusal(bot="cid")
    assert (refusal.reason, refusal.retry_s) == ("STREAMS", 5.0)
    house.dial("bob", version="1")  # who is there already takes no place
    house.now += 31.0
    house.sessions.tick(house.now)
    house.dial("cid")


def test_the_first_envelope_must_be_hello(house: House) -> None:
    with pytest.raises(CallRefused) as refused:
        house.sessions.admit(arena_pb2.PlayRequest(received=0), lambda: None, house.now)
    assert refused.value.ending.reason == "HELLO"
