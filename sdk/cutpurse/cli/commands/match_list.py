"""`cutpurse match list` and `match show`: finished matches."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.commands.ladder import kind_shown
from cutpurse.cli.completion import complete_ladders, complete_ranked_bots
from cutpurse.cli.league_options import (
    Authority,
    Database,
    Server,
    WithInner,
    bot_row,
    count,
    interval,
    iso,
    local_time,
    open_league,
    short,
    since_ms,
    skill_row,
    utc_time,
)
from cutpurse.process.terminal import paint, print_json, print_lines, print_message, table
from cutpurse.sdk.matches.remark import Remark, RemarkKind
from cutpurse.wire.text import format_count, printable

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
        list[str] | None,
        typer.Option(
            metavar="BOT",
            help="Only matches of this bot (repeatable: of all these at one table): name or owner/name:version; owner/ "
            "means any bot of an owner.",
            autocompletion=complete_ranked_bots,
        ),
    ] = None,
    event: Annotated[
        str | None,
        typer.Option(
            metavar="EVENT",
            help="Only matches of this event, by its ID, or of a kind of events: tournament, season or test.",
            autocompletion=lambda: ["tournament", "season", "test"],
        ),
    ] = None,
    faults_only: Annotated[
        bool, typer.Option("--faults-only", help="Only matches with a fault; with --bot, a fault of that bot.")
    ] = False,
    with_inner: WithInner = False,
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
    best: Annotated[
        RemarkKind | None,
        typer.Option(
            help="Only the most remarkable matches, the greatest first: of the newest 500 an upset or a close end, "
            "of the newest 100 a comeback or a large steal."
        ),
    ] = None,
    server: Server = None,
    ca: Authority = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """List finished matches, the newest first.

    Example: cutpurse match list --ladder greed --bot ann/sneak --faults-only --since 7d

    Example: cutpurse match list --ladder greed --best upset --since 1d
    """
    from cutpurse.cli.commands.match_best import best_matches, remark_text
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import bot_name

    request = ladder_pb2.ListMatchesRequest(
        ladder=ladder or "",
        bots=[bot_name(name, is_owner_enough=True) for name in bot or ()],
        faulted=faults_only,
        since_ms=since_ms("--since", since),
        until_ms=since_ms("--until", until),
        limit=count("--limit", limit),
        before=count("--before", before, 2**63 - 1),
        with_inner=with_inner,
        event=event or "",
    )
    remarks: dict[str, Remark] = {}
    with open_league(server, ca, db) as league:
        if best is None:
            page = league.ListMatches(request)
        else:
            page, remarks = best_matches(league, request, best)
    if as_json:
        rows = [
            {**match_row(match), **({"remark": asdict(remarks[match.match])} if remarks else {})}
            for match in page.matches
        ]
        print_json({"matches": rows, "next": page.next or None})
        return
    head = ("match", "ladder", "over", "places", "remark")
    cells = [
        (
            short(match.match),
            printable(match.ladder, 64),
            local_time(match.finished_ms),
            places_text(match),
            "; ".join([text for text in (remark_text(remarks.get(match.match)), _remark(match)) if text]),
        )
        for match in page.matches
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

    The pairing skills before and after it are what matchmaking went by at that time. The rating of a bot is estimated
    from all results together: see `ladder rankings`.

    Example: cutpurse match show 3f9a12c47e01
    """
    from cutpurse.v1 import ladder_pb2

    with open_league(server, ca, db) as league:
        answer = league.GetMatch(ladder_pb2.GetMatchRequest(match=match))
    if as_json:
        courses = [course_row(course) for course in answer.courses] or None
        opened = {
            "seed": answer.opening.seed.hex(),
            "params": answer.opening.params.decode("utf-8", "replace"),
            "nonces": [nonce.hex() for nonce in answer.opening.nonces],
            "nonces_match": answer.opening.nonces_match,
        }
        row = {**match_row(answer.match), "commitment": answer.commitment.hex(), "opening": opened}
        print_json(
            {
                **row,
                "has_record": answer.has_record,
                "replay_hidden_until": iso(answer.replay_hidden_until_ms),
                "courses": courses,
            }
        )
        return
    print_lines([*_facts(answer), "", *_seats(answer), *_usages(answer), *_faults(answer)])
    if answer.match.rated_number:
        ladder = printable(answer.match.ladder, 64)
        print_message(
            "a pairing skill is what matchmaking went by at that time; "
            f"the rating, from all results, is in `cutpurse ladder rankings {ladder}`"
        )


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


def _facts(answer: ladder_pb2.GetMatchResponse) -> list[str]:
    """Describe a match, one fact per line."""
    match = answer.match
    settings = ", ".join(f"{printable(setting.name)}={printable(setting.value)}" for setting in match.settings)
    played = f"{printable(match.game, 64)}, rules {printable(match.rules_version, 40)}" + (
        f", {settings}" if settings else ""
    )
    lines = [
        ("match", printable(match.match, 200)),
        ("ladder", printable(match.ladder, 64)),
        ("game", played),
        (
            "played",
            (
                f"{local_time(match.started_ms)} to {local_time(match.finished_ms)}, "
                f"{format_count(match.decisions, 'decision')}"
            ),
        ),
        ("counts", _counts(match)),
        ("board", _board(match)),
        ("reason", printable(match.reason, 300)),
        ("commitment", answer.commitment.hex()),
        ("record", _record(answer)),
    ]
    return [f"{name:<10}  {text}" for name, text in lines if text]


def _record(answer: ladder_pb2.GetMatchResponse) -> str:
    if answer.replay_hidden_until_ms:
        return f"only for those who played until {utc_time(answer.replay_hidden_until_ms)}"
    return "there is one: match download" if answer.has_record else "there is none"


def _counts(match: ladder_pb2.MatchShown) -> str:
    if match.void_cause:
        return f"for nothing: {printable(match.void_cause, 40)}"
    if match.rated_number:
        what = "match" if len(match.board_matches) < 2 else "board"
        return f"as rated {what} {match.rated_number:,} of the ladder"
    if kind_shown(match.board_kind) == "test":
        return f"for no rating: a version test of {printable(match.requested_by, 64)}"
    if match.requested_by:
        return f"for no rating: asked for by {printable(match.requested_by, 64)}"
    is_alone = kind_shown(match.board_kind) == "plain"
    return "for no rating" if is_alone else "for no rating: another match of its board is void, and so the board is"


def _board(entry: ladder_pb2.MatchShown) -> str:
    """List the matches with the same cards; empty if there are none."""
    kind = kind_shown(entry.board_kind)
    if kind == "plain":
        return ""
    return f"{kind}: {', '.join(printable(match, 40) for match in entry.board_matches)}"


def _seats(answer: ladder_pb2.GetMatchResponse) -> list[str]:
    from cutpurse.wire.league import format_bot_name

    head = ("seat", "bot", "place", "score", "end", "faults", "thinking", "pairing skill before", "after")
    is_void = bool(answer.match.void_cause)
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
        for number, seat in enumerate(answer.match.seats)
    ]
    return table(head, cells)


def _usages(answer: ladder_pb2.GetMatchResponse) -> list[str]:
    from cutpurse.wire.league import format_usage_total

    lines = [
        f"seat {number} used {format_usage_total(seat.usage)}"
        for number, seat in enumerate(answer.match.seats)
        if seat.HasField("usage")
    ]
    lines += [
        f"seat {number} began with a memory, SHA-256 {seat.memory.hex()}"
        for number, seat in enumerate(answer.match.seats)
        if seat.memory
    ]
    return ["", *lines] if lines else []


def _faults(answer: ladder_pb2.GetMatchResponse) -> list[str]:
    lines = []
    for number, course in enumerate(answer.courses):
        for fault in course.faults:
            said = f": {printable(fault.text)}" if fault.text else ""
            text = f"seat {number}, its decision {fault.decision} (--at {fault.at}): {cause(fault.cause)}{said}"
            lines.append(paint(text, "bad"))
    return ["", *lines] if lines else []


def match_row(match: ladder_pb2.MatchShown) -> dict[str, Any]:
    """Return a match for a JSON document."""
    return {
        "number": match.number,
        "match": match.match,
        "board": match.board,
        "ladder": match.ladder,
        "game": match.game,
        "rules_version": match.rules_version,
        "settings": {setting.name: setting.value for setting in match.settings},
        "started": iso(match.started_ms),
        "finished": iso(match.finished_ms),
        "decisions": match.decisions,
        "void_cause": match.void_cause or None,
        "rated_number": match.rated_number or None,
        "requested_by": match.requested_by or None,
        "reason": match.reason or None,
        "board_kind": kind_shown(match.board_kind),
        "board_matches": list(match.board_matches),
        "seats": [_seat_row(seat, bool(match.void_cause)) for seat in match.seats],
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
        "memory": seat.memory.hex() or None,
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


def places_text(match: ladder_pb2.MatchShown) -> str:
    """Format the places and bots of a match, the best first."""
    from cutpurse.wire.league import format_bot_name

    if match.void_cause:
        return ", ".join(format_bot_name(seat.bot) for seat in match.seats)
    return ", ".join(
        f"{seat.place} {format_bot_name(seat.bot)}" for seat in sorted(match.seats, key=lambda seat: seat.place)
    )


def _remark(match: ladder_pb2.MatchShown) -> str:
    remarks = []
    if match.void_cause:
        remarks.append(f"void: {printable(match.void_cause, 40)}")
    if kind_shown(match.board_kind) == "test":
        remarks.append(f"unrated, test of {printable(match.requested_by, 64)}")
    elif match.requested_by:
        remarks.append(f"unrated, asked for by {printable(match.requested_by, 64)}")
    if faults := sum(seat.faults for seat in match.seats):
        remarks.append(f"{faults} faults" if faults > 1 else "1 fault")
    return "; ".join(remarks)
