"""The measured queries of a leaderboard, and equivalents that count the seats of all matches."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from benchmarks.queries.build import DAWN, LADDERS, SECONDS, VERSIONS_EACH
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.reader import LeaderboardReader

__all__ = ["Asked", "Question", "questions"]

HOUR: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Asked:
    """The arguments of one run of a query."""

    bot: int  # of the ladder, from 1; equal to its ID
    before: int  # a match number
    match: str  # a match ID

    @property
    def name(self) -> tuple[str, str]:
        """Owner and bot."""
        return f"owner{self.bot}", f"bot{self.bot}"


@dataclass(frozen=True, slots=True)
class Question:
    """A query; `counted` is SQL that counts the same, with `:bot` and `:before`, if there is any."""

    what: str
    bots: int  # of its ladder
    ask: Callable[[LeaderboardReader, Asked], Sequence[object]]
    counted: str | None = None
    is_page: bool = True  # whether it must be faster than the target; else its time grows with the ladder

    def asked(self, rng: random.Random, matches: int, names: Sequence[str]) -> Asked:
        """Draw the arguments of the next run."""
        return Asked(rng.randrange(self.bots) + 1, rng.randrange(matches // 2, matches), rng.choice(names))


_RANKED: Final = (
    "SELECT seats.version_id, count(*), sum(place = 1), sum(faults > 0) FROM seats "
    "JOIN matches ON number = match_number WHERE matches.ladder_id = {ladder} AND place IS NOT NULL "
    "GROUP BY seats.version_id"
)
_MINE: Final = f"BETWEEN (:bot - 1) * {VERSIONS_EACH} + 1 AND :bot * {VERSIONS_EACH}"
_OPPONENTS: Final = (
    f"SELECT (other.version_id - 1) / {VERSIONS_EACH}, count(*), sum(mine.place < other.place) FROM seats AS mine "
    "JOIN seats AS other ON other.match_number = mine.match_number AND other.seat <> mine.seat "
    f"WHERE mine.version_id {_MINE} AND mine.ladder_id = {{ladder}} AND mine.place IS NOT NULL GROUP BY 1"
)


def questions(matches: int) -> list[Question]:
    """List all queries, for a leaderboard of `matches` matches."""
    wide, narrow, rare = LADDERS["wide"], LADDERS["narrow"], LADDERS["rare"]
    late = DAWN + timedelta(seconds=SECONDS * matches) - HOUR
    return [
        Question(
            "ladders",
            narrow,
            lambda reader, subject: reader.run(queries.ladders),
            "SELECT ladder_id, count(sequence) FROM boards GROUP BY ladder_id",
        ),
        Question(
            f"rankings of {narrow} bots",
            narrow,
            lambda reader, subject: reader.run(queries.rankings, "narrow"),
            _RANKED.format(ladder=2),
        ),
        Question(
            f"rankings of {wide:,} bots",
            wide,
            lambda reader, subject: reader.run(queries.rankings, "wide"),
            _RANKED.format(ladder=1),
            is_page=False,
        ),
        Question(
            "history, 100 steps", narrow, lambda reader, subject: reader.run(queries.history, "narrow", *subject.name)
        ),
        Question(
            f"opponents, {narrow - 1} bots",
            narrow,
            lambda reader, subject: reader.run(queries.opponents, "narrow", *subject.name),
            _OPPONENTS.format(ladder=2),
        ),
        Question(
            f"opponents, up to {wide - 1} bots",
            wide,
            lambda reader, subject: reader.run(queries.opponents, "wide", *subject.name),
            _OPPONENTS.format(ladder=1),
            is_page=False,
        ),
        Question("50 matches", narrow, lambda reader, subject: reader.run(queries.matches, before=subject.before)),
        Question(
            "50 matches of a ladder",
            narrow,
            lambda reader, subject: reader.run(queries.matches, "narrow", before=subject.before),
        ),
        Question(
            "50 matches of a ladder with a fault",
            narrow,
            lambda reader, subject: reader.run(queries.matches, "narrow", faulted=True, before=subject.before),
            "SELECT DISTINCT match_number FROM seats WHERE ladder_id = 2 AND faults > 0 AND match_number < :before "
            "ORDER BY match_number DESC LIMIT 50",
        ),
        Question(
            "50 matches of a ladder in an hour",
            narrow,
            lambda reader, subject: reader.run(queries.matches, "narrow", since=late),
        ),
        Question(
            "50 matches of a bot", narrow, lambda reader, subject: reader.run(queries.matches, None, *subject.name)
        ),
        Question(
            "matches of a bot on a ladder it rarely plays",
            rare,
            lambda reader, subject: reader.run(queries.matches, "rare", *subject.name),
        ),
        Question(
            "50 matches of a bot with its fault",
            narrow,
            lambda reader, subject: reader.run(queries.matches, None, *subject.name, faulted=True),
        ),
        Question("a match by its name", narrow, lambda reader, subject: [reader.run(queries.match, subject.match)]),
        Question("a match by 8 digits", narrow, lambda reader, subject: [reader.run(queries.match, subject.match[:8])]),
        Question("courses of a match", narrow, lambda reader, subject: reader.run(queries.courses, subject.match)),
        Question("10 logs of a bot", narrow, lambda reader, subject: reader.run(queries.logs, *subject.name)),
    ]
