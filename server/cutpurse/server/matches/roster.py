"""The roster of one ladder: its bots, how often each has played and in which seat, and their pairing skills.

The counts serve fairness and are not exact: a bot that enters counts as having played nearly as often as the others.
This module knows no other ladder, no clock and no chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from cutpurse.leaderboard.ratings import Skill
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.tokens import HOUSE, NOBODY
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.ladder_terms import OtherEntrants, may_play, why_full

__all__ = ["LAG", "LadderRoster", "PairingCandidate", "PairableBot", "side_of"]

LAG: Final = 8  # matches: limit on how far a bot counts as behind the others, or a newcomer as ahead of them
MOST_MET: Final = 256  # sides remembered: with a thousand bots, the same ones do not meet again soon
MOST_GONE: Final = 1_024  # bots that left and are remembered in case they return


class PairableBot(Protocol):
    """An online bot, as the pairing sees it."""

    @property
    def identity(self) -> Identity:
        """Owner, bot and version."""

    @property
    def free_tables(self) -> int:
        """Number of further matches that it would play now."""

    @property
    def max_tables(self) -> int:
        """Maximum number of simultaneous matches."""

    @property
    def declines_requests(self) -> bool:
        """Whether only its own owner may request matches with it."""

    @property
    def forgets(self) -> bool:
        """Whether it keeps no memory between matches, so that it may meet the same cards again."""

    def plays(self, game: str, ladder: str) -> bool:
        """Return whether it wants to play on this ladder of this game; constant while it is online."""


@dataclass(slots=True, eq=False)
class PairingCandidate:
    """One bot on one ladder."""

    player: PairableBot
    side: tuple[str, ...]  # bots of the same side never meet
    matches: int
    seats: list[int]  # matches in each seat
    mu: float  # pairing skill
    met: Counter[tuple[str, ...]] = field(default_factory=Counter)  # matches with each side
    behind: int = 0  # matches due here until it has played all ladders equally often, in shares of a match
    came_with: int | None = None  # value of `matches` when it entered, until the store reports its rated matches
    # For each bot, how often it sat in the seat after this one beyond its share, in units of 1 / (seats - 1) of a
    # match.
    neighbour_excess: Counter[Identity] = field(default_factory=Counter)

    def meet(self, entries: Iterable[PairingCandidate]) -> None:
        """Count a meeting with each of these bots, itself included."""
        if len(self.met) > MOST_MET:
            self.met.clear()
        self.met.update([entry.side for entry in entries])

    def sit(self, seat: int, table: Sequence[PairingCandidate]) -> None:
        """Count a match in this seat, and the neighbours in it."""
        self.seats[seat] += 1
        if len(self.neighbour_excess) > MOST_MET:
            self.neighbour_excess.clear()
        for other in table:
            if other is not self:
                self.neighbour_excess[other.player.identity] -= 1
        following = table[(seat + 1) % len(table)]
        self.neighbour_excess[following.player.identity] += len(table) - 1

    def seat_excess(self, seat: int) -> int:
        """Return how often it had this seat beyond its share, in units of 1 / seats of a match."""
        return len(self.seats) * self.seats[seat] - sum(self.seats)


@dataclass(slots=True, eq=False)
class LadderRoster:
    """The roster of one ladder."""

    ladder: Ladder
    entries: dict[PairableBot, PairingCandidate] = field(default_factory=dict)
    house: dict[PairableBot, PairingCandidate] = field(
        default_factory=dict
    )  # house bots, which are not among the others
    gone: dict[Identity, PairingCandidate] = field(default_factory=dict)  # the latest bots that left
    known: dict[Identity, PairingCandidate] = field(default_factory=dict)  # of `entries` and `house`
    sides: Counter[tuple[str, ...]] = field(default_factory=Counter)  # of `entries`
    matches: int = 0  # started
    played: int = 0  # towards `matches_wanted`: open, or ended and not void
    open: int = 0  # being played
    without_house: int = 0  # matches since the last with a house bot
    waits_since: float | None = None  # since when it waits for more free bots
    short_since: float | None = None  # since when too few bots are free, and house bots could fill the seats
    lasted_s: float = 0.0  # duration of the latest match
    not_before: float = 0.0

    @property
    def is_complete(self) -> bool:
        """Whether it has had all its wanted matches."""
        wanted = self.ladder.matches_wanted
        return wanted is not None and self.played >= wanted

    @property
    def fewest(self) -> int:
        """Minimum number of free bots for a match to begin, since house bots may fill seats."""
        return 1 if self.house else self.ladder.seats

    def others(self, identity: Identity) -> OtherEntrants:
        """Return the other bots on the ladder."""
        return OtherEntrants.of(identity, [player.identity for player in self.entries])

    def enter(self, player: PairableBot) -> None:
        """Add an online bot if it wants to play here, may, and there is room."""
        ladder, identity = self.ladder, player.identity
        is_house = identity.owner == HOUSE
        entries = self.house if is_house else self.entries
        if player in entries or not player.plays(ladder.game, ladder.name) or not may_play(ladder, identity):
            return
        if ladder.boards == "rotation" and not player.forgets:
            return
        if not is_house and ladder.terms.is_limited and why_full(ladder, identity, self.others(identity)):
            return
        entry = self.gone.pop(identity, None)
        if entry is None:
            joined = self._joined(0, list(self.entries.values()))
            entry = PairingCandidate(
                player, side_of(identity), joined, [0] * ladder.seats, ladder.rating.mu, came_with=joined
            )
        else:
            entry.player = player
            entry.matches = self._joined(entry.matches, list(self.entries.values()))
        entries[player] = self.known[identity] = entry
        if not is_house:
            self.sides[entry.side] += 1

    def leave(self, player: PairableBot) -> bool:
        """Remove a bot, and remember it.

        Returns:
            Whether it was on the ladder and not a house bot.
        """
        entry = self.entries.pop(player, None)
        if entry is not None:
            self.sides[entry.side] -= 1
            if not self.sides[entry.side]:
                del self.sides[entry.side]
        was_counted = entry is not None
        entry = entry if was_counted else self.house.pop(player, None)
        if entry is not None:
            if self.known.get(player.identity) is entry:
                del self.known[player.identity]
            self.gone[player.identity] = entry
            if len(self.gone) > MOST_GONE:
                del self.gone[next(iter(self.gone))]
        return was_counted

    def change(self, ladder: Ladder, there: Iterable[PairableBot]) -> None:
        """Put new terms in force: remove bots that they exclude, and add bots that they admit."""
        self.ladder = ladder
        for player in [one for one in (*self.entries, *self.house) if not may_play(ladder, one.identity)]:
            self.leave(player)
        if ladder.terms.is_limited:
            self._make_room()
        for player in there:
            self.enter(player)

    def _make_room(self) -> None:
        """Remove the latest bots that exceed a limit, of all bots or of one owner."""
        stay: list[Identity] = []
        for player in list(self.entries):
            if why_full(self.ladder, player.identity, OtherEntrants.of(player.identity, stay)):
                self.leave(player)
            else:
                stay.append(player.identity)

    @staticmethod
    def _joined(matches: int, others: Sequence[PairingCandidate]) -> int:
        """Return how many matches a bot that enters counts as having played.

        A bot with fewer matches than the others does not catch up, unless it is only a little behind. A bot with more
        matches does not wait until the others have caught up.
        """
        if not others:
            return matches
        least = min([one.matches for one in others])
        return min(matches, least + LAG) if matches >= least - LAG else least

    # -- what the store reports
    def know(self, identity: Identity, skill: Skill, matches: int) -> None:
        """Set the pairing skill and number of rated matches of a bot that entered."""
        self.rated(identity, skill)
        entry = self.known.get(identity)
        if entry is not None and entry.came_with is not None:
            # After a restart all bots enter at once, and count from 0 until the store has answered.
            others = [one for one in self.entries.values() if one.came_with is None]
            entry.matches += self._joined(matches, others) - entry.came_with
            entry.came_with = None

    def rated(self, identity: Identity, skill: Skill) -> None:
        """Set the pairing skill of a bot."""
        for entry in (self.known.get(identity), self.gone.get(identity)):
            if entry is not None:
                entry.mu = skill.mu

    # -- who could play
    def free(self, free: Iterable[PairableBot], kept: Container[PairableBot] = ()) -> list[PairingCandidate]:
        """Return the entries of these free bots on the ladder, without those in `kept`."""
        entries = self.entries
        return [entries[player] for player in free if player in entries and player not in kept]


def side_of(identity: Identity) -> tuple[str, ...]:
    """Return the owner; where bots have no real owner, owner and bot name. Bots of the same side never meet."""
    return identity[:2] if identity.owner in (NOBODY, HOUSE) else identity[:1]
