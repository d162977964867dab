"""What the built-in bot `search` would do at a decision: one process at a time, with a second to think.

The process gets the question as the seat got it, and nothing else. It runs beside the page, so readers do not wait.
This module knows no HTTP.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cutpurse.page.language.speaking import gettext, gettext_noop
from cutpurse.page.match_view.seat_question import SeatQuestion
from cutpurse.page.visitor_process import WorkRefused, run_command
from cutpurse.process.interpreter import module_command

__all__ = ["BASE_MS", "SEARCH", "ExpectedOption", "SearchAdvice", "SearchProcess"]

SEARCH: Final = "search"
BASE_MS: Final = 2_000  # base time in the question; search stops after half of it
PATIENCE_S: Final = 10.0  # for the whole process, on a busy machine
COMMAND: Final = module_command("cutpurse.sdk.second_opinion")
BUSY: Final = gettext_noop("search is thinking about another decision; try again in a few seconds")
FAILED: Final = gettext_noop("search gave no answer to this decision")


@dataclass(frozen=True, slots=True)
class ExpectedOption:
    """What search expects of an option."""

    text: str  # the option in words
    percent: int | None  # mean result of its playouts, 0 to 100; None if it was not tried
    margin: int | None  # of the 95 % interval around it, on each side; None after fewer than two playouts
    playouts: int  # their number
    is_choice: bool  # whether search would take it
    is_close: bool  # whether luck alone could explain how far it is from the choice


@dataclass(frozen=True, slots=True)
class SearchAdvice:
    """The answer of search: what it would take, and what it expects of each option, the best first."""

    choice: str
    options: tuple[ExpectedOption, ...]

    @property
    def close(self) -> int:
        """The number of options that its playouts could not tell from the choice."""
        return sum(option.is_close for option in self.options)


class SearchProcess:
    """Asks search, one question at a time."""

    def __init__(self, command: Sequence[str] = COMMAND, patience_s: float = PATIENCE_S) -> None:
        """Set the command that answers a question on its stdin, and the seconds that it may take."""
        self._command = tuple(command)
        self._patience_s = patience_s
        self._is_busy = False

    async def ask(self, question: SeatQuestion) -> SearchAdvice:
        """Ask search.

        Raises:
            WorkRefused: If it answers another question now, takes too long or fails.
        """
        if self._is_busy:
            raise WorkRefused(gettext(BUSY))
        self._is_busy = True
        try:
            answer = await run_command(self._command, question.to_bytes(SEARCH), self._patience_s, FAILED)
        finally:
            self._is_busy = False
        return _advice(question, answer)


def _advice(question: SeatQuestion, answer: bytes) -> SearchAdvice:
    found = json.loads(answer)
    expected = {index: facts for index, *facts in found["expected"]}
    options = []
    for index, text in enumerate(question.options):
        mean, margin, count, is_close = expected.get(index, (None, None, 0, False))
        is_choice = index == found["choice"]
        options.append(ExpectedOption(text, _percent(mean), _percent(margin), count, is_choice, is_close))
    options.sort(key=lambda option: (not option.is_choice, -option.playouts, -(option.percent or 0)))
    return SearchAdvice(question.options[found["choice"]], tuple(options))


def _percent(share: float | None) -> int | None:
    return None if share is None else round(100 * share)
