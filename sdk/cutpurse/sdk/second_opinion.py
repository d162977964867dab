"""What a built-in bot would answer to one decision of somebody else: a process that gets what the seat was sent.

    python -m cutpurse.sdk.second_opinion < QUESTION

QUESTION is a line of JSON (`bot`, `game`, `settings`, `seats`, `seat`), then the bytes of a Decision message. Its
`base_left_ms` is the bot's time. The answer is a line of JSON: `choice`, the index of an option, and `expected`, empty
unless the bot has such numbers: for each option its index, the mean result, the margin of its 95 % interval (null after
one playout), the number of playouts, and whether it is too close to the choice to call.

The bot has no memory of the match, and nothing that the seat was not sent. This module knows no game and no server.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from math import isfinite
from random import Random
from time import monotonic
from typing import Any

from cutpurse.games import game_named
from cutpurse.sdk import bot_calls
from cutpurse.sdk.bot import MatchInfo, load_bot
from cutpurse.sdk.decision import option_of
from cutpurse.sdk.flows import without_a_loop
from cutpurse.sdk.online.question_types import asked, time_left
from cutpurse.v1 import arena_pb2
from cutpurse.wire.decode import TableInfo

__all__ = ["second_opinion"]


def second_opinion(head: Mapping[str, Any], question: bytes) -> dict[str, Any]:
    """Ask a bot, and return its answer as described above. The same question has the same random numbers.

    Args:
        head: The first line of the question.
        question: The Decision message, with its agenda.

    Raises:
        UsageError: If there is no such bot.
        UnknownGame: If the game is not installed.
        ValueError: If the message is not of this game.
    """
    rules, seats, seat = game_named(head["game"]), head["seats"], head["seat"]
    message = arena_pb2.Decision.FromString(question)
    view, decision = asked(message, TableInfo(rules, rules.check(seats, head["settings"]), seats, seat), events=False)
    began = monotonic()
    decision.keep_time(lambda: time_left(message, monotonic() - began))
    names = tuple([f"seat {number}" for number in range(seats)])
    info = MatchInfo(head["game"], seat, names, head["settings"], Random(question))
    bot = without_a_loop(bot_calls.start_bot(load_bot(head["bot"]), info))
    answer = option_of(without_a_loop(bot_calls.ask_bot(bot, view, decision)))
    choice = next(option.index for option in decision.options if answer in (option.index, option.raw))
    race = sorted(bot.expected(choice).items()) if hasattr(bot, "expected") else []
    expected = [
        [index, option.mean, option.margin if isfinite(option.margin) else None, option.playouts, option.is_close]
        for index, option in race
    ]
    return {"choice": choice, "expected": expected}


def main() -> None:
    """Answer the question on stdin."""
    head, _, question = sys.stdin.buffer.read().partition(b"\n")
    sys.stdout.write(json.dumps(second_opinion(json.loads(head), question)) + "\n")


if __name__ == "__main__":
    main()
