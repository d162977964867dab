"""Rows of matches written to one Parquet file, in groups, so that memory does not grow with the file."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from cutpurse.learn.data_sets.columns import KEY, OBSERVED, TEXTS, facts_of, schema_of
from cutpurse.learn.data_sets.match_rows import MatchRows
from cutpurse.learn.space import Space

__all__ = ["RowWriter"]

GROUP_BYTES: Final = 16 * 1024 * 1024  # of arrays in a group of rows, before compression


class RowWriter:
    """Writes the file of a game with a number of seats."""

    def __init__(self, path: Path, space: Space, features: bool) -> None:
        """Create the file.  Raises OSError."""
        self.path = path
        self.space = space
        self.rows = 0
        self.matches = 0
        self.deals: set[str] = set()
        self.bots: Counter[str] = Counter()  # rows of each
        self.settings: list[dict[str, str]] = []  # each that a match had
        self._schema = schema_of(space, features)
        self._waiting: list[Any] = []  # record batches; Any: pyarrow has no types
        self._waiting_bytes = 0
        self._file = path.open("xb")
        plain = [name for name in self._schema.names if name not in (*OBSERVED, "options", "features")]
        self._parquet = pq.ParquetWriter(
            self._file, self._schema, compression="zstd", use_dictionary=list(TEXTS), write_statistics=plain
        )

    def add(self, rows: MatchRows) -> None:
        """Add the rows of a match.  Raises OSError."""
        self.rows += len(rows)
        self.matches += 1
        self.deals.add(rows.deal)
        self.bots.update(rows.columns["bot"])
        settings = dict(rows.settings)
        if settings not in self.settings:
            self.settings.append(settings)
        batch = self._batch(rows)
        self._waiting.append(batch)
        self._waiting_bytes += batch.nbytes
        if self._waiting_bytes >= GROUP_BYTES:
            self._write_group()

    def close(self) -> None:
        """Write what is left and what the file says about itself, and wait until the disk has it.  Raises OSError."""
        if self._waiting:
            self._write_group()
        self._parquet.add_key_value_metadata({KEY: facts_of(self.space, self.settings)})
        self._parquet.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def drop(self) -> None:
        """Close the file as it is, which may be unfinished."""
        self._waiting.clear()
        with suppress(OSError, ValueError):  # pyarrow would try again later
            self._parquet.close()
        self._parquet.is_open = False
        with suppress(OSError):
            self._file.close()

    def _write_group(self) -> None:
        rows = pa.Table.from_batches(self._waiting, self._schema)
        self._parquet.write_table(rows, row_group_size=len(rows))
        self._waiting.clear()
        self._waiting_bytes = 0

    def _batch(self, rows: MatchRows) -> Any:
        arrays = {
            **{name: _column(self._schema.field(name).type, array) for name, array in rows.arrays.items()},
            "options": pa.ListArray.from_arrays(pa.array(rows.starts), pa.array(rows.options)),
        }
        if rows.features is not None:
            features = self._schema.field("features").type
            each = _list_of_rows(features.value_type, rows.features)
            arrays["features"] = pa.ListArray.from_arrays(pa.array(rows.starts), each)
        for field in self._schema:
            if field.name not in arrays:
                arrays[field.name] = pa.array(rows.columns[field.name], field.type)
        return pa.RecordBatch.from_arrays([arrays[name] for name in self._schema.names], schema=self._schema)


def _column(kind: Any, rows: npt.NDArray[Any]) -> Any:
    """Make a column of rows of bytes or of whole numbers, without a copy."""
    if rows.itemsize == 1:
        return pa.Array.from_buffers(kind, len(rows), [None, pa.py_buffer(rows)])
    return _list_of_rows(kind, rows)


def _list_of_rows(kind: Any, rows: npt.NDArray[np.int32]) -> Any:
    """Make a column of rows of whole numbers, without a copy."""
    return pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1)), type=kind)
