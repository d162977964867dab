"""A tuning from the first round to the comparison with the start, within a budget of boards or of time.

If the program is interrupted, the next run continues with the first board that is not in the journal, and the
comparison from its own state beside it. This module knows no terminal.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from cutpurse.engine import seating
from cutpurse.engine.errors import BotFault, UsageError
from cutpurse.games import game_named
from cutpurse.lab.comparison import Compared, compare, field_for, fingerprint
from cutpurse.lab.tuning.candidate_board import TuningTable, TuningTasks
from cutpurse.lab.tuning.parameters import BotParameter, Values, bot_with, start_values, values_text
from cutpurse.lab.tuning.search import BLOCK, Searcher, next_deals
from cutpurse.lab.tuning.tuning_log import TuningJournal
from cutpurse.leaderboard.statistics.sprt import Design
from cutpurse.process.backends import check_backend, in_order, is_in_this_process
from cutpurse.process.lifetime import a_run
from cutpurse.sdk.bot import load_bot
from cutpurse.wire.text import format_count

__all__ = ["TuningBudget", "Tuned", "Tuning", "tune"]

SEARCH_SHARE: Final = 0.5  # of the budget, until the finalists
FINAL_SHARE: Final = 0.7  # until the comparison
MOST_PROOF_BOARDS: Final = 100_000
PROOF_BOARDS: Final = Design().min_boards  # least boards of the comparison, each of two candidates


@dataclass(frozen=True)
class TuningBudget:
    """How much a tuning may take: a number of boards, or seconds."""

    boards: int | None = None
    seconds: float | None = None

    def all_boards(self, played: int, seconds: float) -> float:
        """Return the boards that fit the budget, judged by those played in these seconds."""
        if self.seconds is None:
            return float(self.boards or 0)
        return self.seconds * played / seconds if seconds > 0 else math.inf


@dataclass(frozen=True)
class Tuning:
    """What to tune, and on which boards."""

    game: str
    bot: str
    parameters: tuple[BotParameter, ...]
    against: tuple[str, ...] = ("greedy",)
    seats: int | None = None
    seed: int | str = 0
    settings: tuple[tuple[str, object], ...] = ()
    jobs: int = 1


@dataclass(frozen=True)
class Tuned:
    """What a tuning found.

    Attributes:
        searcher: All boards played.
        best: The best values; the bot's own if no others did better.
        idle: Parameters whose values all play alike.
        compared: The comparison of the best with the start on new deals; None if they are the same.
        failures: The first failure of each candidate that failed, in one line.
    """

    searcher: Searcher
    best: Values
    idle: tuple[BotParameter, ...]
    compared: Compared | None
    failures: tuple[str, ...]
    seconds: float
    boards: int


def tune(
    tuning: Tuning,
    budget: TuningBudget,
    journal_file: Path,
    *,
    progress: Callable[[int, float, str], None] = lambda boards, seconds, text: None,
    clock: Callable[[], float] = time.monotonic,
) -> Tuned:
    """Search for good values and compare the best with the start.

    Args:
        tuning: What to tune.
        budget: How much it may take, earlier sessions included.
        journal_file: Stores the boards, and what to continue from if it exists.
        progress: Called often, with the boards and seconds spent so far and the best values.
        clock: Returns seconds.

    Raises:
        UsageError: For unknown names, impossible values, a budget too small, a bot that does nothing with any of its
            parameters, and the journal of another tuning.
    """
    run = _TuningRun(tuning, budget, progress, clock)
    with TuningJournal(journal_file) as journal, a_run():
        journal.settle(run.plan())
        return run.play(journal)


class _TuningRun:
    """A tuning that runs."""

    def __init__(
        self,
        tuning: Tuning,
        budget: TuningBudget,
        progress: Callable[[int, float, str], None],
        clock: Callable[[], float],
    ) -> None:
        check_backend(None, tuning.jobs)
        rules = game_named(tuning.game)
        seats = rules.usual_seats if tuning.seats is None else tuning.seats
        settings: dict[str, object] = {**rules.set_up(seats, dict(tuning.settings)).changed()}
        bot = load_bot(tuning.bot)
        start = start_values(bot, tuning.parameters)
        against = field_for(tuning.against, seats)
        self.table = TuningTable(rules, bot, tuning.parameters, against, tuning.seed, settings)
        self.searcher = Searcher(tuning.parameters, start, tuning.seed)
        self.tuning, self.budget, self.clock, self.progress = tuning, budget, clock, progress
        self.first_boards = len(self.searcher.first_round()) * BLOCK
        self.least_boards = self.first_boards + 2 * PROOF_BOARDS
        if budget.boards is not None and budget.boards < self.least_boards:
            raise UsageError(
                f"a budget of {format_count(budget.boards, 'board')} is too small: the first candidates and one "
                f"comparison take {self.least_boards}"
            )

    def plan(self) -> dict[str, Any]:
        """Return all that the boards depend on."""
        return {
            "game": self.tuning.game,
            "rules": self.table.rules.words.version,
            "seating": seating.VERSION,
            "bot": fingerprint(self.table.bot),
            "against": [fingerprint(bot) for bot in self.table.against],
            "parameters": [parameter.text for parameter in self.tuning.parameters],
            "start": list(self.searcher.start),
            "seed": str(self.tuning.seed),
            "settings": self.table.settings,
        }

    def play(self, journal: TuningJournal) -> Tuned:
        """Play all rounds that fit the budget, then the comparison."""
        for board in journal.boards:
            self.searcher.add(board)
        idle: list[BotParameter] | None = None
        while True:
            is_whole = self._finish_round(journal)
            if idle is None and journal.boards:
                idle = self.searcher.idle_parameters()
                self._check_first_round(idle)
            if not is_whole or self._is_search_over(journal):
                break
            self._begin_round(journal)
        best = self.searcher.best()
        compared = None if best == self.searcher.start else self._compare(journal, best)
        failures = [
            f"with {values_text(self.tuning.parameters, values)}: {played.failure}"
            for values, played in self.searcher.played.items()
            if played.failure
        ]
        boards = len(journal.boards) + (0 if compared is None else 2 * compared.result.boards)
        return Tuned(self.searcher, best, tuple(idle or ()), compared, tuple(failures), journal.seconds, boards)

    def _check_first_round(self, idle: Sequence[BotParameter]) -> None:
        """Check that the bot plays, and does something with a parameter.  Raises BotFault or UsageError."""
        if failure := self.searcher.played[self.searcher.start].failure:
            raise BotFault(f"the bot fails with its own values: {failure}")
        if len(idle) == len(self.tuning.parameters):
            names = ", ".join(parameter.name for parameter in idle)
            raise UsageError(
                f"the bot does nothing with {names}: it played the same moves on {format_count(BLOCK, 'deal')} with "
                "each value that was tried"
            )

    def _is_search_over(self, journal: TuningJournal) -> bool:
        """Return whether the rest of the budget is for the comparison."""
        played, boards = len(journal.boards), self._all_boards(journal)
        return played >= self.first_boards and played >= min(FINAL_SHARE * boards, boards - 2 * PROOF_BOARDS)

    def _all_boards(self, journal: TuningJournal) -> float:
        return self.budget.all_boards(len(journal.boards), journal.seconds)

    def _begin_round(self, journal: TuningJournal) -> None:
        searcher = self.searcher
        if not journal.boards:
            candidates = searcher.first_round()
        elif len(journal.boards) < SEARCH_SHARE * self._all_boards(journal) or not searcher.finalists():
            candidates = searcher.propose()
        else:
            candidates = searcher.finalists()
        journal.begin_round(
            [(values, deal) for values in candidates for deal in next_deals(searcher.played.get(values))]
        )

    def _finish_round(self, journal: TuningJournal) -> bool:
        """Play the missing boards of the round.  Returns False if the budget ended before."""
        missing = tuple(journal.missing)
        tasks = TuningTasks(self.table, missing)
        text = f"best so far: {values_text(self.tuning.parameters, self.searcher.best())}"
        last = self.clock()

        def beat(_: object = None) -> None:
            self.progress(len(journal.boards), journal.seconds + self.clock() - last, text)

        boards = (
            (self.table.board(values, deal, beat) for values, deal in missing)
            if is_in_this_process(None, self.tuning.jobs)
            else in_order(tasks.batch, len(missing), self.tuning.jobs, tasks.describe, None, beat)
        )
        try:
            for board in boards:
                now = self.clock()
                journal.add(board, now - last)
                self.searcher.add(board)
                last = now
                beat()
                self._check_time(journal)
                if journal.missing and self._is_search_over(journal):
                    return False
        finally:
            boards.close()
        return True

    def _check_time(self, journal: TuningJournal) -> None:
        """Check, after the first deals of the start, that the time is enough.  Raises UsageError."""
        if self.budget.seconds is None or len(journal.boards) > BLOCK:
            return
        is_time = len(journal.boards) == BLOCK or journal.seconds > self.budget.seconds
        if is_time and self._all_boards(journal) < self.least_boards:
            needed_s = journal.seconds / len(journal.boards) * self.least_boards
            raise UsageError(
                f"a budget of {self.budget.seconds:,.0f} s is too small: the first candidates and one comparison take "
                f"{self.least_boards} boards, about {needed_s:,.0f} s here"
            )

    def _compare(self, journal: TuningJournal, best: Values) -> Compared:
        """Compare the best values with the start, on new deals."""
        spent = len(journal.boards)
        left = min(self._all_boards(journal) - spent, 2 * MOST_PROOF_BOARDS)
        text = values_text(self.tuning.parameters, best)
        since = self.clock()
        return compare(
            self.tuning.game,
            bot_with(self.table.bot, self.tuning.parameters, best),
            self.table.bot,
            field=self.tuning.against,
            seats=len(self.table.against) + 1,
            seed=f"{self.tuning.seed}/comparison",
            settings=self.table.settings,
            jobs=self.tuning.jobs,
            design=Design(max_boards=max(PROOF_BOARDS, int(left / 2))),
            state=journal.path.with_name(f"{journal.path.name}.{_hash(text)}"),
            progress=lambda state: self.progress(
                spent + 2 * state.boards, journal.seconds + self.clock() - since, f"{text} against the start"
            ),
        )


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:8]
