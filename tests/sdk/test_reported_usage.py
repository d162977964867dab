"""What a bot reports that it used: its bounds, its text, and how it goes to a server with the answer."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutpurse.engine.errors import UsageError
from cutpurse.sdk.decision import Decision
from cutpurse.sdk.local import play
from cutpurse.sdk.run import connect
from cutpurse.v1 import arena_pb2
from cutpurse.wire.usage import (
    FALLBACKS,
    MODEL_MOST,
    MOST_COST_MICROS,
    MOST_TOKENS,
    ReportedUsage,
    clean_model,
    fallback_of,
    format_dollars,
    usage_problem,
)
from tests.sdk.arena import arena
from tests.wire.test_session import WELCOME, Script, meeting, sent

USAGE = ReportedUsage(2_704, 61, 310, "llama3.2", "time")
ON_THE_WIRE = arena_pb2.Usage(
    table=1,
    decision=1,
    input_tokens=2_704,
    output_tokens=61,
    cost_micros=310,
    model="llama3.2",
    fallback=arena_pb2.FALLBACK_TIME,
)


# -- a report
def test_the_fallbacks_are_those_of_the_protocol() -> None:
    names = [name.removeprefix("FALLBACK_").lower() for name, _ in arena_pb2.Fallback.items()]
    assert names == ["unspecified", *FALLBACKS[1:]]
    assert [fallback_of(number) for number in arena_pb2.Fallback.values()] == list(FALLBACKS)
    assert (fallback_of(-1), fallback_of(len(FALLBACKS)), fallback_of(2**31 - 1)) == ("other", "other", "other")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"input_tokens": -1}, "input_tokens of a usage is -1; it is a whole number from 0 to 1,000,000,000"),
        ({"output_tokens": MOST_TOKENS + 1}, "output_tokens of a usage is 1000000001; it is a whole number from 0 to"),
        ({"cost_micros": MOST_COST_MICROS + 1}, "cost_micros of a usage is 1000000000001; it is"),
        ({"cost_micros": 0.5}, "cost_micros of a usage is 0.5; it is a whole number"),
        ({"input_tokens": None}, "input_tokens of a usage is None"),
        ({"input_tokens": True}, "input_tokens of a usage is True"),
        ({"fallback": "lunch"}, "no fallback is called 'lunch'; there are: other, unreadable, truncated, illegal, "),
    ],
)
def test_a_report_out_of_bounds_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(said)}"):
        ReportedUsage(**wrong)


def test_the_greatest_report_is_none_too_great() -> None:
    assert usage_problem(MOST_TOKENS, MOST_TOKENS, MOST_COST_MICROS) == ""


@given(st.text(max_size=200))
def test_the_name_of_a_model_has_harmless_characters_only(name: str) -> None:
    cleaned = clean_model(name)
    assert re.fullmatch(r"[A-Za-z0-9 ._:/@+?-]*", cleaned)
    assert len(cleaned) <= MODEL_MOST
    assert clean_model(cleaned) == cleaned == cleaned.strip()
    assert ReportedUsage(model=name).model == cleaned


def test_a_usual_name_of_a_model_stays() -> None:
    for name in ("llama3.2:70b", "vendor/Model-4.1 (preview)", "<script>alert(1)</script>"):
        assert clean_model(name) == re.sub(r"[()<>]", "?", name)


def test_reports_of_a_decision_are_added_up() -> None:
    assert ReportedUsage(1, 2, 3, "a", "time") + ReportedUsage(10, 20, 30, "b") == ReportedUsage(
        11, 22, 33, "b", "time"
    )
    with pytest.raises(UsageError, match="input_tokens of a usage is 1000000001"):
        ReportedUsage(MOST_TOKENS) + ReportedUsage(1)


@pytest.mark.parametrize(
    ("micros", "text"),
    [(0, "$0.00"), (7, "$0.000007"), (310, "$0.00031"), (1_500_000, "$1.50"), (1_234_567_890_000, "$1,234,567.89")],
)
def test_dollars(micros: int, text: str) -> None:
    assert format_dollars(micros) == text


def test_a_report_in_a_line() -> None:
    assert USAGE.text() == "2,704+61 tokens, $0.00031, llama3.2, fallback: time"
    assert ReportedUsage(5).text() == "5+0 tokens"


# -- what a session makes of it
def asked_by(*features: str) -> Script:
    """A session with an open decision, on a server with these features."""
    script = Script(meeting())
    welcome = arena_pb2.Welcome(features=features)
    welcome.MergeFrom(WELCOME)
    script.say(welcome=welcome, starts=[script.meetings[0].started()], decisions=[script.meetings[0].decision()])
    return script


def test_a_usage_goes_with_the_answer_and_again_with_it() -> None:
    script = asked_by("notes", "usage")
    script.session.answer(script.session.tables[1], 1, 0, "a note", USAGE)
    expected = arena_pb2.PlayRequest(
        received=1,
        answers=[arena_pb2.Answer(table=1, decision=1, option=0)],
        notes=[arena_pb2.Note(table=1, decision=1, text="a note")],
        usages=[ON_THE_WIRE],
    )
    assert sent(script.session) == expected
    script.again()
    resumed = arena_pb2.Welcome(resumed=True, features=["notes", "usage"])
    resumed.MergeFrom(WELCOME)
    script.say(welcome=resumed, decisions=[script.meetings[0].decision()])
    assert sent(script.session) == expected


def test_a_decision_that_is_given_up_has_its_usage_too() -> None:
    script = asked_by("usage")
    script.session.give_up(script.session.tables[1], 1, "KeyError", usage=USAGE)
    envelope = sent(script.session)
    assert envelope is not None
    assert list(envelope.usages) == [ON_THE_WIRE]
    assert [one.reason for one in envelope.give_ups] == ["KeyError"]


def test_an_older_server_gets_a_note_instead_and_one_without_notes_nothing() -> None:
    for features, notes in (
        (["notes"], ["2,704+61 tokens, $0.00031, llama3.2, fallback: time\na note"]),
        ([], []),
    ):
        script = asked_by(*features)
        script.session.answer(script.session.tables[1], 1, 0, "a note", USAGE)
        envelope = sent(script.session)
        assert envelope is not None
        assert ([note.text for note in envelope.notes], list(envelope.usages)) == (notes, [])


# -- what bots do
class Reports:
    def choose(self, view: Any, decision: Decision) -> int:
        decision.report_usage(100, 2)
        decision.report_usage(10, 1, 7, model="small")
        return 0


async def test_a_plain_bot_reports_what_it_uses() -> None:
    def keeps_usage(response: arena_pb2.PlayResponse) -> None:
        if response.HasField("welcome"):
            response.welcome.features.extend(["notes", "usage"])

    async with arena(matches=1, games=["greed"], tamper=keeps_usage) as server:
        await connect(Reports, "greed", server=server.address, matches=1, quiet=True)
    usages = [usage for envelope in server.requests for usage in envelope.usages]
    assert len(usages) > 3
    assert {(one.input_tokens, one.output_tokens, one.cost_micros, one.model) for one in usages} == {
        (110, 3, 7, "small")
    }
    answered = {(one.table, one.decision) for envelope in server.requests for one in envelope.answers}
    assert {(one.table, one.decision) for one in usages} <= answered
    assert not any(envelope.notes for envelope in server.requests)


def test_in_local_play_a_report_is_a_line_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    play("greed", [Reports, "random"], matches=1)
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == [
        "decision 0 (play_a_card): 100+2 tokens",
        "decision 0 (play_a_card): 10+1 tokens, $0.000007, small",
    ]


def test_a_report_out_of_bounds_is_the_bots_own_fault() -> None:
    class Wrong:
        def choose(self, view: Any, decision: Decision) -> int:
            decision.report_usage(-5)
            return 0

    (first, *_) = play("greed", [Wrong, "random"], matches=1).failures
    assert "input_tokens of a usage is -5; it is a whole number from 0 to 1,000,000,000" in first.trace
