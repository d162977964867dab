"""Files that are replaced at once: a reader finds the old content or the new, and a killed writer leaves the old.

This module knows no game and no format.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["replace_file"]


@contextmanager
def replace_file(path: Path) -> Iterator[IO[bytes]]:
    """Write a file beside `path`, which takes its place when the block ends; after an error nothing has changed."""
    draft = path.with_name(f"{path.name}.part")
    try:
        with draft.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
