"""Random games for property tests, deterministic by seed.

Settings are drawn from the game's own declarations, so a new setting needs no change here. Numbers are drawn low,
because a limit of 500 rounds only makes a game longer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from cutpurse.engine.agenda import Option
from cutpurse.engine.chance import Chance, match_key
from cutpurse.engine.errors import SettingsError
from cutpurse.engine.game import Game
from cutpurse.engine.knowledge_level import viewers_at
from cutpurse.games import GAMES

__all__ = ["EVERY_GAME", "EVERY_TABLE", "RandomGame", "all_cards", "answer_at_random", "canonical", "settings_for"]

EVERY_GAME = sorted(GAMES)
# Other than default numbers of players are tested only in the full run, each by the tests for which it is drawn.
_OTHER = (pytest.mark.full, pytest.mark.drawn)
EVERY_TABLE = [
    pytest.param(name, seats, id=f"{name}-{seats}", marks=() if seats == GAMES[name].usual_seats else _OTHER)
    for name in EVERY_GAME
    for seats in GAMES[name].words.seats
]


def settings_for(rules: type[Game], seats: int, random: Random) -> dict[str, object]:
    """Draw settings for this number of players; about half of them stay at their defaults."""
    while True:
        settings: dict[str, object] = {}
        for name, kind in rules.settings_type.kinds().items():
            if random.random() < 0.5:
                continue
            if kind.keys:
                settings[name] = ",".join(f"{key}:{random.randrange(-4, 9) * 50}" for key in kind.keys[::5])
            elif kind.least is not None and kind.most is not None:
                low = range(kind.least, kind.most + 1, kind.step)[:3]
                settings[name] = random.choice([*kind.names, *low])
            else:
                settings[name] = random.choice([*kind.values, *kind.names])
        try:
            rules.check(seats, settings)
        except SettingsError:
            continue
        return settings


def answer_at_random(game: Game, random: Random) -> tuple[int, Option]:
    """Choose a random waiting seat and one of its options."""
    seat = random.choice(game.waiting())
    return seat, random.choice(game.options(seat))


def all_cards(game: Game) -> list[int]:
    """Return all cards on the table, sorted."""
    return sorted(card for zone in game.zones() for card in zone.cards)


def canonical(saved: dict[str, Any]) -> str:
    """Format a save as text that is equal if and only if the states are equal."""
    return json.dumps(saved, sort_keys=True)


@dataclass
class RandomGame:
    """Random game `number` of a game with `seats` seats."""

    rules: type[Game]
    seats: int
    number: int

    def __post_init__(self) -> None:
        self.name = f"{self.rules.words.game}/{self.seats}/{self.number}"
        self.random = Random(self.name)
        self.key = match_key("properties/" + self.name, self.number)
        # Every fifth game has default settings, which are played most.
        self.settings = {} if self.number % 5 == 0 else settings_for(self.rules, self.seats, self.random)
        self.answers: list[tuple[int, Option]] = []

    def __str__(self) -> str:
        return f"game {self.name} with {self.settings or 'the usual settings'} after {len(self.answers)} answers"

    def begin(self, log: bool = False, knowledge: str = "proof") -> Game:
        """Start the game, with or without an event log, for viewers of this level of knowledge."""
        game = self.rules(self.seats, self.rules.check(self.seats, self.settings), Chance(self.key))
        game.remember(*viewers_at(knowledge, self.seats + 1))
        game.start(log)
        return game

    def play(self, game: Game) -> Iterator[Game]:
        """Play to the end, and yield the game before each random answer; the answers are stored in `answers`."""
        while game.waiting():
            yield game
            seat, option = answer_at_random(game, self.random)
            self.answers.append((seat, option))
            game.choose(seat, option)
