"""Reads a data set into numpy arrays, in batches, after checking that its numbers mean what those of here mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from cutpurse.engine.documents import parse_json
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
            facts = parse_json(self._file.metadata.metadata[KEY])
            self.space = Space.from_stamp(facts)
            self.settings: list[dict[str, str]] = facts["settings"]
            self.made_by: str = facts["cutpurse"]
        except FileNotFoundError:
            raise NotFound(f"no data set {path}: there is no such file") from None
        except OtherNumbering as problem:
            raise OtherNumbering(f"{path}: {problem}") from None
        except UsageError:
            raise
        except (OSError, pa.ArrowInvalid, ValueError, KeyError, TypeError):
            raise UsageError(f"{path} is no data set: `cutpurse export` makes them") from None

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
        return self._array("planes")

    @property
    def rows(self) -> npt.NDArray[np.uint8]:
        """A row for each zone, if the set was made with them in place of planes."""
        return self._array("rows")

    @property
    def row_mask(self) -> npt.NDArray[np.int8]:
        """1 for each of `rows` that is a zone, else 0."""
        return self._array("row_mask")

    @property
    def numbers(self) -> npt.NDArray[np.int32]:
        """The numbers, a row for each decision."""
        return self._array("numbers")

    @property
    def history(self) -> npt.NDArray[np.int32]:
        """The last events, if the set was made with them: decisions x events x width."""
        return self._array("history")

    def _array(self, name: str) -> npt.NDArray[Any]:
        """Return one of the arrays of `Space.arrays`, without a copy."""
        (kind, shape), column = self.space.shapes[name], self.arrow.column(name)
        if np.dtype(kind).itemsize > 1:
            return _flat(column).reshape(len(self), *shape)
        width = prod(shape)
        values: npt.NDArray[Any] = np.frombuffer(column.buffers()[1], kind, len(self) * width, column.offset * width)
        return values.reshape(len(self), *shape)

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
