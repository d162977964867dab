"""A folder for a new bot in another language: a copy of our bot in it, under a new name, with the .proto files.

The originals are installed beside the bots in Python. This module knows no command line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from cutpurse.engine.errors import UsageError
from cutpurse.games import GAMES
from cutpurse.sdk.starter.place import new_folder
from cutpurse.sdk.starter.templates import AGENTS, agents_text
from cutpurse.wire.errors import NotFound
from cutpurse.wire.manifest import MANIFEST, read_manifest

__all__ = ["LANGUAGES", "PYTHON", "check_language", "source_of", "write_in"]

PYTHON: Final = "python"
LANGUAGES: Final = (PYTHON, "javascript", "typescript", "go", "java", "cpp", "rust")
USUAL: Final = "greed"  # game of the examples
PAGE: Final = "README.md"
PROTOS: Final = ("arena.proto", "game.proto")  # all protos that a bot needs
MADE: Final = ("node_modules", "out", "proto", "target")  # by a build, or by this module


def check_language(language: str) -> None:
    """Check that there is a bot in this language.  Raises UsageError."""
    if language not in LANGUAGES:
        raise UsageError(f"no bot is written in {language!r:.40} here; there are: {', '.join(LANGUAGES)}")


def source_of(language: str) -> Path:
    """Return the folder of our bot in a language other than Python.

    Raises:
        UsageError: If there is no such bot.
        NotFound: If it is not installed.
    """
    check_language(language)
    here = Path(__file__).resolve()
    for folder in (here.parents[2] / "bots" / language, here.parents[4] / "sample_bots" / language):
        if (folder / MANIFEST).is_file():
            return folder
    raise NotFound(f"the bot in {language} did not come with this installation: install cutpurse anew")


def write_in(language: str, name: str, where: Path) -> list[Path]:
    """Write the folder `where / name`; return its files.

    Raises:
        UsageError: If there is no bot in the language, the name is invalid, or the folder exists.
    """
    from cutpurse.v1 import arena_pb2  # slow import

    source = source_of(language)
    folder = new_folder(name, where)
    contents = {file.relative_to(source): file.read_bytes() for file in sorted(_files(source))}
    for path in (Path(MANIFEST), Path(PAGE)):
        contents[path] = _renamed(contents[path].decode("utf-8"), name).encode("utf-8")
    v1 = Path(arena_pb2.__file__).parent
    contents |= {Path("proto", "cutpurse", "v1", proto): (v1 / proto).read_bytes() for proto in PROTOS}
    command = read_manifest(contents[Path(MANIFEST)]).run
    contents[Path(AGENTS)] = agents_text(name, GAMES[USUAL], command).encode("utf-8")
    for path, content in contents.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return [folder / path for path in contents]


def _files(source: Path) -> Iterator[Path]:
    """Yield all files except those made by a build."""
    for path in source.iterdir():
        if path.is_file():
            yield path
        elif path.name not in MADE:
            yield from _files(path)


def _renamed(text: str, name: str) -> str:
    """Put the bot's name into a page or a bot.toml."""
    text = re.sub(r'^name = ".*"$', f'name = "{name}"', text, count=1, flags=re.MULTILINE)
    text = re.sub(r"\A# A bot", f"# {name}, a bot", text)
    return re.sub(r"CUTPURSE_BOT=\w+", f"CUTPURSE_BOT={name}", text)
