"""The state of the single match of a process, for bots that must not keep memory between matches.

It belongs to the process's token rather than to a session: a new, resumed or superseding session with the same token
finds the same state. The event loop writes it, and any thread may read it. This module knows no process and no match.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["OneMatch"]


class OneMatch:
    """The state of the only match that a process plays."""

    __slots__ = ("_wake", "has_begun", "is_heard", "is_over")

    def __init__(self, wake: Callable[[], None] = lambda: None) -> None:
        """Start before the match. `wake` is called on the event loop after each change, and must not wait."""
        self._wake = wake
        self.has_begun = False  # no other match will begin
        self.is_over = False  # the result is settled
        self.is_heard = False  # the bot has acknowledged the end

    def begin(self) -> None:
        """Note that the match begins."""
        self.has_begun = True

    def end(self) -> None:
        """Note that the end of the match is settled."""
        if not self.is_over:
            self.is_over = True
            self._wake()

    def hear(self) -> None:
        """Note that the bot acknowledged the end."""
        if not self.is_heard:
            self.is_over = self.is_heard = True
            self._wake()
