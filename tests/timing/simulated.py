"""Questions of simulated matches: real rules and answer times, without sockets and without waiting.

Bots have two thinking times, one for turns and one for windows. All bots of a match are of one kind: what tells a
choice of one kind by a long time tells that of the other by a short one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import cache
from random import Random
from typing import NamedTuple, Protocol

from cutpurse.engine.match import Match
from cutpurse.games import GAMES
from cutpurse.wire.answer_times import ENOUGH, AnswerTimes
from tests.timing.windows import PASSES, QUICK, SLOW, WINDOWS, Window, stage_of

__all__ = ["KINDS", "MakeTimes", "Times", "at_once", "fresh", "known", "old_scheme", "simulated", "stays"]

KINDS = {"quick": (QUICK, SLOW), "slow": (SLOW, QUICK)}  # in turns and in windows, by the name for turns
FLOOR_S = 0.025
BASE_S = 1.0


class Times(Protocol):
    """The answer times of one bot in one match."""

    def wait_s(self, ask: str, has_choice: bool, base_s: float) -> float: ...

    def add(self, ask: str, seconds: float, waited_s: float) -> None: ...


MakeTimes = Callable[[str, str, Random], Times]  # for a match of a game, from the kind of bot


def fresh(game: str, kind: str, random: Random) -> Times:
    """Play each match in a process of its own."""
    return AnswerTimes(chance=random.random).begin(game)


def known(game: str, kind: str, random: Random) -> Times:
    """Play each match in a process of its own, with stored times of windows."""
    times = AnswerTimes(chance=random.random)
    for ask in WINDOWS[game] * ENOUGH:
        times.add(game, ask, _thinks_s(kind, True, random), is_shown=True)
    return times.begin(game)


def stays() -> MakeTimes:
    """Play all matches in one process."""
    times: dict[str, AnswerTimes] = {}

    def begin(game: str, kind: str, random: Random) -> Times:
        return times.setdefault(kind, AnswerTimes(chance=random.random)).begin(game)

    return begin


class at_once(NamedTuple):  # noqa: N801  # stands among functions
    """A planted fault: answers without a choice come at once."""

    game: str
    kind: str
    random: Random

    def wait_s(self, ask: str, has_choice: bool, base_s: float) -> float:
        return 0.0

    def add(self, ask: str, seconds: float, waited_s: float) -> None: ...


class old_scheme:  # noqa: N801
    """A planted fault: until eight answers to windows, times are drawn from all answers."""

    def __init__(self, game: str, kind: str, random: Random) -> None:
        self.windows, self.random = WINDOWS[game], random
        self.of_windows: deque[float] = deque(maxlen=64)
        self.of_all: deque[float] = deque([0.050], maxlen=64)

    def wait_s(self, ask: str, has_choice: bool, base_s: float) -> float:
        is_enough = ask in self.windows and len(self.of_windows) >= 8
        return 0.0 if has_choice else self.random.choice(self.of_windows if is_enough else self.of_all)

    def add(self, ask: str, seconds: float, waited_s: float) -> None:
        self.of_all.append(seconds)
        if ask in self.windows:
            self.of_windows.append(seconds)


def _thinks_s(kind: str, is_window: bool, random: Random) -> float:
    return max(0.001, random.gauss(*KINDS[kind][is_window]))


class _Question(NamedTuple):
    ask: str
    is_window: bool
    options: list[tuple[int, int]]  # seats and their numbers of options


@cache
def _played(game: str, matches: int) -> list[list[_Question]]:
    """Play matches at random, and list their questions."""
    rules, random = GAMES[game], Random(game)
    played = []
    for _ in range(matches):
        match = Match(rules, ["bot"] * rules.usual_seats, random.randbytes(32), ask_all=True)
        questions: list[_Question] = []
        while not match.over:
            question, decisions = match.game.question, match.decisions()
            options = [(decision.seat, len(decision.options)) for decision in decisions]
            questions.append(_Question(question.name, question.window, options))
            for decision in decisions:
                passes = question.window and random.random() < PASSES
                match.answer(decision.seat, decision.number, 0 if passes else random.randrange(len(decision.options)))
        played.append(questions)
    return played


def simulated(game: str, matches: int, kind: str, times_of: MakeTimes) -> tuple[list[Window], list[Window]]:
    """Play matches, and list their windows and their other questions, each with what the players could measure."""
    random = Random(f"{game} {matches}")
    windows: list[Window] = []
    turns: list[Window] = []
    for questions in _played(game, matches):
        times = [times_of(game, kind, random) for _ in range(GAMES[game].usual_seats)]
        before = len(windows)
        for ask, is_window, options in questions:
            durations = []
            for seat, count in options:
                seconds = times[seat].wait_s(ask, count > 1, BASE_S)
                if count > 1:
                    thinks_s = _thinks_s(kind, is_window, random)
                    times[seat].add(ask, thinks_s, seconds)
                    seconds = max(seconds, thinks_s)
                durations.append(seconds)
            public = (ask, stage_of(len(windows) - before), len(options))
            had_choice = any(count > 1 for _, count in options)
            if is_window:
                windows.append(Window(public, had_choice, max(*durations, FLOOR_S)))
            else:
                turns.append(Window(public, had_choice, max(durations)))
    return windows, turns
