"""The CSV file of a class: one owner per line, with a label that says who the owner is.

This module knows no server and no token.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from cutpurse.engine.errors import UsageError
from cutpurse.wire.errors import NotFound

__all__ = ["ClassLine", "read_class"]

MAX_LINES: Final = 10_000


class ClassLine(NamedTuple):
    """A line of the file."""

    number: int
    owner: str
    label: str  # empty if the file has none


def read_class(file: Path) -> Iterator[ClassLine]:
    """Yield the lines of a class; columns other than `owner` and `label` are ignored.

    Raises:
        NotFound: If the file does not exist.
        UsageError: If it is no CSV in UTF-8, has no column `owner`, has no owner, or has too many lines.
    """
    number = 0
    try:
        with file.open(encoding="utf-8-sig", newline="") as opened:
            head = opened.readline()
            between = ";" if ";" in head else ","  # as spreadsheets write it where numbers have commas
            lines = csv.DictReader(chain([head], opened), strict=True, delimiter=between)
            names = [name.strip().lower() for name in lines.fieldnames or ()]
            lines.fieldnames = names
            if "owner" not in names:
                raise UsageError(f"{file} has no column owner; its first line is to be: owner,label")
            for number, line in enumerate(lines, 1):
                if number > MAX_LINES:
                    raise UsageError(f"{file} has more than {MAX_LINES:,} lines")
                yield ClassLine(lines.line_num, (line["owner"] or "").strip(), (line.get("label") or "").strip())
    except FileNotFoundError:
        raise NotFound(f"no file {file} with a class: it does not exist") from None
    except OSError as problem:
        raise UsageError(f"{file} cannot be read: {problem.strerror}") from None
    except (csv.Error, UnicodeDecodeError) as problem:
        raise UsageError(f"{file} is no CSV in UTF-8: {problem}") from None
    if not number:
        raise UsageError(f"{file} names no owner")
