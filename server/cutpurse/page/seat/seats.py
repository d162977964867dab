"""The people who play on this page: their secret keys, their slots, and the limits.

A seat belongs to the browser that has its key, which is in a cookie only. Only a hash of the key is stored. A table
with friends has a link besides, by which the other seats are taken before its match begins (`friends.py`). This module
knows no HTTP and no game.
"""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import count
from typing import Final

from cutpurse.engine.errors import UsageError
from cutpurse.games import game_named
from cutpurse.leaderboard.results import PERSON
from cutpurse.leaderboard.tokens import HOUSE, PEOPLE
from cutpurse.page.language.game_words import word
from cutpurse.page.language.speaking import gettext, gettext_noop
from cutpurse.page.seat.arena_session import Dials, OwnerDials, PersonSession
from cutpurse.page.seat.friends import FriendsTable, JoinRefused
from cutpurse.page.seat.own_name import distinct_names
from cutpurse.page.seat.person import Person, person_times
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.answer_times import AnswerTimes
from cutpurse.wire.errors import ServerRefused
from cutpurse.wire.person_names import people_bot, people_ladder, person_bot, seat_counts

__all__ = ["PageSeats"]

KEEP_S: Final = 1_800.0  # for which a seat of a finished match is remembered
OPEN_S: Final = 900.0  # in which a match with friends must begin
KEY_BYTES: Final = 32
NOT_BEGUN: Final = gettext_noop("nobody began the match in time")
NO_TABLE: Final = gettext_noop("No table has this link, or its match is long over; ask for a new link.")


@dataclass(slots=True)
class _SeatEntry:
    """A seat that a person took."""

    person: Person
    visitor: str
    slot: int
    friends: FriendsTable | None = None
    task: asyncio.Task[None] | None = None  # none while they wait for friends
    over_at: float | None = None
    owner: str = ""  # who plays in person on a rated ladder; empty if the match is not rated

    def end(self, task: object) -> None:
        """Note that the match is over."""
        self.over_at = asyncio.get_running_loop().time()


class PageSeats:
    """The seats of a page. Use it on one event loop only."""

    def __init__(self, dials: Dials, most: int, house: Sequence[str], share: int = 0) -> None:
        """Let people sit down.

        Args:
            dials: The server, with the token for people.
            most: Maximum number of people who play at once.
            house: House bots that play with them.
            share: Maximum number of seats of one visitor, so that nobody keeps all others out; 0 means half of them.
        """
        self.share: Final = share or (most + 1) // 2
        self.house: Final = tuple(house)
        self.most: Final = most
        self._dials = dials
        self._seats: dict[bytes, _SeatEntry] = {}  # by hash of the key
        self._tables: dict[bytes, FriendsTable] = {}  # by hash of the secret of the link
        self._times: dict[str, AnswerTimes] = {}  # by owner who plays in person
        self._is_closed = False

    def seat_counts(self, game: str) -> list[int]:
        """List the possible numbers of players of a game."""
        return seat_counts(game, self.house)

    def sit_down(self, game: str, opponents: Sequence[str], visitor: str) -> str:
        """Seat a person at a new table with these bots, and return the key of the seat.

        House bots have a plain name, bots of the league their owner's before it: "ann/sneak".

        Raises:
            UsageError: If the game is unknown, or is not played with these opponents.
            ServerRefused: If there is no free seat, or the page is stopping.
        """
        self._check(game, opponents)
        key, entry = self._seated(game, len(opponents) + 1, visitor)
        self._begin([entry], opponents)
        return key

    def sit_down_rated(self, ladder: str, game: str, owner: str, token: str, visitor: str) -> str:
        """Put an owner in line for a rated match on a ladder, and return the key of the seat.

        An owner who plays already, in another browser, goes on in this one; the other one's key is worth nothing then.

        Raises:
            ServerRefused: If there is no free seat, the page is stopping, or a match that the owner left goes on.
        """
        if (key := self._move(owner)) is not None:
            return key
        slot = self._free_slot(visitor)
        session = partial(PersonSession, OwnerDials(self._dials, token), PERSON, game, ladder)
        times = self._times.setdefault(owner, person_times())
        person = Person(game, session, asyncio.get_running_loop(), rated_on=ladder, times=times)
        key = secrets.token_urlsafe(KEY_BYTES)
        entry = self._seats[_hash(key)] = _SeatEntry(person, visitor, slot, owner=owner)
        entry.task = asyncio.get_running_loop().create_task(person.play(()))
        entry.task.add_done_callback(entry.end)
        return key

    def _move(self, owner: str) -> str | None:
        """Give the rated seat of an owner a new key, and return it; None if the owner has no seat.

        Raises:
            ServerRefused: If the owner has left the seat, and its match goes on.
        """
        for name, entry in self._seats.items():
            if entry.owner != owner or entry.task is None or entry.task.done():
                continue
            if entry.person.has_left:
                raise ServerRefused(
                    gettext("the match that you left goes on; you can play the next one when it is over")
                )
            if entry.person.is_over:
                continue
            key = secrets.token_urlsafe(KEY_BYTES)
            self._seats[_hash(key)] = self._seats.pop(name)
            entry.person.close()
            return key
        return None

    def play_on(self, game: str, count: int, position: ladder_pb2.StartPosition, visitor: str) -> str:
        """Seat a person in a finished match, with house bots in its other seats, and return the key of the seat.

        Raises:
            UsageError: If there are too few house bots for this number of seats.
            ServerRefused: If there is no free seat, or the page is stopping.
        """
        house = self.house[: count - 1]
        self._check(game, house, count)
        key, entry = self._seated(game, count, visitor)
        self._begin([entry], house, position)
        return key

    def _check(self, game: str, opponents: Sequence[str], seats: int = 0) -> None:
        """Check that a game is played with these house bots, and with this number of seats, if it is given.

        Raises:
            UsageError: If not.
        """
        title = word(game_named(game).words.title, game)
        for bot in opponents:
            if bot not in self.house and "/" not in bot:  # the caller has checked bots of the league
                house = ", ".join(self.house)
                text = gettext(
                    "no house bot here is called %(bot)s; there are: %(house)s", bot=f"{bot!r:.40}", house=house
                )
                raise UsageError(text)
        counts = self.seat_counts(game)
        if len(set(opponents)) < len(opponents) or len(opponents) + 1 not in counts or seats > len(opponents) + 1:
            between = gettext("or")
            numbers = f" {between} ".join(str(count - 1) for count in counts)
            text = gettext(
                "%(game)s is played here with %(numbers)s opponents, each of them once",
                game=title,
                numbers=numbers,
            )
            raise UsageError(text)

    def _seated(self, game: str, seats: int, visitor: str, name: str = "") -> tuple[str, _SeatEntry]:
        """Seat a person at a table of this size, and return the key of the seat."""
        slot = self._free_slot(visitor)
        session = partial(PersonSession, self._dials, person_bot(slot), game, people_ladder(game, seats))
        person = Person(game, session, asyncio.get_running_loop(), name=name)
        key = secrets.token_urlsafe(KEY_BYTES)
        entry = self._seats[_hash(key)] = _SeatEntry(person, visitor, slot)
        return key, entry

    def _begin(
        self,
        entries: Sequence[_SeatEntry],
        house: Sequence[str],
        position: ladder_pb2.StartPosition | None = None,
    ) -> None:
        """Begin the match of these people and house bots; the first person's session requests it.

        With a position, the only person plays on in its seat.
        """
        loop = asyncio.get_running_loop()
        bots = [bot if "/" in bot else f"{HOUSE}/{people_bot(bot)}" for bot in house]
        bots += [f"{PEOPLE}/{person_bot(entry.slot)}" for entry in entries]
        random.SystemRandom().shuffle(bots)
        if position is not None:
            person = f"{PEOPLE}/{person_bot(entries[0].slot)}"
            bots.remove(person)
            bots.insert(position.seat, person)
        names = _names_at_table(entries, house)
        for entry in reversed(entries):  # who is asked for sits down before the request
            entry.person.meets_people = len(entries) > 1
            entry.person.people_names = names
            entry.task = loop.create_task(entry.person.play(bots if entry is entries[0] else (), position=position))
            entry.task.add_done_callback(entry.end)
        first = entries[0]
        assert first.task is not None
        first.task.add_done_callback(lambda _: self._call_off(entries[1:], first.person.problem))

    def _call_off(self, entries: Sequence[_SeatEntry], why: str) -> None:
        """Release people whose match was requested and has not begun."""
        for entry in entries:
            if entry.person.has_begun or entry.task is None:
                continue
            entry.person.call_off(why or gettext("the match did not begin"))
            entry.task.cancel()

    # -- with friends
    def open_table(self, game: str, house: Sequence[str], visitor: str, origin: str, name: str = "") -> str:
        """Open a table at which friends may take the seats of these house bots; return the key of the first seat.

        Raises:
            UsageError: If the game is unknown, or is not played at tables of this size.
            ServerRefused: If there is no free seat, or the page is stopping.
        """
        self._check(game, house)
        house = sorted(house, key=lambda bot: "/" not in bot)  # friends take the seats of house bots first
        table = FriendsTable(game, word(game_named(game).words.title, game), house, origin)
        key, entry = self._seated(game, table.seats, visitor, name)
        entry.friends = table
        self._tables[_hash(table.secret)] = table
        table.add(entry.person)
        asyncio.get_running_loop().call_later(OPEN_S, self._close_table, table, NOT_BEGUN)
        asyncio.get_running_loop().call_later(OPEN_S + KEEP_S, self._tables.pop, _hash(table.secret), None)
        return key

    def table(self, secret: str) -> FriendsTable:
        """Return the table of a link.

        Raises:
            JoinRefused: If there is none.
        """
        table = self._tables.get(_hash(secret))
        if table is None:
            raise JoinRefused(gettext(NO_TABLE))
        return table

    def join(self, table: FriendsTable, visitor: str, name: str = "") -> str:
        """Seat a friend, and return the key of the seat.

        Raises:
            JoinRefused: If the table has no free seat, or its match has begun.
            ServerRefused: If the page has no free seat, or is stopping.
        """
        table.check()
        key, entry = self._seated(table.game, table.seats, visitor, name)
        entry.friends = table
        table.add(entry.person)
        return key

    def begin(self, key: str) -> None:
        """Begin the match of a table with friends; house bots take the free seats.

        Raises:
            JoinRefused: If this is not the seat of the person who opened a table.
        """
        entry = self._seats.get(_hash(key))
        if entry is None or (table := entry.friends) is None:
            raise JoinRefused(gettext("There is no table with friends to begin."))
        table.begin(entry.person)
        entries = [one for one in self._seats.values() if one.friends is table]
        self._begin(sorted(entries, key=lambda one: table.people.index(one.person)), table.house)

    def _close_table(self, table: FriendsTable, why: str) -> None:
        table.close(why)
        for entry in self._seats.values():
            if entry.friends is table and entry.task is None:
                entry.over_at = asyncio.get_running_loop().time()

    # -- all seats
    def _free_slot(self, visitor: str) -> int:
        now = asyncio.get_running_loop().time()
        for name, taken in list(self._seats.items()):
            if taken.over_at is not None and now > taken.over_at + KEEP_S:
                del self._seats[name]
        connected = [taken for taken in self._seats.values() if taken.over_at is None]
        # A left match goes on, and costs no seat; but nobody begins and leaves any number of matches.
        playing = [taken for taken in connected if not (taken.person.is_over or taken.person.has_left)]
        if self._is_closed:
            raise ServerRefused(gettext("the page is stopping"))
        if len(playing) >= self.most or len(connected) >= 2 * self.most:
            text = gettext(
                "%(most)s people play already, which is all that this page seats; try again later", most=self.most
            )
            raise ServerRefused(text)
        own, going_on = (sum(taken.visitor == visitor for taken in several) for several in (playing, connected))
        if own >= self.share or going_on >= 2 * self.share:
            text = gettext(
                "%(most)s people of your network play already; finish or leave a match first", most=self.share
            )
            raise ServerRefused(text)
        used = {taken.slot for taken in connected}  # the sessions of finished matches end a little later
        return next(slot for slot in count() if slot not in used)

    def person(self, key: str) -> Person | None:
        """Return the person who has this key; None if no seat has it."""
        taken = self._seats.get(_hash(key))
        return None if taken is None else taken.person

    def leave(self, key: str) -> None:
        """Give up a seat: its key is worth nothing from now on, and the match goes on with safe options."""
        taken = self._seats.pop(_hash(key), None)
        if taken is None:
            return
        if taken.friends is not None and taken.task is None:
            taken.friends.leave(taken.person)
            if taken.friends.problem:
                self._close_table(taken.friends, taken.friends.problem)
        taken.person.leave()
        taken.person.close()
        if taken.task is not None and not taken.task.done():  # it keeps its slot until the match is over
            self._seats[secrets.token_bytes(KEY_BYTES)] = taken

    def close(self) -> None:
        """End all matches here and all listeners. Call it once, when the page stops."""
        self._is_closed = True
        for taken in self._seats.values():
            if taken.task is not None:
                taken.task.cancel()
            taken.person.close()
        self._seats.clear()
        self._tables.clear()


def _names_at_table(entries: Sequence[_SeatEntry], house: Sequence[str]) -> dict[str, str]:
    """Return the names of the people at a table, by the bot that each plays as; those without a name are left out."""
    names = distinct_names([entry.person.name for entry in entries], [*house, gettext("you")])
    return {person_bot(entry.slot): name for entry, name in zip(entries, names, strict=True) if name}


def _hash(key: str) -> bytes:
    return sha256(key.encode("utf-8", "replace")).digest()
