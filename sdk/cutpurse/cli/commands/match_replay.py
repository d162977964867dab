"""`cutpurse match replay`: a record step by step, one decision of it, that decision as a test, or its luck."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.as_test import as_test, decision_at
from cutpurse.cli.league_options import Authority, Database, Server
from cutpurse.cli.match_source import FileOrMatch, MatchNumber, match_in, matches_of, record_of
from cutpurse.cli.view_row import view_row
from cutpurse.engine.errors import UsageError
from cutpurse.engine.match import Chosen, EndCause, Match
from cutpurse.engine.match import OpenDecision as EngineDecision
from cutpurse.engine.record import Record, act_to_json, event_to_json
from cutpurse.engine.record import replay as replay_record
from cutpurse.engine.text import option_text
from cutpurse.engine.view import View
from cutpurse.games import game_named
from cutpurse.process.terminal import json_text, print_json, print_lines
from cutpurse.sdk.playing.positions import decision_for
from cutpurse.sdk.playing.seating import view_for
from cutpurse.sdk.text_view import event_lines, render_table
from cutpurse.sdk.views.base import GameView
from cutpurse.wire.text import WHY_SAFE, printable

__all__ = ["replay"]


def replay(
    file: FileOrMatch,
    match: MatchNumber = 0,
    at: Annotated[
        int | None, typer.Option(metavar="D", help="Show only this decision, with the table. [default: all decisions]")
    ] = None,
    seat: Annotated[
        int | None,
        typer.Option(
            metavar="S", help="Show the view of this seat. [default: the spectator; with --at, the seat that decided]"
        ),
    ] = None,
    is_test: Annotated[
        bool, typer.Option("--as-test", help="Print the decision of --at as a test for pytest.")
    ] = False,
    is_luck: Annotated[
        bool, typer.Option("--luck", help="Show instead how many place points the cards gave each seat, and when.")
    ] = False,
    server: Server = None,
    ca: Authority = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Show a recorded match step by step, one decision of it, or what the cards gave each seat.

    With --luck, a first place is 1 point and a last place 0. The value of the cards is an estimate.

    Example: cutpurse match replay run.jsonl --match 3 --at 41 --as-test > test_decision_41.py

    Example: cutpurse match replay run.jsonl --match 3 --luck
    """
    if is_luck and (at is not None or seat is not None or is_test):
        raise UsageError("--luck is of all seats and decisions: leave out --at, --seat and --as-test")
    filed = match_in(file, matches_of(file, server, ca, db), match)
    record = record_of(file, filed)
    if is_luck:
        from cutpurse.cli.match_luck import show_luck

        show_luck(record, f"match {match} of {file}", as_json)
        return
    if seat is not None and not 0 <= seat < len(record.seats):
        raise UsageError(f"--seat {seat}: the match has seats 0 to {len(record.seats) - 1}")
    if at is None:
        if is_test:
            raise UsageError("--as-test needs --at: which decision is to be tested?")
        _show_whole(record, seat, as_json)
        return
    position = decision_at(record, at)
    if position is None:
        raise UsageError(f"match {match} of {file} has no decision {at}; it has 0 to {len(record.choices) - 1}")
    if is_test and as_json:
        raise UsageError("--as-test is a test, and --json a document: one of them")
    if is_test:
        which = f"match {match}" if filed.head is None else f"match {filed.head.match}"
        print_lines(as_test(filed, at, which, "cutpurse match replay --as-test"))
    elif as_json:
        print_json(_one_row(*position, seat))
    else:
        print_lines(_place_lines(*position, seat))


@dataclass(frozen=True, slots=True)
class _ReplayStep:
    """The view of a viewer before a decision, and the decision; or the view at the end."""

    match: Match
    view: GameView[Any]
    first: int  # number of the first event in the view
    decided: tuple[EngineDecision, Chosen] | None


def _steps(record: Record, seat: int | None) -> Iterator[_ReplayStep]:
    """Yield the steps of the match as a viewer saw it; none if it was void before its first decision."""
    first = 0
    before: View | None = None
    match: Match | None = None
    for match, open_decision, chosen in replay_record(record, game_named(record.game)):
        view = view_for(match, seat, first, before)
        yield _ReplayStep(match, view, first, (open_decision, chosen))
        first, before = len(match.game.log or ()), view.raw
    if match is not None:
        yield _ReplayStep(match, view_for(match, seat, first, before), first, None)


def _show_whole(record: Record, seat: int | None, as_json: bool) -> None:
    if as_json:
        for row in _rows(record, seat):
            sys.stdout.write(f"{json_text(row)}\n")
    else:
        for lines in _whole(record, seat):
            print_lines(lines)


def _whole(record: Record, seat: int | None) -> Iterator[list[str]]:
    """Yield the match as a viewer saw it, in groups of lines: events, decisions and the result."""
    who = "a spectator" if seat is None else f"seat {seat}"
    yield [f"{record.game}, {', '.join(map(printable, record.seats))}, as {who} sees it"]
    for step in _steps(record, seat):
        lines = event_lines(step.view)
        if step.decided is not None:
            open_decision, chosen = step.decided
            text = f" {option_text(step.match.game, chosen.option)}" if seat == open_decision.seat else ""
            safe = "" if chosen.cause is EndCause.NORMAL else f" (the safe option: {WHY_SAFE[chosen.cause]})"
            place = len(step.match.choices)
            lines.append(f"decision {place}: seat {open_decision.seat}, {open_decision.ask}{text and ':' + text}{safe}")
        yield lines
    result = record.result
    if not result["places"]:
        yield [f"the match is void: {printable(result['end_causes'][0])}"]
        return
    outcomes = zip(record.seats, result["places"], result["scores"], result["end_causes"], strict=True)
    yield [
        f"seat {i} ({printable(name)}): place {place}, score {score:,}, {printable(cause)}"
        for i, (name, place, score, cause) in enumerate(outcomes)
    ]


def _place_lines(match: Match, open_decision: EngineDecision, chosen: Chosen, seat: int | None) -> list[str]:
    """Describe a decision, with the table as the given seat or the asked seat saw it."""
    viewer = open_decision.seat if seat is None else seat
    _, decision = decision_for(match, open_decision)
    lines = render_table(view_for(match, viewer), [printable(name) for name in match.seats])
    question = f"seat {open_decision.seat} is asked {open_decision.ask}: {decision.text} ({decision.rule})"
    lines += ["", f"decision {len(match.choices)}: {question}"]
    if viewer != open_decision.seat:
        return lines
    for option in decision.options:
        marks = [
            *(["chosen"] if option.raw == chosen.option else []),
            *(["safe"] if option == decision.safe else []),
        ]
        lines.append(f"  {option.index}  {option.text}" + (f"  <- {', '.join(marks)}" if marks else ""))
    return lines


# -- for programs
def _rows(record: Record, seat: int | None) -> Iterator[dict[str, Any]]:
    """Yield JSON values for the match as `_whole` shows it: the beginning, each event and decision, the result."""
    yield {
        "began": {
            "game": record.game,
            "rules_version": record.rules,
            "settings": dict(record.settings),
            "seats": list(record.seats),
            "seat": seat,
        }
    }
    for step in _steps(record, seat):
        for number, event in enumerate(step.view.events, step.first):
            yield {"number": number, "event": event_to_json(event.raw), "text": event.text}
        if step.decided is not None:
            open_decision, chosen = step.decided
            decision: dict[str, Any] = {
                "seat": open_decision.seat,
                "ask": open_decision.ask,
                "cause": chosen.cause.value,
            }
            if seat == open_decision.seat:
                decision["option"] = act_to_json(step.match.game.words, chosen.option)
                decision["text"] = option_text(step.match.game, chosen.option)
            yield {"at": len(step.match.choices), "decision": decision}
    yield {"over": record.result}


def _one_row(match: Match, open_decision: EngineDecision, chosen: Chosen, seat: int | None) -> dict[str, Any]:
    """Return a decision as `_one` shows it, for a JSON document."""
    viewer = open_decision.seat if seat is None else seat
    _, decision = decision_for(match, open_decision)
    row: dict[str, Any] = {
        "at": len(match.choices),
        "seat": open_decision.seat,
        "ask": open_decision.ask,
        "text": decision.text,
        "rule": decision.rule,
        "cause": chosen.cause.value,
        "view": view_row(view_for(match, viewer).raw),
    }
    if viewer == open_decision.seat:
        words = match.game.words
        row["options"] = [
            {
                "index": option.index,
                "option": act_to_json(words, option.raw),
                "text": option.text,
                "chosen": option.raw == chosen.option,
                "safe": option == decision.safe,
            }
            for option in decision.options
        ]
    return row
