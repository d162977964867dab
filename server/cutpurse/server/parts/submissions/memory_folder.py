"""The memory folder of a bot as one value: what is kept of a folder that an untrusted program wrote, and its way back.

Kept are plain files, in the order of their paths while they fit. Links, devices, pipes, files with a second name, and
what lies deeper than MAX_DEPTH folders are left out. The program has ended, so nothing changes meanwhile. The value is,
for each file, its path, a zero byte, its size in digits, a line feed, and its bytes; its SHA-256 names the memory.

All memories of a process, a folder for each ladder, go to a place and back in the same form.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

__all__ = ["ALL_BYTES", "MAX_FILES", "add_empty", "pack_all", "pack_folder", "replace_folder", "unpack_folder"]

MAX_FILES: Final = 256
MAX_DEPTH: Final = 8  # folders below the memory folder
MAX_LADDERS: Final = 16  # full memories that go to a place together
ALL_BYTES: Final = MAX_LADDERS << 20
_NO_PATH: Final = {errno.ENAMETOOLONG, errno.EEXIST, errno.ENOTDIR, errno.EISDIR}
_NO_FILE, _NO_ROOM, _TOO_MANY, _TOO_DEEP = "no plain file", "too large", "too many", "too deep"


def pack_all(folder: Path) -> tuple[bytes, str]:
    """Pack the memories of a process, a folder for each ladder, with room for MAX_LADDERS full ones.

    Returns and raises as `pack_folder`.
    """
    return pack_folder(folder, ALL_BYTES, MAX_LADDERS * MAX_FILES, MAX_DEPTH + 1)


def pack_folder(
    folder: Path, max_bytes: int, max_files: int = MAX_FILES, max_depth: int = MAX_DEPTH
) -> tuple[bytes, str]:
    """Pack a folder. Return the value, and what was left out, in words; empty if nothing was.

    Args:
        folder: Its files are untrusted.
        max_bytes: Maximum size of the value.
        max_files: Maximum number of files.
        max_depth: Maximum number of folders above a file.

    Raises:
        OSError: If the disk fails.
    """
    packed = bytearray()
    files, left_out = 0, Counter[str]()
    for path, content in _files(folder, max_bytes, max_depth, left_out):
        entry = b"%s\0%d\n%s" % (path, len(content), content)
        if files == max_files:
            left_out[_TOO_MANY] += 1
        elif len(packed) + len(entry) > max_bytes:
            left_out[_NO_ROOM] += 1
        else:
            packed += entry
            files += 1
    return bytes(packed), ", ".join(f"{count} {why}" for why, count in sorted(left_out.items()))


def _files(folder: Path, max_bytes: int, max_depth: int, left_out: Counter[str]) -> Iterator[tuple[bytes, bytes]]:
    """Yield path and content of the plain files below a folder, in a fixed order, and count the others."""
    top = os.fsencode(folder)
    if not folder.is_dir() or folder.is_symlink():  # the program removed or replaced it
        return
    for root, folders, names, descriptor in os.fwalk(top):
        where = os.path.relpath(root, top)
        if where.count(b"/") == max_depth - 1:
            left_out[_TOO_DEEP] += len(folders)
            folders.clear()
        for name in [*folders]:
            if stat.S_ISLNK(os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode):
                left_out[_NO_FILE] += 1
                folders.remove(name)
        folders.sort()
        for name in sorted(names):
            content = _content(name, descriptor, max_bytes)
            if isinstance(content, str):
                left_out[content] += 1
            else:
                yield os.path.normpath(os.path.join(where, name)), content  # noqa: PTH118 # as bytes


def _content(name: bytes, folder: int, max_bytes: int) -> bytes | str:
    """Read a file of an open folder, or return why it is left out."""
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
        return _NO_FILE
    if status.st_size > max_bytes:
        return _NO_ROOM
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except PermissionError:
        return _NO_FILE
    with os.fdopen(handle, "rb") as file:
        return file.read(max_bytes)


def unpack_folder(content: bytes, folder: Path) -> None:
    """Write what `pack_folder` packed into a folder, which may be there and empty.

    Raises:
        ValueError: If it is something else.
        OSError: If the disk fails.
    """
    folder.mkdir(mode=0o755, exist_ok=True)
    at = 0
    while at < len(content):
        end = content.index(b"\0", at)
        start = content.index(b"\n", end) + 1
        size, parts = content[end + 1 : start - 1], content[at:end].split(b"/")
        if not size.isdigit() or start + int(size) > len(content) or {b"", b".", b".."} & {*parts}:
            raise ValueError("this is no memory")
        path = folder / os.fsdecode(content[at:end])
        at = start + int(size)
        try:
            path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            path.write_bytes(content[start:at])
        except OSError as problem:
            if problem.errno in _NO_PATH:  # also a file where another path has a folder
                raise ValueError("this is no memory") from None
            raise


def add_empty(folder: Path, ladders: Iterable[str]) -> None:
    """Make the memory of each of these ladders that has no file yet; the names come from a server.

    Raises:
        ValueError: If a name leads elsewhere.
        OSError: If the disk fails.
    """
    for ladder in ladders:
        if ladder in ("", ".", "..") or "/" in ladder or "\0" in ladder:
            raise ValueError("the server sent a ladder whose name is a path")
        (folder / ladder).mkdir(mode=0o755, exist_ok=True)


def replace_folder(content: bytes, folder: Path) -> None:
    """Replace a folder that no program uses by what `pack_folder` packed.  Raises as `unpack_folder`; it stays then."""
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        unpack_folder(content, part)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    shutil.rmtree(folder)
    part.replace(folder)
