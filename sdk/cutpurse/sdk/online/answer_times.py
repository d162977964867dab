"""A bot's recent answer times, and how long to delay an answer that leaves it no choice.

A server also asks where a seat has one option. If such answers came at once, the other players could see from the clock
who had a choice, and infer cards. So they take as long as real answers: a time is drawn from the bot's recent times for
the same question. Times are passed in; this module knows no clock and no game.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from typing import Final

__all__ = ["DEFAULT_S", "AnswerTimes"]

RECENT: Final = 64  # answers stored per kind
ENOUGH: Final = 8  # answers of a kind that are needed to draw from it
DEFAULT_S: Final = 0.05  # for a bot without any answer yet


class AnswerTimes:
    """The recent answer times of one bot, over all its matches, in seconds from the question's arrival."""

    def __init__(self, chance: Callable[[], float] = random.random) -> None:
        """Start without times.  `chance` returns numbers from 0 to 1."""
        self._chance = chance
        self._all: deque[float] = deque(maxlen=RECENT)
        self._windows: dict[str, deque[float]] = {}  # by game
        self._asks: dict[tuple[str, str], deque[float]] = {}  # by game and question

    def add(self, game: str, ask: str, is_window: bool, seconds: float) -> None:
        """Add the time of a real answer."""
        self._all.append(seconds)
        self._asks.setdefault((game, ask), deque(maxlen=RECENT)).append(seconds)
        if is_window:
            self._windows.setdefault(game, deque(maxlen=RECENT)).append(seconds)

    def draw(self, game: str, ask: str, is_window: bool) -> float:
        """Draw the time in seconds for an answer with one option.

        It comes from recent answers to the same question. If these are few, it comes from answers to all windows of the
        game if this is a window, else from all answers. Without any answers it is `DEFAULT_S`. Values between two
        neighbouring times are drawn too, since an exactly repeated time could be recognised.
        """
        times = self._asks.get((game, ask), ())
        if len(times) < ENOUGH and is_window:
            times = self._windows.get(game, ())
        if len(times) < ENOUGH:
            times = self._all
        if not times:
            return DEFAULT_S
        ordered = sorted(times)
        place = self._chance() * (len(ordered) - 1)
        lower = int(place)
        upper = min(lower + 1, len(ordered) - 1)
        return ordered[lower] + (place - lower) * (ordered[upper] - ordered[lower])
