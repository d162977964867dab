"""What is handed in when a match is over, and what comes back when it is stored.

A result is checked when it is made: one that could not have happened never reaches the ledger. This module knows no
database.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from cutpurse.leaderboard.errors import Refused
from cutpurse.leaderboard.ratings import Skill

__all__ = ["Change", "Course", "CourseFault", "Deal", "MatchResult", "Note", "SeatResult", "Stored", "checked_name"]

_LONGEST: Final = 200  # characters of a name or id
_MOST: Final = 2**63 - 1  # what a column holds


@dataclass(frozen=True, slots=True)
class CourseFault:
    """A decision that was taken for a seat.

    decision: counts those of the seat from 1. at: its place among the choices of the match, as in its record.
    cause: the end cause that it counts for. text: for people; it may quote what the bot said, so it is its owner's.
    """

    decision: int
    at: int
    cause: str
    text: str


@dataclass(frozen=True, slots=True)
class Course:
    """What became of the decisions of a seat, in their order: whole ms that it thought, and its faults."""

    thinking_ms: tuple[int, ...]
    faults: tuple[CourseFault, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """What a bot had to say about a decision of its seat, counted from 1; 0: before the first."""

    decision: int
    text: str


@dataclass(frozen=True, slots=True)
class SeatResult:
    """How it ended for one seat; `version` as `Store.ensure_version` gave it, place and score None in a void match.

    course: decision by decision, if that is known. notes: the bot's own. dropped_bytes: of notes that were too many.
    """

    version: int
    place: int | None
    score: int | None
    end_cause: str
    faults: int = 0
    thinking_ms: int = 0
    course: Course | None = None
    notes: tuple[Note, ...] = ()
    dropped_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Deal:
    """What was promised of a deal (`commitment`) and what opens the promise, as bytes."""

    commitment: bytes
    seed: bytes
    params: bytes


@dataclass(frozen=True, slots=True)
class MatchResult:
    """A match that is over, the only one on its board.

    match: names the result for ever; the same id again is the same result, whatever else it says.
    rules: the version of the game's rules.
    started, finished: with a time zone.
    seats: by seat, from 0; places as 1 for the best, who ties shares, and those behind count who is ahead.
    record: the line that replays it, if there is one.
    void_cause: why it counts for nothing; None if it counts.

    Raises Refused.
    """

    match: str
    board: str
    ladder: str
    rules: str
    started: datetime
    finished: datetime
    decisions: int
    seats: tuple[SeatResult, ...]
    deal: Deal
    record: str | None = None
    void_cause: str | None = None

    def __post_init__(self) -> None:
        checked_name("the id of a match", self.match)
        checked_name("the id of a board", self.board)
        if self.started.tzinfo is None or self.finished.tzinfo is None:
            raise Refused(f"match {self.match}: started {self.started} and finished {self.finished} need a time zone")
        if len(self.seats) < 2:
            raise Refused(f"match {self.match}: {len(self.seats)} seats; a match has at least 2")
        if len({seat.version for seat in self.seats}) < len(self.seats):
            raise Refused(f"match {self.match}: a version sits in two seats, and cannot be rated against itself")
        self._check_numbers()
        if self.void:
            if any(seat.place is not None or seat.score is not None for seat in self.seats):
                raise Refused(f"match {self.match} is void, so its seats have no place and no score")
        else:
            self._check_places()

    @property
    def void(self) -> bool:
        """Whether it counts for nothing."""
        return self.void_cause is not None

    def _check_numbers(self) -> None:
        counts = [self.decisions, *(number for seat in self.seats for number in (seat.faults, seat.thinking_ms))]
        if not all(0 <= number <= _MOST for number in counts):
            raise Refused(f"match {self.match}: decisions, faults and thinking times are counts, not {counts}")
        if not all(abs(seat.score or 0) <= _MOST for seat in self.seats):
            raise Refused(f"match {self.match}: a score has at most 63 bits")

    def _check_places(self) -> None:
        places = [seat.place for seat in self.seats if seat.place is not None]
        if len(places) < len(self.seats) or any(seat.score is None for seat in self.seats):
            raise Refused(f"match {self.match} counts, so every seat has a place and a score")
        for place in places:
            if place != (ahead := sum(other < place for other in places)) + 1:
                raise Refused(
                    f"match {self.match}: places {places}: with {ahead} ahead a seat has place {ahead + 1}, not {place}"
                )


@dataclass(frozen=True, slots=True)
class Change:
    """What a board made of one version's rating."""

    version: int
    before: Skill
    after: Skill


@dataclass(frozen=True, slots=True)
class Stored:
    """A result is stored for good: the answer to the first who handed it in and to everyone after.

    sequence: its number among the rated boards of its ladder, from 1; None if it is void.
    changes: by seat; none if it is void.
    """

    match: str
    sequence: int | None
    changes: tuple[Change, ...]


def checked_name(what: str, name: str) -> str:
    """The name, if people can read it: 1-200 printable characters, no space at its ends.  Raises Refused."""
    if not 0 < len(name) <= _LONGEST or not name.isprintable() or name != name.strip():
        raise Refused(
            f"{what} is {name!r:.300}; it needs 1-{_LONGEST} printable characters without a space at its ends"
        )
    return name
