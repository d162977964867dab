"""What is kept of a folder that an untrusted program wrote: plain files within size and number, and nothing else."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from cutpurse.server.parts.submissions.memory_folder import (
    MAX_DEPTH,
    MAX_FILES,
    add_empty,
    pack_all,
    pack_folder,
    replace_folder,
    unpack_folder,
)

KIB = 1 << 10


def contents(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_files_come_back_and_the_same_files_have_the_same_hash(tmp_path: Path) -> None:
    files = {"a": b"", "b/c.bin": b"\0\n\xff", "b/d": b"x" * 100, "odd \n name": b"1"}
    packed = []
    for name, order in (("one", sorted(files)), ("two", sorted(files, reverse=True))):
        for path in order:
            (tmp_path / name / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name / path).write_bytes(files[path])
        packed.append(pack_folder(tmp_path / name, KIB))
    assert packed[0] == packed[1]
    content, left_out = packed[0]
    assert left_out == ""
    unpack_folder(content, tmp_path / "back")
    assert contents(tmp_path / "back") == files
    assert pack_folder(tmp_path / "back", KIB) == packed[0]


def test_a_name_that_is_no_text_comes_back(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    Path(os.fsdecode(os.fsencode(tmp_path / "a") + b"/\xff")).write_bytes(b"1")
    content, _ = pack_folder(tmp_path / "a", KIB)
    unpack_folder(content, tmp_path / "b")
    assert [os.fsencode(path.name) for path in (tmp_path / "b").iterdir()] == [b"\xff"]


@pytest.mark.parametrize(
    "content",
    [
        b"../a\x001\n1",
        b"/a\x001\n1",
        b"a/../../b\x001\n1",
        b"a//b\x001\n1",
        b".\x000\n",
        b"a\x00-9\n1",
        b"a\x002\n1",
        b"a\x00\n",
        b"a",
        b"a\x001",
        b"a\x00x\n1",
        b"a\x001\n1a/b\x001\n1",  # a file, and a folder of the same name
        b"a/b\x001\n1a\x001\n1",
        b"a" * 300 + b"\x001\n1",
        b"a\x00" + b"9" * 5_000 + b"\n1",
    ],
)
def test_what_is_no_memory_writes_nothing_and_changes_nothing(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "good").write_bytes(b"1")
    with pytest.raises(ValueError, match=r"."):
        replace_folder(content, tmp_path / "m")
    assert contents(tmp_path / "m") == {"good": b"1"}
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / "m" / "good"]


def test_all_memories_of_a_process_go_there_and_back(tmp_path: Path) -> None:
    for ladder in ("duel", "greed"):
        (tmp_path / "m" / ladder).mkdir(parents=True)
        (tmp_path / "m" / ladder / "n").write_text(ladder, encoding="utf-8")
    content, left_out = pack_all(tmp_path / "m")
    (tmp_path / "back").mkdir()
    replace_folder(content, tmp_path / "back")
    assert (contents(tmp_path / "back"), left_out) == ({"duel/n": b"duel", "greed/n": b"greed"}, "")


@pytest.mark.parametrize("ladder", ["", ".", "..", "../x", "/tmp/x", "a/b", "a\0b"])
def test_a_ladder_whose_name_leads_elsewhere_is_refused(ladder: str, tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    with pytest.raises(ValueError, match="name is a path"):
        add_empty(tmp_path / "m", ["duel", ladder])
    assert [*tmp_path.rglob("*")] == [tmp_path / "m", tmp_path / "m" / "duel"]


def test_no_file_and_no_folder_are_an_empty_memory(tmp_path: Path) -> None:
    assert pack_folder(tmp_path, KIB) == pack_folder(tmp_path / "gone", KIB) == (b"", "")
    assert sha256(b"").hexdigest().startswith("e3b0c442"), "its hash, as in the documentation"


def link(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def link_to_folder(path: Path) -> None:
    path.symlink_to("/etc")


def second_name(path: Path) -> None:
    (path.parent.parent / "secret").write_text("of another", encoding="utf-8")
    path.hardlink_to(path.parent.parent / "secret")


def pipe(path: Path) -> None:
    os.mkfifo(path)


def listening(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


@pytest.mark.parametrize("make", [link, link_to_folder, second_name, pipe, listening])
def test_what_is_no_plain_file_is_left_out(make: Callable[[Path], None], tmp_path: Path) -> None:
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "good").write_bytes(b"1")
    make(folder / "bad")
    content, left_out = pack_folder(folder, KIB)
    assert (content, left_out) == (b"good\x001\n1", "1 no plain file")


@pytest.mark.parametrize("make", [link_to_folder, pipe])
def test_a_folder_that_was_replaced_is_an_empty_memory(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / "m")
    assert pack_folder(tmp_path / "m", KIB) == (b"", "")


def test_a_full_folder_keeps_what_fits_by_path(tmp_path: Path) -> None:
    for name, size in (("a", 600), ("b", 600), ("c", 300)):
        (tmp_path / name).write_bytes(b"x" * size)
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    content, left_out = pack_folder(tmp_path, KIB)
    assert len(content) <= KIB
    assert left_out == "2 too large"
    unpack_folder(content, tmp_path / "back")
    assert {name: len(data) for name, data in contents(tmp_path / "back").items()} == {"a": 600, "c": 300}


def test_too_many_files_and_too_deep_ones_are_left_out(tmp_path: Path) -> None:
    for number in range(MAX_FILES + 3):
        (tmp_path / f"{number:04}").touch()
    deep = tmp_path
    for _ in range(MAX_DEPTH + 2):
        deep /= "d"
        deep.mkdir()
        (deep / "f").write_bytes(b"1")
    content, left_out = pack_folder(tmp_path, 64 * KIB)
    assert left_out == f"1 too deep, {3 + MAX_DEPTH} too many"
    unpack_folder(content, tmp_path / "back")
    assert len(contents(tmp_path / "back")) == MAX_FILES
