"""What bots have to say: kept for their owners up to a limit, told to nobody else, and no way to slow the server."""

from __future__ import annotations

import asyncio
import sys
import tracemalloc
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import Message
from hypothesis import given
from hypothesis import strategies as st

from cutpurse.engine.clocks import TimeControl
from cutpurse.engine.record import read_record, replay
from cutpurse.games import GAMES
from cutpurse.leaderboard.ladders import ensure_ladder
from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.leaderboard.results import FinishedMatch, SeatNote
from cutpurse.leaderboard.store import Store
from cutpurse.sdk.run import connect
from cutpurse.server.errors import CallRefused
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.league.league_queries import STRANGER, Answers, Caller
from cutpurse.server.league.presence import NOWHERE
from cutpurse.server.limits import ServerLimits
from cutpurse.server.matches import seat_notes
from cutpurse.server.matches.seat_notes import NOTE_BYTES, NOTE_LEAST, SeatNotes
from cutpurse.v1 import arena_pb2, ladder_pb2
from tests.server.arenas import running_arena
from tests.server.session.house import House
from tests.server.small_world import NOTE, Manner, World
from tests.server.toys import SECRET

MOST = 16_384
QUICK = TimeControl(base_ms=60, bank_ms=200, grace_ms=20, poll_floor_ms=5, handover_ms=40)


# -- what is kept
def test_notes_are_kept_as_they_came() -> None:
    notes = SeatNotes(MOST)
    said = [(0, "before"), (1, "one"), (1, "again\x00\x1b[31m"), (7, "żółw"), (3, "of an earlier decision")]
    assert all(notes.take(decision, text) for decision, text in said)
    assert notes.kept() == tuple(SeatNote(*one) for one in said)
    assert notes.dropped_bytes == 0
    assert not notes.take(8, "")


def test_a_long_note_is_cut_between_two_signs() -> None:
    notes = SeatNotes(MOST)
    assert notes.take(1, "x" + "é" * 40_000)
    (note,) = notes.kept()
    assert note.text == "x" + "é" * 999  # half of another would have fitted
    assert notes.dropped_bytes == 80_001 - 1_999


def test_when_there_is_no_room_any_more_bytes_are_only_counted() -> None:
    notes = SeatNotes(3_000)
    assert [notes.take(number, "é" * 700) for number in range(4)] == [True, True, True, False]
    assert [len(note.text) for note in notes.kept()] == [700, 700, 100]
    assert notes.dropped_bytes == 1_200 + 1_400
    assert not notes.take(9, "x")
    assert notes.dropped_bytes == 2_601


@given(st.lists(st.tuples(st.integers(0, 5), st.text(max_size=60)), max_size=60), st.integers(0, 500))
def test_what_is_kept_is_the_beginning_of_what_was_said(said: list[tuple[int, str]], most: int) -> None:
    notes = SeatNotes(most)
    took = [notes.take(decision, text) for decision, text in said]
    kept = notes.kept()
    assert len(kept) == sum(took)
    assert sum(max(NOTE_LEAST, len(note.text.encode())) for note in kept) <= most + NOTE_LEAST
    spoken = [(decision, text) for decision, text in said if text]
    for note, (decision, text) in zip(kept, spoken, strict=False):
        assert note.decision == decision
        assert text.startswith(note.text)
    assert notes.dropped_bytes == sum(len(t.encode()) for _, t in spoken) - sum(len(n.text.encode()) for n in kept)


def test_what_is_said_again_after_a_lost_stream_is_kept_once() -> None:
    notes = SeatNotes(MOST)
    notes.take(3, "three")
    notes.take(4, "four")
    notes.connected()
    assert [notes.take(number, f"{number} again") for number in (3, 4, 5)] == [False, False, True]
    assert [note.text for note in notes.kept()] == ["three", "four", "5 again"]
    assert notes.dropped_bytes == 0


def filled(texts: Iterable[str]) -> tuple[SeatNotes, int]:
    """Notes that took these texts, and the bytes that they hold; other threads of the tests do not count."""
    tracemalloc.start(9)
    try:
        notes = SeatNotes(MOST)
        for number, text in enumerate(texts):
            notes.take(number, text)
        snapshot = tracemalloc.take_snapshot()
    finally:
        tracemalloc.stop()
    of_notes = tracemalloc.Filter(True, seat_notes.__file__, all_frames=True)
    return notes, sum(trace.size for trace in snapshot.filter_traces([of_notes]).traces)


def test_a_hundred_thousand_pieces_take_little_more_memory_than_is_kept() -> None:
    notes, held = filled("x" for _ in range(100_000))
    assert len(notes.kept()) == MOST // NOTE_LEAST
    assert notes.dropped_bytes == 100_000 - MOST // NOTE_LEAST
    assert 0 < held < 2 * MOST


def test_the_largest_envelopes_take_no_more_than_is_kept() -> None:
    notes, held = filled("\U0001f408" * 16_384 for _ in range(200))
    assert sum(len(note.text.encode()) for note in notes.kept()) == MOST
    assert 0 < held < 2 * MOST
    assert NOTE_BYTES % 4 == 0  # so whole cats were kept


# -- what a stream makes of them
def _notes(*said: tuple[int, int, str]) -> list[arena_pb2.Note]:
    return [arena_pb2.Note(table=table, decision=decision, text=text) for table, decision, text in said]


def test_welcome_says_how_much_is_kept_to_who_asked() -> None:
    house = House()
    asked, silent = house.dial("ann", features=["notes"]).read(), house.dial("bob").read()
    assert asked is not None
    assert silent is not None
    assert (list(asked.welcome.features), asked.welcome.max_note_bytes) == (["notes"], 16_384)
    assert (list(silent.welcome.features), silent.welcome.max_note_bytes) == ([], 0)


def test_a_note_reaches_its_table_before_the_answer_that_it_came_with() -> None:
    house = House()
    peer = house.dial(features=["notes"]).welcomed()
    first, second = peer.tables(2)
    first.length = 1
    first.ask()
    peer.expect("ask 1#1")
    asked = [len(first.answered)]
    real = first.note
    first.note = lambda *said: asked.append(len(first.answered)) or real(*said)  # type: ignore[method-assign, func-returns-value]
    peer.say(notes=_notes((1, 1, "it was the last")), answers=[arena_pb2.Answer(table=1, decision=1, option=0)])
    assert asked == [0, 0]
    assert (first.notes, second.notes) == ([(1, "it was the last")], [])


def test_who_did_not_ask_for_notes_has_none() -> None:
    peer = House().dial().welcomed()
    (seat,) = peer.tables(1)
    peer.say(notes=_notes((1, 0, "hello")))
    assert seat.notes == []
    peer.expect()


def test_notes_for_tables_that_are_not_ones_own_are_passed_over_in_silence() -> None:
    house = House()
    ann, bob = house.dial("ann", features=["notes"]).welcomed(), house.dial("bob", features=["notes"]).welcomed()
    seats = bob.tables(3)
    ann.say(notes=_notes((1, 1, "x"), (3, 1, "y"), (4_000_000_000, 4_000_000_000, "z"), (0, 0, "")))
    ann.expect()
    bob.expect()
    assert ann.link.closed is None
    assert [seat.notes for seat in seats] == [[], [], []]


def test_a_flood_of_notes_is_read_no_quicker_than_as_many_envelopes() -> None:
    house = House(ServerLimits(envelopes_per_second=10, envelopes_at_once=20))
    peer = house.dial(features=["notes"]).welcomed()
    assert peer.say(notes=_notes(*[(9, 1, "x")] * 15)) == 0.0
    assert peer.say(notes=_notes(*[(9, 1, "x")] * 15)) == pytest.approx((2 * 15 - 20 + 3) / 10, abs=0.2)
    assert peer.say(notes=_notes(*[(9, 1, "x")] * 9_000)) == pytest.approx((2 * 15 + 4) / 10, abs=0.2)
    peer.expect()


def test_a_note_with_each_answer_slows_nobody_though_it_is_not_kept() -> None:
    house = House(ServerLimits(envelopes_per_second=10, envelopes_at_once=20))
    peer = house.dial(features=["notes"]).welcomed()
    (seat,) = peer.tables(1)
    seat.note = lambda decision, text, most_bytes: False  # type: ignore[method-assign]
    for number in range(1, 500):
        seat.ask()
        peer.expect(*["accepted 1"] * (number > 1), f"ask 1#{number}")
        answer = arena_pb2.Answer(table=1, decision=number, option=0)
        assert peer.say(notes=_notes((1, number, "x")), answers=[answer]) == 0.0


def test_a_note_with_each_give_up_slows_nobody_though_it_is_not_kept() -> None:
    house = House(ServerLimits(envelopes_per_second=10, envelopes_at_once=20))
    peer = house.dial(features=["notes"]).welcomed()
    seats = peer.tables(4)
    for seat in seats:
        seat.note = lambda decision, text, most_bytes: False  # type: ignore[method-assign]
    for number in range(1, 100):
        for seat in seats:
            seat.ask()
        peer.read()
        given_up = [arena_pb2.GiveUp(table=seat.number, decision=number) for seat in seats]
        assert peer.say(notes=_notes(*[(seat.number, number, "x") for seat in seats]), give_ups=given_up) == 0.0


@pytest.mark.parametrize("is_kept", [False, True])
def test_notes_are_paced_as_far_as_they_are_not_kept_and_earn_nothing_where_they_are(is_kept: bool) -> None:
    pauses = []
    for said in (0, 50):
        peer = House(ServerLimits(envelopes_per_second=10, envelopes_at_once=20)).dial(features=["notes"]).welcomed()
        (seat,) = peer.tables(1)
        seat.note = lambda decision, text, most_bytes: is_kept  # type: ignore[method-assign]
        answers = [arena_pb2.Answer(table=9, decision=1, option=0)] * 30  # refused, each at the cost of an envelope
        pauses.append(peer.say(notes=_notes(*[(1, 0, "x")] * said), answers=answers))
    without, with_notes = pauses
    assert without > 1.0
    assert with_notes == pytest.approx(without if is_kept else without + 20 / 10)


# -- what comes with a result
def _played(says: int, seed: str = "notes") -> tuple[World, list[FinishedMatch]]:
    """Matches of bots of every manner, some of which have something to say."""
    world = World([Ladder("it", "szmal", 4, {}, QUICK)], seed=seed)
    world.bot("ann", 2, Manner(most_s=0.03, illegal=0.05, repeats=0.1, says=says))
    world.bot("bob", 2, Manner(most_s=0.2, gives_up=0.02))
    world.bot("cid", 2, Manner(loses_stream=0.05, away_s=0.3, says=says))
    world.bot("dee", 2, Manner(never=0.05))
    world.run(lambda: len(world.store.kept) >= 6)
    world.lobby.drain(world.now)
    world.run(lambda: world.lobby.is_idle and not any(bot.sat for bot in world.bots))
    return world, list(world.store.kept.values())


def test_a_course_tells_of_each_decision_and_where_its_fault_is_in_the_record() -> None:
    _, results = _played(0)
    seen = 0
    for result in results:
        record = read_record(result.record())
        choices = {len(match.choices): (asked, chosen) for match, asked, chosen in replay(record, GAMES["szmal"])}
        lone_asked = [match.lone_asked for match, _, _ in replay(record, GAMES["szmal"])][-1]
        for number, seat in enumerate(result.seats):
            assert seat.course is not None
            assert sum(seat.course.thinking_ms) == seat.thinking_ms
            assert all(ms >= 0 for ms in seat.course.thinking_ms)
            assert len(seat.course.faults) == seat.faults
            for fault in seat.course.faults:
                seen += 1
                asked, chosen = choices[fault.at]
                assert (chosen.seat, chosen.cause.value) == (number, fault.cause)
                assert fault.decision == asked.number + 1
                assert fault.text
            assert [fault.decision for fault in seat.course.faults] == sorted(
                {one.decision for one in seat.course.faults}
            )
        asked_in_all = sum(len(seat.course.thinking_ms) for seat in result.seats if seat.course is not None)
        assert asked_in_all <= result.decisions + sum(lone_asked)
    assert seen > 10
    causes = {
        fault.cause
        for result in results
        for seat in result.seats
        for fault in (seat.course.faults if seat.course else ())
    }
    assert causes >= {"timeout", "crashed"}


def test_each_decision_has_the_time_that_was_thought_over_it() -> None:
    world = World([Ladder("it", "greed", 2)], seed="times")
    world.bot("ann", 1, Manner(least_s=0.0104, most_s=0.0104))
    world.bot("bob", 1, Manner(least_s=0.002, most_s=0.002))
    world.run(lambda: bool(world.store.kept))
    (result,) = list(world.store.kept.values())[:1]
    of = {seat.player.bot: seat.course.thinking_ms for seat in result.seats if seat.course is not None}
    assert set(of["ann"]) <= {10, 11}
    assert set(of["bob"]) == {2}
    assert list(accumulate(of["ann"])) == [number * 104 // 10 for number in range(1, len(of["ann"]) + 1)]


def test_notes_come_with_the_result_and_are_seen_by_nobody_else() -> None:
    """The same matches, played by bots that say nothing and by the same that do, look the same to everybody."""
    silent, without = _played(0)
    talking, with_notes = _played(3)
    for one, other in zip(silent.bots, talking.bots, strict=True):
        assert [played.told for played in one.done] == [played.told for played in other.done]
        assert all(NOTE.encode() not in body for played in other.done for body in played.told)
    assert silent.log.lines == talking.log.lines
    assert NOTE not in str(talking.log.lines)
    said = 0
    for result, same in zip(with_notes, without, strict=True):
        assert result.record() == same.record()
        stripped = tuple(replace(seat, notes=(), dropped_bytes=0) for seat in result.seats)
        assert replace(result, seats=stripped, make_record=same.make_record) == same
        for seat in result.seats:
            assert seat.course is not None
            said += len(seat.notes)
            assert all(
                note.text == f"{NOTE}, {index % 3} of {note.decision}" for index, note in enumerate(seat.notes[:9])
            )
            assert bool(seat.notes) == (seat.player.bot in ("ann", "cid"))
            assert {note.decision for note in seat.notes} <= set(range(1, len(seat.course.thinking_ms) + 1))
    assert said > 100


def test_what_is_said_when_the_match_is_over_or_about_what_was_not_asked_is_not_kept() -> None:
    world = World([Ladder("it", "greed", 2)], seed="late")
    ann, _ = world.bot("ann", 1), world.bot("bob", 1)
    world.run(lambda: bool(ann.open) and bool(next(iter(ann.open.values())).decisions))
    (seat,) = ann.sat.values()
    asked = max(ann.open[seat.number].decisions)
    assert seat.note(0, "hello", MOST)
    assert seat.note(asked, "now", MOST)
    assert not seat.note(asked + 1, "to come", MOST)
    assert not seat.note(2**32 - 1, "to come", MOST)
    world.lobby.drain(world.now)
    world.run(lambda: bool(world.store.kept))
    assert not seat.note(asked, "after the end", MOST)
    world.run(lambda: world.lobby.is_idle)
    (result,) = world.store.kept.values()
    mine = next(one for one in result.seats if one.player.bot == "ann")
    assert mine.notes == (SeatNote(0, "hello"), SeatNote(asked, "now"))


def test_a_match_that_is_void_keeps_what_was_said() -> None:
    world = World([Ladder("it", "greed", 2)], seed="void")
    ann, _ = world.bot("ann", 1, Manner(says=1)), world.bot("bob", 1)
    world.run(lambda: any(len(played.decisions) > 3 for played in ann.open.values()))
    world.lobby.drain(world.now)
    world.lobby.void_all()
    world.run(lambda: bool(world.store.kept))
    (result,) = world.store.kept.values()
    assert result.is_void
    mine = next(one for one in result.seats if one.player.bot == "ann")
    assert len(mine.notes) >= 3
    assert result.voided().seats[0].notes == result.seats[0].notes


def _kept(path: Path, results: list[FinishedMatch]) -> LeaderboardReader:
    """A leaderboard that has stored these."""
    with Store(path) as store:
        store.write(ensure_ladder, Ladder("it", "szmal", 4, {}, QUICK).kept)
        for result in results:
            store.submit(result).result(240)
    return LeaderboardReader(path)


def _all_that_is_told(reader: LeaderboardReader, caller: Caller) -> list[bytes]:
    """Everything that somebody is told of a league."""
    answers = Answers(reader, lambda: datetime(2026, 1, 2, tzinfo=UTC))
    ask = ladder_pb2
    page = answers.list_matches(ask.ListMatchesRequest(), caller, NOWHERE)
    told: list[Message] = [
        page,
        answers.list_ladders(ask.ListLaddersRequest(), caller, NOWHERE),
        answers.list_rankings(ask.ListRankingsRequest(ladder="it"), caller, NOWHERE),
        answers.list_bots(ask.ListBotsRequest(), caller, NOWHERE),
        *[answers.get_match(ask.GetMatchRequest(match=one.match), caller, NOWHERE) for one in page.matches],
    ]
    for bot in ("ann", "bob", "cid", "dee"):
        name = ask.BotName(owner="local", bot=bot)
        told += [
            answers.list_history(ask.ListHistoryRequest(ladder="it", bot=name), caller, NOWHERE),
            answers.list_opponents(ask.ListOpponentsRequest(ladder="it", bot=name), caller, NOWHERE),
        ]
        with pytest.raises(CallRefused) as refused:
            answers.list_logs(ask.ListLogsRequest(bot=name), caller, NOWHERE)
        assert refused.value.ending.reason == "NOT_YOURS"
    files = [answers.match_file(ask.GetRecordRequest(match=one.match), caller) for one in page.matches]
    return [*[one.SerializeToString(deterministic=True) for one in told], *files]


@pytest.mark.parametrize("caller", [STRANGER, Caller("bob", frozenset({"read", "play"}))])
def test_what_others_are_told_of_a_league_is_the_same_byte_for_byte(caller: Caller, tmp_path: Path) -> None:
    (_, without), (_, with_notes) = _played(0), _played(3)
    with _kept(tmp_path / "silent.db", without) as silent, _kept(tmp_path / "talking.db", with_notes) as talking:
        told = _all_that_is_told(talking, caller)
        assert told == _all_that_is_told(silent, caller)
        assert not any(text in body for body in told for text in (NOTE.encode(), b"its own code failed"))
        answers = Answers(talking, lambda: datetime(2026, 1, 2, tzinfo=UTC))
        own = Caller("local", frozenset({"read"}))
        for bot, text in (("ann", NOTE), ("bob", "its own code failed")):
            request = ladder_pb2.ListLogsRequest(bot=ladder_pb2.BotName(bot=bot))
            logs = answers.list_logs(request, own, NOWHERE).SerializeToString()
            assert text.encode() in logs
            assert (NOTE.encode() in logs) is (bot == "ann")


# -- over the wire
class Talks:
    def start(self, match: Any) -> None:
        sys.stdout.write(f"{SECRET} sits down\n")

    def choose(self, view: Any, decision: Any) -> int:
        sys.stdout.write(f"{SECRET} thinks\n")
        decision.note(f"{SECRET} chose {decision.number}")
        return 1 // int(decision.number != 2)


async def test_what_a_real_bot_prints_comes_with_the_result_of_its_seat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    unhurried = TimeControl(base_ms=60_000)  # a decision that the clock ends has no notes
    ladder = Ladder("greed", "greed", 2, {"max_rounds": "20"}, unhurried, matches_wanted=1)
    async with running_arena(tmp_path, [ladder]) as arena:
        stored: list[FinishedMatch] = []
        submit = arena.opened.store.submit

        def spied(result: FinishedMatch) -> Any:
            stored.append(result)
            return submit(result)

        monkeypatch.setattr(arena.opened.store, "submit", spied)
        await asyncio.gather(
            connect(Talks, "greed", server=arena.address, matches=1, send_output=True, quiet=True),
            connect("random", "greed", server=arena.address, matches=1, quiet=True),
        )
        (result,) = stored
        log = arena.log
    talks, silent = sorted(result.seats, key=lambda seat: seat.faults, reverse=True)
    assert talks.course is not None
    asked = len(talks.course.thinking_ms)
    assert asked > 3
    assert talks.notes == (
        SeatNote(0, f"{SECRET} sits down"),
        *[SeatNote(number, f"{SECRET} thinks\n{SECRET} chose {number - 1}") for number in range(1, asked + 1)],
    )
    (fault,) = talks.course.faults
    assert (fault.decision, fault.cause) == (3, "crashed")
    assert "ZeroDivisionError" in fault.text
    assert (silent.notes, silent.faults) == ((), 0)
    assert SECRET not in log
    assert capsys.readouterr().out.count(f"{SECRET} thinks\n") == asked
