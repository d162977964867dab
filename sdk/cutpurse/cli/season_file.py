"""Series of seasons in a TOML file: one ladder's rules, and a `[[division]]` table for each division.

    name = "cup"
    game = "greed"
    seats = 3
    house = ["random"]
    matches = 100
    lasts = "7d"
    pause = "1d"
    seasons = 4
    final = { top = 4, best_of = 3 }

    [[division]]
    size = 8
    down = 2
    bots = ["ann/sneak", "bob/thug"]

    [[division]]

This module checks the form; the server checks whether such seasons can be played.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import UTC
from pathlib import Path
from typing import Any, Final

from cutpurse.cli.ladder_file import KEYS as LADDER_KEYS
from cutpurse.cli.ladder_file import moment_ms, read_ladder
from cutpurse.engine.errors import UsageError
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.league import bot_name
from cutpurse.wire.toml_file import FileKey, check_keys, read_toml

__all__ = ["KEYS", "read_season"]

KEYS: Final = (
    FileKey("name", "name: 1 to 24 characters of a ladder's name; its ladders are `NAME-1-s1`, `NAME-2-s1` and so on"),
    FileKey("matches", "a season ends when each bot has played this many rated matches", "their number doesn't matter"),
    FileKey("lasts", 'a season ends after this time, such as `"7d"`, `"12h"`, `"45s"`', "time doesn't matter"),
    FileKey("ends", "with `seasons = 1`: time at which it ends; without a time zone: UTC", "none"),
    FileKey("pause", "time between the end of a season and the next one", '`"0s"`'),
    FileKey("seasons", "number of seasons", "until you stop them"),
    FileKey("away", "a bot that has been away for this time has left", '`"1d"`'),
    FileKey("final.top", "this many of the best of the first division play a knock-out final, 2 to 64", "no final"),
    FileKey("final.best_of", "maximum boards of a duel of the final, an odd number", "1"),
    FileKey("seeds", "ladder whose ranking fills the divisions of the first season", "`bots` of the divisions"),
    FileKey("division.size", "maximum number of bots; the last division has none"),
    FileKey("division.down", "bots that go down after a season, and up from the next division", "0"),
    FileKey("division.bots", "its bots in the first season, as `OWNER/NAME`; all others begin in the last one", "none"),
)
_OWN: Final = ("matches", "lasts", "ends", "pause", "seasons", "away", "final", "seeds", "division")
_NOT_HERE: Final = ("frozen", "hosted", "max_bots", "people", "title")  # keys of a ladder that divisions do not have
_OF_LADDER: Final = tuple(
    name for name in dict.fromkeys(key.name.partition(".")[0] for key in LADDER_KEYS) if name not in _NOT_HERE
)
_TIME: Final = re.compile(r"(\d{1,9})([smhd])")
_UNITS_MS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_MOST: Final = 2**32 - 1


def read_season(path: str | os.PathLike[str]) -> ladder_pb2.SeasonWanted:
    """Read the series of seasons of a file.

    Raises:
        NotFound: If the file does not exist.
        UsageError: If it does not define seasons.
    """
    file = Path(path)
    written = read_toml(file, f"no file {file} with seasons")
    where = str(file)
    check_keys(written, (*_OF_LADDER, *_OWN), where)
    divisions = written.get("division")
    if not isinstance(divisions, list) or not divisions or not all(isinstance(table, dict) for table in divisions):
        raise UsageError(f"{file} has no division; each is a table [[division]], the first one first")
    final = written.get("final", {})
    if not isinstance(final, dict):
        raise UsageError(f"{file}: final is {final!r:.80}; it is a table, as {{ top = 4, best_of = 3 }}")
    check_keys(final, ("top", "best_of"), f"{where}, final")
    if final and not final.get("top"):
        raise UsageError(f"{file}: final has no top, the number of its bots")
    seeds = written.get("seeds", "")
    if not isinstance(seeds, str):
        raise UsageError(f"{file}: seeds is {seeds!r:.80}; it is the name of a ladder")
    return ladder_pb2.SeasonWanted(
        ladder=read_ladder({key: value for key, value in written.items() if key not in _OWN}, where),
        divisions=[_division(table, f"{where}, division {number}") for number, table in enumerate(divisions, 1)],
        matches=_count(written, "matches", where),
        lasts_ms=_time_ms(written, "lasts", where),
        ends_ms=moment_ms(written["ends"], f"{where}: ends", UTC) if "ends" in written else 0,
        pause_ms=_time_ms(written, "pause", where),
        seasons=_count(written, "seasons", where),
        away_ms=_time_ms(written, "away", where),
        final_top=_count(final, "top", f"{where}, final"),
        final_best_of=_count(final, "best_of", f"{where}, final"),
        seeds=seeds,
    )


def _division(table: Mapping[str, Any], where: str) -> ladder_pb2.DivisionWanted:
    check_keys(table, ("size", "down", "bots"), where)
    bots = table.get("bots", [])
    if not isinstance(bots, list) or not all(isinstance(bot, str) for bot in bots):
        raise UsageError(f"{where}: bots is {bots!r:.80}; it is a list of bots, each as owner/name")
    named = [bot_name(bot) for bot in bots]
    for bot, name in zip(named, bots, strict=True):
        if bot.version:
            raise UsageError(f"{where}: {name!r:.80} names a version; a bot plays a season in its newest one")
    return ladder_pb2.DivisionWanted(size=_count(table, "size", where), down=_count(table, "down", where), bots=named)


def _count(table: Mapping[str, Any], key: str, where: str) -> int:
    value = table.get(key, 0)
    if type(value) is not int or not 0 <= value <= _MOST:
        raise UsageError(f"{where}: {key} is {value!r:.80}; it is a number, 0 or more")
    return value


def _time_ms(table: Mapping[str, Any], key: str, where: str) -> int:
    """Return a duration in ms, 0 without one."""
    value = table.get(key, "0s")
    found = _TIME.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise UsageError(f"{where}: {key} is {value!r:.80}; it is a time such as '7d', '12h', '30m' or '45s'")
    return int(found[1]) * _UNITS_MS[found[2]]
