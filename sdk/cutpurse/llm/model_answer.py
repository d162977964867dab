"""The answer in a model's reply: its last JSON object with `option`. A move is never read out of prose.

Usual spellings are read: a number as text, keys with other capitals, raw line breaks in texts. A bool is no number.
This module knows no model and no match.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from json import JSONDecodeError
from typing import Any, Final

from cutpurse.wire.text import printable

__all__ = ["FORM", "FallbackCause", "ModelAnswer", "read_answer"]

FORM: Final = '{"option": NUMBER, "why": "one short sentence"}'
READ_MOST: Final = 20_000  # characters at the end of a reply in which the answer is searched
WHY_MOST: Final = 200  # characters of a reason that are kept

_DECODER: Final = json.JSONDecoder(strict=False)
_NUMBER: Final = re.compile(r"\s*(-?[0-9]{1,9})\s*")


class FallbackCause(StrEnum):
    """Why the safe option was taken instead of an answer of the model."""

    UNREADABLE = "unreadable"  # no JSON object with a number as `option`
    TRUNCATED = "truncated"  # the reply was cut off
    ILLEGAL = "illegal"  # the option is not offered
    OUTAGE = "outage"  # the provider did not answer
    TIME = "time"  # the clock or the budget left no time
    BUDGET = "budget"  # tokens, money or time of a limit are used up


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """The option that a reply names, or what is wrong with the reply."""

    option: int = -1
    why: str = ""
    cause: FallbackCause | None = None  # None: the option is offered
    problem: str = ""  # what is wrong, in words for the model


def read_answer(text: str, was_cut: bool, count: int) -> ModelAnswer:
    """Read the answer in a reply.

    Args:
        text: The reply.
        was_cut: Whether the reply was cut off. It is not read then: the model may have been about to correct itself.
        count: Number of options.
    """
    offered = f"Answer with one JSON object, {FORM}, where NUMBER is 0 to {count - 1}."
    if was_cut:
        return _unusable(FallbackCause.TRUNCATED, f"Your reply was cut off, so it was not read. Be shorter. {offered}")
    answer_object = _last_object(text[-READ_MOST:])
    if answer_object is None:
        return _unusable(FallbackCause.UNREADABLE, f'Your reply has no JSON object with "option". {offered}')
    option = answer_object["option"]
    if isinstance(option, str) and (number := _NUMBER.fullmatch(option)):
        option = int(number[1])
    if type(option) is not int:
        return _unusable(FallbackCause.UNREADABLE, f'The "option" in your reply is not a whole number. {offered}')
    if not 0 <= option < count:
        return _unusable(FallbackCause.ILLEGAL, f"The option in your reply is not offered. {offered}")
    why = answer_object.get("why", "")
    return ModelAnswer(option, printable(why, WHY_MOST) if isinstance(why, str) else "")


def _unusable(cause: FallbackCause, problem: str) -> ModelAnswer:
    return ModelAnswer(cause=cause, problem=problem)


def _last_object(text: str) -> dict[str, Any] | None:
    """Return the last JSON object with `option` that is not inside another value; None if there is none.

    Its keys are in lower case; of keys that differ in capitals only, the one without capitals counts.
    """
    last = None
    at = text.find("{")
    while at >= 0:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except JSONDecodeError:
            end = at + 1
        except (ValueError, RecursionError):  # a number with thousands of digits, or values inside values
            return None
        else:
            lower = {key.lower().strip(): item for key, item in value.items()} | value
            if "option" in lower:
                last = lower
        at = text.find("{", end)
    return last
