"""The manifest of a bot, `bot.toml`: its name, its games, and how to build and start it.

    name = "sneak"
    version = "1"
    games = ["greed"]
    runtime = "python"
    run = ["python", "sneak.py"]

    [limits]
    memory_mb = 256
    tables = 4

    [files]
    ignore = ["notebooks/"]

Errors are one line. This module knows no archive and no server.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from cutpurse.engine.errors import UsageError
from cutpurse.games import GAMES
from cutpurse.wire.text import NAME
from cutpurse.wire.toml_file import FileKey, TomlTable, parse_toml

__all__ = [
    "KEYS",
    "MANIFEST",
    "MEMORY_MB",
    "RUNTIMES",
    "TABLES",
    "Manifest",
    "read_manifest",
]

MANIFEST: Final = "bot.toml"
MOST_BYTES: Final = 65_536
RUNTIMES: Final[Mapping[str, str]] = {
    "python": "the server's Python, with this SDK",
    "node": "the server's Node",
    "native": "a program in the folder itself",
}
MEMORY_MB: Final = (256, 16, 1_024)  # default, smallest and largest value
TABLES: Final = (4, 1, 64)
MOST_WORDS: Final = 64
MOST_WORD: Final = 1_000  # characters

KEYS: Final = (
    FileKey("name", "name in the rankings: 1 to 32 of a-z, 0-9, `_`, `-` and `.`"),
    FileKey("version", "each version has its own ranking entry and never changes", '`"1"`'),
    FileKey("games", "list of games to play", "every game"),
    FileKey("runtime", "`python`, `node` or `native`", '`"python"`'),
    FileKey("run", "list of words: the command that starts the bot, in its folder"),
    FileKey("build", "list of words: a command to run once before, in the folder, without a network", "none"),
    FileKey("limits.memory_mb", "memory of all its processes together, 16 to 1,024 MiB", "256"),
    FileKey("limits.tables", "maximum number of simultaneous matches, 1 to 64", "4"),
    FileKey("files.ignore", "list of patterns of files not to pack, as in `.cutpurseignore`", "none"),
)


@dataclass(frozen=True, slots=True)
class Manifest:
    """The content of bot.toml. No `games` means every game."""

    name: str
    version: str
    games: tuple[str, ...]
    runtime: str
    run: tuple[str, ...]
    build: tuple[str, ...] = ()
    memory_mb: int = MEMORY_MB[0]
    tables: int = TABLES[0]
    ignore: tuple[str, ...] = ()


def read_manifest(content: bytes, where: str = MANIFEST) -> Manifest:
    """Parse a manifest; `where` names it in errors.  Raises UsageError, in one line."""
    written = TomlTable(parse_toml(content, where, MOST_BYTES), where)
    written.check_keys([key.name for key in KEYS])
    limits, files = written.table("limits"), written.table("files")
    runtime = written.choice("runtime", RUNTIMES, "python")
    run = _command(written, "run")
    if not run:
        raise UsageError(f'{where} has no run, the command that starts the bot, as run = ["python", "my_bot.py"]')
    build = _command(written, "build")
    for key, command in (("run", run), ("build", build)):
        _check_program(key, command, runtime, where)
    return Manifest(
        name=_name(written, "name", None),
        version=_name(written, "version", "1"),
        games=_games(written),
        runtime=runtime,
        run=run,
        build=build,
        memory_mb=limits.number("memory_mb", *MEMORY_MB),
        tables=limits.number("tables", *TABLES),
        ignore=files.texts("ignore"),
    )


def _check_program(key: str, command: tuple[str, ...], runtime: str, where: str) -> None:
    """Check that the first word is the runtime or a file in the folder, and that no word leads out of it."""
    if key == "build" and command[:1] == ("sh",):
        runtime = "native"  # a script builds for any runtime
    for number, word in enumerate(command):
        path = PurePosixPath(word)
        if ".." in path.parts or (number == 0 and path.is_absolute()):
            raise UsageError(f"{where}: {key} names {word!r:.80}, which is not in the folder; only what is, is packed")
    if command and runtime == "native" and command[0] in ("python", "python3", "node"):
        meant = "node" if command[0] == "node" else "python"
        raise UsageError(f"{where}: {key} begins with {command[0]!r}, so runtime is {meant!r}, not 'native'")
    if command and runtime in ("python", "node") and "/" not in command[0] and command[0] != runtime:
        raise UsageError(
            f"{where}: {key} begins with {command[0]!r:.80}; with runtime {runtime!r} it begins with {runtime!r}, "
            "or with ./ and a program in the folder"
        )


def _games(written: TomlTable) -> tuple[str, ...]:
    games = written.texts("games")
    for game in games:
        if game not in GAMES:
            raise UsageError(f"{written.where}: no game is called {game!r:.80}; there are: {', '.join(GAMES)}")
    return tuple(dict.fromkeys(games))


def _name(written: TomlTable, key: str, default: str | None) -> str:
    name = written.text(key, default)
    if not NAME.fullmatch(name):
        raise written.wrong(key, "a name: 1 to 32 of a-z, 0-9, _, - and ., the first a letter or digit")
    return name


def _command(written: TomlTable, key: str) -> tuple[str, ...]:
    given = written.content.get(key, [])
    words = [given] if isinstance(given, str) else given
    is_list = isinstance(given, list) and all(isinstance(word, str) and word for word in words)
    if not is_list or len(words) > MOST_WORDS or any(len(word) > MOST_WORD or not word.isprintable() for word in words):
        raise written.wrong(key, 'a list of words, as ["python", "my_bot.py"]')
    return tuple(words)
