"""How far long work is, with the time left: a bar on a terminal, elsewhere a line on stderr now and then.

`rich` draws the bar, and is imported only on a terminal. No thread runs while bots run, since a process forked
meanwhile would inherit its locks: the work itself calls `Progress`, also while nothing is finished. This module knows
no command.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Self

from cutpurse.process.terminal import LossyStream, print_message

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import ProgressColumn

__all__ = ["PROGRESS_VARIABLE", "Progress", "Spinner"]

PROGRESS_VARIABLE: Final = "CUTPURSE_PROGRESS"  # if empty, no progress is printed where there is no terminal
REFRESH_S: Final = 0.1  # least time between two updates of a bar
FIRST_LINE_S: Final = 2.0  # until the first line without a terminal; each later gap is as long as all before it
MAX_GAP_S: Final = 60.0  # longest gap between two lines


class Progress:
    """A count and the time left. Use it as a context manager, which clears the bar at the end.

    The first call begins the work, and draws the bar at once. Later calls cost little, so work that takes long calls it
    often, also with an unchanged count.
    """

    def __init__(self, what: str, clock: Callable[[], float] = time.monotonic) -> None:
        """Prepare a bar; `what` names the things counted, such as "matches"."""
        self.what = what
        self._clock = clock
        self._bar: Bar | None = None
        self._due_at = float("-inf")  # of the next update
        self._began_at: float | None = None
        self._done_before = 0  # at the first call

    def __call__(self, done: int, of: int, text: str = "") -> None:
        """Show that `done` of `of` are done.

        Args:
            done: Finished number.
            of: Total number, or the maximum.
            text: Further text to show.
        """
        now = self._clock()
        if now < self._due_at:
            return
        if sys.stderr.isatty():
            self._due_at = now + REFRESH_S
            self._draw(done, of, text)
        elif self._began_at is None:
            self._due_at = now + FIRST_LINE_S
        else:
            elapsed_s = now - self._began_at
            self._due_at = now + min(elapsed_s, MAX_GAP_S)
            if os.environ.get(PROGRESS_VARIABLE, "lines"):
                print_message(self._line(done, of, text, elapsed_s))
        if self._began_at is None:
            self._began_at, self._done_before = now, done

    def end(self) -> None:
        """Clear the bar; a later call draws it again."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _line(self, done: int, of: int, text: str, elapsed_s: float) -> str:
        newly_done = done - self._done_before
        if newly_done > 0:
            remaining = f"about {_format_s(elapsed_s * (of - done) / newly_done)} left"
        else:
            remaining = f"after {_format_s(elapsed_s)}"
        return f"{done:,} of {of:,} {self.what}, {remaining} {text}".rstrip()

    def _draw(self, done: int, of: int, text: str) -> None:
        if self._bar is None:
            self._begin(done, of, text)
            return
        self._bar.update(self._bar.task_ids[0], completed=done, total=of, text=text)
        self._bar.refresh()

    def _begin(self, done: int, of: int, text: str) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}:", markup=False),
            MofNCompleteColumn(separator=" of "),
            BarColumn(),
            TimeRemainingColumn(),
            TextColumn("left  {task.fields[text]}", markup=False),
        )
        self._bar = _bar(*columns, is_animated=False)
        self._bar.add_task(self.what, completed=done, total=of, text=text)
        self._bar.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *how: object) -> None:
        self.end()


class Spinner:
    """A spinner with the elapsed time, for work of unknown length that runs no bots."""

    def __init__(self, what: str = "") -> None:
        """Show `what` as the current work, or nothing while it is empty."""
        self._bar: Bar | None = None
        self.show(what)

    def show(self, what: str) -> None:
        """Show `what` as the current work."""
        self.end()
        if not what or not sys.stderr.isatty():
            return
        from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
        self._bar = _bar(*columns, is_animated=True)
        self._bar.add_task(what, total=None)
        self._bar.start()

    def end(self) -> None:
        """Clear the spinner."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *how: object) -> None:
        self.end()


def _bar(*columns: ProgressColumn, is_animated: bool) -> Bar:
    from rich.console import Console
    from rich.progress import Progress as Bar

    return Bar(
        *columns,
        console=Console(file=LossyStream(sys.stderr)),  # type: ignore[arg-type]  # rich needs only what LossyStream has
        auto_refresh=is_animated,
        transient=True,
        redirect_stdout=False,  # leaves what bots print alone
        redirect_stderr=False,
    )


def _format_s(seconds: float) -> str:
    """Format a duration in one unit."""
    for unit, size_s in (("h", 3600.0), ("min", 60.0)):
        if seconds >= 1.5 * size_s:
            return f"{seconds / size_s:.0f} {unit}"
    return f"{seconds:.0f} s"
