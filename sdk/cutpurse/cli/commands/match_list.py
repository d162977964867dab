"""`cutpurse match list` and `match show`: finished matches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.commands.ladder import kind_shown
from cutpurse.cli.completion import complete_ladders, complete_ranked_bots
from cutpurse.cli.league_options import (
    Authority,
    Database,
    Server,
    asked,
    bot_row,
    count,
    interval,
    iso,
    local_time,
    short,
    since_ms,
    skill_row,
)
from cutpurse.process.terminal import paint, print_json, print_lines, print_message, table
from cutpurse.wire.text import printable

if TYPE_CHECKING:
    from cutpurse.v1 import ladder_pb2

__all__ = ["cause", "course_row", "list_matches", "match_row", "places_text", "show"]


def list_matches(
    ladder: Annotated[
        str | None,
        typer.Option(
            metavar="LADDER",
            help="Only matches of this ladder. [default: all ladders]",
            autocompletion=complete_ladders,
        ),
    ] = None,
    bot: Annotated[
        str | None,
        typer.Option(
            metavar="BOT",
            help="Only matches of this bot: name or owner/name:version; owner/ means all bots of an owner.",
            autocompletion=complete_ranked_bots,
        ),
    ] = None,
    faults_only: Annotated[
        bool, typer.Option("--faults-only", help="Only matches with a fault; with --bot, a fault of that bot.")
    ] = False,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN",
            help="Only matches that ended at or after this time: 2027-01-31, 2027-01-31T18:00, 12h or 7d ago.",
        ),
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="WHEN", help="Only matches that ended before this time.")] = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", help="Maximum number of matches, at most 500. [default: 50]")
    ] = None,
    before: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER", help="Next page: the number that the previous page printed. [default: the newest]"
        ),
    ] = None,
    server: Server = None,
    ca: Authority = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """List finished matches, the newest first.

    Example: cutpurse match list --ladder greed --bot ann/sneak --faults-only --since 7d
    """
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import bot_name

    request = ladder_pb2.ListMatchesRequest(
        ladder=ladder or "",
        bot=bot_name(bot, is_owner_enough=True) if bot is not None else None,
        faulted=faults_only,
        since_ms=since_ms("--since", since),
        until_ms=since_ms("--until", until),
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
        (short(one.match), printable(one.ladder, 64), local_time(one.finished_ms), places_text(one), _remark(one))
        for one in page.matches
    ]
    print_lines(table(head, cells))
    if page.next:
        print_message(f"there are more: --before {page.next}")


def show(
    match: Annotated[str, typer.Argument(metavar="MATCH", help="Match ID, or its first 8 or more characters.")],
    server: Server = None,
    ca: Authority = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Show a finished match: its seats, its result, and every fault.

    Example: cutpurse match show 3f9a12c47e01
    """
    from cutpurse.v1 import ladder_pb2

    with asked(server, ca, db) as league:
        told = league.GetMatch(ladder_pb2.GetMatchRequest(match=match))
    if as_json:
        courses = [course_row(course) for course in told.courses] or None
        opened = {
            "seed": told.opening.seed.hex(),
            "params": told.opening.params.decode("utf-8", "replace"),
            "nonces": [nonce.hex() for nonce in told.opening.nonces],
            "nonces_match": told.opening.nonces_match,
        }
        row = {**match_row(told.match), "commitment": told.commitment.hex(), "opening": opened}
        print_json({**row, "has_record": told.has_record, "courses": courses})
        return
    print_lines([*_facts(told), "", *_seats(told), *_usages(told), *_faults(told)])


def course_row(course: ladder_pb2.SeatCourse) -> dict[str, Any]:
    """Return the thinking times and faults of a seat for a JSON document."""
    return {
        "thinking_ms": list(course.thinking_ms),
        "faults": [
            {"decision": fault.decision, "at": fault.at, "cause": cause(fault.cause), "text": fault.text}
            for fault in course.faults
        ],
        "usages": usage_rows(course),
    }


def usage_rows(course: ladder_pb2.SeatCourse) -> list[dict[str, Any]]:
    """Return what a bot reported for its decisions for a JSON document."""
    from cutpurse.wire.usage import fallback_of

    return [
        {
            "decision": usage.decision,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cost_micros": usage.cost_micros,
            "model": usage.model,
            "fallback": fallback_of(usage.fallback) or None,
        }
        for usage in course.usages
    ]


def _facts(told: ladder_pb2.GetMatchResponse) -> list[str]:
    """Describe a match, one fact per line."""
    one = told.match
    settings = ", ".join(f"{printable(setting.name)}={printable(setting.value)}" for setting in one.settings)
    played = f"{printable(one.game, 64)}, rules {printable(one.rules_version, 40)}" + (
        f", {settings}" if settings else ""
    )
    lines = [
        ("match", printable(one.match, 200)),
        ("ladder", printable(one.ladder, 64)),
        ("game", played),
        ("played", f"{local_time(one.started_ms)} to {local_time(one.finished_ms)}, {one.decisions:,} decisions"),
        ("counts", _counts(one)),
        ("board", _board(one)),
        ("reason", printable(one.reason, 300)),
        ("commitment", told.commitment.hex()),
        ("record", "there is one: match download" if told.has_record else "there is none"),
    ]
    return [f"{name:<10}  {text}" for name, text in lines if text]


def _counts(one: ladder_pb2.MatchShown) -> str:
    if one.void_cause:
        return f"for nothing: {printable(one.void_cause, 40)}"
    if one.rated_number:
        what = "match" if len(one.board_matches) < 2 else "board"
        return f"as rated {what} {one.rated_number:,} of the ladder"
    if kind_shown(one.board_kind) == "test":
        return f"for no rating: a version test of {printable(one.requested_by, 64)}"
    if one.requested_by:
        return f"for no rating: asked for by {printable(one.requested_by, 64)}"
    is_alone = kind_shown(one.board_kind) == "plain"
    return "for no rating" if is_alone else "for no rating: another match of its board is void, and so the board is"


def _board(one: ladder_pb2.MatchShown) -> str:
    """List the matches with the same cards; empty if there are none."""
    kind = kind_shown(one.board_kind)
    if kind == "plain":
        return ""
    return f"{kind}: {', '.join(printable(match, 40) for match in one.board_matches)}"


def _seats(told: ladder_pb2.GetMatchResponse) -> list[str]:
    from cutpurse.wire.league import format_bot_name

    head = ("seat", "bot", "place", "score", "end", "faults", "thinking", "pairing skill before", "after")
    is_void = bool(told.match.void_cause)
    cells = [
        (
            number,
            format_bot_name(seat.bot),
            "" if is_void else seat.place,
            "" if is_void else seat.score,
            cause(seat.end_cause),
            seat.faults,
            f"{seat.thinking_ms / 1_000:.1f} s",
            interval(seat.before) if seat.HasField("before") else "",
            interval(seat.after) if seat.HasField("after") else "",
        )
        for number, seat in enumerate(told.match.seats)
    ]
    return table(head, cells)


def _usages(told: ladder_pb2.GetMatchResponse) -> list[str]:
    from cutpurse.wire.league import format_usage_total

    lines = [
        f"seat {number} used {format_usage_total(seat.usage)}"
        for number, seat in enumerate(told.match.seats)
        if seat.HasField("usage")
    ]
    return ["", *lines] if lines else []


def _faults(told: ladder_pb2.GetMatchResponse) -> list[str]:
    lines = []
    for number, course in enumerate(told.courses):
        for fault in course.faults:
            said = f": {printable(fault.text)}" if fault.text else ""
            text = f"seat {number}, its decision {fault.decision} (--at {fault.at}): {cause(fault.cause)}{said}"
            lines.append(paint(text, "bad"))
    return ["", *lines] if lines else []


def match_row(one: ladder_pb2.MatchShown) -> dict[str, Any]:
    """Return a match for a JSON document."""
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
        "board_kind": kind_shown(one.board_kind),
        "board_matches": list(one.board_matches),
        "seats": [_seat_row(seat, bool(one.void_cause)) for seat in one.seats],
    }


def _seat_row(seat: ladder_pb2.MatchSeat, is_void: bool) -> dict[str, Any]:
    return {
        **bot_row(seat.bot),
        "place": None if is_void else seat.place or None,
        "score": None if is_void or not seat.place else seat.score,
        "end_cause": cause(seat.end_cause),
        "faults": seat.faults,
        "thinking_ms": seat.thinking_ms,
        "before": skill_row(seat, "before"),
        "after": skill_row(seat, "after"),
        "cpu_ms": seat.cpu_ms or None,
        "peak_bytes": seat.peak_bytes or None,
        "usage": _usage_row(seat.usage) if seat.HasField("usage") else None,
    }


def _usage_row(used: ladder_pb2.UsageTotal) -> dict[str, Any]:
    return {
        "input_tokens": used.input_tokens,
        "output_tokens": used.output_tokens,
        "cost_micros": used.cost_micros,
        "fallbacks": used.fallbacks,
        "model": used.model,
    }


def cause(number: int) -> str:
    """Return the protocol's name of an end cause, in lower case."""
    from cutpurse.v1 import arena_pb2

    try:
        return arena_pb2.EndCause.Name(number).removeprefix("END_CAUSE_").lower()  # type: ignore[arg-type] # any number
    except ValueError:  # of a newer server
        return f"cause {number}"


def places_text(one: ladder_pb2.MatchShown) -> str:
    """Format the places and bots of a match, the best first."""
    from cutpurse.wire.league import format_bot_name

    if one.void_cause:
        return ", ".join(format_bot_name(seat.bot) for seat in one.seats)
    return ", ".join(
        f"{seat.place} {format_bot_name(seat.bot)}" for seat in sorted(one.seats, key=lambda seat: seat.place)
    )


def _remark(one: ladder_pb2.MatchShown) -> str:
    remarks = []
    if one.void_cause:
        remarks.append(f"void: {printable(one.void_cause, 40)}")
    if kind_shown(one.board_kind) == "test":
        remarks.append(f"unrated, test of {printable(one.requested_by, 64)}")
    elif one.requested_by:
        remarks.append(f"unrated, asked for by {printable(one.requested_by, 64)}")
    if faults := sum(seat.faults for seat in one.seats):
        remarks.append(f"{faults} faults" if faults > 1 else "1 fault")
    return "; ".join(remarks)
