"""How often Python's garbage collector runs in a process that is a server.

Matches, envelopes and sessions are freed by their counts as soon as nobody needs them; what is left for the collector
are circles within gRPC and asyncio. By Python's usual numbers it would look through everything that is open many times
a second, a quarter of the server's time at 64 tables a bot, and find nothing. This module knows nothing of the server.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

__all__ = ["rarely_collected"]

# Objects more than before, until the youngest are looked through; then how often that is, until those that outlived it
# are too; and likewise the oldest. As matches end and begin, their number sways by the matches of some ten tables: less
# than that, and all open matches are looked through each time, 0.2 us an object, while nobody is asked.
THRESHOLDS: Final = (50_000, 100, 10)  # Python's own are 700, 10, 10


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Within the block the collector runs rarely, and never looks at what there is when the block begins."""
    usual = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()
