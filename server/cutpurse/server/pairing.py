"""Who plays whom next, on which ladder, and who sits where.

The rules, in this order:

* An owner has one bot at a table, in one of its versions. Where bots come without tokens, so that nobody in particular
  owns them, a bot sits at a table once.
* On a ladder those who have played least of it are next. Of the ladders that can be played it is the turn of the one in
  which its next players are furthest behind, for each is to play all its ladders equally often; then of the one with
  the fewest matches. Chance decides between equals.
* Everybody takes each seat equally often, as nearly as it can be done.
* Nobody is starved. Who comes later, or stayed away, does not make up for it at the cost of the others: he is taken to
  have played nearly as often as whoever is there and has played least. Where others take the bots of a ladder one by
  one, so that it never finds enough of them free, they are kept free for it after a while.
* Those who rise from a table do not sit down with each other again at once where there are others to play with: the
  ladder waits, for a tenth of what a match lasts, until one more is free. Else few tables would become closed rounds,
  and ratings of closed rounds cannot be compared.

Everything is counted from when this was made. This module knows no clock, no stream and no table; chance is handed in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from cutpurse.engine.chance import Chance
from cutpurse.leaderboard.tokens import NOBODY
from cutpurse.server.ladders import Ladder
from cutpurse.server.results import Identity

__all__ = ["Pairing", "Plays", "Seating"]

LAG: Final = 8  # matches: nobody is taken to be further behind the others than this
PATIENCE: Final = 2  # matches that a bot is behind on a ladder, until it is kept free for it
MIXING: Final = 0.1  # of what a match lasts: how long it is waited for somebody else to play with
MIXING_MOST_S: Final = 1.0
MOST_GONE: Final = 1_024  # bots that left, on each ladder: so many are known again when they come back


class Plays(Protocol):
    """A bot that is there, as far as pairing looks at it."""

    @property
    def identity(self) -> Identity:
        """Who it is."""

    @property
    def free_tables(self) -> int:
        """At how many more tables it would sit down now."""

    def plays(self, game: str, ladder: str) -> bool:
        """Whether it wants to be paired on this ladder of this game; the same answer as long as it is there."""


class Seating(NamedTuple):
    """A match to be played: who sits on which seat."""

    ladder: Ladder
    players: tuple[Plays, ...]


@dataclass(slots=True, eq=False)
class _Entry:
    """One bot on one ladder."""

    player: Plays
    side: tuple[str, ...]  # whoever has the same does not sit at the same table
    matches: int
    seats: list[int]  # matches on each seat
    behind: int = 0  # what it would have to play here to have played all ladders equally often, in shares of a match


@dataclass(slots=True, eq=False)
class _Books:
    """One ladder."""

    ladder: Ladder
    entries: dict[Plays, _Entry] = field(default_factory=dict)
    gone: dict[Identity, _Entry] = field(default_factory=dict)  # who left, the last ones
    matches: int = 0  # started
    played: int = 0  # towards matches_wanted: open or ended well
    waits_since: float | None = None  # for one more bot to be free
    lasted_s: float = 0.0  # the last match
    not_before: float = 0.0

    @property
    def is_complete(self) -> bool:
        wanted = self.ladder.matches_wanted
        return wanted is not None and self.played >= wanted


class Pairing:
    """The books of all ladders; see the module's docstring."""

    def __init__(self, ladders: Iterable[Ladder], chance: Chance) -> None:
        """Raises ValueError if two ladders have the same name."""
        listed = tuple(ladders)
        self._books = {ladder.name: _Books(ladder) for ladder in listed}
        if len(self._books) != len(listed):
            raise ValueError(f"two ladders have the same name: {', '.join(ladder.name for ladder in listed)}")
        self._chance = chance
        self._there: set[Plays] = set()
        self._seated: dict[Plays, int] = {}  # at how many tables; also those who left, while they have any
        self._free: dict[Plays, None] = {}  # whoever is there and has a free table

    # -- who is there
    def enter(self, player: Plays) -> None:
        """A bot has come, or come back; its open matches, if any, count on."""
        if player in self._there:
            self.changed(player)
            return
        self._there.add(player)
        self._seated.setdefault(player, 0)
        for books in self._books.values():
            ladder = books.ladder
            if player.plays(ladder.game, ladder.name):
                identity = player.identity
                entry = books.gone.pop(identity, None) or _Entry(player, _side(identity), 0, [0] * ladder.seats)
                entry.player = player
                entry.matches = max(entry.matches, min((one.matches for one in books.entries.values()), default=0))
                books.entries[player] = entry
        self.changed(player)

    def leave(self, player: Plays) -> None:
        """A bot is gone; its open matches go on."""
        self._there.discard(player)
        self._free.pop(player, None)
        if not self._seated.get(player):
            self._seated.pop(player, None)
        for books in self._books.values():
            if (entry := books.entries.pop(player, None)) is not None:
                books.gone[player.identity] = entry
                if len(books.gone) > MOST_GONE:
                    del books.gone[next(iter(books.gone))]

    def changed(self, player: Plays) -> None:
        """The number of a bot's free tables has changed."""
        if player not in self._there:
            return
        if player.free_tables <= 0:
            self._free.pop(player, None)
        elif player not in self._free:
            self._free[player] = None
            for books in self._books.values():
                if (entry := books.entries.get(player)) is not None:
                    others = [other.matches for other in self._free_entries(books) if other is not entry]
                    entry.matches = max(entry.matches, min(others, default=0) - LAG)

    def ended(self, seating: Seating, lasted_s: float, is_void: bool) -> None:
        """A match is over; void ones do not count towards the matches wanted."""
        books = self._books[seating.ladder.name]
        books.lasted_s = lasted_s
        if is_void:
            books.played -= 1
        for player in seating.players:
            self._seated[player] -= 1
            if not self._seated[player] and player not in self._there:
                del self._seated[player]

    def postpone(self, ladder: Ladder, until: float) -> None:
        """Start no match of a ladder before this moment, as when its game cannot even be set up."""
        books = self._books[ladder.name]
        books.not_before = until
        books.waits_since = None

    @property
    def is_complete(self) -> bool:
        """Whether every ladder has had all the matches that are wanted."""
        return all(books.is_complete for books in self._books.values())

    # -- who is next
    def next(self, now: float) -> Seating | None:
        """The next match, counted as started; None if nobody can be seated now."""
        overdue: list[tuple[int, _Books]] = []
        others: list[_Books] = []
        for books in self._books.values():
            if books.is_complete or now < books.not_before:
                continue
            books.not_before = 0.0
            furthest = max((entry.behind for entry in self._free_entries(books)), default=0)
            if furthest > PATIENCE * len(self._books):
                overdue.append((furthest, books))
            else:
                others.append(books)
        kept: set[Plays] = set()
        for _, books in sorted(overdue, key=lambda one: -one[0]):
            free = [entry for entry in self._free_entries(books) if entry.player not in kept]
            if (chosen := self._fewest(books, free)) is not None:
                return self._start(books, chosen)
            books.waits_since = None
            if self._could_play(books, books.ladder.seats):
                kept.update(entry.player for entry in free)
        return self._next_in_turn(others, kept, now)

    def _next_in_turn(self, ladders: Iterable[_Books], kept: set[Plays], now: float) -> Seating | None:
        best: tuple[float, int, _Books, list[_Entry]] | None = None
        for books in ladders:
            free = [entry for entry in self._free_entries(books) if entry.player not in kept]
            chosen = self._fewest(books, free)
            if chosen is None:
                books.waits_since = None
            elif self._is_mixed(books, free, now):
                behind = sum(entry.behind for entry in chosen) / len(chosen)
                if best is None or (-behind, books.matches) < best[:2]:
                    best = -behind, books.matches, books, chosen
        return self._start(best[2], best[3]) if best is not None else None

    def next_event_at(self) -> float | None:
        """When `next` may find a match though nothing else has happened."""
        moments = [
            books.waits_since + _patience_s(books) for books in self._books.values() if books.waits_since is not None
        ]
        moments += [books.not_before for books in self._books.values() if books.not_before]
        return min(moments, default=None)

    def _fewest(self, books: _Books, free: list[_Entry]) -> list[_Entry] | None:
        """The bots of the next match on this ladder, or None if too few different ones are free."""
        if len(free) < books.ladder.seats:
            return None
        order = list(range(len(free)))
        self._chance.shuffle(order)  # equals are in any order
        chosen: dict[tuple[str, ...], _Entry] = {}
        for entry in sorted((free[at] for at in order), key=lambda entry: entry.matches):
            chosen.setdefault(entry.side, entry)
            if len(chosen) == books.ladder.seats:
                return list(chosen.values())
        return None

    def _free_entries(self, books: _Books) -> list[_Entry]:
        entries = books.entries
        return [entries[player] for player in self._free if player in entries]

    def _could_play(self, books: _Books, wanted: int) -> bool:
        """Whether so many different bots could play on this ladder if all rose from the tables where they sit."""
        names = set()
        for player, entry in books.entries.items():
            if player in self._free or self._seated[player]:
                names.add(entry.side)
                if len(names) == wanted:
                    return True
        return False

    def _is_mixed(self, books: _Books, free: list[_Entry], now: float) -> bool:
        """Whether one more bot is free than is needed, or there is none, or it was waited for long enough."""
        more = books.ladder.seats + 1
        if len({entry.side for entry in free}) >= more or not self._could_play(books, more):
            return True
        if books.waits_since is None:
            books.waits_since = now
        return now >= books.waits_since + _patience_s(books)

    def _start(self, books: _Books, chosen: list[_Entry]) -> Seating:
        self._chance.shuffle(order := list(range(len(chosen))))
        seated = _seats([chosen[at] for at in order])
        could_be = [other for other in self._books.values() if self._could_play(other, other.ladder.seats)]
        most = LAG * len(self._books)
        for seat, entry in enumerate(seated):
            ladders = [other.entries[entry.player] for other in could_be if entry.player in other.entries]
            for other in ladders:
                other.behind = min(other.behind + 1, most)
            entry.behind = max(entry.behind - len(ladders), -most)
            entry.matches += 1
            entry.seats[seat] += 1
            self._seated[entry.player] += 1
        books.waits_since = None
        books.matches += 1
        books.played += 1
        return Seating(books.ladder, tuple(entry.player for entry in seated))


def _side(identity: Identity) -> tuple[str, ...]:
    return identity[:2] if identity.owner == NOBODY else identity[:1]


def _patience_s(books: _Books) -> float:
    return min(MIXING * books.lasted_s, MIXING_MOST_S)


def _seats(entries: Sequence[_Entry]) -> list[_Entry]:
    """The order in which the seats that these bots had least often are used most: the best of all orders.

    By sets: of the orders in which some of them fill the first seats only the best can be the beginning of the best of
    all. Eight seats have 256 sets and 40,320 orders.
    """
    # Squares: two small gaps are better than a great one.
    cost_of_seat = [[(count - min(entry.seats)) ** 2 for count in entry.seats] for entry in entries]
    best: dict[int, tuple[int, tuple[int, ...]]] = {0: (0, ())}
    for seat in range(len(entries)):
        longer: dict[int, tuple[int, tuple[int, ...]]] = {}
        for taken, (cost, order) in best.items():
            for at, costs in enumerate(cost_of_seat):
                if not taken >> at & 1:
                    total = cost + costs[seat]
                    kept = longer.get(taken | 1 << at)
                    if kept is None or total < kept[0]:
                        longer[taken | 1 << at] = total, (*order, at)
        best = longer
    ((_, order),) = best.values()
    return [entries[at] for at in order]
