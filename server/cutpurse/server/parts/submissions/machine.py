"""What the commands of machines share that run submitted bots: their folder, their name, and their metrics."""

from __future__ import annotations

import asyncio
import os
import re
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cutpurse.engine.errors import UsageError
from cutpurse.process.terminal import print_message

if TYPE_CHECKING:
    from cutpurse.server.logs import Logger
    from cutpurse.server.parts.submissions.storage import Storage

__all__ = ["monitored", "open_storage", "usual_folder", "usual_name"]

MAX_KEPT: Final = 200  # bots whose files are kept for the next run


@contextmanager
def monitored(
    address: str, figures: Mapping[str, str], read: Callable[[], Mapping[str, float]], log: Logger
) -> Iterator[None]:
    """Serve the monitoring pages of a place or worker, if there is an address; arguments as in `part_pages`.

    Raises:
        AddressError: If other machines could reach the address, or it is invalid.
        CannotListen: If it is not available.
    """
    if not address:
        yield
        return
    from cutpurse.server.hosting.monitoring import Monitoring
    from cutpurse.server.hosting.part_pages import part_pages

    with Monitoring(address, part_pages(asyncio.get_running_loop(), figures, read), log) as monitoring:
        print_message(f"metrics at http://{monitoring.address}/metrics")
        yield


@contextmanager
def open_storage(folder: Path, user: str) -> Iterator[Storage]:
    """Open the folder for files of bots, which only one place or worker (`user`) may use at a time.

    Raises:
        UsageError: If another one uses it, or it cannot be used.
    """
    import fcntl

    from cutpurse.server.parts.submissions.storage import Storage

    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = (folder / "lock").open("w", encoding="ascii")
    except OSError as problem:
        raise UsageError(f"--folder {folder}: cannot be used: {problem.strerror}") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"--folder {folder}: another {user} uses it; choose another one") from None
        storage = Storage(folder)
        storage.remove_others(_newest(folder))
        try:
            yield storage
        finally:
            storage.close()


def _newest(folder: Path) -> list[bytes]:
    """Return the digests of the files that came last."""
    newest = sorted(folder.glob("?" * 64), key=lambda path: path.stat().st_mtime)[-MAX_KEPT:]
    return [bytes.fromhex(path.name) for path in newest]


def usual_folder(user: str) -> Path:
    """Return the folder of a place or worker (`user`) of this machine's user."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "cutpurse" / user


def usual_name(user: str) -> str:
    """Return the machine's name, as far as it can be one of a place or worker (`user`)."""
    return re.sub(r"[^a-z0-9_.-]", "-", socket.gethostname().lower())[:32].lstrip("_.-") or user
