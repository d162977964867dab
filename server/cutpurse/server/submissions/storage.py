"""Where the files of bots that were handed in are: beside the database, each archive by its SHA-256.

    FILE.bots/                        only the server's user may look in
        5f3a.../bot.zip               as it was handed in
        5f3a.../tree/                 unpacked and built, once that went well
        run/                          sockets, of this run only
        talk/                         what bots say, by their submissions' numbers

What has its name is whole: it is written aside, put on the disk, and renamed. This module knows no database and no bot.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Final

__all__ = ["Storage", "storage_beside"]

ARCHIVE: Final = "bot.zip"
TREE: Final = "tree"
PART: Final = ".part"
SOCKET_PATH_MOST: Final = 90  # bytes of the longest socket's name here; systems take 104 to 108


def storage_beside(database: Path) -> Path:
    """Return the folder that belongs to a database."""
    return database.with_name(f"{database.name}.bots")


class Storage:
    """See the module's docstring."""

    def __init__(self, root: Path) -> None:
        """Make the folders, and remove what an earlier run left half done.  Raises OSError."""
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
            run = self._elsewhere = Path(tempfile.mkdtemp(prefix="cutpurse-"))  # it is 0700
        else:
            run.mkdir(mode=0o700)
        self.run: Final = run
        for path in [*self.root.glob(f"*/*{PART}")]:
            _away(path)

    def close(self) -> None:
        """Nothing runs any more."""
        for folder in (self.root / "run", self.talk, self._elsewhere):
            if folder is not None:
                _away(folder)

    # -- archives
    def keep(self, content: bytes) -> bytes:
        """Put an archive on the disk; its SHA-256.  Raises OSError."""
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
        """Read the archive.  Raises OSError, FileNotFoundError if it is missing or has changed."""
        content = (self._folder(digest) / ARCHIVE).read_bytes()
        if sha256(content).digest() != digest:
            raise FileNotFoundError("the archive is damaged")
        return content

    def piece(self, digest: bytes, at: int, size: int) -> bytes:
        """So many bytes of the archive, from one on; whether it is what it was is not looked at.  Raises OSError."""
        with (self._folder(digest) / ARCHIVE).open("rb") as file:
            file.seek(at)
            return file.read(size)

    def tree(self, digest: bytes) -> Path:
        """Its files, unpacked and built; the folder is there only if that went well."""
        return self._folder(digest) / TREE

    def part(self, digest: bytes) -> Path:
        """Where it is unpacked and built: a folder that is not there."""
        part = self._folder(digest) / f"{TREE}{PART}"
        _away(part)
        return part

    def built(self, digest: bytes) -> Path:
        """Put the complete tree in `part` into its place, and return it."""
        tree = self.tree(digest)
        _away(tree)
        self._part(digest).replace(tree)
        return tree

    def _part(self, digest: bytes) -> Path:
        return self._folder(digest) / f"{TREE}{PART}"

    def remove(self, digest: bytes) -> None:
        """Remove an archive."""
        _away(self._folder(digest))

    def remove_others(self, kept: Iterable[bytes]) -> int:
        """Remove what nobody knows of, as an archive that was received and never written down; how many."""
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
        """Where the server listens for the bots that it runs."""
        return self.run / "server.sock"

    def arena(self, name: str) -> Path:
        """Make an empty folder for the socket of one process.

        Raises:
            OSError: If the system refuses it.
        """
        folder = self.run / name
        _away(folder)
        folder.mkdir(mode=0o755)
        folder.chmod(0o755)
        return folder

    def no_arena(self, name: str) -> None:
        """Remove that folder."""
        _away(self.run / name)


def _away(path: Path) -> None:
    """Remove whatever it is; what a link names stays.

    A build may have left folders that cannot be written, and deeper than a path can be long: so folders within folders
    are first moved to the top.
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
