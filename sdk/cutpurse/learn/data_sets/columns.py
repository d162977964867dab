"""The columns of a data set, and the facts that its file says about itself.

A file has the decisions of one game with one number of seats. Its metadata has the key `cutpurse` with a JSON object:
the stamp of the numbers (`Space.stamp`), the layout of the arrays, the settings of the matches, and the version of
cutpurse that wrote it. This module knows no particular game.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Final

import numpy as np
import pyarrow as pa

from cutpurse.learn.space import Space
from cutpurse.wire.version import VERSION

__all__ = ["COLUMNS", "FEATURES", "KEY", "TEXTS", "columns_of", "facts_of", "schema_of"]

KEY: Final = b"cutpurse"
COLUMNS: Final = {
    "match": "ID of the match; for a record without a head, a hash of the record",
    "deal": "hash of the cards: all matches with the same cards have the same; data is split by it",
    "at": "number of the decision in its match, for `cutpurse match replay --at`",
    "seat": "seat that decided, from 0",
    "ask": "name of the question",
    "planes": "how many of each face lie where, as the seat sees it: bytes, see `layout`",
    "rows": "in place of planes a row for each zone, as the seat sees it: bytes, see `layout`",
    "row_mask": "1 for each of `rows` that is a zone, else 0: bytes",
    "numbers": "all that counts, as the seat sees it: see `layout`",
    "history": "the last events as the seat heard them, ten numbers each, the newest last: see `layout`",
    "options": "number of each option, in the order of the rules",
    "choice": "number of the option that was taken; always one of `options`",
    "bot": "who sat there: owner/name, or the name in the record",
    "version": "version of the bot; empty if the record has none",
    "cause": "`normal`: the bot chose; else why the safe option was taken for it",
    "thought_ms": "thinking time in milliseconds; null if it is not known",
    "tokens": "tokens that the bot's language model used, as it reported; null if it reported nothing",
    "cost_micros": "what they cost, in millionths of a US dollar; null if it reported nothing",
    "place": "final place of the seat, 1 is best",
    "place_points": "+1 for the first place to -1 for the last, equal places share: the reward `place`",
    "score": "final score of the seat",
}
FEATURES: Final = "a row for each option: the options' features, see `layout`"  # of the column `features`
OBSERVED: Final = ("planes", "rows", "row_mask", "numbers", "history")  # a file has those of its space
UNKNOWN: Final = ("thought_ms", "tokens", "cost_micros")  # null where they are not known
TEXTS: Final = ("match", "deal", "ask", "bot", "version", "cause")


def schema_of(space: Space, features: bool) -> Any:  # Any: pyarrow has no types
    """Return the Arrow schema of the file of a game with a number of seats."""
    types = {
        **dict.fromkeys(TEXTS, pa.string()),
        "at": pa.int32(),
        "seat": pa.int8(),
        **{name: _array_type(kind, prod(shape)) for name, (kind, shape) in space.shapes.items()},
        "options": pa.list_(pa.int32()),
        "choice": pa.int32(),
        "thought_ms": pa.uint32(),
        "tokens": pa.uint32(),
        "cost_micros": pa.uint64(),
        "place": pa.int8(),
        "place_points": pa.float32(),
        "score": pa.int64(),
    }
    fields = [pa.field(name, types[name], nullable=name in UNKNOWN) for name in columns_of(space)]
    if features:
        fields.append(pa.field("features", pa.list_(pa.list_(pa.int32(), space.option_features)), nullable=False))
    return pa.schema(fields)


def columns_of(space: Space) -> list[str]:
    """List the columns of a file, but for features."""
    return [name for name in COLUMNS if name not in OBSERVED or name in space.shapes]


def _array_type(kind: type[np.generic], width: int) -> Any:
    """Return the type of a column that holds a row of an array: bytes, or whole numbers."""
    return pa.binary(width) if np.dtype(kind).itemsize == 1 else pa.list_(pa.int32(), width)


def facts_of(space: Space, settings: Sequence[Mapping[str, str]]) -> bytes:
    """Return what a file says about itself, as JSON.

    Args:
        space: The numbers of the file.
        settings: The settings that differ from the game's defaults, of each kind of match in it.
    """
    layout = [[span.array, span.what, span.part, span.start, span.width] for span in space.layout()]
    facts = {**space.stamp, "settings": list(settings), "cutpurse": VERSION, "layout": layout}
    return json.dumps(facts, separators=(",", ":")).encode()
