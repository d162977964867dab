"""What is handed in when a match begins and when it is over, and what comes back when it is stored.

A result is checked when it is made: one that could not have happened never reaches the ledger. This module knows no
database.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from cutpurse.leaderboard.comparisons import MOST_MATCHES
from cutpurse.leaderboard.errors import InvalidEntry
from cutpurse.leaderboard.ratings import Skill

__all__ = [
    "MAX_PAUSE_WINDOW",
    "NORMAL",
    "PAUSE_FAILED",
    "PAUSE_WINDOW",
    "Announcement",
    "Change",
    "DecisionLog",
    "DecisionFault",
    "DealCommitment",
    "LadderTerms",
    "CompletedMatch",
    "SeatNote",
    "SeatResult",
    "Stored",
    "checked_name",
    "pause_problem",
]

NORMAL: Final = "normal"  # the end cause of a seat whose bot played to the end
_LONGEST: Final = 200  # characters of a name or id
_MOST: Final = 2**63 - 1  # what a column holds
PAUSE_FAILED: Final = 3  # matches in which a version was taken over, that pause it
PAUSE_WINDOW: Final = 8  # rated matches that are looked at; three of eight show through good matches in between
MAX_PAUSE_WINDOW: Final = 100  # they are read again at each failure


@dataclass(frozen=True, slots=True)
class DecisionFault:
    """A decision that was taken for a seat.

    decision: counts those of the seat from 1; at: its place in the record; text: why, for people.
    """

    decision: int
    at: int
    cause: str
    text: str


@dataclass(frozen=True, slots=True)
class DecisionLog:
    """What became of the decisions of a seat: how long it thought over each, in milliseconds, and its faults."""

    thinking_ms: tuple[int, ...]
    faults: tuple[DecisionFault, ...]


@dataclass(frozen=True, slots=True)
class SeatNote:
    """What a bot sent along with a decision of its seat, which count from 1; 0: before the first."""

    decision: int
    text: str


@dataclass(frozen=True, slots=True)
class SeatResult:
    """How it ended for one seat; `version` as `Store.ensure_version` gave it, place and score None in a void match.

    course: what became of its decisions, None if that was not kept.
    notes: what the bot sent along, for its owner alone; dropped_bytes: of what it sent and is not here.
    cpu_ms, peak_bytes: what the bot's process used, None where that was not measured.
    """

    version: int
    place: int | None
    score: int | None
    end_cause: str
    faults: int = 0
    thinking_ms: int = 0
    course: DecisionLog | None = None
    notes: tuple[SeatNote, ...] = ()
    dropped_bytes: int = 0
    cpu_ms: int | None = None
    peak_bytes: int | None = None

    @property
    def is_taken_over(self) -> bool:
        """Whether the match played the seat on, since its bot failed; asked of results that count."""
        return self.end_cause != NORMAL


@dataclass(frozen=True, slots=True)
class DealCommitment:
    """What was promised of a deal (`commitment`) and what opens the promise, as bytes."""

    commitment: bytes
    seed: bytes
    params: bytes


@dataclass(frozen=True, slots=True)
class CompletedMatch:
    """A match that is over.

    match: names the result; the same id again is the same result, whatever else it says.
    rules: the version of the game's rules.
    started, finished: with a time zone.
    seats: by seat, from 0; places as 1 for the best, who ties shares, and those behind count who is ahead.
    record: the line that replays it, if there is one.
    void_cause: why it counts for nothing; None if it counts.
    is_rated: False for a match on request: it has places and changes no rating.
    requested_by: who asked for it; reason: why these met. Both for people, and empty where there is nothing to say.
    board_matches: how many matches are played on its board; if more than one, see `cutpurse.leaderboard.comparisons`.

    Raises InvalidEntry.
    """

    match: str
    board: str
    ladder: str
    rules: str
    started: datetime
    finished: datetime
    decisions: int
    seats: tuple[SeatResult, ...]
    deal: DealCommitment
    record: str | None = None
    void_cause: str | None = None
    is_rated: bool = True
    requested_by: str = ""
    reason: str = ""
    board_matches: int = 1

    def __post_init__(self) -> None:
        checked_name("the id of a match", self.match)
        checked_name("the id of a board", self.board)
        _check_board(self)
        if self.started.tzinfo is None or self.finished.tzinfo is None:
            raise InvalidEntry(
                f"match {self.match}: started {self.started} and finished {self.finished} need a time zone"
            )
        _check_seated(self.match, [seat.version for seat in self.seats])
        self._check_numbers()
        if self.void:
            if any(seat.place is not None or seat.score is not None for seat in self.seats):
                raise InvalidEntry(f"match {self.match} is void, so its seats have no place and no score")
        else:
            self._check_places()

    @property
    def void(self) -> bool:
        """Whether it counts for nothing."""
        return self.void_cause is not None

    def _check_numbers(self) -> None:
        counts = [self.decisions]
        for seat in self.seats:
            counts += (seat.faults, seat.thinking_ms, seat.dropped_bytes, seat.cpu_ms or 0, seat.peak_bytes or 0)
        if not all(0 <= number <= _MOST for number in counts):
            raise InvalidEntry(
                f"match {self.match}: decisions, faults, thinking times and bytes are counts, not {counts}"
            )
        if not all(abs(seat.score or 0) <= _MOST for seat in self.seats):
            raise InvalidEntry(f"match {self.match}: a score has at most 63 bits")

    def _check_places(self) -> None:
        places = [seat.place for seat in self.seats if seat.place is not None]
        if len(places) < len(self.seats) or any(seat.score is None for seat in self.seats):
            raise InvalidEntry(f"match {self.match} counts, so every seat has a place and a score")
        for place in places:
            if place != (ahead := sum(other < place for other in places)) + 1:
                raise InvalidEntry(
                    f"match {self.match}: places {places}: with {ahead} ahead a seat has place {ahead + 1}, not {place}"
                )


@dataclass(frozen=True, slots=True)
class Announcement:
    """A match that begins, and what is promised of its deal before the first card.

    versions: by seat. requested_by: who asked for it, which makes it an unrated one; empty: nobody.
    board_matches: how many matches are played on its board.

    Raises InvalidEntry.
    """

    match: str
    board: str
    ladder: str
    rules: str
    started: datetime
    deal: DealCommitment
    versions: tuple[int, ...]
    requested_by: str = ""
    reason: str = ""
    board_matches: int = 1

    @property
    def is_rated(self) -> bool:
        """Whether a rating may follow from it."""
        return not self.requested_by

    def __post_init__(self) -> None:
        checked_name("the id of a match", self.match)
        checked_name("the id of a board", self.board)
        _check_board(self)
        if self.started.tzinfo is None:
            raise InvalidEntry(f"match {self.match}: started {self.started} needs a time zone")
        _check_seated(self.match, self.versions)


@dataclass(frozen=True, slots=True)
class Change:
    """What a board made of one version's rating, and its rated boards on the ladder then, this one among them."""

    version: int
    before: Skill
    after: Skill
    matches: int


@dataclass(frozen=True, slots=True)
class Stored:
    """A result is stored for good: the answer to the first who handed it in and to everyone after.

    sequence: its number among the rated boards of its ladder, from 1; None if it rates nothing, or not yet.
    changes: by seat, or if its board has several matches those of all of them, by version; none if it rates nothing.
    paused: versions that play no more from now on, as each was taken over too often, see `conduct`.
    """

    match: str
    sequence: int | None
    changes: tuple[Change, ...]
    paused: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LadderTerms:
    """What may change of a ladder while it lives.

    owners: whose bots may play, everybody's if there are none; most_bots: so many at once, 0 for any number;
    most_per_owner: so many of one owner at once, versions of a bot counted once, 0 for any number.
    is_private: results are for those who may play. frozen: from this moment on no match begins; None: it is open.
    house: house bots, by name, that take seats where others are too few.
    pause_failed, pause_window: a version is paused when it was taken over in `pause_failed` of its last `pause_window`
    rated matches on the ladder; 0: never.

    Raises InvalidEntry.
    """

    owners: tuple[str, ...] = ()
    most_bots: int = 0
    is_private: bool = False
    frozen: datetime | None = None
    house: tuple[str, ...] = ()
    most_per_owner: int = 0
    pause_failed: int = PAUSE_FAILED
    pause_window: int = PAUSE_WINDOW

    @property
    def is_limited(self) -> bool:
        """Whether there may be no place for a bot that may play."""
        return bool(self.most_bots or self.most_per_owner)

    def __post_init__(self) -> None:
        for owner in self.owners:
            checked_name("the name of an owner", owner)
        for bot in self.house:
            checked_name("the name of a house bot", bot)
        for most, whose in ((self.most_bots, ""), (self.most_per_owner, " of an owner")):
            if not 0 <= most <= _MOST:
                raise InvalidEntry(f"at most {most} bots{whose}: it must be a count, 0 for any number")
        if problem := pause_problem(self.pause_failed, self.pause_window):
            raise InvalidEntry(problem)
        if self.frozen is not None and self.frozen.tzinfo is None:
            raise InvalidEntry(f"frozen from {self.frozen} on: that needs a time zone")


def pause_problem(failed: int, window: int) -> str:
    """Say why these numbers of matches cannot pause a version; empty if they can."""
    if not 1 <= window <= MAX_PAUSE_WINDOW:
        return f"pause_window is {window}: it is a number of matches from 1 to {MAX_PAUSE_WINDOW}"
    if not 0 <= failed <= window:
        return f"pause_failed is {failed}: it is 0 (never pause) to pause_window, which is {window}"
    return ""


def checked_name(what: str, name: str) -> str:
    """Return a name that people can read: 1-200 printable characters, no space at its ends.  Raises InvalidEntry."""
    if not 0 < len(name) <= _LONGEST or not name.isprintable() or name != name.strip():
        raise InvalidEntry(
            f"{what} is {name!r:.300}; it needs 1-{_LONGEST} printable characters without a space at its ends"
        )
    return name


def _check_board(entry: CompletedMatch | Announcement) -> None:
    """How many matches its board has.  Raises InvalidEntry."""
    if not 0 < entry.board_matches <= MOST_MATCHES:
        raise InvalidEntry(
            f"match {entry.match}: its board has {entry.board_matches} matches; 1 to {MOST_MATCHES} can be"
        )
    if entry.board_matches > 1 and not entry.is_rated:
        raise InvalidEntry(f"match {entry.match} was asked for, and so is the only one on its board")


def _check_seated(match: str, versions: Sequence[int]) -> None:
    """Who sits in a match, by seat.  Raises InvalidEntry."""
    if len(versions) < 2:
        raise InvalidEntry(f"match {match}: {len(versions)} seats; a match has at least 2")
    if len(set(versions)) < len(versions):
        raise InvalidEntry(f"match {match}: a version sits in two seats, and cannot be rated against itself")
