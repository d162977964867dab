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
    replays_hidden_until = 2027-01-31T18:00:00Z
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
from datetime import UTC, date, datetime, tzinfo
from pathlib import Path
from typing import Final

from cutpurse.engine.errors import UsageError
from cutpurse.v1 import game_pb2, ladder_pb2
from cutpurse.wire.toml_file import FileKey, TomlTable, read_toml

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
    FileKey("memory_kib", "KiB that a submitted bot keeps in a folder from match to match, at most 1,024", "0: none"),
    FileKey(
        "replays_hidden_until",
        "time until which only hosts and the owners of its bots see how a match goes; without a time zone: UTC",
        "replays are shown",
    ),
    FileKey("frozen", "date or time from which on no match starts", "never"),
    FileKey("house", "list of house bots that fill empty seats", "none"),
)
CLOCK: Final = tuple(key.name.partition(".")[2] for key in KEYS if key.name.startswith("clock."))
OUTAGES: Final = ("void", "play")  # what becomes of a match when a bot's language model is down


def read_ladders(path: str | os.PathLike[str]) -> list[ladder_pb2.LadderDefined]:
    """Read the ladders of a file, in order.

    Raises:
        NotFound: If the file does not exist.
        UsageError: If it does not define ladders.
    """
    file = Path(path)
    written = TomlTable(read_toml(file, f"no file {file} with ladders"), str(file))
    for key in written.content.keys() - {"ladder"}:
        raise UsageError(f"{file}: there is no key {key!r:.80}; ladders are tables [[ladder]]")
    tables = written.tables("ladder")
    if len(tables) > MOST_LADDERS:
        raise UsageError(f"{file} has {len(tables):,} ladders; the maximum is {MOST_LADDERS:,}")
    ladders = [read_ladder(table) for table in tables]
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
    if given not in OUTAGES:
        raise UsageError(f"{what} is {given!r:.80}; it is one of: {', '.join(OUTAGES)}")
    return given == "void"


def read_ladder(table: TomlTable) -> ladder_pb2.LadderDefined:
    """Return the ladder of a table of a file.  Raises UsageError."""
    table.check_keys([key.name for key in KEYS])
    where, clock = table.where, table.table("clock")
    frozen = table.content.get("frozen")
    return ladder_pb2.LadderDefined(
        name=table.text("name"),
        game=table.text("game"),
        seats=table.number("seats"),
        settings=[game_pb2.Setting(name=name, value=value) for name, value in table.settings().items()],
        clock=ladder_pb2.LadderClock(**{key: clock.number(key) for key in clock.content}) if clock.content else None,
        boards=board_kind(table.content["boards"], f"{where}: boards")
        if "boards" in table
        else ladder_pb2.BOARD_KIND_UNSPECIFIED,
        hosted=table.switch("hosted"),
        terms=ladder_pb2.LadderTerms(
            owners=table.texts("owners"),
            most_bots=table.number("max_bots"),
            private=table.switch("private"),
            frozen_ms=0 if frozen is None else moment_ms(frozen, f"{where}: frozen"),
            house=table.texts("house"),
            most_per_owner=table.number("max_per_owner"),
            pause_failed=table.number("pause_failed") if "pause_failed" in table else None,
            pause_window=table.number("pause_window") if "pause_window" in table else None,
            voids_outages=table.choice("on_outage", OUTAGES, "play") == "void",
            results_hidden_until_ms=_hidden_until_ms(table, "results_hidden_until"),
            title=table.text("title", ""),
            people=table.switch("people"),
            names_hidden_until_ms=_hidden_until_ms(table, "names_hidden_until"),
            memory_kib=table.number("memory_kib"),
            replays_hidden_until_ms=_hidden_until_ms(table, "replays_hidden_until"),
        ),
    )


def _hidden_until_ms(table: TomlTable, key: str) -> int:
    until = table.content.get(key)
    return 0 if until is None else moment_ms(until, f"{table.where}: {key}", UTC)
