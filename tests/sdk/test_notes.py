"""What a bot says about its decisions: by `note`, and what it prints, in whatever kind of bot it does so."""

# ruff: noqa: T201  # the bots here print, as bots do

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutpurse.sdk.decision import Decision
from cutpurse.sdk.local import play
from cutpurse.sdk.notes import NOTE_MOST, NoteBuffer, about, prints_are_noted
from cutpurse.sdk.run import connect
from cutpurse.v1 import arena_pb2
from tests.sdk.arena import arena
from tests.wire.test_session import WELCOME, Script, meeting, sent

KEEPS = arena_pb2.Welcome(features=["notes"], max_note_bytes=16_384)
KEEPS.MergeFrom(WELCOME)


# -- what is said, as one text
def test_lines_are_one_text_which_is_taken_once() -> None:
    notes = NoteBuffer()
    notes.add_line("one")
    notes.add("tw")
    notes.add("o\n")
    notes.add_line("three\n")
    assert notes.take() == "one\ntwo\nthree"
    assert notes.take() == ""


@given(st.lists(st.text(st.characters(codec=None), max_size=300), max_size=30))
def test_no_text_is_greater_than_a_server_keeps(said: list[str]) -> None:
    notes = NoteBuffer()
    for text in said:
        notes.add(text)
    whole = "".join(said)
    text = notes.take()
    encoded = text.encode()
    assert len(encoded) <= NOTE_MOST
    if len(whole.encode(errors="replace")) <= NOTE_MOST:
        assert text == whole.encode(errors="replace").decode().removesuffix("\n")
    else:
        kept, more = text.rsplit("\n", 1)
        assert whole.encode(errors="replace").decode().startswith(kept)
        assert more == f"... of {len(whole):,} characters"
        assert len(encoded) > NOTE_MOST - 8  # as much as there is room for, but for a sign of four bytes


def test_whoever_talks_without_end_takes_no_memory() -> None:
    notes = NoteBuffer()
    for _ in range(10_000):
        notes.add("x" * 1_000)
    assert sum(map(len, notes._parts)) == NOTE_MOST
    assert notes.take().endswith("... of 10,000,000 characters")


# -- what is printed
def test_prints_belong_to_what_they_are_about_in_each_thread(capsys: pytest.CaptureFixture[str]) -> None:
    mine, other = NoteBuffer(), NoteBuffer()

    def think() -> None:
        print("nobody's")
        with about(other):
            print("of the other")

    with prints_are_noted(), about(mine):
        print("mine")
        thread = threading.Thread(target=think)
        thread.start()
        thread.join()
        print("mine too", file=sys.stderr)
        sys.stderr.writelines(["and ", "mine\n"])
    assert mine.take() == "mine\nmine too\nand mine"
    assert other.take() == "of the other"
    said = capsys.readouterr()
    assert said.out == "mine\nnobody's\nof the other\n"
    assert said.err == "mine too\nand mine\n"


def test_two_may_want_prints_at_a_time_and_the_streams_are_put_back() -> None:
    before = sys.stdout, sys.stderr
    first, second = prints_are_noted(), prints_are_noted()
    notes = NoteBuffer()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    with about(notes):
        print("once", end="")
    assert notes.take() == "once"
    second.__exit__(None, None, None)
    assert (sys.stdout, sys.stderr) == before


def test_a_stream_that_was_put_there_meanwhile_is_left_alone() -> None:
    before = sys.stdout
    try:
        with prints_are_noted():
            sys.stdout = other = sys.__stdout__
        assert sys.stdout is other
    finally:
        sys.stdout = before


# -- what a session makes of them
def test_who_says_nothing_sends_not_one_byte_more() -> None:
    script, silent = Script(meeting()), Script(meeting())
    for one, welcome in ((script, KEEPS), (silent, WELCOME)):
        one.say(welcome=welcome, starts=[one.meetings[0].started()], decisions=[one.meetings[0].decision()])
        one.session.answer(one.session.tables[1], 1, 2)
    assert script.session.next_envelope() == silent.session.next_envelope()


def test_notes_go_before_the_answer_they_belong_to_and_again_with_it() -> None:
    script = Script(meeting())
    script.say(welcome=KEEPS, starts=[script.meetings[0].started()], decisions=[script.meetings[0].decision()])
    (table,) = script.session.tables.values()
    table.before = "hello\udc80"
    script.session.answer(table, 1, 0, "thought: żółw")
    expected = arena_pb2.PlayRequest(
        received=1,
        notes=[arena_pb2.Note(table=1, text="hello?"), arena_pb2.Note(table=1, decision=1, text="thought: żółw")],
        answers=[arena_pb2.Answer(table=1, decision=1, option=0)],
    )
    assert sent(script.session) == expected
    script.again()
    resumed = arena_pb2.Welcome(resumed=True)
    resumed.MergeFrom(KEEPS)
    script.say(welcome=resumed, decisions=[script.meetings[0].decision()])
    assert sent(script.session) == expected


def test_a_decision_given_up_keeps_what_was_said_before() -> None:
    script = Script(meeting())
    script.say(welcome=KEEPS, starts=[script.meetings[0].started()], decisions=[script.meetings[0].decision()])
    script.session.give_up(script.session.tables[1], 1, "KeyError", "looked at 3")
    envelope = sent(script.session)
    assert envelope is not None
    assert [note.text for note in envelope.notes] == ["looked at 3"]
    assert [one.reason for one in envelope.give_ups] == ["KeyError"]


def test_a_server_that_keeps_no_notes_is_sent_none() -> None:
    script = Script(meeting())
    script.deal()
    script.session.answer(script.session.tables[1], 1, 0, "hello")
    envelope = sent(script.session)
    assert envelope is not None
    assert not envelope.notes


# -- what bots do
class Talks:
    def start(self, match: Any) -> None:
        print("sits down")

    def event(self, event: Any) -> None:
        print(f"hears {event.number}")

    def choose(self, view: Any, decision: Decision) -> int:
        print(f"thinks about {decision.number}")
        decision.note(f"chose {decision.options[0].text}")
        return 0

    def end(self, result: Any) -> None:
        print("is done")


class TalksAsync(Talks):
    async def choose(self, view: Any, decision: Decision) -> int:  # type: ignore[override]
        print(f"thinks about {decision.number}")
        await asyncio.sleep(0)
        return super().choose(view, decision) if decision.number else 1 // 0


class Awaits(Talks):
    def choose(self, view: Any, decision: Decision) -> Any:
        return self.later(view, decision)

    async def later(self, view: Any, decision: Decision) -> int:
        await asyncio.sleep(0)
        return super().choose(view, decision)


def _keeps_notes(response: arena_pb2.PlayResponse) -> None:
    if response.HasField("welcome"):
        response.welcome.features.append("notes")


@pytest.mark.parametrize("bot", [Talks, TalksAsync, Awaits])
@pytest.mark.parametrize("prints", [True, False])
async def test_each_answer_takes_along_what_was_said_about_it(
    bot: type, prints: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    async with arena(matches=3, games=["greed"], tamper=_keeps_notes) as server:
        await connect(bot, "greed", server=server.address, matches=3, max_tables=2, send_output=prints, quiet=True)
    notes: dict[tuple[int, int], str] = {}
    for envelope in server.requests:
        assert len(envelope.notes) <= len(envelope.answers) + len(envelope.give_ups) + sum(
            not note.decision for note in envelope.notes
        )
        for note in envelope.notes:
            assert (note.table, note.decision) not in notes
            notes[note.table, note.decision] = note.text
    asked = {(one.table, one.decision) for envelope in server.requests for one in envelope.answers}
    given_up = {(one.table, one.decision) for envelope in server.requests for one in envelope.give_ups}
    lone = asked - notes.keys()  # decisions with one option, for which the bot is not called
    asked -= lone
    assert len(asked) > 20 > len(lone)
    for place in asked:
        number = sum(table == place[0] and decision < place[1] for table, decision in asked | given_up)
        assert "chose " in notes[place]
        assert (f"thinks about {number}\n" in notes[place]) is prints
        assert ("hears " in notes[place]) is prints
    assert {table for table, _ in given_up} == ({1, 2, 3} if bot is TalksAsync else set())
    for place in given_up:
        assert ("thinks about 0" in notes.get(place, "")) is prints
    assert {place for place in notes if not place[1]} == ({(1, 0), (2, 0), (3, 0)} if prints else set())
    assert all(notes[place] == "sits down" for place in notes if not place[1])
    said = capsys.readouterr()
    assert said.out.count("sits down\n") == said.out.count("is done\n") == 3
    assert "chose" not in said.out + said.err


def test_in_local_play_a_note_is_a_line_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    play("greed", [Talks, "random"], matches=1)
    said = capsys.readouterr()
    lines = [line for line in said.err.splitlines() if "chose" in line]
    assert len(lines) > 5
    assert lines[0].startswith("decision 0 (play_a_card): chose play ")
