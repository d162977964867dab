"""The lock that lets one process at a time write a leaderboard.

It is an operating-system lock on `FILE.lock`, so it is released when its process ends, even by a crash. `FILE.lock`
stays; it contains the ID of the last process that held it, for people. This module knows no database.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

from cutpurse.leaderboard.errors import InUse, StoreError

__all__ = ["WritingLock"]

_DIGITS = 20  # maximum length of a process ID


class WritingLock:
    """The exclusive right to write the leaderboard at a path, until `release`."""

    def __init__(self, path: Path) -> None:
        """Take the lock.  Raises InUse if another process holds it, and StoreError if locking fails."""
        real = path.resolve()  # every link to the file must lead to the same lock
        beside = real.with_name(f"{real.name}.lock")
        try:
            self._file = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:
            raise StoreError(
                f"the leaderboard {path}: unable to open database file; its folder must exist and be writable"
            ) from None
        except OSError as error:
            raise StoreError(
                f"the leaderboard {path}: {beside.name} cannot be opened ({error.strerror}); "
                "give this process the right to write the file and its folder"
            ) from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            said = os.pread(self._file, _DIGITS, 0).decode("ascii", "replace").strip()
            os.close(self._file)
            raise InUse(str(path), f"process {said}" if said.isdigit() else None) from None
        except OSError as error:  # a file system without locks
            os.close(self._file)
            raise StoreError(
                f"the leaderboard {path}: cannot be locked ({error.strerror}); keep it elsewhere"
            ) from None
        with contextlib.suppress(OSError):  # a full disk must not matter: the number is only for people
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{os.getpid()}\n".encode("ascii"), 0)

    def release(self) -> None:
        """Release the lock."""
        os.close(self._file)
