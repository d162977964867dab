"""The luck of one match: how much the cards gave each seat, and the draws that gave most.

`python -m cutpurse.lab.match_luck` reads a match file from stdin and prints the luck of its first match.
The page runs it, so that no page waits while a match is played again. This module knows no language and no bot.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Final

from cutpurse.engine.record import Record
from cutpurse.games import game_named
from cutpurse.lab.luck import LuckEvent, luck_events_of_record, total_luck
from cutpurse.lab.position_features import FEATURES
from cutpurse.lab.position_values import expected_points
from cutpurse.sdk.matches.match_file import read_matches

__all__ = ["LuckyDraw", "MatchLuck", "events_of_one_match", "luck_of_one_match"]

REDRAWS: Final = 16  # for each chance event: a single match has no others to even out the chance of its redraws
LUCKIEST: Final = 3
NICENESS: Final = 5  # bots and readers come first


@dataclass(frozen=True, slots=True)
class LuckyDraw:
    """A chance event that gave a seat much.

    Attributes:
        choices_after: Number of choices of the match after it; 0 for the deal.
        seat: Seat that it gave most.
        luck: Place points that it gave this seat.
    """

    choices_after: int
    seat: int
    luck: float


@dataclass(frozen=True, slots=True)
class MatchLuck:
    """Place points that the cards gave each seat of a match, and the draws that gave most, in order of the match."""

    by_seat: tuple[float, ...]
    luckiest: tuple[LuckyDraw, ...]


def events_of_one_match(
    record: Record, progress: Callable[[int, int], None] = lambda done, of: None
) -> list[LuckEvent]:
    """Find the luck of each chance event of a match, with enough redraws for a single match.

    Raises:
        KeyError: If the game has no value function.
        RecordError: Where the record and the rules part.
        ValueError: If the match is void or has no choice.
    """
    return luck_events_of_record(record, game_named(record.game), expected_points, REDRAWS, progress)


def luck_of_one_match(record: Record) -> MatchLuck | None:
    """Find what the cards gave; None for a game without value function, and for a match without places or choices.

    Raises:
        RecordError: Where the record and the rules part.
    """
    if record.game not in FEATURES or not record.result["places"] or not record.choices:
        return None
    events = events_of_one_match(record)
    return MatchLuck(tuple(total_luck(events, len(record.seats))), tuple(_luckiest(events)))


def _luckiest(events: Iterable[LuckEvent]) -> list[LuckyDraw]:
    """List the events with the largest gifts to any seat, in order of the match."""
    draws = []
    for event in events:
        gift = max(event.luck)
        draws.append(LuckyDraw(event.choices_after, event.luck.index(gift), gift))
    largest = sorted([draw for draw in draws if draw.luck > 0], key=lambda draw: -draw.luck)[:LUCKIEST]
    return sorted(largest, key=lambda draw: draw.choices_after)


def main() -> None:
    """Print the luck of the match on stdin as JSON; null if it has none."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    filed = next(read_matches(sys.stdin.buffer))
    luck = luck_of_one_match(filed.record())
    sys.stdout.write(json.dumps(None if luck is None else asdict(luck)))


if __name__ == "__main__":
    main()
