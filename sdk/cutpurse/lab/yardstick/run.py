"""Measurements by a yardstick: an agent plays the boards of a set, and a result is checked by playing a sample again.

The boards are played in a fixed order, so a run that ends early can be continued, and a quick run can be extended to
a full one. This module knows no terminal.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from cutpurse.engine.errors import BotFault, RecordError, UsageError
from cutpurse.engine.match import Match
from cutpurse.games import game_named
from cutpurse.lab.yardstick.agent import agent_games, agent_identity, load_agent
from cutpurse.lab.yardstick.score import BoardPoints, Score, mean_score, score_of
from cutpurse.lab.yardstick.yardstick_board import YardstickBoard, YardstickTable
from cutpurse.lab.yardstick.yardstick_journal import BoardChain, YardstickJournal
from cutpurse.lab.yardstick.yardstick_set import NEWEST_SET, YardstickSet, check_opponents, load_set
from cutpurse.process.backends import check_backend, in_order, is_in_this_process
from cutpurse.process.lifetime import a_run
from cutpurse.sdk.bot import built_in_bots
from cutpurse.wire.errors import NotFound
from cutpurse.wire.text import format_count

__all__ = ["Measured", "MeasurePlan", "measure", "measured_of_file", "verify"]

Beat = Callable[[int, int], None]


@dataclass(frozen=True)
class MeasurePlan:
    """What to measure.

    Attributes:
        bot: The agent: a bot as in `cutpurse play`.
        set_name: The set.
        is_full: Play all boards of the set instead of the first of each group.
        games: What to play: games as "szmal", or groups of boards as "szmal/4". Default: all that the agent can.
        max_s: The longest time it may take. Default: any.
        jobs: Number of processes.
    """

    bot: str
    set_name: str = NEWEST_SET
    is_full: bool = False
    games: tuple[str, ...] = ()
    max_s: float | None = None
    jobs: int = 1


@dataclass(frozen=True)
class Measured:
    """The result of a measurement.

    Attributes:
        agent: What the agent is: its name and, for a file, its digest.
        each: Boards of each group.
        games: Score by game.
        score: Score in all games; None if some were left out.
        digest: Equal for equal results of the same agent.
    """

    of: YardstickSet
    agent: Mapping[str, str]
    each: int
    boards: Mapping[int, YardstickBoard]
    games: Mapping[str, Score]
    score: Score | None
    digest: str

    @property
    def faults(self) -> int:
        """Number of decisions that the agent lost."""
        return sum(board.faults for board in self.boards.values())

    @property
    def failure(self) -> str:
        """The first failure of the agent in one line; empty if there was none."""
        return next((board.failure for board in self.boards.values() if board.failure), "")


def measure(
    plan: MeasurePlan,
    journal_file: Path | None = None,
    *,
    progress: Beat = lambda done, of: None,
    clock: Callable[[], float] = time.monotonic,
) -> Measured:
    """Let an agent play the boards of a set.

    Args:
        plan: What to measure.
        journal_file: Stores the boards, and what to continue from if it exists.
        progress: Called often, with the number of boards played and of all.
        clock: Returns seconds.

    Raises:
        UsageError: For an unknown set or game, opponents that play otherwise here, and the journal of something else.
        RecordError: For a journal that was altered.
        BotFault: If the agent cannot play one of the games, fails, or is too slow.
    """
    of, maker = load_set(plan.set_name), load_agent(plan.bot)
    check_backend(None, plan.jobs)
    groups = _groups(of, plan.games or agent_games(plan.bot))
    numbers = of.numbers(of.full if plan.is_full else of.quick, groups)
    settled = {"set": of.name, "set_digest": of.digest, "groups": groups, "agent": agent_identity(maker)}
    check_opponents(of)
    with ExitStack() as stack:
        journal = stack.enter_context(YardstickJournal(journal_file)) if journal_file else None
        if journal is not None:
            journal.settle(settled)
        chain = (journal.chain if journal else None) or BoardChain(settled)
        missing = tuple(number for number in numbers if number not in chain.boards)
        table = YardstickTable(of.name, of.groups, maker, missing)
        pace = _Pace(plan.max_s, len(missing), len(groups), maker.name, clock)
        stack.enter_context(a_run())
        results = _play(table, plan.jobs, lambda: progress(len(chain.boards), len(numbers)))
        stack.callback(results.close)
        for number, board in zip(missing, results, strict=True):
            if board.is_taken_over:
                raise BotFault(_taken_over_text(of, number, maker.name, board))
            chain.add(number, board)
            if journal is not None:
                journal.add(number, board)
            pace.check()
    return _measured(of, settled, chain)


def verify(
    file: Path, sample: int = 10, bot: str | None = None, jobs: int = 1, progress: Beat = lambda done, of: None
) -> tuple[Measured, tuple[int, ...]]:
    """Check a result, and play some of its boards again, drawn by its digest.

    Args:
        file: The journal of a measurement.
        sample: How many boards to play; 0 for all.
        bot: The agent; may be left out for a built-in bot.
        jobs: Number of processes.
        progress: Called often, with the number of boards played and of all.

    Returns:
        What was measured, and the numbers of the boards that were played again.

    Raises:
        RecordError: If the file was altered, is incomplete, or the agent plays otherwise.
        UsageError: If this installation cannot play its set, the agent is another one, or none is given for a file that
            names no built-in bot: a file must not choose what runs here.
        NotFound: If the file or the agent does not exist.
    """
    check_backend(None, jobs)
    measured = measured_of_file(file)
    if bot is None and measured.agent["bot"] not in built_in_bots():
        raise UsageError(
            f"{file} names the agent {measured.agent['bot']!r:.80}, and a file must not choose what runs here: if you "
            "trust that agent, give it with --agent"
        )
    maker = load_agent(bot or measured.agent["bot"])
    here = agent_identity(maker)
    names = sorted({*here, *measured.agent} - {"bot"})
    if different := [name for name in names if here.get(name) != measured.agent.get(name)]:
        raise UsageError(f"{file} is of another agent than {maker.name}: {', '.join(different)} differ")
    check_opponents(measured.of)
    count = len(measured.boards) if sample == 0 else min(sample, len(measured.boards))
    numbers = tuple(sorted(Random(measured.digest).sample(sorted(measured.boards), count)))
    table = YardstickTable(measured.of.name, measured.of.groups, maker, numbers)
    with a_run():
        done = 0
        results = _play(table, jobs, lambda: progress(done, count))
        try:
            for number, board in zip(numbers, results, strict=True):
                done += 1
                if not board.is_same_play(measured.boards[number]):
                    raise RecordError(_other_play_text(measured, number, board))
        finally:
            results.close()
    return measured, numbers


def measured_of_file(file: Path) -> Measured:
    """Return the result that a journal has, without playing.

    Raises:
        RecordError: If it was altered, or is incomplete.
        UsageError: If this installation does not have its set.
        NotFound: If there is no such file.
    """
    try:
        with YardstickJournal(file, is_to_be_written=False) as journal:
            plan, chain = journal.plan, journal.chain
    except (NotFound, RecordError):
        raise
    except UsageError as problem:
        raise RecordError(str(problem)) from None
    if plan is None or chain is None:
        raise RecordError(f"{file} has no boards yet: measure first, with --journal {file}")
    if not _is_plan(plan):
        raise RecordError(f"{file}, line 1: this is no plan of a yardstick")
    of = load_set(plan["set"])
    if of.digest != plan["set_digest"]:
        raise RecordError(f"{file} names {of.name}, but its set has another digest than the {of.name} of Cutpurse")
    if strange := chain.boards.keys() - set(of.numbers(of.full, plan["groups"])):
        raise RecordError(f"{file} has a board {min(map(str, strange)):.40} that its plan lacks; measure again")
    numbers = of.numbers(of.quick, plan["groups"])
    if left := sum(number not in chain.boards for number in numbers):
        raise RecordError(
            f"{file} is incomplete, {format_count(left, 'board')} of {len(numbers)} are missing: the same command with "
            f"--journal {file} plays them"
        )
    return _measured(of, plan, chain)


def _is_plan(plan: object) -> bool:
    """Check the form of a plan, which anybody may have written."""
    if not isinstance(plan, dict) or plan.keys() != {"set", "set_digest", "groups", "agent"}:
        return False
    agent, groups = plan["agent"], plan["groups"]
    return (
        isinstance(plan["set"], str)
        and isinstance(agent, dict)
        and "bot" in agent
        and isinstance(groups, list)
        and all(isinstance(text, str) for text in (*agent.values(), *groups))
    )


class _Pace:
    """Ends a run that is too slow: when each group had a board, or the time is over."""

    def __init__(self, max_s: float | None, boards: int, groups: int, agent: str, clock: Callable[[], float]) -> None:
        self.max_s, self.boards, self.groups, self.agent, self.clock = max_s, boards, groups, agent, clock
        self.began, self.done = clock(), 0

    def check(self) -> None:
        """Count a board.  Raises BotFault if the boards take longer than the run may."""
        self.done += 1
        seconds = self.clock() - self.began
        if self.max_s is None or self.done == self.boards or (self.done < self.groups and seconds <= self.max_s):
            return
        if (needed_s := seconds / self.done * self.boards) > self.max_s:
            raise BotFault(
                f"{self.agent} is too slow: {format_count(self.boards, 'board')} would take about {needed_s / 60:,.0f} "
                f"min, and the budget is {self.max_s / 60:,.0f} min; --budget sets another, --jobs plays several"
            )


def _play(table: YardstickTable, jobs: int, beat: Callable[[], None]) -> Generator[YardstickBoard, None, None]:
    """Yield the boards of a table in order, with `beat` called often."""

    def heard(_: Match | None = None) -> None:
        beat()

    if is_in_this_process(None, jobs):
        return (table.board(number, heard) for number in table.numbers)
    return in_order(table.batch, len(table.numbers), jobs, table.describe, None, beat)


def _groups(of: YardstickSet, names: Sequence[str]) -> list[str]:
    """Return the groups to play, of games or groups with these names.  Raises UsageError for one that is not there."""
    known = [group.name for group in of.groups]
    if unknown := [name for name in names if name not in (*of.games, *known)]:
        raise UsageError(f"{of.name} has no game {unknown[0]!r:.80}; it has: {', '.join((*of.games, *known))}")
    return [group.name for group in of.groups if not names or group.name in names or group.game in names]


def _measured(of: YardstickSet, plan: Mapping[str, Any], chain: BoardChain) -> Measured:
    """Compute the scores of the boards of a chain."""
    points: dict[str, dict[str, list[BoardPoints]]] = {}
    for number, board in chain.boards.items():
        group = of.groups[number % len(of.groups)]
        points.setdefault(group.game, {}).setdefault(group.name, []).append((board.points, *of.ends(number)))
    games = {game: score_of(groups) for game, groups in points.items()}
    score = mean_score([*games.values()]) if len(plan["groups"]) == len(of.groups) else None
    each = min(len(boards) for groups in points.values() for boards in groups.values())
    return Measured(of, plan["agent"], each, chain.boards, games, score, chain.digest)


def _taken_over_text(of: YardstickSet, number: int, agent: str, board: YardstickBoard) -> str:
    index, group_number = divmod(number, len(of.groups))
    group = of.groups[group_number]
    if index:
        return f"{agent} failed on board {number} ({group.name}), so it has no score: {board.failure}"
    title = game_named(group.game).words.title
    return (
        f"{agent} cannot play {title} with {group.seats} seats, so it has no score: {board.failure}; --games measures "
        f"some of {', '.join(of.games)}"
    )


def _other_play_text(measured: Measured, number: int, board: YardstickBoard) -> str:
    filed, group = measured.boards[number], measured.of.groups[number % len(measured.of.groups)]
    what = f"{filed.points:+.3f} points in the file and {board.points:+.3f} here"
    if filed.points == board.points:
        what = f"{board.points:+.3f} points both times, but with other answers"
    return (
        f"board {number} ({group.name}) is not what {measured.agent['bot']} plays: {what}; the file was altered, or "
        "the agent does not repeat itself"
    )
