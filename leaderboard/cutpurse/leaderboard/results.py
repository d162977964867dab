"""The values a store takes when a match begins and ends, and its answer once they are stored.

A result is validated when it is created, so an impossible result never reaches the ledger. This module knows no
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
_LONGEST: Final = 200  # maximum characters of a name or ID
_MOST: Final = 2**63 - 1  # maximum value of a column
PAUSE_FAILED: Final = 3  # default number of taken-over matches that pause a version
PAUSE_WINDOW: Final = 8  # default number of rated matches counted; large enough not to be hidden by good matches
MAX_PAUSE_WINDOW: Final = 100  # the window is read again at each failure


@dataclass(frozen=True, slots=True)
class DecisionFault:
    """A decision that the server took for a seat.

    Attributes:
        decision: Number of the decision of the seat, from 1.
        at: Index of the decision in the record.
        cause: Machine-readable cause.
        text: Explanation for people.
    """

    decision: int
    at: int
    cause: str
    text: str


@dataclass(frozen=True, slots=True)
class DecisionLog:
    """The thinking time of each decision of a seat, in milliseconds, and the faults of the seat."""

    thinking_ms: tuple[int, ...]
    faults: tuple[DecisionFault, ...]


@dataclass(frozen=True, slots=True)
class SeatNote:
    """A text that a bot attached to a decision of its seat, counted from 1; 0 means before the first decision."""

    decision: int
    text: str


@dataclass(frozen=True, slots=True)
class SeatResult:
    """The result of one seat.

    Attributes:
        version: ID of the version, from `Store.ensure_version`.
        place: Finishing place, 1 is best; None in a void match.
        score: Score; None in a void match.
        end_cause: `NORMAL`, or why the server took over the seat.
        faults: Number of faults.
        thinking_ms: Total thinking time.
        course: Decision log, None if it was not recorded.
        notes: Notes of the bot, for its owner alone.
        dropped_bytes: Size of notes that were sent but not stored.
        cpu_ms: CPU time of the bot's process, None if not measured.
        peak_bytes: Peak memory of the bot's process, None if not measured.
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
        """Whether the server took over the seat because its bot failed; only for matches that are not void."""
        return self.end_cause != NORMAL


@dataclass(frozen=True, slots=True)
class DealCommitment:
    """The commitment to a deal, and its opening (`seed` and `params`), as bytes."""

    commitment: bytes
    seed: bytes
    params: bytes


@dataclass(frozen=True, slots=True)
class CompletedMatch:
    """A finished match.

    Attributes:
        match: ID of the match. A second result with the same ID is ignored, even if it differs.
        board: ID of the board.
        ladder: Name of the ladder.
        rules: Version of the game's rules.
        started: Start time, with a time zone.
        finished: End time, with a time zone.
        decisions: Number of decisions.
        seats: Results by seat. Ties share a place; a place is 1 plus the number of seats ahead.
        deal: Commitment to the deal, and its opening.
        record: Line that replays the match, None if there is none.
        void_cause: Why the match is void, None if it is not.
        is_rated: False for a requested match, which has places but changes no rating.
        requested_by: Requester of the match, for people; may be empty.
        reason: Why these versions met, for people; may be empty.
        board_matches: Number of matches on its board (`cutpurse.leaderboard.comparisons`).

    Raises:
        InvalidEntry: If the values are impossible.
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
        """Whether the match is void, so that it counts for nothing."""
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
    """A match that begins, with the commitment to its deal.

    Attributes:
        match: ID of the match.
        board: ID of the board.
        ladder: Name of the ladder.
        rules: Version of the game's rules.
        started: Start time, with a time zone.
        deal: Commitment to the deal, and its opening.
        versions: IDs of the versions, by seat.
        requested_by: Requester of an unrated match; empty for a rated match.
        reason: Why these versions meet, for people; may be empty.
        board_matches: Number of matches on its board.

    Raises:
        InvalidEntry: If the values are impossible.
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
        """Whether the match may change ratings."""
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
    """The change of a version's rating by a board; `matches` is its number of rated boards including this one."""

    version: int
    before: Skill
    after: Skill
    matches: int


@dataclass(frozen=True, slots=True)
class Stored:
    """The answer to a stored result; a repeated submission gets the same answer.

    Attributes:
        match: ID of the match.
        sequence: Number of its board among the rated boards of the ladder, from 1; None if the board is not rated.
        changes: Rating changes by seat, or by version for a board of several matches; empty if nothing is rated.
        paused: IDs of the versions that this match paused (`cutpurse.leaderboard.fault_streaks`).
    """

    match: str
    sequence: int | None
    changes: tuple[Change, ...]
    paused: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LadderTerms:
    """The changeable terms of a ladder.

    Attributes:
        owners: Owners whose bots may play; empty means everybody.
        most_bots: Maximum simultaneous bots; 0 means no limit.
        most_per_owner: Maximum simultaneous bots per owner, versions of a bot counted once; 0 means no limit.
        is_private: Show results only to owners that may play.
        frozen: Start no match from this time on, None if the ladder is open.
        house: Names of the house bots that fill empty seats.
        pause_failed: Number of taken-over matches, of the last `pause_window`, that pause a version; 0 means never.
        pause_window: Number of rated matches on the ladder that count for pauses.

    Raises:
        InvalidEntry: If a value is invalid.
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
        """Whether the number of bots is limited."""
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
    """Explain why these pause terms are invalid; return an empty text if they are valid."""
    if not 1 <= window <= MAX_PAUSE_WINDOW:
        return f"pause_window is {window}: it is a number of matches from 1 to {MAX_PAUSE_WINDOW}"
    if not 0 <= failed <= window:
        return f"pause_failed is {failed}: it is 0 (never pause) to pause_window, which is {window}"
    return ""


def checked_name(what: str, name: str) -> str:
    """Return `name` if it has 1-200 printable characters and no space at its ends.  Raises InvalidEntry.

    Args:
        what: Subject of the error message.
        name: The name to check.
    """
    if not 0 < len(name) <= _LONGEST or not name.isprintable() or name != name.strip():
        raise InvalidEntry(
            f"{what} is {name!r:.300}; it needs 1-{_LONGEST} printable characters without a space at its ends"
        )
    return name


def _check_board(entry: CompletedMatch | Announcement) -> None:
    """Check the number of matches of the board.  Raises InvalidEntry."""
    if not 0 < entry.board_matches <= MOST_MATCHES:
        raise InvalidEntry(
            f"match {entry.match}: its board has {entry.board_matches} matches; 1 to {MOST_MATCHES} can be"
        )
    if entry.board_matches > 1 and not entry.is_rated:
        raise InvalidEntry(f"match {entry.match} was asked for, and so is the only one on its board")


def _check_seated(match: str, versions: Sequence[int]) -> None:
    """Check the versions in a match.  Raises InvalidEntry."""
    if len(versions) < 2:
        raise InvalidEntry(f"match {match}: {len(versions)} seats; a match has at least 2")
    if len(set(versions)) < len(versions):
        raise InvalidEntry(f"match {match}: a version sits in two seats, and cannot be rated against itself")
