"""What has become of the one match that a process may play, where bots are to keep no memory from match to match.

It belongs to what the process is let in by, not to a session: whoever comes again, resumes or takes over by the same
token finds it as it is. Told on the event loop, looked at on any thread. This module knows no process and no match.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["OneMatch"]


class OneMatch:
    """wake is called, on the event loop, when there is something new; it must not wait."""

    __slots__ = ("_wake", "has_begun", "is_heard", "is_over")

    def __init__(self, wake: Callable[[], None] = lambda: None) -> None:
        self._wake = wake
        self.has_begun = False  # there will be no other
        self.is_over = False  # and settled
        self.is_heard = False  # and the bot knows it

    def begin(self) -> None:
        """Note that the bot sits down."""
        self.has_begun = True

    def end(self) -> None:
        """Note that the end of the match is settled."""
        if not self.is_over:
            self.is_over = True
            self._wake()

    def hear(self) -> None:
        """Note that the bot has acknowledged the end."""
        if not self.is_heard:
            self.is_over = self.is_heard = True
            self._wake()
