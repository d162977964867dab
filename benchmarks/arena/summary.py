"""Samples of the arena, and what is made of them: percentiles, medians, ratios, aims.  No clock, process or file.

A round is one sample of every row, taken in turn; a ratio is the median of the ratios within each round, so that what
slows the whole machine for a while cancels out.
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

RATE_AIMS: Mapping[int, float] = {1: 0.7, 64: 5.0, 256: 10.0}  # by tables a bot, decisions a second to bare messages
RATED_AIM = 0.6  # stored and rated, to the same without
ADDED_P99_MS = 30.0
IDLE_BOT_KIB = 64.0


def nearest_rank(values: Sequence[float], percent: float) -> float:
    """The least of the values that is not exceeded by so many percent of them.  Raises ValueError if there are none."""
    if not values:
        raise ValueError("there is no percentile of nothing")
    ordered = sorted(values)
    rank = -(-percent * len(ordered) // 100)  # rounded up
    return ordered[max(0, min(len(ordered), int(rank)) - 1)]


@dataclass(frozen=True, slots=True)
class RateRow:
    """What is measured: four bots of this kind, so many tables each."""

    bot: str
    tables: int
    is_rated: bool = False

    @property
    def name(self) -> str:
        tables = "1 table" if self.tables == 1 else f"{self.tables} tables"
        return f"{self.bot}, {tables}{', stored and rated' if self.is_rated else ''}"


BARE = "bare messages, one at a time"
IN_TURN = "bare messages, four bots in turn"  # as with one table, where another bot is asked each time


@dataclass(frozen=True, slots=True)
class RateSample:
    """What one row did in one round.

    Seconds are the wall's unless they are the CPU's. A latency is from a question's hand-over to the stream to the
    reading of its answer, both at the server; latencies and bytes are those of a second window. `tables` is how many
    were open when the measurement began. Envelopes are those of all bots; bytes are of a decision. `elsewhere` is the
    share of the machine's CPU time that went to other programs, or to others on its host; None where nobody can tell.
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
        """Decisions a second."""
        return self.decisions / self.seconds

    @property
    def server_us(self) -> float:
        """CPU microseconds of the server a decision."""
        return 1e6 * self.server_cpu_s / max(1, self.decisions)

    @property
    def bots_us(self) -> float:
        """CPU microseconds of all bots together a decision."""
        return 1e6 * self.bots_cpu_s / max(1, self.decisions)

    @property
    def gathered(self) -> float:
        """Decisions in an envelope to a bot, those without any counted; 0 if none was sent."""
        return self.decisions / self.envelopes_sent if self.envelopes_sent else 0.0

    @property
    def per_cpu_s(self) -> float:
        """Decisions per CPU second of all processes: what other work on the machine moves least."""
        return self.decisions / (self.server_cpu_s + self.bots_cpu_s)


Round = Mapping[str, RateSample]  # by row's name


@dataclass(frozen=True, slots=True)
class Aim:
    """A figure beside what it should be: at least `target`, or at most; None: not measured, or held to nothing.

    `by_cpu`: the same ratio, of decisions per CPU second in place of those per second of the wall.
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
    """The median over the rounds."""
    return median(of(each[row]) for each in rounds)


def rate_aims(rounds: Sequence[Round], rows: Sequence[RateRow]) -> list[Aim]:
    """Every ratio of rates that was measured, with its target."""

    def ratio(what: str, row: str, to: str, target: float | None) -> Aim:
        value = median(each[row].rate / each[to].rate for each in rounds)
        by_cpu = median(each[row].per_cpu_s / each[to].per_cpu_s for each in rounds)
        return Aim(f"{row}, to {what}", value, target, by_cpu=by_cpu)

    found = [
        ratio("bare", row.name, BARE, RATE_AIMS.get(row.tables) if row.bot == DUMB else None)
        for row in rows
        if not row.is_rated
    ]
    found += [
        ratio("bare in turn", row.name, IN_TURN, None)
        for row in rows
        if row.tables == 1 and row.bot == DUMB and not row.is_rated
    ]
    for row in rows:
        plain = RateRow(row.bot, row.tables)
        if row.is_rated and plain in rows:
            found.append(ratio("the same without", row.name, plain.name, RATED_AIM))
    return found


DUMB = "first_option"  # the bot that the targets are for


@dataclass(frozen=True, slots=True)
class Turnarounds:
    """From the writing of an answer to the arrival of the question that follows from it, seconds; `odd` are left out.

    Odd: something else was seen at that table in between, which one machine's clock should not show.
    """

    took: Sequence[float]
    odd: int = 0

    def ms(self, percent: float) -> float:
        return 1e3 * nearest_rank(self.took, percent)


def turnarounds(answered: Iterable[tuple[str, float]], asked: Iterable[tuple[str, float]]) -> Turnarounds:
    """Put together what several processes saw: at which match and moment they wrote an answer, or got a question.

    In these matches one seat decides at a time, so each answer is followed by one question, to whomever.
    """
    by_match: dict[str, list[tuple[float, bool]]] = {}
    for events, is_answer in ((answered, True), (asked, False)):
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
    """How bots came back to a server that was killed and started again; seconds after it listens."""

    bots: int
    away_s: float  # from the kill until the server listened again
    back_s: Sequence[float]  # of each bot that came back, when it was welcomed
    gave_up: int  # bots that were refused for good

    def share_back(self, percent: float) -> float | None:
        """When so many percent of all bots were back; None if they never were."""
        needed = max(1, int(-(-percent * self.bots // 100)))
        return sorted(self.back_s)[needed - 1] if len(self.back_s) >= needed else None


@dataclass(frozen=True, slots=True)
class Crowd:
    """Many bots on connections of their own."""

    bots: int
    bytes_a_bot: float
    connects_a_second: float
    server_cpu_ms_a_connect: float
    decisions_a_second: float
    server_load: float  # CPU seconds a second
    bare_decisions_a_second: float
    bare_load: float
    faults: int
    arena: Turnarounds
    bare: Turnarounds
    storm: Storm


def crowd_aims(crowd: Crowd) -> list[Aim]:
    """What many bots are to get."""
    p99 = crowd.arena.ms(99) - crowd.bare.ms(99)
    return [
        Aim("added to the p99 of bare", p99, ADDED_P99_MS, at_most=True, unit="ms"),
        Aim("memory an idle connected bot", crowd.bytes_a_bot / 1024, IDLE_BOT_KIB, at_most=True, unit="KiB"),
    ]
