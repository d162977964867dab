"""What the commands that ask a league have in common: where it is, moments, pages, and words for what it tells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

import typer

from cutpurse.engine.errors import UsageError
from cutpurse.sdk.errors import NotFound
from cutpurse.sdk.online.server_address import CA_VARIABLE, DEFAULT_SERVER, SERVER_VARIABLE
from cutpurse.sdk.terminal import printable

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from cutpurse.sdk.league import League
    from cutpurse.v1 import ladder_pb2

__all__ = [
    "Authority",
    "Database",
    "Written",
    "Server",
    "asked",
    "bot_row",
    "count",
    "interval",
    "iso",
    "ladder_named",
    "local_time",
    "short",
    "since_ms",
    "skill_row",
]

SHORT: Final = 12  # signs of a match's name: two of a million begin alike once in five hundred leagues
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

Server: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="ADDRESS",
        help=f"host:port, https://host:port or unix:/path; else {SERVER_VARIABLE}, or {DEFAULT_SERVER}.",
    ),
]
Authority: TypeAlias = Annotated[
    Path | None,
    typer.Option("--ca", metavar="FILE", help=f"Certificates to trust it by; else {CA_VARIABLE}, or the usual."),
]
Database: TypeAlias = Annotated[
    Path | None, typer.Option("--db", metavar="FILE", help="Read a server's database instead of asking a server.")
]
Written: TypeAlias = Annotated[
    Path | None,
    typer.Option("--db", metavar="FILE", help="Write a server's database, which no server may have open, instead."),
]


@contextmanager
def asked(server: str | None, ca: Path | None, db: Path | None) -> Iterator[League]:
    """The league that is meant."""
    from cutpurse.sdk.league import league_at  # gRPC takes a while

    with league_at(server, ca, db) as league:
        yield league


def ladder_named(league: League, ladder: str) -> ladder_pb2.LadderShown:
    """A ladder by its name.  Raises NotFound, which names those that there are."""
    from cutpurse.v1 import ladder_pb2

    for one in league.ListLadders(ladder_pb2.ListLaddersRequest()).ladders:
        if one.defined.name == ladder:
            return one
    league.ListRankings(ladder_pb2.ListRankingsRequest(ladder=ladder, limit=1))  # says what there is
    raise NotFound(f"there is no ladder {printable(ladder, 64)}")


def count(flag: str, given: int | None, most: int = 2**32 - 1) -> int:
    """A number that is sent; 0 if none was given.  Raises UsageError."""
    if given is None:
        return 0
    if not 0 < given <= most:
        raise UsageError(f"{flag} {given}: it is a number from 1 to {most:,}")
    return given


def interval(skill: ladder_pb2.SkillShown) -> str:
    """Format where a pairing skill lies with a probability of 95 %, as low-high."""
    return f"{skill.mu - 1.96 * skill.sigma:.1f}-{skill.mu + 1.96 * skill.sigma:.1f}"


def since_ms(flag: str, given: str | None) -> int:
    """A moment that is asked from, as ms since 1970: so many days or hours ago, or a date; 0 if none was given."""
    from cutpurse.sdk.ladder_file import moment_ms

    if given is None:
        return 0
    if found := re.fullmatch(r"(\d{1,5})([dh])", given, re.ASCII):
        ago = int(found[1]) * timedelta(**{"days" if found[2] == "d" else "hours": 1})
        return max(1, int((datetime.now(UTC) - ago).timestamp() * 1_000))
    try:
        return moment_ms(given, flag)
    except UsageError as problem:
        raise UsageError(f"{problem}, or so long ago, as 7d or 12h") from None


def iso(ms: int) -> str | None:
    """A moment in UTC, as ISO 8601; None if there is none."""
    return None if ms == 0 else _moment(ms).isoformat(timespec="milliseconds")


def local_time(ms: int) -> str:
    """A moment as whoever reads it has it on the wall, to the minute and with the zone; empty if there is none."""
    return "" if ms == 0 else _moment(ms).astimezone().strftime("%Y-%m-%d %H:%M %Z")


def _moment(ms: int) -> datetime:
    try:
        return _EPOCH + timedelta(milliseconds=ms)
    except OverflowError:  # whoever sends that does not mean it
        return datetime.max.replace(tzinfo=UTC)


def short(match: str) -> str:
    """Enough of a match's name to ask for it."""
    return printable(match, SHORT)


def bot_row(bot: ladder_pb2.BotName) -> dict[str, str]:
    """A bot, for a JSON document."""
    return {"owner": bot.owner, "bot": bot.bot, "version": bot.version}


def skill_row(message: Message, name: str) -> dict[str, float] | None:
    """Return a pairing skill for a JSON document; None where it is absent."""
    skill: Any = getattr(message, name)
    return {"mu": skill.mu, "sigma": skill.sigma} if message.HasField(name) else None
