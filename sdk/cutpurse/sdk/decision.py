"""A question to a bot, with everything it may answer.

This module knows no game and asks nobody: the code that drives a match creates the decisions.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from operator import index
from typing import Any, Final, SupportsIndex

from cutpurse.engine import agenda
from cutpurse.engine.text import answer_text
from cutpurse.sdk.cards import Card
from cutpurse.sdk.notes import NoteBuffer
from cutpurse.sdk.views.acts import Option
from cutpurse.sdk.views.base import GameView
from cutpurse.wire.usage import ReportedUsage

__all__ = ["Decision", "Option", "illegal_text", "offered_text", "option_of"]

OPTIONS_SHOWN: Final = 6  # most options listed in a message about a failure


class Decision:
    """One question; answer it with one of `options`, or with its index."""

    # `_notes`, `_time_left` and `_usage` are set only where needed; the millions of decisions in local play do without.
    __slots__ = ("_made", "_notes", "_options", "_safe", "_time_left", "_usage", "_view", "ask", "number")
    _notes: NoteBuffer
    _usage: ReportedUsage
    _time_left: Callable[[], tuple[float, float]]

    def __init__(
        self,
        number: int,
        ask: str,
        acts: Sequence[agenda.Option] | Callable[[], Sequence[agenda.Option]],
        safe: Callable[[], agenda.Option],
        view: GameView[Any],
    ) -> None:
        """Create a decision; functions given for `acts` and `safe` are called when the values are first read."""
        self.number = number  # counts your seat's decisions with more than one option, from 0
        self.ask = ask  # the question's name: "go_on_or_stop"
        self._made = acts
        self._safe: Callable[[], agenda.Option] | agenda.Option = safe
        self._view = view
        self._options: tuple[Option, ...] | None = None

    @property
    def _acts(self) -> Sequence[agenda.Option]:
        if callable(self._made):
            self._made = self._made()
        return self._made

    @property
    def options(self) -> tuple[Option, ...]:
        """Everything you may answer; never empty."""
        if self._options is None:
            view = self._view
            self._options = tuple([Option(act, view, index) for index, act in enumerate(self._acts)])
        return self._options

    @property
    def count(self) -> int:
        """The number of options."""
        return len(self._acts)

    @property
    def safe(self) -> Option:
        """The answer that is taken for a bot that gives none.

        Raises WrongDecision if it is first read after the question was answered.
        """
        if callable(self._safe):
            self._safe = self._safe()
        return self.options[list(self._acts).index(self._safe)]

    @property
    def text(self) -> str:
        """The question as a sentence: "Draw once more, or stop?"."""
        return self._question.text

    @property
    def rule(self) -> str:
        """The number of the rule that asks the question: "GR-3.5"."""
        return self._question.first_rule()

    @property
    def _question(self) -> type[agenda.Question]:
        question = type(self._view.raw.agenda[-1])
        assert issubclass(question, agenda.Question)
        return question

    def find(self, text: str) -> Option:
        """Return the option with this text.  Raises KeyError, which lists the options."""
        for option in self.options:
            if option.text == text:
                return option
        raise KeyError(
            f"{text!r} is not offered; there are: {', '.join(repr(candidate.text) for candidate in self.options)}"
        )

    def note(self, text: object) -> None:
        """Write a note about this decision before you answer it. Only you can read it.

        A server stores it with the match, see `cutpurse bot logs`. Elsewhere it is a line on stderr.
        """
        try:
            notes = self._notes
        except AttributeError:
            sys.stderr.write(f"decision {self.number} ({self.ask}): {text}\n")
        else:
            notes.add_line(str(text))

    def report_usage(
        self,
        input_tokens: int = 0,
        output_tokens: int = 0,
        cost_micros: int = 0,
        model: str = "",
        fallback: str = "",
    ) -> None:
        """Report what you used for this decision, such as the tokens of a language model, before you answer it.

        Reports of one decision are added up. A server shows them when the match is over: to everyone on the match page
        and beside the rating, and in `cutpurse bot logs`. Elsewhere it is a line on stderr.

        Args:
            input_tokens: Tokens that the model read.
            output_tokens: Tokens that it wrote, reasoning included.
            cost_micros: Cost in millionths of a US dollar.
            model: Name of the model.
            fallback: Why the model did not choose your option: "other", "unreadable", "truncated", "illegal", "outage",
                "time", "budget" or "left". Empty if it did.

        Raises:
            UsageError: If a number is not a whole number from 0 to its maximum, or there is no such fallback.
        """
        usage = ReportedUsage(input_tokens, output_tokens, cost_micros, model, fallback)
        before = self.usage
        self._usage = usage if before is None else before + usage
        if not hasattr(self, "_notes"):
            sys.stderr.write(f"decision {self.number} ({self.ask}): {usage.text()}\n")

    @property
    def usage(self) -> ReportedUsage | None:
        """What was reported for this decision so far; None if nothing."""
        return getattr(self, "_usage", None)

    @property
    def base_left_s(self) -> float:
        """Seconds of base time left. Below 0, the time that your bank has paid so far.

        Infinite where no clock runs, as in local play without one.
        """
        return self._left()[0]

    @property
    def bank_left_s(self) -> float:
        """Seconds in your bank now, for the rest of the match; infinite where no clock runs.

        With an empty bank and no base time left, the safe option is taken.
        """
        return self._left()[1]

    def _left(self) -> tuple[float, float]:
        try:
            return self._time_left()
        except AttributeError:
            return math.inf, math.inf

    def keep_time(self, time_left: Callable[[], tuple[float, float]]) -> None:
        """Set the function that returns the base time and the bank left, in seconds. For the code that asks."""
        self._time_left = time_left

    def keep_notes(self, notes: NoteBuffer) -> None:
        """Set the buffer that collects the bot's notes on this question. For the code that asks."""
        self._notes = notes

    def __repr__(self) -> str:
        return f"<Decision {self.number} {self.ask}: {', '.join(repr(option.text) for option in self.options)}>"


def option_of(answer: object) -> object:
    """Convert a bot's answer for the engine: the raw option, a whole number of any type as int, or the value itself."""
    if isinstance(answer, Option):
        return answer.raw
    if type(answer) is int:
        return answer  # the check below takes microseconds on Python 3.11
    if isinstance(answer, SupportsIndex) and not isinstance(answer, bool):
        try:
            return index(answer)  # such as a numpy integer
        except Exception:  # such as an array or a fraction
            return answer
    return answer


def offered_text(decision: Decision) -> str:
    """Format the first options in one line, and the number of the others."""
    more = f" and {decision.count - OPTIONS_SHOWN} more" if decision.count > OPTIONS_SHOWN else ""
    return ", ".join(repr(option.text) for option in decision.options[:OPTIONS_SHOWN]) + more


def illegal_text(decision: Decision, answer: object) -> str:
    """Describe the options and what the bot answered: "has options 0-1: 'stop', 'draw once more'; it answered 7"."""
    return f"has options 0-{decision.count - 1}: {offered_text(decision)}; it answered {_answer_text(answer)}"


def _answer_text(answer: object) -> str:
    """Describe an answer that is no option, with a hint at the likely mistake."""
    text = answer_text(answer)
    if answer is None:
        return "None (is a `return` missing?)"
    if isinstance(answer, Option):
        return f"{text} (an option of another decision)"
    if isinstance(answer, Card):
        return f"the card {text} (return the option that has it)"
    if isinstance(answer, SupportsIndex) and not isinstance(answer, bool):
        return text
    return f"{text} (return one of decision.options, or its index)"
