"""The other servers of this one's league: which calls go to them, and whose answers complete those of this server."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Final

from google.protobuf.message import Message

from cutpurse.leaderboard.arena_store import ArenaStore
from cutpurse.server.access.entrance import Context
from cutpurse.server.errors import CallRefused, CallStatus
from cutpurse.server.league.league_calls import is_of_this_run
from cutpurse.server.league.league_queries import may_see
from cutpurse.server.league.other_servers import OtherServers, ServerCall
from cutpurse.server.matches.lobby import Lobby
from cutpurse.server.matches.other_arenas import OtherArena, elsewhere, moving
from cutpurse.server.parts.cluster.forwarder import Forwarder
from cutpurse.server.parts.cluster.leasing import Leasing
from cutpurse.server.parts.cluster.merging import ladders_in_play, merge
from cutpurse.v1 import ladder_pb2, status_pb2, submission_pb2

__all__ = ["OtherServersOfLeague"]

# Answers about all ladders, which every other server completes.
_OF_ALL: Final = (
    ladder_pb2.ListLaddersResponse,
    ladder_pb2.ListBotsResponse,
    status_pb2.GetStatusResponse,
    submission_pb2.ListSubmissionsResponse,
    submission_pb2.GetSubmissionLogResponse,
)
# Answers about the ladder that the request names, or all.
_OF_ONE: Final[Mapping[type[Message], Callable[[bytes], str]]] = {
    ladder_pb2.ListRankingsResponse: lambda request: ladder_pb2.ListRankingsRequest.FromString(request).ladder,
    ladder_pb2.ListOpenMatchesResponse: lambda request: ladder_pb2.ListOpenMatchesRequest.FromString(request).ladder,
}


class OtherServersOfLeague(OtherServers):
    """The way to the other servers of a league."""

    is_alone = False

    def __init__(self, store: ArenaStore, lobby: Lobby, leasing: Leasing, forwarder: Forwarder) -> None:
        """Set up: `leasing` knows the ladders, and `forwarder` the connections."""
        self.address = store.holder.address
        self._lobby = lobby
        self._others = lobby.other_arenas
        self._leasing = leasing
        self._forwarder = forwarder

    def epoch_of(self, ladder: str) -> int | None:
        """Return the epoch of the lease of a ladder; None without one."""
        return self._leasing.epoch_of(ladder)

    def locate(self, plays: Callable[[str, str], bool], owner: str) -> tuple[bool, Sequence[tuple[str, str]]]:
        """Return where a bot can play."""
        return self._lobby.locate(plays, owner)

    def caller_address(self, context: Context) -> str:
        """Return the network address of a caller, even if another server passed the call on."""
        return self._forwarder.caller_address(context)

    async def answer(self, call: ServerCall, ladder: Callable[[], Awaitable[str]], *, is_played: bool) -> bytes | None:
        """Pass a call on to the server that plays its ladder, see `OtherServers.answer`."""
        entry = self._others.ladder_named(await ladder())
        if entry is None or not may_see(call.caller, entry.terms):
            return None
        arena = self._others.arena_of(entry.name)
        if arena is None:
            if is_played:
                raise moving(entry.name)
            return None  # the database is enough
        if self._goes_no_further(call):
            raise elsewhere(entry.name, arena.address)
        return await self._forwarder.ask(arena, call.method, call.request, call.context)

    async def complete(self, call: ServerCall, own: Message) -> Callable[[], Message] | None:
        """Ask the servers that know more, see `OtherServers.complete`."""
        arenas = () if self._goes_no_further(call) else self._knowing(call, own)
        if not arenas:
            return None
        answers = await self._forwarder.ask_all(arenas, call.method, call.request, call.context)
        others = {arena.address: answer for arena, answer in answers.items()}
        if isinstance(own, status_pb2.GetStatusResponse):
            return partial(self._with_servers, own, {arena.address for arena in arenas}, others)
        return partial(merge, own, others, self._others.address_of)

    def watch(
        self, call: ServerCall, watched: ladder_pb2.WatchMatchRequest, refusal: CallStatus
    ) -> AsyncGenerator[bytes, None] | None:
        """Pass a watch on, see `OtherServers.watch`."""
        arenas: Collection[OtherArena] = ()
        if self._goes_no_further(call):
            return None
        if watched.match and refusal.reason == "NOT_FOUND":
            arenas = self._others.arenas
        elif refusal.reason == "ELSEWHERE" and (arena := self._others.arena_of(watched.ladder)) is not None:
            arenas = (arena,)
        return self._first_with_it([*arenas], call, refusal) if arenas else None

    async def _first_with_it(
        self, arenas: Sequence[OtherArena], call: ServerCall, refusal: CallStatus
    ) -> AsyncGenerator[bytes, None]:
        """Yield the messages of the first server that has what is watched; `refusal` ends it if none has it."""
        for arena in arenas:
            has_begun = False
            try:
                async with aclosing(self._forwarder.follow(arena, call.method, call.request, call.context)) as messages:
                    async for message in messages:
                        has_begun = True
                        yield message
                return
            except CallRefused as refused:
                if has_begun or refused.ending.reason not in ("NOT_FOUND", "SILENT"):
                    raise
                if refused.ending.reason == "SILENT":
                    refusal = refused.ending  # it may have the match
        ends = CallRefused(refusal.reason, refusal.text)
        ends.ending = refusal
        raise ends

    def _goes_no_further(self, call: ServerCall) -> bool:
        return is_of_this_run(call.caller) or self._forwarder.is_forwarded(call.context)

    def _knowing(self, call: ServerCall, own: Message) -> Collection[OtherArena]:
        """Return the servers that complete this server's own answer."""
        if isinstance(own, _OF_ALL):
            return self._others.arenas
        if (ladder_of := _OF_ONE.get(type(own))) is None:
            ladders: Collection[str] = ladders_in_play(own)
        elif ladder := ladder_of(call.request):
            ladders = (ladder,)
        else:
            return self._others.arenas
        found = map(self._others.arena_of, ladders)
        return dict.fromkeys(arena for arena in found if arena is not None)

    def _with_servers(
        self, status: status_pb2.GetStatusResponse, addresses: Collection[str], answers: Mapping[str, bytes]
    ) -> status_pb2.GetStatusResponse:
        """Add the other servers to the status of this one: what each says, or what is known of a silent one."""
        for address in addresses:
            sent = status_pb2.GetStatusResponse.FromString(answers.get(address, b""))
            ladders = sorted(self._others.ladders_at(address))
            shown = sent.arenas[0] if sent.arenas else status_pb2.ArenaStatus(ladders=ladders)
            shown.address = address
            shown.lag_s = max(shown.lag_s, 0.0 if sent.arenas else self._others.lags.get(address, 0.0))
            status.arenas.append(shown)
        status.arenas.sort(key=lambda arena: arena.address)
        return status
