"""Whether a hosted bot's process sends anything.

Like `OneMatch`, it belongs to the process's token rather than to a stream. The event loop writes it, and any thread may
read it.
"""

from __future__ import annotations

__all__ = ["Contact"]


class Contact:
    """A flag that is set by each envelope and cleared by each look."""

    __slots__ = ("_is_heard",)

    def __init__(self) -> None:
        self._is_heard = False

    def hear(self) -> None:
        """Note that an envelope has come."""
        self._is_heard = True

    def take(self) -> bool:
        """Return whether an envelope has come since the previous call."""
        is_heard, self._is_heard = self._is_heard, False
        return is_heard
