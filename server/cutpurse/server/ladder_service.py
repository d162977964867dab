"""LadderService over gRPC: whoever may see a league reads it, and whoever may steer it does.

What is read is read on a few threads, never on the event loop, which keeps the bots' clocks, nor on the thread that
stores results. An address has no more than so many calls at once. What is asked of the lobby is asked on the loop. This
module knows who a caller is; what he may see is known in `cutpurse.server.league`.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final, TypeAlias, TypeVar

import grpc
from google.protobuf.message import DecodeError, Message

from cutpurse.leaderboard.errors import LeaderboardError, NotFound
from cutpurse.leaderboard.errors import Refused as NotTaken
from cutpurse.server.entrance import Context, Entrance
from cutpurse.server.errors import Ending, Refused, ending, incident, legible
from cutpurse.server.league import STRANGER, Answers, Caller, Presence
from cutpurse.server.logs import Logger, places
from cutpurse.server.owners import Grant, address_of, check_scope
from cutpurse.server.service import abort
from cutpurse.v1 import ladder_pb2

__all__ = ["LADDER", "LadderService", "caller_of"]

LADDER: Final = ladder_pb2.DESCRIPTOR.services_by_name["LadderService"].full_name
THREADS: Final = 2
MOST_BY_ADDRESS: Final = 64  # calls at once: a class of sixty behind one address may ask in the same moment
MOST_CALLS: Final = 512  # of all
MOST_BYTES: Final = 3_500_000  # of an answer: a client of gRPC takes 4 MiB as it comes
PIECE: Final = 65_536  # bytes of a record at once

Told = TypeVar("Told")
Handlers: TypeAlias = "Mapping[str, grpc.RpcMethodHandler[Any, Any]]"  # gRPC's own classes take no type


def caller_of(grant: Grant | None) -> Caller:
    """Who asks, for what he may see."""
    return STRANGER if grant is None else Caller(grant.owner, frozenset(grant.scopes))


class LadderService:
    """`LadderService` of ladder.proto. `close` it once no call is answered any more.

    presence: what the lobby knows now; called on the event loop. more: methods that are answered elsewhere.
    """

    def __init__(
        self,
        answers: Answers,
        entrance: Entrance,
        log: Logger,
        *,
        presence: Callable[[], Presence],
        incident_number: Callable[[], str],
        more: Handlers | None = None,
    ) -> None:
        self._answers = answers
        self._entrance = entrance
        self._log = log
        self._presence = presence
        self._incident_number = incident_number
        self._more = dict(more or {})
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="league")
        self._calls: Counter[str] = Counter()  # being answered, by address

    def close(self) -> None:
        """There will be no more calls."""
        self._threads.shutdown(cancel_futures=True)

    def handler(self) -> grpc.GenericRpcHandler:
        """To be added to a `grpc.aio.server`."""
        answers = self._answers
        reads: dict[str, tuple[type[Message], Callable[[Any, Caller, Presence], Message]]] = {
            "ListLadders": (ladder_pb2.ListLaddersRequest, answers.list_ladders),
            "ListRankings": (ladder_pb2.ListRankingsRequest, answers.list_rankings),
            "ListHistory": (ladder_pb2.ListHistoryRequest, answers.list_history),
            "ListOpponents": (ladder_pb2.ListOpponentsRequest, answers.list_opponents),
            "ListMatches": (ladder_pb2.ListMatchesRequest, answers.list_matches),
            "ListOpenMatches": (ladder_pb2.ListOpenMatchesRequest, answers.list_open_matches),
            "GetMatch": (ladder_pb2.GetMatchRequest, answers.get_match),
            "ListBots": (ladder_pb2.ListBotsRequest, answers.list_bots),
        }
        methods: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            name: grpc.unary_unary_rpc_method_handler(self._reading(kind, answer))
            for name, (kind, answer) in reads.items()
        }
        methods["ListLogs"] = grpc.unary_unary_rpc_method_handler(
            self._reading(ladder_pb2.ListLogsRequest, answers.list_logs, "read", "admin")
        )
        methods["GetRecord"] = grpc.unary_stream_rpc_method_handler(self.get_record)
        return grpc.method_handlers_generic_handler(LADDER, {**methods, **self._more})

    def _reading(
        self, kind: type[Message], answer: Callable[[Any, Caller, Presence], Message], *scopes: str
    ) -> Callable[[bytes, Context], Awaitable[bytes]]:
        """A call that reads: for whoever asks, or for whoever has a token with one of these scopes."""

        async def read(request: bytes, context: Context) -> bytes:
            async def told() -> bytes:
                caller = await self._caller(context, *scopes)
                presence = self._presence()
                return await self._apart(lambda: _sized(answer(kind.FromString(request), caller, presence)))

            return await self._guarded(told, context)

        return read

    async def get_record(self, request: bytes, context: Context) -> None:
        """The call GetRecord: the file of a match, piece by piece."""

        async def told() -> None:
            caller = await self._caller(context)
            asked = ladder_pb2.GetRecordRequest
            file = await self._apart(lambda: self._answers.match_file(asked.FromString(request), caller))
            for at in range(0, len(file), PIECE):
                piece = ladder_pb2.GetRecordResponse(piece=file[at : at + PIECE])
                await context.write(piece.SerializeToString())

        await self._guarded(told, context)

    async def _caller(self, context: Context, *scopes: str) -> Caller:
        """Who asks, if he may ask this: whoever it is, or only with a token of one of these scopes."""
        grant = await self._entrance.recognise(context)
        if scopes:
            check_scope(grant, *scopes)
        return caller_of(grant)

    async def _guarded(self, answer: Callable[[], Awaitable[Told]], context: Context) -> Told:
        """What is answered, or the end of the call."""
        try:
            with self._turn(context):
                return await answer()
        except grpc.aio.BaseError:  # the caller is gone
            raise
        except Exception as problem:
            how = self._ending(problem)
        await abort(context, how)

    @contextmanager
    def _turn(self, context: Context) -> Iterator[None]:
        """A call is being answered.  Raises Refused if there are too many."""
        address = address_of(context.peer())
        if self._calls[address] >= MOST_BY_ADDRESS:
            raise Refused("STREAMS", f"{MOST_BY_ADDRESS} calls from this address are being answered; wait for one")
        if self._calls.total() >= MOST_CALLS:
            raise Refused("STREAMS", f"{MOST_CALLS} calls are being answered; come back later")
        self._calls[address] += 1
        try:
            yield
        finally:
            self._calls[address] -= 1
            if not self._calls[address]:
                del self._calls[address]

    async def _apart(self, work: Callable[[], Told]) -> Told:
        """On a thread; given up before it begins if the caller has gone."""
        return await asyncio.wrap_future(self._threads.submit(work))

    def _ending(self, problem: Exception) -> Ending:
        match problem:
            case Refused():
                return problem.ending
            case DecodeError():
                return ending("BAD_MESSAGE", "this is not the message that the method takes")
            case NotFound():
                return ending("NOT_FOUND", legible(str(problem), 300))
            case NotTaken():
                return ending("BAD_MESSAGE", legible(str(problem), 300))
            case LeaderboardError():
                self._log.error("league not read", text=str(problem))
                return ending("STORAGE", "the league cannot be read now; nothing was changed")
        number = self._incident_number()
        self._log.error("call broke", incident=number, error=type(problem).__name__, places=places(problem))
        return incident(number)


def _sized(answer: Message) -> bytes:
    """As bytes.  Raises Refused if that is more than callers take."""
    if answer.ByteSize() > MOST_BYTES:
        raise Refused("BAD_MESSAGE", f"the answer would have {answer.ByteSize():,} bytes; ask for less of it")
    return answer.SerializeToString()
