"""`cutpurse match list` and `match show`: matches that are over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cutpurse.sdk.commands.arguments import AsJson
from cutpurse.sdk.commands.asking import (
    Authority,
    Database,
    Server,
    asked,
    bot_row,
    complete_ladders,
    count,
    iso,
    local_time,
    short,
    skill_row,
)
from cutpurse.sdk.terminal import legible, print_json, print_lines, say, table

if TYPE_CHECKING:
    from cutpurse.v1 import ladder_pb2

__all__ = ["list_matches", "match_row"]


def list_matches(
    ladder: Annotated[
        str | None,
        typer.Option(metavar="LADDER", help="Of this ladder; else of all.", autocompletion=complete_ladders),
    ] = None,
    limit: Annotated[int | None, typer.Option(metavar="N", help="At most so many, 500 at the most; else 50.")] = None,
    before: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="The page that the one before has named at its end.")
    ] = None,
    server: Server = None,
    ca: Authority = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Matches that are over, the newest first.

    Example: cutpurse match list --ladder greed --limit 20
    """
    from cutpurse.v1 import ladder_pb2

    request = ladder_pb2.ListMatchesRequest(
        ladder=ladder or "",
        limit=count("--limit", limit),
        before=count("--before", before, 2**63 - 1),
    )
    with asked(server, ca, db) as league:
        page = league.ListMatches(request)
    if as_json:
        print_json({"matches": [match_row(one) for one in page.matches], "next": page.next or None})
        return
    head = ("match", "ladder", "over", "places", "remark")
    cells = [
        (short(one.match), legible(one.ladder, 64), local_time(one.finished_ms), _places(one), _remark(one))
        for one in page.matches
    ]
    print_lines(table(head, cells))
    if page.next:
        say(f"there are more: --before {page.next}")


def match_row(one: ladder_pb2.MatchShown) -> dict[str, Any]:
    """A match, for a JSON document."""
    return {
        "number": one.number,
        "match": one.match,
        "board": one.board,
        "ladder": one.ladder,
        "game": one.game,
        "rules_version": one.rules_version,
        "settings": {setting.name: setting.value for setting in one.settings},
        "started": iso(one.started_ms),
        "finished": iso(one.finished_ms),
        "decisions": one.decisions,
        "void_cause": one.void_cause or None,
        "rated_number": one.rated_number or None,
        "requested_by": one.requested_by or None,
        "reason": one.reason or None,
        "seats": [_seat_row(seat, bool(one.void_cause)) for seat in one.seats],
    }


def _seat_row(seat: ladder_pb2.MatchSeat, is_void: bool) -> dict[str, Any]:
    return {
        **bot_row(seat.bot),
        "place": None if is_void else seat.place,
        "score": None if is_void else seat.score,
        "end_cause": cause(seat.end_cause),
        "faults": seat.faults,
        "thinking_ms": seat.thinking_ms,
        "before": skill_row(seat, "before"),
        "after": skill_row(seat, "after"),
    }


def cause(number: int) -> str:
    """How a seat ended, by the protocol's name in lower case."""
    from cutpurse.v1 import arena_pb2

    try:
        return arena_pb2.EndCause.Name(number).removeprefix("END_CAUSE_").lower()  # type: ignore[arg-type] # any number
    except ValueError:  # of a newer server
        return f"cause {number}"


def _places(one: ladder_pb2.MatchShown) -> str:
    """Who had which place, the best first."""
    from cutpurse.sdk.league import shown

    if one.void_cause:
        return ", ".join(shown(seat.bot) for seat in one.seats)
    return ", ".join(f"{seat.place} {shown(seat.bot)}" for seat in sorted(one.seats, key=lambda seat: seat.place))


def _remark(one: ladder_pb2.MatchShown) -> str:
    remarks = []
    if one.void_cause:
        remarks.append(f"void: {legible(one.void_cause, 40)}")
    if one.requested_by:
        remarks.append(f"unrated, asked for by {legible(one.requested_by, 64)}")
    if faults := sum(seat.faults for seat in one.seats):
        remarks.append(f"{faults} faults" if faults > 1 else "1 fault")
    return "; ".join(remarks)
