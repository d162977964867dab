"""Reads a data set into numpy arrays, in batches, after checking that its numbers mean what those of here mean."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from cutpurse.engine.errors import UsageError
from cutpurse.learn.data_sets.columns import KEY
from cutpurse.learn.space import OtherNumbering, Space
from cutpurse.wire.errors import NotFound

__all__ = ["DataSet", "DecisionBatch"]


class DataSet:
    """A file of decisions of one game with one number of seats.

    Attributes:
        space: The numbers of here, which are those of the file.
        settings: The settings of its matches that differ from the game's defaults.
        made_by: Version of cutpurse that wrote it.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        """Open a file, and check its stamp.

        Raises:
            NotFound: If there is no such file.
            UsageError: If it is no data set.
            OtherNumbering: If its numbers or its layout are not those of here.
        """
        self.path = Path(path)
        try:
            self._file = pq.ParquetFile(self.path)
            facts = json.loads(self._file.metadata.metadata[KEY])
            game, seats = facts["game"], facts["seats"]
        except FileNotFoundError:
            raise NotFound(f"no data set {path}: there is no such file") from None
        except (OSError, pa.ArrowInvalid, ValueError, KeyError, TypeError):
            raise UsageError(f"{path} is no data set: `cutpurse export` makes them") from None
        self.space = Space(game, seats)
        try:
            self.space.check_stamp(facts)
        except OtherNumbering as problem:
            raise OtherNumbering(f"{path}: {problem}") from None
        self.settings: list[dict[str, str]] = facts["settings"]
        self.made_by: str = facts["cutpurse"]

    def __len__(self) -> int:
        return int(self._file.metadata.num_rows)

    def batches(self, rows: int = 4096, columns: Sequence[str] | None = None) -> Iterator[DecisionBatch]:
        """Yield the rows in order, at most this many at once.

        Args:
            rows: Maximum number of rows.
            columns: Names of the columns to read. Default: all.
        """
        for batch in self._file.iter_batches(rows, columns=None if columns is None else list(columns)):
            yield DecisionBatch(self.space, batch)


class DecisionBatch:
    """Some rows of a data set. The arrays are views of what was read, and cannot be written to.

    Attributes:
        arrow: The rows as a `pyarrow.RecordBatch`.
    """

    def __init__(self, space: Space, arrow: Any) -> None:
        self.space = space
        self.arrow = arrow  # Any: pyarrow has no types

    def __len__(self) -> int:
        return int(self.arrow.num_rows)

    @property
    def planes(self) -> npt.NDArray[np.uint8]:
        """The planes, a row for each decision."""
        column, width = self.arrow.column("planes"), self.space.planes
        planes = np.frombuffer(column.buffers()[1], np.uint8, len(self) * width, column.offset * width)
        return planes.reshape(len(self), width)

    @property
    def numbers(self) -> npt.NDArray[np.int32]:
        """The numbers, a row for each decision."""
        return _flat(self.arrow.column("numbers")).reshape(len(self), self.space.numbers)

    @property
    def options(self) -> npt.NDArray[np.int32]:
        """The numbers of the options of all rows, one after the other; `starts` says where each row begins."""
        return _flat(self.arrow.column("options"))

    @property
    def starts(self) -> npt.NDArray[np.int32]:
        """Where the options of each row begin in `options` and `features`, and the end of the last."""
        offsets: npt.NDArray[np.int32] = self.arrow.column("options").offsets.to_numpy()
        starts: npt.NDArray[np.int32] = offsets - offsets[0]
        return starts

    @property
    def choices(self) -> npt.NDArray[np.int32]:
        """The number of the option that was taken."""
        return self.values("choice")

    @property
    def features(self) -> npt.NDArray[np.int32]:
        """A row for each of `options`, if the set was made with them."""
        return _flat(self.arrow.column("features").flatten()).reshape(-1, self.space.option_features)

    def mask(self) -> npt.NDArray[np.int8]:
        """Return an array with 1 for each number of an option, and 0 for all others."""
        mask = np.zeros((len(self), self.space.actions), np.int8)
        mask[np.repeat(np.arange(len(self)), np.diff(self.starts)), self.options] = 1
        return mask

    def values(self, name: str) -> npt.NDArray[Any]:
        """Return a column with one value a row: numbers without a copy, texts as objects."""
        column = self.arrow.column(name)
        values: npt.NDArray[Any] = column.to_numpy(zero_copy_only=False)
        return values


def _flat(column: Any) -> npt.NDArray[np.int32]:
    """Return the values of a column of lists, without a copy."""
    values: npt.NDArray[np.int32] = column.flatten().to_numpy()
    return values
