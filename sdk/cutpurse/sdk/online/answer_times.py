"""How long a bot's answers have lately taken, and how long an answer that leaves it no choice is to take.

A server also asks where a seat has one option. If such answers came at once, the other players could tell by the clock
who had a choice, and so who holds what. So they take as long as the bot's real answers: a time is drawn from those it
has lately needed for the same question. Times are handed in; this module knows no clock and no game.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from typing import Final

__all__ = ["DEFAULT_S", "AnswerTimes"]

RECENT: Final = 64  # answers that are remembered of each kind
ENOUGH: Final = 8  # answers of a kind before it is drawn from
DEFAULT_S: Final = 0.05  # for a bot that has not answered anything yet


class AnswerTimes:
    """The recent answer times of one bot, over all its matches, in seconds from the question's arrival."""

    def __init__(self, chance: Callable[[], float] = random.random) -> None:
        """`chance` gives numbers from 0 to 1."""
        self._chance = chance
        self._all: deque[float] = deque(maxlen=RECENT)
        self._windows: dict[str, deque[float]] = {}  # by game
        self._asks: dict[tuple[str, str], deque[float]] = {}  # by game and question

    def add(self, game: str, ask: str, is_window: bool, seconds: float) -> None:
        """Note how long a real answer took."""
        self._all.append(seconds)
        self._asks.setdefault((game, ask), deque(maxlen=RECENT)).append(seconds)
        if is_window:
            self._windows.setdefault(game, deque(maxlen=RECENT)).append(seconds)

    def draw(self, game: str, ask: str, is_window: bool) -> float:
        """Draw the time for an answer with one option.

        It comes from recent answers to the same question. While these are few, it comes from those to all windows of
        the game if this is one, else from all answers, else it is `DEFAULT_S`. Values between two neighbouring times
        are drawn too: a time that came again exactly could be recognised.
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
