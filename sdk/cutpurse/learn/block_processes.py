"""Processes that each step a block of tables, and write the rows of these into arrays that all of them share.

The memory of the arrays has no name, so nothing is left of it when the last process is gone, however it ends. A process
that dies ends the batch: its matches cannot be known. This module knows no particular game.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import pickle
import weakref
from collections.abc import Sequence
from itertools import pairwise
from multiprocessing import sharedctypes
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Final

import numpy as np

from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.learn.choice_table import TableRules
from cutpurse.learn.space import Arrays, Space
from cutpurse.learn.table_block import Ended, TableBlock, shapes
from cutpurse.process.child_processes import ends_new_children, kill_descendants
from cutpurse.process.interpreter import safe_path
from cutpurse.process.lifetime import a_run
from cutpurse.process.pool import begin_worker, interrupts_held, pickle_exception, pickle_work
from cutpurse.process.terminal import ignore_closed_stderr

__all__ = ["BlockProcesses", "TablesLost"]

GRACE_S: Final = 3.0  # for a process to end the programs of its bots and then itself
ALIGN: Final = 8  # bytes, that each array begins at


class TablesLost(CutpurseError):
    """The process that stepped some of the tables has died."""


class _BlockProcess:
    """A process with its tables, whose rows it writes."""

    def __init__(self, sent: bytes, memory: Any, numbers: range) -> None:
        self.numbers = numbers
        context = multiprocessing.get_context("spawn")
        self.connection, there = context.Pipe()
        with interrupts_held(), safe_path() as is_set:
            self.process: BaseProcess = context.Process(target=_serve, args=(there, memory, is_set))
            self.process.start()
        there.close()
        self.send(sent)
        self.send(numbers)

    def send(self, message: object) -> None:
        """Send a message; the death of the process is noticed by `receive`."""
        try:
            self.connection.send(message)
        except OSError:
            return

    def receive(self) -> Any:
        """Return the answer to a message: Any, as each has its own.

        Raises:
            TablesLost: If the process has died.
            Exception: What it raised.
        """
        try:
            wait([self.connection, self.process.sentinel])
            answer = self.connection.recv() if self.connection.poll() else None
            is_lost = answer is None
        except (EOFError, OSError):
            is_lost = True
        if is_lost:
            self.process.join(GRACE_S)
            code = self.process.exitcode or 0
            how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
            last = self.numbers[-1]
            which = f"tables {self.numbers[0]} to {last}" if len(self.numbers) > 1 else f"table {last}"
            raise TablesLost(f"{which}: the process that stepped them {how}; a bot did it, or memory ran out")
        if isinstance(answer, Exception):
            raise answer
        return answer


class BlockProcesses:
    """The processes of a batch."""

    def __init__(self, parameters: TableRules, space: Space, seed: int | str, tables: int, jobs: int) -> None:
        """Start the processes, and wait until each has dealt.

        Args:
            parameters: Of the tables.
            space: Their numbers and arrays.
            seed: Of the run.
            tables: Number of tables.
            jobs: Number of processes, at most one a table.

        Raises:
            UsageError: If a bot cannot be sent to another process.
            TablesLost: If a process died.
        """
        sent = pickle_work((parameters, space, seed, tables))
        ends = [tables * job // jobs for job in range(jobs + 1)]
        memory = sharedctypes.RawArray(ctypes.c_char, _size(space, tables))
        self._arrays = _arrays_in(memory, space, tables)
        self._blocks: list[_BlockProcess] = []
        self.close = weakref.finalize(self, _end, self._blocks)  # also at the end of Python
        try:
            for first, end in pairwise(ends):
                self._blocks.append(_BlockProcess(sent, memory, range(first, end)))
            for block in self._blocks:
                block.receive()
        except BaseException:
            self.close()
            raise

    def look(self) -> Arrays:
        """Return the arrays of all tables, which the next step writes anew."""
        return self._arrays

    def check(self, table: int, action: int) -> None:
        """Let the process of a table refuse a number.  Raises IllegalNumber."""
        block = next(block for block in self._blocks if table in block.numbers)
        block.send((block.numbers.index(table), action))
        block.receive()

    def step(self, actions: Sequence[int]) -> list[Ended]:
        """Answer on every table; the numbers were checked.

        Raises:
            UsageError: If the processes have ended.
            TablesLost: If one has died. Then all end.
            OpponentFailed: If a bot failed. Then all end.
        """
        if not self.close.alive:
            raise UsageError("the processes of this batch have ended: make another")
        for block in self._blocks:
            block.send([*actions[block.numbers.start : block.numbers.stop]])
        try:
            return [ended for block in self._blocks for ended in block.receive()]
        except BaseException:
            self.close()
            raise


def _end(blocks: list[_BlockProcess]) -> None:
    """End processes: those that wait for a message end by themselves."""
    for block in blocks:
        block.connection.close()
    for block in blocks:
        block.process.join(GRACE_S)
        if block.process.exitcode is None and block.process.pid is not None:
            kill_descendants(block.process.pid)
            block.process.kill()
            block.process.join()
    blocks.clear()


def _size(space: Space, tables: int) -> int:
    return sum([_bytes_of(kind, shape, tables) for kind, shape in shapes(space).values()])


def _bytes_of(kind: type[np.generic], shape: tuple[int, ...], tables: int) -> int:
    size = int(np.prod((tables, *shape))) * np.dtype(kind).itemsize
    return -(-size // ALIGN) * ALIGN


def _arrays_in(memory: Any, space: Space, tables: int) -> Arrays:
    """Lay the arrays of tables over a memory, which is Any, as ctypes has no better type."""
    arrays: Arrays = {}
    at = 0
    for name, (kind, shape) in shapes(space).items():
        whole = (tables, *shape)
        arrays[name] = np.frombuffer(memory, kind, int(np.prod(whole)), at).reshape(whole)
        at += _bytes_of(kind, shape, tables)
    return arrays


# -- in another process
def _serve(connection: Connection, memory: Any, is_safe_path_set: bool) -> None:
    """Step a block of tables until the connection is closed."""
    try:
        begin_worker(is_safe_path_set)
        if hasattr(os, "register_at_fork"):  # else what a bot forks keeps the pipe open after the death of this process
            os.register_at_fork(after_in_child=connection.close)
        with ends_new_children(), ignore_closed_stderr(), a_run():
            sent, numbers = connection.recv(), connection.recv()
            try:
                parameters, space, seed, tables = pickle.loads(sent)
                rows = slice(numbers.start, numbers.stop)
                out = {name: array[rows] for name, array in _arrays_in(memory, space, tables).items()}
                block = TableBlock(parameters, space, seed, numbers, tables, out)
                block.look()
            except Exception as problem:
                connection.send(pickle_exception(problem))
                return
            connection.send([])
            while True:
                connection.send(_answer(block, connection.recv()))
    except (EOFError, OSError, KeyboardInterrupt):
        pass  # the main process needs no more


def _answer(block: TableBlock, message: Any) -> object:
    """Step with a list of numbers, or check one number of one table; return what came of it."""
    try:
        if isinstance(message, tuple):
            return block.check(*message)
        ended = block.step(message)
        block.look()
    except Exception as problem:
        return pickle_exception(problem)
    return ended
