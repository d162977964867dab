"""Matches on request: somebody chooses who plays whom by the rules of a ladder, and no rating follows from it.

A request waits until each of its bots has a free table, a minute at most. Those who ask first are first. The next free
table of each bot of the asking owner is kept for it at once; that of other bots only when all of the asking owner's are
free. So nobody can hold the tables of others by a request that they themselves keep from beginning. A bot sits in one
match at a time that others than its owner have asked for, and never gives them its last free table, so they cannot keep
it from its ladders. An owner can decline the requests of others. To an
admin's request all bots are as the admin's own, but for those that decline.

This module knows no table, no stream and no clock: moments (seconds) are handed in.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cutpurse.engine.commitment import SEED_BYTES
from cutpurse.server.errors import CallRefused, legible
from cutpurse.server.finished_match import HOUSE, Identity
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.ladder_terms import may_play, paused_message
from cutpurse.server.matches.roster import PairableBot

__all__ = [
    "MOST",
    "MOST_OF_ONE",
    "MOST_TOLD",
    "MOST_WITH_ONE",
    "WAITS_S",
    "MatchRequest",
    "PendingRequest",
    "Requests",
    "seats_for",
]

WAITS_S: Final = 60.0
MOST_OF_ONE: Final = 8  # matches that one owner has asked for, and that wait or are being played
MOST: Final = 256  # that wait
MOST_WITH_ONE: Final = 4  # of these with one bot of another owner
MOST_NAMED: Final = 50  # bots in one line
MOST_TOLD: Final = 1_024  # of which it is known what became of them


@dataclass(frozen=True, slots=True)
class MatchRequest:
    """A match that is wanted.

    bots: by seat, from the first on. seed: 32 bytes to deal from, None is fresh chance. is_by_admin: whether the owner
    who asks may run the server's ladders.
    """

    ladder: str
    bots: tuple[Identity, ...]
    seed: bytes | None
    by: str  # the owner who asks
    is_by_admin: bool = False


@dataclass(frozen=True, slots=True)
class PendingRequest:
    """A match that waits for its bots, house bots among them."""

    name: str
    ladder: Ladder
    seats: tuple[Identity, ...]
    seed: bytes | None
    by: str
    until: float
    is_by_admin: bool = False

    def commands(self, identity: Identity) -> bool:
        """Return whether all tables of a bot are at the disposal of the owner who asks."""
        return self.is_by_admin or identity.owner in (self.by, HOUSE)


class Requests:
    """See the module's docstring."""

    def __init__(self) -> None:
        self.reserved: dict[
            PairableBot, None
        ] = {}  # in order: whose next free table is for a request; as of the last `next`
        self._waiting: dict[str, PendingRequest] = {}
        self._open: dict[str, PendingRequest] = {}
        self._dropped: OrderedDict[str, str] = OrderedDict()  # by name: why

    def __len__(self) -> int:
        return len(self._waiting)

    def ask(self, wanted: PendingRequest) -> None:
        """Somebody wants a match.  Raises CallRefused: FULL."""
        of_one = sum(one.by == wanted.by for one in (*self._waiting.values(), *self._open.values()))
        if of_one >= MOST_OF_ONE:
            raise CallRefused(
                "FULL", f"{of_one} matches that {wanted.by} asked for wait or are played; no more at a time"
            )
        for identity in wanted.seats:
            if not wanted.commands(identity):
                with_one = self._of(wanted.by, identity)
                if with_one >= MOST_WITH_ONE:
                    text = f"{with_one} matches with {identity.shown} that {wanted.by} asked for wait or are played"
                    raise CallRefused("FULL", f"{text}; no more at a time")
        if len(self._waiting) >= MOST:
            raise CallRefused("FULL", f"{MOST} matches wait for their bots already; ask again later")
        self._waiting[wanted.name] = wanted

    def _of(self, by: str, identity: Identity) -> int:
        """How many matches with a bot that one owner asked for wait or are played."""
        return sum(one.by == by and identity in one.seats for one in (*self._waiting.values(), *self._open.values()))

    def told(self, name: str) -> str:
        """Return the state of a request: "waiting", "open", "dropped: " and why; empty if it is over or unknown."""
        if name in self._waiting:
            return "waiting"
        if name in self._open:
            return "open"
        why = self._dropped.get(name)
        return "" if why is None else f"dropped: {why}"

    def next(
        self, here: Mapping[Identity, PairableBot], now: float, kept: Iterable[PairableBot] = ()
    ) -> tuple[PendingRequest, list[PairableBot]] | None:
        """Return the next match that can begin, with its bots by seat, and count it as open; None if there is none.

        kept: whose next free table is for somebody else. Drops what has waited too long.
        """
        for one in [one for one in self._waiting.values() if now >= one.until]:
            self._drop(one, here)
        self.reserved = dict.fromkeys(kept)
        lent = {
            identity for one in self._open.values() for identity in one.seats if not one.commands(identity)
        }  # to others than their owners
        for one in self._waiting.values():
            players = [here.get(identity) for identity in one.seats]
            found = [player for player in players if player is not None]
            if len(found) < len(one.seats):
                continue
            own = [player for player in found if one.commands(player.identity)]
            others = [player for player in found if not one.commands(player.identity)]
            if all(self._has_room(player) for player in own):
                is_ready = all(self._has_room(player, 1) and player.identity not in lent for player in others)
                if is_ready:
                    del self._waiting[one.name]
                    self._open[one.name] = one
                    return one, found
                spare = [player for player in others if player.max_tables > 1 and player.identity not in lent]
                self.reserved.update(dict.fromkeys(spare))
            self.reserved.update(dict.fromkeys(own))
        return None

    def ended(self, name: str) -> None:
        """Note that a requested match is over."""
        self._open.pop(name, None)

    def drop(self, name: str, why: str) -> None:
        """Drop a match that cannot begin."""
        self._waiting.pop(name, None)
        self._open.pop(name, None)
        self._dropped[name] = why
        if len(self._dropped) > MOST_TOLD:
            self._dropped.popitem(last=False)

    def forget(self, identity: Identity, why: str) -> None:
        """Drop what waits for a bot that cannot play any more."""
        for one in [one for one in self._waiting.values() if identity in one.seats]:
            self.drop(one.name, why)

    def is_open_on(self, ladder: str) -> bool:
        """Whether a match that was asked for is being played by the rules of this ladder."""
        return any(one.ladder.name == ladder for one in self._open.values())

    def forget_ladder(self, ladder: str, why: str) -> None:
        """Drop what waits to be played by the rules of a removed ladder."""
        for one in [one for one in self._waiting.values() if one.ladder.name == ladder]:
            self.drop(one.name, why)

    def next_event_at(self) -> float | None:
        """When `next` is to be asked though nothing else has happened."""
        return min((one.until for one in self._waiting.values()), default=None)

    def _has_room(self, player: PairableBot, left: int = 0) -> bool:
        """Return whether a bot has more than `left` free tables."""
        return player.free_tables - (player in self.reserved) > left

    def _drop(self, one: PendingRequest, here: Mapping[Identity, PairableBot]) -> None:
        away = [identity.shown for identity in one.seats if identity not in here]
        busy = [identity.shown for identity in one.seats if identity in here and here[identity].free_tables <= 0]
        why = f"its bots did not have a free table at the same time within {WAITS_S:g} s"
        last = [
            identity.shown
            for identity in one.seats
            if identity in here and here[identity].free_tables == 1 and not one.commands(identity)
        ]
        if away or busy or last:
            not_here = f"not here: {', '.join(away)}" if away else ""
            not_free = f"no free table: {', '.join(busy)}" if busy else ""
            for_ladders = f"its last free table is for its ladders: {', '.join(last)}" if last else ""
            why += f" ({'; '.join(filter(None, (not_here, not_free, for_ladders)))})"
        self.drop(one.name, why)


def seats_for(
    wanted: MatchRequest, ladder: Ladder, here: Mapping[Identity, PairableBot], is_paused: Callable[[Identity], bool]
) -> tuple[Identity, ...]:
    """Who is to sit on each seat of a match that is wanted: those who were chosen, then house bots.

    Raises CallRefused: NOT_FOUND for who is not here, PAUSED, NOT_YOURS for who does not play at others' request,
    SETTINGS for seats or a seed that cannot be.
    """
    if wanted.seed is not None and len(wanted.seed) != SEED_BYTES:
        raise CallRefused("SETTINGS", f"a seed has {SEED_BYTES} bytes, this one has {len(wanted.seed)}")
    count = len(wanted.bots)
    if not 0 < count <= ladder.seats:
        raise CallRefused("SETTINGS", f"{count} bots for {ladder.seats} seats of ladder {ladder.name}")
    if len(set(wanted.bots)) < count:
        raise CallRefused("SETTINGS", "a bot sits at a table once in each of its versions")
    for identity in wanted.bots:
        player = here.get(identity)
        if player is None:
            # Of those who want to play everything some may only play where whoever asks may see nothing.
            on = [one for one, other in here.items() if may_play(ladder, one) and other.plays(ladder.game, ladder.name)]
            there = ", ".join(sorted(one.shown for one in on)[:MOST_NAMED]) or "nobody"
            raise CallRefused("NOT_FOUND", f"{legible(identity.shown, 100)} is not here; here are: {there}")
        if is_paused(identity):
            raise CallRefused("PAUSED", paused_message(identity))
        if not player.plays(ladder.game, ladder.name):
            raise CallRefused("NOT_FOUND", f"{identity.shown} is here, and does not want to play {ladder.name}")
        if identity.owner not in (wanted.by, HOUSE):
            _check_lent(player, wanted.is_by_admin)
    house = _house_for(ladder.seats - count, wanted.bots, ladder, here)
    if count + len(house) < ladder.seats:
        named = "1 bot was named" if count == 1 else f"{count} bots were named"
        free = f"{len(house) or 'no'} house bot{'s are' if len(house) != 1 else ' is'} here for the others"
        raise CallRefused("NOT_FOUND", f"ladder {ladder.name} has {ladder.seats} seats; {named}, and {free}")
    return (*wanted.bots, *house)


def _check_lent(player: PairableBot, is_by_admin: bool) -> None:
    """Whether a bot plays matches that others than its owner ask for.  Raises CallRefused: NOT_YOURS."""
    shown = player.identity.shown
    if player.declines_requests:
        raise CallRefused("NOT_YOURS", f"{shown} declines requests: only its owner may ask for matches with it")
    if player.max_tables == 1 and not is_by_admin:
        raise CallRefused(
            "NOT_YOURS", f"{shown} has one table, which is for its ladders: only its owner may ask for matches with it"
        )


def _house_for(
    missing: int, seats: Sequence[Identity], ladder: Ladder, here: Mapping[Identity, PairableBot]
) -> list[Identity]:
    """House bots for seats that nobody was chosen for: those of the ladder, else any; the least busy first."""
    able = [
        player
        for identity, player in here.items()
        if identity.owner == HOUSE and identity not in seats and player.plays(ladder.game, ladder.name)
    ]
    able.sort(key=lambda player: (player.identity.bot not in ladder.terms.house, -player.free_tables, player.identity))
    return [player.identity for player in able[:missing]]
