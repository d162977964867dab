"""What pages ask of a league: once for all who ask at the same time, and nothing that is not public."""

from __future__ import annotations

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from cutpurse.page import league_client as asking_module
from cutpurse.page.league_client import Asking
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.errors import NotFound, ServerUnreachable
from cutpurse.wire.league import League

LADDERS = ladder_pb2.ListLaddersResponse(
    ladders=[ladder_pb2.LadderShown(defined=ladder_pb2.LadderDefined(name="duel"))]
)


class Counting:
    """A league that counts what it is asked, and answers when it may."""

    def __init__(self, answer: Any = LADDERS) -> None:
        self.asked: list[str] = []
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.answer = answer
        self.league = League(self._ask)

    def _ask(self, name: str, request: Any) -> Any:
        self.asked.append(name)
        assert self.may_answer.wait(240)
        if isinstance(self.answer, Exception):
            raise self.answer
        return ladder_pb2.GetMatchResponse() if name == "GetMatch" else self.answer


def test_a_thousand_readers_cost_one_call_a_second() -> None:
    counting, now = Counting(), 0.0
    ask = Asking(counting.league, clock=lambda: now)
    for _ in range(1_000):
        assert [one.defined.name for one in ask.ladders()] == ["duel"]
    assert counting.asked == ["ListLadders"]
    ask.ladders("greed")  # another question
    now = 1.0
    ask.ladders()
    assert counting.asked == ["ListLadders"] * 3


def test_those_who_ask_meanwhile_wait_for_the_same_answer() -> None:
    counting = Counting()
    counting.may_answer.clear()
    ask = Asking(counting.league)
    with ThreadPoolExecutor(8) as threads:
        answers = [threads.submit(ask.ladders) for _ in range(8)]
        counting.may_answer.set()
        assert [len(answer.result(240)) for answer in answers] == [1] * 8
    assert counting.asked == ["ListLadders"]


def test_the_calls_of_a_page_wait_at_the_same_time_and_answer_in_order() -> None:
    both = threading.Barrier(2)

    def call(answer: int) -> int:
        both.wait(240)  # breaks unless both calls are under way
        return answer

    ask = Asking(Counting().league)
    assert ask.together([lambda: call(1), lambda: call(2)]) == [1, 2]
    with pytest.raises(NotFound, match="no ladder 'gone'"):
        ask.together([ask.ladders, lambda: ask.ladder("gone")])


def test_a_refusal_is_kept_as_well() -> None:
    counting = Counting(NotFound("gone"))
    ask = Asking(counting.league, clock=lambda: 0.0)
    for _ in range(3):
        with pytest.raises(NotFound, match="gone"):
            ask.ladders()
    assert len(counting.asked) == 1


def test_a_file_that_could_not_be_had_is_asked_for_again() -> None:
    counting, now = Counting(ServerUnreachable("it does not answer")), 0.0
    ask = Asking(counting.league, clock=lambda: now)
    for _ in range(2):
        with pytest.raises(ServerUnreachable):
            ask.record_bytes("0123456789abcdef")
    counting.answer = [ladder_pb2.GetRecordResponse(piece=b"all"), ladder_pb2.GetRecordResponse(piece=b" of it")]
    now = 1.0
    assert ask.record_bytes("0123456789abcdef") == b"all of it"
    now = 1_000.0
    assert ask.record_bytes("0123456789abcdef") == b"all of it"
    assert counting.asked.count("GetRecord") == 1


def test_a_broken_league_is_asked_again() -> None:
    counting = Counting(ValueError("broke"))
    ask = Asking(counting.league, clock=lambda: 0.0)
    for _ in range(2):
        with pytest.raises(ValueError, match="broke"):
            ask.ladders()
    assert len(counting.asked) == 2


def test_no_more_is_kept_than_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutpurse.page.league_client.MOST_KEPT", 10)
    counting = Counting()
    ask = Asking(counting.league, clock=lambda: 0.0)
    for number in range(11):
        ask.ladders(f"game{number}")
    ask.ladders("game10")
    assert len(counting.asked) == 11
    ask.ladders("game0")  # went for game10
    assert len(counting.asked) == 12


def test_what_is_good_no_more_is_let_go() -> None:
    now = 0.0
    kept = asking_module.AnswerCache(512, 1.0, lambda: now)
    let_go = [weakref.ref(kept.get(number, set[int])) for number in range(100)]
    now = 0.9
    newer = weakref.ref(kept.get("newer", set[int]))
    gc.collect()
    assert all(one() is not None for one in let_go)
    now = 1.0
    kept.get("newest", set[int])
    gc.collect()
    assert not any(one() is not None for one in let_go)
    assert newer() is not None


def test_in_a_file_nothing_is_being_played() -> None:
    counting = Counting()
    assert list(Asking(counting.league, live=False).open_matches().matches) == []
    assert counting.asked == []


def test_a_ladder_that_is_not_there_is_not_found() -> None:
    with pytest.raises(NotFound, match="there is no ladder 'nope'"):
        Asking(Counting().league).ladder("nope")
