"""The watch: an independent check of everything the server does.

The watch sees the bytes of every call, all matches, and the contents of the disk, and does not trust the server's own
records. Its time is `effective`, which excludes the server's stalls. `books.py` has its records. `deciding.py` checks
how decisions are asked and closed. `reading.py` records what the server has read, and `telling.py` and `ends.py` check
what it writes. `kept.py` checks the disk at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.rpc import code_pb2

from cutpurse.server.errors import CallStatus
from cutpurse.server.matches.server_match import ServerMatch
from cutpurse.v1 import arena_pb2
from tests.simulation.books import Books, MatchBook, SeatBook
from tests.simulation.deciding import Deciding
from tests.simulation.kept import conclude
from tests.simulation.league import Rules
from tests.simulation.network import Call
from tests.simulation.reading import Reading
from tests.simulation.telling import Telling

if TYPE_CHECKING:
    from tests.simulation.world import World

__all__ = ["Watch"]


class Watch:
    """The watch; it reports errors to the world."""

    def __init__(self, world: World) -> None:
        self.rules = Rules(world)
        self._world = world
        self._books = Books()
        self._deciding = Deciding(world, self._books)
        reading = Reading(world, self._books)
        telling = Telling(world, self._books, self.rules, reading)
        self.moved = self._deciding.moved
        self.read = reading.read
        self.written = telling.written

    @property
    def matches(self) -> dict[str, MatchBook]:
        """All dealt matches, by ID."""
        return self._books.matches

    @property
    def decisions(self) -> int:
        """Number of decisions asked."""
        return self._deciding.count

    def restart(self) -> None:
        """Drop what the server had in memory, after it has died."""
        self._books.restart()

    def session_of_another(self, name: str) -> str:
        """Return the ID of a session of another bot."""
        return self._books.session_of_another(name)

    def conclude(self) -> None:
        """Check at the end that everything reported is stored."""
        conclude(self._world, self._books, self.rules)

    def _wrong(self, what: str) -> None:
        self._world.fails(what)

    def made(self, table: ServerMatch) -> None:
        """Check a newly dealt match."""
        identities = [player.player.identity for player in table.seats]
        names = [identity.bot for identity in identities]
        self.rules.check(table, identities)
        if len(set(names)) < len(names):
            self._wrong(f"match {table.name}: a bot sits at one table twice: {names}")
        if table.name in self._books.matches:
            self._wrong(f"match {table.name} was dealt twice")
        if self._world.is_draining:
            self._wrong(f"match {table.name} is dealt though the server drains")
        for taken in table.seats:
            name = taken.player.identity.bot
            if not self._world.has_stream(name):
                self._wrong(f"match {table.name} begins with {name}, which has no stream")
            bot = self._world.honest.get(name)
            session = self._books.sessions.get(getattr(taken.player, "id", ""))
            if bot is not None and session is not None and len(session.sits) >= bot.tables:
                self._wrong(f"{bot.name} sits at more than {bot.tables} tables: {sorted(session.sits)}")
        bank = table.ladder.control.bank_ms / 1e3
        seats = [
            SeatBook(taken.player.identity.bot, getattr(taken.player, "id", ""), (bank, bank)) for taken in table.seats
        ]
        self._books.matches[table.name] = MatchBook(table, seats, self._world.lives)
        if not self.rules.has_chosen(table.name):
            self._books.sealed[table.name] = table.deal.seed
        self._world.say(f"match {table.name[:8]} of {names} is dealt")

    def begun(self, table: ServerMatch) -> None:
        """Check a match that begins."""
        self._books.matches[table.name].is_begun = True
        if self._world.is_draining:
            self._wrong(f"match {table.name} begins though the server drains")
        if table.name not in self._world.disk.announced():
            self._wrong(f"match {table.name} begins and is not on the disk")
        self._world.say(f"match {table.name[:8]} begins")

    def ended(self, call: Call, how: CallStatus) -> None:
        """Check the status with which the server ends a call."""
        if call.number in self._books.streams:
            self._books.streams[call.number].is_ended = True
        known = f"ERROR_REASON_{how.reason}" in arena_pb2.ErrorReason.keys()  # noqa: SIM118 # no mapping
        if how.reason == "" and how.code == code_pb2.UNAVAILABLE:
            return  # another stream of the same session has replaced this one
        if not known or how.reason == "INCIDENT":
            self._wrong(f"{call} ends with {how}")
        if how.reason == "BAD_MESSAGE" and call.caller.name in self._world.honest:
            self._wrong(f"{call} of a bot that keeps all rules ends with {how}")
