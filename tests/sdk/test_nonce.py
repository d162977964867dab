"""The bot's side of a deal with nonces: it adds one, and notices a server that deals otherwise than promised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from cutpurse.engine.commitment import board_key, commitment
from cutpurse.engine.match import Match
from cutpurse.v1 import arena_pb2
from cutpurse.wire.client_session import Finish, OwnerNotice, Todo
from tests.sdk.arena import Meeting
from tests.wire.test_session import WELCOME, Script, sent

NONCE = bytes(range(32))


class Asked(Meeting):
    """A match whose deal counts the bot's nonce."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.nonces = [NONCE, b"", bytes(32)]
        self.deal()

    def deal(self) -> None:
        """Deal from the seed and the nonces."""
        rules = type(self.match.game)
        key = board_key(self.seed, self.params, self.nonces)
        self.match = Match(rules, self.match.seats, key, log=True, ask_all=True)
        self.play_others()

    def started(self) -> arena_pb2.MatchStarted:
        started = super().started()
        started.nonce_ms = 1_000
        return started

    def end(self, opened: bool = True) -> arena_pb2.MatchEnded:
        ended = super().end(opened)
        if opened:
            ended.opening.nonces[:] = self.nonces
            ended.opening.nonces_match = self.name
        return ended

    def play(self) -> None:
        """Play to the end."""
        while asked := self.match.decision(0):
            self.match.answer(0, asked.number, 0)
            self.play_others()


def script() -> Script:
    return Script(entropy=lambda count: NONCE[:count])


def meeting(number: int = 1) -> Asked:
    return Asked(number, "greed", 3, 0, "bot")


def nonces_in(request: arena_pb2.PlayRequest | None) -> list[tuple[int, bytes]]:
    assert request is not None
    return [(one.table, one.nonce) for one in request.nonces]


def ended(change: Callable[[arena_pb2.MatchEnded], None], played: Asked | None = None) -> list[Todo]:
    """What is to be done at the end of a match, after a test has had its hand in it."""
    played = played or meeting()
    mine = script()
    first = played.decision()
    assert first is not None
    mine.say(welcome=WELCOME, starts=[played.started()], decisions=[first])
    played.play()
    end = played.end()
    change(end)
    return mine.say(ends=[end])


def test_the_nonce_goes_with_the_acknowledgement_of_the_start() -> None:
    mine = script()
    mine.say(welcome=WELCOME, starts=[meeting().started()])
    request = sent(mine.session)
    assert request is not None
    assert (request.received, nonces_in(request)) == (1, [(1, NONCE)])
    assert sent(mine.session) is None


def test_a_server_that_asks_for_no_nonce_gets_none() -> None:
    mine = script()
    started = meeting().started()
    started.ClearField("nonce_ms")
    mine.say(welcome=WELCOME, starts=[started])
    assert nonces_in(sent(mine.session)) == []


def test_nonces_differ_from_match_to_match() -> None:
    mine = Script()
    mine.say(welcome=WELCOME, starts=[meeting(1).started(), meeting(2).started()])
    (_, first), (_, second) = nonces_in(sent(mine.session))
    assert len(first) == len(second) == 32
    assert first != second


def test_the_same_nonce_is_sent_again_on_the_next_stream_if_it_is_missing() -> None:
    mine, played = Script(), meeting()
    mine.say(welcome=WELCOME, starts=[played.started()])
    before = nonces_in(sent(mine.session))
    mine.again()
    mine.say(welcome=arena_pb2.Welcome(session="s", resumed=True), starts=[played.started()])
    assert nonces_in(sent(mine.session)) == before
    mine.again()
    has_it = played.started()
    has_it.nonce_ms = 0
    mine.say(welcome=arena_pb2.Welcome(session="s", resumed=True), starts=[has_it])
    assert nonces_in(sent(mine.session)) == []


def test_a_kept_promise_is_no_news() -> None:
    (finish,) = ended(lambda end: None)
    assert isinstance(finish, Finish)


def without(end: arena_pb2.MatchEnded) -> None:
    del end.opening.nonces[:]
    end.opening.nonces_match = ""


def moved(end: arena_pb2.MatchEnded) -> None:
    end.opening.nonces[:] = [b"", NONCE, bytes(32)]


def of_another(end: arena_pb2.MatchEnded) -> None:
    end.opening.nonces_match = "another"


def of_another_seat(end: arena_pb2.MatchEnded) -> None:
    end.opening.nonces[2] = bytes(range(32, 64))


def too_many(end: arena_pb2.MatchEnded) -> None:
    end.opening.nonces.append(b"")


def too_long(end: arena_pb2.MatchEnded) -> None:
    end.opening.nonces[2] = bytes(33)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (without, "does not count the nonce that this bot added"),
        (moved, "does not count the nonce that this bot added"),
        (of_another, "does not count the nonce that this bot added"),
        (of_another_seat, "not those of the promised deal: the server dealt again"),
        (too_many, "counts 4 nonces, and the match has 3 seats"),
        (too_long, "nonces that do not have 32 bytes"),
    ],
)
def test_a_deal_without_the_nonce_is_told_loudly(change: Any, what: str) -> None:
    _, note = ended(change)
    assert isinstance(note, OwnerNotice)
    assert note.text.startswith("WARNING: match ")
    assert what in note.text


def test_a_server_that_deals_again_is_noticed() -> None:
    played = meeting()
    (right,) = ended(lambda end: None, played)
    assert isinstance(right, Finish)
    again = meeting()
    again.nonces[2] = bytes(range(32, 64))  # the server waits for one more nonce, and takes the cards that it likes
    again.deal()
    again.nonces[2] = bytes(32)
    _, note = ended(lambda end: None, again)
    assert isinstance(note, OwnerNotice)
    assert "the server dealt again" in note.text


def test_no_second_nonce_is_added_to_one_promise() -> None:
    mine, first, second = script(), meeting(1).started(), meeting(2).started()
    second.commitment, second.board = first.commitment, first.board
    mine.say(welcome=WELCOME, starts=[first])
    sent(mine.session)
    _, note = mine.say(starts=[second])
    assert isinstance(note, OwnerNotice)
    assert f"asks again for a nonce to the promised deal of match {first.match}" in note.text
    assert nonces_in(sent(mine.session)) == []


def test_another_promise_for_the_same_match_is_told_loudly() -> None:
    mine, started = script(), meeting().started()
    mine.say(welcome=WELCOME, starts=[started])
    mine.again()
    started.commitment = commitment(bytes(32), b"")
    _, note = mine.say(welcome=arena_pb2.Welcome(session="s", resumed=True), starts=[started])
    assert isinstance(note, OwnerNotice)
    assert "promises another deal than before" in note.text


@pytest.mark.parametrize("reason", [arena_pb2.REFUSAL_REASON_TOO_LATE, arena_pb2.REFUSAL_REASON_ILLEGAL])
def test_a_nonce_that_does_not_count_is_told_once(reason: arena_pb2.RefusalReason.ValueType) -> None:
    mine, played = script(), meeting()
    mine.say(welcome=WELCOME, starts=[played.started()])
    (note,) = mine.say(refusals=[arena_pb2.Refusal(table=1, reason=reason, text="table 1: 12 ms too late")])
    assert isinstance(note, OwnerNotice)
    assert "did not count this bot's nonce: table 1: 12 ms too late" in note.text
    played.nonces = []
    played.deal()
    played.play()
    end = played.end()
    end.opening.nonces_match = ""
    (finish,) = mine.say(ends=[end])
    assert isinstance(finish, Finish)


def test_a_nonce_that_was_lost_with_a_stream_is_told_without_alarm() -> None:
    mine, played = script(), meeting()
    mine.say(welcome=WELCOME, starts=[played.started()])
    mine.again()
    has_dealt = played.started()
    has_dealt.nonce_ms = 0
    mine.say(welcome=arena_pb2.Welcome(session="s", resumed=True), starts=[has_dealt])
    played.nonces = []
    played.deal()
    played.play()
    end = played.end()
    end.opening.nonces_match = ""
    _, note = mine.say(ends=[end])
    assert isinstance(note, OwnerNotice)
    assert note.text.endswith("a lost stream took this bot's nonce along; the deal was made without it")
    assert "WARNING" not in note.text


def test_a_repeat_that_was_not_needed_is_no_news() -> None:
    mine, played = script(), meeting()
    mine.say(welcome=WELCOME, starts=[played.started()])
    refusal = arena_pb2.Refusal(table=1, reason=arena_pb2.REFUSAL_REASON_ALREADY_DECIDED)
    assert mine.say(refusals=[refusal]) == []
    assert mine.session.tables[1].nonce == NONCE


def test_a_match_that_is_void_before_the_deal_counts_no_nonce() -> None:
    mine, played = script(), meeting()
    mine.say(welcome=WELCOME, starts=[played.started()])
    end = arena_pb2.MatchEnded(table=1, voided=True)
    for _ in range(3):
        end.seats.add(end_cause=arena_pb2.END_CAUSE_VOID_SERVER)
    end.opening.seed, end.opening.params = played.seed, played.params
    (finish,) = mine.say(ends=[end])
    assert isinstance(finish, Finish)
