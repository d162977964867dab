"""The short names of the bots at a table. This module knows no view and no HTML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from cutpurse.sdk.matches.match_file import FiledMatch
from cutpurse.wire.person_names import built_in_bot

__all__ = ["names_in_file", "short_names"]


def names_in_file(filed: FiledMatch) -> tuple[str, ...]:
    """Return the names of the bots in a match file by seat, with the version where a bot sits twice."""
    if filed.head is None:
        return filed.record().seats
    bots = [seat.named for seat in filed.head.seats]
    return tuple([seat.named if bots.count(seat.named) == 1 else seat.shown for seat in filed.head.seats])


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
