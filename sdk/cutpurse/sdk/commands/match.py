"""`cutpurse match`: records of matches, shown step by step, turned into tests, and verified."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from cutpurse.engine.errors import RecordError, UsageError
from cutpurse.engine.match import Chosen, EndCause, Match
from cutpurse.engine.match import Decision as EngineDecision
from cutpurse.engine.record import Record
from cutpurse.engine.record import replay as replay_record
from cutpurse.engine.text import option_text
from cutpurse.games import game_named
from cutpurse.sdk.commands.arguments import AsJson
from cutpurse.sdk.errors import NotFound
from cutpurse.sdk.match_file import FiledMatch, check, read_matches
from cutpurse.sdk.picture import event_lines, picture
from cutpurse.sdk.positions import decision_for
from cutpurse.sdk.seating import view_for
from cutpurse.sdk.terminal import print_json, print_lines

__all__ = ["app", "replay", "verify"]

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Records of matches: show, test, verify.\n\nExample: cutpurse match verify run.jsonl",
)

# Why a safe option was taken for a bot.
_WHY = {
    EndCause.TIMEOUT: "no answer in time",
    EndCause.ILLEGAL: "the bot answered illegally",
    EndCause.CRASHED: "the bot crashed",
    EndCause.DISCONNECTED: "the bot was away",
}

RecordFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="Records, as `cutpurse play --record` writes them, or match files.")
]


@app.command()
def verify(file: RecordFile, as_json: AsJson = False) -> None:
    """Play every match of a file again and compare all that it says; nothing but the file is needed.

    Of a match file also the promise about the deal is checked, and what the file alone cannot prove is named.

    Example: cutpurse match verify run.jsonl
    """
    matches = []
    for filed in _matches(file):
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
        print_json({"file": str(file), "matches": matches})
    else:
        print_lines([f"{len(matches)} of {len(matches)} matches are as recorded"])


@app.command()
def replay(
    file: RecordFile,
    match: Annotated[int, typer.Option(metavar="N", help="Which match of the file, from 0.")] = 0,
    at: Annotated[int | None, typer.Option(metavar="D", help="This decision only, with the table.")] = None,
    seat: Annotated[
        int | None, typer.Option(metavar="S", help="As this seat saw it; else as a spectator, or who decided.")
    ] = None,
    as_test: Annotated[
        bool, typer.Option("--as-test", help="The decision --at as a test of the bot, for pytest.")
    ] = False,
) -> None:
    """Show a recorded match step by step, or one decision of it.

    Example: cutpurse match replay run.jsonl --match 3 --at 41 --as-test > test_decision_41.py
    """
    record = _record(file, match)
    if seat is not None and not 0 <= seat < len(record.seats):
        raise UsageError(f"--seat {seat}: the match has seats 0 to {len(record.seats) - 1}")
    if at is None:
        if as_test:
            raise UsageError("--as-test needs --at: which decision is to be tested?")
        for lines in _whole(record, seat):
            print_lines(lines)
        return
    for played, asked, chosen in replay_record(record, game_named(record.game)):
        if len(played.choices) == at:
            lines = _as_test(record, match, played, asked, chosen) if as_test else _one(played, asked, chosen, seat)
            print_lines(lines)
            return
    raise UsageError(f"match {match} of {file} has no decision {at}; it has 0 to {len(record.choices) - 1}")


def _matches(file: Path) -> Iterator[FiledMatch]:
    """The matches of a file.  Raises NotFound, and RecordError for what is no such file."""
    try:
        content = file.read_bytes()
    except (FileNotFoundError, IsADirectoryError):
        raise NotFound(f"no record {file}: there is no such file") from None
    except OSError as problem:
        raise RecordError(f"{file} cannot be read as a record: {problem}") from None
    try:
        yield from read_matches(content)
    except RecordError as problem:
        raise RecordError(f"{file}: {problem}") from None


def _record(file: Path, match: int) -> Record:
    matches = list(_matches(file))
    if not 0 <= match < len(matches):
        raise UsageError(f"--match {match}: {file} has matches 0 to {len(matches) - 1}")
    try:
        return matches[match].record()
    except RecordError as problem:
        raise RecordError(f"{file}, line {matches[match].line}: {problem}") from None


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
        safe = "" if chosen.cause is EndCause.NORMAL else f" (the safe option: {_WHY[chosen.cause]})"
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


def _as_test(record: Record, number: int, match: Match, asked: EngineDecision, chosen: Chosen) -> list[str]:
    """A module for pytest that asks the bot of this seat the same again."""
    place = len(match.choices)
    bot = record.seats[asked.seat]
    text = option_text(match.game, chosen.option)
    head: dict[str, Any] = {
        "game": record.game,
        "rules": record.rules,
        "key": record.key.hex(),
        "seats": list(record.seats),
        "settings": record.settings,
    }
    choices = [f"    {choice!r}," for choice in record.choices[: len(match.choices) + 1]]
    offered = [f"    #   {option_text(match.game, option)}" for option in asked.options]
    return [
        f'"""Decision {place} of match {number}: {asked.ask}, put to {bot} in seat {asked.seat}.',
        "",
        "Written by `cutpurse match replay --as-test`.",
        '"""',
        "",
        "from cutpurse.sdk.positions import ask_again",
        "",
        f"BOT = {json.dumps(bot)}",
        f"MATCH = {json.dumps(head, indent=4)}",
        "# Every choice up to this decision; of the last one only the seat counts.",
        "CHOICES = [",
        *choices,
        "]",
        "",
        "",
        f"def test_decision_{place}_{asked.ask}() -> None:",
        "    # Offered were:",
        *offered,
        "    # Below is what was chosen then: write what should have been.",
        "    answer = ask_again(BOT, **MATCH, choices=CHOICES)",
        f"    assert answer.text == {json.dumps(text)}",
    ]
