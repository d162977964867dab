"""Why a bot gets no match: what its server tells of the ladders that it waits on, put into a line.

This module knows no clock; it makes a call or two on a channel that it is handed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, Final

import grpc.aio
from google.protobuf.message import DecodeError

from cutpurse.sdk.session import Session
from cutpurse.sdk.terminal import legible
from cutpurse.v1 import ladder_pb2

__all__ = ["too_few"]

SERVICE: Final = "/cutpurse.v1.LadderService"
ANSWER_S: Final = 10.0
MOST_HOUSE: Final = 5  # house bots that are named


async def too_few(channel: grpc.aio.Channel, metadata: Sequence[tuple[str, str]], session: Session, owner: str) -> str:
    """How many of how many bots are there, on the ladder that needs the fewest more.

    owner: whose the bot is; empty where nobody in particular owns any. Empty if it is not for want of bots that a match
    does not come, or if the server does not tell.
    """
    try:
        return await _too_few(channel, metadata, session, owner)
    except (grpc.aio.AioRpcError, grpc.aio.UsageError, asyncio.InvalidStateError, DecodeError):
        return ""  # as of a server that has no such call: it is no part of playing


async def _too_few(channel: grpc.aio.Channel, metadata: Sequence[tuple[str, str]], session: Session, owner: str) -> str:
    async def ask(name: str, request: bytes) -> bytes:
        call: Any = channel.unary_unary(f"{SERVICE}/{name}")
        answer: bytes = await call(request, metadata=metadata, timeout=ANSWER_S)
        return answer

    told = ladder_pb2.ListLaddersResponse.FromString(await ask("ListLadders", b""))
    waited_on = [ladder for ladder in told.ladders if _is_on(ladder, session, owner)]
    if not waited_on:
        return ""
    best = min(waited_on, key=lambda ladder: ladder.defined.seats - ladder.bots)
    sides = best.bots
    if owner:
        asked = ladder_pb2.ListBotsRequest(owner=owner, ladder=best.defined.name)
        bots = ladder_pb2.ListBotsResponse.FromString(await ask("ListBots", asked.SerializeToString())).bots
        sides -= max(0, sum(bot.is_here for bot in bots) - 1)  # a match takes one of them
    return _text(best, sides, bool(owner))


def _is_on(ladder: ladder_pb2.LadderShown, session: Session, owner: str) -> bool:
    """Whether the bot may be paired there."""
    defined, terms = ladder.defined, ladder.defined.terms
    if ladder.is_frozen or not ladder.bots or (terms.owners and owner and owner not in terms.owners):
        return False
    if (named := session.ladders.get(defined.game)) is not None:
        return defined.name in named
    return defined.game in session.games or not (session.games or session.ladders)


def _text(ladder: ladder_pb2.LadderShown, sides: int, by_owner: bool) -> str:
    name, seats, house = legible(ladder.defined.name, 64), ladder.defined.seats, ladder.defined.terms.house
    missing = seats - sides
    if sides < 1 or missing < 1:
        return ""
    what = "bots of {} of the {} owners" if by_owner else "{} of the {} bots"
    more = f"{missing} more {'come' if missing > 1 else 'comes'}"
    return f"ladder {name} has {what.format(sides, seats)} that a match takes, {_house(house)}; it begins when {more}"


def _house(names: Iterable[str]) -> str:
    first = [legible(name, 32) for name in names][:MOST_HOUSE]
    return f"and its house bots ({', '.join(first)}) do not fill it" if first else "and no house bots"
