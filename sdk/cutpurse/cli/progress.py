"""A progress bar on stderr with the time left; without a terminal there is none.

`rich` draws it, and is imported only on a terminal. No thread runs while bots run, since a process forked meanwhile
would inherit its locks. This module knows no command.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Final, Self

from cutpurse.process.terminal import LossyStream

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import ProgressColumn

__all__ = ["Progress", "Spinner"]

REFRESH_S: Final = 0.1  # least time between two updates of a bar


class Progress:
    """A bar with a count and the time left. Use it as a context manager, which clears the bar at the end."""

    def __init__(self, what: str) -> None:
        """Prepare a bar; `what` names the things counted, such as "matches"."""
        self.what = what
        self._bar: Bar | None = None
        self._drawn_at = 0.0

    def __call__(self, done: int, of: int, text: str = "") -> None:
        """Show that `done` of `of` are done.

        Args:
            done: Finished number.
            of: Total number, or the maximum.
            text: Further text to show.
        """
        now = time.monotonic()
        if now - self._drawn_at < REFRESH_S or not sys.stderr.isatty():
            return
        self._drawn_at = now
        if self._bar is None:
            self._begin(done, of, text)
            return
        self._bar.update(self._bar.task_ids[0], completed=done, total=of, text=text)
        self._bar.refresh()

    def end(self) -> None:
        """Clear the bar; a later call draws it again."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

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
