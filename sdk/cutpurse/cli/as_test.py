"""A pytest module made from one decision of a recorded match: it asks the bot the same question again.

The test expects the bot's original choice, until its author writes what should have been chosen. Where the safe option
was taken, it expects any answer. This module reads no file and knows no command.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from cutpurse.engine.errors import UsageError
from cutpurse.engine.match import Chosen, EndCause, Match, OpenDecision
from cutpurse.engine.record import Record, replay
from cutpurse.engine.text import option_text
from cutpurse.games import game_named
from cutpurse.sdk.matches.match_file import FiledMatch, Head
from cutpurse.wire.text import WHY_SAFE, printable

__all__ = ["as_test", "decision_at"]

# Why a safe option was taken for a bot.


def decision_at(record: Record, at: int) -> tuple[Match, OpenDecision, Chosen] | None:
    """Return the match before its choice number `at`, the decision and the choice; None if there is none."""
    for match, open_decision, chosen in replay(record, game_named(record.game)):
        if len(match.choices) == at:
            return match, open_decision, chosen
    return None


def as_test(
    filed: FiledMatch, at: int, which: str, command: str, bot: str = "", fault: str = "", thinking_ms: int = 0
) -> list[str]:
    """Return the lines of a pytest module about choice number `at`.

    Args:
        filed: The match.
        at: Number of the choice in the match, from 0.
        which: Names the match for readers of the test: "match 3".
        command: The command that writes this test.
        bot: File of the bot. Default: the name in the record, or NAME.py for a match of a server.
        fault: Describes the fault of this decision, if there was one.
        thinking_ms: Original thinking time in ms, which a late bot gets again; 0 means unknown.

    Raises:
        UsageError: If the match has no such choice.
        RecordError: If the record is missing or damaged.
    """
    record = filed.record()
    position = decision_at(record, at)
    if position is None:
        raise UsageError(f"{which} has no decision {at}; it has 0 to {len(record.choices) - 1}")
    match, open_decision, chosen = position
    bot = bot or (
        record.seats[open_decision.seat] if filed.head is None else f"{filed.head.seats[open_decision.seat].bot}.py"
    )
    choices = [f"    {choice!r}," for choice in record.choices[: at + 1]]
    offered = [f"    #   {option_text(match.game, option)}" for option in open_decision.options]
    return [
        (
            f'"""Decision {at} of {_quoted(which)}: {open_decision.ask}, '
            f"put to {_quoted(bot)} in seat {open_decision.seat}."
        ),
        "",
        f"Written by `{command}`.",
        '"""',
        "",
        "from cutpurse.sdk.playing.positions import ask_again",
        "",
        f"BOT = {json.dumps(bot)}",
        f"MATCH = {json.dumps(_head(record, filed.head), indent=4)}",
        "# Every choice up to this decision; of the last one only the seat counts.",
        "CHOICES = [",
        *choices,
        "]",
        "",
        "",
        f"def test_decision_{at}_{open_decision.ask}() -> None:",
        "    # Offered were:",
        *offered,
        *_expected(chosen, option_text(match.game, chosen.option), fault, thinking_ms),
    ]


def _quoted(text: str) -> str:
    """Quote text from a file for use in a docstring, so that it cannot end the docstring and run."""
    return printable(text).replace("\\", "/").replace('"', "'")


def _head(record: Record, head: Head | None) -> dict[str, Any]:
    """Return what `ask_again` needs of the match; names are as the server sent them to its bots."""
    document: dict[str, Any] = {
        "game": record.game,
        "rules": record.rules,
        "key": record.key.hex(),
        "seats": list(record.seats),
        "settings": record.settings,
    }
    if head is not None:
        names = [seat.named for seat in head.seats]
        document |= {"match": head.match, "seats": names}
    return document


def _expected(chosen: Chosen, text: str, fault: str, thinking_ms: int) -> Sequence[str]:
    if chosen.cause is EndCause.NORMAL:
        return [
            "    # Below is what was chosen then: write what should have been.",
            "    answer = ask_again(BOT, **MATCH, choices=CHOICES)",
            f"    assert answer.text == {json.dumps(text)}",
        ]
    why = WHY_SAFE.get(chosen.cause, chosen.cause.value)
    why += f": {printable(fault)}" if fault else ""
    within = f", within_s={thinking_ms / 1_000}" if chosen.cause is EndCause.TIMEOUT and thinking_ms else ""
    return [
        f"    # The safe option was taken then, {json.dumps(text)}: {why}.",
        "    # It is enough to answer; below can stand what.",
        f"    answer = ask_again(BOT, **MATCH, choices=CHOICES{within})",
        "    assert answer.text",
    ]
