"""The files of submitted bots, stored beside the database; each archive is named by its SHA-256.

    FILE.bots/                        for the server's user only
        5f3a.../bot.zip               archive as submitted
        5f3a.../tree/                 archive unpacked and built; only if that succeeded
        5f3a.../tree.packed           the built files as places fetch them
        run/                          sockets of this run of the server
        talk/                         output of bots, by submission number

A file with its final name is complete: it is written under another name, synced to disk, and renamed. Where several
arenas share a league, they share archives and built files, too, and this folder holds those that were needed here. This
module knows no database and no bot.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Final, Protocol

__all__ = ["SharedArchives", "Storage", "stored_archive"]

ARCHIVE: Final = "bot.zip"
TREE: Final = "tree"
PART: Final = ".part"
SOCKET_PATH_MOST: Final = 90  # maximum bytes of a socket's path; systems allow 104 to 108


class SharedArchives(Protocol):
    """The archives that several arenas share. The methods wait, and raise what the store behind them raises."""

    def put(self, digest: bytes, content: bytes) -> None:
        """Store an archive under its SHA-256, unless it is."""

    def get(self, digest: bytes) -> bytes | None:
        """Return an archive; None if it is not stored."""

    def put_built(self, digest: bytes, tree: Path) -> None:
        """Store the built files of an archive.

        Raises:
            ArchiveError: If they are too large.
        """

    def unpack_built(self, digest: bytes, target: Path) -> bool:
        """Write the built files of an archive to a new folder; return False if they are not stored."""

    def drop(self, digest: bytes) -> None:
        """Remove an archive and its built files."""


def stored_archive(root: Path, digest: bytes) -> bytes:
    """Read an archive below a folder that a server may have open.

    Raises:
        OSError: If the disk fails; FileNotFoundError if the archive is missing or damaged.
    """
    content = (root / digest.hex() / ARCHIVE).read_bytes()
    if sha256(content).digest() != digest:
        raise FileNotFoundError("the archive is damaged")
    return content


class Storage:
    """The files of submitted bots, see the module's docstring."""

    def __init__(self, root: Path, shared: SharedArchives | None = None, before: Path | None = None) -> None:
        """Create the folders, and remove incomplete files of earlier runs.

        Args:
            root: Folder for all files.
            shared: What other arenas have, too; None if there are none.
            before: Folder of a time when this arena was alone, for `share`; it is only read.

        Raises:
            OSError: If the disk fails.
        """
        self._shared = shared
        self._before = before
        self.root: Final = root.absolute()
        self.root.mkdir(mode=0o700, parents=False, exist_ok=True)
        self.root.chmod(0o700)
        for name in ("run", "talk"):
            _away(self.root / name)
        self.talk: Final = self.root / "talk"
        self.talk.mkdir(mode=0o700)
        self._elsewhere: Path | None = None
        run = self.root / "run"
        if len(os.fsencode(run)) > SOCKET_PATH_MOST - len("/bot-12345678/bot.sock"):
            run = self._elsewhere = Path(tempfile.mkdtemp(prefix="cutpurse-"))  # mkdtemp sets mode 0700
        else:
            run.mkdir(mode=0o700)
        self.run: Final = run
        for path in [*self.root.glob(f"*/*{PART}")]:
            _away(path)

    def close(self) -> None:
        """Remove the sockets and the output of this run."""
        for folder in (self.root / "run", self.talk, self._elsewhere):
            if folder is not None:
                _away(folder)

    # -- archives
    def keep(self, content: bytes) -> bytes:
        """Store an archive, synced to disk. Return its SHA-256.

        Raises:
            OSError: If the disk fails.
        """
        digest = self._keep(content)
        if self._shared is not None:
            self._shared.put(digest, content)
        return digest

    def _keep(self, content: bytes) -> bytes:
        digest = sha256(content).digest()
        folder = self._folder(digest)
        folder.mkdir(mode=0o700, exist_ok=True)
        if not (folder / ARCHIVE).exists():
            part = folder / f"{ARCHIVE}{PART}"
            with part.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            part.replace(folder / ARCHIVE)
            _sync(folder)
            _sync(self.root)
        return digest

    def archive(self, digest: bytes) -> bytes:
        """Read an archive.

        Raises:
            OSError: If the disk fails; FileNotFoundError if the archive is missing or damaged.
        """
        try:
            return stored_archive(self.root, digest)
        except FileNotFoundError:
            found = None if self._shared is None else self._shared.get(digest)
            if found is None or sha256(found).digest() != digest:
                raise
            self._keep(found)
            return found

    def share(self, digest: bytes) -> None:
        """Let other arenas have an archive that is here or was here when this arena was alone, and its built files.

        Raises:
            ArchiveError: If the built files are too large.
            OSError: If the disk fails.
        """
        if self._shared is None:
            return
        for root in filter(None, (self.root, self._before)):
            folder = root / digest.hex()
            if not (folder / ARCHIVE).exists():
                continue
            self._shared.put(digest, stored_archive(root, digest))
            if (folder / TREE).is_dir():
                self._shared.put_built(digest, folder / TREE)

    def piece(self, digest: bytes, at: int, size: int) -> bytes:
        """Read `size` bytes of an archive from offset `at` on, without checking its hash.

        Raises:
            OSError: If the archive is missing or the disk fails.
        """
        with (self._folder(digest) / ARCHIVE).open("rb") as file:
            file.seek(at)
            return file.read(size)

    def tree(self, digest: bytes) -> Path:
        """Return the folder of an unpacked and built archive; it exists only if the build succeeded."""
        return self._folder(digest) / TREE

    def has_tree(self, digest: bytes) -> bool:
        """Return whether the built files of an archive are here, after getting those of another arena.

        Raises:
            OSError: If the disk fails.
        """
        if self.tree(digest).is_dir():
            return True
        if self._shared is None:
            return False
        part = self.part(digest)
        part.parent.mkdir(mode=0o700, exist_ok=True)
        if not self._shared.unpack_built(digest, part):
            return False
        part.replace(self.tree(digest))
        return True

    def part(self, digest: bytes) -> Path:
        """Return the path for unpacking and building an archive, after removing the folder there."""
        part = self._folder(digest) / f"{TREE}{PART}"
        _away(part)
        return part

    def built(self, digest: bytes) -> Path:
        """Move the complete folder at `part` to `tree`, and return that path."""
        tree = self.tree(digest)
        _away(tree)
        self._part(digest).replace(tree)
        if self._shared is not None:
            self._shared.put_built(digest, tree)
        return tree

    def _part(self, digest: bytes) -> Path:
        return self._folder(digest) / f"{TREE}{PART}"

    def remove(self, digest: bytes) -> None:
        """Remove an archive and its folders."""
        _away(self._folder(digest))
        if self._shared is not None:
            self._shared.drop(digest)

    def remove_others(self, kept: Iterable[bytes]) -> int:
        """Remove all archives except `kept`, such as one that was received but not stored in the database.

        Returns:
            The number of archives removed.
        """
        names = {digest.hex() for digest in kept}
        others = [path for path in self.root.iterdir() if len(path.name) == 64 and path.name not in names]
        for path in others:
            _away(path)
        return len(others)

    def _folder(self, digest: bytes) -> Path:
        return self.root / digest.hex()

    # -- sockets
    @property
    def server_socket(self) -> Path:
        """Path of the socket on which the server listens for hosted bots."""
        return self.run / "server.sock"

    def arena(self, name: str) -> Path:
        """Create an empty folder for the socket of one process.

        Raises:
            OSError: If the disk fails.
        """
        folder = self.run / name
        _away(folder)
        folder.mkdir(mode=0o755)
        folder.chmod(0o755)
        return folder

    def no_arena(self, name: str) -> None:
        """Remove the folder that `arena` created for this name."""
        _away(self.run / name)


def _away(path: Path) -> None:
    """Remove a file, link or folder; the target of a link stays.

    A build may leave folders without write permission, and nested deeper than a path may be long. So inner folders are
    moved to the top first.
    """
    if path.is_symlink() or path.is_file():
        path.unlink()
    if not path.is_dir():
        return
    path.chmod(0o700)
    mark, moved = secrets.token_hex(8), 0
    while entries := [*os.scandir(path)]:
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry)  # noqa: PTH108 # of an entry
                continue
            os.chmod(entry, 0o700)  # noqa: PTH101
            for inner in [*os.scandir(entry)]:
                if inner.is_dir(follow_symlinks=False):
                    os.chmod(inner, 0o700)  # noqa: PTH101
                    os.rename(inner, path / f"{mark}{moved}")  # noqa: PTH104
                    moved += 1
                else:
                    os.unlink(inner)  # noqa: PTH108
            os.rmdir(entry)  # noqa: PTH106
    path.rmdir()


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
