"""A finished match, as it is passed to the store.

`ResultStore` lists what is required of the store. A result holds the seed of its deal and every card, so it goes to the
store and nowhere else. This module knows no match in play, no stream and no database.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple, Protocol

from cutpurse.engine.match import EndCause, Match
from cutpurse.engine.record import write_record
from cutpurse.leaderboard.ratings import Skill
from cutpurse.leaderboard.results import DecisionLog, SeatNote
from cutpurse.leaderboard.tokens import HOUSE, NOBODY

__all__ = [
    "HOUSE",
    "MatchAnnouncement",
    "Deal",
    "FinishedMatch",
    "Identity",
    "StoreOutcome",
    "StoreCorrupt",
    "NotTaken",
    "ResultStore",
    "FinishedSeat",
    "StoreDown",
    "StoreUnsure",
]


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


class Deal(NamedTuple):
    """The deal of a board and its commitment, see `cutpurse.engine.commitment`."""

    board: str
    params: bytes  # canonical JSON: board, game, rules, seats, settings
    seed: bytes
    commitment: bytes
    kept_as: str = ""  # the store's board ID if it differs, because a chosen seed may be played again

    @property
    def board_kept(self) -> str:
        """The board ID in the store, unique there."""
        return self.kept_as or self.board


@dataclass(frozen=True, slots=True)
class FinishedSeat:
    """The result of one seat. In a void match place and score are 0."""

    player: Identity
    place: int  # 1 is best; ties share a place
    score: int
    end_cause: EndCause
    faults: int
    thinking_ms: int
    course: DecisionLog | None = None  # its decision log
    notes: tuple[SeatNote, ...] = ()  # its bot's notes, for the owner only
    dropped_bytes: int = 0  # bytes of notes beyond the limit
    cpu_ms: int | None = None  # CPU time of its process during the match; None unless it is a hosted bot
    peak_bytes: int | None = None  # maximum memory of its process since its start


@dataclass(frozen=True, slots=True)
class MatchAnnouncement:
    """A match that will begin. It is stored first, so that a killed server's successor knows its commitment."""

    match: str
    ladder: str
    rules_version: str
    deal: Deal
    started: datetime  # UTC
    seats: tuple[Identity, ...]
    requested_by: str = ""
    reason: str = ""
    tables: tuple[tuple[Identity, ...], ...] = ()  # bots by seat in each match of its board, if it has several

    @property
    def board_matches(self) -> int:
        """Number of matches on its board."""
        return len(self.tables) or 1


@dataclass(frozen=True, slots=True)
class FinishedMatch:
    """The final result of a match. `match` is its ID, and a store accepts each ID once."""

    match: str
    ladder: str
    game: str
    rules_version: str
    settings: Mapping[str, str]
    deal: Deal
    started: datetime  # UTC
    finished: datetime
    seats: tuple[FinishedSeat, ...]
    decisions: int  # answers that took effect, without those chosen by the rules
    void: EndCause | None  # VOID_SERVER or VOID_OPERATOR if it counts for nothing
    played: Match
    is_rated: bool = True  # False for a requested match, which has places but no ratings
    requested_by: str = ""  # the owner who requested it; empty for a ladder's match
    reason: str = ""  # reason of the pairing; at most 300 characters
    tables: tuple[tuple[Identity, ...], ...] = ()  # bots by seat in each match of its board, if it has several

    @property
    def board_matches(self) -> int:
        """Number of matches on its board."""
        return len(self.tables) or 1

    def record(self) -> str:
        """Return the record of the match, in one line. It takes milliseconds, so call it on the store's thread.

        Returns an empty string for a void match that cannot be encoded, for example because its game is broken. For
        other matches that error is raised.
        """
        try:
            return write_record(self.played)
        except Exception:
            if self.void is None:
                raise
            return ""

    def voided(self) -> FinishedMatch:
        """Return the result as void by the server's fault."""
        seats = tuple(replace(seat, place=0, score=0, end_cause=EndCause.VOID_SERVER) for seat in self.seats)
        return replace(self, seats=seats, void=EndCause.VOID_SERVER)


class StoreDown(Exception):
    """A failed write; a retry may succeed. The text is for operators and quotes no result."""


class StoreUnsure(Exception):
    """A write whose outcome is unknown: retry it until the store knows."""


class StoreCorrupt(StoreDown):
    """A broken invariant of the stored results. The store accepts nothing any more; do not retry."""


class NotTaken(Exception):
    """An invalid result, which the working store will never accept. The text says why, and quotes no card."""


@dataclass(frozen=True, slots=True)
class StoreOutcome:
    """The effects of a stored result, for all bots of its board if that is rated now."""

    # new pairing skill, and rated boards on its ladder
    changes: Mapping[Identity, tuple[Skill, int]] = field(default_factory=dict)
    paused: tuple[Identity, ...] = ()  # versions paused by this match


class ResultStore(Protocol):
    """Where results are stored. No method raises or waits, and futures may be done on any thread."""

    def announce(self, match: MatchAnnouncement) -> Future[None]:
        """Store that a match will begin.

        An announced match without a result was played by a server that was killed. The future is done once the
        announcement would survive a crash; no bot is notified earlier. It fails if the match was not stored, or if that
        is unknown.
        """

    def standings(self, player: Identity) -> Future[Mapping[str, tuple[Skill, int]]]:
        """Return the pairing skill of a bot and its number of rated matches, by ladder. The future may fail."""

    def submit(self, result: FinishedMatch) -> Future[StoreOutcome]:
        """Store and rate a match once. A repeated result changes nothing.

        The future is done once the result would survive a crash. If nothing was stored, it fails with NotTaken for an
        invalid result, and with StoreDown if a retry may succeed. It fails with StoreUnsure if the outcome is unknown.
        """
