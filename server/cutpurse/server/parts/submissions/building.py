"""The build of a submitted archive: it is unpacked to a folder, and built if bot.toml has a build command.

The build command is as untrusted as the bot itself. The runner runs it without a socket, and its output is not trusted
either. The functions here block, so call them on a thread of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Final

from cutpurse.process.last_words import last_words
from cutpurse.server.parts.submissions.storage import Storage
from cutpurse.server.parts.submissions.tasks import LEFT_BYTES, build_task, without_paths
from cutpurse.server.runners.disk_quota import DiskQuota
from cutpurse.server.runners.port import Runner
from cutpurse.wire.archive import ArchiveError, contents, read_entry, unpack
from cutpurse.wire.manifest import MANIFEST, Manifest, read_manifest
from cutpurse.wire.text import format_count

__all__ = ["NotBuilt", "build", "manifest_of"]

LOOK_S: Final = 0.05


class NotBuilt(Exception):
    """The failure of a build, in one line for the bot's author; `log` is the output of the build command."""

    def __init__(self, text: str, log: str = "") -> None:
        super().__init__(text)
        self.log = log


def manifest_of(archive: bytes) -> Manifest:
    """Read the bot.toml of an archive.

    Raises:
        ArchiveError: If the archive is rejected, or has no bot.toml.
        UsageError: If the bot.toml is invalid.
    """
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
    """Unpack and build an archive, unless that was done before.

    Args:
        runner: Runs the build command.
        storage: Folders of the submissions.
        digest: SHA-256 of the archive.
        manifest: Content of its bot.toml.
        talk: File for the output of the build command.
        on_unpacked: Called between unpacking and building.
        is_over: Called regularly; True stops the build.

    Returns:
        Lines for the log.

    Raises:
        ArchiveError: If the archive is rejected.
        NotBuilt: If the build fails or is stopped.
        OSError: If the disk fails.
        RunnerError: If the runner fails.
    """
    if storage.tree(digest).is_dir():
        return ["its files are there already, built"]
    archive = storage.archive(digest)
    part = storage.part(digest)
    try:
        size = unpack(archive, part)
        seen = [f"{format_count(len(contents(archive)), 'file')}, {size:,} bytes"]
        on_unpacked()
        if manifest.build:
            seen += _built(runner, manifest, part, talk, is_over)
        storage.built(digest)
    except BaseException:
        storage.part(digest)  # removes the incomplete folder
        raise
    return seen


def _built(runner: Runner, manifest: Manifest, folder: Path, talk: Path, is_over: Callable[[], bool]) -> list[str]:
    folder.chmod(0o777)  # the build command may run as another user
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
