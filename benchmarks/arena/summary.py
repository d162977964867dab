"""Samples of the arena, and their percentiles, medians, ratios and aims, without clock, process or file.

A round is one sample of every row, taken in turn. A ratio is the median of the ratios within each round, so that a slow
period of the machine cancels out.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

__all__ = [
    "BARE",
    "IN_TURN",
    "RATE_AIMS",
    "RATED_AIM",
    "Aim",
    "Crowd",
    "RateRow",
    "RateSample",
    "Round",
    "Storm",
    "Turnarounds",
    "crowd_aims",
    "nearest_rank",
    "rate_aims",
    "turnarounds",
]

RATE_AIMS: Mapping[int, float] = {1: 0.7, 64: 5.0, 256: 10.0}  # by tables per bot: decisions relative to bare messages
RATED_AIM = 0.6  # rate with storing and rating, relative to the rate without
ADDED_P99_MS = 30.0
IDLE_BOT_KIB = 64.0


def nearest_rank(values: Sequence[float], percent: float) -> float:
    """Return the smallest value that `percent` % of the values do not exceed.  Raises ValueError without values."""
    if not values:
        raise ValueError("there is no percentile of nothing")
    ordered = sorted(values)
    rank = -(-percent * len(ordered) // 100)  # rounded up
    return ordered[max(0, min(len(ordered), int(rank)) - 1)]


@dataclass(frozen=True, slots=True)
class RateRow:
    """A row of the measurements: four bots of one kind, with a number of tables each."""

    bot: str
    tables: int
    is_rated: bool = False

    @property
    def name(self) -> str:
        tables = "1 table" if self.tables == 1 else f"{self.tables} tables"
        return f"{self.bot}, {tables}{', stored and rated' if self.is_rated else ''}"


BARE = "bare messages, one at a time"
IN_TURN = "bare messages, four bots in turn"  # as with one table, where the next decision is another bot's


@dataclass(frozen=True, slots=True)
class RateSample:
    """The sample of one row in one round.

    Seconds are of wall time, unless the name says CPU. A latency is the time from passing a decision to the stream
    until its answer is read, both at the server. Latencies and bytes are from a second measurement. `tables` is the
    number of open matches when the measurement began. Envelopes are those of all bots; bytes are per decision.
    `elsewhere` is the share of the machine's CPU time used by other programs or on its host; None if unknown.
    """

    decisions: int
    seconds: float
    server_cpu_s: float
    bots_cpu_s: float
    p50_ms: float
    p99_ms: float
    tables: int = 0
    matches: int = 0
    faults: int = 0
    envelopes_sent: int = 0
    envelopes_read: int = 0
    bytes_sent: float = 0.0
    bytes_read: float = 0.0
    elsewhere: float | None = None

    @property
    def rate(self) -> float:
        """Decisions per second."""
        return self.decisions / self.seconds

    @property
    def server_us(self) -> float:
        """CPU microseconds of the server per decision."""
        return 1e6 * self.server_cpu_s / max(1, self.decisions)

    @property
    def bots_us(self) -> float:
        """CPU microseconds of all bots together per decision."""
        return 1e6 * self.bots_cpu_s / max(1, self.decisions)

    @property
    def gathered(self) -> float:
        """Mean number of decisions per envelope to a bot, including envelopes without any; 0 without envelopes."""
        return self.decisions / self.envelopes_sent if self.envelopes_sent else 0.0

    @property
    def per_cpu_s(self) -> float:
        """Decisions per CPU second of all processes, which other work on the machine changes least."""
        return self.decisions / (self.server_cpu_s + self.bots_cpu_s)


Round = Mapping[str, RateSample]  # by row's name


@dataclass(frozen=True, slots=True)
class Aim:
    """A figure and its target.

    `value` is None if not measured, and `target` is None if there is none. The target is a minimum, or a maximum if
    `at_most` is set. `by_cpu` is the same ratio by decisions per CPU second.
    """

    what: str
    value: float | None
    target: float | None
    at_most: bool = False
    unit: str = ""
    by_cpu: float | None = None

    @property
    def verdict(self) -> str:
        if self.value is None:
            return "not measured"
        if self.target is None:
            return ""
        is_met = self.value <= self.target if self.at_most else self.value >= self.target
        return "met" if is_met else "missed"


def middle(rounds: Sequence[Round], row: str, of: Callable[[RateSample], float]) -> float:
    """Return the median of a value over the rounds."""
    return median(of(each[row]) for each in rounds)


def rate_aims(rounds: Sequence[Round], rows: Sequence[RateRow]) -> list[Aim]:
    """Compute every measured ratio of rates, with its target."""

    def ratio(what: str, row: str, to: str, target: float | None) -> Aim:
        value = median(each[row].rate / each[to].rate for each in rounds)
        by_cpu = median(each[row].per_cpu_s / each[to].per_cpu_s for each in rounds)
        return Aim(f"{row}, to {what}", value, target, by_cpu=by_cpu)

    aims = [
        ratio("bare", row.name, BARE, RATE_AIMS.get(row.tables) if row.bot == DUMB else None)
        for row in rows
        if not row.is_rated
    ]
    aims += [
        ratio("bare in turn", row.name, IN_TURN, None)
        for row in rows
        if row.tables == 1 and row.bot == DUMB and not row.is_rated
    ]
    for row in rows:
        plain = RateRow(row.bot, row.tables)
        if row.is_rated and plain in rows:
            aims.append(ratio("the same without", row.name, plain.name, RATED_AIM))
    return aims


DUMB = "first_option"  # the bot that the targets are for


@dataclass(frozen=True, slots=True)
class Turnarounds:
    """The seconds from writing an answer to receiving the next question of the match.

    `odd` counts answers that are left out, because another event of that match came between, which the clock of one
    machine should not show.
    """

    took: Sequence[float]
    odd: int = 0

    def ms(self, percent: float) -> float:
        return 1e3 * nearest_rank(self.took, percent)


def turnarounds(answered: Iterable[tuple[str, float]], questions: Iterable[tuple[str, float]]) -> Turnarounds:
    """Combine the observations of several processes: match and time of each answer and each question.

    In these matches one seat decides at a time, so exactly one question follows each answer.
    """
    by_match: dict[str, list[tuple[float, bool]]] = {}
    for events, is_answer in ((answered, True), (questions, False)):
        for match, at in events:
            by_match.setdefault(match, []).append((at, is_answer))
    took: list[float] = []
    odd = 0
    for moments in by_match.values():
        for (at, is_answer), (then, is_also_answer) in pairwise(sorted(moments)):
            if is_answer and not is_also_answer:
                took.append(then - at)
            odd += is_answer == is_also_answer
    return Turnarounds(took, odd)


@dataclass(frozen=True, slots=True)
class Storm:
    """The reconnection of bots after a server was killed and started again."""

    bots: int
    away_s: float  # from the kill until the server listened again
    back_s: Sequence[float]  # seconds until each reconnected bot was welcomed, since the server listens
    gave_up: int  # bots that were refused permanently

    def share_back(self, percent: float) -> float | None:
        """Return the seconds until `percent` percent of all bots were back; None if they never were."""
        needed = max(1, int(-(-percent * self.bots // 100)))
        return sorted(self.back_s)[needed - 1] if len(self.back_s) >= needed else None


@dataclass(frozen=True, slots=True)
class Crowd:
    """The figures of many bots, each with its own connection."""

    bots: int
    bytes_a_bot: float
    connects_a_second: float
    server_cpu_ms_a_connect: float
    decisions_a_second: float
    server_load: float  # CPU seconds per second
    bare_decisions_a_second: float
    bare_load: float
    faults: int
    arena: Turnarounds
    bare: Turnarounds
    storm: Storm


def crowd_aims(crowd: Crowd) -> list[Aim]:
    """Compute the aims for many bots."""
    p99 = crowd.arena.ms(99) - crowd.bare.ms(99)
    return [
        Aim("added to the p99 of bare", p99, ADDED_P99_MS, at_most=True, unit="ms"),
        Aim("memory an idle connected bot", crowd.bytes_a_bot / 1024, IDLE_BOT_KIB, at_most=True, unit="KiB"),
    ]
