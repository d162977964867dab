"""Archives that a server must reject, created byte by byte, with the expected error message."""

from __future__ import annotations

import io
import stat
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator

__all__ = ["BAD", "MANIFEST", "bomb", "good", "quoted", "zipped"]

MANIFEST = b'name = "sneak"\nrun = ["python", "sneak.py"]\n'
Made = tuple[str, Callable[[], bytes], str]


def good(**files: bytes) -> bytes:
    """Create an archive of these files and a manifest."""
    return zipped([("bot.toml", MANIFEST), *[(name.replace("__", "."), body) for name, body in files.items()]])


def zipped(files: list[tuple[str, bytes]], *, stored: bool = False, comment: bytes = b"") -> bytes:
    made = io.BytesIO()
    method = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(made, "w") as archive, warnings.catch_warnings(action="ignore"):  # of repeated names
        for name, body in files:
            mode = stat.S_IFDIR | 0o755 if name.endswith("/") else stat.S_IFREG | 0o644
            info = raw_info(name.rstrip("/") + "?" * name.endswith("/"), mode)
            archive.writestr(info, body, method)
        archive.comment = comment
    content = made.getvalue()
    for name in [name for name, _ in files if name.endswith("/")]:
        content = content.replace(f"{name[:-1]}?".encode(), name.encode())
    return content


def raw_info(name: str, mode: int = stat.S_IFREG | 0o644) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo("placeholder", (1980, 1, 1, 0, 0, 0))
    info.filename = name  # set here, because the constructor would correct it
    info.create_system = 3
    info.external_attr = mode << 16
    return info


def special(mode: int, body: bytes = b"/etc/passwd") -> bytes:
    """Create an archive with one entry that is no regular file."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("bot.toml", MANIFEST)
        archive.writestr(raw_info("thing", mode), body)
    return made.getvalue()


def named(name: str) -> bytes:
    return zipped([("bot.toml", MANIFEST), (name, b"x")])


def raw_named(name: bytes) -> bytes:
    """Create an archive with a name that zipfile would not write, by replacing one of the same length."""
    marker = "Q" * len(name)
    return named(marker).replace(marker.encode(), name)


def bomb(size: int = 40 * 1024 * 1024) -> bytes:
    return zipped([("bot.toml", MANIFEST), ("zeros", bytes(size))])


def patched(offset: int, form: str, *values: int, central: bool = True) -> bytes:
    """Create a good archive, and change its second entry, in the central directory or in the local header."""
    archive = bytearray(good(sneak__py=b"print('hello there, this is a bot')\n" * 20))
    sign = b"PK\x01\x02" if central else b"PK\x03\x04"
    at = archive.index(sign, archive.index(sign) + 4)
    struct.pack_into(form, archive, at + offset, *values)
    return bytes(archive)


def end_patched(offset: int, form: str, *values: int) -> bytes:
    archive = bytearray(good(sneak__py=b"x"))
    struct.pack_into(form, archive, len(archive) - 22 + offset, *values)
    return bytes(archive)


def overlapping(count: int = 200, size: int = 200_000) -> bytes:
    """Create an archive like David Fifield's bomb: many entries of the central directory name the same bytes."""
    inner = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = inner.compress(bytes(size)) + inner.flush()
    crc = zlib.crc32(bytes(size))
    name = b"aaaa"
    local = struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, 0, 8, 0, 33, crc, len(packed), size, 4, 0)
    local += name + packed
    entries = b""
    for number in range(count):
        own = b"%04d" % number if number else name
        entries += struct.pack(
            "<4s6H3L5H2L",
            b"PK\x01\x02",
            0x0314,
            20,
            0,
            8,
            0,
            33,
            crc,
            len(packed),
            size,
            4,
            0,
            0,
            0,
            0,
            0o100644 << 16,
            0,
        )
        entries += own
    return local + entries + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, len(entries), len(local), 0)


def quoted(depth: int = 3) -> bytes:
    """Create nested archives; only the outermost one is opened, so the inner one is an ordinary file."""
    inner = zipped([("zeros", bytes(1_000_000))])
    for _ in range(depth):
        inner = zipped([("inner.zip", inner)])
    return zipped([("bot.toml", MANIFEST), ("inner.zip", inner)])


def many(count: int) -> bytes:
    """Create an archive with `count` empty files in its central directory."""
    local, entries = bytearray(), bytearray()
    for number in range(count):
        name = b"%07d" % number
        entries += struct.pack(
            "<4s6H3L5H2L", b"PK\x01\x02", 0x0314, 20, 0, 0, 0, 33, 0, 0, 0, 7, 0, 0, 0, 0, 0o100644 << 16, len(local)
        )
        entries += name
        local += struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, 0, 0, 0, 33, 0, 0, 0, 7, 0) + name
    shown = min(count, 0xFFFE)
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, shown, shown, len(entries), len(local), 0)
    return bytes(local + entries + tail)


def lies_in_size(size: int) -> bytes:
    """Create an archive with a file that inflates to more than both of its headers say."""
    made = bytearray(zipped([("bot.toml", MANIFEST), ("zeros", bytes(3_000_000))]))
    for sign, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<L", made, made.index(sign, made.index(sign) + 4) + offset, size)
    return bytes(made)


def _names() -> Iterator[Made]:
    for what, name in (
        ("leads upwards", "../evil"),
        ("leads upwards from within", "a/../../evil"),
        ("only dots", ".."),
        ("here", "./a"),
        ("absolute", "/etc/cron.d/evil"),
        ("two slashes", "a//b"),
        ("backslashes", "a\\..\\b"),
        ("a drive", "C:evil"),
        ("a stream of a file", "a:b"),
        ("a new line", "a\nb"),
        ("a tab", "a\tb"),
        ("an escape", "a\x1b[2Jb"),
        ("a blank at the end", "a "),
        ("a dot at the end", "a."),
        ("a quote", 'a"b'),
        ("a wildcard", "a*b"),
        ("a question", "a?b"),
        ("a pipe sign", "a|b"),
        ("a dollar before a bracket is no matter, a back quote is", "a`id`b"),
        ("nothing", ""),
    ):
        yield f"name: {what}", (lambda name=name: named(name)), "the name"  # type: ignore[misc]
    for what, raw in (
        ("NUL", b"a\0b"),
        ("bidi override", "a\u202eb".encode()),
        ("not UTF-8", b"a\xffb"),
        ("a letter that looks like another", "\u0430bc".encode()),
        ("a wide slash", "a\uff0fb".encode()),
        ("DEL", b"a\x7fb"),
    ):
        yield f"name: {what}", (lambda raw=raw: raw_named(raw)), "the name"  # type: ignore[misc]
    yield "name: too long", lambda: named("a" * 256), "is too long"
    yield "name: too deep", lambda: named("/".join("a" * 17)), "is too long"


BAD: tuple[Made, ...] = (
    *_names(),
    ("a link", lambda: special(stat.S_IFLNK | 0o777), "is a link"),
    ("a device", lambda: special(stat.S_IFCHR | 0o666, b""), "is a device"),
    ("a disk", lambda: special(stat.S_IFBLK | 0o666, b""), "is a device"),
    ("a pipe", lambda: special(stat.S_IFIFO | 0o666, b""), "is a pipe"),
    ("a socket", lambda: special(stat.S_IFSOCK | 0o666, b""), "is a socket"),
    ("a folder that says it is a file", lambda: special(stat.S_IFDIR | 0o755), "is something else"),
    ("a bomb", bomb, "inflates to more than 100 times"),
    ("a larger bomb", lambda: bomb(80 * 1024 * 1024), "the maximum is 67,108,864"),
    ("a bomb of one file many times", overlapping, "lies over another file"),
    ("a bomb that says it is small", lambda: lies_in_size(1_000), "more than the 1,000 bytes"),
    ("says it is larger than it is", lambda: patched(24, "<L", 999), "is damaged"),
    ("too many files", lambda: many(2_001), "2,001 entries"),
    ("very many files", lambda: many(150_000), "the maximum is 2,000 files"),
    ("the same name twice", lambda: zipped([("a", b"1"), ("a", b"2")]), "is there twice"),
    ("names that differ by large letters", lambda: zipped([("Bot.py", b"1"), ("bot.py", b"2")]), "large letters"),
    ("folders that differ by large letters", lambda: zipped([("A/x", b"1"), ("a/y", b"2")]), "large letters"),
    ("a file that is a folder", lambda: zipped([("a", b"1"), ("a/b", b"2")]), "is a file, and a folder"),
    ("a folder that is a file", lambda: zipped([("a/", b""), ("a", b"2")], stored=True), "is a file and a folder"),
    ("a folder with bytes", lambda: zipped([("a/", b"xyz")], stored=True), "is a folder that has bytes"),
    ("nothing", lambda: b"", "no zip archive"),
    ("text", lambda: b"print('hello')\n" * 10, "no zip archive"),
    ("another kind of archive", lambda: b"\x1f\x8b\x08\0" + bytes(100), "no zip archive"),
    ("only a beginning", lambda: b"PK\x03\x04", "no zip archive"),
    ("cut off at the end", lambda: good(sneak__py=b"x")[:-10], "cut off"),
    ("cut off at the beginning", lambda: b"PK" + good(sneak__py=b"x")[40:], "not where it should be"),
    ("something before it", lambda: b"PK#!/bin/sh\n" + good(sneak__py=b"x"), "not where it should be"),
    ("something behind it", lambda: good(sneak__py=b"x") + b"more", "cut off, or has a comment"),
    ("a comment", lambda: zipped([("bot.toml", MANIFEST)], comment=b"hello"), "has a comment"),
    ("a huge comment", lambda: zipped([("bot.toml", MANIFEST)], comment=b"x" * 65_535), "has a comment"),
    ("a wrong CRC", lambda: patched(16, "<L", 12_345), "is damaged"),
    ("packed bytes that are none", lambda: patched(60, "<4B", 7, 7, 7, 7, central=False), "damaged"),
    ("encrypted", lambda: patched(8, "<H", 1), "is encrypted"),
    ("strongly encrypted", lambda: patched(8, "<H", 0x40), "packed in a way"),
    ("packed by LZMA", lambda: patched(10, "<H", 14), "packed in a way"),
    ("packed by nobody knows what", lambda: patched(10, "<H", 99), "packed in a way"),
    ("stored in another size", lambda: patched(10, "<H", 0), "but not in the size"),
    ("zip64 sizes", lambda: patched(24, "<L", 0xFFFFFFFF), "needs zip64"),
    ("a zip64 place", lambda: patched(42, "<L", 0xFFFFFFFF), "needs zip64"),
    ("zip64 at the end", lambda: end_patched(16, "<L", 0xFFFFFFFF), "needs zip64"),
    ("more entries than it says", lambda: end_patched(8, "<2H", 1, 1), "more in it than it says"),
    ("fewer entries than it says", lambda: end_patched(8, "<2H", 9, 9), "cut off"),
    ("several disks", lambda: end_patched(4, "<H", 1), "in parts"),
    ("a list elsewhere", lambda: end_patched(16, "<L", 5), "not where it should be"),
    ("a place outside", lambda: patched(42, "<L", 1_000_000), "lies over another file, or far"),
    ("a place in the middle", lambda: patched(42, "<L", 3), "lies over another file, or far"),
    ("longer than it is", lambda: patched(20, "<L", 5_000), "is cut off"),
    ("shorter than it is", lambda: patched(20, "<L", 4), "is cut off"),
    ("another name where its bytes are", lambda: patched(30, "<2B", 88, 88, central=False), "another file in the list"),
    ("another method where its bytes are", lambda: patched(8, "<H", 0, central=False), "another file in the list"),
    ("a sign that is none", lambda: patched(0, "<L", 0), "damaged"),
    ("a sign that is none where its bytes are", lambda: patched(0, "<L", 0, central=False), "another file in the list"),
)
