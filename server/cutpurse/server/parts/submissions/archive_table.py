"""Files of submitted bots in the database, by keys that `stored_archives` makes."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlalchemy import Connection, delete, insert, select

from cutpurse.server.parts.submissions.tables import ARCHIVES

__all__ = ["archive", "archive_keys", "archives", "drop_archives", "has_archive", "put_archives"]


def has_archive(connection: Connection, digest: bytes) -> bool:
    """Return whether the files with this SHA-256 are stored."""
    return connection.scalar(select(ARCHIVES.c.digest).where(ARCHIVES.c.digest == digest)) is not None


def archive(connection: Connection, digest: bytes) -> bytes | None:
    """Return what is stored under a key; None if nothing is."""
    content = connection.scalar(select(ARCHIVES.c.content).where(ARCHIVES.c.digest == digest))
    return None if content is None else bytes(content)


def put_archives(connection: Connection, contents: Mapping[bytes, bytes]) -> None:
    """Store contents under their keys, but those whose keys have one already."""
    for digest, content in contents.items():
        if not has_archive(connection, digest):
            connection.execute(insert(ARCHIVES).values(digest=digest, content=content))


def archives(connection: Connection, digests: Collection[bytes]) -> dict[bytes, bytes]:
    """Return what is stored under several keys."""
    query = select(ARCHIVES.c.digest, ARCHIVES.c.content).where(ARCHIVES.c.digest.in_(sorted(digests)))
    return {bytes(row.digest): bytes(row.content) for row in connection.execute(query)}


def archive_keys(connection: Connection) -> set[bytes]:
    """Return all keys under which something is stored."""
    return {bytes(digest) for digest in connection.scalars(select(ARCHIVES.c.digest))}


def drop_archives(connection: Connection, digests: Collection[bytes]) -> None:
    """Remove what is stored under these keys."""
    connection.execute(delete(ARCHIVES).where(ARCHIVES.c.digest.in_(sorted(digests))))
