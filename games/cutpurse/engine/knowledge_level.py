"""How much viewers remember of hidden cards: a level for each.

- `proof`: everything that can be proven of hidden cards; what servers, records and rulings use.
- `seen`: cards that the viewer saw and that certainly still lie where they were. When a card that the viewer does not
  see leaves a hidden zone, the viewer forgets what lay there. Nothing is inferred, so no card only may lie somewhere.
- `none`: nothing but what lies open now.

A lower level is cheaper to work out, and what it says is never false.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cutpurse.engine.errors import UsageError

__all__ = ["LEVELS", "NONE", "PROOF", "SEEN", "level_named", "viewers_at"]

PROOF: Final = "proof"
SEEN: Final = "seen"
NONE: Final = "none"
LEVELS: Final = (PROOF, SEEN, NONE)


def level_named(level: str) -> str:
    """Return a level that exists.  Raises UsageError for any other, naming those that do."""
    if level not in LEVELS:
        raise UsageError(f"knowledge is {', '.join(LEVELS[:-1])} or {LEVELS[-1]}, not {level!r}")
    return level


def viewers_at(levels: str | Sequence[str], viewers: int) -> tuple[int, int]:
    """Find who remembers and who infers.

    Args:
        levels: One level for all, or one for each viewer, the spectator last.
        viewers: Number of viewers.

    Returns:
        The viewers who remember what they saw, and those of them who also infer, as sets (see `zones`).

    Raises:
        UsageError: For a level that does not exist, and a wrong number of them.
    """
    each = [levels] * viewers if isinstance(levels, str) else [*levels]
    if len(each) != viewers:
        raise UsageError(
            f"knowledge has {len(each)} levels for {viewers} viewers: give one for each, the spectator last"
        )
    remembering = inferring = 0
    for viewer, level in enumerate(each):
        if level_named(level) != NONE:
            remembering |= 1 << viewer
        if level == PROOF:
            inferring |= 1 << viewer
    return remembering, inferring
