"""Ladders defined in a TOML file, each in a `[[ladder]]` table.

    [[ladder]]
    name = "greed-duel"
    game = "greed"
    title = "Greed for two"
    seats = 2
    settings = { rounds = 3 }
    clock = { base_ms = 500, bank_ms = 5000 }
    boards = "duplicate"
    hosted = false
    owners = ["ann", "bob"]
    private = true
    results_hidden_until = 2027-01-31T18:00:00Z
    names_hidden_until = 2027-01-31T18:00:00Z
    people = false
    max_bots = 60
    max_per_owner = 1
    pause_failed = 3
    pause_window = 8
    on_outage = "play"
    frozen = 2027-01-31T18:00:00+01:00
    house = ["random"]

Only name and game are required. This module checks the form; the league checks whether such a ladder can be played.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, date, datetime, tzinfo
from pathlib import Path
from typing import Any, Final

from cutpurse.engine.errors import UsageError
from cutpurse.v1 import game_pb2, ladder_pb2
from cutpurse.wire.toml_file import FileKey, check_keys, read_toml, setting_text

__all__ = ["CLOCK", "KEYS", "MOST_LADDERS", "board_kind", "moment_ms", "read_ladder", "read_ladders", "voids_outages"]

MOST_LADDERS: Final = 1_000
KEYS: Final = (
    FileKey("name", "name: 1 to 32 of `a-z`, `0-9`, `_`, `-` and `.`, beginning with a letter or digit"),
    FileKey("game", "game of the ladder"),
    FileKey("title", "what pages call the ladder, at most 80 characters", "its name"),
    FileKey("seats", "number of seats", "the game's default"),
    FileKey(
        "settings", "table of game settings: `{ NAME = VALUE }`; one without effect is refused", "the game's defaults"
    ),
    FileKey("clock.base_ms", "time per decision, in ms", "1,000; with `people` 90,000"),
    FileKey("clock.bank_ms", "time bank per match, in ms", "10,000; with `people` 900,000"),
    FileKey("clock.grace_ms", "network allowance per decision, in ms", "150; with `people` 1,000"),
    FileKey("clock.poll_floor_ms", "minimum duration of a simultaneous decision, in ms", "25"),
    FileKey("boards", "kind of boards: `plain`, `rotation` or `duplicate`", '`"plain"`'),
    FileKey("hosted", "true: only submitted and house bots play, and workers play the matches", "false"),
    FileKey("owners", "list of the owners whose bots may play", "every owner"),
    FileKey(
        "people",
        "true: owners also play in person, on the page; needs plain boards, not hosted, and base_ms of 20,000 or more",
        "false",
    ),
    FileKey("max_bots", "maximum simultaneous bots; 0 means no limit", "0"),
    FileKey("max_per_owner", "maximum simultaneous bots per owner, all versions together; 0 means no limit", "0"),
    FileKey("pause_failed", "pause a version after this many takeovers; 0 means never", "3"),
    FileKey("pause_window", "number of rated matches in which `pause_failed` counts", "8"),
    FileKey(
        "on_outage", "when a bot's language model is down: `void` the match, or `play` the safe option", '`"play"`'
    ),
    FileKey("private", "true: only owners who may play see results", "false"),
    FileKey(
        "results_hidden_until",
        "time until which only hosts see rankings and matches; without a time zone: UTC",
        "results are shown",
    ),
    FileKey(
        "names_hidden_until",
        "time until which only hosts see which bot plays in which seat, and results; without a time zone: UTC",
        "names are shown",
    ),
    FileKey("frozen", "date or time from which on no match starts", "never"),
    FileKey("house", "list of house bots that fill empty seats", "none"),
)
CLOCK: Final = tuple(key.name.partition(".")[2] for key in KEYS if key.name.startswith("clock."))
_NAMES: Final = tuple(dict.fromkeys(key.name.partition(".")[0] for key in KEYS))
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
    ladders = [read_ladder(table, f"{file}, ladder {number}") for number, table in enumerate(tables, 1)]
    names = [ladder.name for ladder in ladders]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{file} has the ladder {name!r:.80} twice")
    return ladders


def moment_ms(given: object, what: str, zone: tzinfo | None = None) -> int:
    """Convert a time to ms since 1970; a date means its beginning.

    Args:
        given: A date, a datetime, or text such as 2027-01-31 or 2027-01-31T18:00+01:00.
        what: Names the value in errors.
        zone: Time zone of a time that names none. Default: this machine's.

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
        moment = datetime(given.year, given.month, given.day)  # noqa: DTZ001 # its zone follows below
    if not isinstance(moment, datetime):
        raise UsageError(f"{what} is {given!r:.80}; it is a date, as 2027-01-31 or 2027-01-31T18:00:00+01:00")
    if moment.tzinfo is None and zone is not None:
        moment = moment.replace(tzinfo=zone)
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
        name.removeprefix("BOARD_KIND_").lower(): number
        for name, number in ladder_pb2.BoardKind.items()
        if number not in (ladder_pb2.BOARD_KIND_UNSPECIFIED, ladder_pb2.BOARD_KIND_TEST)
    }
    if not isinstance(given, str) or given not in kinds:
        raise UsageError(f"{what} is {given!r:.80}; it is one of: {', '.join(kinds)}")
    return kinds[given]


def voids_outages(given: object, what: str) -> bool:
    """Return whether outages void a match: "void" or "play".  Raises UsageError, which names `what`."""
    if given not in ("void", "play"):
        raise UsageError(f"{what} is {given!r:.80}; it is one of: void, play")
    return given == "void"


def read_ladder(table: Mapping[str, Any], where: str) -> ladder_pb2.LadderDefined:
    """Return the ladder of a table of a file.  Raises UsageError, which names `where`."""
    check_keys(table, _NAMES, where)
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
        hosted=_switch(table, "hosted", where),
        terms=ladder_pb2.LadderTerms(
            owners=_names(table, "owners", where),
            most_bots=_count(table, "max_bots", where),
            private=_switch(table, "private", where),
            frozen_ms=0 if frozen is None else moment_ms(frozen, f"{where}: frozen"),
            house=_names(table, "house", where),
            most_per_owner=_count(table, "max_per_owner", where),
            pause_failed=_count(table, "pause_failed", where) if "pause_failed" in table else None,
            pause_window=_count(table, "pause_window", where) if "pause_window" in table else None,
            voids_outages=voids_outages(table.get("on_outage", "play"), f"{where}: on_outage"),
            results_hidden_until_ms=_hidden_until_ms(table, "results_hidden_until", where),
            title=_text(table, "title", where),
            people=_switch(table, "people", where),
            names_hidden_until_ms=_hidden_until_ms(table, "names_hidden_until", where),
        ),
    )


def _hidden_until_ms(table: Mapping[str, Any], key: str, where: str) -> int:
    until = table.get(key)
    return 0 if until is None else moment_ms(until, f"{where}: {key}", UTC)


def _clock(written: Mapping[str, Any], where: str) -> ladder_pb2.LadderClock | None:
    for key in written:
        if key not in CLOCK:
            raise UsageError(f"{where}: there is no clock.{key!s:.80}; there are: {', '.join(CLOCK)}")
    if not written:
        return None
    return ladder_pb2.LadderClock(**{key: _count(written, key, f"{where}, clock") for key in written})


def _text(table: Mapping[str, Any], key: str, where: str) -> str:
    value = table.get(key, "")
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
