"""Matches played on this machine without a server, in one process or several.

    played = play("greed", ["my_bot.py", "random", "random"], matches=100, seed=7)
    print(played.seats[0].mean_place)

Match i has the key `match_key(seed, i)` and the seats `arrangement(n, seed, i)`. So a run can be repeated, with the
same results in any number of processes. Every other process loads the bots once. This module knows no terminal.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cutpurse.engine.chance import match_key
from cutpurse.engine.errors import UsageError
from cutpurse.engine.game import Game
from cutpurse.engine.match import EndCause, Match
from cutpurse.engine.record import write_record
from cutpurse.engine.seating import arrangement
from cutpurse.games import game_named
from cutpurse.sdk.bot import BotMaker, bot_makers
from cutpurse.sdk.playing.lifetime import a_run
from cutpurse.sdk.playing.lines import Lines
from cutpurse.sdk.playing.processes import check_jobs, in_order
from cutpurse.sdk.playing.seating import play_match

__all__ = [
    "Failure",
    "LocalMatch",
    "LocalRun",
    "SeatTotals",
    "play",
]


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
        what = "crashed" if self.cause is EndCause.CRASHED else "answered illegally"
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


@dataclass(frozen=True)
class LocalRun:
    """The results of a finished run."""

    game: str
    matches: int
    decisions: int
    seconds: float
    seats: tuple[SeatTotals, ...]  # by bot
    rows: tuple[LocalMatch, ...] = field(repr=False)  # empty with keep_rows=False
    failures: tuple[Failure, ...] = ()  # the first of each bot that failed
    faults: tuple[int, ...] = ()  # count per bot


@dataclass(frozen=True)
class _Done:
    """What one match returns to the run, possibly from another process."""

    row: LocalMatch
    failures: tuple[Failure, ...]  # the first of each bot
    faults: tuple[int, ...]
    record: str


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
        progress: Called with the number of finished matches and of all matches.
        on_match: Called with each finished match, in order.
        watch: Called with a match when it begins and after every answer; with one process only.
        keep_rows: Fill `LocalRun.rows`. Without it, a long run takes no more memory than a short one.

    Returns:
        The results. A failing bot raises nothing: see `LocalRun.failures`.

    Raises:
        UsageError: For unknown names and impossible values.
        CutpurseError: If the record cannot be written.
    """
    rules = game_named(game)
    makers = bot_makers(bots)
    chosen: dict[str, object] = {**rules.set_up(len(makers), settings or {}).changed()}
    check_jobs(jobs)
    if matches < 1:
        raise UsageError(f"{matches} matches cannot be played; at least 1 can")
    if watch is not None and jobs > 1:
        raise UsageError("matches can be watched in one process only: leave jobs at 1")
    if record is not None and Path(record).suffix == ".py":
        raise UsageError(f"the record would take the place of {record}, which is code: name another file for it")
    run = _Run(rules, tuple(makers), seed, chosen, record is not None)
    began = time.perf_counter()
    rows: list[LocalMatch] = []
    count = _Count(makers)
    first: dict[int, Failure] = {}
    faults = [0] * len(makers)
    results = run.several(range(matches), watch) if jobs == 1 else in_order(run.batch, matches, jobs)
    with a_run(), Lines(record, "the record") as lines, closing(results) as played:
        for done in played:
            count.add(done.row)
            if keep_rows:
                rows.append(done.row)
            lines.write(done.record)
            for failure in done.failures:
                first.setdefault(failure.bot, failure)
            faults = [a + b for a, b in zip(faults, done.faults, strict=True)]
            if on_match is not None:
                on_match(done.row)
            if progress is not None:
                progress(count.matches, matches)
    seconds = time.perf_counter() - began
    failures = tuple(first[bot] for bot in sorted(first))
    return LocalRun(game, matches, count.decisions, seconds, count.seats(), tuple(rows), failures, tuple(faults))


@dataclass(frozen=True)
class _Run:
    """The common parameters of the matches of a run."""

    rules: type[Game]
    makers: tuple[BotMaker, ...]
    seed: int | str
    settings: dict[str, object]
    record: bool

    def batch(self, numbers: range) -> list[_Done]:
        return list(self.several(numbers))

    def several(
        self, numbers: Iterable[int], watch: Callable[[Match], None] | None = None
    ) -> Generator[_Done, None, None]:
        for number in numbers:
            yield self.one(number, watch)

    def one(self, number: int, watch: Callable[[Match], None] | None) -> _Done:
        n = len(self.makers)
        bot_at = arrangement(n, self.seed, number)
        seat_of = tuple(bot_at.index(bot) for bot in range(n))
        match = Match(
            self.rules, [self.makers[bot].name for bot in bot_at], match_key(self.seed, number), self.settings, log=True
        )
        result, failed, decisions = play_match(match, [self.makers[bot] for bot in bot_at], watch)
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
        return _Done(row, tuple(first.values()), tuple(faults), write_record(match) if self.record else "")


class _Count:
    """The sums of a run."""

    def __init__(self, makers: Sequence[BotMaker]) -> None:
        self.matches = 0
        self.decisions = 0
        self._names = [maker.name for maker in makers]
        self._first = [0] * len(makers)
        self._places = [0] * len(makers)
        self._scores = [0] * len(makers)
        self._taken_over = [0] * len(makers)

    def add(self, row: LocalMatch) -> None:
        self.matches += 1
        self.decisions += row.decisions
        for bot, (place, score) in enumerate(zip(row.places, row.scores, strict=True)):
            self._first[bot] += place == 1
            self._places[bot] += place
            self._scores[bot] += score
            self._taken_over[bot] += row.end_causes[bot] != EndCause.NORMAL.value

    def seats(self) -> tuple[SeatTotals, ...]:
        return tuple(
            SeatTotals(name, first, places / self.matches, scores / self.matches, taken_over)
            for name, first, places, scores, taken_over in zip(
                self._names, self._first, self._places, self._scores, self._taken_over, strict=True
            )
        )
