"""A match played in lockstep by the engine and by a second implementation of its game.

The second implementation (a telling) is written only from the rule sheet, as one generator with its own cards that asks
its players by `yield`. It copies the deal and the random stream from the engine. From then on both get the same
answers. At every decision they must agree on the asked seats, their options, and the position of all cards.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Sequence
from typing import Any, Protocol, TypeAlias

from cutpurse.engine.agenda import Option
from cutpurse.engine.game import Game

__all__ = ["Asked", "Play", "Telling", "Told", "in_lockstep"]

Told: TypeAlias = tuple[Any, ...]  # an option: its verb, and what distinguishes it from the others
Asked: TypeAlias = tuple[str, dict[int, list[Told]]]  # a decision, and the options of each asked seat
Play: TypeAlias = Generator[Asked, dict[int, Told], None]  # receives the answers by seat


class Telling(Protocol):
    """A second implementation of a game, created from an engine after the deal."""

    def play(self) -> Play:
        """Play the whole match."""

    def told(self, seat: int, option: Option) -> Told:
        """Convert an option of the engine."""

    def check(self, question: str) -> None:
        """Check that all cards lie as in the engine at this decision.  Raises AssertionError."""

    def check_end(self) -> None:
        """Check that the match has ended as in the engine.  Raises AssertionError."""

    def liked(self, question: str, options: Sequence[Option], rng: random.Random) -> Sequence[Option]:
        """Return the options to choose from at random, so that rare situations occur."""


def in_lockstep(game: Game, telling: Telling, rng: random.Random) -> int:
    """Play a match to its end; return the number of decisions.  Raises AssertionError if the two differ."""
    play = telling.play()
    asked: Asked | None = next(play)
    decisions = 0
    while waiting := game.waiting():
        question = game.question.name
        assert asked is not None, f"{question}: the match is over"
        assert (asked[0], sorted(asked[1])) == (question, list(waiting))
        telling.check(question)
        chosen = {}
        for seat in waiting:
            offered = game.options(seat)
            assert sorted((telling.told(seat, one) for one in offered), key=repr) == sorted(asked[1][seat], key=repr)
            assert game.safe_option(seat, offered) in offered
            chosen[seat] = rng.choice(telling.liked(question, offered, rng))
        answers = {seat: telling.told(seat, option) for seat, option in chosen.items()}
        for seat, option in chosen.items():
            game.choose(seat, option)
        decisions += len(waiting)
        try:
            asked = play.send(answers)
        except StopIteration:
            asked = None
    assert asked is None, f"{asked}: the match is over in the engine"
    telling.check_end()
    return decisions
