"""The files of a bot on their way to a place: the same bytes each time, and nothing outside the target."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from hashlib import sha256
from pathlib import Path

import pytest

from cutpurse.server.parts.submissions import packed_files
from cutpurse.server.parts.submissions.packed_files import FilesError, pack_files, unpack_files


def tree(where: Path) -> Path:
    folder = where / "tree"
    (folder / "lib").mkdir(parents=True)
    (folder / "bot.py").write_text("print(1)\n")
    (folder / "run.sh").write_text("exit\n")
    (folder / "run.sh").chmod(0o700)
    (folder / "lib" / "data").write_bytes(bytes(range(256)))
    (folder / "python").symlink_to("/usr/bin/python3")
    return folder


def content_of(folder: Path) -> dict[str, tuple[str, bytes]]:
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = ("link", os.fsencode(path.readlink()))
        elif path.is_file():
            found[name] = (f"{path.stat().st_mode & 0o777:o}", path.read_bytes())
        else:
            found[name] = (f"{path.stat().st_mode & 0o777:o}", b"")
    return found


def test_files_arrive_as_they_were(tmp_path: Path) -> None:
    digest, content = pack_files(tree(tmp_path))
    assert sha256(content).digest() == digest
    unpack_files(content, tmp_path / "there")
    assert content_of(tmp_path / "there") == {
        "bot.py": ("644", b"print(1)\n"),
        "lib": ("755", b""),
        "lib/data": ("644", bytes(range(256))),
        "python": ("link", b"/usr/bin/python3"),
        "run.sh": ("755", b"exit\n"),
    }


def test_the_same_files_are_the_same_bytes(tmp_path: Path) -> None:
    folder = tree(tmp_path)
    before = pack_files(folder)
    os.utime(folder / "bot.py", (1, 1))
    assert pack_files(folder) == before
    (folder / "bot.py").write_text("print(2)\n")
    assert pack_files(folder)[0] != before[0]


def test_what_is_no_file_is_not_packed(tmp_path: Path) -> None:
    os.mkfifo(tree(tmp_path) / "pipe")
    with pytest.raises(FilesError, match="'pipe' is no file, folder or link"):
        pack_files(tmp_path / "tree")


def test_too_many_bytes_are_not_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_files, "MAX_PACKED_BYTES", 100)
    with pytest.raises(FilesError, match="packed, as much as a place takes"):
        pack_files(tree(tmp_path))


def packed(*members: tuple[str, bytes, str]) -> bytes:
    """An archive of members: name, kind, and content or target."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name, kind, text in members:
            member = tarfile.TarInfo(name)
            member.type = kind
            if kind == tarfile.REGTYPE:
                member.size = len(text)
            else:
                member.linkname = text
            archive.addfile(member, io.BytesIO(text.encode()) if kind == tarfile.REGTYPE else None)
    return made.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        packed(("../x", tarfile.REGTYPE, "x")),
        packed(("/tmp/x", tarfile.REGTYPE, "x")),
        packed(("out", tarfile.SYMTYPE, "/"), ("out/x", tarfile.REGTYPE, "x")),
        packed(("nowhere/x", tarfile.REGTYPE, "x")),
        packed(("x", tarfile.LNKTYPE, "/etc/passwd")),
        packed(("x", tarfile.CHRTYPE, "")),
        b"no archive",
        gzip.compress(b"no archive" * 100),
        packed(("x", tarfile.REGTYPE, "x" * 2_000))[:40],
    ],
    ids=["above", "absolute", "link and below", "no folder", "hard link", "device", "text", "packed text", "cut off"],
)
def test_a_bad_archive_writes_nothing_outside(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "in").mkdir()
    with pytest.raises(FilesError):
        unpack_files(content, tmp_path / "in" / "target")
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
    assert [path.name for path in (tmp_path / "in").iterdir()] == ["target"]


def test_an_archive_that_inflates_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_files, "MAX_UNPACKED_BYTES", 1_000)
    with pytest.raises(FilesError, match="too large"):
        unpack_files(packed(("x", tarfile.REGTYPE, "x" * 2_000)), tmp_path / "there")
