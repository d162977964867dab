"""Nonces on a stream: each reaches its seat, and one that does not count gets one answer."""

import pytest

from cutpurse.engine.clocks import AnswerOutcome, OutcomeKind
from cutpurse.leaderboard.tokens import HOUSE, PEOPLE
from cutpurse.server.access.owners import Grant
from cutpurse.server.limits import ServerLimits
from cutpurse.v1 import arena_pb2
from tests.server.session.house import House

NONCE = bytes(range(32))


def nonce(table: int, value: bytes = NONCE) -> arena_pb2.Nonce:
    return arena_pb2.Nonce(table=table, nonce=value)


def test_a_nonce_reaches_its_seat_with_the_moment_of_reading(house: House) -> None:
    peer = house.dial(features=["nonces"]).welcomed()
    first, second = peer.tables(2)
    peer.say(nonces=[nonce(2)])
    peer.expect()
    assert (first.nonces, second.nonces) == ([], [(NONCE, house.now)])


@pytest.mark.parametrize(
    ("outcome", "line", "text"),
    [
        (
            AnswerOutcome(OutcomeKind.ILLEGAL_CLOSED),
            "refused 1#0 ILLEGAL 0",
            "table 1: a nonce has 32 bytes, this one 3; the deal is made without it",
        ),
        (
            AnswerOutcome(OutcomeKind.TOO_LATE, late_by_ms=12),
            "refused 1#0 TOO_LATE 0",
            "table 1: the nonce came 12 ms too late; the deal is made without it",
        ),
        (
            AnswerOutcome(OutcomeKind.ALREADY_DECIDED),
            "refused 1#0 ALREADY_DECIDED 0",
            "table 1: a nonce was sent before; only the first one is read",
        ),
        (AnswerOutcome(OutcomeKind.STALE), "refused 1#0 STALE 0", "table 1: the match is over"),
        (
            AnswerOutcome(OutcomeKind.UNKNOWN_DECISION),
            "refused 1#0 UNKNOWN_DECISION 0",
            "table 1: the server asks for no nonce there",
        ),
    ],
)
def test_one_that_does_not_count_gets_one_clear_answer(
    house: House, outcome: AnswerOutcome, line: str, text: str
) -> None:
    peer = house.dial(features=["nonces"]).welcomed()
    (seat,) = peer.tables(1)
    seat.says_of_nonce = outcome
    peer.say(nonces=[nonce(1, b"abc")])
    response = peer.read()
    assert response is not None
    (refusal,) = response.refusals
    assert (refusal.table, refusal.decision, refusal.text) == (1, 0, text)
    assert f"refused 1#0 {arena_pb2.RefusalReason.Name(refusal.reason).removeprefix('REFUSAL_REASON_')} 0" == line
    assert refusal.late_by_ms == outcome.late_by_ms
    assert peer.link.closed is None


def test_at_no_table_there_is_nothing_to_add(house: House) -> None:
    peer = house.dial(features=["nonces"]).welcomed()
    peer.say(nonces=[nonce(7)])
    peer.expect("refused 7#0 UNKNOWN_DECISION 0")


def test_of_a_flood_of_nonces_no_more_are_read_than_may_be_refused() -> None:
    house = House(ServerLimits(most_unread=10))
    peer = house.dial(features=["nonces"]).welcomed()
    (seat,) = peer.tables(1)
    seat.says_of_nonce = AnswerOutcome(OutcomeKind.ALREADY_DECIDED)
    peer.say(nonces=[nonce(1)] * 1_000)
    assert len(seat.nonces) == 11
    assert peer.link.refusals == 10


@pytest.mark.parametrize("owner", [HOUSE, PEOPLE])
def test_bots_that_the_server_runs_are_not_asked(house: House, owner: str) -> None:
    assert house.dial("ann", features=["nonces"]).session.sends_nonces
    assert not house.dial("bob", features=[]).session.sends_nonces
    assert not house.dial("cid", Grant(owner, ""), features=["nonces"]).session.sends_nonces
