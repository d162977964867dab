"""`cutpurse ladder circles`: bots that beat each other in a circle, and rankings that circles don't break."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.completion import complete_ladders
from cutpurse.cli.league_options import Authority, Database, Server, ladder_named, open_league
from cutpurse.process.terminal import print_json, print_lines, print_message, table
from cutpurse.wire.errors import NotFound, needs
from cutpurse.wire.text import format_count, printable

if TYPE_CHECKING:
    from cutpurse.leaderboard.statistics.circles import Circle, Edge, Encounter

__all__ = ["circles"]

CIRCLES: Final = 5  # the strongest ones, in the table; --json has all


def circles(
    ladder: Annotated[
        str, typer.Argument(metavar="LADDER", help="Name of the ladder.", autocompletion=complete_ladders)
    ],
    bots: Annotated[
        int, typer.Option("--bots", metavar="N", min=2, max=200, help="Compare the first N bots of the rankings.")
    ] = 16,
    server: Server = None,
    ca: Authority = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Show circles of bots: A is ahead of B, B of C, and C of A.

    ahead is the share of the matches of two bots in which the first finished before the second, all versions together;
    a shared place counts half, and matches count as independent. A circle is listed if all its three shares are above
    50 % by their intervals, which hold for all pairs at once with 95 % (Wilson, corrected by Bonferroni).

    Two rankings that circles don't break follow. Nash averaging mixes the bots so that no bot is ahead of the mixture;
    nash is the part of a bot in it, and "against it" its share against the mixture. alpha-rank is the part of the time
    that a population plays a bot if now and then a better one takes over. Neither knows of chance: with few matches, do
    not trust them.

    Needs the extra `overall`.

    Example: cutpurse ladder circles greed
    """
    with needs("overall"):
        import scipy  # noqa: F401
    from cutpurse.leaderboard.statistics.circles import edges_of, sure_circles
    from cutpurse.sdk.matches.encounters import encounters
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import format_bot_name, rankings

    with open_league(server, ca, db) as league:
        ladder = ladder_named(league, ladder).defined.name
        rows = rankings(league, ladder, limit=bots)
        names = [ladder_pb2.BotName(owner=row.bot.owner, bot=row.bot.bot) for row in rows]
        if len(names) < 2:
            raise NotFound(f"ladder {printable(ladder, 64)} has no two rated bots yet")
        met = encounters(
            names,
            lambda bot: league.ListOpponents(ladder_pb2.ListOpponentsRequest(ladder=ladder, bot=bot)).opponents,
        )
    texts = [format_bot_name(name) for name in names]
    edges = edges_of(met)
    listed = sure_circles(edges)
    ranks = _ranks(texts, met)
    if as_json:
        document = {"bots": ranks, "pairs": [_pair(edge, texts) for edge in edges]}
        sure = [[texts[bot] for bot in circle.bots] for circle in listed]
        print_json({"ladder": ladder, **document, "circles": sure})
        return
    print_lines([_summary(listed, edges, len(names)), ""])
    if listed:
        print_lines(table(("circle", "bot", "is ahead of", "ahead", "95 %", "matches"), _cells(listed, texts)))
        print_lines([""])
    cells = [
        (row["bot"], *(("", "", "") if row["nash"] is None else map(_percent, list(row.values())[1:]))) for row in ranks
    ]
    print_lines(table(("bot", "alpha-rank", "nash", "against it"), cells))
    if left_out := [row["bot"] for row in ranks if row["nash"] is None]:
        print_message(f"without alpha-rank and nash, as not all bots above met them: {', '.join(left_out)}")


def _ranks(names: Sequence[str], met: Sequence[Encounter]) -> list[dict[str, Any]]:
    """Return a row for each bot, with alpha-rank, its weight by Nash averaging, and its share against that mixture."""
    from cutpurse.leaderboard.statistics.circular_rankings import all_met, alpha_rank, nash_average, share_matrix

    bots = all_met(len(names), met)
    shares = share_matrix(bots, met)
    nash = nash_average(shares)
    columns = zip(alpha_rank(shares), nash, shares @ nash, strict=True)
    ranked = {bot: tuple(round(float(number), 4) for number in row) for bot, row in zip(bots, columns, strict=True)}
    keys = ("alpha_rank", "nash", "against_nash")
    return [{"bot": name, **dict(zip(keys, ranked.get(at, (None,) * 3), strict=True))} for at, name in enumerate(names)]


def _pair(edge: Edge, names: Sequence[str]) -> dict[str, object]:
    ends = {"share": round(edge.share, 4), "low": round(edge.low, 4), "high": round(edge.high, 4)}
    pair = {"bot": names[edge.bot], "other": names[edge.other]}
    return {**pair, "matches": edge.matches, **ends, "is_sure": edge.is_sure}


def _cells(listed: Sequence[Circle], names: Sequence[str]) -> list[tuple[object, ...]]:
    """Return three rows for each of the strongest circles."""
    return [
        (
            number if edge is circle.edges[0] else "",
            names[edge.bot],
            names[edge.other],
            _percent(edge.share),
            f"{100 * edge.low:.0f}-{100 * edge.high:.0f}",
            f"{edge.matches:,}",
        )
        for number, circle in enumerate(listed[:CIRCLES], 1)
        for edge in circle.edges
    ]


def _summary(listed: Sequence[Circle], edges: Sequence[Edge], bots: int) -> str:
    """Say how many circles there are, or that none is sure, and of how much this holds."""
    sure = sum(edge.is_sure for edge in edges)
    of = f"{format_count(bots, 'bot', 'bots')}, {format_count(len(edges), 'pair')} that met, {sure:,} with a sure lead"
    if not listed:
        return f"No circle is sure ({of})."
    more = f", the strongest {CIRCLES} listed" if len(listed) > CIRCLES else ""
    return f"{format_count(len(listed), 'sure circle')}{more} ({of})."


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
