"""From an archive to a folder that a bot can be run in: unpacked, and built if bot.toml says how.

The build step is a stranger's program like the bot itself: it is run by the runner, without a socket, and what it
leaves is as little trusted as what was handed in. This module waits; it is to be called where nobody else does.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Final

from cutpurse.sdk.programs.last_words import last_words
from cutpurse.sdk.submission.manifest import MANIFEST, Manifest, read_manifest
from cutpurse.server.runners.disk_quota import DiskQuota
from cutpurse.server.runners.port import Runner
from cutpurse.server.submissions.archive import ArchiveError, contents, read_entry, unpack
from cutpurse.server.submissions.storage import Storage
from cutpurse.server.submissions.tasks import LEFT_BYTES, build_task, without_paths

__all__ = ["NotBuilt", "build", "manifest_of"]

LOOK_S: Final = 0.05


class NotBuilt(Exception):
    """Its build step failed, or it was not waited for.  log: what it said; the text is one line for its author."""

    def __init__(self, text: str, log: str = "") -> None:
        super().__init__(text)
        self.log = log


def manifest_of(archive: bytes) -> Manifest:
    """Read the bot.toml of an archive.  Raises ArchiveError for a bad archive, UsageError for its content."""
    for entry in contents(archive):
        if entry.name == MANIFEST:
            return read_manifest(read_entry(archive, entry))
    raise ArchiveError(f"it has no {MANIFEST} at its top, which says how the bot is started")


def build(
    runner: Runner,
    storage: Storage,
    digest: bytes,
    manifest: Manifest,
    talk: Path,
    on_unpacked: Callable[[], object],
    is_over: Callable[[], bool],
) -> list[str]:
    """Make the folder, if it is not there yet; what was seen, line by line.

    is_over: nobody waits any more. Raises ArchiveError, NotBuilt, UsageError, OSError and RunnerError.
    """
    if storage.tree(digest).is_dir():
        return ["its files are there already, built"]
    archive = storage.archive(digest)
    part = storage.part(digest)
    try:
        size = unpack(archive, part)
        seen = [f"{len(contents(archive))} files, {size:,} bytes"]
        on_unpacked()
        if manifest.build:
            seen += _built(runner, manifest, part, talk, is_over)
        storage.built(digest)
    except BaseException:
        storage.part(digest)  # nothing half done is left
        raise
    return seen


def _built(runner: Runner, manifest: Manifest, folder: Path, talk: Path, is_over: Callable[[], bool]) -> list[str]:
    folder.chmod(0o777)  # it may be another user who writes
    left = DiskQuota(folder, LEFT_BYTES)
    running = runner.start(build_task(manifest, folder, talk))
    pause = Event()
    try:
        while (ended := running.ended()) is None:
            if is_over():
                raise NotBuilt("the server stops")
            pause.wait(LOOK_S)
    finally:
        running.stop(0.0)
    said = without_paths(running.talk(), folder)
    if ended.cause != "exited" or ended.code:
        last = last_words(said.splitlines())
        raise NotBuilt(f"its build failed: {ended.text}" + (f"; its last words: {last}" if last else ""), said)
    if left.is_too_much():
        most = f"{LEFT_BYTES >> 20} MiB"
        raise NotBuilt(
            f"its build left more than {most} behind, or too many files: let it remove what is not run", said
        )
    folder.chmod(0o755)
    used = f"built with {ended.use.cpu_s:.1f} s of the processor, {ended.use.peak_bytes / 2**20:.0f} MiB"
    return [used, *([said.rstrip()] if said.strip() else [])]
