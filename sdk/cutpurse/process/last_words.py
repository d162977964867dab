"""The last lines of a failed program's output, without the positions in its traceback.

Python's tracebacks end with the error. Those of Java, Go and Node end with positions, which would hide it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

__all__ = ["last_words"]

LINES: Final = 3
MOST: Final = 400  # characters
# Java and Node: a frame, or the number of further frames. Go: a thread. Node: an error code, a version, marks.
WHERE: Final = re.compile(
    r"at .+(\)|:\d+)( \{)?|\.\.\. \d+ more|goroutine \d+ .*|exit status \d+|code: '\w+',?|Node\.js v[\d.]+|[\^~{}\s]+"
)
GO_FRAME: Final = re.compile(r"\S+\.go:\d+( \+0x[0-9a-f]+)?")  # after the line that names the function


def last_words(said: Iterable[str]) -> str:
    """Return the last lines that describe the error, joined into one."""
    lines = [line.strip() for line in said if line.strip()]
    telling: list[str] = []
    for line in lines:
        if GO_FRAME.fullmatch(line) and telling:
            telling.pop()
        elif not WHERE.fullmatch(line):
            telling.append(line)
    return " | ".join((telling or lines)[-LINES:])[:MOST]
