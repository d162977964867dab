"""Who plays whom next, on which ladder, and who sits where.

The rules, in this order:

* An owner has one bot at a table, in one of its versions. Where bots come without tokens, so that nobody in particular
  owns them, a bot sits at a table once.
* On a ladder the bot that has played least of it is next, with company that is mostly near in pairing skill and now and
  then far, of those who have not played much more (`opponents.py`). Of the ladders that can be played it is the turn of
  the one in which its next players are furthest behind, for each is to play all its ladders equally often; then of
  the one with the fewest matches. Chance decides between equals.
* Everybody takes each seat, and sits left of each other, equally often, as nearly as it can be done (`seating.py` of
  the engine).
* Nobody is starved. Who comes later, or stayed away, does not make up for it at the cost of the others: he is taken to
  have played nearly as often as whoever is there and has played least. Where others take the bots of a ladder one by
  one, so that it never finds enough of them free, they are kept free for it after a while.
* Those who rise from a table do not sit down with each other again at once where there are others to play with: the
  ladder waits, for a tenth of what a match lasts, until more are free. Else few tables would become closed rounds,
  and pairing skills of closed rounds cannot be compared.
* On a ladder of duplicate boards the same cards are dealt at two tables or more at once, to bots of which no two are of
  one owner. It waits until so many are free; with too few on the ladder for two tables, plain boards are played. On one
  of rotations the same bots play in every seat in turn, and only those that keep no memory play there at all.
* House bots take the seats for which too few others are free, after as short a wait; and one of them sits at every
  sixteenth match of a ladder that has any, since they hold the scale together. They never play among themselves alone.

Counted is from when this was made, on top of what the store has told of those who came. This module knows no clock, no
stream and no table; chance is handed in.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from cutpurse.engine.chance import Chance
from cutpurse.engine.seating import most_even, most_even_square, seating_chance
from cutpurse.leaderboard.ratings import Skill
from cutpurse.server.finished_match import HOUSE, Identity
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.ladder_terms import OtherEntrants
from cutpurse.server.matches.opponents import MOST_WORDS, choose_opponents, pairing_reason, pick_least_played
from cutpurse.server.matches.roster import LAG, LadderRoster, PairableBot, PairingCandidate

__all__ = ["Pairing", "PairableBot", "Seating"]

PATIENCE: Final = 2  # matches that a bot is behind on a ladder, until it is kept free for it
MIXING: Final = 0.1  # of what a match lasts: how long it is waited for somebody else to play with
MIXING_MOST_S: Final = 1.0
SHORT_LEAST_S: Final = 0.25  # that house bots leave a seat to others, however short the matches
ANCHOR: Final = 16  # of so many matches in a row of a ladder with house bots, one has one of them
TOO_FEW: Final = "; a board of one match, for too few owners are here for two"
LEAST_TABLES: Final = 2  # of a duplicate board
MOST_TABLES: Final = 4
POOL: Final = 16  # one of so many seats that are taken may be waited for, to choose from more bots


class Seating(NamedTuple):
    """A board to be played: who sits on which seat of each of its matches, and why these."""

    ladder: Ladder
    tables: tuple[tuple[PairableBot, ...], ...]
    reason: str = ""

    @property
    def players(self) -> tuple[PairableBot, ...]:
        """Who sits where in its first match."""
        return self.tables[0]


class Pairing:
    """The books of all ladders; see the module's docstring."""

    def __init__(self, ladders: Iterable[Ladder], chance: Chance) -> None:
        """Set up the ladders.  Raises ValueError if two have the same name."""
        listed = tuple(ladders)
        self._books = {ladder.name: LadderRoster(ladder) for ladder in listed}
        if len(self._books) != len(listed):
            raise ValueError(f"two ladders have the same name: {', '.join(ladder.name for ladder in listed)}")
        self._chance = chance
        self._seating_chance = seating_chance(chance.key.hex(), 0)  # of its own: seats do not decide who meets
        self._there: dict[PairableBot, None] = {}
        self._seated: dict[PairableBot, int] = {}  # at how many tables; also those who left, while they have any
        self._free: dict[PairableBot, None] = {}  # whoever is there and has a free table
        self._kept: dict[PairableBot, None] = {}  # whose next free table is for somebody else

    # -- ladders
    @property
    def ladders(self) -> list[Ladder]:
        """All of them, as their terms are now."""
        return [books.ladder for books in self._books.values()]

    def ladder_named(self, name: str) -> Ladder | None:
        """Return the ladder of this name, if there is one."""
        books = self._books.get(name)
        return None if books is None else books.ladder

    def set_ladder(self, ladder: Ladder) -> None:
        """There is a new ladder, or one has new terms; those who are there may play on it from now on, or no more.

        Raises ValueError if there is one of this name which is another.
        """
        books = self._books.get(ladder.name)
        if books is None:
            books = self._books[ladder.name] = LadderRoster(ladder)
        elif not books.ladder.is_same(ladder):
            raise ValueError(f"ladder {ladder.name} is another one; only its terms may change")
        books.change(ladder, self._there)

    def remove_ladder(self, name: str) -> None:
        """Remove a ladder and its bots.  Raises ValueError if a match is being played there."""
        if self._books[name].open:
            raise ValueError(f"a match is being played on ladder {name}")
        del self._books[name]

    def others_on(self, name: str, identity: Identity) -> OtherEntrants:
        """List the other bots on a ladder, without house bots."""
        return self._books[name].others(identity)

    def ladders_of(self, player: PairableBot) -> tuple[str, ...]:
        """List the ladders that a bot is on."""
        return tuple(name for name, books in self._books.items() if player in books.entries or player in books.house)

    # -- who is there
    def enter(self, player: PairableBot) -> None:
        """Add a bot that has come, or come back; its open matches still count."""
        if player not in self._there:
            self._there[player] = None
            self._seated.setdefault(player, 0)
            for books in self._books.values():
                books.enter(player)
        self.changed(player)

    def leave(self, player: PairableBot) -> None:
        """Remove a bot; its open matches go on."""
        self._there.pop(player, None)
        self._free.pop(player, None)
        if not self._seated.get(player):
            self._seated.pop(player, None)
        for books in self._books.values():
            if books.leave(player) and books.ladder.terms.is_limited:  # somebody may have waited for that
                for other in self._there:
                    books.enter(other)

    def changed(self, player: PairableBot) -> bool:
        """Note a changed number of free tables.  Returns whether a match may have waited for that.

        That of a board or a request, too: whose next free table is kept for one, is kept here.
        """
        if player not in self._there:
            return False
        is_kept, was_free = player in self._kept, player in self._free
        free = player.free_tables
        if free - is_kept <= 0:
            self._free.pop(player, None)
        elif not was_free:
            self._free[player] = None
            for books in self._books.values():
                if (entry := books.entries.get(player)) is not None:
                    others = [other.matches for other in books.free(self._free) if other is not entry]
                    entry.matches = max(entry.matches, min(others, default=0) - LAG)
        if free <= 0 or (was_free and not is_kept):
            return False
        if not is_kept and all(len(self._free) < books.fewest for books in self._books.values()):
            for books in self._books.values():  # as `next` would do, only to find this out
                books.waits_since = books.short_since = None
            return False
        return True

    def keep(self, players: Iterable[PairableBot]) -> None:
        """One free table of each of these is for somebody else, until this is called again.

        Who is looked at first is nobody's choice but that of the order handed in: the same course, the same pairs.
        """
        had, self._kept = self._kept, dict.fromkeys(players)
        if had != self._kept:
            for player in {**had, **self._kept}:
                self.changed(player)

    def sat(self, players: Iterable[PairableBot]) -> None:
        """Note that these bots sat down at a table that belongs to no ladder."""
        for player in players:
            self._seated[player] = self._seated.get(player, 0) + 1

    def rose(self, players: Iterable[PairableBot]) -> None:
        """And risen."""
        for player in players:
            self._seated[player] -= 1
            if not self._seated[player] and player not in self._there:
                del self._seated[player]

    def ended(self, seating: Seating, lasted_s: float, is_void: bool) -> None:
        """Note that a board is over and all its bots rise at once; see `closed`."""
        self.closed(seating, lasted_s, is_void)
        for table in seating.tables:
            self.rose(table)

    def closed(self, seating: Seating, lasted_s: float, is_void: bool) -> None:
        """Note that a board is over whose bots have risen; void matches do not count towards those wanted."""
        books = self._books[seating.ladder.name]
        books.lasted_s = lasted_s
        books.open -= len(seating.tables)
        if is_void:
            books.played -= len(seating.tables)

    def postpone(self, ladder: Ladder, until: float) -> None:
        """Start no match of a ladder before this moment, as when its game cannot even be set up."""
        books = self._books[ladder.name]
        books.not_before = until
        books.waits_since = books.short_since = None

    @property
    def is_complete(self) -> bool:
        """Whether every ladder has had all the matches that are wanted."""
        return all(books.is_complete for books in self._books.values())

    # -- what the store tells
    def know(self, identity: Identity, standings: Mapping[str, tuple[Skill, int]]) -> None:
        """Set the pairing skill and the number of rated matches of a bot that has come, by ladder."""
        for name, (skill, matches) in standings.items():
            if name in self._books:
                self._books[name].know(identity, skill, matches)

    def rated(self, ladder: str, changes: Mapping[Identity, tuple[Skill, int]]) -> None:
        """Set the pairing skills of the bots that played a match."""
        for identity, (skill, _) in changes.items():
            self._books[ladder].rated(identity, skill)

    # -- who is next
    def next(self, now: float, shut: Container[str] = ()) -> Seating | None:
        """Return the next match, counted as started; None if there is none.  shut: ladders on which none begins."""
        overdue: list[tuple[int, LadderRoster]] = []
        others: list[LadderRoster] = []
        for books in self._books.values():
            if books.is_complete or now < books.not_before:
                continue
            if books.ladder.name in shut:
                books.waits_since = books.short_since = None
                continue
            books.not_before = 0.0
            furthest = max((entry.behind for entry in books.free(self._free)), default=0)
            if furthest > PATIENCE * len(self._books):
                overdue.append((furthest, books))
            else:
                others.append(books)
        kept: set[PairableBot] = set()
        for _, books in sorted(overdue, key=lambda one: -one[0]):
            free = books.free(self._free, kept)
            if (chosen := self._chosen(books, free)) is None:
                books.waits_since = None
                chosen = self._filled(books, free, now)
            if chosen is not None:
                return self._start(books, *chosen)
            if self._could_play(books, self._least(books)):
                kept.update(entry.player for entry in free)
        return self._next_in_turn(others, kept, now)

    def _next_in_turn(self, ladders: Iterable[LadderRoster], kept: set[PairableBot], now: float) -> Seating | None:
        best: tuple[float, int, LadderRoster, _MatchGroup] | None = None
        for books in ladders:
            free = books.free(self._free, kept)
            different = len({entry.side for entry in free})
            if different < self._wanted(books):
                books.waits_since = None
                chosen = self._filled(books, free, now)
            elif self._is_mixed(books, different, now):
                chosen = self._chosen(books, free)
            else:
                continue
            if chosen is not None:
                behind = sum(entry.behind for entry in chosen.entries) / len(chosen.entries)
                if best is None or (-behind, books.matches) < best[:2]:
                    best = -behind, books.matches, books, chosen
        return self._start(best[2], *best[3]) if best is not None else None

    def next_event_at(self) -> float | None:
        """When `next` may find a match though nothing else has happened."""
        moments: list[float] = []
        for books in self._books.values():
            if books.waits_since is not None:
                moments.append(books.waits_since + _patience_s(books))
            if books.short_since is not None:
                moments.append(books.short_since + _short_s(books))
            if books.not_before:
                moments.append(books.not_before)
        return min(moments, default=None)

    def _least(self, books: LadderRoster) -> int:
        """How many different bots a ladder needs for a board."""
        return books.ladder.seats * (LEAST_TABLES if self._is_duplicate(books) else 1)

    def _is_duplicate(self, books: LadderRoster) -> bool:
        """Whether the next board is one of several tables: there are enough bots for two, be they free or not."""
        return books.ladder.boards == "duplicate" and self._could_play(books, LEAST_TABLES * books.ladder.seats)

    def _wanted(self, books: LadderRoster) -> int:
        """How many different bots the next board of a ladder needs, but for a house bot whose turn it is."""
        if self._is_duplicate(books):
            return self._least(books)
        is_anchored = books.without_house >= ANCHOR - 1 and any(player in self._free for player in books.house)
        return books.ladder.seats - is_anchored

    def _chosen(self, books: LadderRoster, free: Sequence[PairingCandidate]) -> _MatchGroup | None:
        """Choose the bots of the next match on this ladder, or None if too few different ones are free."""
        wanted = self._wanted(books)
        seats = books.ladder.seats
        if self._is_duplicate(books):
            different = len({entry.side for entry in free})
            wanted = max(wanted, min(MOST_TABLES, different // seats) * seats)
        entries = choose_opponents(free, wanted, books.ladder.rating.beta, self._chance)
        if entries is None:
            return None
        house = [pick_least_played(self._free_house(books), self._chance)] if wanted < seats else []
        return _MatchGroup(entries, house, "holds the scale")

    def _filled(self, books: LadderRoster, free: Sequence[PairingCandidate], now: float) -> _MatchGroup | None:
        """Fill a match that has too few free bots with house bots; None before others were waited for."""
        house = self._free_house(books) if free and books.house else []
        different = len({entry.side for entry in free})
        missing = books.ladder.seats - different
        enough = 0 < missing <= len({entry.side for entry in house}) and not self._is_duplicate(books)
        if not free or not enough:
            books.short_since = None
            return None
        if books.short_since is None:
            books.short_since = now
        if now < books.short_since + _short_s(books):
            return None
        entries = choose_opponents(free, different, books.ladder.rating.beta, self._chance)
        assert entries is not None
        fillers: list[PairingCandidate] = []
        for _ in range(missing):
            sides = {entry.side for entry in fillers}
            fillers.append(pick_least_played([entry for entry in house if entry.side not in sides], self._chance))
        return _MatchGroup(entries, fillers, "filled a seat")

    def _free_house(self, books: LadderRoster) -> list[PairingCandidate]:
        return [entry for player, entry in books.house.items() if player in self._free]

    def _could_play(self, books: LadderRoster, wanted: int) -> bool:
        """Whether so many different bots could play on this ladder if all rose from the tables where they sit."""
        names = set()
        for player, entry in books.entries.items():
            if player in self._free or self._seated.get(player):
                names.add(entry.side)
                if len(names) == wanted:
                    return True
        return False

    def _is_mixed(self, books: LadderRoster, different: int, now: float) -> bool:
        """Whether more bots are free than are needed, or there are none, or they were waited for long enough.

        One more at least; and where many play, as many as a sixteenth of those who sit, to have a choice.
        """
        seats = books.ladder.seats
        more = max(self._least(books) + 1, min(books.open * seats // POOL, len(books.sides) // 2, 4 * seats))
        if different >= more or not self._could_play(books, more):
            return True
        if books.waits_since is None:
            books.waits_since = now
        return now >= books.waits_since + _patience_s(books)

    def _start(
        self, books: LadderRoster, entries: Sequence[PairingCandidate], house: Sequence[PairingCandidate], does: str
    ) -> Seating:
        ladder = books.ladder
        reason = pairing_reason(entries, house, does, ladder.rating.beta)
        if ladder.boards == "duplicate" and len(entries) <= ladder.seats:
            reason = reason[: MOST_WORDS - len(TOO_FEW)] + TOO_FEW
        chosen = [*entries, *house]
        self._chance.shuffle(order := list(range(len(chosen))))
        groups = [order[at : at + ladder.seats] for at in range(0, len(order), ladder.seats)]
        tables = [_arranged([chosen[at] for at in group], self._seating_chance) for group in groups]
        for table in tables:
            for entry in table:
                entry.meet([other for other in table if other.side[0] != HOUSE])
        if ladder.boards == "rotation":
            tables = _arranged_in_turn(chosen, self._seating_chance)
        could_be = [other for other in self._books.values() if self._could_play(other, other.ladder.seats)]
        most = LAG * len(self._books)
        for entry in chosen:
            if entry.side[0] != HOUSE:
                ladders = [other.entries[entry.player] for other in could_be if entry.player in other.entries]
                for other in ladders:
                    other.behind = min(other.behind + 1, most)
                entry.behind = max(entry.behind - len(ladders), -most)
            entry.matches += 1
        for table in tables:
            for seat, entry in enumerate(table):
                entry.sit(seat, table)
                self._seated[entry.player] += 1
        books.waits_since = books.short_since = None
        books.matches += len(tables)
        books.played += len(tables)
        books.open += len(tables)
        books.without_house = 0 if house else books.without_house + 1
        return Seating(ladder, tuple(tuple(entry.player for entry in table) for table in tables), reason)


class _MatchGroup(NamedTuple):
    """The bots of a match: the first is furthest behind, the others are its company; and house bots."""

    entries: Sequence[PairingCandidate]
    house: Sequence[PairingCandidate]
    does: str  # what those do there


def _patience_s(books: LadderRoster) -> float:
    return min(MIXING * books.lasted_s, MIXING_MOST_S)


def _short_s(books: LadderRoster) -> float:
    return max(_patience_s(books), SHORT_LEAST_S)


def _arranged(entries: Sequence[PairingCandidate], chance: Chance) -> list[PairingCandidate]:
    """Return these bots by seat, in the order that evens out best who had which seat and which neighbours."""
    # House bots sit where they are sent: the others have their turns for that. Beside them the others sit in turn.
    seat_excess = [
        [0 if entry.side[0] == HOUSE else entry.seat_excess(seat) for seat in range(len(entries))] for entry in entries
    ]
    return [entries[player] for player in most_even(seat_excess, _neighbour_excess(entries), chance)]


def _arranged_in_turn(entries: Sequence[PairingCandidate], chance: Chance) -> list[list[PairingCandidate]]:
    """Return these bots by seat for a match each, everybody on every seat once, neighbours as even as they can be."""
    return [[entries[player] for player in row] for row in most_even_square(_neighbour_excess(entries), chance)]


def _neighbour_excess(entries: Sequence[PairingCandidate]) -> list[list[int]]:
    return [[entry.neighbour_excess[other.player.identity] for other in entries] for entry in entries]
