"""`cutpurse ladder overall`: one table of the bots of several ladders."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Final

import typer

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.completion import complete_ladders
from cutpurse.cli.league_options import Authority, Database, Server, asked, ladder_named
from cutpurse.engine.errors import UsageError
from cutpurse.experiments.overall import OverallRow, PlacedMatch, overall_table
from cutpurse.process.terminal import print_json, print_lines, print_message, table
from cutpurse.wire.errors import NotFound, needs
from cutpurse.wire.text import printable

if TYPE_CHECKING:
    from cutpurse.wire.league import League

__all__ = ["overall"]

PAGE: Final = 500  # matches of an answer; a server gives no more


def overall(
    ladders: Annotated[
        list[str], typer.Argument(metavar="LADDER...", help="Names of ladders.", autocompletion=complete_ladders)
    ],
    matches: Annotated[
        int, typer.Option(metavar="N", min=1, help="Number of newest rated matches of each ladder to use.")
    ] = 3_000,
    server: Server = None,
    ca: Authority = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Rank bots over several ladders, and so over several games, by one strength each.

    Each ladder counts alike, however many matches it has. All versions of a bot count together. The ratings are on the
    scale of Elo: 1500 is the mean, and 400 points are odds of 10 to 1. A bot that is not on every ladder has no rank.
    Needs the extra `overall`.

    Example: cutpurse ladder overall greed szmal
    """
    if len(set(ladders)) < len(ladders):
        raise UsageError("a ladder is named twice: name each once")
    with needs("overall"):
        import choix  # noqa: F401
    placed: list[PlacedMatch] = []
    with asked(server, ca, db) as league:
        for ladder in ladders:
            name = ladder_named(league, ladder).defined.name
            found = list(islice(_rated(league, name), matches))
            if not found:
                raise NotFound(f"ladder {printable(name, 64)} has no rated matches yet")
            placed += found
    rows = overall_table(placed)
    if as_json:
        print_json({"ladders": ladders, "matches": len(placed), "bots": [_row(row) for row in rows]})
        return
    cells = [
        (
            row.rank or "",
            row.bot,
            f"{row.rating:.0f}",
            f"{row.low:.0f}-{row.high:.0f}",
            *(f"{row.matches.get(ladder, 0):,}" for ladder in ladders),
        )
        for row in rows
    ]
    print_lines(table(("rank", "bot", "rating", "95 %", *(printable(ladder, 32) for ladder in ladders)), cells))
    print_message(f"from {len(placed):,} rated matches; the last columns are the matches of each bot by ladder")


def _rated(league: League, ladder: str) -> Iterator[PlacedMatch]:
    """Yield the rated matches of a ladder, the newest first."""
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.placed_matches import placed_matches

    before = 0
    while True:
        page = league.ListMatches(ladder_pb2.ListMatchesRequest(ladder=ladder, limit=PAGE, before=before))
        yield from placed_matches(page.matches)
        if not page.next or page.next == before:  # the last page, or a server that sends the same page again
            return
        before = page.next


def _row(row: OverallRow) -> dict[str, object]:
    return {
        "rank": row.rank,
        "bot": row.bot,
        "rating": round(row.rating, 2),
        "low": round(row.low, 2),
        "high": round(row.high, 2),
        "matches": dict(row.matches),
    }
