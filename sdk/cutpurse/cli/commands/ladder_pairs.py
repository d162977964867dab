"""`cutpurse ladder pairs`: pairs of bots that gain together or spare each other, for the host of a ladder."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.completion import complete_ladders
from cutpurse.cli.league_options import Authority, Database, Server, ladder_named, open_league, short
from cutpurse.cli.progress import Progress
from cutpurse.engine.errors import UsageError
from cutpurse.process.terminal import print_json, print_lines, print_message, table
from cutpurse.wire.errors import needs
from cutpurse.wire.text import format_count, printable

if TYPE_CHECKING:
    from cutpurse.lab.pairs.pair_search import PairFinding
    from cutpurse.lab.pairs.played_table import PairedBot
    from cutpurse.wire.league import League

__all__ = ["pairs"]

LEAST_SEATS: Final = 3
NO_PROOF: Final = (
    "Worth a look, and no proof: styles that suit each other can look like this. Watch their matches before you say "
    "anything."
)


def pairs(
    ladder: Annotated[
        str, typer.Argument(metavar="LADDER", help="Name of the ladder.", autocompletion=complete_ladders)
    ],
    matches: Annotated[int, typer.Option(metavar="N", min=1, help="Number of newest matches to use.")] = 3_000,
    results_only: Annotated[
        bool,
        typer.Option("--results-only", help="Compare places only, and read no records: faster, and finds far less."),
    ] = False,
    server: Server = None,
    ca: Authority = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """List pairs of bots that may have an agreement, for the host of a ladder.

    A pair is listed if both together gain more place points than their strengths promise, if one gives way to the
    other, or if they aim at each other less or more than their habits promise: raids, attacks, gifts, by the records.
    "usual" is what strengths and habits promise; p is how likely so much is by chance. An honest ladder lists a pair
    once in a thousand times. Pairs of one owner come last.

    Needs a token with the scope admin, or --db, and the extra `learn`. Reading records takes about 20 ms a match.

    Example: cutpurse ladder pairs greed
    """
    with needs("learn"):
        import numpy  # noqa: F401
    from cutpurse.lab.pairs.ladder_tables import house_bots, ladder_tables
    from cutpurse.lab.pairs.pair_document import newest_together, pair_document
    from cutpurse.lab.pairs.pair_search import search_pairs
    from cutpurse.wire.league import match_pages
    from cutpurse.wire.own_token import check_admin

    if db is None:
        check_admin(server, ca, "this list")
    with open_league(server, ca, db) as league, Progress("matches") as progress:
        seats = ladder_named(league, ladder).defined.seats
        if seats < LEAST_SEATS:
            raise UsageError(
                f"{printable(ladder, 64)} has {seats} seats: with two, there is nobody to gain from together"
            )
        listed = list(islice(chain.from_iterable(match_pages(league.ListMatches, ladder)), matches))
        read = None if results_only else _reader(league, progress, len(listed))
        tables = list(ladder_tables(listed, read))
    report = search_pairs(tables, house_bots(tables))
    if as_json:
        print_json({"ladder": ladder, **pair_document(report, tables)})
        return
    findings = [*report.findings, *report.of_one_owner]
    if findings:
        head = ("bots", "matches", "what they do", "seen", "usual", "p", "newest match")
        print_lines(table(head, [_cells(finding, newest_together(finding, tables)) for finding in findings]))
        print_message(NO_PROOF)
    count = len({frozenset(finding.pair) for finding in findings})
    summary = (
        f"{format_count(report.tables, 'match', 'matches')}, {report.with_aims:,} of them with records; "
        f"{format_count(report.pairs, 'pair')} met often enough; {format_count(report.tests, 'test')} found {count:,}"
    )
    print_lines([summary])


def _reader(league: League, progress: Progress, total: int) -> Any:
    """Return a function that loads the file of a match, and counts."""
    from cutpurse.v1 import ladder_pb2

    done = 0

    def read(match: str) -> bytes:
        nonlocal done
        done += 1
        progress(done, total)
        return b"".join([message.piece for message in league.GetRecord(ladder_pb2.GetRecordRequest(match=match))])

    return read


def _name(bot: PairedBot) -> str:
    name = printable(bot.bot, 64)
    return f"{printable(bot.owner, 64)}/{name}" if bot.owner else name


def _cells(finding: PairFinding, matches: Sequence[str]) -> tuple[Any, ...]:
    """Return a row of the table."""
    from cutpurse.lab.pairs.pair_search import PairFindingKind

    bot, other = map(_name, finding.pair)
    match finding.kind:
        case PairFindingKind.GAIN:
            what, seen, usual = "gain together", f"{finding.seen:+.2f} points", "0"
        case PairFindingKind.TRANSFER:
            what, seen, usual = f"{other} gives way", f"{finding.seen:+.2f} points", "0"
        case _:
            kind = finding.kind.value
            way = "each other" if finding.is_mutual else f"by {bot}"
            what, seen, usual = f"{finding.verb} {kind}, {way}", f"{finding.seen:.0f}", f"{finding.expected:.1f}"
    newest = short(matches[0]) if matches else ""
    return f"{bot} and {other}", finding.tables, what, seen, usual, f"{finding.p:.0e}", newest
