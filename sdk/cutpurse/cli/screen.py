"""A match shown step by step: on a terminal always in the same position, else line by line.

This module knows no game.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TextIO

from cutpurse.process.terminal import print_lines

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["STEP_S", "Screen"]

STEP_S: Final = 0.5  # pause after a step on a terminal, long enough to read a sentence


class Screen:
    """The output for a match shown step by step."""

    def __init__(self, out: TextIO, step_s: float = STEP_S) -> None:
        self.out = out
        self.step_s = step_s
        self.console = _console(out) if out.isatty() else None

    def show(self, events: Sequence[str], picture: Sequence[str], behind: int = 0) -> None:
        """Show what happened, and the table after it.

        Args:
            events: Lines that describe the events.
            picture: Lines of the table.
            behind: Number of steps that wait; the more, the shorter the pause.
        """
        if self.console is None:
            print_lines([*events, "", *picture, ""], self.out)
            self.out.flush()
            return
        self.console.clear()
        self.console.print("\n".join([*picture, ""]))
        self.console.print("\n".join(events), style="bold")
        time.sleep(self.step_s / (1 + behind / 8))

    def say(self, lines: Sequence[str]) -> None:
        """Print lines, which stay on the screen."""
        print_lines(lines, self.out)
        self.out.flush()


def _console(out: TextIO) -> Console:
    from rich.console import Console  # imported late: a seventh of what `cutpurse play` imports

    return Console(file=out, highlight=False, markup=False)
