"""`cutpurse awards`: what was most remarkable in a tournament, or on a ladder in some time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.completion import complete_ladders
from cutpurse.cli.league_options import Authority, Database, Server, count, open_league, short, since_ms
from cutpurse.cli.progress import Progress
from cutpurse.engine.errors import UsageError
from cutpurse.games.awards import Award, AwardKind, Awards, AwardUnit
from cutpurse.process.terminal import print_json, print_lines, print_message, table
from cutpurse.wire.errors import NotFound
from cutpurse.wire.text import format_count, printable

if TYPE_CHECKING:
    from cutpurse.wire.league import League

__all__ = ["awards"]

PAGE: Final = 500  # matches per request
MOST: Final = 1_000  # matches, if nothing else is given
FILES: Final = (".jsonl", ".json", ".toml", ".db")
TITLES: Final = {
    AwardKind.STEAL: "largest steal",
    AwardKind.COMEBACK: "longest comeback",
    AwardKind.CLOCK: "calmest clock",
}


def awards(
    ladder: Annotated[
        str | None,
        typer.Argument(metavar="[LADDER]", help="Ladder whose matches count.", autocompletion=complete_ladders),
    ] = None,
    tournament: Annotated[
        str | None, typer.Option(metavar="ID", help="A tournament of a server, instead of a ladder.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN",
            help="Only matches that ended at or after this time: 2027-01-31, 2027-01-31T18:00, 12h or 7d ago.",
        ),
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="WHEN", help="Only matches that ended before this time.")] = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", help=f"Only the newest N matches of the ladder. [default: {MOST}]")
    ] = None,
    server: Server = None,
    ca: Authority = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Work out awards from the records of finished matches: largest steal, longest comeback and calmest clock.

    House bots get none. Only matches that you may see count.

    Example: cutpurse awards greed --since 2027-01-01 --until 2027-02-01
    """
    from cutpurse.sdk.matches.award_matches import tournament_matches
    from cutpurse.v1 import event_pb2, ladder_pb2

    if (ladder is None) == (tournament is None):
        raise UsageError("name a ladder, or a tournament with --tournament ID: one of them")
    if ladder is not None and Path(ladder).suffix in FILES:
        raise UsageError(f"awards of a ladder or tournament, not of a file: {printable(ladder, 100)}")
    if tournament is not None and not (since is None and until is None and limit is None):
        raise UsageError("--since, --until and --limit are for a ladder; a tournament counts as a whole")
    with open_league(server, ca, db) as league:
        if tournament is not None:
            event = league.GetEvent(event_pb2.GetEventRequest(event=tournament)).event
            if not event.HasField("tournament"):
                raise UsageError(f"event {printable(tournament, 64)} is no tournament")
            if not event.ended_ms:
                raise UsageError(
                    f"tournament {printable(tournament, 64)} is being played: it has awards when it is over"
                )
            matches = tournament_matches(event.tournament)
        else:
            query = ladder_pb2.ListMatchesRequest(
                ladder=ladder or "", since_ms=since_ms("--since", since), until_ms=since_ms("--until", until)
            )
            matches = _listed(league, query, count("--limit", limit, 100_000) or MOST)
        result = _worked_out(league, matches)
    if as_json:
        print_json({"matches": result.matches, "awards": [_row(award) for award in result.best()]})
        return
    cells = [
        (TITLES[award.kind], award.bot, _value(award), short(award.match), award.at or "") for award in result.best()
    ]
    print_lines(table(("award", "bot", "for", "match", "at"), cells))
    print_message(f"from {format_count(result.matches, 'match', 'matches')}")
    if result.unread:
        print_message(f"{format_count(result.unread, 'match', 'matches')} without a record that can be replayed here")


def _listed(league: League, request: Any, most: int) -> list[str]:
    """Return the newest matches that count, the oldest first."""
    matches: list[str] = []
    while len(matches) < most:
        request.limit = min(PAGE, most - len(matches))
        page = league.ListMatches(request)
        matches += [match.match for match in page.matches if not match.void_cause]
        if not page.next:
            break
        request.before = page.next
    return matches[::-1]


def _worked_out(league: League, matches: list[str]) -> Awards:
    from cutpurse.sdk.matches.award_matches import award_match
    from cutpurse.v1 import ladder_pb2

    result = Awards()
    with Progress("matches") as progress:
        for number, match in enumerate(matches, 1):
            answer = league.GetMatch(ladder_pb2.GetMatchRequest(match=match))
            pieces = league.GetRecord(ladder_pb2.GetRecordRequest(match=match)) if answer.has_record else ()
            result.add(award_match(answer, b"".join(message.piece for message in pieces)))
            progress(number, len(matches))
    if not result.matches:
        raise NotFound("there are no finished matches that count")
    return result


def _value(award: Award) -> str:
    match award.unit:
        case AwardUnit.CARDS:
            return format_count(int(award.value), "card", "cards")
        case AwardUnit.MONEY:
            return f"${award.value:,.0f}"
        case AwardUnit.SHARE:
            return f"last for {award.value:.0%} of the match"
        case AwardUnit.MILLISECONDS:
            return f"slowest answer {award.value:,.0f} ms"


def _row(award: Award) -> dict[str, Any]:
    return {
        "award": award.kind.value,
        "bot": award.bot,
        "value": award.value,
        "unit": award.unit.value,
        "match": award.match,
        "at": award.at or None,
    }
