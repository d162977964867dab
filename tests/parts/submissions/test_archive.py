"""Archives of strangers: what is taken, and that nothing bad gets anywhere, be it to a disk or into a message."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutpurse.wire.archive import ArchiveError, contents, read_entry, unpack
from cutpurse.wire.packing import pack
from tests.parts.submissions.bad_archives import BAD, MANIFEST, bomb, good, quoted, zipped


def tree(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file beneath, with its mode."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode & 0o777)
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_what_was_packed_is_what_is_unpacked(tmp_path: Path) -> None:
    folder = tmp_path / "bot"
    (folder / "lib" / "deep").mkdir(parents=True)
    (folder / "bot.toml").write_bytes(MANIFEST)
    (folder / "sneak.py").write_bytes(b"x = 1\n" * 100_000)
    (folder / "lib" / "deep" / "tool").write_bytes(bytes(range(256)) * 400)
    (folder / "lib" / "deep" / "tool").chmod(0o755)
    packed = pack(folder)
    assert unpack(packed.content, tmp_path / "there") == packed.inflated
    assert tree(tmp_path / "there") == {
        "bot.toml": (MANIFEST, 0o644),
        "sneak.py": (b"x = 1\n" * 100_000, 0o644),
        "lib/deep/tool": (bytes(range(256)) * 400, 0o755),
    }
    assert (tmp_path / "there" / "lib").stat().st_mode & 0o777 == 0o755


def test_what_other_tools_write_is_taken_too(tmp_path: Path) -> None:
    stored = zipped([("bot.toml", MANIFEST), ("lib/", b""), ("lib/a.py", b"x" * 70_000), ("empty", b"")], stored=True)
    unpack(stored, tmp_path / "there")
    assert {name: len(body) for name, (body, _) in tree(tmp_path / "there").items()} == {
        "bot.toml": len(MANIFEST),
        "lib/a.py": 70_000,
        "empty": 0,
    }


def test_what_is_streamed_by_a_packer_is_taken(tmp_path: Path) -> None:
    script = (  # to a pipe, so that the packer does not know any size beforehand
        "import sys, zipfile\n"
        "with zipfile.ZipFile(sys.stdout.buffer, 'w', zipfile.ZIP_DEFLATED) as made:\n"
        "    made.writestr('bot.toml', 'x' * 5000); made.writestr('b', 'y' * 10)\n"
    )
    made = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, check=True).stdout
    assert [entry.name for entry in contents(made)] == ["bot.toml", "b"]
    unpack(made, tmp_path / "there")
    assert tree(tmp_path / "there")["b"] == (b"y" * 10, 0o644)


def test_an_archive_within_is_a_file_like_others(tmp_path: Path) -> None:
    assert unpack(quoted(), tmp_path / "there") < 20_000
    assert set(tree(tmp_path / "there")) == {"bot.toml", "inner.zip"}


@pytest.mark.parametrize(("make", "told"), [pytest.param(make, told, id=what) for what, make, told in BAD])
def test_a_bad_archive_is_refused_and_leaves_nothing_outside(
    tmp_path: Path, make: Callable[[], bytes], told: str
) -> None:
    archive = make()
    target = tmp_path / "above" / "target"
    target.parent.mkdir()
    began = time.process_time()
    with pytest.raises(ArchiveError) as raised:
        unpack(archive, target)
    assert time.process_time() - began < 2.0
    text = str(raised.value)
    assert told in text
    assert text.isascii()
    assert text.isprintable()
    assert len(text) < 400
    written = {path for path in tmp_path.rglob("*") if path not in (target.parent, target)}
    assert all(path.is_relative_to(target) and not path.is_symlink() for path in written)
    assert sum(path.stat().st_size for path in written) <= max(1024 * 1024, 100 * len(archive)) + 65_536


def test_a_bomb_costs_little_memory(tmp_path: Path) -> None:
    """In a process of its own, so that its most memory is that of the unpacking."""
    script = (
        "import sys, resource, pathlib\n"
        "from cutpurse.wire.archive import ArchiveError, unpack\n"
        "archive = pathlib.Path(sys.argv[1]).read_bytes()\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: unpack(archive, pathlib.Path(sys.argv[2]))\n"
        "except ArchiveError as problem: sys.stderr.write(str(problem))\n"
        "sys.stdout.write(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before))\n"
    )
    (tmp_path / "bomb.zip").write_bytes(bomb())
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path / "bomb.zip", tmp_path / "there"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "100 times" in done.stderr
    unit = 1024 if sys.platform == "linux" else 1
    assert int(done.stdout) * unit < 16 * 1024 * 1024


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_whatever_is_hurt_in_an_archive_it_is_read_or_refused(data: st.DataObject) -> None:
    archive = bytearray(good(sneak__py=b"print('hello')\n" * 30, lib__js=b"abc"))
    for _ in range(data.draw(st.integers(1, 4))):
        archive[data.draw(st.integers(0, len(archive) - 1))] = data.draw(st.integers(0, 255))
    try:
        for entry in contents(bytes(archive)):
            assert len(read_entry(bytes(archive), entry)) == entry.size
    except ArchiveError as problem:
        told = str(problem)
    else:
        told = ""
    assert told.isascii()
    assert told == "" or told.isprintable()


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400))
def test_no_bytes_are_more_than_refused(content: bytes) -> None:
    with pytest.raises(ArchiveError):
        contents(content)
