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

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import Any, Final

from cutpurse.engine.errors import UsageError
from cutpurse.games import GAMES
from cutpurse.wire.toml_file import FileKey

__all__ = [
    "KEYS",
    "MANIFEST",
    "MEMORY_MB",
    "NAME",
    "RUNTIMES",
    "TABLES",
    "Manifest",
    "read_manifest",
]

MANIFEST: Final = "bot.toml"
MOST_BYTES: Final = 65_536
NAME: Final = re.compile(r"[a-z0-9][a-z0-9_.-]{0,31}")  # as in Hello.bot and Hello.version
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
    if len(content) > MOST_BYTES:
        raise UsageError(f"{where} has {len(content):,} bytes; the maximum is {MOST_BYTES:,}")
    try:
        written = tomllib.loads(content.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise UsageError(f"{where} is no TOML: {' '.join(str(problem).split())[:200]}") from None
    _check_keys(written, "", where)
    limits, files = (_table(written, key, where) for key in ("limits", "files"))
    runtime = _text(written, "runtime", "python", where)
    if runtime not in RUNTIMES:
        raise UsageError(f"{where}: runtime is {runtime!r:.80}; it can be: {', '.join(RUNTIMES)}")
    run = _command(written, "run", where)
    if not run:
        raise UsageError(f'{where} has no run, the command that starts the bot, as run = ["python", "my_bot.py"]')
    build = _command(written, "build", where)
    for key, command in (("run", run), ("build", build)):
        _check_program(key, command, runtime, where)
    return Manifest(
        name=_name(written, "name", None, where),
        version=_name(written, "version", "1", where),
        games=_games(written, where),
        runtime=runtime,
        run=run,
        build=build,
        memory_mb=_number(limits, "memory_mb", MEMORY_MB, where),
        tables=_number(limits, "tables", TABLES, where),
        ignore=_texts(files, "ignore", f"{where}: files."),
    )


def _check_keys(table: Mapping[str, Any], within: str, where: str) -> None:
    """Check that all keys are known; suggest a key for a mistyped one.  Raises UsageError."""
    known = [one.name for one in KEYS]
    tables = {key.partition(".")[0] for key in known if "." in key}
    for key, value in table.items():
        full = f"{within}{key}"
        if full in tables:
            _check_keys(value if isinstance(value, dict) else {}, f"{full}.", where)
        elif full not in known:
            near = get_close_matches(full, known, 1, 0.6)
            hint = f"is {near[0]} meant?" if near else f"there are: {', '.join(known)}"
            raise UsageError(f"{where}: there is no key {full!r:.80}; {hint}")


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


def _games(written: Mapping[str, Any], where: str) -> tuple[str, ...]:
    games = _texts(written, "games", f"{where}: ")
    for game in games:
        if game not in GAMES:
            raise UsageError(f"{where}: no game is called {game!r:.80}; there are: {', '.join(GAMES)}")
    return tuple(dict.fromkeys(games))


def _name(written: Mapping[str, Any], key: str, usual: str | None, where: str) -> str:
    if usual is None and key not in written:
        raise UsageError(f"{where} has no {key}")
    name = _text(written, key, usual or "", where)
    if not NAME.fullmatch(name):
        raise UsageError(
            f"{where}: {key} is {name!r:.80}; it has 1 to 32 of a-z, 0-9, _, - and ., the first a letter or digit"
        )
    return name


def _command(written: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    given = written.get(key, [])
    words = [given] if isinstance(given, str) else given
    is_list = isinstance(given, list) and all(isinstance(word, str) and word for word in words)
    if not is_list or len(words) > MOST_WORDS or any(len(word) > MOST_WORD or not word.isprintable() for word in words):
        raise UsageError(f'{where}: {key} is {given!r:.80}; it is a list of words, as ["python", "my_bot.py"]')
    return tuple(words)


def _text(table: Mapping[str, Any], key: str, usual: str, where: str) -> str:
    value = table.get(key, usual)
    if not isinstance(value, str):
        raise UsageError(f"{where}: {key} is {value!r:.80}; it is a text, in quotes")
    return value


def _texts(table: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise UsageError(f"{where}{key} is {value!r:.80}; it is a list of texts")
    return tuple(value)


def _table(written: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
    value = written.get(key, {})
    if not isinstance(value, dict):
        raise UsageError(f"{where}: {key} is {value!r:.80}; it is a table, [{key}]")
    return value


def _number(table: Mapping[str, Any], key: str, bounds: tuple[int, int, int], where: str) -> int:
    usual, least, most = bounds
    value = table.get(key, usual)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise UsageError(f"{where}: limits.{key} is {value!r:.80}; it is a number from {least} to {most:,}")
    return value
