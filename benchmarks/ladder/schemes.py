"""Five pairing schemes with the same three methods.

`random`, `near`, `window` and `informed` are implemented here. `ours` is the server's own pairing.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from random import Random
from statistics import NormalDist
from typing import Final, Protocol

from cutpurse.engine.chance import Chance
from cutpurse.engine.errors import SettingsError
from cutpurse.games import GAMES
from cutpurse.leaderboard.ratings import Skill, TrueSkill
from cutpurse.leaderboard.results import Change, Identity
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.matchmaking import Pairing, Seating
from cutpurse.server.matches.opponents import SLACK

__all__ = ["SCHEMES", "Informed", "Near", "Ours", "Scheme", "Uniform", "Window", "scheme_named"]

NEAR: Final = 2  # `near` draws from this many nearest bots per seat
WINDOW: Final = 5.0  # as in Halite: draw from the 5 / (0.01 + u) ** 0.65 nearest, u in (0, 1)
WINDOW_POWER: Final = 0.65
SURE: Final = 1e-12  # minimum product of two probabilities; smaller values are rounding errors
LADDER: Final = "simulated"
_NORMAL: Final = NormalDist()


class Scheme(Protocol):
    """A pairing of bots 0, 1, ..., each in at most one match at a time."""

    def next(self) -> tuple[int, ...] | None:
        """Return the bots of the next match by seat; None if a match must end first."""

    def ended(self, bots: Sequence[int]) -> None:
        """Note the end of the match of these bots."""

    def rated(self, skills: Mapping[int, Skill]) -> None:
        """Update the skills of some bots."""


class _Simple(ABC):
    """A scheme that starts with the bot of fewest matches; a subclass chooses opponents, and seats are random."""

    def __init__(self, bots: int, seats: int, settings: TrueSkill, seed: str) -> None:
        self.random = Random(f"{seed}/pairing")
        self.seats = seats
        self.luck = settings.beta
        self.mus = [settings.mu] * bots
        self.sigmas = [settings.sigma] * bots
        self.matches = [0] * bots
        self.free = set(range(bots))

    def next(self) -> tuple[int, ...] | None:
        if len(self.free) < self.seats:
            return None
        free = sorted(self.free)
        least = min(self.matches[bot] for bot in free)
        first = self.random.choice([bot for bot in free if self.matches[bot] == least])
        free.remove(first)
        chosen = [first, *self.random.sample(self.around(first, free), self.seats - 1)]
        self.random.shuffle(chosen)
        self.free.difference_update(chosen)
        for bot in chosen:
            self.matches[bot] += 1
        return tuple(chosen)

    def ended(self, bots: Sequence[int]) -> None:
        self.free.update(bots)

    def rated(self, skills: Mapping[int, Skill]) -> None:
        for bot, skill in skills.items():
            self.mus[bot], self.sigmas[bot] = skill

    @abstractmethod
    def around(self, first: int, others: list[int]) -> list[int]:
        """Return the bots from which opponents are drawn."""

    def nearest(self, first: int, others: list[int], count: int) -> list[int]:
        """Return the `count` nearest bots, or more if a match needs more."""
        mu = self.mus[first]
        return sorted(others, key=lambda bot: abs(self.mus[bot] - mu))[: max(count, self.seats - 1)]


class Uniform(_Simple):
    """The scheme `random`: any opponents."""

    def around(self, first: int, others: list[int]) -> list[int]:
        return others


class Near(_Simple):
    """The scheme `near`: only the nearest opponents."""

    def around(self, first: int, others: list[int]) -> list[int]:
        return self.nearest(first, others, NEAR * self.seats)


class Window(_Simple):
    """The scheme `window`: a window of random size around the first bot, mostly narrow, with a long tail."""

    def around(self, first: int, others: list[int]) -> list[int]:
        return self.nearest(first, others, int(WINDOW / (0.01 + self.random.random()) ** WINDOW_POWER))


class Informed(_Simple):
    """The scheme `informed`: the most informative opponents, among those with not many more matches than others."""

    def around(self, first: int, others: list[int]) -> list[int]:
        most = min(self.matches[bot] for bot in others) + SLACK
        fair = [bot for bot in others if self.matches[bot] <= most]
        chosen = [first]
        while len(chosen) < self.seats:
            rest = [bot for bot in (fair if len(fair) >= self.seats - 1 else others) if bot not in chosen]
            self.random.shuffle(rest)
            chosen.append(max(rest, key=lambda bot: sum(self.told(bot, other) for other in chosen)))
        return chosen[1:]

    def told(self, one: int, other: int) -> float:
        """Return the expected reduction of the variance of two bots by a match of both without ties.

        TrueSkill reduces each variance by sigma^4 / c^2 w, with c^2 = 2 beta^2 + both sigma^2. w depends on the winner;
        its mean is used here. It is 2 / pi for equal bots, and less if one is clearly better.
        """
        mine, his = self.sigmas[one] ** 2, self.sigmas[other] ** 2
        spread = 2 * self.luck**2 + mine + his
        apart = (self.mus[one] - self.mus[other]) / math.sqrt(spread)
        ahead, density = _NORMAL.cdf(apart), _NORMAL.pdf(apart)
        return (mine * mine + his * his) / spread * density * density / max(ahead * (1 - ahead), SURE)


@dataclass(slots=True, eq=False)
class _Bot:
    """A connected bot, for the server's pairing."""

    number: int
    identity: Identity
    free_tables: int = 1
    max_tables: int = 1
    declines_requests: bool = False
    forgets: bool = False

    def plays(self, game: str, ladder: str) -> bool:
        return True


class Ours:
    """The scheme `ours`: the server's pairing with a simulated clock; `at_once` matches end per match duration."""

    def __init__(self, bots: int, seats: int, settings: TrueSkill, seed: str, at_once: int = 1) -> None:
        """Set up the pairing.  Raises ValueError if no game has this number of seats."""
        self._ladder = Ladder(LADDER, _game_with(seats), seats, rating=settings)
        self._pairing = Pairing([self._ladder], Chance(sha256(f"{seed}/pairing".encode()).digest()))
        self._bots = [_Bot(number, Identity(f"owner{number}", "bot", "1")) for number in range(bots)]
        self._seated: dict[tuple[int, ...], Seating] = {}
        self._now, self._step = 0.0, 1.0 / at_once
        for bot in self._bots:
            self._pairing.enter(bot)

    def next(self) -> tuple[int, ...] | None:
        until = self._now + self._step
        while (seating := self._pairing.next(self._now)) is None:
            due = self._pairing.next_event_at()
            if due is None or due <= self._now or (due > until and self._seated):
                return None
            self._now = due
        bots = [player for player in seating.players if isinstance(player, _Bot)]
        for bot in bots:
            bot.free_tables -= 1
            self._pairing.changed(bot)
        numbers = tuple(bot.number for bot in bots)
        self._seated[numbers] = seating
        return numbers

    def ended(self, bots: Sequence[int]) -> None:
        self._now += self._step
        self._pairing.ended(self._seated.pop(tuple(bots)), lasted_s=1.0, is_void=False)
        for number in bots:
            self._bots[number].free_tables += 1
            self._pairing.changed(self._bots[number])

    def rated(self, skills: Mapping[int, Skill]) -> None:
        self._pairing.rated(LADDER, [Change(self._bots[bot].identity, skill, skill) for bot, skill in skills.items()])


def _game_with(seats: int) -> str:
    """Return a game with this number of seats; it is never played."""
    for name, rules in GAMES.items():
        try:
            rules.check(seats, {})
        except SettingsError:
            continue
        return name
    raise ValueError(f"none of our games is for {seats} seats, so the server would not pair for it")


_SIMPLE: Final[Mapping[str, Callable[[int, int, TrueSkill, str], Scheme]]] = {
    "random": Uniform,
    "near": Near,
    "window": Window,
    "informed": Informed,
}
SCHEMES: Final = (*_SIMPLE, "ours")


def scheme_named(name: str, bots: int, seats: int, settings: TrueSkill, seed: str, at_once: int = 1) -> Scheme:
    """Create a scheme of `SCHEMES`.  Raises ValueError if there is none of this name."""
    if name == "ours":
        return Ours(bots, seats, settings, seed, at_once)
    if name not in _SIMPLE:
        raise ValueError(f"no scheme {name}; there are {', '.join(SCHEMES)}")
    return _SIMPLE[name](bots, seats, settings, seed)
