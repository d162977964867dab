"""Many tables stepped together, by this process or by several.

    batch = Batch("greed", tables=64, seed=7)
    ended = batch.step(actions)
    batch.planes, batch.numbers, batch.mask, batch.seat

This module knows no particular game.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt

from cutpurse.engine.errors import UsageError
from cutpurse.engine.knowledge_level import PROOF
from cutpurse.learn.block_processes import BlockProcesses
from cutpurse.learn.choice_table import BotSpec, TableRules
from cutpurse.learn.space import Space
from cutpurse.learn.table_block import Ended, TableBlock
from cutpurse.process.pool import check_jobs

__all__ = ["Batch", "Ended"]


class Batch:
    """Tables that each wait for an answer of a learner.

    After every step the arrays have a row for each table, from the view of the seat that is asked there: `seat`. A
    learner that plays all seats just answers. The arrays are new ones in every step, but for `mask`; see `copy`.
    """

    planes: npt.NDArray[np.uint8]  # tables x `space.planes`; with rows=True the next two take their place
    rows: npt.NDArray[np.uint8]  # tables x zones x width, as `space.rows`
    row_mask: npt.NDArray[np.int8]  # tables x zones: 1 for each row that is a zone
    numbers: npt.NDArray[np.int32]  # tables x `space.numbers`
    history: npt.NDArray[np.int32]  # tables x events x width, as `space.history`; only with history=H
    mask: npt.NDArray[np.int8]  # tables x `space.actions`: 1 for each number that is offered; changed in place
    seat: npt.NDArray[np.int8]  # by table, the seat that is asked
    match: npt.NDArray[np.int64]  # by table, the number of its match in the run: `cutpurse play --seed` deals it, too

    def __init__(
        self,
        game: str,
        tables: int = 64,
        seats: int | None = None,
        seed: int | str = 0,
        settings: Mapping[str, object] | None = None,
        reward: str = "place",
        opponents: Sequence[BotSpec] | None = None,
        history: int = 0,
        rows: bool = False,
        jobs: int = 1,
        knowledge: str = PROOF,
        copy: bool = True,
    ) -> None:
        """Deal a match on each table.

        Args:
            game: Name of the game.
            tables: Number of tables.
            seats: Number of seats. Default: the game's own.
            seed: Of the run; match i has the key of match i of `cutpurse play --seed`. Table t of T plays the matches
                t, t + T, t + 2 T and so on.
            settings: Settings that differ from their defaults.
            reward: "place", "first", "first+place" or "score".
            opponents: Bots in the other seats. Default: learners have all seats.
            history: Number of last events in an observation.
            rows: Give one row a zone with a mask, instead of planes.
            jobs: Number of processes; the matches are the same with any.
            knowledge: What learners know of hidden cards: "proof", or the cheaper "seen" or "none" (see
                `cutpurse.engine.knowledge_level`). The matches are the same with any.
            copy: Give new arrays in every step, also with several processes. False: then those of their shared memory,
                without a copy, which the next step changes.

        Raises:
            UsageError: For unknown names and impossible values, and bots that cannot be sent to another process.
        """
        if tables < 1:
            raise UsageError(f"{tables} tables cannot be stepped; at least 1 can")
        check_jobs(jobs)
        parameters = TableRules(game, seats, settings, reward, opponents, bool(history), knowledge)
        self.space = Space(game, parameters.seats, history, rows, knowledge)
        self.count = tables  # number of tables
        self._is_copied = copy and jobs > 1  # out of memory that the next step changes
        self.source: TableBlock | BlockProcesses
        if jobs == 1:
            self.source = TableBlock(parameters, self.space, seed, range(tables), tables)
        else:
            self.source = BlockProcesses(parameters, self.space, seed, tables, min(jobs, tables))
        self._look()

    def _look(self) -> None:
        for name, array in self.source.look().items():
            setattr(self, name, array.copy() if self._is_copied and name != "mask" else array)

    def step(self, actions: Sequence[int] | npt.NDArray[np.integer]) -> list[Ended]:
        """Answer on every table, and go on to the next choice on each.

        Args:
            actions: A number for each table.

        Returns:
            The matches that ended, by table.

        Raises:
            IllegalNumber: If a number stands for no option of its table. Then no table has gone on.
            OpponentFailed: If a bot beside the learners failed.
            TablesLost: If a process of several has died.
        """
        if len(actions) != self.count:
            raise UsageError(f"{len(actions)} numbers for {self.count} tables: give one for each")
        given = [*map(int, actions)]
        if not isinstance(self.source, TableBlock):  # which checks them itself
            for table, action in enumerate(given):
                if not (0 <= action < self.space.actions and self.mask[table, action]):
                    self.source.check(table, action)
        ended = self.source.step(given)
        self._look()
        return ended

    def close(self) -> None:
        """End the processes, if there are several; else do nothing."""
        if isinstance(self.source, BlockProcesses):
            self.source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
