"""How long answers take or wait, so that time does not tell who had a choice.

A server also asks where a seat has one option. If such answers came at once, the other players could see from the clock
who had a choice, and infer cards.

A **window** is a question where hidden cards decide who has a choice. What is sent for it takes equally long with and
without a choice, from the first one on. What decides how a window is answered is known before the match begins, because
a seat with more choices would learn sooner:

* If enough answers to the same question were seen in earlier matches, real answers are sent as they are, and the others
  take a time that is drawn from those.
* Else both wait for a time that is drawn from one slow range. An answer that takes longer is sent when it is ready. It
  has then betrayed itself, so the range rises above it; an answer that was hidden by the range does not move it.

At other questions real answers are sent as they are, so that everybody sees how long they take. What this match has
shown of them may be used at once.

Times are passed in; this module knows no clock.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import inf
from typing import Final, NamedTuple

from cutpurse.engine.agenda import Question
from cutpurse.games import GAMES

__all__ = ["ENOUGH", "FOR_BOTS", "RECENT", "AnswerTimes", "MatchTimes", "WaitLimits"]

RECENT: Final = 64  # answers stored per question
ENOUGH: Final = 16  # answers to a window that are needed to draw from them
FEW: Final = 2  # the same for other questions
WIDTH: Final = 1.5  # the slow range, from its lower end
ABOVE: Final = 1.25  # the lower end, from the longest time that was shown


class WaitLimits(NamedTuple):
    """The limits of the slow range, and of every wait."""

    first_s: float  # lower end at the beginning
    most_s: float  # highest lower end
    share: float  # of the base time that an answer waits at most, so that it is never late


FOR_BOTS: Final = WaitLimits(first_s=0.25, most_s=inf, share=0.8)


class AnswerTimes:
    """The recent answer times of one player, over all their matches, in seconds from the question's arrival."""

    def __init__(self, limits: WaitLimits = FOR_BOTS, chance: Callable[[], float] = random.random) -> None:
        """Start without times.  `chance` returns numbers from 0 to 1."""
        self._limits = limits
        self._chance = chance
        self.by_question: dict[tuple[str, str], deque[float]] = {}  # by game and question
        self._turns: deque[float] = deque(maxlen=RECENT)  # of answers to all questions that are no windows
        self._longest_s = 0.0  # of the answers that were shown

    def begin(self, game: str) -> MatchTimes:
        """Return the times for a match that begins now."""
        windows = _windows(game)
        enough = {
            ask: tuple(times)
            for (of, ask), times in self.by_question.items()
            if of == game and ask in windows and len(times) >= ENOUGH
        }
        return MatchTimes(self, game, enough)

    def add(self, game: str, ask: str, seconds: float, *, is_shown: bool) -> None:
        """Add the time of a real answer. It `is_shown` if it was sent as soon as it was ready."""
        self.by_question.setdefault((game, ask), deque(maxlen=RECENT)).append(seconds)
        if ask not in _windows(game):
            self._turns.append(seconds)
        if is_shown:
            self._longest_s = max(self._longest_s, seconds)

    def draw_slow(self, base_s: float) -> float:
        """Draw a time from the slow range."""
        limits = self._limits
        lower_s = min(max(limits.first_s, ABOVE * self._longest_s), limits.most_s, limits.share * base_s / WIDTH)
        return lower_s * (1 + (WIDTH - 1) * self._chance())

    def draw_like(self, times: Sequence[float], base_s: float) -> float:
        """Draw a time like these."""
        return min(_draw(times, self._chance()), self._limits.share * base_s)

    def draw_turn(self, game: str, ask: str, base_s: float) -> float:
        """Draw a time like those of the same question, else of all that are no windows."""
        for times in (self.by_question.get((game, ask), ()), self._turns):
            if len(times) >= FEW:
                return self.draw_like(tuple(times), base_s)
        return self.draw_slow(base_s)


class MatchTimes:
    """The answer times of one player in one match."""

    __slots__ = ("_enough", "_game", "_times", "_windows")

    def __init__(self, times: AnswerTimes, game: str, enough: Mapping[str, tuple[float, ...]]) -> None:
        """Begin a match; `enough` has the times of earlier matches, of windows for which there are enough."""
        self._times = times
        self._game = game
        self._windows = _windows(game)
        self._enough = enough

    def wait_s(self, ask: str, has_choice: bool, base_s: float) -> float:
        """Return how many seconds after its arrival a decision is answered, or not sooner if there is a choice.

        Args:
            ask: Name of the question.
            has_choice: Whether there is more than one option.
            base_s: The base time that is left.
        """
        if ask in self._windows:
            if (times := self._enough.get(ask)) is None:
                return self._times.draw_slow(base_s)
            return 0.0 if has_choice else self._times.draw_like(times, base_s)
        return 0.0 if has_choice else self._times.draw_turn(self._game, ask, base_s)

    def add(self, ask: str, seconds: float, waited_s: float) -> None:
        """Add the time of a real answer, which was sent after `waited_s` or when it was ready."""
        self._times.add(self._game, ask, seconds, is_shown=seconds > waited_s)


def _draw(times: Sequence[float], share: float) -> float:
    """Return the quantile of these times, with the tails of a sample that has no longer ones.

    Values between and slightly beyond the times are returned too, because an exactly repeated time, or one beyond all
    that are drawn, could be recognised.
    """
    ordered = sorted(times)
    place = share * len(ordered) - 0.5
    lower = min(max(int(place), 0), len(ordered) - 2)
    return max(0.0, ordered[lower] + (place - lower) * (ordered[lower + 1] - ordered[lower]))


@cache
def _windows(game: str) -> frozenset[str]:
    """Return the names of a game's windows."""
    steps = GAMES[game].steps().values()
    return frozenset([step.name for step in steps if issubclass(step, Question) and step.window])
