"""The last JSON object with `option` is the answer, and nothing else is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutpurse.llm.model_answer import FallbackCause, ModelAnswer, read_answer

OFFERED = 'Answer with one JSON object, {"option": NUMBER, "why": "one short sentence"}, where NUMBER is 0 to 4.'


@pytest.mark.parametrize(
    ("text", "option", "why"),
    [
        ('{"option": 3}', 3, ""),
        ('I think.\n```json\n{"why": "it is the\\nbest\\u0007", "option": 0}\n``` Good luck!', 0, "it is the best"),
        ('{"option": 1} No, wait: {"option": 2, "why": "better"}', 2, "better"),
        ('{"option": 1} and {"plan": 2}', 1, ""),
        ('{"option": 1, "why": {"option": 2}}', 1, ""),
        ('{ so {I} would say {"option": 4}, or {', 4, ""),
        ("x" * 30_000 + '{"option": 2}', 2, ""),
        ('{"option": 2, "why": "' + "y" * 900 + '"}', 2, "y" * 200),
        ('{"option": 2, "why": "\\ud800 \ud800"}', 2, ""),
        ('{"OPTION": 1, "option": 2, "Why": "plain"}', 2, "plain"),
    ],
)
def test_the_last_object_with_an_option_counts(text: str, option: int, why: str) -> None:
    assert read_answer(text, False, 5) == ModelAnswer(option, why)


@pytest.mark.parametrize(
    ("text", "cause", "problem"),
    [
        ("", FallbackCause.UNREADABLE, f'Your reply has no JSON object with "option". {OFFERED}'),
        ("I play option 3.", FallbackCause.UNREADABLE, f'Your reply has no JSON object with "option". {OFFERED}'),
        ("3", FallbackCause.UNREADABLE, f'Your reply has no JSON object with "option". {OFFERED}'),
        ('[{"move": 3}]', FallbackCause.UNREADABLE, f'Your reply has no JSON object with "option". {OFFERED}'),
        ('{"a": {"option": 1}}', FallbackCause.UNREADABLE, f'Your reply has no JSON object with "option". {OFFERED}'),
        ('{"option": "III"}', FallbackCause.UNREADABLE, f'The "option" in your reply is not a whole number. {OFFERED}'),
        (
            '{"option": "true"}',
            FallbackCause.UNREADABLE,
            f'The "option" in your reply is not a whole number. {OFFERED}',
        ),
        ('{"option": "' + "9" * 6_000 + '"}', FallbackCause.UNREADABLE, "is not a whole number"),
        ('{"option": "7"}', FallbackCause.ILLEGAL, f"The option in your reply is not offered. {OFFERED}"),
        ('{"option": true}', FallbackCause.UNREADABLE, f'The "option" in your reply is not a whole number. {OFFERED}'),
        ('{"option": 1.0}', FallbackCause.UNREADABLE, f'The "option" in your reply is not a whole number. {OFFERED}'),
        ('{"option": 5}', FallbackCause.ILLEGAL, f"The option in your reply is not offered. {OFFERED}"),
        ('{"option": -1}', FallbackCause.ILLEGAL, f"The option in your reply is not offered. {OFFERED}"),
        ('{"option": ' + "9" * 6_000 + "}", FallbackCause.UNREADABLE, "no JSON object"),
        ('{"a":' * 3_000, FallbackCause.UNREADABLE, "no JSON object"),
    ],
)
def test_what_cannot_be_used_is_described_for_the_model(text: str, cause: FallbackCause, problem: str) -> None:
    answer = read_answer(text, False, 5)
    assert answer.cause is cause
    assert problem in answer.problem


def test_a_reply_that_was_cut_off_is_not_read() -> None:
    answer = read_answer('{"option": 1} but then', True, 5)
    assert answer.cause is FallbackCause.TRUNCATED
    assert answer.problem == f"Your reply was cut off, so it was not read. Be shorter. {OFFERED}"


@st.composite
def spellings(draw: st.DrawFn) -> tuple[int, str]:
    """Return an option, and a reply that names it as models spell it."""

    def key(name: str) -> str:
        return json.dumps(draw(st.sampled_from([name, name.upper(), name.title(), f" {name}"])))

    option = draw(st.integers(0, 8))
    number = draw(st.sampled_from([f"{option}", f'"{option}"', f'" {option}\\n"']))
    why = draw(st.sampled_from(["", "a\nb", "a\r\n\tb", "}", '{\\"option\\": 9}', "\\ud83d"]))
    pairs = draw(
        st.permutations([f"{key('option')}: {number}", f'{key("why")}:\n"{why}"', '"n": [{"option": 9}, 1e999]'])
    )
    before = draw(st.sampled_from(["", "```json\n", '{"option": true} or ', "{ hm ", '"']))
    return option, before + "{" + ",".join(pairs) + "}" + draw(st.sampled_from(["", "\n```", " So {that}.", "{"]))


@given(spellings())
def test_usual_spellings_of_a_reply_are_taken(spelling: tuple[int, str]) -> None:
    option, text = spelling
    assert (read_answer(text, False, 9).option, read_answer(text, False, 9).problem) == (option, "")


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(st.characters(exclude_categories=[])),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["option", "Option", "why", "x"]), inner),
)


@given(JSON, JSON, st.booleans())
def test_any_value_of_an_option_is_read_or_refused(option: Any, why: Any, is_ascii: bool) -> None:
    answer = read_answer(json.dumps({"option": option, "why": why}, ensure_ascii=is_ascii), False, 5)
    assert (answer.cause is None) == (0 <= answer.option < 5)
    if isinstance(option, bool | float | list | dict | None):
        assert answer.cause is FallbackCause.UNREADABLE


@given(st.text(alphabet='{}[]":,option 01234why\\'), st.integers(1, 9))
def test_any_text_gives_an_offered_option_or_a_cause(text: str, count: int) -> None:
    answer = read_answer(text, False, count)
    assert (answer.cause is None) == (0 <= answer.option < count)
    assert bool(answer.problem) == (answer.cause is not None)
