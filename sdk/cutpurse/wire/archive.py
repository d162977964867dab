"""The zip reader for untrusted archives, which checks an archive completely before writing any of it.

It accepts only a subset of zip: files and folders, stored or deflated, with unique names of allowed characters. It
rejects overlapping members, encryption, links, comments and zip64. It trusts no size or CRC in the archive: it counts
the inflated bytes and computes the CRC. `contents` reads, `unpack` writes. This module knows no bot and no database.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cutpurse.wire.packing import (
    MOST_DEPTH,
    MOST_FILES,
    MOST_INFLATED,
    MOST_NAME,
    MOST_PACKED,
    NAME_SIGNS,
)

__all__ = ["MOST_RATIO", "ArchiveError", "ArchiveMember", "contents", "read_entry", "unpack"]

MOST_RATIO: Final = 100  # maximum inflated bytes per packed byte, above `FREE` inflated bytes
FREE: Final = 1024 * 1024
PIECE: Final = 65_536  # bytes inflated in one step

_END: Final = struct.Struct("<4s4H2LH")
_CENTRAL: Final = struct.Struct("<4s6H3L5H2L")
_LOCAL: Final = struct.Struct("<4s5H3L2H")
_MOST_CENTRAL: Final = MOST_FILES * (_CENTRAL.size + MOST_NAME + 64)  # some tools add a few bytes per file
_ENCRYPTED, _STREAMED, _UTF8 = 0x0001, 0x0008, 0x0800
_KNOWN_FLAGS: Final = 0x0006 | _STREAMED | _UTF8  # 0x0006: the compression level
_STORED, _DEFLATED = 0, 8
_UNIX: Final = 3
_FOLDER, _FILE = 0o04, 0o10  # the top four bits of a Unix mode
_KINDS: Final = {0o12: "a link", 0o06: "a device", 0o02: "a device", 0o01: "a pipe", 0o14: "a socket"}
_ZIP64: Final = 0xFFFFFFFF


class ArchiveError(Exception):
    """The reason why an archive is rejected, in one line for its author; names in it are quoted and shortened."""


@dataclass(frozen=True, slots=True)
class ArchiveMember:
    """A file of an archive: the position of its packed bytes, and its declared size and CRC."""

    name: str
    method: int
    crc: int
    start: int
    packed: int
    size: int
    is_program: bool


def contents(archive: bytes) -> list[ArchiveMember]:
    """List the files of an archive, in the order of their bytes.

    Raises:
        ArchiveError: If the archive is rejected.
    """
    if len(archive) > MOST_PACKED:
        raise ArchiveError(f"the archive has {len(archive):,} bytes; the maximum is {MOST_PACKED:,}")
    entries: list[ArchiveMember] = []
    folders: set[str] = set()
    at = 0
    for head, name, is_folder, is_program in _central(archive):
        if is_folder:
            folders.add(name)
            at = _local_end(archive, head, name, at)[1]
            continue
        start, at = _local_end(archive, head, name, at)
        entries.append(ArchiveMember(name, head.method, head.crc, start, head.packed, head.size, is_program))
    _check_together([entry.name for entry in entries], folders)
    total = sum(entry.size for entry in entries)
    if total > MOST_INFLATED:
        raise ArchiveError(f"its files would have {total:,} bytes; the maximum is {MOST_INFLATED:,}")
    _check_ratio(total, len(archive))
    return entries


def read_entry(archive: bytes, entry: ArchiveMember) -> bytes:
    """Inflate a file of an archive.

    Raises:
        ArchiveError: If its size or CRC is not as declared.
    """
    return b"".join(_inflated(archive, entry))


def unpack(archive: bytes, target: Path) -> int:
    """Write the files of an archive into a new folder, readable for all users.

    After an error, the files written so far remain.

    Returns:
        The number of bytes written.

    Raises:
        ArchiveError: If the archive is rejected.
        OSError: If writing fails.
    """
    entries = contents(archive)
    target.mkdir(mode=0o755)
    target.chmod(0o755)
    total = 0
    for entry in entries:
        path = target
        for part in entry.name.split("/")[:-1]:
            path = path / part
            if not path.is_dir():
                path.mkdir()
                path.chmod(0o755)
        handle = os.open(target / entry.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with open(handle, "wb") as file:  # noqa: PTH123 # of a handle
            for piece in _inflated(archive, entry):
                total += len(piece)
                _check_ratio(total, len(archive))
                file.write(piece)
            os.fchmod(handle, 0o755 if entry.is_program else 0o644)
    return total


# -- the directory of the archive
@dataclass(frozen=True, slots=True)
class _Head:
    """An entry of the central directory, the list at the end of an archive."""

    flags: int
    method: int
    crc: int
    packed: int
    size: int
    local: int


def _central(archive: bytes) -> Iterator[tuple[_Head, str, bool, bool]]:
    """Yield the members in the order of their bytes: head, name, whether it is a folder, whether it is executable.

    Raises:
        ArchiveError: If the central directory is rejected.
    """
    end = len(archive) - _END.size
    if end < 0 or not archive.startswith(b"PK"):
        raise ArchiveError("this is no zip archive")
    sign, disk, first_disk, here, count, size, start, comment = _END.unpack_from(archive, end)
    if sign != b"PK\x05\x06" or comment:
        raise ArchiveError("the zip archive is cut off, or has a comment or something else behind its end")
    if disk or first_disk or here != count or _ZIP64 in (size, start) or count == 0xFFFF:
        raise ArchiveError("the zip archive is in parts, or needs zip64, which is not taken")
    if count > MOST_FILES or size > _MOST_CENTRAL:
        raise ArchiveError(
            f"it has {count:,} entries, and a list of {size:,} bytes; the maximum is {MOST_FILES:,} files"
        )
    if start + size != end:
        raise ArchiveError("the list of the zip archive is not where it should be")
    entries, at = [], start
    for _ in range(count):
        if at + _CENTRAL.size > end:
            raise ArchiveError("the list of the zip archive is cut off")
        fields = _CENTRAL.unpack_from(archive, at)
        (sign, made, _needs, flags, method, _time, _date, crc, packed, inflated) = fields[:10]
        name_size, extra, note, disk, _inner, outer, local = fields[10:]
        if sign != b"PK\x01\x02" or disk:
            raise ArchiveError("the list of the zip archive is damaged")
        raw = archive[at + _CENTRAL.size : at + _CENTRAL.size + name_size]
        at += _CENTRAL.size + name_size + extra + note
        name, is_folder = _name(raw)
        head = _Head(flags, method, crc, packed, inflated, local)
        mode = outer >> 16 if made >> 8 == _UNIX else 0
        _check_kind(name, head, mode >> 12, is_folder)
        entries.append((head, name, is_folder, bool(mode & 0o100)))
    if at != end:
        raise ArchiveError("the list of the zip archive has more in it than it says")
    entries.sort(key=lambda entry: entry[0].local)
    return iter(entries)


def _name(raw: bytes) -> tuple[str, bool]:
    """Check the name of a member. Return it without a slash at its end, and whether it is a folder."""
    quoted = repr(raw.decode("utf-8", "replace")[:80])
    try:
        text = raw.decode("ascii")
    except UnicodeDecodeError:
        raise ArchiveError(f"the name {_plain(quoted)} has characters that are not ASCII") from None
    is_folder = text.endswith("/")
    parts = (text[:-1] if is_folder else text).split("/")
    if len(raw) > MOST_NAME or len(parts) > MOST_DEPTH:
        raise ArchiveError(
            f"the name {quoted} is too long: at most {MOST_NAME} characters and {MOST_DEPTH} parts are allowed"
        )
    for part in parts:
        if not NAME_SIGNS.fullmatch(part) or part != part.strip(" ") or part.endswith("."):
            raise ArchiveError(f"the name {quoted} is not allowed: it leads elsewhere, or has unusual characters")
    return "/".join(parts), is_folder


def _plain(quoted: str) -> str:
    return quoted.encode("ascii", "backslashreplace").decode("ascii")


def _check_kind(name: str, head: _Head, kind: int, is_folder: bool) -> None:
    """Check that a member is a file or folder, not encrypted, and packed by a known method."""
    if kind not in (0, _FOLDER if is_folder else _FILE):
        raise ArchiveError(f"{name!r} is {_KINDS.get(kind, 'something else')}; only files and folders are taken")
    if head.flags & _ENCRYPTED:
        raise ArchiveError(f"{name!r} is encrypted")
    if head.flags & ~_KNOWN_FLAGS or head.method not in (_STORED, _DEFLATED):
        raise ArchiveError(f"{name!r} is packed in a way that is not taken; stored and deflated are")
    if _ZIP64 in (head.packed, head.size, head.local):
        raise ArchiveError(f"{name!r} needs zip64, which is not taken")
    if head.method == _STORED and head.packed != head.size:
        raise ArchiveError(f"{name!r} is stored, but not in the size that it has")
    if is_folder and (head.size or head.packed):
        raise ArchiveError(f"{name!r} is a folder that has bytes")


def _local_end(archive: bytes, head: _Head, name: str, at: int) -> tuple[int, int]:
    """Return the start and end of an entry's packed bytes, after checking its local header.

    The header begins at `at` or at most 24 bytes later, since packers that stream write a data descriptor there.
    """
    if head.local < at or head.local - at > 24 or head.local + _LOCAL.size > len(archive):
        raise ArchiveError(f"{name!r} lies over another file, or far from it")
    sign, _needs, flags, method, _time, _date, _crc, _packed, _size, name_size, extra = _LOCAL.unpack_from(
        archive, head.local
    )
    start = head.local + _LOCAL.size + name_size + extra
    raw = archive[head.local + _LOCAL.size : head.local + _LOCAL.size + name_size]
    if sign != b"PK\x03\x04" or (flags, method) != (head.flags, head.method) or raw.rstrip(b"/") != name.encode():
        raise ArchiveError(f"{name!r} is another file in the list than where its bytes are")
    end = start + head.packed
    if end > _END.unpack_from(archive, len(archive) - _END.size)[6]:  # the start of the central directory
        raise ArchiveError(f"{name!r} is cut off")
    return start, end


def _check_together(names: list[str], folders: set[str]) -> None:
    """Check that names are unique, even if case is ignored, and that no name is both a file and a folder."""
    folded: dict[str, str] = {}
    for name in names:
        if (other := folded.get(name.casefold())) is not None:
            raise ArchiveError(f"{name!r} is there twice, or differs from {other!r} by large letters only")
        folded[name.casefold()] = name
    for name in [*names, *folders]:
        above = name
        while "/" in above:
            above = above.rpartition("/")[0]
            if above.casefold() in folded:
                raise ArchiveError(f"{above!r} is a file, and a folder with {name!r} in it")
    for folder in folders:
        if folder.casefold() in folded:
            raise ArchiveError(f"{folder!r} is a file and a folder")
    spelt: dict[str, str] = {}
    for name in names:
        above = name
        while "/" in above:
            above = above.rpartition("/")[0]
            if (other := spelt.setdefault(above.casefold(), above)) != above:
                raise ArchiveError(f"the folders {above!r} and {other!r} differ by large letters only")


def _check_ratio(total: int, packed: int) -> None:
    if total > FREE and total > MOST_RATIO * packed:
        raise ArchiveError(f"it inflates to more than {MOST_RATIO} times its size")


# -- the content of the archive
def _inflated(archive: bytes, entry: ArchiveMember) -> Iterator[bytes]:
    """Inflate a file piece by piece, never more than declared.

    Raises:
        ArchiveError: If its size or CRC is not as declared, or it does not inflate.
    """
    view = memoryview(archive)[entry.start : entry.start + entry.packed]
    crc, left = 0, entry.size
    for piece in _pieces(view, entry):
        left -= len(piece)
        if left < 0:
            raise ArchiveError(f"{entry.name!r} inflates to more than the {entry.size:,} bytes that it says")
        crc = zlib.crc32(piece, crc)
        yield piece
    if left or crc != entry.crc:
        raise ArchiveError(f"{entry.name!r} is damaged: its size or its CRC is not what it says")


def _pieces(view: memoryview, entry: ArchiveMember) -> Iterator[bytes]:
    if entry.method == _STORED:
        for at in range(0, len(view), PIECE):
            yield bytes(view[at : at + PIECE])
        return
    inflating = zlib.decompressobj(-zlib.MAX_WBITS)
    at = 0
    try:
        while at < len(view) and not inflating.eof:
            waiting: bytes | memoryview = view[at : at + PIECE]
            at += len(waiting)
            while waiting and not inflating.eof:
                yield inflating.decompress(waiting, PIECE)
                waiting = inflating.unconsumed_tail
        while not inflating.eof and (piece := inflating.decompress(b"", PIECE)):
            yield piece
    except zlib.error:
        raise ArchiveError(f"{entry.name!r} is damaged: it does not inflate") from None
    if not inflating.eof:
        raise ArchiveError(f"{entry.name!r} is cut off")
    if inflating.unused_data or at < len(view):
        raise ArchiveError(f"{entry.name!r} has more bytes than its file")
