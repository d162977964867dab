"""The settings of Python's garbage collector in a server process.

Matches, envelopes and sessions are freed by reference counting; only cycles in gRPC and asyncio are left for the
collector. With Python's default thresholds it would scan all live objects many times a second and find nothing. That
took a quarter of the server's time at 64 tables a bot. This module knows nothing of the server.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

__all__ = ["rarely_collected"]

# Number of new objects that starts a collection of the youngest generation. The other two are the numbers of
# collections after which the next older generation is scanned, too. As matches begin and end, the number of objects
# varies by those of some ten tables. With a lower threshold, every such change would scan all open matches, at 0.2 us
# an object, while bots wait.
THRESHOLDS: Final = (50_000, 100, 10)  # Python's defaults are 700, 10, 10


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Make the collector run rarely within the block, and never scan objects that exist at its start."""
    usual = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()
