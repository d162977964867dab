"""Data sets of recorded decisions, as Parquet files: a row for each decision with a choice.

    from cutpurse.learn.data_sets import DataSet

    data = DataSet("greed/greed-4.parquet")
    for batch in data.batches(4096):
        batch.planes, batch.numbers, batch.mask(), batch.choices

`cutpurse export` writes them. Needs pyarrow: the extra `data`.
"""

from __future__ import annotations

from cutpurse.wire.errors import needs

with needs("data"):
    import pyarrow as _pyarrow  # noqa: F401  # so that a missing one is reported here

from cutpurse.learn.data_sets.reader import DataSet, DecisionBatch

__all__ = ["DataSet", "DecisionBatch"]
