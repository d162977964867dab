"""`cutpurse ladder rankings --overall`: one table of the bots of several ladders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cutpurse.cli.league_options import ladder_named, open_league
from cutpurse.engine.errors import UsageError
from cutpurse.leaderboard.statistics.overall import OverallRow, PlacedMatch, overall_table
from cutpurse.process.terminal import print_json, print_lines, print_message, table
from cutpurse.wire.errors import NotFound, needs
from cutpurse.wire.text import format_count, printable

if TYPE_CHECKING:
    from cutpurse.wire.league import League

__all__ = ["print_overall"]

PAGE: Final = 500  # matches of an answer; a server gives no more


def print_overall(
    ladders: Sequence[str], matches: int, server: str | None, ca: Path | None, db: str | None, as_json: bool
) -> None:
    """Print a table of the bots of several ladders, from the newest rated matches of each.

    Raises:
        UsageError: If a ladder is named twice.
        NotFound: If a ladder does not exist or has no rated matches.
        ExtraMissing: If a library is not installed.
    """
    if len(set(ladders)) < len(ladders):
        raise UsageError("a ladder is named twice: name each once")
    with needs("overall"):
        import choix  # noqa: F401
    placed: list[PlacedMatch] = []
    with open_league(server, ca, db) as league:
        for ladder in ladders:
            name = ladder_named(league, ladder).defined.name
            results = list(islice(_rated(league, name), matches))
            if not results:
                raise NotFound(f"ladder {printable(name, 64)} has no rated matches yet")
            placed += results
    rows = overall_table(placed)
    if as_json:
        print_json({"ladders": [*ladders], "matches": len(placed), "bots": [_row(row) for row in rows]})
        return
    cells = [
        (
            row.rank or "",
            row.bot,
            f"{row.elo:.0f}",
            f"{row.low:.0f}-{row.high:.0f}",
            *(f"{row.matches.get(ladder, 0):,}" for ladder in ladders),
        )
        for row in rows
    ]
    print_lines(table(("rank", "bot", "Elo", "95 %", *(printable(ladder, 32) for ladder in ladders)), cells))
    rated = format_count(len(placed), "rated match", "rated matches")
    print_message(f"from {rated}; the last columns are the matches of each bot by ladder")
    print_message(
        "Elo is one strength over all these ladders; the rating on one ladder is in `cutpurse ladder rankings LADDER`"
    )


def _rated(league: League, ladder: str) -> Iterator[PlacedMatch]:
    """Yield the rated matches of a ladder, the newest first."""
    from cutpurse.sdk.matches.placed_matches import placed_matches
    from cutpurse.v1 import ladder_pb2

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
        "elo": round(row.elo, 2),
        "low": round(row.low, 2),
        "high": round(row.high, 2),
        "matches": dict(row.matches),
    }
