"""The style of a bot as JSON values; and its computation as a process of its own.

`python -m cutpurse.lab.style.style_document` reads a line of JSON for each match from stdin: the bot's seats, each with
its thinking times in milliseconds, and the text of the match file. It prints the documents of `StyleMatches`, a list.
The page runs it, so that no other page waits. This module knows no server.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from cutpurse.engine.errors import RecordError, UsageError
from cutpurse.engine.record import Record
from cutpurse.games import game_named
from cutpurse.lab.style.bot_style import HabitNumber, habit_numbers, similarity
from cutpurse.lab.style.house_styles import house_styles
from cutpurse.lab.style.style_counts import TIME, SeatCounts, counts_of_record, scales_of
from cutpurse.sdk.matches.match_file import read_matches

__all__ = ["StyleMatches", "styles_of_lines"]

DECIMALS: Final = 4
NICENESS: Final = 5  # of the process: bots and readers come first


class StyleMatches:
    """The counts of a bot by game and number of seats."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, int], list[SeatCounts]] = {}
        self._settings: dict[tuple[str, int], dict[str, object]] = {}

    def add(self, record: Record, seats: Mapping[int, Sequence[int]]) -> None:
        """Count the bot's seats of a match, each with its thinking times, if they are known.

        Raises:
            UsageError: For a record of other rules, or a game that is not installed.
        """
        times = {seat: thinking_ms for seat, thinking_ms in seats.items() if thinking_ms}
        counts = counts_of_record(record, game_named(record.game), times)
        key = (record.game, len(record.seats))
        self._settings.setdefault(key, dict(record.settings))
        self._counts.setdefault(key, []).extend(counts[seat] for seat in seats)

    def documents(self) -> list[dict[str, Any]]:
        """Return the style in each game as JSON values; the house bots play in the meantime."""
        return [self._document(game, seats) for game, seats in sorted(self._counts)]

    def _document(self, game: str, seats: int) -> dict[str, Any]:
        matches, scales = self._counts[game, seats], scales_of(game)
        alike = [
            similarity(bot, matches, others, scales)
            for bot, others in house_styles(game, seats, self._settings[game, seats]).items()
        ]
        known = sorted((other for other in alike if other is not None), key=lambda other: -other.similarity)
        return {
            "game": game,
            "seats": seats,
            "matches": len(matches),
            "habits": [_habit(number) for number in habit_numbers(matches, [*scales, TIME])],
            "alike": [
                {
                    "bot": other.bot,
                    "similarity": round(other.similarity, DECIMALS),
                    "interval": [round(end, DECIMALS) for end in other.interval],
                }
                for other in known
            ],
        }


def styles_of_lines(lines: Iterable[bytes]) -> list[dict[str, Any]]:
    """Return the documents of matches in the form that the process reads; records that cannot be read are left out."""
    matches = StyleMatches()
    for line in lines:
        seats, file = json.loads(line)
        try:
            for filed in read_matches(file.encode()):
                matches.add(filed.record(), {int(seat): times for seat, times in seats})
        except (RecordError, UsageError):
            continue
    return matches.documents()


def _habit(number: HabitNumber) -> dict[str, Any]:
    return {
        "habit": number.name,
        "mean": round(number.mean, DECIMALS),
        "interval": None if number.interval is None else [round(end, DECIMALS) for end in number.interval],
        "choices": number.choices,
        "matches": number.matches,
    }


def main() -> None:
    """Print the styles of the matches on stdin."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    sys.stdout.write(json.dumps(styles_of_lines(sys.stdin.buffer)))


if __name__ == "__main__":
    main()
