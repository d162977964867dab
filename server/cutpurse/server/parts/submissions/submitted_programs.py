"""The source files of submitted bots, as `near_copies` compares them.

Left out are tests, files of other kinds, libraries that a bot brings along, and what a generator wrote. This module
writes nothing, so a server may run meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePosixPath
from typing import Final

from cutpurse.server.parts.submissions.near_copies import Program
from cutpurse.server.parts.submissions.source_tokens import SUFFIXES
from cutpurse.server.parts.submissions.submission_queries import SubmissionEntry
from cutpurse.wire.archive import ArchiveError, contents, read_entry

__all__ = ["is_source", "source_files", "submitted_programs"]

MOST_BYTES: Final = 500_000  # of a file: nobody writes more by hand
OF_OTHERS: Final = frozenset(
    {"node_modules", "vendor", "third_party", "site-packages", "target", "dist", "out", "proto"}
)
GENERATED: Final = ("_pb2.py", "_pb2_grpc.py", ".pb.go", ".pb.h", ".pb.cc", ".min.js")


def submitted_programs(
    archive: Callable[[bytes], bytes], entries: Iterable[SubmissionEntry], is_missing: Callable[[SubmissionEntry], None]
) -> Iterator[Program]:
    """Yield the programs of submissions.

    Args:
        archive: Returns an archive by its SHA-256; raises OSError if it is gone.
        entries: The submissions.
        is_missing: Called with each whose archive is gone or cannot be read.
    """
    for entry in entries:
        try:
            files = source_files(archive(entry.digest))
        except (OSError, ArchiveError):
            is_missing(entry)
            continue
        yield Program(entry.owner, entry.bot, entry.version, files)


def source_files(archive: bytes) -> dict[str, str]:
    """Return the text of the source files of an archive, by path.

    Raises:
        ArchiveError: If the archive is rejected.
    """
    return {
        member.name: read_entry(archive, member).decode("utf-8", "replace")
        for member in contents(archive)
        if member.size <= MOST_BYTES and is_source(PurePosixPath(member.name))
    }


def is_source(path: PurePosixPath) -> bool:
    """Return whether the bot's author wrote this file, and it decides something."""
    if path.suffix not in SUFFIXES or OF_OTHERS & set(path.parts) or path.name.endswith(GENERATED):
        return False
    return not path.name.startswith("test_")
