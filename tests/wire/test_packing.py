"""A folder becomes an archive: which files, which bytes, and what is refused before it is sent."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import pytest

from cutpurse.engine.errors import UsageError
from cutpurse.wire import packing
from cutpurse.wire.errors import NotFound
from cutpurse.wire.packing import pack

MANIFEST = 'name = "sneak"\nrun = ["python", "sneak.py"]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A bot of two files."""
    made = tmp_path / "sneak"
    made.mkdir()
    (made / "bot.toml").write_text(MANIFEST)
    (made / "sneak.py").write_text("print('hello')\n")
    return made


def names(folder: Path) -> list[str]:
    return [name for name, _ in pack(folder).files]


def test_the_same_files_are_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    first = pack(folder)
    other = tmp_path / "elsewhere"
    other.mkdir()
    for name in ("sneak.py", "bot.toml"):  # in another order, at another time
        (other / name).write_bytes((folder / name).read_bytes())
        os.utime(other / name, (1, 1))
    assert pack(other).content == first.content
    (other / "sneak.py").write_text("print('good bye')\n")
    assert pack(other).digest != first.digest


def test_what_is_unpacked_is_what_was_packed(folder: Path) -> None:
    (folder / "bin").mkdir()
    (folder / "bin" / "tool").write_bytes(b"\x7fELF")
    (folder / "bin" / "tool").chmod(0o755)
    packed = pack(folder)
    with zipfile.ZipFile(io.BytesIO(packed.content)) as zipped:
        told = {info.filename: (zipped.read(info), info.external_attr >> 16 & 0o777) for info in zipped.infolist()}
    assert told == {
        "bin/tool": (b"\x7fELF", 0o755),
        "bot.toml": (MANIFEST.encode(), 0o644),
        "sneak.py": (b"print('hello')\n", 0o644),
    }
    assert packed.inflated == 4 + len(MANIFEST) + 15


def test_what_nobody_wants_in_it_is_left_out(folder: Path) -> None:
    for name in (".git/config", "__pycache__/a.pyc", ".venv/lib/x.py", "deep/__pycache__/b.pyc", ".env", "tls.key"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    (folder / "node_modules" / "@grpc" / "grpc-js").mkdir(parents=True)
    (folder / "node_modules" / "@grpc" / "grpc-js" / "index.js").write_text("x")
    packed = pack(folder)
    assert [name for name, _ in packed.files] == ["bot.toml", "node_modules/@grpc/grpc-js/index.js", "sneak.py"]
    assert packed.left_out == (".env", ".git/", ".venv/", "__pycache__/", "deep/__pycache__/", "tls.key")


def test_an_ignore_file_is_read_as_that_of_git(folder: Path) -> None:
    (folder / ".cutpurseignore").write_text("# what is mine\n*.log\n/out\ndata/\n!keep.log\n")
    for name in ("a.log", "keep.log", "out", "sub/out", "data/x", "sub/b.log", "sub/data/y"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    assert names(folder) == [".cutpurseignore", "bot.toml", "keep.log", "sneak.py", "sub/out"]


def test_bot_toml_may_leave_files_out_too(folder: Path) -> None:
    (folder / "bot.toml").write_text(MANIFEST + '[files]\nignore = ["*.md", "bot.toml"]\n')
    (folder / "README.md").write_text("x")
    assert names(folder) == ["bot.toml", "sneak.py"]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("a\nb", "cannot be packed"),
        ("\u202eevil.py", "letters, digits"),
        ("c:x", "cannot be packed"),
        ("a\\b", "packed"),
    ],
)
def test_names_that_a_server_would_refuse_are_refused_here(folder: Path, name: str, told: str) -> None:
    (folder / name).write_text("x")
    with pytest.raises(UsageError, match=told) as raised:
        pack(folder)
    assert "\n" not in str(raised.value)


def test_links_are_not_followed(folder: Path) -> None:
    (folder / "secrets").symlink_to("/etc/passwd")
    with pytest.raises(UsageError, match="is a link"):
        pack(folder)
    (folder / ".cutpurseignore").write_text("secrets\n")
    assert names(folder) == [".cutpurseignore", "bot.toml", "sneak.py"]


def test_other_things_than_files_are_refused(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    with pytest.raises(UsageError, match="no file that can be packed"):
        pack(folder)


def test_too_much_is_refused_with_what_to_do(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "big").write_bytes(os.urandom(3_000))
    for name, most, told in (
        ("MOST_PACKED", 2_000, "when packed; the maximum is 2,000"),
        ("MOST_FILES", 2, "3 files; the maximum is 2"),
        ("MOST_INFLATED", 1_000, "the last of them big"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(packing, name, most)
            with pytest.raises(UsageError, match=told):
                pack(folder)


def test_what_is_started_must_be_packed(folder: Path) -> None:
    (folder / "bot.toml").write_text('name = "sneak"\nrun = ["python", "snaek.py"]\n')
    with pytest.raises(UsageError, match=r"run names 'snaek\.py', which is not among what is packed"):
        pack(folder)


def test_a_script_that_builds_must_be_packed_and_its_shell_need_not(folder: Path) -> None:
    (folder / "bot.toml").write_text(
        'name = "sneak"\nruntime = "native"\nbuild = ["sh", "build.sh"]\nrun = ["out/bot"]\n'
    )
    with pytest.raises(UsageError, match=r"build names 'build\.sh', which is not among what is packed"):
        pack(folder)
    (folder / "build.sh").write_text("mkdir out\n")
    assert "build.sh" in names(folder)


def test_a_folder_without_bot_toml_is_told_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no bot\.toml.*bot init"):
        pack(tmp_path)
    with pytest.raises(NotFound):
        pack(tmp_path / "nowhere")
