"""The values a store takes when a match begins and ends, and its answer once they are stored.

The store checks a result before it writes it, so an impossible result never reaches the ledger. This module knows no
match in play and no database.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, NamedTuple

from cutpurse.leaderboard.comparisons import MOST_MATCHES, TEST_MATCHES
from cutpurse.leaderboard.errors import InvalidEntry
from cutpurse.leaderboard.ratings import Skill
from cutpurse.leaderboard.tokens import NOBODY

__all__ = [
    "MAX_PAUSE_WINDOW",
    "MAX_TITLE",
    "NORMAL",
    "PAUSE_FAILED",
    "PAUSE_WINDOW",
    "VOID_SERVER",
    "Change",
    "Deal",
    "DecisionLog",
    "DecisionFault",
    "DecisionUsage",
    "EventBoard",
    "FinishedMatch",
    "FinishedSeat",
    "Identity",
    "LadderTerms",
    "MatchAnnouncement",
    "Nonces",
    "SeatNote",
    "StoreOutcome",
    "UsageTotal",
    "checked_name",
    "no_record",
    "memory_problem",
    "pause_problem",
    "title_problem",
]

NORMAL: Final = "normal"  # the end cause of a seat whose bot played to the end
PERSON: Final = "person"  # name by which an owner plays on the page; no program may have it
VOID_SERVER: Final = "void_server"  # the void cause of a match that the server failed or did not finish
_LONGEST: Final = 200  # maximum characters of a name or ID
_MOST: Final = 2**63 - 1  # maximum value of a column
PAUSE_FAILED: Final = 3  # default number of taken-over matches that pause a version
PAUSE_WINDOW: Final = 8  # default number of rated matches counted; large enough not to be hidden by good matches
MAX_TITLE: Final = 80
MAX_MEMORY_KIB: Final = 1_024  # of the folder that a bot keeps on a ladder; it is stored as one value
MAX_PAUSE_WINDOW: Final = 100  # the window is read again at each failure


class Identity(NamedTuple):
    """A version of a bot of an owner. Each version has its own ranking entry. Bot names are unique per owner."""

    owner: str
    bot: str
    version: str

    @property
    def shown(self) -> str:
        """The form shown to people, as "ann/sneak:1.0"; without the owner if it has no real one."""
        return f"{self.bot}:{self.version}" if self.owner == NOBODY else f"{self.owner}/{self.bot}:{self.version}"

    @property
    def recorded(self) -> str:
        """The form in records, as "ann/sneak 1.0"."""
        return self.shown.replace(":", " ")

    @property
    def is_person(self) -> bool:
        """Whether this is the owner in person, at a table of the page, and no program."""
        return self.bot == PERSON and self.owner not in ("", NOBODY)


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
class DecisionUsage:
    """What a bot reported that it used for a decision, such as the tokens of a language model.

    Attributes:
        decision: Number of the decision of the seat, from 1.
        input_tokens: Tokens that the model read.
        output_tokens: Tokens that it wrote.
        cost_micros: Cost in millionths of a US dollar.
        model: Name of the model; may be empty.
        fallback: Why the model did not choose the option; empty if it did.
    """

    decision: int
    input_tokens: int = 0
    output_tokens: int = 0
    cost_micros: int = 0
    model: str = ""
    fallback: str = ""


@dataclass(frozen=True, slots=True)
class UsageTotal:
    """The reported usage of several decisions, added up.

    Attributes:
        matches: Number of matches with a report.
        input_tokens: Tokens that models read.
        output_tokens: Tokens that they wrote.
        cost_micros: Cost in millionths of a US dollar.
        fallbacks: Number of decisions that no model chose.
        model: Name of the last reported model; may be empty.
    """

    matches: int
    input_tokens: int
    output_tokens: int
    cost_micros: int
    fallbacks: int
    model: str = ""


@dataclass(frozen=True, slots=True)
class DecisionLog:
    """The thinking time of each decision of a seat, in milliseconds, its faults, and its usage by decision."""

    thinking_ms: tuple[int, ...]
    faults: tuple[DecisionFault, ...]
    usages: tuple[DecisionUsage, ...] = ()

    @property
    def usage(self) -> UsageTotal | None:
        """The usage of the match; None if the bot reported none."""
        usages = self.usages
        if not usages:
            return None
        return UsageTotal(
            1,
            sum(usage.input_tokens for usage in usages),
            sum(usage.output_tokens for usage in usages),
            sum(usage.cost_micros for usage in usages),
            sum(bool(usage.fallback) for usage in usages),
            next((usage.model for usage in reversed(usages) if usage.model), ""),
        )


@dataclass(frozen=True, slots=True)
class SeatNote:
    """A text that a bot attached to a decision of its seat, counted from 1; 0 means before the first decision."""

    decision: int
    text: str


@dataclass(frozen=True, slots=True)
class FinishedSeat:
    """The result of one seat.

    Attributes:
        player: The version that played.
        place: Finishing place, 1 is best; None in a void match.
        score: Score; None in a void match.
        end_cause: `NORMAL`, or why the server took over the seat, or why the match is void.
        faults: Number of faults.
        thinking_ms: Total thinking time.
        course: Decision log, None if it was not recorded.
        notes: Notes of the bot, for its owner alone.
        dropped_bytes: Size of notes that were sent but not stored.
        cpu_ms: CPU time of the bot's process during the match, None if not measured.
        peak_bytes: Peak memory of the bot's process since its start, None if not measured.
        memory: SHA-256 of the memory folder that the bot began with; None if it had none.
    """

    player: Identity
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
    memory: bytes | None = None

    @property
    def is_taken_over(self) -> bool:
        """Whether the server took over the seat because its bot failed; only for matches that are not void."""
        return self.end_cause != NORMAL


class Nonces(NamedTuple):
    """What the seats of a match added to the key of its deal.

    Attributes:
        match: ID of the match; on a board of several, the first one that began.
        by_seat: The nonce of each seat; empty for a seat that gave none.
    """

    match: str
    by_seat: tuple[bytes, ...]

    def to_json(self) -> str:
        """Write them as they are stored."""
        return json.dumps({"match": self.match, "by_seat": [nonce.hex() for nonce in self.by_seat]}, sort_keys=True)

    @classmethod
    def from_json(cls, text: str | None) -> Nonces | None:
        """Read what `to_json` wrote; None stands for none."""
        if text is None:
            return None
        stored = json.loads(text)
        return cls(stored["match"], tuple(map(bytes.fromhex, stored["by_seat"])))


class Deal(NamedTuple):
    """The deal of a board.

    Attributes:
        board: ID of the board. Another one than in `params` if a chosen seed may be dealt again.
        commitment: Commitment to the seed and the parameters, published before the match.
        seed: The seed.
        params: The parameters, as canonical JSON.
        nonces: What seats added to the key; None if none did, or before they could.
    """

    board: str
    commitment: bytes
    seed: bytes
    params: bytes
    nonces: Nonces | None = None

    @property
    def announced(self) -> Deal:
        """The deal as it was announced, before any nonce."""
        return self._replace(nonces=None)

    @property
    def by_seat(self) -> tuple[bytes, ...]:
        """The nonces by seat, as the key needs them."""
        return () if self.nonces is None else self.nonces.by_seat


def no_record() -> str:
    """Return an empty text, as the record of a match that has none."""
    return ""


@dataclass(frozen=True, slots=True)
class FinishedMatch:
    """The result of a match. It holds the seed and every card, so it goes to a store and nowhere else.

    Attributes:
        match: ID of the match. A second result with the same ID is ignored, even if it differs.
        ladder: Name of the ladder.
        rules: Version of the game's rules.
        deal: Deal of its board.
        started: Start time, with a time zone.
        finished: End time, with a time zone.
        decisions: Number of answers that took effect, without those chosen by the rules.
        seats: Results by seat. Ties share a place; a place is 1 plus the number of seats ahead.
        make_record: Makes the line that replays the match, or an empty one. It may take milliseconds, so the store
            calls it on its own thread.
        void_cause: Why the match is void, None if it is not.
        is_rated: False for a requested match, which has places but changes no rating.
        requested_by: Requester of the match, for people; may be empty.
        reason: Why these versions met, for people; may be empty.
        board_matches: Number of matches on its board (`cutpurse.leaderboard.comparisons`).
    """

    match: str
    ladder: str
    rules: str
    deal: Deal
    started: datetime
    finished: datetime
    decisions: int
    seats: tuple[FinishedSeat, ...]
    make_record: Callable[[], str] = no_record
    void_cause: str | None = None
    is_rated: bool = True
    requested_by: str = ""
    reason: str = ""
    board_matches: int = 1

    @property
    def is_void(self) -> bool:
        """Whether the match is void, so that it counts for nothing."""
        return self.void_cause is not None

    @property
    def players(self) -> tuple[Identity, ...]:
        """The versions that played, by seat."""
        return tuple(seat.player for seat in self.seats)

    def record(self) -> str:
        """Make the record.

        Returns an empty text for a void match whose record cannot be made, for example because its game is broken. For
        other matches that error is raised.
        """
        try:
            return self.make_record()
        except Exception:
            if not self.is_void:
                raise
            return ""

    def voided(self) -> FinishedMatch:
        """Return the match as void by the server's fault."""
        seats = tuple(replace(seat, place=None, score=None, end_cause=VOID_SERVER) for seat in self.seats)
        return replace(self, seats=seats, void_cause=VOID_SERVER)

    def check(self) -> None:
        """Check the values.  Raises InvalidEntry if they are impossible."""
        _check_entry(self)
        if self.started.tzinfo is None or self.finished.tzinfo is None:
            raise InvalidEntry(
                f"match {self.match}: started {self.started} and finished {self.finished} need a time zone"
            )
        self._check_numbers()
        if self.is_void:
            if any(seat.place is not None or seat.score is not None for seat in self.seats):
                raise InvalidEntry(f"match {self.match} is void, so its seats have no place and no score")
        else:
            self._check_places()

    def _check_numbers(self) -> None:
        counts = [self.decisions]
        for seat in self.seats:
            counts += (seat.faults, seat.thinking_ms, seat.dropped_bytes, seat.cpu_ms or 0, seat.peak_bytes or 0)
            if seat.course is not None and (usage := seat.course.usage) is not None:
                counts += (usage.input_tokens, usage.output_tokens, usage.cost_micros)
        if not all(0 <= number <= _MOST for number in counts):
            raise InvalidEntry(
                f"match {self.match}: decisions, faults, thinking times, bytes and usage are counts, not {counts}"
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


class EventBoard(NamedTuple):
    """The board of an event that a match is played on.

    Attributes:
        event: ID of the tournament or of the version test.
        duel: Number of the duel of a tournament; 0 in a test.
        board: Number of the board in the duel, or among those that count in the test.
    """

    event: str
    duel: int
    board: int


@dataclass(frozen=True, slots=True)
class MatchAnnouncement:
    """A match that will begin. It is stored first, so that the successor of a killed server knows its commitment.

    Attributes:
        match: ID of the match.
        ladder: Name of the ladder.
        rules: Version of the game's rules.
        deal: Deal of its board.
        started: Start time, with a time zone.
        players: The versions, by seat.
        requested_by: Requester of an unrated match; empty for a rated match.
        reason: Why these versions meet, for people; may be empty.
        board_matches: Number of matches on its board.
        event_board: The board of an event that it is played on; None for other matches.
    """

    match: str
    ladder: str
    rules: str
    deal: Deal
    started: datetime
    players: tuple[Identity, ...]
    requested_by: str = ""
    reason: str = ""
    board_matches: int = 1
    event_board: EventBoard | None = None

    @property
    def is_rated(self) -> bool:
        """Whether the match may change ratings."""
        return not self.requested_by

    def check(self) -> None:
        """Check the values.  Raises InvalidEntry if they are impossible."""
        _check_entry(self)
        if self.started.tzinfo is None:
            raise InvalidEntry(f"match {self.match}: started {self.started} needs a time zone")
        if self.event_board is not None and self.is_rated:
            raise InvalidEntry(f"match {self.match} is played for an event, so it is unrated: it needs a requester")


@dataclass(frozen=True, slots=True)
class Change:
    """The change of a version's pairing skill by a board."""

    player: Identity
    before: Skill
    after: Skill


@dataclass(frozen=True, slots=True)
class StoreOutcome:
    """The effects of a stored result; a repeated submission gets the same answer.

    Attributes:
        sequence: Number of its board among the rated boards of the ladder, from 1; None if the board is not rated.
        changes: Changes by seat, or by version for a board of several matches; empty if nothing is rated.
        paused: Versions that this match paused (`cutpurse.leaderboard.fault_streaks`).
    """

    sequence: int | None = None
    changes: tuple[Change, ...] = ()
    paused: tuple[Identity, ...] = ()


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
        voids_outages: A match is void when the provider of a bot's language model is down.
        results_hidden_until: Show results only to hosts before this time; None if they were never hidden.
        title: What pages call the ladder; empty for its name.
        admits_people: Owners may play in person, on the page.
        names_hidden_until: Before this time only hosts see which bot plays in which seat, and so no results either;
            None if names were never hidden.
        memory_kib: Size of the folder that a submitted bot keeps from match to match; 0 means that it has none.
        replays_hidden_until: Before this time only hosts and the owners of its bots see how a match goes, played or
            being played; None if everybody could always.

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
    voids_outages: bool = False
    results_hidden_until: datetime | None = None
    title: str = ""
    admits_people: bool = False
    names_hidden_until: datetime | None = None
    memory_kib: int = 0
    replays_hidden_until: datetime | None = None

    @property
    def results_shown_from(self) -> datetime | None:
        """The time from which everybody sees the results: not before the names; None if they were never hidden."""
        times = [time for time in (self.results_hidden_until, self.names_hidden_until) if time is not None]
        return max(times, default=None)

    def hides_results(self, at: datetime) -> bool:
        """Return whether only hosts see the results at this time of day."""
        shown_from = self.results_shown_from
        return shown_from is not None and at < shown_from

    def hides_names(self, at: datetime) -> bool:
        """Return whether only hosts see which bot plays in which seat at this time of day."""
        return self.names_hidden_until is not None and at < self.names_hidden_until

    def hides_replays(self, at: datetime) -> bool:
        """Return whether only hosts and the owners of its bots see how a match goes at this time of day."""
        return self.replays_hidden_until is not None and at < self.replays_hidden_until

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
        if problem := pause_problem(self.pause_failed, self.pause_window) or memory_problem(self.memory_kib):
            raise InvalidEntry(problem)
        if self.frozen is not None and self.frozen.tzinfo is None:
            raise InvalidEntry(f"frozen from {self.frozen} on: that needs a time zone")
        for what in ("results", "names", "replays"):
            until = getattr(self, f"{what}_hidden_until")
            if until is not None and until.tzinfo is None:
                raise InvalidEntry(f"{what} hidden until {until}: that needs a time zone")
        if problem := title_problem(self.title):
            raise InvalidEntry(problem)


def memory_problem(kib: int) -> str:
    """Explain why a bot cannot have a memory of this size; return an empty text if it can."""
    if 0 <= kib <= MAX_MEMORY_KIB:
        return ""
    return f"memory_kib is {kib:,}: it is a size from 0 (none) to {MAX_MEMORY_KIB:,} KiB"


def title_problem(title: str) -> str:
    """Explain why a ladder cannot have this title; return an empty text if it can."""
    if len(title) > MAX_TITLE:
        return f"the title has {len(title)} characters; the maximum is {MAX_TITLE}"
    if not title.isprintable() or title != title.strip():
        return "a title is one line of visible characters, without spaces at its ends"
    return ""


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


def _check_entry(entry: FinishedMatch | MatchAnnouncement) -> None:
    """Check what results and announcements have in common.  Raises InvalidEntry."""
    checked_name("the id of a match", entry.match)
    checked_name("the id of a board", entry.deal.board)
    if not 0 < entry.board_matches <= MOST_MATCHES:
        raise InvalidEntry(
            f"match {entry.match}: its board has {entry.board_matches} matches; 1 to {MOST_MATCHES} can be"
        )
    if not entry.is_rated and entry.board_matches not in (1, TEST_MATCHES):
        raise InvalidEntry(
            f"match {entry.match} is unrated, so its board has one match, or two of a test, not {entry.board_matches}"
        )
    players = entry.players
    if len(players) < 2:
        raise InvalidEntry(f"match {entry.match}: {len(players)} seats; a match has at least 2")
    if len(set(players)) < len(players):
        raise InvalidEntry(f"match {entry.match}: a version sits in two seats, and cannot be rated against itself")
