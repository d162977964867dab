"""A bot's session: its tables, from Hello until it leaves or is given up, through any number of streams.

A session knows no stream's envelopes (`link.py`), no match and no game. It gives each table its number, keeps what has
been told of it, and stands between the lobby, which seats bots, and the stream that the bot has at the moment, if any.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cutpurse.server.access.one_match import OneMatch
from cutpurse.server.finished_match import Identity
from cutpurse.server.invariants import check_queue_limit
from cutpurse.server.matches.server_match import SeatAt
from cutpurse.server.streams.hello import Introduction
from cutpurse.server.streams.match_port import Matches

if TYPE_CHECKING:
    from cutpurse.server.streams.link import Link

__all__ = ["SessionTable", "ServerSession"]


class SessionTable:
    """A table of a session, and what the bot has been told of it on the present stream."""

    __slots__ = ("is_begun", "is_end_told", "is_start_told", "seat")

    def __init__(self, seat: SeatAt) -> None:
        self.seat = seat
        self.is_begun = False  # else the bot is not to be told of it
        self.is_start_told = False
        self.is_end_told = False


class ServerSession:
    """One bot, as the lobby and the tables know it.

    id names it in logs and to the bot; secret is what the bot proves itself with when it comes back.
    """

    def __init__(self, id: str, secret: bytes, introduction: Introduction, matches: Matches) -> None:
        self.id = id
        self.secret = secret
        self.introduce(introduction)
        self.max_tables = introduction.max_tables
        self.leaving = False
        self.is_met = False  # the bot has its secret, and can come back
        self.link: Link | None = None
        self.lost_at: float | None = None  # when its last stream ended, while it has none
        self.is_forgotten = False  # nobody can come back to it
        self.places: dict[int, SessionTable] = {}  # by table; also those that are over, until the bot has heard of it
        self.ready_places: dict[int, SessionTable] = {}  # those with something to tell, in the order it came up
        self._matches = matches
        self._last_table = 0
        self._over = 0  # of `places`, those whose MatchEnded was sent

    def __repr__(self) -> str:
        return f"<Session {self.id} of {self.identity.bot} {self.identity.version}>"  # never the secret

    def introduce(self, introduction: Introduction) -> None:
        """Note who the bot is and what it wants, at the first Hello or a later one."""
        self.introduction = introduction
        self.wants_events = introduction.events  # to be told what happened between its decisions
        self.wants_agenda = "agenda" in introduction.features  # in its observations
        self.one_match: OneMatch | None = introduction.one_match  # None: it plays as many as come

    # -- what the lobby and the tables see
    @property
    def identity(self) -> Identity:
        """Who it is."""
        return self.introduction.identity

    @property
    def sends_notes(self) -> bool:
        """Whether it may have something to say about its decisions."""
        return "notes" in self.introduction.features

    @property
    def declines_requests(self) -> bool:
        """Whether only its own owner may ask for matches with it."""
        return self.introduction.declines_requests

    @property
    def forgets(self) -> bool:
        """Whether it keeps nothing from one match to the next."""
        return self.introduction.forgets

    @property
    def is_connected(self) -> bool:
        """Whether it has a stream."""
        return self.link is not None

    @property
    def free_tables(self) -> int:
        """At how many more tables it would sit down now: at none before it can come back to them.

        A table is free once its end was told. So that whoever never acknowledges that, and resumes again and again,
        does not have ever more of them kept, there are never more than twice as many as it may sit at.
        """
        if self.link is None or self.leaving or not self.is_met:
            return 0
        if self.one_match is not None and self.one_match.has_begun:
            return 0
        kept = len(self.places)
        return max(0, min(self.max_tables - (kept - self._over), 2 * self.max_tables - kept))

    def plays(self, game: str, ladder: str) -> bool:
        """Whether it wants to be paired on this ladder."""
        return self.introduction.plays(game, ladder)

    def sit(self, seat: SeatAt) -> None:
        """Keep a table for a match that is to begin: it gets its number, and the bot is not told yet."""
        self._last_table += 1
        seat.number = self._last_table
        self.places[seat.number] = SessionTable(seat)

    def begin(self, seat: SeatAt) -> None:
        """Tell the bot with its next envelope that the match of this seat begins."""
        if self.one_match is not None:
            self.one_match.begin()
        if (place := self.places.get(seat.number)) is not None:
            place.is_begun = True
        self.ready(seat)

    def rise(self, seat: SeatAt) -> None:
        """Free the table of a match that never began."""
        self.places.pop(seat.number, None)

    def ready(self, seat: SeatAt) -> None:
        """Something new is to be told at this table: a decision is open, or the match has ended and is stored."""
        number = seat.number
        if self.one_match is not None and seat.ended() is not None:
            self.one_match.end()
        place, link = self.places.get(number), self.link
        if place is not None and link is not None:
            self.ready_places[number] = place
            link.ready()

    def opened(self, seat: SeatAt, body: bytes) -> None:
        """Send what was dealt on a board, unless that comes with the end of its match, which still waits.

        Whoever has no stream now is told nothing: it can be asked for by the match's name.
        """
        place = self.places.get(seat.number)
        if self.link is not None and (place is None or place.is_end_told):
            self.link.open_board(body)

    def tell(self, reason: str, text: str, table: int = 0) -> None:
        """Tell of trouble that ends nothing.  reason: a name of ErrorReason without its prefix."""
        if self.link is not None:
            self.link.tell(reason, text, table)

    # -- what its stream says
    def connect(self, link: Link) -> None:
        """Attach a stream, and send on it all tables as if for the first time."""
        self.link = link
        self.lost_at = None
        for place in self.places.values():
            place.is_start_told = place.is_end_told = False
            place.seat.connected()
        self.ready_places = {table: place for table, place in self.places.items() if place.is_begun}
        self._over = 0
        self._matches.enter(self)

    def disconnect(self, link: Link, now: float) -> None:
        """Detach a stream; if it was the current one, the tables go on without the bot."""
        if self.link is not link:
            return
        self.link = None
        self.lost_at = now
        self.ready_places.clear()
        for place in self.places.values():
            place.seat.disconnected()
        self._matches.leave(self)

    def met(self) -> None:
        """Note that the bot acknowledged its Welcome."""
        self.is_met = True
        self._matches.changed(self)

    def seat_at(self, table: int) -> SeatAt | None:
        """Return the seat at this table, if it is open or its end not acknowledged yet."""
        place = self.places.get(table)
        return place.seat if place is not None and place.is_begun else None

    def knew_table(self, table: int) -> bool:
        """Whether there ever was such a table."""
        return 0 < table <= self._last_table

    def end_told(self, place: SessionTable) -> None:
        """Free a table whose MatchEnded is on its way."""
        place.is_end_told = True
        self._over += 1

    def end_heard(self, tables: Iterable[int]) -> None:
        """Forget the tables whose ends the bot acknowledged."""
        had = self.free_tables
        for table in tables:
            del self.places[table]
            self._over -= 1
            if self.one_match is not None:
                self.one_match.hear()
        if self.free_tables > had:
            self._matches.changed(self)

    def set_tables(self, count: int, leaving: bool) -> None:
        """At how many tables the bot will sit at once, from now on; leaving: at none ever again."""
        if (count, leaving) != (self.max_tables, self.leaving):
            self.max_tables, self.leaving = count, leaving
            self._matches.changed(self)

    def tables_freed(self) -> None:
        """Note that ends were sent, so there may be room for new matches."""
        self._matches.changed(self)

    def check_queues(self, most_tables: int) -> None:
        """Check that not too much is stored for this bot; most_tables: the most that any bot is granted.

        Raises QueueOverflow.
        """
        check_queue_limit(len(self.places), 2 * most_tables)
        check_queue_limit(len(self.ready_places), len(self.places))
        check_queue_limit(self._over, len(self.places))
        if self.link is not None:
            self.link.check_queues()

    def forget(self) -> None:
        """Nobody can come back to it: there is nobody to tell anything any more. Its tables go on to their ends."""
        self.is_forgotten = True
        self.places.clear()
        self.ready_places.clear()
        self._over = 0
