"""A sequential test whether a gain is above zero, based on the paired differences of boards, one number per board.

This module knows no game, no bot, no clock, no file and no chance: differences go in one by one, a verdict comes out.

    test = Sprt()
    while test.update(play_the_next_board()) is None:
        save(test.state.to_json())
    print(test.result().reason)

Hypotheses. A difference x lies in [-1, 1]; its mean is the gain, its spread s is the root of its mean square. H0: gain
<= 0. H1: gain >= max(`effect` * s, `smallest_gain`). The effect is counted in spreads of one board, as in the
normalised Elo of chess engine testers (M. Van den Bergh, "Normalized Elo", behind fishtest). So the number of boards
depends on the effect and hardly on the game. An effect of 0.1 is a gain of about 0.025 in a game of four (s about 0.25)
and 0.05 in a duel (s about 0.5). The floor in points is for versions that hardly ever differ. Their spread tends to 0,
so an effect in spreads alone would never be excluded.

Method. Wald's test (A. Wald, "Sequential tests of statistical hypotheses", 1945) adds up log likelihood ratios until
one of two bounds is crossed. Board differences are discrete, skewed and mostly ties, so no likelihood fits. The
generalised ratio with the empirical variance (GSPRT) errs most when few boards differ. Here the ratio is the capital of
a gambler instead (I. Waudby-Smith, A. Ramdas, "Estimating means of bounded random variables by betting", 2024; the idea
is from H. Robbins, "Statistical methods related to the law of the iterated logarithm", 1970):

    evidence_for     = sum of log(1 + b x)          bets that the gain is above 0
    evidence_against = sum of log(1 - b (x - g))    bets that the gain is below g = max(effect * s, smallest_gain)

The stake is b = min(0.9, g / s^2), with g and s estimated from the boards *before* this one. For small b the first sum
is Wald's b x - (b x)^2 / 2, the log likelihood ratio of a normal mean g against 0. The second is its mirror image. So
the test needs about as many boards as Wald's. Under H0 the capital is a nonnegative supermartingale for any
distribution. By Ville's inequality it reaches 1/alpha with a chance of at most alpha. So the false alarm rate is a
bound, not an approximation, and checking after every board is allowed. The second bound is exact too while g is
`smallest_gain`. Where g follows the spread, it holds except for the error of s, so s is estimated on the small side at
first. The remaining error shows only in a lopsided game. Suppose a version gains a little on most boards. If it
loses much on 1 board in 10, it is missed 3 to 4 times in 100; if it loses nearly everything on 1 in 20, 7 times.

Both error rates are 0.025. So the promise "wrong at most 5 times in 100" also holds with the slack that a count over
1,000 runs needs. The verdict agrees with the 95 % interval: after "better" it does not reach below 0.

The caller must use independent boards (a new key each, fresh bots). Differences go in by the boards' numbers, not by
their ending. A board may be left out only for a reason independent of its result.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum

__all__ = ["Design", "Result", "Sprt", "State", "Verdict"]

FORMAT = 1  # of a saved state
LARGEST_NUMBER = 2**53  # in a saved state; JSON can write whole numbers that no float holds
LARGEST_STAKE = 0.9  # of the capital; at 1 a single lost board (x = -1) would lose all of it
# The stakes start from a spread as if 4 boards had been played with a mean square of 1/4, as in a duel. So the first
# stakes are small. It matters only for some dozens of boards.
PRIOR_BOARDS = 4
PRIOR_SQUARES = 1.0
# The gain looked for starts from a spread as if 30 boards without a difference had been played, since too large a g
# would be excluded too easily. Over 1,000 runs of a skewed game 3 to 4 in 100 were missed, and 5 without this prior.
# It costs a tenth more boards where nothing is gained.
LEAN_BOARDS = 30


class Verdict(StrEnum):
    """The verdict about the new version."""

    BETTER = "better"
    NOT_BETTER = "not better"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Design:
    """The effect to detect, the error rates and the number of boards.

    The default bound of 4,000 boards leaves about 1 in 100 runs undecided at gain 0 or at the gain looked for. If only
    1 board in 50 differs, 6 in 100 are undecided. The bound has to grow with 1 / effect^2.

    Attributes:
        effect: Gain to detect, in spreads of one board's difference.
        smallest_gain: Gain to detect in scaled place points; the larger of the two counts.
        alpha: Largest chance of "better" when the gain is 0 or less.
        beta: Chance of "not better" when the gain is the one looked for.
        min_boards: Boards before the first verdict.
        max_boards: Boards after which the verdict is "undecided".

    Raises:
        ValueError: If a number is outside its range.
    """

    effect: float = 0.1
    smallest_gain: float = 0.01
    alpha: float = 0.025
    beta: float = 0.025
    min_boards: int = 20
    max_boards: int = 4000

    def __post_init__(self) -> None:
        for name, above, most in (("effect", 0, 1), ("smallest_gain", 0, 1), ("alpha", 0, 0.5), ("beta", 0, 0.5)):
            value = _number(name, getattr(self, name))
            if not above < value <= most:
                raise ValueError(f"{name} is {value!r}, it must be above {above} and at most {most}")
        for name, least in (("min_boards", 1), ("max_boards", self.min_boards)):
            if _count(name, getattr(self, name)) < least:
                raise ValueError(f"{name} is {getattr(self, name)}, it must be at least {least}")

    @property
    def bound_for(self) -> float:
        """The evidence at which the verdict is "better"."""
        return -math.log(self.alpha)

    @property
    def bound_against(self) -> float:
        """The evidence at which the verdict is "not better"."""
        return -math.log(self.beta)

    def gain(self, mean_square: float) -> float:
        """Return the gain looked for, given the mean square of the differences."""
        return max(self.effect * math.sqrt(mean_square), self.smallest_gain)


@dataclass(frozen=True, slots=True)
class State:
    """The sums over the boards so far; a saved and loaded test continues as if it had never stopped.

    If there is no verdict by max_boards, the caller may continue with a replaced `design`: the error bounds hold for
    any number of boards.

    Attributes:
        boards: Number of boards.
        differing: Boards on which the versions had different results.
        total: Sum of the differences x.
        squares: Sum of x^2.
        evidence_for: As in the module's docstring.
        evidence_against: As in the module's docstring.
        stakes: Sum of the stakes b, for the interval.
        winnings: Sum of b x, for the interval.
        penalty: Sum of (-log(1 - b) - b) x^2, for the interval.
    """

    design: Design = field(default_factory=Design)
    boards: int = 0
    differing: int = 0
    total: float = 0.0
    squares: float = 0.0
    evidence_for: float = 0.0
    evidence_against: float = 0.0
    stakes: float = 0.0
    winnings: float = 0.0
    penalty: float = 0.0

    def to_json(self) -> dict[str, object]:
        """Return the state as JSON values, with the design as a nested object."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_json(cls, value: object) -> State:
        """Read the state that `to_json` returned.  Raises ValueError, in one line, for anything else."""
        names = [item.name for item in fields(cls)]
        content = _members("state", value, ["format", *names])
        if _count("state: format", content["format"]) != FORMAT:
            raise ValueError(f"state: format is {content['format']!r}, this version reads {FORMAT}")
        try:
            design = Design(**_members("design", content["design"], [item.name for item in fields(Design)]))  # type: ignore[arg-type]  # checked there
            counts = {name: _count(name, content[name]) for name in ("boards", "differing")}
            sums = {name: _number(name, content[name]) for name in names if name not in ("design", *counts)}
            state = cls(design, **counts, **sums)  # type: ignore[arg-type]  # mypy takes any of them for any field
            _check_sums(state)
        except ValueError as error:
            raise ValueError(f"state: {error}") from None
        return state

    def after(self, difference: float) -> State:
        """Return the state after one more board. The stake is set before the difference is used."""
        mean_square = (PRIOR_SQUARES + self.squares) / (PRIOR_BOARDS + self.boards)
        stake = min(LARGEST_STAKE, self.design.gain(mean_square) / mean_square)
        gain = self.design.gain(self.squares / (LEAN_BOARDS + self.boards))
        square = difference * difference
        return replace(
            self,
            boards=self.boards + 1,
            differing=self.differing + (difference != 0),
            total=self.total + difference,
            squares=self.squares + square,
            evidence_for=self.evidence_for + math.log1p(stake * difference),
            evidence_against=self.evidence_against + math.log1p(-stake * (difference - gain)),
            stakes=self.stakes + stake,
            winnings=self.winnings + stake * difference,
            penalty=self.penalty + (-math.log1p(-stake) - stake) * square,
        )

    @property
    def verdict(self) -> Verdict | None:
        """The verdict, or None while more boards are needed."""
        if self.boards < self.design.min_boards:
            return None
        if self.evidence_for >= self.design.bound_for:
            return Verdict.BETTER
        if self.evidence_against >= self.design.bound_against:
            return Verdict.NOT_BETTER
        return Verdict.UNDECIDED if self.boards >= self.design.max_boards else None

    @property
    def gain(self) -> float:
        """The mean difference, in scaled place points per match; 0 before the first board.

        A sequential test tends to stop on a good run: after "better" the mean is, on average, too high.
        """
        return self.total / self.boards if self.boards else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Limits of the gain that hold at all boards at once, and so also at the board where the test stopped.

        The chance that the true gain is *ever* below the lower limit is at most alpha, above the upper one at most
        beta: together 95 % by default. It is about half as wide again as an interval for a fixed number of boards,
        which would be wrong here. It lies around the mean weighted by the stakes, not around `gain`.

        The empirical Bernstein bound of Waudby-Smith and Ramdas 2024 centred at 0, from log(1 + b x) >= b x + (log(1 -
        b) + b) x^2 for x >= -1, 0 <= b < 1 (X. Fan, I. Grama, Q. Liu 2015).
        """
        if not self.boards:
            return (-1.0, 1.0)
        low = (self.winnings - self.design.bound_for - self.penalty) / self.stakes
        high = (self.winnings + self.design.bound_against + self.penalty) / self.stakes
        if self.evidence_for >= self.design.bound_for:
            low = max(low, 0.0)  # the evidence, which the bound above underestimates, has excluded 0
        return (max(low, -1.0), min(high, 1.0))


@dataclass(frozen=True, slots=True)
class Result:
    """The figures to show; gain and interval in scaled place points per match.

    Attributes:
        interval: As `State.interval`.
        reason: One plain sentence for people.
    """

    verdict: Verdict
    boards: int
    differing: int
    gain: float
    interval: tuple[float, float]
    evidence_for: float
    bound_for: float
    evidence_against: float
    bound_against: float
    reason: str


class Sprt:
    """A running test: differences in, a verdict out. Pass a loaded state to continue an earlier test."""

    __slots__ = ("state",)

    def __init__(self, state: State | None = None) -> None:
        self.state = State() if state is None else state

    def update(self, difference: float) -> Verdict | None:
        """Count one board.

        Args:
            difference: In [-1, 1], above 0 where the new version had the better result.

        Returns:
            The verdict, or None while more boards are needed.

        Raises:
            ValueError: If the difference is out of range, or the test has a verdict already.
        """
        if not -1 <= difference <= 1:  # also false for nan
            raise ValueError(f"board {self.state.boards}: the difference is {difference!r}, it must lie in [-1, 1]")
        if (verdict := self.state.verdict) is not None:
            raise ValueError(f"the test ended with {verdict.value!r} after {self.state.boards} boards, no more count")
        self.state = self.state.after(difference)
        return self.state.verdict

    def result(self) -> Result:
        """Return the figures so far. An interrupted test is undecided."""
        state, verdict = self.state, self.state.verdict or Verdict.UNDECIDED
        return Result(
            verdict=verdict,
            boards=state.boards,
            differing=state.differing,
            gain=state.gain,
            interval=state.interval,
            evidence_for=state.evidence_for,
            bound_for=state.design.bound_for,
            evidence_against=state.evidence_against,
            bound_against=state.design.bound_against,
            reason=_reason(state, verdict),
        )


def _reason(state: State, verdict: Verdict) -> str:
    """Describe the verdict in one sentence."""
    if not state.boards:
        return "undecided: no board was played"
    after = f"after {state.boards} board{'s' if state.boards > 1 else ''}"
    if not state.differing:
        return f"{verdict.value}: the two versions fared alike on every board, {after}"
    low, high = state.interval
    gain = f"gain {state.gain:+.3f}, between {low:+.3f} and {high:+.3f}, {after}, {state.differing} of them different"
    if verdict is Verdict.BETTER:
        return f"better: {gain}"
    if verdict is Verdict.NOT_BETTER:
        return f"not better, or by less than this test looks for: {gain}"
    return f"undecided: neither a gain nor its absence is certain enough: {gain}"


def _members(what: str, value: object, names: list[str]) -> dict[str, object]:
    """Return the members of a JSON object that must have exactly these names."""
    if not isinstance(value, dict):
        raise ValueError(f"{what}: expected an object, found {type(value).__name__}")
    if wrong := sorted(repr(name) for name in value.keys() ^ set(names)):
        raise ValueError(f"{what}: missing or unknown {', '.join(wrong)}; expected {', '.join(names)}")
    return value


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -LARGEST_NUMBER <= value <= LARGEST_NUMBER:
        raise ValueError(f"{name} is {value!r}, expected a finite number")
    return float(value)


def _count(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST_NUMBER:
        raise ValueError(f"{name} is {value!r}, expected a whole number, 0 or more")
    return value


def _check_sums(state: State) -> None:
    """Check the sums.  Raises ValueError if no boards can have them; the slack is for rounding."""
    slack = 1e-9 * (1 + state.boards)
    for name, value, least, most in (
        ("differing", state.differing, 0, state.boards),
        ("squares", state.squares, 0, state.differing + slack),
        ("total", abs(state.total), 0, math.sqrt(state.differing * max(state.squares, 0)) + slack),
        ("stakes", state.stakes, 0, LARGEST_STAKE * state.boards + slack),
        ("winnings", abs(state.winnings), 0, state.stakes + slack),
        ("penalty", state.penalty, 0, 2 * state.squares + slack),  # -log(1 - b) - b is 1.4 at the largest stake
    ):
        if not least <= value <= most:
            raise ValueError(f"{name} is {getattr(state, name)!r}, which no {state.boards} boards can give")
    if state.boards and not state.stakes > 0:
        raise ValueError(f"stakes is {state.stakes!r} after {state.boards} boards")
