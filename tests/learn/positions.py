"""Decisions with a choice, from random games of every kind, half of them led by the built-in bot `greedy`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from cutpurse.bots.greedy_bot import GreedyBot
from cutpurse.engine.agenda import Option
from cutpurse.engine.game import Game
from cutpurse.engine.view import View
from cutpurse.games import GAMES
from cutpurse.sdk.decision import Decision
from cutpurse.sdk.views import VIEWS
from tests.properties.random_play import RandomGame

__all__ = ["Position", "greedy_answer", "positions"]

BY_CHANCE = 0.3  # of the answers in games that `greedy` leads: it reaches positions that random play does not


@dataclass(frozen=True)
class Position:
    """A seat that has a choice."""

    game: Game
    seat: int
    options: list[Option]
    view: View


def positions(name: str, seats: int, count: int, greedy: bool = False) -> Iterator[Position]:
    """Yield this many decisions of games with drawn settings."""
    number = 0
    while True:
        play = RandomGame(GAMES[name], seats, number)
        number += 1
        game = play.begin()
        while game.waiting():
            seat = play.random.choice(game.waiting())
            options = game.options(seat)
            option = play.random.choice(options)
            if len(options) > 1:
                view = game.view(seat)
                if count == 0:
                    return
                count -= 1
                yield Position(game, seat, options, view)
                if greedy and play.random.random() >= BY_CHANCE:
                    option = greedy_answer(game, seat, options, view)
            game.choose(seat, option)


def greedy_answer(game: Game, seat: int, options: list[Option], view: View) -> Option:
    """Return what `greedy` answers."""
    seen = VIEWS[game.words.game](view, None, 0)
    safe = partial(game.safe_option, seat, options)
    return GreedyBot().choose(seen, Decision(0, game.question.name, options, safe, seen)).raw
