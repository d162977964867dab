"""Requested matches: an owner chooses the bots, the rules are a ladder's, and the match is not rated.

A request waits at most a minute until each of its bots has a free table. Earlier requests come first. The next free
table of each bot of the requesting owner is reserved at once. That of other bots is reserved only when all of the
requesting owner's bots are free. So an owner cannot block other owners' tables with a request that they themselves keep
from beginning.

A bot plays at most one match at a time that another owner requested. It never gives such a match its last free table,
so requests cannot keep it from its ladders. An owner can decline the requests of others. An admin's request treats all
bots as the admin's own, except those that decline.

This module knows no match in play, no stream and no clock: times (in seconds) are passed in.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cutpurse.engine.commitment import SEED_BYTES
from cutpurse.leaderboard.results import EventBoard, Identity
from cutpurse.leaderboard.tokens import HOUSE, PEOPLE
from cutpurse.server.errors import CallRefused, legible
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.ladder_terms import may_play, paused_message
from cutpurse.server.matches.roster import PairableBot
from cutpurse.server.matches.start_position import StartPosition
from cutpurse.wire.text import format_count

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
    "takes_requests",
]

WAITS_S: Final = 60.0
MOST_OF_ONE: Final = 8  # maximum matches that one owner requested and that wait or are played
MOST: Final = 256  # maximum waiting requests
MOST_WITH_ONE: Final = 4  # maximum of one owner's requests with one bot of another owner
MOST_NAMED: Final = 50  # maximum bots named in one error
MOST_TOLD: Final = 1_024  # dropped requests whose reason is remembered


@dataclass(frozen=True, slots=True)
class MatchRequest:
    """An owner's request for a match.

    Args:
        bots: Bots by seat, from the first seat on.
        seed: 32 bytes to deal from; None for fresh chance.
        is_by_admin: Whether the requesting owner may manage the server's ladders.
        position: Position to play on from; None for a new deal.
        event_board: The board of an event that is played; None for other requests.
    """

    ladder: str
    bots: tuple[Identity, ...]
    seed: bytes | None
    by: str  # the requesting owner
    is_by_admin: bool = False
    position: StartPosition | None = None
    event_board: EventBoard | None = None


@dataclass(frozen=True, slots=True)
class PendingRequest:
    """A match that waits for its bots, with house bots in its other seats."""

    name: str
    ladder: Ladder
    seats: tuple[Identity, ...]
    seed: bytes | None
    by: str
    until: float
    is_by_admin: bool = False
    position: StartPosition | None = None
    event_board: EventBoard | None = None

    def commands(self, identity: Identity) -> bool:
        """Return whether the requesting owner may use all tables of this bot."""
        return self.is_by_admin or identity.owner in (self.by, HOUSE)


class Requests:
    """The requests that wait or are played, and why the latest ones were dropped."""

    def __init__(self) -> None:
        self.reserved: dict[
            PairableBot, None
        ] = {}  # bots whose next free table is reserved for a request, in order, as of the last `next`
        self._waiting: dict[str, PendingRequest] = {}
        self._open: dict[str, PendingRequest] = {}
        self._dropped: OrderedDict[str, str] = OrderedDict()  # reason by match ID

    def __len__(self) -> int:
        return len(self._waiting)

    def ask(self, pending: PendingRequest) -> None:
        """Add a request.

        Raises:
            CallRefused: FULL.
        """
        of_one = sum(request.by == pending.by for request in (*self._waiting.values(), *self._open.values()))
        if of_one >= MOST_OF_ONE and pending.by != PEOPLE:  # the page limits people itself
            raise CallRefused(
                "FULL", f"{of_one} matches that {pending.by} asked for wait or are played; no more at a time"
            )
        for identity in pending.seats:
            if not pending.commands(identity):
                with_one = self._of(pending.by, identity)
                if with_one >= MOST_WITH_ONE:
                    text = f"{with_one} matches with {identity.shown} that {pending.by} asked for wait or are played"
                    raise CallRefused("FULL", f"{text}; no more at a time")
        if len(self._waiting) >= MOST:
            raise CallRefused("FULL", f"{MOST} matches wait for their bots already; ask again later")
        self._waiting[pending.name] = pending

    def _of(self, by: str, identity: Identity) -> int:
        """Return how many matches with this bot, requested by one owner, wait or are played."""
        return sum(
            request.by == by and identity in request.seats
            for request in (*self._waiting.values(), *self._open.values())
        )

    def told(self, name: str) -> str:
        """Return the state of a request.

        Returns:
            "waiting", "open", or "dropped: " and the reason; empty if the match is over or unknown.
        """
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

        Drops requests that have waited too long. `kept` are bots whose next free table is already reserved.
        """
        for request in [request for request in self._waiting.values() if now >= request.until]:
            self._drop(request, here)
        self.reserved = dict.fromkeys(kept)
        lent = {
            identity for request in self._open.values() for identity in request.seats if not request.commands(identity)
        }  # bots in a match that another owner requested
        for request in self._waiting.values():
            players = [here.get(identity) for identity in request.seats]
            players_here = [player for player in players if player is not None]
            if len(players_here) < len(request.seats):
                continue
            own = [player for player in players_here if request.commands(player.identity)]
            others = [player for player in players_here if not request.commands(player.identity)]
            if all(self._has_room(player) for player in own):
                is_ready = all(self._has_room(player, 1) and player.identity not in lent for player in others)
                if is_ready:
                    del self._waiting[request.name]
                    self._open[request.name] = request
                    return request, players_here
                spare = [player for player in others if player.max_tables > 1 and player.identity not in lent]
                self.reserved.update(dict.fromkeys(spare))
            self.reserved.update(dict.fromkeys(own))
        return None

    def ended(self, name: str) -> None:
        """Note that a requested match is over."""
        self._open.pop(name, None)

    def drop(self, name: str, why: str) -> None:
        """Drop a match that cannot begin, and remember why."""
        self._waiting.pop(name, None)
        self._open.pop(name, None)
        self._dropped[name] = why
        if len(self._dropped) > MOST_TOLD:
            self._dropped.popitem(last=False)

    def forget(self, identity: Identity, why: str) -> None:
        """Drop the waiting requests for a bot that cannot play any more."""
        for request in [request for request in self._waiting.values() if identity in request.seats]:
            self.drop(request.name, why)

    def is_open_on(self, ladder: str) -> bool:
        """Return whether a requested match is being played by the rules of this ladder."""
        return any(request.ladder.name == ladder for request in self._open.values())

    def forget_ladder(self, ladder: str, why: str) -> None:
        """Drop the waiting requests by the rules of a removed ladder."""
        for request in [request for request in self._waiting.values() if request.ladder.name == ladder]:
            self.drop(request.name, why)

    def next_event_at(self) -> float | None:
        """Return when a waiting request expires if nothing else happens."""
        return min((request.until for request in self._waiting.values()), default=None)

    def _has_room(self, player: PairableBot, left: int = 0) -> bool:
        """Return whether a bot has more than `left` free tables."""
        return player.free_tables - (player in self.reserved) > left

    def _drop(self, request: PendingRequest, here: Mapping[Identity, PairableBot]) -> None:
        away = [identity.shown for identity in request.seats if identity not in here]
        busy = [identity.shown for identity in request.seats if identity in here and here[identity].free_tables <= 0]
        why = f"its bots did not have a free table at the same time within {WAITS_S:g} s"
        last = [
            identity.shown
            for identity in request.seats
            if identity in here and here[identity].free_tables == 1 and not request.commands(identity)
        ]
        if away or busy or last:
            not_here = f"not here: {', '.join(away)}" if away else ""
            not_free = f"no free table: {', '.join(busy)}" if busy else ""
            for_ladders = f"its last free table is for its ladders: {', '.join(last)}" if last else ""
            why += f" ({'; '.join(filter(None, (not_here, not_free, for_ladders)))})"
        self.drop(request.name, why)


def seats_for(
    request: MatchRequest, ladder: Ladder, here: Mapping[Identity, PairableBot], is_paused: Callable[[Identity], bool]
) -> tuple[Identity, ...]:
    """Choose the bot for each seat of a requested match: the named bots, then house bots.

    Raises:
        CallRefused: NOT_FOUND (a bot is not online), PAUSED, NOT_YOURS (a bot declines requests), or SETTINGS (seats or
            seed are invalid).
    """
    if request.seed is not None and len(request.seed) != SEED_BYTES:
        raise CallRefused("SETTINGS", f"a seed has {SEED_BYTES} bytes, this one has {len(request.seed)}")
    count = len(request.bots)
    if not 0 < count <= ladder.seats:
        raise CallRefused("SETTINGS", f"{count} bots for {ladder.seats} seats of ladder {ladder.name}")
    if len(set(request.bots)) < count:
        raise CallRefused("SETTINGS", "a bot sits at a table once in each of its versions")
    for identity in request.bots:
        if identity.is_person:
            raise CallRefused("NOT_YOURS", f"{identity.shown} is a person, who plays only as ladders pair them")
        player = here.get(identity)
        if player is None:
            # A bot that wants to play everything may be admitted only to ladders that the requesting owner cannot see.
            on = [one for one, other in here.items() if may_play(ladder, one) and other.plays(ladder.game, ladder.name)]
            there = ", ".join(sorted(one.shown for one in on)[:MOST_NAMED]) or "nobody"
            raise CallRefused("NOT_FOUND", f"{legible(identity.shown, 100)} is not here; here are: {there}")
        if is_paused(identity):
            raise CallRefused("PAUSED", paused_message(identity))
        # People pick bots of other ladders of the game, and play them by the rules of their own.
        if not (player.plays(ladder.game, ladder.name) or ladder.is_for_people):
            raise CallRefused("NOT_FOUND", f"{identity.shown} is here, and does not want to play {ladder.name}")
        if identity.owner not in (request.by, HOUSE):
            _check_lent(player, request.is_by_admin)
    house = _house_for(ladder.seats - count, request.bots, ladder, here)
    if count + len(house) < ladder.seats:
        named, free = format_count(count, "named bot"), format_count(len(house), "house bot")
        text = f"ladder {ladder.name} has {ladder.seats} seats: {named} and {free} here do not fill them"
        raise CallRefused("NOT_FOUND", text)
    return (*request.bots, *house)


def takes_requests(player: PairableBot) -> bool:
    """Return whether a bot plays matches that other owners request."""
    return player.max_tables > 1 and not player.declines_requests


def _check_lent(player: PairableBot, is_by_admin: bool) -> None:
    """Check that a bot plays matches that other owners request.

    Raises:
        CallRefused: NOT_YOURS.
    """
    name = player.identity.shown
    if player.declines_requests:
        raise CallRefused("NOT_YOURS", f"{name} declines requests: only its owner may ask for matches with it")
    if player.max_tables == 1 and not is_by_admin:
        raise CallRefused(
            "NOT_YOURS", f"{name} has one table, which is for its ladders: only its owner may ask for matches with it"
        )


def _house_for(
    missing: int, seats: Sequence[Identity], ladder: Ladder, here: Mapping[Identity, PairableBot]
) -> list[Identity]:
    """Choose house bots for the empty seats: those of the ladder first, then the least busy."""
    able = [
        player
        for identity, player in here.items()
        if identity.owner == HOUSE and identity not in seats and player.plays(ladder.game, ladder.name)
    ]
    able.sort(key=lambda player: (player.identity.bot not in ladder.terms.house, -player.free_tables, player.identity))
    return [player.identity for player in able[:missing]]
