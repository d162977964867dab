"""The archives of submitted bots in PostgreSQL, which all arenas of a league share.

    SHA-256 of an archive           the archive as submitted
    SHA-256 of the packed files     the built files, as workers fetch them
    the key of `_built_key`         SHA-256 of the packed files of an archive

So a bot is built once, and runs wherever its ladder goes. This module knows no bot.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Final

from sqlalchemy import Connection

from cutpurse.leaderboard import queries, work
from cutpurse.leaderboard.store import Store
from cutpurse.server.dealing.match_task import MatchTask
from cutpurse.server.places.packed_files import FilesError, pack_files, unpack_files
from cutpurse.server.submissions.archive import ArchiveError

__all__ = ["ArchiveSweep", "StoredArchives", "needed_archives"]

SWEEP_S: Final = 600.0  # far longer than an arena takes from storing files to the submission or match that needs them


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
        self._store.put_archives({packed: content, _built_key(digest): packed})  # at once, so that none is unneeded

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
        """Implement `SharedArchives.drop`; packed files stay until `ArchiveSweep`, since a worker may need them."""
        self._store.drop_archives([digest, _built_key(digest)])


class ArchiveSweep:
    """Removes the files that no version and no match needs any more, where several arenas share them.

    Another arena may be about to use what it has just stored. So only what was needed by nothing at two looks in a row
    is removed, if that is still so in the transaction that removes it.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._unneeded: set[bytes] = set()  # at the last look
        self._look_at = 0.0

    def look(self, now: float) -> None:
        """Do what is due.  Raises StoreError.

        Args:
            now: Seconds on a monotonic clock.
        """
        if now < self._look_at:
            return
        self._look_at = now + SWEEP_S
        with self._store.reading() as connection:
            unneeded = work.archive_keys(connection) - needed_archives(connection)
        if gone := unneeded & self._unneeded:
            self._store.remove_archives(needed_archives, gone)
        self._unneeded = unneeded - gone


def needed_archives(connection: Connection) -> set[bytes]:
    """Return all keys under which something is stored for a submission that is kept, or for a match of a worker."""
    digests = {entry.digest for entry in queries.submissions(connection) if entry.is_kept}
    built = {_built_key(digest) for digest in digests}
    packed = {*work.archives(connection, built).values()}
    tasks = map(MatchTask.from_json, work.open_work(connection).values())
    return digests | built | packed | {bytes.fromhex(seat.files) for task in tasks for seat in task.seats if seat.files}


def _built_key(digest: bytes) -> bytes:
    return sha256(b"cutpurse built files " + digest).digest()
