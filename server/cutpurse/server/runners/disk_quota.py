"""The disk quota of a program that may write into a folder: total size and number of files.

On a real disk, only frequent checks keep a program from filling it. The checks follow no links, and a folder that can't
be read counts as exceeding the quota.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

__all__ = ["DiskQuota"]

ENTRIES_MOST: Final = 20_000  # maximum files and folders
FREE_LEAST: Final = 256 << 20  # bytes that must stay free on the disk


class DiskQuota:
    """The quota of a folder that may grow by a number of bytes."""

    def __init__(self, folder: Path, most_bytes: int) -> None:
        """Measure the folder; its present content does not count.

        Args:
            folder: Folder to watch.
            most_bytes: Maximum growth.

        Raises:
            OSError: If the folder can't be measured.
        """
        self._folder = folder
        before = _size(folder)
        if before is None:
            raise OSError("the folder cannot be looked through")
        self._most = before + most_bytes

    def is_too_much(self) -> bool:
        """Return whether the folder exceeds its quota, or the disk is nearly full."""
        try:
            disk = os.statvfs(self._folder)
        except OSError:
            return True
        if disk.f_bavail * disk.f_frsize < FREE_LEAST:
            return True
        size = _size(self._folder)
        return size is None or size > self._most


def _size(folder: Path) -> int | None:
    """Return the size of a folder in bytes; None if it has too many entries or can't be read."""
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
