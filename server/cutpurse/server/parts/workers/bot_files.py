"""The files of submitted bots on a worker, by the SHA-256 of their packed form, which is checked each time.

This module knows no database: it is given a function that fetches them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from cutpurse.server.parts.submissions.packed_files import FilesError, unpack_files
from cutpurse.server.parts.submissions.storage import Storage

__all__ = ["BotFiles"]


class BotFiles:
    """The files that this worker has; each is fetched once, and unpacked once in each run."""

    def __init__(self, storage: Storage, fetch: Callable[[bytes], Awaitable[bytes]]) -> None:
        """Use these folders, and `fetch` for files that are not there."""
        self._storage = storage
        self._fetch = fetch
        self._unpacked: set[bytes] = set()
        self._locks: dict[bytes, asyncio.Lock] = {}

    async def provide(self, digest: bytes) -> Path:
        """Return the folder with these files.

        Raises:
            FilesError: If other files were sent, or they cannot be unpacked.
            OSError: If the disk fails, or the database cannot be reached.
        """
        async with self._locks.setdefault(digest, asyncio.Lock()):
            if digest not in self._unpacked:
                try:
                    content = await asyncio.to_thread(self._storage.archive, digest)
                except FileNotFoundError:  # missing or damaged
                    content = await self._fetch(digest)
                    self._storage.remove(digest)
                    if await asyncio.to_thread(self._storage.keep, content) != digest:
                        raise FilesError("the database has sent files with another SHA-256") from None
                await asyncio.to_thread(self._unpack, digest, content)
                self._unpacked.add(digest)
        return self._storage.tree(digest)

    def _unpack(self, digest: bytes, content: bytes) -> None:
        unpack_files(content, self._storage.part(digest))
        self._storage.built(digest)
