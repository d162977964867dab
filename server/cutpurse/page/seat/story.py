"""What has happened at a person's table, by player and turn, with what follows by itself folded into one line.

This module knows no HTML, no event and no card.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from cutpurse.page.language.game_words import sentences
from cutpurse.page.match_view.event_text import EventLine

__all__ = ["Turn", "turns_of"]


@dataclass(slots=True)
class Turn:
    """What one player did without another in between; `seat` is None for the table."""

    seat: int | None
    acts: list[EventLine] = field(default_factory=list)  # what the player did
    # what followed from that: cards that moved, numbers that changed
    rest: list[EventLine] = field(default_factory=list)


def turns_of(lines: Iterable[EventLine]) -> list[Turn]:
    """Group lines by turn, the oldest first. An act does not name its player again."""
    turns: list[Turn] = []
    for line in lines:
        is_act = line.weight == "act"
        if not turns or (is_act and line.seat is not None and line.seat != turns[-1].seat):
            turns.append(Turn(line.seat if is_act else None))
        if is_act and line.seat is not None:
            line = replace(line, text=line.text.removeprefix(sentences().seat.format(seat=line.seat) + " "))
        (turns[-1].acts if is_act else turns[-1].rest).append(line)
    return turns
