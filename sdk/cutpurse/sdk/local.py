"""Matches played on this machine without a server, in one process or several.

    played = play("greed", ["my_bot.py", "random", "random"], matches=100, seed=7)
    print(played.seats[0].mean_place)

Match i has the key `match_key(seed, i)` and the seats `arrangement(n, seed, i)`. So a run can be repeated, with the
same results in any number of processes. Every other process loads the bots once. This module knows no terminal.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from cutpurse.engine.chance import match_key
from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.engine.game import Game
from cutpurse.engine.match import EndCause, Match
from cutpurse.engine.record import write_record
from cutpurse.engine.seating import arrangement
from cutpurse.games import game_named
from cutpurse.process.backends import check_backend, in_order, is_in_this_process
from cutpurse.process.lifetime import a_run
from cutpurse.process.pool import BatchLost, number_tasks
from cutpurse.sdk.bot import BotMaker, bot_makers
from cutpurse.sdk.playing.digest import RunDigest, result_digest
from cutpurse.sdk.playing.lines import Lines
from cutpurse.sdk.playing.match_clock import MatchClock, SlowDecision, slowest_by_bot
from cutpurse.sdk.playing.timed import play_timed
from cutpurse.sdk.playing.totals import BotSums, mean, place_moments, variance

__all__ = [
    "Failure",
    "LocalMatch",
    "LocalRun",
    "RunCutShort",
    "SeatTotals",
    "play",
]

SURE: Final = 1.96  # standard errors on either side of a mean, for 95 %


@dataclass(frozen=True, slots=True)
class Failure:
    """A bot's failure: an exception, or an answer that was not offered."""

    bot: int  # index in the bots of the run
    name: str
    file: str
    match: int
    seat: int
    decision: int | None  # None outside a decision: in `__init__`, `start` or `end`
    ask: str
    cause: EndCause
    reason: str
    trace: str = ""

    def text(self) -> str:
        """Describe the failure in one line: bot, match, seat, decision, question and error."""
        where = f"decision {self.decision} ({self.ask})" if self.decision is not None else self.ask
        what = {EndCause.CRASHED: "crashed", EndCause.TIMEOUT: "was late"}.get(self.cause, "answered illegally")
        return f"bot {self.name} {what} in match {self.match}, seat {self.seat}, {where}: {self.reason}"


@dataclass(frozen=True, slots=True)
class LocalMatch:
    """A match of a run; each tuple has one entry per bot, in the order the bots were given."""

    match: int
    places: tuple[int, ...]
    scores: tuple[int, ...]
    end_causes: tuple[str, ...]
    seats: tuple[int, ...]  # seat of each bot
    decisions: int


@dataclass(frozen=True, slots=True)
class SeatTotals:
    """The results of one bot over a run."""

    bot: str
    first_places: int
    mean_place: float
    mean_score: float
    taken_over: int = 0  # matches in which its seat was taken over, so that it came last
    places: tuple[int, ...] = ()  # matches that ended with each place, the best first
    place_variance: float = 0.0  # sample variance of its places
    score_variance: float = 0.0  # sample variance of its scores
    min_score: int | None = None  # None if no match was played
    max_score: int | None = None  # None if no match was played
    faults: int = 0

    @property
    def place_interval(self) -> tuple[float, float]:
        """The 95 % interval of its mean place."""
        half = SURE * math.sqrt(self.place_variance / max(1, sum(self.places)))
        return max(1.0, self.mean_place - half), min(float(len(self.places)), self.mean_place + half)


@dataclass(frozen=True)
class LocalRun:
    """The results of a run."""

    game: str
    matches: int
    decisions: int
    seconds: float
    seats: tuple[SeatTotals, ...]  # one per bot
    rows: tuple[LocalMatch, ...] = field(repr=False)  # one per match; empty with keep_rows=False
    failures: tuple[Failure, ...] = ()  # the first of each bot that failed
    faults: tuple[int, ...] = ()  # count per bot
    digest: str = ""  # equal for equal results, whatever the number of processes
    slowest: tuple[SlowDecision, ...] = ()  # of each bot; empty without a clock


class RunCutShort(CutpurseError):
    """A run that ended before its last match.

    Attributes:
        so_far: The results of the matches before.
    """

    def __init__(self, reason: str, so_far: LocalRun) -> None:
        super().__init__(reason)
        self.so_far = so_far


@dataclass(frozen=True)
class _Done:
    """What one match returns to the run, possibly from another process."""

    row: LocalMatch
    failures: tuple[Failure, ...]  # the first of each bot
    faults: tuple[int, ...]
    record: str
    slowest: tuple[SlowDecision, ...]  # of each bot; empty without a clock


def play(
    game: str,
    bots: Sequence[str | Callable[[], Any] | BotMaker],
    *,
    matches: int = 1,
    seed: int | str = 0,
    settings: Mapping[str, object] | None = None,
    jobs: int = 1,
    record: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    on_match: Callable[[LocalMatch], None] | None = None,
    watch: Callable[[Match], None] | None = None,
    keep_rows: bool = True,
    aggregate: bool = False,
    on: str | None = None,
    clock: MatchClock | None = None,
    position: Callable[[bytes], Game] | None = None,
) -> LocalRun:
    """Play matches and add up the results.

    Args:
        game: Name of the game.
        bots: One per seat: a name, a file, or a class (anything that makes a bot).
        matches: Number of matches.
        seed: Determines deals and seats; the same seed repeats the run.
        settings: Game settings that differ from their defaults.
        jobs: Number of processes. With more than one, classes must be importable by name.
        record: File that gets one line per match.
        progress: Called with the number of finished matches and of all matches: at the beginning, and after every
            decision or, with other processes, about once a second.
        on_match: Called with each finished match, in order.
        watch: Called with a match when it begins and after every answer; with one process only.
        keep_rows: Fill `LocalRun.rows`. Without it, a long run takes no more memory than a short one.
        aggregate: Let each process return sums instead of matches. There are no rows and no records then.
        on: "ray" for processes of Ray, `ray://HOST:PORT` for a Ray cluster. Default: processes of this machine.
        clock: Clock that the bots play by, with the faults and takeovers of a server. Default: any bot has any time.
        position: Returns the position from which the match with a key begins; the bots then keep their seats, in the
            order given, and `settings` are those of the position. Default: each match begins with a deal.

    Returns:
        The results. A failing bot raises nothing: see `LocalRun.failures`.

    Raises:
        UsageError: For unknown names and impossible values.
        CutpurseError: If the record cannot be written.
        RunCutShort: If some matches ended two processes.
    """
    rules = game_named(game)
    makers = bot_makers(bots)
    chosen: dict[str, object] = {**rules.set_up(len(makers), settings or {}).changed()}
    check_backend(on, jobs)
    if matches < 1:
        raise UsageError(f"{matches} matches cannot be played; at least 1 can")
    if watch is not None and not is_in_this_process(on, jobs):
        raise UsageError("matches can be watched in one process only: leave jobs at 1")
    if record is not None and Path(record).suffix == ".py":
        raise UsageError(f"the record would take the place of {record}, which is code: name another file for it")
    if position is not None and record is not None:
        raise UsageError("a record begins with a deal, so matches from a position have none: do without the record")
    if aggregate and (record is not None or watch is not None or on_match is not None):
        raise UsageError("a run with sums only has no single matches: do without the record, or without sums")
    run = _Run(rules, tuple(makers), seed, chosen, record is not None, clock, position)
    began = time.perf_counter()
    rows: list[LocalMatch] = []
    sums = _Sums(len(makers))
    digest = RunDigest()

    def beat(_: Match | None = None) -> None:
        if progress is not None:
            progress(sums.matches, matches)

    def so_far() -> LocalRun:
        failures = tuple(sums.failures[bot] for bot in sorted(sums.failures))
        return LocalRun(
            game,
            sums.matches,
            sums.decisions,
            time.perf_counter() - began,
            tuple(
                _seat_totals(maker.name, sums.matches, totals) for maker, totals in zip(makers, sums.bots, strict=True)
            ),
            tuple(rows),
            failures,
            tuple(totals.faults for totals in sums.bots),
            digest.hex(),
            sums.slowest,
        )

    work = run.sums if aggregate else run.batch
    results: Generator[_Done | _Part, None, None] = (
        run.several(range(matches), watch or (beat if progress is not None else None))
        if is_in_this_process(on, jobs)
        else in_order(work, matches, jobs, run.describe, on, beat)
    )
    beat()
    try:
        with a_run(), Lines(record, "the record") as lines, closing(results) as played:
            for done in played:
                if isinstance(done, _Part):
                    sums.merge(done.sums)
                    digest.add(done.digests)
                else:
                    sums.add(done)
                    digest.add(_match_digest(done.row))
                    if keep_rows and not aggregate:
                        rows.append(done.row)
                    lines.write(done.record)
                    if on_match is not None:
                        on_match(done.row)
                beat()
    except BatchLost as lost:
        raise RunCutShort(str(lost), so_far()) from None
    return so_far()


@dataclass(frozen=True)
class _Run:
    """The common parameters of the matches of a run."""

    rules: type[Game]
    makers: tuple[BotMaker, ...]
    seed: int | str
    settings: dict[str, object]
    record: bool
    clock: MatchClock | None = None
    position: Callable[[bytes], Game] | None = None

    def describe(self, numbers: range) -> str:
        """Name some matches in an error."""
        bots = ", ".join(maker.name for maker in self.makers)
        return f"{self.rules.words.game}, {number_tasks('matches', numbers)} (seed {self.seed}; {bots})"

    def batch(self, numbers: range) -> list[_Done]:
        return list(self.several(numbers))

    def sums(self, numbers: range) -> list[_Part]:
        sums, digests = _Sums(len(self.makers)), bytearray()
        for done in self.several(numbers):
            sums.add(done)
            digests += _match_digest(done.row)
        return [_Part(sums, bytes(digests))]

    def several(
        self, numbers: Iterable[int], watch: Callable[[Match], None] | None = None
    ) -> Generator[_Done, None, None]:
        for number in numbers:
            yield self.one(number, watch)

    def one(self, number: int, watch: Callable[[Match], None] | None) -> _Done:
        n = len(self.makers)
        bot_at = arrangement(n, self.seed, number) if self.position is None else tuple(range(n))
        seat_of = tuple(bot_at.index(bot) for bot in range(n))
        makers = [self.makers[bot] for bot in bot_at]
        names, key = [maker.name for maker in makers], match_key(self.seed, number)
        start = None if self.position is None else self.position(key)
        before = () if start is None else [start.view(seat) for seat in range(n)]
        holds = self.clock is not None
        match = Match(self.rules, names, key, self.settings, log=True, hold_polls=holds, position=start)
        result, failed, decisions, thoughts = play_timed(match, makers, self.clock, watch, before)
        slowest = slowest_by_bot(
            SlowDecision(thought.seconds, bot_at[thought.seat], number, thought.decision, thought.waited_s)
            for thought in thoughts
        )
        first: dict[int, Failure] = {}
        faults = [0] * n
        for seat, failure in failed:
            bot = bot_at[seat]
            faults[bot] += 1
            maker = self.makers[bot]
            first.setdefault(bot, Failure(bot, maker.name, maker.file, number, *failure))
        row = LocalMatch(
            number,
            tuple(result.places[seat] for seat in seat_of),
            tuple(result.scores[seat] for seat in seat_of),
            tuple(result.end_causes[seat].value for seat in seat_of),
            seat_of,
            decisions,
        )
        return _Done(row, tuple(first.values()), tuple(faults), write_record(match) if self.record else "", slowest)


class _Sums:
    """The sums of a run, or of a part of it."""

    def __init__(self, bots: int) -> None:
        self.matches = 0
        self.decisions = 0
        self.bots = [BotSums(bots) for _ in range(bots)]
        self.failures: dict[int, Failure] = {}  # the first of each bot
        self.slowest: tuple[SlowDecision, ...] = ()  # of each bot

    def add(self, done: _Done) -> None:
        row = done.row
        self.matches += 1
        self.decisions += row.decisions
        for bot, place, score, cause, faults in zip(
            self.bots, row.places, row.scores, row.end_causes, done.faults, strict=True
        ):
            bot.add(place, score, cause != EndCause.NORMAL.value, faults)
        for failure in done.failures:
            self.failures.setdefault(failure.bot, failure)
        if done.slowest:
            self.slowest = slowest_by_bot((*self.slowest, *done.slowest))

    def merge(self, other: _Sums) -> None:
        """Add the next part of the run."""
        self.matches += other.matches
        self.decisions += other.decisions
        for mine, theirs in zip(self.bots, other.bots, strict=True):
            mine.merge(theirs)
        self.failures = {**other.failures, **self.failures}
        self.slowest = slowest_by_bot((*self.slowest, *other.slowest))


@dataclass(frozen=True)
class _Part:
    """What several matches return to the run, if it needs sums only."""

    sums: _Sums
    digests: bytes  # one for each match


def _match_digest(row: LocalMatch) -> bytes:
    """Return the digest of a match: all that `--out` has of it."""
    return result_digest([row.match, row.seats, row.places, row.scores, row.end_causes, row.decisions])


def _seat_totals(name: str, matches: int, sums: BotSums) -> SeatTotals:
    place_sum, place_squares = place_moments(sums.places)
    return SeatTotals(
        name,
        sums.places[0],
        mean(matches, place_sum),
        mean(matches, sums.score_sum),
        sums.taken_over,
        tuple(sums.places),
        variance(matches, place_sum, place_squares),
        variance(matches, sums.score_sum, sums.score_squares),
        sums.min_score,
        sums.max_score,
        sums.faults,
    )
