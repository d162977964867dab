"""The archives of submitted bots in PostgreSQL, which all arenas of a league share.

    SHA-256 of an archive           the archive as submitted
    SHA-256 of the packed files     the built files, as workers fetch them
    the key of `_built_key`         SHA-256 of the packed files of an archive

So a bot is built once, and runs wherever its ladder goes. This module knows no bot.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from cutpurse.leaderboard.store import Store
from cutpurse.server.places.packed_files import FilesError, pack_files, unpack_files
from cutpurse.server.submissions.archive import ArchiveError

__all__ = ["StoredArchives", "archive_keys"]


class StoredArchives:
    """The `SharedArchives` of a league in PostgreSQL."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def put(self, digest: bytes, content: bytes) -> None:
        """Implement `SharedArchives.put`."""
        if not self._store.has_archive(digest):
            self._store.put_archive(digest, content)

    def get(self, digest: bytes) -> bytes | None:
        """Implement `SharedArchives.get`."""
        content = self._store.archive(digest)
        return content if content is None or sha256(content).digest() == digest else None

    def put_built(self, digest: bytes, tree: Path) -> None:
        """Implement `SharedArchives.put_built`."""
        if self._store.has_archive(_built_key(digest)):
            return
        try:
            packed, content = pack_files(tree)
        except FilesError as problem:
            raise ArchiveError(str(problem)) from None
        self.put(packed, content)
        self._store.put_archive(_built_key(digest), packed)

    def unpack_built(self, digest: bytes, target: Path) -> bool:
        """Implement `SharedArchives.unpack_built`."""
        packed = self._store.archive(_built_key(digest))
        content = None if packed is None else self.get(packed)
        if content is None:
            return False
        try:
            unpack_files(content, target)
        except FilesError as problem:
            raise OSError(str(problem)) from None
        return True

    def drop(self, digest: bytes) -> None:
        """Implement `SharedArchives.drop`; packed files stay, since a worker may need them."""
        self._store.drop_archives([digest, _built_key(digest)])


def archive_keys(store: Store, digests: Iterable[bytes]) -> set[bytes]:
    """Return all keys under which something of these archives may be stored."""
    keys = set()
    for digest in digests:
        packed = store.archive(_built_key(digest))
        keys |= {digest, _built_key(digest), *(() if packed is None else (packed,))}
    return keys


def _built_key(digest: bytes) -> bytes:
    return sha256(b"cutpurse built files " + digest).digest()
