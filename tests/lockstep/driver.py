"""A match played twice at once: by the engine, and by a second telling of its game's sheet.

A telling is written from the sheet alone, as one straight story that holds its own cards and asks its players by
`yield`. It takes from the engine how the cards lie after the deal, and a copy of chance; from then on both are given
the same answers, and at every question they are to agree on who is asked, what may be answered, and where cards lie.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Sequence
from typing import Any, Protocol, TypeAlias

from cutpurse.engine.agenda import Option
from cutpurse.engine.game import Game

__all__ = ["Asked", "Play", "Telling", "Told", "in_lockstep"]

Told: TypeAlias = tuple[Any, ...]  # an option: its verb, and what tells it from the others
Asked: TypeAlias = tuple[str, dict[int, list[Told]]]  # a question, and the options of each seat that is asked
Play: TypeAlias = Generator[Asked, dict[int, Told], None]  # is sent the answers by seat


class Telling(Protocol):
    """A second telling of a game, which goes on beside an engine that was dealt and not played yet."""

    def play(self) -> Play:
        """The whole match."""

    def told(self, seat: int, option: Option) -> Told:
        """An option of the engine, as this tells it."""

    def check(self, question: str) -> None:
        """All cards lie as they do in the engine, which asks this now.  Raises AssertionError."""

    def check_end(self) -> None:
        """The match has ended as it does in the engine.  Raises AssertionError."""

    def liked(self, question: str, options: Sequence[Option], rng: random.Random) -> Sequence[Option]:
        """Those of the options to choose from at random, so that rare things come to pass."""


def in_lockstep(game: Game, telling: Telling, rng: random.Random) -> int:
    """Play a match to its end; how many decisions it took.  Raises AssertionError where the two differ."""
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
