"""How many streams of events there may be, shared fairly among those who read them.

At the limit, one more is opened only for a visitor who has fewer than another: the oldest stream of the visitor with
the most is ended for it. So nobody can keep the others out. This module knows no HTTP and no event.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from cutpurse.sdk.errors import ServerRefused

__all__ = ["MAX_STREAMS", "StreamShares"]

MAX_STREAMS: Final = 1_000


class StreamShares:
    """The streams that are open; for one event loop."""

    def __init__(self, max_streams: int = MAX_STREAMS) -> None:
        """Allow so many at once."""
        self._max_streams = max_streams
        self._streams: dict[object, tuple[str, Callable[[], object]]] = {}  # who reads it, what ends it; oldest first

    def check(self, visitor: str) -> None:
        """Whether this visitor may open one more.  Raises ServerRefused."""
        if len(self._streams) >= self._max_streams and self._heaviest(visitor) is None:
            raise ServerRefused("too many listen already")

    @contextmanager
    def turn(self, visitor: str, end: Callable[[], object]) -> Iterator[None]:
        """Count a stream for the length of a block, and end another one where there is no room.

        Args:
            visitor: Who reads it.
            end: Ends it; called when another visitor needs the room.
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
        """Return the visitor with the most streams, if it has at least two more than this one."""
        counts = Counter(reader for reader, _ in self._streams.values())
        ((heaviest, count),) = counts.most_common(1)
        return heaviest if count > counts[visitor] + 1 else None
