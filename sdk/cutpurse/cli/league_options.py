"""The common parts of commands that query a league: its address, times, pages, and formats."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

import typer

from cutpurse.cli.completion import complete_databases
from cutpurse.engine.errors import UsageError
from cutpurse.wire.errors import NotFound
from cutpurse.wire.server_address import CA_VARIABLE, DEFAULT_SERVER, SERVER_VARIABLE
from cutpurse.wire.text import printable

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import League

__all__ = [
    "Authority",
    "Database",
    "Written",
    "Server",
    "WithInner",
    "bot_row",
    "count",
    "interval",
    "iso",
    "ladder_named",
    "local_time",
    "open_league",
    "short",
    "since_ms",
    "skill_row",
    "utc_time",
]

SHORT: Final = 12  # characters of a match ID: in one of 500 leagues with a million matches, two share them
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

Server: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="ADDRESS",
        help=f"host:port, https://host:port or unix:/path. [default: ${SERVER_VARIABLE}, or {DEFAULT_SERVER}]",
    ),
]
Authority: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--ca", metavar="FILE", help=f"Certificates to trust, PEM. [default: ${CA_VARIABLE}, or the system's]"
    ),
]
Database: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--db", metavar="FILE", autocompletion=complete_databases, help="Read this database instead of a server."
    ),
]
Written: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="FILE",
        autocompletion=complete_databases,
        help="Change this database instead of a server's; no server may have it open.",
    ),
]
WithInner: TypeAlias = Annotated[
    bool, typer.Option("--all", help="Also inner ladders and bots, with which people play on the page.")
]


@contextmanager
def open_league(server: str | None, ca: Path | None, db: str | None) -> Iterator[League]:
    """Open the league of a server or database."""
    from cutpurse.wire.league import league_at  # slow, as it imports gRPC

    with league_at(server, ca, db) as league:
        yield league


def ladder_named(league: League, ladder: str) -> ladder_pb2.LadderShown:
    """Return the ladder with this name.  Raises NotFound, which lists the ladders."""
    from cutpurse.v1 import ladder_pb2

    for entry in league.ListLadders(ladder_pb2.ListLaddersRequest(with_inner=True)).ladders:
        if entry.defined.name == ladder:
            return entry
    league.ListRankings(ladder_pb2.ListRankingsRequest(ladder=ladder, limit=1))  # its error lists the ladders
    raise NotFound(f"there is no ladder {printable(ladder, 64)}")


def count(flag: str, given: int | None, most: int = 2**32 - 1) -> int:
    """Check a number to send; return 0 if none was given.  Raises UsageError."""
    if given is None:
        return 0
    if not 0 < given <= most:
        raise UsageError(f"{flag} {given}: it is a number from 1 to {most:,}")
    return given


def interval(skill: ladder_pb2.SkillShown) -> str:
    """Format a pairing skill with its 95 % interval, as a rating is formatted."""
    return f"{skill.mu:.1f} ({skill.mu - 1.96 * skill.sigma:.1f} to {skill.mu + 1.96 * skill.sigma:.1f})"


def since_ms(flag: str, given: str | None) -> int:
    """Convert a date, or a number of days or hours ago, to ms since 1970; return 0 if none was given."""
    from cutpurse.cli.ladder_file import moment_ms

    if given is None:
        return 0
    if parts := re.fullmatch(r"(\d{1,5})([dh])", given, re.ASCII):
        ago = int(parts[1]) * timedelta(**{"days" if parts[2] == "d" else "hours": 1})
        return max(1, int((datetime.now(UTC) - ago).timestamp() * 1_000))
    try:
        return moment_ms(given, flag)
    except UsageError as problem:
        raise UsageError(f"{problem}, or so long ago, as 7d or 12h") from None


def iso(ms: int) -> str | None:
    """Format a time in UTC as ISO 8601; None for 0."""
    return None if ms == 0 else _moment(ms).isoformat(timespec="milliseconds")


def local_time(ms: int) -> str:
    """Format a time in the local time zone, to the minute; empty for 0."""
    return "" if ms == 0 else _moment(ms).astimezone().strftime("%Y-%m-%d %H:%M %Z")


def utc_time(ms: int) -> str:
    """Format a time in UTC, to the minute."""
    return _moment(ms).strftime("%Y-%m-%d %H:%M UTC")


def _moment(ms: int) -> datetime:
    try:
        return _EPOCH + timedelta(milliseconds=ms)
    except OverflowError:  # a server's mistake
        return datetime.max.replace(tzinfo=UTC)


def short(match: str) -> str:
    """Return a prefix of a match ID that is long enough to request the match."""
    return printable(match, SHORT)


def bot_row(bot: ladder_pb2.BotName) -> dict[str, Any]:
    """Return a bot for a JSON document; `person` says that it is the owner in person, and no program."""
    return {"owner": bot.owner, "bot": bot.bot, "version": bot.version, "person": bot.person}


def skill_row(message: Message, name: str) -> dict[str, float] | None:
    """Return a pairing skill for a JSON document; None where it is absent."""
    skill: Any = getattr(message, name)
    return {"mu": skill.mu, "sigma": skill.sigma} if message.HasField(name) else None
