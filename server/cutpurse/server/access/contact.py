"""Whether a process that the server runs speaks with it.

Like `OneMatch` it belongs to what the process is let in by, not to a stream. Told on the event loop, looked at on any
thread.
"""

from __future__ import annotations

__all__ = ["Contact"]


class Contact:
    """is_heard: an envelope has come since somebody last set this to False."""

    __slots__ = ("is_heard",)

    def __init__(self) -> None:
        self.is_heard = False
