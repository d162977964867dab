"""Two arenas of one league in PostgreSQL, and callers of both."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

import grpc

from cutpurse.engine.clocks import TimeControl
from cutpurse.leaderboard.results import LadderTerms
from cutpurse.server.hosting.certificate import Certificate
from cutpurse.server.hosting.open_arena import OpenArena, open_arena
from cutpurse.server.hosting.part import PartWithSettings
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.limits import ServerLimits
from cutpurse.server.logs import logger
from cutpurse.server.matches.loop_hooks import MatchBegan
from cutpurse.server.parts.cluster.kind import CLUSTER, OneOfSeveral
from cutpurse.server.parts.cluster.part import ClusterPart
from cutpurse.v1 import arena_pb2, event_pb2, event_pb2_grpc, ladder_pb2, ladder_pb2_grpc
from tests.parts.open_parts import part_of
from tests.ports import free_port
from tests.server.arenas import WITH_EVENTS, same_entropy
from tests.server.dialling import how_it_ended
from tests.server.raw_bot import RawBot
from tests.server.tokens import tokens_in

__all__ = ["FAR", "HIDDEN", "LIMITS", "NEAR", "OWNERS", "League", "Site", "renew", "site", "two_arenas"]

SLOW = TimeControl(base_ms=60_000, poll_floor_ms=0)
NEAR, FAR = (Ladder(name, "greed", 2, {}, SLOW) for name in ("near", "far"))
HIDDEN = replace(NEAR, name="hidden", terms=LadderTerms(owners=("ann", "bob"), is_private=True))
OWNERS = ("ann", "bob", "eve")
LIMITS = ServerLimits(watchers_per_address=2)


class Site:
    """One of the two arenas, and a caller of it."""

    def __init__(self, opened: OpenArena, address: str, said: io.StringIO, channel: grpc.aio.Channel) -> None:
        self.opened = opened
        self.address = address
        self.said = said
        self.stub = ladder_pb2_grpc.LadderServiceStub(channel)
        self.events = event_pb2_grpc.EventServiceStub(channel)


class League:
    """Arena `a` has the ladder `near`; arena `b` has `far`, and `hidden`, which ann and bob may see."""

    def __init__(self, a: Site, b: Site, tokens: dict[str, str]) -> None:
        self.a, self.b, self.tokens = a, b, tokens

    def metadata(self, who: str) -> tuple[tuple[str, str], ...]:
        return (("authorization", f"Bearer {self.tokens[who]}"),) if who else ()

    async def ask(
        self, site: Site, method: str, who: str = "", said: tuple[tuple[str, str], ...] = (), **fields: Any
    ) -> Any:
        """The answer of an arena to a call with a token of this owner.  Raises Ended."""
        messages, stub = (event_pb2, site.events) if "Event" in method else (ladder_pb2, site.stub)
        request = getattr(messages, f"{method}Request")(**fields)
        call: Any = getattr(stub, method)(request, metadata=(*self.metadata(who), *said))
        try:
            return await call
        except grpc.aio.AioRpcError:
            raise await how_it_ended(call) from None

    async def watch(
        self, site: Site, who: str = "", said: tuple[tuple[str, str], ...] = (), **asked: Any
    ) -> tuple[Any, ladder_pb2.WatchMatchResponse]:
        """A watch call, and its first message.  Raises Ended."""
        request = ladder_pb2.WatchMatchRequest(**asked)
        call: Any = site.stub.WatchMatch(request, metadata=(*self.metadata(who), *said))
        try:
            message = await call.read()
        except grpc.aio.AioRpcError:
            raise await how_it_ended(call) from None
        if message is grpc.aio.EOF:
            raise await how_it_ended(call)
        return call, message

    async def enter(self, stack: AsyncExitStack, owner: str, bot: str, ladder: str) -> RawBot:
        """A bot that plays on one ladder of arena `b`."""
        raw = await stack.enter_async_context(RawBot(self.b.address, self.tokens[owner]))
        await raw.hello(bot, games=[arena_pb2.GameWanted(game="greed", ladders=[ladder])])
        return raw

    async def sit_down(self, stack: AsyncExitStack, ladder: str) -> str:
        """A bot of ann and one of bob come in at arena `b`, and are dealt; the name of their match."""
        began = self.next_match()
        for owner in OWNERS[:2]:
            await self.enter(stack, owner, f"{owner}s", ladder)
        return await began

    def next_match(self) -> asyncio.Future[str]:
        """The name of the next match of arena `b`."""
        began: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        def note(event: MatchBegan) -> None:
            if not began.done():
                began.set_result(event.match.name)

        self.b.opened.lobby.hooks.on(MatchBegan, note)
        return began


@asynccontextmanager
async def site(
    database: str, *ladders: str, certificate: Certificate | None = None, pem: bytes = b""
) -> AsyncIterator[Site]:
    address = f"127.0.0.1:{free_port()}"
    said = io.StringIO()
    several = OneOfSeveral(address if certificate is None else f"https://{address}", ladders)
    with open_arena(
        address,
        database,
        [NEAR, FAR, HIDDEN],
        logger(said, "debug"),
        LIMITS,
        parts=[PartWithSettings(CLUSTER, several), *WITH_EVENTS],
        certificate=certificate,
        watch_delay_s=0.05,
        entropy=same_entropy(),
    ) as opened:
        await opened.arena.start()
        try:
            async with (
                grpc.aio.insecure_channel(address)
                if certificate is None
                else grpc.aio.secure_channel(address, grpc.ssl_channel_credentials(pem))
            ) as channel:
                yield Site(opened, several.address, said, channel)
        finally:
            await opened.arena.stop()


@asynccontextmanager
async def two_arenas(database: str) -> AsyncIterator[League]:
    """Arenas `a` and `b`, with tokens; in the end neither has logged an error or a token."""
    tokens = tokens_in(database, *OWNERS, root=("admin", "play"))
    async with AsyncExitStack() as stack:
        a = await stack.enter_async_context(site(database, "near"))
        b = await stack.enter_async_context(site(database, "far", "hidden"))
        renew(a)
        yield League(a, b, tokens)
    for one in (a, b):
        log = one.said.getvalue()
        assert not any(token[13:] in log for token in tokens.values())
        assert [line for line in map(json.loads, log.splitlines()) if line["level"] == "error"] == []


def renew(one: Site) -> None:
    """Let an arena look at the leases now."""
    part_of(one.opened, ClusterPart).leasing.begin()
