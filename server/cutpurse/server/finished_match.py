"""From a finished match to what the store keeps.

The store belongs to another part; what is asked of it here is `ResultStore`. A result holds the seed of its deal and
every card: it goes to the store and to nobody else. This module knows no table, no stream and no database.
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
    """Who plays. Another version is another entry in the rankings, and the same bot; a name is its owner's own."""

    owner: str
    bot: str
    version: str

    @property
    def shown(self) -> str:
        """As it is shown and typed: "ann/sneak:1.0"; without an owner where nobody in particular is."""
        return f"{self.bot}:{self.version}" if self.owner == NOBODY else f"{self.owner}/{self.bot}:{self.version}"

    @property
    def recorded(self) -> str:
        """As records have it: "ann/sneak 1.0"."""
        return self.shown.replace(":", " ")


class Deal(NamedTuple):
    """The deal of a board, and the promise made about it, see `cutpurse.engine.commitment`."""

    board: str
    params: bytes  # canonical JSON: board, game, rules, seats, settings
    seed: bytes
    commitment: bytes
    kept_as: str = ""  # what the store calls the board, if not so: one whose seed was chosen may be played again

    @property
    def board_kept(self) -> str:
        """The board's name in the store, which no other match has."""
        return self.kept_as or self.board


@dataclass(frozen=True, slots=True)
class FinishedSeat:
    """How one seat ended. In a void match place and score are 0."""

    player: Identity
    place: int  # 1 is the best; equal places are shared
    score: int
    end_cause: EndCause
    faults: int
    thinking_ms: int
    course: DecisionLog | None = None  # how it did, decision by decision
    notes: tuple[SeatNote, ...] = ()  # what its bot had to say, for its owner alone
    dropped_bytes: int = 0  # of notes that were too many to be kept
    cpu_ms: int | None = None  # what its process used meanwhile; None: it is not run here
    peak_bytes: int | None = None  # of memory, at most, since it was started


@dataclass(frozen=True, slots=True)
class MatchAnnouncement:
    """A match that begins: what a server that is killed must have promised before."""

    match: str
    ladder: str
    rules_version: str
    deal: Deal
    started: datetime  # UTC
    seats: tuple[Identity, ...]
    requested_by: str = ""
    reason: str = ""
    tables: tuple[tuple[Identity, ...], ...] = ()  # who sits in each match of its board, if that has more than this one

    @property
    def board_matches(self) -> int:
        """How many matches are played on its board."""
        return len(self.tables) or 1


@dataclass(frozen=True, slots=True)
class FinishedMatch:
    """A match that is over, once and for all: `match` names it, and a store takes each name once."""

    match: str
    ladder: str
    game: str
    rules_version: str
    settings: Mapping[str, str]
    deal: Deal
    started: datetime  # UTC
    finished: datetime
    seats: tuple[FinishedSeat, ...]
    decisions: int  # answers that took effect, those of the rules left out
    void: EndCause | None  # VOID_SERVER or VOID_OPERATOR: it counts for nothing
    played: Match
    is_rated: bool = True  # or somebody asked for it: then it has places, and no rating follows from it
    requested_by: str = ""  # the owner who asked for it; nobody did: it was the ladder's
    reason: str = ""  # why these bots met, in plain words; 300 characters at most
    tables: tuple[tuple[Identity, ...], ...] = ()  # who sat in each match of its board, if that has more than this one

    @property
    def board_matches(self) -> int:
        """How many matches are played on its board."""
        return len(self.tables) or 1

    def record(self) -> str:
        """Return the match on a line.  It takes milliseconds: call it on the store's thread, where nobody waits.

        Empty for a void match that cannot be written down, as when its game is broken; raises for any other.
        """
        try:
            return write_record(self.played)
        except Exception:
            if self.void is None:
                raise
            return ""

    def voided(self) -> FinishedMatch:
        """Return the match as void by the server's fault."""
        seats = tuple(replace(seat, place=0, score=0, end_cause=EndCause.VOID_SERVER) for seat in self.seats)
        return replace(self, seats=seats, void=EndCause.VOID_SERVER)


class StoreDown(Exception):
    """The store cannot be written to now. Says why, for whoever runs the server; quotes no result."""


class StoreUnsure(Exception):
    """The store cannot say whether the result was stored: it is to be offered again until it says so."""


class StoreCorrupt(StoreDown):
    """An invariant: what is stored cannot be right. The store takes nothing any more, and is not to be asked again."""


class NotTaken(Exception):
    """There is something wrong in a result: the store works, and will never take it. Says what, and quotes no card."""


@dataclass(frozen=True, slots=True)
class StoreOutcome:
    """What followed from a result that is stored: for all who sat in matches of its board, if that is rated now."""

    changes: Mapping[Identity, tuple[Skill, int]] = field(default_factory=dict)  # now, and rated boards on its ladder
    paused: tuple[Identity, ...] = ()  # whom this match has paused


class ResultStore(Protocol):
    """Where results are kept."""

    def announce(self, match: MatchAnnouncement) -> Future[None]:
        """Store that a match is to begin. What is announced and never submitted was played by a server that was killed.

        Done only when it would survive a crash; nobody is told before that the match begins. It fails if the match was
        not stored, or that is not known, and may be done on any thread. Does not raise, does not wait.
        """

    def standings(self, player: Identity) -> Future[Mapping[str, tuple[Skill, int]]]:
        """Return the pairing skill of a bot and its number of rated matches, by ladder.

        The future may fail, and may be done on any thread. Does not raise, does not wait.
        """

    def submit(self, result: FinishedMatch) -> Future[StoreOutcome]:
        """Store and rate a match, once. Done only when it would survive a crash; a repeat changes nothing.

        The future fails if nothing was stored: with NotTaken if that result never can be, with StoreDown if the same
        may be tried again. With StoreUnsure it fails if that is not known. It may be done on any thread. Does not
        raise, does not wait.
        """
