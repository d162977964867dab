"""The books of one ladder: who is on it, how often each has played and on which seat, and what is believed of him.

What is counted is towards fairness, and not the truth: whoever comes is taken to have played nearly as often as those
who are there. This module knows no other ladder, no clock and no chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from cutpurse.leaderboard.ratings import Skill
from cutpurse.leaderboard.tokens import NOBODY
from cutpurse.server.finished_match import HOUSE, Identity
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.ladder_terms import OtherEntrants, may_play, why_full

__all__ = ["LAG", "LadderRoster", "PairingCandidate", "PairableBot"]

LAG: Final = 8  # matches: nobody is taken to be further behind the others than this, or as a newcomer further ahead
MOST_MET: Final = 256  # sides that are kept in mind: with a thousand bots nobody meets the same ones again soon
MOST_GONE: Final = 1_024  # bots that left: so many are known again when they come back


class PairableBot(Protocol):
    """A bot that is there, as far as pairing looks at it."""

    @property
    def identity(self) -> Identity:
        """Who it is."""

    @property
    def free_tables(self) -> int:
        """At how many more tables it would sit down now."""

    @property
    def max_tables(self) -> int:
        """Maximum number of tables that it sits at."""

    @property
    def declines_requests(self) -> bool:
        """Whether only its own owner may ask for matches with it."""

    @property
    def forgets(self) -> bool:
        """Whether it keeps nothing from one match to the next, so that it may meet the same cards again."""

    def plays(self, game: str, ladder: str) -> bool:
        """Whether it wants to be paired on this ladder of this game; the same answer as long as it is there."""


@dataclass(slots=True, eq=False)
class PairingCandidate:
    """One bot on one ladder."""

    player: PairableBot
    side: tuple[str, ...]  # whoever has the same does not sit at the same table
    matches: int
    seats: list[int]  # matches on each seat
    mu: float  # what is believed of its skill
    met: Counter[tuple[str, ...]] = field(default_factory=Counter)  # matches with each side
    behind: int = 0  # what it would have to play here to have played all ladders equally often, in shares of a match
    came_with: int | None = None  # what `matches` was when it came, until the store has said how many it has had
    # For each bot, how much more than due it sat on the seat after this one, in shares of 1 / (seats - 1) of a match.
    neighbour_excess: Counter[Identity] = field(default_factory=Counter)

    def meet(self, entries: Iterable[PairingCandidate]) -> None:
        """Seat the bot with these, itself among them."""
        if len(self.met) > MOST_MET:
            self.met.clear()
        self.met.update([entry.side for entry in entries])

    def sit(self, seat: int, table: Sequence[PairingCandidate]) -> None:
        """Count a match on this seat, and who sits on the seat after it."""
        self.seats[seat] += 1
        if len(self.neighbour_excess) > MOST_MET:
            self.neighbour_excess.clear()
        for other in table:
            if other is not self:
                self.neighbour_excess[other.player.identity] -= 1
        following = table[(seat + 1) % len(table)]
        self.neighbour_excess[following.player.identity] += len(table) - 1

    def seat_excess(self, seat: int) -> int:
        """Return how much more than due it had this seat, in shares of 1 / seats of a match."""
        return len(self.seats) * self.seats[seat] - sum(self.seats)


@dataclass(slots=True, eq=False)
class LadderRoster:
    """One ladder."""

    ladder: Ladder
    entries: dict[PairableBot, PairingCandidate] = field(default_factory=dict)
    house: dict[PairableBot, PairingCandidate] = field(
        default_factory=dict
    )  # house bots, which are not among the others
    gone: dict[Identity, PairingCandidate] = field(default_factory=dict)  # who left, the last ones
    known: dict[Identity, PairingCandidate] = field(default_factory=dict)  # of `entries` and `house`
    sides: Counter[tuple[str, ...]] = field(default_factory=Counter)  # of `entries`
    matches: int = 0  # started
    played: int = 0  # towards matches_wanted: open or ended well
    open: int = 0  # being played
    without_house: int = 0  # matches since the last with a house bot
    waits_since: float | None = None  # for one more bot to be free
    short_since: float | None = None  # too few are free, and house bots could take the other seats
    lasted_s: float = 0.0  # the last match
    not_before: float = 0.0

    @property
    def is_complete(self) -> bool:
        """Whether it has had all the matches that are wanted of it."""
        wanted = self.ladder.matches_wanted
        return wanted is not None and self.played >= wanted

    @property
    def fewest(self) -> int:
        """So many bots are free at least where a match can begin: house bots may take the other seats."""
        return 1 if self.house else self.ladder.seats

    def others(self, identity: Identity) -> OtherEntrants:
        """List the other bots on the ladder."""
        return OtherEntrants.of(identity, [player.identity for player in self.entries])

    def enter(self, player: PairableBot) -> None:
        """Add a bot that is online, if it wants to play here, may, and there is room."""
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
                player, _side(identity), joined, [0] * ladder.seats, ladder.rating.mu, came_with=joined
            )
        else:
            entry.player = player
            entry.matches = self._joined(entry.matches, list(self.entries.values()))
        entries[player] = self.known[identity] = entry
        if not is_house:
            self.sides[entry.side] += 1

    def leave(self, player: PairableBot) -> bool:
        """Remove a bot.  Returns whether it counted."""
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
        """Its terms are others from now on: some of those who are there go, and others come."""
        self.ladder = ladder
        for player in [one for one in (*self.entries, *self.house) if not may_play(ladder, one.identity)]:
            self.leave(player)
        if ladder.terms.is_limited:
            self._make_room()
        for player in there:
            self.enter(player)

    def _make_room(self) -> None:
        """Those for whom there is no place any more go: whoever came last, of all and of each owner."""
        stay: list[Identity] = []
        for player in list(self.entries):
            if why_full(self.ladder, player.identity, OtherEntrants.of(player.identity, stay)):
                self.leave(player)
            else:
                stay.append(player.identity)

    @staticmethod
    def _joined(matches: int, others: Sequence[PairingCandidate]) -> int:
        """How often whoever comes is taken to have played.

        Who has played less than the others does not make up for it, unless he was only a little behind; and who has
        played more does not wait until they have caught up.
        """
        if not others:
            return matches
        least = min([one.matches for one in others])
        return min(matches, least + LAG) if matches >= least - LAG else least

    # -- what the store tells
    def know(self, identity: Identity, skill: Skill, matches: int) -> None:
        """Set the pairing skill and the number of rated matches of a bot that has come."""
        self.rated(identity, skill)
        entry = self.known.get(identity)
        if entry is not None and entry.came_with is not None:
            # After a restart all come at once, and count from nothing until the store has told of them.
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
        """Return the entries of these bots that are on the ladder, without remembered ones."""
        entries = self.entries
        return [entries[player] for player in free if player in entries and player not in kept]


def _side(identity: Identity) -> tuple[str, ...]:
    """Bots of one owner are on one side; where nobody in particular owns them, the versions of a bot are."""
    return identity[:2] if identity.owner in (NOBODY, HOUSE) else identity[:1]
