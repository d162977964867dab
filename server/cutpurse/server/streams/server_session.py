"""A bot's session: its tables, from Hello until it leaves or expires, through any number of streams.

A session knows no envelopes (`link.py`), no match and no game. It numbers the tables and stores what the bot has been
sent of each. It stands between the lobby, which seats bots, and the bot's current stream, if it has one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.tokens import HOUSE, PEOPLE
from cutpurse.server.access.one_match import OneMatch
from cutpurse.server.invariants import check_queue_limit
from cutpurse.server.matches.server_match import SeatAt
from cutpurse.server.state_table import next_state
from cutpurse.server.streams.hello import Introduction
from cutpurse.server.streams.match_port import Matches
from cutpurse.server.streams.session_stages import SESSION_STAGES, SessionEvent, SessionStage
from cutpurse.server.streams.table_stages import TABLE_STAGES, TableEvent, TableStage

if TYPE_CHECKING:
    from cutpurse.server.streams.link import Link

__all__ = ["SessionTable", "ServerSession"]


class SessionTable:
    """A table of a session, and what was sent of it on the current stream."""

    __slots__ = ("seat", "stage")

    def __init__(self, seat: SeatAt) -> None:
        self.seat = seat
        self.stage = TableStage.SEATED

    def happened(self, event: TableEvent) -> None:
        """Go on to the stage after this event."""
        self.stage = next_state(TABLE_STAGES, self.stage, event)


class ServerSession:
    """One bot, as the lobby and its matches know it."""

    def __init__(self, id: str, secret: bytes, introduction: Introduction, matches: Matches) -> None:
        """Open a session without a stream.

        Args:
            id: Names the session in logs and to the bot.
            secret: The bot proves with it that it may resume the session.
            introduction: The checked Hello.
            matches: The lobby.
        """
        self.id = id
        self.secret = secret
        self.introduce(introduction)
        self.max_tables = introduction.max_tables
        self.leaving = False
        self.stage = SessionStage.OPENED
        self.link: Link | None = None
        self.lost_at = 0.0  # when its stream ended, in LOST
        # by table number; includes finished ones until the bot acknowledges the end
        self.places: dict[int, SessionTable] = {}
        self.ready_places: dict[int, SessionTable] = {}  # those with something to send, in order
        self._matches = matches
        self._last_table = 0
        self._over = 0  # number of `places` whose MatchEnded was sent

    def __repr__(self) -> str:
        return f"<Session {self.id} of {self.identity.bot} {self.identity.version}>"  # without the secret

    def _happened(self, event: SessionEvent) -> None:
        """Go on to the stage after this event."""
        self.stage = next_state(SESSION_STAGES, self.stage, event)

    def introduce(self, introduction: Introduction) -> None:
        """Store the bot's identity and wishes, at the first Hello or a later one."""
        self.introduction = introduction
        self.wants_events = introduction.events  # to get the events between its decisions
        self.wants_agenda = "agenda" in introduction.features  # to get the agenda in its observations
        self.one_match: OneMatch | None = introduction.one_match  # None: no limit on its matches

    # -- for the lobby and the matches
    @property
    def identity(self) -> Identity:
        """Owner, bot and version."""
        return self.introduction.identity

    @property
    def sends_notes(self) -> bool:
        """Whether it may send notes on its decisions."""
        return "notes" in self.introduction.features

    @property
    def sends_usage(self) -> bool:
        """Whether it may report what it used for its decisions."""
        return "usage" in self.introduction.features

    @property
    def sends_nonces(self) -> bool:
        """Whether it adds nonces to deals; not those that the server itself runs, since it could choose theirs."""
        told = self.introduction
        return "nonces" in told.features and not told.is_run_here and told.identity.owner not in (HOUSE, PEOPLE)

    @property
    def declines_requests(self) -> bool:
        """Whether only its own owner may request matches with it."""
        return self.introduction.declines_requests

    @property
    def is_for_tests(self) -> bool:
        """Whether it is online for version tests alone, and so is not paired on its ladders."""
        return self.introduction.is_for_tests

    @property
    def forgets(self) -> bool:
        """Whether it keeps no memory between matches."""
        return self.introduction.forgets

    @property
    def is_connected(self) -> bool:
        """Whether it has a stream."""
        return self.link is not None

    @property
    def free_tables(self) -> int:
        """Number of further matches that it would play now; 0 until it can resume.

        A table is free once its end was sent. There are never more than twice as many tables as the bot's maximum.
        Otherwise a bot that resumes again and again without acknowledging ends could make the server store ever more.
        """
        if self.stage is not SessionStage.ONLINE or self.leaving:
            return 0
        if self.one_match is not None and self.one_match.has_begun:
            return 0
        kept = len(self.places)
        return max(0, min(self.max_tables - (kept - self._over), 2 * self.max_tables - kept))

    def plays(self, game: str, ladder: str) -> bool:
        """Return whether it wants to be paired on this ladder of this game."""
        return self.introduction.plays(game, ladder)

    def sit(self, seat: SeatAt) -> None:
        """Assign a number to the table of a match that will begin, and store it; the bot is not notified yet."""
        self._last_table += 1
        seat.number = self._last_table
        self.places[seat.number] = SessionTable(seat)

    def begin(self, seat: SeatAt) -> None:
        """Notify the bot, in its next envelope, that the match of this seat begins."""
        if self.one_match is not None:
            self.one_match.begin()
        if (place := self.places.get(seat.number)) is not None:
            place.happened(TableEvent.BEGIN)
        self.ready(seat)

    def rise(self, seat: SeatAt) -> None:
        """Remove the table of a match that never began."""
        self.places.pop(seat.number, None)

    def ready(self, seat: SeatAt) -> None:
        """Note that this table has something to send: an open decision, or the end of a stored match."""
        number = seat.number
        if self.one_match is not None and seat.ended() is not None:
            self.one_match.end()
        place, link = self.places.get(number), self.link
        if place is not None and link is not None:
            self.ready_places[number] = place
            link.ready()

    def opened(self, seat: SeatAt, body: bytes) -> None:
        """Send the opening of a board, unless the unsent end of its match will contain it.

        A bot without a stream gets nothing; it can request the opening by match ID.
        """
        place = self.places.get(seat.number)
        if self.link is not None and (place is None or place.stage is TableStage.ENDED):
            self.link.open_board(body)

    def tell(self, reason: str, text: str, table: int = 0) -> None:
        """Notify the bot of an error that does not end the session.  `reason` is an ErrorReason without its prefix."""
        if self.link is not None:
            self.link.tell(reason, text, table)

    # -- for the stream
    def connect(self, link: Link) -> None:
        """Attach a stream, and send all tables on it as if for the first time."""
        self._happened(SessionEvent.CONNECT)
        self.link = link
        for place in self.places.values():
            place.happened(TableEvent.RECONNECT)
            place.seat.connected()
        begun = {table: place for table, place in self.places.items() if place.stage is not TableStage.SEATED}
        self.ready_places = begun
        self._over = 0
        self._matches.enter(self)

    def disconnect(self, link: Link, now: float) -> None:
        """Detach a stream; if it was the current one, the matches go on without the bot."""
        if self.link is not link:
            return
        self._happened(SessionEvent.DISCONNECT)
        self.link = None
        self.lost_at = now
        self.ready_places.clear()
        for place in self.places.values():
            place.seat.disconnected()
        self._matches.leave(self)

    def met(self) -> None:
        """Note that the bot acknowledged its Welcome."""
        self._happened(SessionEvent.ACKNOWLEDGE)
        self._matches.changed(self)

    def seat_at(self, table: int) -> SeatAt | None:
        """Return the seat at this table, if its end is not acknowledged yet; otherwise None."""
        place = self.places.get(table)
        return place.seat if place is not None and place.stage is not TableStage.SEATED else None

    def knew_table(self, table: int) -> bool:
        """Return whether there ever was such a table."""
        return 0 < table <= self._last_table

    def end_told(self, place: SessionTable) -> None:
        """Free a table whose MatchEnded is being sent."""
        place.happened(TableEvent.SEND_END)
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
        """Set the maximum number of simultaneous matches; `leaving` means no further match ever."""
        if (count, leaving) != (self.max_tables, self.leaving):
            self.max_tables, self.leaving = count, leaving
            self._matches.changed(self)

    def tables_freed(self) -> None:
        """Note that ends were sent, so there may be room for new matches."""
        self._matches.changed(self)

    def check_queues(self, most_tables: int) -> None:
        """Check that not too much is stored for this bot.

        `most_tables` is the highest maximum that any bot is granted.

        Raises:
            QueueOverflow: If too much is stored.
        """
        check_queue_limit(len(self.places), 2 * most_tables)
        check_queue_limit(len(self.ready_places), len(self.places))
        check_queue_limit(self._over, len(self.places))
        if self.link is not None:
            self.link.check_queues()

    def forget(self) -> None:
        """Drop all tables, since the session cannot be resumed. Its matches go on to their ends."""
        self._happened(SessionEvent.FORGET)
        self.places.clear()
        self.ready_places.clear()
        self._over = 0
