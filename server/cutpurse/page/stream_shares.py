"""The limit on open event streams, shared fairly among visitors.

At the limit, a new stream replaces the oldest stream of the visitor with the most streams. That visitor must have at
least two more than the new one, or the new stream is refused. So no visitor can keep the others out. This module knows
no HTTP and no event.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from cutpurse.page.language.speaking import gettext
from cutpurse.wire.errors import ServerRefused

__all__ = ["MAX_STREAMS", "StreamShares"]

MAX_STREAMS: Final = 1_000


class StreamShares:
    """The open streams. Use it on one event loop only."""

    def __init__(self, max_streams: int = MAX_STREAMS) -> None:
        """Allow at most `max_streams` open streams."""
        self._max_streams = max_streams
        self._streams: dict[object, tuple[str, Callable[[], object]]] = {}  # visitor and end function; oldest first

    def check(self, visitor: str) -> None:
        """Check that a visitor may open another stream.

        Raises:
            ServerRefused: If they may not.
        """
        if len(self._streams) >= self._max_streams and self._heaviest(visitor) is None:
            raise ServerRefused(gettext("too many listen already"))

    @contextmanager
    def turn(self, visitor: str, end: Callable[[], object]) -> Iterator[None]:
        """Count a stream as open while the block runs; at the limit, end another one first.

        Args:
            visitor: Visitor who reads the stream.
            end: Ends the stream; called when another visitor needs its place.
        """
        if len(self._streams) >= self._max_streams and (heaviest := self._heaviest(visitor)) is not None:
            oldest = next(stream for stream, (reader, _) in self._streams.items() if reader == heaviest)
            _, end_oldest = self._streams.pop(oldest)
            end_oldest()
        stream = object()
        self._streams[stream] = visitor, end
        try:
            yield
        finally:
            self._streams.pop(stream, None)

    def _heaviest(self, visitor: str) -> str | None:
        """Return the visitor with the most streams, if they have at least two more than `visitor`."""
        counts = Counter(reader for reader, _ in self._streams.values())
        ((heaviest, count),) = counts.most_common(1)
        return heaviest if count > counts[visitor] + 1 else None
