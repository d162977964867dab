"""The league of a simulated world: owners, changes of ladders, match requests and ends of pauses.

A change of a ladder happens at once on the disk, in the running server, and in this module. After a crash the next
server gets the ladders from here. `Rules` is the watch's check of who may play where.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any, Final

from cutpurse.leaderboard.errors import LeaderboardError
from cutpurse.leaderboard.results import FinishedMatch, Identity, LadderTerms, MatchAnnouncement, StoreOutcome
from cutpurse.leaderboard.tokens import HOUSE
from cutpurse.server.access.owners import Grant, OpenGuard
from cutpurse.server.errors import CallRefused
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.lobby import Lobby
from cutpurse.server.matches.requests import WAITS_S, MatchRequest
from cutpurse.server.matches.server_match import ServerMatch
from cutpurse.server.result_store import ResultStore

if TYPE_CHECKING:
    from concurrent.futures import Future

    from tests.simulation.world import World

__all__ = ["HOUSE_BOTS", "Guard", "League", "Rules", "Seen"]

HOUSE_BOTS: Final = ("random", "greedy")
_MOST_LADDERS: Final = 5


@dataclass
class _Asked:
    """A requested match."""

    request: MatchRequest
    at: float
    life: int


class Guard(OpenGuard):
    """A guard that admits each call as the owner it names; if there are rotations, all bots forget their matches."""

    def __init__(self, league: League) -> None:
        self._league = league

    def enter(self, metadata: Any, peer: str, scope: str, now: float) -> Grant:
        forgets = any(ladder.boards == "rotation" for ladder in self._league.ladders.values())
        return Grant(dict(metadata)["owner"], "", forgets=forgets)


class League:
    """The ladders of a world, and their changes."""

    def __init__(self, world: World, ladders: list[Ladder]) -> None:
        self.ladders = {ladder.name: ladder for ladder in ladders}
        self._world = world
        self._random: Random = world.course.random
        self._made = 0

    def owners(self, count: int) -> list[str]:
        """Draw owners for `count` bots: sometimes an owner has one bot, sometimes several."""
        few = self._random.random() < 0.4
        names = ["ann", "bob", "cid", "dan", "eve"]
        return [self._random.choice(names[:3]) if few else names[at % len(names)] for at in range(count)]

    # -- random events
    def change(self, lobby: Lobby) -> None:
        """Add a ladder, or change the terms of one."""
        random = self._random
        ladder = random.choice(list(self.ladders.values()))
        dice = random.random()
        if dice < 0.3:
            if len(self.ladders) < _MOST_LADDERS:
                self._made += 1
                terms = replace(ladder.terms, frozen=None)
                self._put(lobby, replace(ladder, name=f"{ladder.game}-new{self._made}", terms=terms))
            return
        at = self._world.utc()
        if dice < 0.55:
            terms = replace(ladder.terms, frozen=at + timedelta(seconds=random.choice((-1.0, 0.0, 0.3, 1.0))))
        elif dice < 0.7:
            terms = replace(ladder.terms, owners=tuple(random.sample(["ann", "bob", "cid", "dan", "eve"], 3)))
        elif dice < 0.8:
            most = random.choice((0, 2, 3))
            terms = replace(ladder.terms, most_bots=most, most_per_owner=1 if most == 3 else 0)
        else:
            terms = replace(LadderTerms(), house=ladder.terms.house)
        self._put(lobby, replace(ladder, terms=terms))

    def _put(self, lobby: Lobby, ladder: Ladder) -> None:
        try:
            self._world.disk.put(ladder)
        except LeaderboardError:
            return  # nothing was changed
        self._world.say(f"ladder {ladder.name}: {ladder.terms}")
        self.ladders[ladder.name] = ladder
        lobby.set_ladder(ladder)

    def open_all(self, lobby: Lobby) -> None:
        """Open all ladders to everybody."""
        for ladder in list(self.ladders.values()):
            self._put(lobby, replace(ladder, terms=LadderTerms(house=ladder.terms.house)))

    def ask(self, lobby: Lobby) -> None:
        """Request a match of connected bots, or with an unknown one."""
        random, now = self._random, self._world.course.now
        here = [one.identity for one in lobby.here()]
        if random.random() < 0.1:
            here.append(Identity("ann", "nobody", "1"))
        ladder = random.choice(list(self.ladders.values()))
        bots = tuple(random.sample(here, min(len(here), ladder.seats - (random.random() < 0.2))))
        seed = bytes(32) if random.random() < 0.3 else None
        request = MatchRequest(ladder.name, bots, seed, random.choice(["ann", "bob", "cid"]))
        try:
            name = lobby.request(request, now)
        except CallRefused as problem:
            self._world.say(f"a match of {bots} is refused: {problem.ending.text}")
        else:
            self._world.say(f"match {name[:8]} of {bots} is asked for")
            self._world.watch.rules.asked[name] = _Asked(request, now, self._world.lives)

    def lift(self, lobby: Lobby, identity: Identity) -> None:
        """Lift the pause of a bot."""
        try:
            self._world.disk.lift(identity)
        except LeaderboardError:
            return
        self._world.say(f"{identity.bot} may play again")
        self._world.watch.rules.paused.discard(identity)
        lobby.lifted(identity)


class Seen:
    """A store whose answers reach the watch before the server."""

    def __init__(self, store: ResultStore, world: World) -> None:
        self._store = store
        self._world = world

    def announce(self, match: MatchAnnouncement) -> Future[None]:
        return self._store.announce(match)

    def standings(self, player: Identity, seen: datetime) -> Any:
        return self._store.standings(player, seen)

    def submit(self, result: FinishedMatch) -> Future[StoreOutcome]:
        future = self._store.submit(result)
        future.add_done_callback(self._hear)
        return future

    def _hear(self, done: Future[StoreOutcome]) -> None:
        if done.exception() is None:
            for identity in done.result().paused:
                if identity.owner != HOUSE:
                    self._world.paused(identity)


class Rules:
    """The watch's check of who may play where, independent of the server."""

    def __init__(self, world: World) -> None:
        self.asked: dict[str, _Asked] = {}
        self.paused: set[Identity] = set()
        self._dealt: dict[bytes, list[Identity]] = {}  # bots by seed of the deal
        self._world = world

    def check(self, table: ServerMatch, seats: list[Identity]) -> None:
        """Check a match that begins."""
        where = f"match {table.name[:8]}"
        for identity in seats:
            if identity in self.paused:
                self._wrong(f"{where} begins with {identity.bot}, which is paused")
        asked = self.asked.get(table.name)
        if (asked is not None) is not bool(table.requested_by):
            self._wrong(f"{where} is said to be asked for by '{table.requested_by}': {asked}")
        if asked is not None:
            self._check_asked(where, asked, table, seats)
            return
        ladder = self._world.league.ladders[table.ladder.name]
        self._check_cards(where, table, seats)
        if self._dealt[table.deal.seed] != seats:
            return  # another match of an earlier board, which is finished despite any change
        frozen = ladder.terms.frozen
        if frozen is not None and self._world.utc() >= frozen:
            self._wrong(f"{where} begins on ladder {ladder.name}, which is frozen since {frozen}")
        sides = Counter(one.owner for one in seats if one.owner != HOUSE)
        if not sides:
            self._wrong(f"{where} is one of house bots alone")
        for owner, count in sides.items():
            if count > 1:
                self._wrong(f"{where} is rated, and {count} bots of {owner} sit at it")
            if ladder.terms.owners and owner not in ladder.terms.owners:
                self._wrong(f"{where} is played by {owner}, for whom ladder {ladder.name} is not")
        for identity in seats:
            if identity.owner == HOUSE and identity.bot not in ladder.terms.house:
                self._wrong(f"{where}: no house bot {identity.bot} plays on ladder {ladder.name}")

    def _check_cards(self, where: str, table: ServerMatch, seats: list[Identity]) -> None:
        """Check that no owner gets a deal twice, except in a rotation, where all bots forget."""
        kind = table.ladder.boards if table.board_matches > 1 else "plain"
        earlier = self._dealt.get(table.deal.seed, [])
        again = {one.owner for one in earlier} & {one.owner for one in seats}
        if earlier and kind == "plain":
            self._wrong(f"{where} is dealt from a seed that was used")
        if again and kind == "duplicate":
            self._wrong(f"{where} is one table of a duplicate, and bots of {again} sit at another")
        if kind == "rotation":
            if earlier and set(earlier) != set(seats):
                self._wrong(f"{where} of a rotation is played by {seats}, and an earlier one by {earlier}")
            if not all(player.player.forgets for player in table.seats):
                self._wrong(f"{where} of a rotation is played by bots that remember")
        self._dealt[table.deal.seed] = [*earlier, *seats]

    def _check_asked(self, where: str, asked: _Asked, table: ServerMatch, seats: list[Identity]) -> None:
        request = asked.request
        if (request.by, request.ladder) != (table.requested_by, table.ladder.name):
            self._wrong(f"{where} was asked for as {request}, and is played as {table.requested_by}'s")
        if tuple(seats[: len(request.bots)]) != request.bots:
            self._wrong(f"{where} was asked for with {request.bots}, and is played by {seats}")
        if any(one.owner != HOUSE for one in seats[len(request.bots) :]):
            self._wrong(f"{where} is played by {seats}, of whom only {request.bots} were asked for")
        if request.seed is not None and request.seed != table.deal.seed:
            self._wrong(f"{where} is not dealt from the seed that was chosen")
        if self._world.course.now > asked.at + WAITS_S + 1.0:
            self._wrong(f"{where} begins {self._world.course.now - asked.at:.1f} s after it was asked for")

    def has_chosen(self, match: str) -> bool:
        """Return whether the requester of a match chose its seed, which is no secret then."""
        asked = self.asked.get(match)
        return asked is not None and asked.request.seed is not None

    def conclude(self, lobby: Lobby) -> None:
        """Check at the end that old requests are settled."""
        for name, asked in self.asked.items():
            is_late = self._world.course.now > asked.at + WAITS_S + 1.0
            if asked.life == self._world.lives and is_late and lobby.requested(name) in ("waiting", "open"):
                self._wrong(f"match {name[:8]} was asked for long ago and is {lobby.requested(name)}")

    def _wrong(self, what: str) -> None:
        self._world.fails(what)
