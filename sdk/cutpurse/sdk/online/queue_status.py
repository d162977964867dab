"""The reason why a bot gets no match, from what its server says about its ladders, in one line.

This module knows no clock. It makes a few calls on a given channel.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

import grpc.aio
from google.protobuf.message import DecodeError

from cutpurse.v1 import ladder_pb2
from cutpurse.wire.client_session import ClientSession
from cutpurse.wire.text import format_count, printable

__all__ = ["too_few"]

SERVICE: Final = "/cutpurse.v1.LadderService"
ANSWER_S: Final = 10.0
HOUSE: Final = "house"  # the owner of the server's house bots
MOST_HOUSE: Final = 5  # most house bots listed


async def too_few(
    channel: grpc.aio.Channel, metadata: Sequence[tuple[str, str]], session: ClientSession, owner: str
) -> str:
    """Describe how many bots are online and needed, for the ladder that needs the fewest more.

    Args:
        channel: Connection to the server.
        metadata: Metadata for the calls.
        session: The bot's session.
        owner: Owner of the bot; empty on servers that need no token.

    Returns:
        One line; empty if a lack of bots is not the reason, or if the server does not answer.
    """
    try:
        return await _too_few(channel, metadata, session, owner)
    except (grpc.aio.AioRpcError, grpc.aio.UsageError, asyncio.InvalidStateError, DecodeError):
        return ""  # such as a server without these calls, which the bot does not need to play


async def _too_few(
    channel: grpc.aio.Channel, metadata: Sequence[tuple[str, str]], session: ClientSession, owner: str
) -> str:
    async def ask(name: str, request: bytes) -> bytes:
        call: Any = channel.unary_unary(f"{SERVICE}/{name}")
        answer: bytes = await call(request, metadata=metadata, timeout=ANSWER_S)
        return answer

    listing = ladder_pb2.ListLaddersResponse.FromString(await ask("ListLadders", b""))
    waited_on = [ladder for ladder in listing.ladders if _is_on(ladder, session, owner)]
    if not waited_on:
        return ""

    async def online_bots(owner: str, ladder: str = "") -> list[ladder_pb2.BotShown]:
        request = ladder_pb2.ListBotsRequest(owner=owner, ladder=ladder).SerializeToString()
        return [
            bot for bot in ladder_pb2.ListBotsResponse.FromString(await ask("ListBots", request)).bots if bot.is_here
        ]

    # A ladder may name house bots that this server does not run.
    named = any(ladder.defined.terms.house for ladder in waited_on)
    run = await online_bots(HOUSE) if named else []
    house = {ladder.defined.name: _house_on(ladder, run) for ladder in waited_on}
    best = min(
        waited_on, key=lambda candidate: candidate.defined.seats - candidate.bots - len(house[candidate.defined.name])
    )
    sides = best.bots
    if owner:
        sides -= max(0, len(await online_bots(owner, best.defined.name)) - 1)  # a match takes one bot per owner
    return _text(best, sides, house[best.defined.name], bool(owner))


def _house_on(ladder: ladder_pb2.LadderShown, run: Sequence[ladder_pb2.BotShown]) -> list[str]:
    """Return the house bots that fill empty seats on a ladder."""
    there = {bot.bot.bot for bot in run if ladder.defined.name in bot.ladders}
    return [name for name in ladder.defined.terms.house if name in there]


def _is_on(ladder: ladder_pb2.LadderShown, session: ClientSession, owner: str) -> bool:
    """Return whether the bot may be paired on the ladder."""
    defined, terms = ladder.defined, ladder.defined.terms
    if ladder.is_frozen or not ladder.bots or (terms.owners and owner and owner not in terms.owners):
        return False
    if (named := session.ladders.get(defined.game)) is not None:
        return defined.name in named
    return defined.game in session.games or not (session.games or session.ladders)


def _text(ladder: ladder_pb2.LadderShown, sides: int, house: Sequence[str], by_owner: bool) -> str:
    name, seats, named = printable(ladder.defined.name, 64), ladder.defined.seats, ladder.defined.terms.house
    missing = seats - sides - len(house)
    if sides < 1 or missing < 1:
        return ""
    what = "bots of {} of the {} owners" if by_owner else "{} of the {} bots"
    more = f"{missing} more {'come' if missing > 1 else 'comes'}"
    has = f"{what.format(sides, seats)} that a match takes, {_house(house, named)}"
    return f"ladder {name} has {has}; it begins when {more}"


def _house(here: Sequence[str], named: Sequence[str]) -> str:
    first = ", ".join([printable(name, 32) for name in (here or named)[:MOST_HOUSE]])
    if here:
        return f"and {format_count(len(here), 'house bot')} ({first})"
    return f"and its house bots ({first}) are not run" if named else "and no house bots"
