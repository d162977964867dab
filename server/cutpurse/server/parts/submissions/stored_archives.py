"""The archives of submitted bots in PostgreSQL, which all arenas of a league share.

    SHA-256 of an archive           the archive as submitted
    SHA-256 of the packed files     the built files, as workers fetch them
    the key of `_built_key`         SHA-256 of the packed files of an archive

So a bot is built once, and runs wherever its ladder goes. This module knows no bot.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from sqlalchemy import Connection

from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.write_hooks import send
from cutpurse.server.parts.submissions import archive_table, submission_queries
from cutpurse.server.parts.submissions.packed_files import FilesError, pack_files, unpack_files
from cutpurse.wire.archive import ArchiveError

__all__ = ["ArchiveSweep", "ArchivesNeeded", "StoredArchives", "remove_unneeded", "unneeded_archives"]

SWEEP_S: Final = 600.0  # far longer than an arena takes from storing files to the submission or match that needs them


@dataclass(frozen=True, slots=True)
class ArchivesNeeded:
    """It is looked which files are needed; a listener adds the keys of those that it needs."""

    keys: set[bytes]


class StoredArchives:
    """The `SharedArchives` of a league in PostgreSQL."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def put(self, digest: bytes, content: bytes) -> None:
        """Store an archive in the database, unless it is there."""
        if not self._store.run(archive_table.has_archive, digest):
            self._store.write_uncached(archive_table.put_archives, {digest: content})

    def get(self, digest: bytes) -> bytes | None:
        """Return an archive; None if the database has none with this SHA-256, or a damaged one."""
        content = self._store.run(archive_table.archive, digest)
        return content if content is None or sha256(content).digest() == digest else None

    def put_built(self, digest: bytes, tree: Path) -> None:
        """Store the built files of an archive, packed.  Raises ArchiveError if they cannot be packed."""
        if self._store.run(archive_table.has_archive, _built_key(digest)):
            return
        try:
            packed, content = pack_files(tree)
        except FilesError as problem:
            raise ArchiveError(str(problem)) from None
        stored = {packed: content, _built_key(digest): packed}
        self._store.write_uncached(archive_table.put_archives, stored)  # at once, so that none is unneeded

    def unpack_built(self, digest: bytes, target: Path) -> bool:
        """Write the built files of an archive into a folder.  Returns False if none are stored; raises OSError."""
        packed = self._store.run(archive_table.archive, _built_key(digest))
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
        self._store.write_uncached(archive_table.drop_archives, [digest, _built_key(digest)])


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
        unneeded = self._store.write_uncached(unneeded_archives)  # a write, since listeners hear only of writes
        if gone := unneeded & self._unneeded:
            self._store.write_uncached(remove_unneeded, gone)
        self._unneeded = unneeded - gone


def remove_unneeded(connection: Connection, among: Collection[bytes] | None = None) -> None:
    """Remove what nothing needs as of this transaction.

    Args:
        connection: Connection in a transaction.
        among: Remove nothing but what has these keys. Default: everything.
    """
    unneeded = unneeded_archives(connection)
    archive_table.drop_archives(connection, unneeded if among is None else unneeded & {*among})


def unneeded_archives(connection: Connection) -> set[bytes]:
    """Return the keys under which something is stored that neither a submission that is kept nor another part needs."""
    digests = {entry.digest for entry in submission_queries.submissions(connection) if entry.is_kept}
    built = {_built_key(digest) for digest in digests}
    packed = {*archive_table.archives(connection, built).values()}
    needed = ArchivesNeeded(digests | built | packed)
    send(connection, needed)
    return archive_table.archive_keys(connection) - needed.keys


def _built_key(digest: bytes) -> bytes:
    return sha256(b"cutpurse built files " + digest).digest()
