"""A folder with a bot as one archive: the same files always give the same bytes.

That holds for one build of Python: another may have another zlib, with equivalent output in other bytes.

Files are packed in the order of their names, with one fixed time and one of two modes. Left out are the patterns of
`USUAL`, of `.cutpurseignore` and of files.ignore in bot.toml. A pattern is a line as in .gitignore: `*.log` anywhere,
`/out` only at the top, `data/` a folder with its content, `!keep.log` is packed after all. `node_modules` is packed,
since a build on the server has no network to install it. Links are not followed. This module knows no server.
"""

from __future__ import annotations

import os
import re
import stat
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import translate
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Final

from cutpurse.engine.errors import UsageError
from cutpurse.wire.errors import NotFound
from cutpurse.wire.manifest import MANIFEST, Manifest, read_manifest

__all__ = [
    "IGNORE",
    "MOST_DEPTH",
    "MOST_FILES",
    "MOST_INFLATED",
    "MOST_NAME",
    "MOST_PACKED",
    "NAME_SIGNS",
    "USUAL",
    "Packed",
    "pack",
]

IGNORE: Final = ".cutpurseignore"
USUAL: Final = (
    ".git/",
    ".hg/",
    ".svn/",
    "__pycache__/",
    "*.pyc",
    ".cutpurse/",
    ".venv/",
    "venv/",
    ".tox/",
    ".mypy_cache/",
    ".ruff_cache/",
    ".pytest_cache/",
    ".idea/",
    ".vscode/",
    ".DS_Store",
    ".env",
    "*.pem",
    "*.key",
)
# Limits of a server; see `docs/how-to/submissions.md`.
MOST_PACKED: Final = 16 * 1024 * 1024
MOST_INFLATED: Final = 64 * 1024 * 1024
MOST_FILES: Final = 2_000
MOST_DEPTH: Final = 16
MOST_NAME: Final = 255  # bytes of a whole path
NAME_SIGNS: Final = re.compile(r"[A-Za-z0-9_.@+,=~()\[\]{}!#$%&^ -]+")  # allowed characters of one part of a path
_TIME: Final = (1980, 1, 1, 0, 0, 0)  # the earliest time that an archive can hold
_REGULAR: Final = 0o100_000


@dataclass(frozen=True, slots=True)
class Packed:
    """A packed bot.

    Attributes:
        files: Names and sizes of the packed files.
        left_out: Files and folders that patterns exclude.
    """

    manifest: Manifest
    content: bytes
    files: tuple[tuple[str, int], ...]
    left_out: tuple[str, ...]

    @property
    def digest(self) -> bytes:
        """SHA-256 of the archive."""
        return sha256(self.content).digest()

    @property
    def inflated(self) -> int:
        """The total size of the files in bytes."""
        return sum(size for _, size in self.files)


def pack(folder: Path) -> Packed:
    """Pack a folder.

    Raises:
        NotFound: If the folder does not exist.
        UsageError: If a server would reject the archive.
    """
    if not folder.is_dir():
        raise NotFound(f"there is no folder {folder}")
    try:
        content = (folder / MANIFEST).read_bytes()
    except FileNotFoundError:
        raise UsageError(
            f"{folder} has no {MANIFEST}, which says how the bot is started; `cutpurse bot init` writes one"
        ) from None
    except OSError as problem:
        raise UsageError(f"{folder / MANIFEST} cannot be read: {problem.strerror}") from None
    manifest = read_manifest(content, str(folder / MANIFEST))
    rules = [_Rule(pattern) for pattern in (*USUAL, *_written(folder / IGNORE), *manifest.ignore)]
    left_out: list[str] = []
    entries = sorted(_list_files(folder, "", rules, left_out))
    _check_run(manifest, [name for name, _ in entries], folder)
    return _packed(manifest, folder, entries, tuple(sorted(left_out)))


def _packed(manifest: Manifest, folder: Path, entries: Sequence[tuple[str, int]], left_out: tuple[str, ...]) -> Packed:
    if len(entries) > MOST_FILES:
        raise UsageError(f"{folder} has {len(entries):,} files; the maximum is {MOST_FILES:,}: name some in {IGNORE}")
    archive, files, total = BytesIO(), [], 0
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as zipped:
        for name, mode in entries:
            content = _read(folder / name)
            total += len(content)
            if total > MOST_INFLATED:
                raise UsageError(
                    f"{folder} has more than {MOST_INFLATED // 2**20} MiB of files, the last of them {name}: "
                    f"name some in {IGNORE}"
                )
            info = zipfile.ZipInfo(name, _TIME)
            info.create_system = 3  # Unix, on every system
            info.external_attr = (_REGULAR | mode) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            zipped.writestr(info, content)
            files.append((name, len(content)))
    content = archive.getvalue()
    if len(content) > MOST_PACKED:
        raise UsageError(
            f"{folder} is {len(content):,} bytes when packed; the maximum is {MOST_PACKED:,}: name some in {IGNORE}"
        )
    return Packed(manifest, content, tuple(files), left_out)


def _list_files(folder: Path, within: str, rules: Sequence[_Rule], left_out: list[str]) -> Iterator[tuple[str, int]]:
    """Yield the files to pack, as paths from the top with their modes."""
    try:
        entries = sorted(os.scandir(folder / within), key=lambda entry: entry.name)
    except OSError as problem:
        raise UsageError(f"{folder / within} cannot be read: {problem.strerror}") from None
    for entry in entries:
        name = f"{within}{entry.name}"
        is_folder = entry.is_dir(follow_symlinks=False)
        if _is_ignored(name, is_folder, rules) and name != MANIFEST:
            left_out.append(f"{name}/" if is_folder else name)
        elif is_folder:
            yield from _list_files(folder, f"{name}/", rules, left_out)
        elif entry.is_symlink():
            raise UsageError(f"{folder / name} is a link, and links are not packed: copy what it names, or ignore it")
        elif not entry.is_file(follow_symlinks=False):
            raise UsageError(f"{folder / name} is no file that can be packed; name it in {IGNORE}")
        else:
            _check_name(folder, name)
            is_program = entry.stat(follow_symlinks=False).st_mode & stat.S_IXUSR
            yield name, 0o755 if is_program else 0o644


def _check_name(folder: Path, name: str) -> None:
    parts = name.split("/")
    for part in parts:
        if not NAME_SIGNS.fullmatch(part) or part != part.strip(" ") or part.endswith("."):
            raise UsageError(
                f"{str(folder / name)!r:.200} cannot be packed: names may have letters, digits and common ASCII "
                f"characters; rename it, or list it in {IGNORE}"
            )
    if len(name) > MOST_NAME or len(parts) > MOST_DEPTH:
        raise UsageError(
            f"{str(folder / name)!r:.200} cannot be packed: a name has at most {MOST_NAME} characters and "
            f"{MOST_DEPTH} parts"
        )


def _check_run(manifest: Manifest, names: Sequence[str], folder: Path) -> None:
    """Check that the files named in the commands are packed.  Raises UsageError."""
    for key, command in (("run", manifest.run), ("build", manifest.build)):
        for word in command:
            path = word.removeprefix("./")
            looks_like_a_file = bool(re.search(r"\.(py|mjs|cjs|js|sh)$", path))
            is_program = word is command[0] and word not in (manifest.runtime, "sh")
            made = bool(manifest.build) and key == "run"  # the build may create it
            if (is_program or looks_like_a_file) and path not in names and not made:
                raise UsageError(f"{folder / MANIFEST}: {key} names {word!r:.80}, which is not among what is packed")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise UsageError(f"{path} cannot be read: {problem.strerror}") from None


def _written(path: Path) -> list[str]:
    """Return the patterns of an ignore file."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError):
        raise UsageError(f"{path} cannot be read") from None
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


class _Rule:
    """A pattern of files to leave out, or with `!` to pack."""

    def __init__(self, pattern: str) -> None:
        self.keeps = pattern.startswith("!")
        bare = pattern.removeprefix("!")
        self.is_for_folders = bare.endswith("/")
        bare = bare.rstrip("/")
        self._is_whole = "/" in bare  # matches whole paths, or names alone
        self._matches = re.compile(translate(bare.removeprefix("/"))).match

    def names(self, name: str, is_folder: bool) -> bool:
        """Return whether the pattern matches."""
        if self.is_for_folders and not is_folder:
            return False
        return self._matches(name if self._is_whole else name.rpartition("/")[2]) is not None


def _is_ignored(name: str, is_folder: bool, rules: Sequence[_Rule]) -> bool:
    """Return whether the last matching pattern excludes the file."""
    last_rule = next((rule for rule in reversed(rules) if rule.names(name, is_folder)), None)
    return last_rule is not None and not last_rule.keeps
