"""A match that goes on to the next choice, and remembers everything that each seat has heard.

`text(seat)` is the perfect recall of a seat: the events as the seat heard them, and its own answers. `imagined` draws
another match that the seat cannot tell from this one. This module knows no learning library.
"""

from __future__ import annotations

import json
from typing import Any, Final, Self

from cutpurse.engine.acts import Act
from cutpurse.engine.agenda import Option
from cutpurse.engine.chance import Chance
from cutpurse.engine.events import Event
from cutpurse.engine.game import Game
from cutpurse.engine.imagine import imagine
from cutpurse.engine.view import View
from cutpurse.learn.space import Space

__all__ = ["RememberedMatch"]

SPECTATOR: Final = -1  # in place of a seat: its text is what everybody may know


class RememberedMatch:
    """A match whose state can be copied at the cost of a fork.

    Questions with one option are answered here. Several seats that are asked at once answer one after the other.
    """

    __slots__ = ("_answers", "_texts", "game", "options", "seat", "view")

    view: View  # of the seat that is asked; at the end, of the seat asked last

    def __init__(self, game: Game, before: dict[int, str]) -> None:
        """Begin with a game that waits for its first answer.

        Args:
            game: A game with a log.
            before: What each seat and the spectator heard before the log begins.
        """
        self.game = game
        self.seat: int | None = None  # the seat that is asked; None when the match is over
        self.options: dict[int, Option] = {}  # by their numbers, ascending
        # By seat, with the number of events and answers that are in it.
        self._texts = {seat: (0, 0, text) for seat, text in before.items()}
        self._answers: list[tuple[int, int, int]] = []  # number of events before it, seat, number of the option

    @classmethod
    def deal(cls, space: Space, key: bytes) -> Self:
        """Deal a match, and go on to its first choice."""
        game = space.rules(space.seats, space.rules.set_up(space.seats, {}), Chance(key))
        game.start(log=True)
        match = cls(game, dict.fromkeys((*range(space.seats), SPECTATOR), ""))
        match.go_on(space)
        return match

    def answer(self, space: Space, number: int) -> None:
        """Answer with the option of a number, and go on to the next choice."""
        assert self.seat is not None
        self._choose(self.seat, number, self.options[number])
        self.go_on(space)

    def _choose(self, seat: int, number: int, option: Option) -> None:
        assert self.game.log is not None
        self._answers.append((len(self.game.log), seat, number))
        self.game.choose(seat, option)

    def go_on(self, space: Space) -> None:
        """Answer what has one option, up to the next choice or the end."""
        game = self.game
        while waiting := game.waiting():
            seat = waiting[0]
            options = game.options(seat)
            if len(options) > 1:
                self._ask(space, seat, options)
                return
            game.choose(seat, options[0])
        self.seat, self.options = None, {}

    def _ask(self, space: Space, seat: int, options: list[Option]) -> None:
        self.seat, self.view = seat, self.game.view(seat)
        numbers = space.option_numbers(self.view, options)
        self.options = dict(sorted(zip(numbers, options, strict=True)))

    def text(self, seat: int) -> str:
        """Return all that a seat has heard and answered, a line each."""
        log = self.game.log or []
        viewer = self.game.n if seat == SPECTATOR else seat
        events, answers, text = self._texts[seat]
        lines = [text]
        for place, who, number in self._answers[answers:]:
            if who == seat:
                lines += [_line(event, viewer) for event in log[events:place]]
                lines.append(f"answer {number}\n")
                events = place
        lines += [_line(event, viewer) for event in log[events:]]
        text = "".join(lines)
        self._texts[seat] = len(log), len(self._answers), text
        return text

    def imagined(self, space: Space, seat: int, chance: Chance) -> RememberedMatch:
        """Draw a match with other hidden cards, which this seat cannot tell from this one.

        The seat keeps its text. The others have heard what the spectator has, and seen the drawn table. Sealed
        answers of others are drawn anew.
        """
        real = self.game
        game = imagine(real.view(seat), chance)
        game.log = []
        public = self.text(SPECTATOR)
        before = {other: f"{public}{_seen(game, other)}\n" for other in range(game.n)}
        match = RememberedMatch(game, {**before, seat: self.text(seat), SPECTATOR: public})
        for other, given in real.answers.items():
            if other == seat:
                game.choose(seat, given)  # which is in its text already
                continue
            options = game.options(other)
            drawn = options[chance.below(len(options))]
            match._choose(other, space.number(game.view(other), drawn), drawn)
        if self.seat is not None:
            match._ask(space, self.seat, game.options(self.seat))
        return match

    def __deepcopy__(self, memo: dict[int, Any]) -> RememberedMatch:
        """Fork, so that a search costs what it must."""
        copy = RememberedMatch(self.game.__deepcopy__(memo), {})
        copy._texts = self._texts.copy()
        copy.seat, copy.options, copy._answers = self.seat, self.options, self._answers[:]
        if self.seat is not None:
            copy.view = self.view
        return copy


def _line(event: Event, viewer: int) -> str:
    """Format an event as a viewer hears it: its name and values, as JSON in a line."""
    heard = event.to(viewer)
    values = [value.values() if isinstance(value, Act) else value for value in heard]
    return json.dumps([type(heard).__name__, *values], separators=(",", ":")) + "\n"


def _seen(game: Game, seat: int) -> str:
    return game.view(seat).to_bytes().decode()
