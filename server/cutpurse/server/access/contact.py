"""Whether a process that the server runs speaks with it.

Like `OneMatch` it belongs to what the process is let in by, not to a stream. Told on the event loop, looked at on any
thread.
"""

from __future__ import annotations

__all__ = ["Contact"]


class Contact:
    """Nothing has come yet."""

    __slots__ = ("_is_heard",)

    def __init__(self) -> None:
        self._is_heard = False

    def hear(self) -> None:
        """Note that an envelope has come."""
        self._is_heard = True

    def take(self) -> bool:
        """Whether one has come since this was asked last."""
        is_heard, self._is_heard = self._is_heard, False
        return is_heard
