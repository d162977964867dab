"""`cutpurse bot style`: what a bot does, as numbers, from the records of its finished matches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.completion import complete_ladders, complete_ranked_bots
from cutpurse.cli.league_options import Authority, Database, Server, count, open_league, short
from cutpurse.cli.match_source import matches_in
from cutpurse.cli.progress import Progress
from cutpurse.engine.errors import RecordError, UsageError
from cutpurse.process.terminal import print_json, print_lines, print_message, table
from cutpurse.sdk.matches.match_file import read_matches
from cutpurse.wire.errors import NotFound
from cutpurse.wire.text import format_count, printable

if TYPE_CHECKING:
    from cutpurse.engine.record import Record
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import League

__all__ = ["style"]

MOST: Final = 500
USUAL: Final = 100
HOW: Final = "alike: 1 less the mean difference of the habits, without times; house bots play here, 12 matches each"


def style(
    bot: Annotated[
        str,
        typer.Argument(
            metavar="BOT",
            help="Bot as in the rankings, name or owner/name:version; with files, as in them.",
            autocompletion=complete_ranked_bots,
        ),
    ],
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE...]",
            help="Files of `cutpurse play --record` or `match download`, or folders of them, instead of a server.",
        ),
    ] = None,
    ladder: Annotated[
        str | None,
        typer.Option(
            metavar="LADDER",
            help="Only matches on this ladder. [default: every ladder]",
            autocompletion=complete_ladders,
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", help="Maximum number of newest matches, at most 500. [default: 100]")
    ] = None,
    server: Server = None,
    ca: Authority = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Show what a bot does, as numbers with 95 % intervals: how often it steals, from whom, when it stops, how fast.

    The numbers come from the records of matches that are over. A share counts only decisions with another choice. The
    last lines say which house bots play most alike, from 0 to 1.

    Example: cutpurse bot style my_bot --ladder greed
    """
    if files and (ladder is not None or limit is not None or server is not None or ca is not None or db is not None):
        raise UsageError("--ladder, --limit, --server, --ca and --db are for a server or database, not for files")
    most = count("--limit", limit, MOST) or USUAL
    with Progress("matches") as progress:
        if files:
            documents = _counted(_of_files(bot, files), progress, 0)
        else:
            with open_league(server, ca, db) as league:
                documents = _counted(_of_league(league, bot, ladder, most), progress, most)
    if not documents:
        raise NotFound(f"no record of a finished match of {printable(bot, 100)}; there is nothing to count")
    if as_json:
        print_json({"bot": bot, "games": documents})
        return
    for document in documents:
        print_lines(_lines(document))
    print_message(HOW)


def _counted(
    records: Iterator[tuple[Record, int, Sequence[int]]], progress: Progress, most: int
) -> list[dict[str, Any]]:
    """Count the bot's seats, and return its style by game and number of seats."""
    from cutpurse.lab.style.style_document import StyleMatches

    matches = StyleMatches()
    for number, (record, seat, thinking_ms) in enumerate(records, 1):
        try:
            matches.add(record, {seat: thinking_ms})
        except UsageError as problem:  # a record of other rules, or a game that is not installed
            print_message(f"left out: {printable(str(problem), 300)}")
        progress(number, max(number, most))
    return matches.documents()


def _of_files(bot: str, files: Sequence[Path]) -> Iterator[tuple[Record, int, Sequence[int]]]:
    """Yield the records of files in which the bot sat, once for each of its seats."""
    for given in files:
        for file in sorted(path for path in given.iterdir() if path.is_file()) if given.is_dir() else [given]:
            try:
                for filed in matches_in(file):
                    record = filed.record()
                    for seat, name in enumerate(record.seats):
                        if bot in (name, name.partition(" ")[0], name.partition(" ")[0].rpartition("/")[2]):
                            yield record, seat, ()
            except RecordError as problem:
                print_message(f"left out: the rest of {file}: {printable(str(problem), 300)}")


def _of_league(league: League, bot: str, ladder: str | None, most: int) -> Iterator[tuple[Record, int, Sequence[int]]]:
    """Yield the records of the bot's newest matches, once for each of its seats, with its times."""
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import bot_name

    name = bot_name(bot)
    request = ladder_pb2.ListMatchesRequest(ladder=ladder or "", bots=[name], limit=most)
    for match in league.ListMatches(request).matches:
        if match.void_cause:
            continue
        pieces = league.GetRecord(ladder_pb2.GetRecordRequest(match=match.match))
        content = b"".join([piece.piece for piece in pieces])
        courses = league.GetMatch(ladder_pb2.GetMatchRequest(match=match.match)).courses
        try:
            record = next(read_matches(content)).record()
        except (RecordError, StopIteration) as problem:
            print_message(f"left out: match {short(match.match)}: {printable(str(problem), 300)}")
            continue
        for seat in _seats_of(name, match):
            yield record, seat, list(courses[seat].thinking_ms) if seat < len(courses) else ()


def _seats_of(name: ladder_pb2.BotName, match: ladder_pb2.MatchShown) -> list[int]:
    """List the seats of a bot in a match.  Raises UsageError if bots of several owners have this name."""
    sat = [
        (seat, entry.bot.owner)
        for seat, entry in enumerate(match.seats)
        if entry.bot.bot == name.bot and name.version in ("", entry.bot.version) and name.owner in ("", entry.bot.owner)
    ]
    if len({owner for _, owner in sat}) > 1:
        raise UsageError(f"several owners have a bot {printable(name.bot, 64)}: write owner/name")
    return [seat for seat, _ in sat]


def _lines(document: dict[str, Any]) -> list[str]:
    """Describe the style in one game."""

    def between(interval: list[float] | None) -> str:
        return "too few matches" if interval is None else f"{interval[0]:.2f} to {interval[1]:.2f}"

    rows = [
        (row["habit"], row["mean"], between(row["interval"]), row["choices"], row["matches"])
        for row in document["habits"]
    ]
    head = f"{document['game']}, {document['seats']} seats, {format_count(document['matches'], 'match', 'matches')}"
    alike = [f"{row['bot']} ({row['similarity']:.2f}, {between(row['interval'])})" for row in document["alike"]]
    closest = f"plays most like: {', '.join(alike)}" if alike else "plays most like: too few matches"
    return [head, *table(("habit", "mean", "95 %", "choices", "matches"), rows), closest, ""]
