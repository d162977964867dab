"""A tournament that a server plays, defined in a TOML file.

    ladder = "class"
    bots = ["ann/sneak", "bob/thug", "cid/fox"]

    [format]
    kind = "double_elimination"
    best_of = 3

This module checks the form; the server knows the ladder and the bots.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cutpurse.engine.errors import UsageError
from cutpurse.experiments.brackets import DOUBLE_ELIMINATION, ELIMINATION
from cutpurse.wire.toml_file import FileKey, check_keys, read_toml

__all__ = ["FORMATS", "KEYS", "ServerTournament", "read_server_tournament"]

FORMATS: Final = (ELIMINATION, "round_robin", DOUBLE_ELIMINATION)  # in the order of their numbers on the wire
MOST: Final = 1_000  # largest number in a file
KEYS: Final = (
    FileKey("ladder", "ladder whose rules are played and whose ranking gives the seeds"),
    FileKey("bots", "list of bots, as `owner/name` or `owner/name:version`", "the best `top` of the ranking"),
    FileKey("top", "number of the best bots of the ranking, instead of `bots`", "the bots of `bots`"),
    FileKey("format.kind", "`elimination`, `double_elimination` or `round_robin`", '`"elimination"`'),
    FileKey("format.best_of", "maximum boards of a duel, an odd number", "1"),
)
_NAMES: Final = tuple(dict.fromkeys(key.name.partition(".")[0] for key in KEYS))


@dataclass(frozen=True, slots=True)
class ServerTournament:
    """What a tournament on a server is to be; either `bots` or `top` is set."""

    ladder: str
    form: str
    best_of: int
    bots: tuple[str, ...]
    top: int


def read_server_tournament(path: str | os.PathLike[str]) -> ServerTournament:
    """Read the tournament of a file.

    Raises:
        NotFound: If the file does not exist.
        UsageError: If it defines no valid tournament.
    """
    file = Path(path)
    written = read_toml(file, f"no tournament {file}")
    check_keys(written, _NAMES, f"{file}")
    ladder = written.get("ladder")
    if not isinstance(ladder, str) or not ladder:
        raise UsageError(f"{file}: ladder is {ladder!r:.80}; it is the name of a ladder")
    bots = written.get("bots", [])
    if not isinstance(bots, list) or not all(isinstance(bot, str) for bot in bots):
        raise UsageError(f"{file}: bots is {bots!r:.80}; it is a list of texts: ['ann/sneak', 'bob/thug']")
    if bool(bots) == ("top" in written):
        raise UsageError(f"{file} is to have bots = ['ann/sneak', 'bob/thug'] or top = 8: one of them")
    form = written.get("format", {})
    if not isinstance(form, dict):
        raise UsageError(f"{file}: format is {form!r:.80}; it is a table")
    check_keys(form, ("kind", "best_of"), f"{file}, format")
    kind = form.get("kind", ELIMINATION)
    if kind not in FORMATS:
        raise UsageError(f"{file}, format: kind is {kind!r:.80}; there are: {', '.join(FORMATS)}")
    top = _number(written, "top", 1, f"{file}") if "top" in written else 0
    return ServerTournament(ladder, kind, _number(form, "best_of", 1, f"{file}, format"), tuple(bots), top)


def _number(table: Mapping[str, Any], key: str, default: int, where: str) -> int:
    value = table.get(key, default)
    if type(value) is not int or not 1 <= value <= MOST:
        raise UsageError(f"{where}: {key} is {value!r:.80}; it is a number from 1 to {MOST:,}")
    return value
