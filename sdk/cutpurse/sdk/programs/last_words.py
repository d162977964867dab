"""What is told of a program that failed: of all that it said the last lines, and of a trace what went wrong, not where.

Python's traces end with what went wrong; those of Java, Go and Node end with where, and that alone would be told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

__all__ = ["last_words"]

LINES: Final = 3
MOST: Final = 400  # characters
# Of Java and Node a frame, or how many more there are; of Go a thread; of Node an error's code, and its version; marks.
WHERE: Final = re.compile(
    r"at .+(\)|:\d+)( \{)?|\.\.\. \d+ more|goroutine \d+ .*|exit status \d+|code: '\w+',?|Node\.js v[\d.]+|[\^~{}\s]+"
)
GO_FRAME: Final = re.compile(r"\S+\.go:\d+( \+0x[0-9a-f]+)?")  # after the line that names the function


def last_words(said: Iterable[str]) -> str:
    """Return the last lines of these, in one line."""
    lines = [line.strip() for line in said if line.strip()]
    telling: list[str] = []
    for line in lines:
        if GO_FRAME.fullmatch(line) and telling:
            telling.pop()
        elif not WHERE.fullmatch(line):
            telling.append(line)
    return " | ".join((telling or lines)[-LINES:])[:MOST]
