"""The short names of the bots at a table. This module knows no view and no HTML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from cutpurse.wire.person_names import built_in_bot

__all__ = ["short_names"]


def short_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the shortest names that tell the seats of a match apart.

    "ann/sneak" becomes "sneak", "house/people.greedy" becomes "greedy". If two bots have that name, both keep their
    owner. If one bot sits twice, its seat is added.
    """
    bare = [built_in_bot(name.partition("/")[2] or name) for name in names]
    counts, full = Counter(bare), Counter(names)
    return tuple(
        [
            short if counts[short] == 1 else name if full[name] == 1 else f"{name} ({seat})"
            for seat, (short, name) in enumerate(zip(bare, names, strict=True))
        ]
    )
