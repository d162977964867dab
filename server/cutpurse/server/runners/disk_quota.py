"""How much a program has written into a folder that it may write to: files, their number, and what it hides.

Where it is allowed to write on a real disk nothing but looking often keeps it from filling that. Nothing here follows a
link, and what cannot be looked at counts as too much.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

__all__ = ["DiskQuota"]

ENTRIES_MOST: Final = 20_000  # files and folders
FREE_LEAST: Final = 256 << 20  # bytes that the disk must have left for everybody else


class DiskQuota:
    """A folder that may grow by so many bytes."""

    def __init__(self, folder: Path, most_bytes: int) -> None:
        """Count from now on; what is in the folder is not counted.  Raises OSError."""
        self._folder = folder
        before = _size(folder)
        if before is None:
            raise OSError("the folder cannot be looked through")
        self._most = before + most_bytes

    def is_too_much(self) -> bool:
        """Whether more has been written by now, or the disk is nearly full."""
        try:
            disk = os.statvfs(self._folder)
        except OSError:
            return True
        if disk.f_bavail * disk.f_frsize < FREE_LEAST:
            return True
        size = _size(self._folder)
        return size is None or size > self._most


def _size(folder: Path) -> int | None:
    """Bytes in all; None: too many entries, or some that cannot be looked at."""
    size = entries = 0
    waiting = [str(folder)]
    try:
        while waiting:
            with os.scandir(waiting.pop()) as found:
                for entry in found:
                    entries += 1
                    if entries > ENTRIES_MOST:
                        return None
                    try:
                        told = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue
                    size += max(told.st_size, told.st_blocks * 512)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
    except FileNotFoundError:
        return size
    except OSError:
        return None
    return size
