"""`cutpurse match`: records of matches, shown step by step, turned into tests, and verified."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

import typer

from cutpurse.engine.errors import RecordError, UsageError
from cutpurse.engine.match import Chosen, EndCause, Match
from cutpurse.engine.match import Decision as EngineDecision
from cutpurse.engine.record import Record
from cutpurse.engine.record import replay as replay_record
from cutpurse.engine.text import option_text
from cutpurse.games import game_named
from cutpurse.sdk.as_test import WHY, as_test, decision_at
from cutpurse.sdk.commands.arguments import AsJson
from cutpurse.sdk.commands.asking import Authority, Database, Server
from cutpurse.sdk.commands.filed import FileOrMatch, matches_of
from cutpurse.sdk.commands.later import LaterGroup
from cutpurse.sdk.match_file import FiledMatch, check
from cutpurse.sdk.picture import event_lines, picture
from cutpurse.sdk.positions import decision_for
from cutpurse.sdk.seating import view_for
from cutpurse.sdk.terminal import print_json, print_lines

__all__ = ["app", "replay", "verify"]


class OfALeague(LaterGroup):
    """What asks a league for its matches, each in a module of its own."""

    places: ClassVar[dict[str, str]] = {
        "list": "cutpurse.sdk.commands.match_list:list_matches",
        "show": "cutpurse.sdk.commands.match_list:show",
        "request": "cutpurse.sdk.commands.match_request:request",
        "download": "cutpurse.sdk.commands.match_download:download",
        "watch": "cutpurse.sdk.commands.match_watch:watch",
    }


app = typer.Typer(
    cls=OfALeague,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Matches: watched, listed, downloaded, replayed, verified.\n\nExample: cutpurse match verify run.jsonl",
)


@app.command()
def verify(
    file: FileOrMatch, server: Server = None, ca: Authority = None, db: Database = None, as_json: AsJson = False
) -> None:
    """Play every match of a file again and compare all that it says; nothing but the file is needed.

    Of a match of a league also the promise about the deal is checked, and what the file alone cannot prove is named.

    Example: cutpurse match verify run.jsonl
    """
    matches = []
    for filed in matches_of(file, server, ca, db):
        try:
            found = check(filed)
        except UsageError as problem:
            raise RecordError(f"{file}, line {filed.line}: {problem}") from None
        head = {} if filed.head is None else {"match": filed.head.match, "not_checked": found.not_checked}
        matches.append(
            {"line": filed.line, "game": found.game, "seats": list(found.seats), "checked": found.checked, **head}
        )
        if not as_json:
            which = "" if filed.head is None else f"match {filed.head.match} of "
            lines = [*found.checked, *[f"not checked: {one}" for one in found.not_checked]]
            print_lines(
                [f"line {filed.line}: {which}{found.game}, {', '.join(found.seats)}", *[f"  {x}" for x in lines]]
            )
    if as_json:
        print_json({"file": file, "matches": matches})
    else:
        print_lines([f"{len(matches)} of {len(matches)} matches are as recorded"])


@app.command()
def replay(
    file: FileOrMatch,
    match: Annotated[int, typer.Option(metavar="N", help="Which match of the file, from 0.")] = 0,
    at: Annotated[int | None, typer.Option(metavar="D", help="This decision only, with the table.")] = None,
    seat: Annotated[
        int | None, typer.Option(metavar="S", help="As this seat saw it; else as a spectator, or who decided.")
    ] = None,
    is_test: Annotated[
        bool, typer.Option("--as-test", help="The decision --at as a test of the bot, for pytest.")
    ] = False,
    server: Server = None,
    ca: Authority = None,
    db: Database = None,
) -> None:
    """Show a recorded match step by step, or one decision of it.

    Example: cutpurse match replay run.jsonl --match 3 --at 41 --as-test > test_decision_41.py
    """
    filed = _filed(file, list(matches_of(file, server, ca, db)), match)
    record = _record(file, filed)
    if seat is not None and not 0 <= seat < len(record.seats):
        raise UsageError(f"--seat {seat}: the match has seats 0 to {len(record.seats) - 1}")
    if at is None:
        if is_test:
            raise UsageError("--as-test needs --at: which decision is to be tested?")
        for lines in _whole(record, seat):
            print_lines(lines)
        return
    found = decision_at(record, at)
    if found is None:
        raise UsageError(f"match {match} of {file} has no decision {at}; it has 0 to {len(record.choices) - 1}")
    if is_test:
        which = f"match {match}" if filed.head is None else f"match {filed.head.match}"
        print_lines(as_test(filed, at, which, "cutpurse match replay --as-test"))
    else:
        print_lines(_one(*found, seat))


def _filed(file: str, matches: list[FiledMatch], match: int) -> FiledMatch:
    if not 0 <= match < len(matches):
        raise UsageError(f"--match {match}: {file} has matches 0 to {len(matches) - 1}")
    return matches[match]


def _record(file: str, filed: FiledMatch) -> Record:
    try:
        return filed.record()
    except RecordError as problem:
        raise RecordError(f"{file}, line {filed.line}: {problem}") from None


def _whole(record: Record, seat: int | None) -> Iterator[list[str]]:
    """The match as a viewer was told it: who decided what, and what came of it."""
    who = "a spectator" if seat is None else f"seat {seat}"
    yield [f"{record.game}, {', '.join(record.seats)}, as {who} sees it"]
    told = 0
    played: Match | None = None
    for played, asked, chosen in replay_record(record, game_named(record.game)):
        lines = event_lines(view_for(played, seat, told))
        told = len(played.game.log or ())
        text = f" {option_text(played.game, chosen.option)}" if seat == asked.seat else ""
        safe = "" if chosen.cause is EndCause.NORMAL else f" (the safe option: {WHY[chosen.cause]})"
        place = len(played.choices)
        yield [*lines, f"decision {place}: seat {asked.seat}, {asked.ask}{text and ':' + text}{safe}"]
    if played is not None:
        yield event_lines(view_for(played, seat, told))
    result = record.result
    if not result["places"]:
        yield [f"the match is void: {result['end_causes'][0]}"]
        return
    yield [
        f"seat {i} ({name}): place {result['places'][i]}, score {result['scores'][i]:,}, {result['end_causes'][i]}"
        for i, name in enumerate(record.seats)
    ]


def _one(match: Match, asked: EngineDecision, chosen: Chosen, seat: int | None) -> list[str]:
    """A decision with the table as its seat, or another, saw it."""
    viewer = asked.seat if seat is None else seat
    _, decision = decision_for(match, asked)
    lines = picture(view_for(match, viewer), match.seats)
    question = f"seat {asked.seat} is asked {asked.ask}: {decision.text} ({decision.rule})"
    lines += ["", f"decision {len(match.choices)}: {question}"]
    if viewer != asked.seat:
        return lines
    for option in decision.options:
        marks = [
            *(["chosen"] if option.raw == chosen.option else []),
            *(["safe"] if option == decision.safe else []),
        ]
        lines.append(f"  {option.index}  {option.text}" + (f"  <- {', '.join(marks)}" if marks else ""))
    return lines
