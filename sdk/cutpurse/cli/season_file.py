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
from datetime import UTC
from pathlib import Path
from typing import Final

from cutpurse.cli.ladder_file import KEYS as LADDER_KEYS
from cutpurse.cli.ladder_file import moment_ms, read_ladder
from cutpurse.engine.errors import UsageError
from cutpurse.v1 import event_pb2
from cutpurse.wire.league import bot_name, format_bot_name
from cutpurse.wire.toml_file import FileKey, TomlTable, read_toml

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
_NOT_HERE: Final = (
    "frozen",
    "hosted",
    "max_bots",
    "memory_kib",
    "people",
    "title",
)  # keys of a ladder that divisions do not have
_OF_LADDER: Final = tuple(key.name for key in LADDER_KEYS if key.name not in _NOT_HERE)
_TIME: Final = re.compile(r"(\d{1,9})([smhd])")
_UNITS_MS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def read_season(path: str | os.PathLike[str]) -> event_pb2.SeasonRequest:
    """Read the series of seasons of a file.

    Raises:
        NotFound: If the file does not exist.
        UsageError: If it does not define seasons.
    """
    file = Path(path)
    written = TomlTable(read_toml(file, f"no file {file} with seasons"), str(file))
    written.check_keys((*_OF_LADDER, *[key.name for key in KEYS]))
    divisions = written.tables("division")
    final = written.table("final")
    if final.content and not final.content.get("top"):
        raise UsageError(f"{file} has no final.top, the number of its bots")
    ladder = {key: value for key, value in written.content.items() if key not in _OWN}
    return event_pb2.SeasonRequest(
        ladder=read_ladder(TomlTable(ladder, written.where)),
        divisions=[_division(table) for table in divisions],
        matches=written.number("matches"),
        lasts_ms=_time_ms(written, "lasts"),
        ends_ms=moment_ms(written.content["ends"], f"{file}: ends", UTC) if "ends" in written else 0,
        pause_ms=_time_ms(written, "pause"),
        seasons=written.number("seasons"),
        away_ms=_time_ms(written, "away"),
        final_top=final.number("top"),
        final_best_of=final.number("best_of"),
        seeds=written.text("seeds", ""),
    )


def _division(table: TomlTable) -> event_pb2.DivisionRequest:
    table.check_keys(("size", "down", "bots"))
    bots = [bot_name(bot) for bot in table.texts("bots")]
    for bot in bots:
        if bot.version:
            name = format_bot_name(bot)
            raise UsageError(f"{table.where}: {name!r:.80} names a version; a bot plays a season in its newest one")
    return event_pb2.DivisionRequest(size=table.number("size"), down=table.number("down"), bots=bots)


def _time_ms(table: TomlTable, key: str) -> int:
    """Return a duration in ms, 0 without one."""
    duration = _TIME.fullmatch(table.text(key, "0s"))
    if duration is None:
        raise table.wrong(key, "a time such as '7d', '12h', '30m' or '45s'")
    return int(duration[1]) * _UNITS_MS[duration[2]]
