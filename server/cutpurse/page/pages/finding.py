"""What a reader looks for among bots: a part of OWNER/BOT, in upper or lower case, or several with commas between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cutpurse.v1 import ladder_pb2

__all__ = ["NEIGHBOURS", "around", "is_named", "is_wanted"]

NEIGHBOURS: Final = 2  # rows above and below a bot that was looked for


def is_wanted(bot: ladder_pb2.BotName, text: str) -> bool:
    """Return whether a bot has one of the wanted parts in its OWNER/BOT. "ann/" finds the bots of ann."""
    name = f"{bot.owner}/{bot.bot}".casefold()
    return any(part in name for word in text.split(",") if (part := word.strip().casefold()))


def is_named(bot: ladder_pb2.BotName, text: str) -> bool:
    """Return whether a reader wrote the whole name of a bot, with or without its owner."""
    return text.casefold() in (bot.bot.casefold(), f"{bot.owner}/{bot.bot}".casefold())


def around(rankings: Sequence[ladder_pb2.Ranking], text: str) -> list[ladder_pb2.Ranking]:
    """Return the rankings of the wanted bots with their neighbours, in order."""
    places = [index for index, ranking in enumerate(rankings) if is_wanted(ranking.bot, text)]
    return [
        ranking
        for index, ranking in enumerate(rankings)
        if any(abs(index - wanted_index) <= NEIGHBOURS for wanted_index in places)
    ]
