"""Ladders defined in a TOML file, each in a `[[ladder]]` table.

    [[ladder]]
    name = "greed-duel"
    game = "greed"
    seats = 2
    settings = { rounds = 3 }
    clock = { base_ms = 500, bank_ms = 5000 }
    boards = "duplicate"
    owners = ["ann", "bob"]
    private = true
    max_bots = 60
    max_per_owner = 1
    pause_failed = 3
    pause_window = 8
    frozen = 2027-01-31T18:00:00+01:00
    house = ["random"]

Only name and game are required. This module checks the form; the league checks whether such a ladder can be played.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

from cutpurse.engine.errors import UsageError
from cutpurse.sdk.toml_file import check_keys, read_toml, setting_text
from cutpurse.v1 import game_pb2, ladder_pb2

__all__ = ["CLOCK", "MOST_LADDERS", "board_kind", "moment_ms", "read_ladders"]

MOST_LADDERS: Final = 1_000
CLOCK: Final = ("base_ms", "bank_ms", "grace_ms", "poll_floor_ms")
_KEYS: Final = (
    "name",
    "game",
    "seats",
    "settings",
    "clock",
    "boards",
    "owners",
    "max_bots",
    "max_per_owner",
    "pause_failed",
    "pause_window",
    "private",
    "frozen",
    "house",
)
_MOST: Final = 2**32 - 1


def read_ladders(path: str | os.PathLike[str]) -> list[ladder_pb2.LadderDefined]:
    """Read the ladders of a file, in order.

    Raises:
        NotFound: If the file does not exist.
        UsageError: If it does not define ladders.
    """
    file = Path(path)
    written = read_toml(file, f"no file {file} with ladders")
    tables = written.pop("ladder", None)
    if written:
        raise UsageError(f"{file}: there is no key {next(iter(written))!r:.80}; ladders are tables [[ladder]]")
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise UsageError(f"{file} has no ladder; each is a table [[ladder]] with a name and a game")
    if len(tables) > MOST_LADDERS:
        raise UsageError(f"{file} has {len(tables):,} ladders; the maximum is {MOST_LADDERS:,}")
    ladders = [_ladder(table, f"{file}, ladder {number}") for number, table in enumerate(tables, 1)]
    names = [ladder.name for ladder in ladders]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{file} has the ladder {name!r:.80} twice")
    return ladders


def moment_ms(given: object, what: str) -> int:
    """Convert a time to ms since 1970; a date means its beginning, and the default time zone is this machine's.

    Args:
        given: A date, a datetime, or text such as 2027-01-31 or 2027-01-31T18:00+01:00.
        what: Names the value in errors.

    Raises:
        UsageError: If it is no such time.
    """
    moment = given
    if isinstance(given, str):
        try:
            moment = datetime.fromisoformat(given)
        except ValueError:
            raise UsageError(f"{what} is {given!r:.80}; it is as 2027-01-31 or 2027-01-31T18:00+01:00") from None
    elif isinstance(given, date) and not isinstance(given, datetime):
        moment = datetime(given.year, given.month, given.day)  # noqa: DTZ001 # in this machine's zone, below
    if not isinstance(moment, datetime):
        raise UsageError(f"{what} is {given!r:.80}; it is a date, as 2027-01-31 or 2027-01-31T18:00:00+01:00")
    try:
        ms = int(moment.astimezone(UTC).timestamp() * 1_000)
    except (OverflowError, ValueError, OSError):
        ms = 0
    if ms <= 0:
        raise UsageError(f"{what} is {given!s:.80}; it is a date after 1970 and before the year 9999")
    return ms


def board_kind(given: object, what: str) -> ladder_pb2.BoardKind.ValueType:
    """Return the kind of boards with this name.  Raises UsageError, which names `what`."""
    kinds = {
        name.removeprefix("BOARD_KIND_").lower(): number for name, number in ladder_pb2.BoardKind.items() if number
    }
    if not isinstance(given, str) or given not in kinds:
        raise UsageError(f"{what} is {given!r:.80}; it is one of: {', '.join(kinds)}")
    return kinds[given]


def _ladder(table: Mapping[str, Any], where: str) -> ladder_pb2.LadderDefined:
    check_keys(table, _KEYS, where)
    for key in ("name", "game"):
        if not table.get(key):
            raise UsageError(f"{where} has no {key}")
    frozen = table.get("frozen")
    return ladder_pb2.LadderDefined(
        name=_text(table, "name", where),
        game=_text(table, "game", where),
        seats=_count(table, "seats", where),
        settings=[
            game_pb2.Setting(name=name, value=setting_text(value, f"{where}, settings.{name}"))
            for name, value in _table(table, "settings", where).items()
        ],
        clock=_clock(_table(table, "clock", where), where),
        boards=board_kind(table["boards"], f"{where}: boards")
        if "boards" in table
        else ladder_pb2.BOARD_KIND_UNSPECIFIED,
        terms=ladder_pb2.LadderTerms(
            owners=_names(table, "owners", where),
            most_bots=_count(table, "max_bots", where),
            private=_switch(table, "private", where),
            frozen_ms=0 if frozen is None else moment_ms(frozen, f"{where}: frozen"),
            house=_names(table, "house", where),
            most_per_owner=_count(table, "max_per_owner", where),
            pause_failed=_count(table, "pause_failed", where) if "pause_failed" in table else None,
            pause_window=_count(table, "pause_window", where) if "pause_window" in table else None,
        ),
    )


def _clock(written: Mapping[str, Any], where: str) -> ladder_pb2.LadderClock | None:
    for key in written:
        if key not in CLOCK:
            raise UsageError(f"{where}: there is no clock.{key!s:.80}; there are: {', '.join(CLOCK)}")
    if not written:
        return None
    return ladder_pb2.LadderClock(**{key: _count(written, key, f"{where}, clock") for key in written})


def _text(table: Mapping[str, Any], key: str, where: str) -> str:
    value = table[key]
    if not isinstance(value, str):
        raise UsageError(f"{where}: {key} is {value!r:.80}; it is a text")
    return value


def _count(table: Mapping[str, Any], key: str, where: str) -> int:
    value = table.get(key, 0)
    if type(value) is not int or not 0 <= value <= _MOST:
        raise UsageError(f"{where}: {key} is {value!r:.80}; it is a number, 0 or more")
    return value


def _switch(table: Mapping[str, Any], key: str, where: str) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise UsageError(f"{where}: {key} is {value!r:.80}; it is true or false")
    return value


def _names(table: Mapping[str, Any], key: str, where: str) -> list[str]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise UsageError(f"{where}: {key} is {value!r:.80}; it is a list of names")
    return value


def _table(table: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise UsageError(f"{where}: {key} is {value!r:.80}; it is a table, as {{ NAME = VALUE }}")
    return value
