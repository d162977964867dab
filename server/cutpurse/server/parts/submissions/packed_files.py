"""The files of a built bot as one file, which both ends name by its SHA-256.

The same files always give the same bytes. A build may leave anything behind, so only files, folders and links are
packed, and unpacking writes nothing outside its target. This module knows no bot and no place.
"""

from __future__ import annotations

import gzip
import os
import shutil
import stat
import tarfile
from collections.abc import Iterator
from hashlib import sha256
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Final

__all__ = ["MAX_PACKED_BYTES", "FilesError", "pack_files", "unpack_files"]

MIB: Final = 1 << 20
MAX_PACKED_BYTES: Final = 64 * MIB
MAX_UNPACKED_BYTES: Final = 256 * MIB  # an archive and what its build adds have at most 64 MiB each
LEVEL: Final = 1  # of gzip; the way to a place is short


class FilesError(Exception):
    """The reason why files cannot be packed or unpacked, in one line."""


def pack_files(tree: Path) -> tuple[bytes, bytes]:
    """Pack a folder. Return its SHA-256 and the packed bytes.

    Raises:
        FilesError: If it has something else than files, folders and links, or too many bytes.
        OSError: If it cannot be read.
    """
    packed = BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=LEVEL, mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path in _walk(tree):
            _add(archive, path, path.relative_to(tree).as_posix())
            if packed.tell() > MAX_PACKED_BYTES:
                raise FilesError(
                    f"its files have more than {MAX_PACKED_BYTES >> 20} MiB packed, as much as a place takes"
                )
    content = packed.getvalue()
    if len(content) > MAX_PACKED_BYTES:
        raise FilesError(f"its files have more than {MAX_PACKED_BYTES >> 20} MiB packed, as much as a place takes")
    return sha256(content).digest(), content


def _walk(folder: Path) -> Iterator[Path]:
    """Yield everything below a folder, each folder before its content, in a fixed order, without following links."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        path = Path(entry.path)
        yield path
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(path)


def _add(archive: tarfile.TarFile, path: Path, name: str) -> None:
    member = tarfile.TarInfo(name)
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        member.type, member.linkname = tarfile.SYMTYPE, os.readlink(path)  # noqa: PTH115 # as text
        archive.addfile(member)
    elif stat.S_ISDIR(status.st_mode):
        member.type, member.mode = tarfile.DIRTYPE, 0o755
        archive.addfile(member)
    elif stat.S_ISREG(status.st_mode):
        member.size, member.mode = status.st_size, 0o755 if status.st_mode & 0o100 else 0o644
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            archive.addfile(member, file)
    else:
        raise FilesError(f"{name!r:.100} is no file, folder or link")


def unpack_files(content: bytes, target: Path) -> None:
    """Unpack what `pack_files` has packed into a new folder, readable for all users.

    Raises:
        FilesError: If the content is something else.
        OSError: If writing fails; the files written so far remain.
    """
    target.mkdir(mode=0o755)
    target.chmod(0o755)
    folders = {PurePosixPath(".")}  # only in these, so that no link leads out of the target
    left = MAX_UNPACKED_BYTES
    try:
        with tarfile.open(fileobj=BytesIO(content), mode="r|gz") as archive:
            for member in archive:
                name = PurePosixPath(member.name)
                left -= member.size
                if left < 0 or name.is_absolute() or ".." in name.parts or name.parent not in folders:
                    raise FilesError(f"{member.name!r:.100} is not where a bot's files are, or too large")
                _write(archive, member, target / name)
                if member.isdir():
                    folders.add(name)
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, ValueError) as problem:
        raise FilesError(f"the files are damaged ({type(problem).__name__})") from None


def _write(archive: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
    if member.isdir():
        path.mkdir()
        path.chmod(0o755)
    elif member.issym():
        path.symlink_to(member.linkname)
    elif member.isreg() and (source := archive.extractfile(member)) is not None:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "wb") as file:
            shutil.copyfileobj(source, file)
            os.fchmod(handle, 0o755 if member.mode & 0o100 else 0o644)
    else:
        raise FilesError(f"{member.name!r:.100} is no file, folder or link")
