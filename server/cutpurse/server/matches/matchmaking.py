"""Matchmaking: which bots play next, on which ladder, and in which seats.

The rules, in this order:

* An owner has one bot in a match, in one version. Where bots come without tokens and have no real owner, a bot sits in
  a match once.
* On a ladder, the bot with the fewest matches there is next. Its opponents are mostly near in pairing skill and
  sometimes far, among those that have not played much more (`opponents.py`). Among the playable ladders, the one whose
  next players are furthest behind is next, because each bot is to play all its ladders equally often. After that the
  ladder with the fewest matches is next. Chance decides between equals.
* Every bot takes each seat, and sits left of each other bot, as equally often as possible (`seating.py` of the engine).
* No bot starves. A bot that came late or was away does not catch up at the others' expense. It counts as having played
  nearly as often as the online bot with the fewest matches. Other ladders may keep taking a ladder's bots one by one,
  so that it never finds enough of them free. Its bots are then reserved for it after a while.
* Bots that just met do not meet again at once if there are others to play with. The ladder waits until more are free,
  for up to a tenth of a match's duration. Otherwise few tables would become closed groups, and pairing skills of closed
  groups cannot be compared.
* On a ladder of duplicate boards, the same cards are dealt in two or more matches at once, to bots of different owners.
  The ladder waits until enough are free. If it has too few bots for two matches, it plays plain boards. On a ladder of
  rotations the same bots play in every seat in turn, and only bots without memory may play there.
* House bots take the seats for which too few other bots are free, after a similarly short wait. On a ladder with house
  bots, one of them also plays in every sixteenth match, since they anchor the rating scale. They never play only among
  themselves.

Counts start when this object is created, on top of what the store reports of each bot that enters. This module knows no
clock, no stream and no match in play; chance is passed in.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from cutpurse.engine.chance import Chance
from cutpurse.engine.seating import most_even, most_even_square, seating_chance
from cutpurse.leaderboard.ratings import Skill
from cutpurse.leaderboard.results import Change, Identity
from cutpurse.leaderboard.tokens import HOUSE
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.ladder_terms import OtherEntrants
from cutpurse.server.matches.opponents import MOST_WORDS, choose_opponents, pairing_reason, pick_least_played
from cutpurse.server.matches.roster import LAG, LadderRoster, PairableBot, PairingCandidate

__all__ = ["Pairing", "PairableBot", "Seating"]

PATIENCE: Final = 2  # matches that a bot may be behind on a ladder before it is reserved for it
MIXING: Final = 0.1  # share of a match's duration to wait for new opponents
MIXING_MOST_S: Final = 1.0
SHORT_LEAST_S: Final = 0.25  # minimum wait before house bots fill a seat, however short the matches
ANCHOR: Final = 16  # on a ladder with house bots, one in this many matches has one
TOO_FEW: Final = "; a board of one match, for too few owners are here for two"
LEAST_TABLES: Final = 2  # matches of a duplicate board
MOST_TABLES: Final = 4
POOL: Final = 16  # one more free bot is waited for per this many occupied seats, to have a choice


class Seating(NamedTuple):
    """A board to play: the ladder, the bots by seat in each match, and the reason for the pairing."""

    ladder: Ladder
    tables: tuple[tuple[PairableBot, ...], ...]
    reason: str = ""

    @property
    def players(self) -> tuple[PairableBot, ...]:
        """The bots of its first match, by seat."""
        return self.tables[0]


class Pairing:
    """The rosters of all ladders, and the choice of the next match."""

    def __init__(self, ladders: Iterable[Ladder], chance: Chance) -> None:
        """Set up the ladders.

        Raises:
            ValueError: If two ladders have the same name.
        """
        listed = tuple(ladders)
        self._books = {ladder.name: LadderRoster(ladder) for ladder in listed}
        if len(self._books) != len(listed):
            raise ValueError(f"two ladders have the same name: {', '.join(ladder.name for ladder in listed)}")
        self._chance = chance
        # separate, so that seating does not influence pairing
        self._seating_chance = seating_chance(chance.key.hex(), 0)
        self._there: dict[PairableBot, None] = {}
        self._seated: dict[PairableBot, int] = {}  # open matches; kept for bots that left until it is 0
        self._free: dict[PairableBot, None] = {}  # online bots with a free table
        self._kept: dict[PairableBot, None] = {}  # bots whose next free table is reserved for a board or a request

    # -- ladders
    @property
    def ladders(self) -> list[Ladder]:
        """All ladders with their current terms."""
        return [books.ladder for books in self._books.values()]

    def ladder_named(self, name: str) -> Ladder | None:
        """Return the ladder of this name, or None."""
        books = self._books.get(name)
        return None if books is None else books.ladder

    def set_ladder(self, ladder: Ladder) -> None:
        """Add a ladder or change its terms, and add or remove online bots accordingly.

        A ladder without members keeps those that it had.

        Raises:
            ValueError: If the ladder of this name differs in more than its terms.
        """
        books = self._books.get(ladder.name)
        if books is None:
            books = self._books[ladder.name] = LadderRoster(ladder)
        elif not books.ladder.is_same(ladder):
            raise ValueError(f"ladder {ladder.name} is another one; only its terms may change")
        elif ladder.members is None:
            ladder = replace(ladder, members=books.ladder.members)
        books.change(ladder, self._there)

    def remove_ladder(self, name: str) -> None:
        """Remove a ladder and its bots.

        Raises:
            ValueError: If a match is being played there.
        """
        if self._books[name].open:
            raise ValueError(f"a match is being played on ladder {name}")
        del self._books[name]

    def is_quiet(self, name: str) -> bool:
        """Return whether no match of the pairing is being played on a ladder, or has a result to store."""
        books = self._books.get(name)
        return books is None or not books.open

    def others_on(self, name: str, identity: Identity) -> OtherEntrants:
        """Return the other bots on a ladder, without house bots."""
        return self._books[name].others(identity)

    def ladders_of(self, player: PairableBot) -> tuple[str, ...]:
        """List the ladders that a bot is on."""
        return tuple(name for name, books in self._books.items() if player in books.entries or player in books.house)

    def bots_on(self, name: str) -> list[PairableBot]:
        """List the online bots that are paired on a ladder, house bots included."""
        books = self._books.get(name)
        return [] if books is None else [*books.entries, *books.house]

    # -- online bots
    def enter(self, player: PairableBot) -> None:
        """Add a bot that came online; its open matches still count."""
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
            if books.leave(player) and books.ladder.terms.is_limited:  # another bot may have waited for the room
                for other in self._there:
                    books.enter(other)

    def changed(self, player: PairableBot) -> bool:
        """Note a changed number of free tables.

        Returns:
            Whether a match may have waited for this bot. Includes matches of a board or a request for which its next
                free table is reserved.
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
            for books in self._books.values():  # as `next` would do when it found too few free bots
                books.waits_since = books.short_since = None
            return False
        return True

    def keep(self, players: Iterable[PairableBot]) -> None:
        """Reserve one free table of each of these bots, until the next call.

        The order of `players` decides the order of later choices, so that the same course of events gives the same
        pairs.
        """
        had, self._kept = self._kept, dict.fromkeys(players)
        if had != self._kept:
            for player in {**had, **self._kept}:
                self.changed(player)

    def sat(self, players: Iterable[PairableBot]) -> None:
        """Note that these bots sat down in a match that the pairing did not start."""
        for player in players:
            self._seated[player] = self._seated.get(player, 0) + 1

    def rose(self, players: Iterable[PairableBot]) -> None:
        """Note that these bots rose from a match."""
        for player in players:
            self._seated[player] -= 1
            if not self._seated[player] and player not in self._there:
                del self._seated[player]

    def ended(self, seating: Seating, lasted_s: float, is_void: bool) -> None:
        """Note the end of a board whose bots all rise now; see `closed`."""
        self.closed(seating, lasted_s, is_void)
        for table in seating.tables:
            self.rose(table)

    def closed(self, seating: Seating, lasted_s: float, is_void: bool) -> None:
        """Note the end of a board whose bots have risen; void matches do not count towards the wanted number."""
        books = self._books[seating.ladder.name]
        books.lasted_s = lasted_s
        books.open -= len(seating.tables)
        if is_void:
            books.played -= len(seating.tables)

    def postpone(self, ladder: Ladder, until: float) -> None:
        """Start no match of a ladder before `until`, for example when its game cannot be set up."""
        books = self._books[ladder.name]
        books.not_before = until
        books.waits_since = books.short_since = None

    @property
    def is_complete(self) -> bool:
        """Whether every ladder has had all its wanted matches."""
        return all(books.is_complete for books in self._books.values())

    # -- what the store reports
    def know(self, identity: Identity, standings: Mapping[str, tuple[Skill, int]]) -> None:
        """Set the pairing skill and number of rated matches of a bot that entered, by ladder."""
        for name, (skill, matches) in standings.items():
            if name in self._books:
                self._books[name].know(identity, skill, matches)

    def rated(self, ladder: str, changes: Iterable[Change]) -> None:
        """Set the pairing skills of the bots that played a match."""
        for change in changes:
            self._books[ladder].rated(change.player, change.after)

    # -- the next match
    def next(self, now: float, shut: Container[str] = ()) -> Seating | None:
        """Return the next board and count it as started; None if there is none.

        Args:
            now: Seconds on the lobby's clock.
            shut: Ladders on which no match may begin.
        """
        overdue: list[tuple[int, LadderRoster]] = []
        others: list[LadderRoster] = []
        for books in self._books.values():
            if books.is_complete or books.ladder.is_for_people or now < books.not_before:
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
        """Return when `next` may find a match if nothing else happens."""
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
        """Return how many different bots a ladder needs for a board."""
        return books.ladder.seats * (LEAST_TABLES if self._is_duplicate(books) else 1)

    def _is_duplicate(self, books: LadderRoster) -> bool:
        """Return whether the next board has several matches: the ladder has enough bots for two, free or not."""
        return books.ladder.boards == "duplicate" and self._could_play(books, LEAST_TABLES * books.ladder.seats)

    def _wanted(self, books: LadderRoster) -> int:
        """Return how many different bots the next board needs, without a house bot whose turn it is."""
        if self._is_duplicate(books):
            return self._least(books)
        is_anchored = books.without_house >= ANCHOR - 1 and any(player in self._free for player in books.house)
        return books.ladder.seats - is_anchored

    def _chosen(self, books: LadderRoster, free: Sequence[PairingCandidate]) -> _MatchGroup | None:
        """Choose the bots of the next board on this ladder; None if too few different ones are free."""
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
        """Fill a match that has too few free bots with house bots; None before the wait for others is over."""
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
        """Return whether `wanted` different bots could play on this ladder if all rose from their tables."""
        names = set()
        for player, entry in books.entries.items():
            if player in self._free or self._seated.get(player):
                names.add(entry.side)
                if len(names) == wanted:
                    return True
        return False

    def _is_mixed(self, books: LadderRoster, different: int, now: float) -> bool:
        """Return whether more bots are free than needed, or no others exist, or the wait for them is over.

        The surplus is at least one bot. Where many play, it is a sixteenth of the seated bots, to have a choice.
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
    """The bots of a board: the one furthest behind, its opponents, and the house bots."""

    entries: Sequence[PairingCandidate]
    house: Sequence[PairingCandidate]
    does: str  # why the house bots play, for the pairing reason


def _patience_s(books: LadderRoster) -> float:
    return min(MIXING * books.lasted_s, MIXING_MOST_S)


def _short_s(books: LadderRoster) -> float:
    return max(_patience_s(books), SHORT_LEAST_S)


def _arranged(entries: Sequence[PairingCandidate], chance: Chance) -> list[PairingCandidate]:
    """Return these bots by seat, in the order that best evens out seats and neighbours."""
    # Seats of house bots need no evening out, but other bots still take turns beside them.
    seat_excess = [
        [0 if entry.side[0] == HOUSE else entry.seat_excess(seat) for seat in range(len(entries))] for entry in entries
    ]
    return [entries[player] for player in most_even(seat_excess, _neighbour_excess(entries), chance)]


def _arranged_in_turn(entries: Sequence[PairingCandidate], chance: Chance) -> list[list[PairingCandidate]]:
    """Return these bots by seat for one match each: every bot in every seat once, with the most even neighbours."""
    return [[entries[player] for player in row] for row in most_even_square(_neighbour_excess(entries), chance)]


def _neighbour_excess(entries: Sequence[PairingCandidate]) -> list[list[int]]:
    return [[entry.neighbour_excess[other.player.identity] for other in entries] for entry in entries]
