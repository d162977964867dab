"""What stands in place of the names of bots while a ladder hides them.

A seat of a match is named after its number: "seat-0". In what is settled before a deal a bot is named after its number
among those of the board: "bot-0", the first one in the first seat. Both have no owner and no version, which every real
bot has. This module knows no match and no ladder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cutpurse.engine.errors import RecordError

__all__ = ["are_hidden", "hidden_bot", "hidden_seat", "names_of"]


def hidden_seat(seat: int) -> str:
    """Return what stands for the bot of a seat."""
    return f"seat-{seat}"


def hidden_bot(number: int) -> str:
    """Return what stands for a bot of a board."""
    return f"bot-{number}"


def are_hidden(seats: Sequence[Mapping[str, str]]) -> bool:
    """Return whether names stand for those of the bots in these seats, each with owner, bot and version."""
    return bool(seats) and not any(seat["owner"] or seat["version"] for seat in seats)


def names_of(hidden: Sequence[Mapping[str, str]], seats: Sequence[dict[str, str]]) -> dict[str, dict[str, str]]:
    """Return the bots by what stands for them.

    Args:
        hidden: What stands for them, by seat of a match.
        seats: The bots of the same match.

    Raises:
        RecordError: If a bot would be two bots, or two would be one.
    """
    pairs = [(seat["bot"], name) for seat, name in zip(hidden, seats, strict=False)]
    names = dict(pairs)
    bots = {(name["owner"], name["bot"], name["version"]) for name in names.values()}
    if len(hidden) != len(seats) or any(names[bot] != name for bot, name in pairs) or len(bots) < len(names):
        raise RecordError("what was settled before the deal hides names, and has other seats than the head")
    return names
