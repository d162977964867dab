"""The gRPC SubmissionService: owners submit bots and manage their submissions.

An archive is received in memory; limits on its size and on simultaneous uploads bound that memory. All other work runs
on the service's own threads. This module authorizes the caller; `submission_desk` decides everything else.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from typing import Any, Final, Protocol, TypeVar

import grpc
from google.protobuf.message import Message

from cutpurse.leaderboard.results import Identity
from cutpurse.server.access.entrance import AuthInterceptor, Context
from cutpurse.server.act_log import ActLog
from cutpurse.server.call_status import abort, status_of
from cutpurse.server.errors import CallRefused, CallStatus
from cutpurse.server.league.league_queries import Caller
from cutpurse.server.league.other_servers import OtherServers, ServerCall
from cutpurse.server.logs import Logger
from cutpurse.server.parts.submissions.submission_desk import (
    SubmissionDesk,
    published_to_proto,
    requested_ladders,
)
from cutpurse.v1 import submission_pb2
from cutpurse.wire.packing import MOST_PACKED

__all__ = ["SUBMISSIONS", "SubmissionService"]

SUBMISSIONS: Final = submission_pb2.DESCRIPTOR.services_by_name["SubmissionService"].full_name
THREADS: Final = 2
MOST_BY_OWNER: Final = 16  # simultaneous calls per owner, including calls that wait for a slow reader
MOST_CALLS: Final = 256  # simultaneous calls of all owners
MOST_SENDING: Final = 4  # simultaneous uploads of all owners
SEND_S: Final = 120.0  # for an upload
PIECE: Final = 32_768  # bytes per message of a download
MOST_TALK: Final = 1_500_000  # characters of output sent

Told = TypeVar("Told")


class Ladders(Protocol):
    """The part of a `Lobby` that knows the ladders. Call it on the event loop."""

    def ladders(self, owner: str) -> Mapping[str, Sequence[str]]:
        """List the ladders of each game that this owner can see."""

    def check_submitted(self, identity: Identity, wanted: Mapping[str, Sequence[str]], forgets: bool) -> None:
        """Check that a submitted bot may play on these ladders.

        Raises:
            CallRefused: If it may not.
        """


class SubmissionService:
    """The `SubmissionService` of submission.proto. Call `close` after the last call."""

    def __init__(
        self,
        desk: SubmissionDesk,
        ladders: Ladders,
        entrance: AuthInterceptor,
        log: Logger,
        *,
        is_open: Callable[[], bool],
        is_run_elsewhere: Callable[[Identity], bool],
        incident_number: Callable[[], str],
        acts: ActLog | None = None,
        servers: OtherServers | None = None,
    ) -> None:
        """Create the service and its threads.

        Args:
            desk: Manages the submissions.
            ladders: Knows the ladders.
            entrance: Authorizes callers.
            log: Server log.
            is_open: Returns whether submissions are accepted now; False while the server stops.
            is_run_elsewhere: Returns, on the event loop, whether a bot is online from a process of its owner.
            incident_number: Returns a new ID for a server error.
            acts: Where submissions, retirements and activations are noted; None means nowhere.
            servers: The other servers of the league, which may run the bots; by default there are none.
        """
        self._desk = desk
        self._ladders = ladders
        self._entrance = entrance
        self._log = log
        self._is_open = is_open
        self._is_run_elsewhere = is_run_elsewhere
        self._incident_number = incident_number
        self._acts = acts or ActLog()
        self._servers = servers or OtherServers()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="submissions")
        self._sending: Counter[str] = Counter()  # by owner
        self._calls: Counter[str] = Counter()  # by owner
        self._readers: set[asyncio.Task[None]] = set()  # never cancelled: a read ends with its call

    def close(self) -> None:
        """Stop the threads; call it when no more calls come."""
        self._threads.shutdown(cancel_futures=True)

    def handler(self) -> grpc.GenericRpcHandler:
        """Return the handler to add to a `grpc.aio.server`."""
        unary: dict[str, Callable[[bytes, str], Message]] = {
            "ListSubmissions": self._list,
            "GetSubmissionLog": self._log_of,
            "RetireBot": self._retire,
            "ActivateVersion": self._activate,
            "PublishVersion": self._publish,
        }
        methods: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            name: grpc.unary_unary_rpc_method_handler(self._answering(name, answer)) for name, answer in unary.items()
        }
        methods["Submit"] = grpc.stream_unary_rpc_method_handler(self.submit)
        methods["GetArchive"] = grpc.unary_stream_rpc_method_handler(self.get_archive)
        return grpc.method_handlers_generic_handler(SUBMISSIONS, methods)

    def _answering(
        self, name: str, answer: Callable[[bytes, str], Message]
    ) -> Callable[[bytes, Context], Awaitable[bytes]]:
        async def answered(request: bytes, context: Context) -> bytes:
            async def told(owner: str) -> bytes:
                own = await self._apart(lambda: answer(request, owner))
                call = ServerCall(f"/{SUBMISSIONS}/{name}", request, Caller(owner, frozenset()), context)
                if (complete := await self._servers.complete(call, own)) is not None:
                    complete()
                return own.SerializeToString()

            return await self._guarded(told, context)

        return answered

    # -- submitting
    async def submit(self, _requests: object, context: Context) -> bytes:
        """Answer Submit: receive an archive, check it and queue it."""

        async def told(owner: str) -> bytes:
            if not self._is_open():
                raise CallRefused("DRAINING", "the server is stopping and accepts nothing; submit it again later")
            if self._sending[owner] or self._sending.total() >= MOST_SENDING:
                raise CallRefused("STREAMS", "another archive is being sent; wait for it")
            self._sending[owner] += 1
            try:
                head, content = await self._received(context)
            finally:
                del self._sending[owner]
            return await self._take(owner, head, content)

        return await self._guarded(told, context)

    async def _received(self, context: Context) -> tuple[submission_pb2.SubmissionHead, bytes]:
        """Return the head and the whole archive that the caller sends.

        Raises:
            CallRefused: If they are invalid or take too long.
        """
        arrived: asyncio.Future[tuple[submission_pb2.SubmissionHead, bytes]] = (
            asyncio.get_running_loop().create_future()
        )
        reader = asyncio.get_running_loop().create_task(self._read(context, arrived))
        self._readers.add(reader)
        reader.add_done_callback(self._readers.discard)
        try:
            return await asyncio.wait_for(arrived, SEND_S)
        except TimeoutError:
            raise CallRefused("SILENT", f"the archive did not come within {SEND_S:g} s") from None

    async def _read(
        self, context: Context, arrived: asyncio.Future[tuple[submission_pb2.SubmissionHead, bytes]]
    ) -> None:
        content = bytearray()
        head: submission_pb2.SubmissionHead | None = None
        try:
            while (data := await context.read()) is not grpc.aio.EOF:
                if arrived.done():
                    return
                request = submission_pb2.SubmitRequest.FromString(data)
                if request.HasField("head"):
                    if head is not None or content:
                        raise CallRefused("BAD_MESSAGE", "the head comes once, and first")
                    head = request.head
                    _check_head(head)
                if head is None:
                    raise CallRefused("BAD_MESSAGE", "the head comes first")
                content += request.piece
                if len(content) > head.size:
                    raise CallRefused("BAD_MESSAGE", f"more bytes came than the {head.size:,} that were announced")
            if head is None or len(content) != head.size:
                raise CallRefused(
                    "BAD_MESSAGE", f"{len(content):,} bytes came, not as many as were announced: send it again"
                )
        except (grpc.aio.BaseError, asyncio.CancelledError):
            if not arrived.done():
                arrived.cancel()
            return
        except Exception as problem:
            if not arrived.done():
                arrived.set_exception(problem)
            return
        if not arrived.done():
            arrived.set_result((head, bytes(content)))

    async def _take(self, owner: str, head: submission_pb2.SubmissionHead, content: bytes) -> bytes:
        desk = self._desk
        if (await self._apart(lambda: sha256(content).digest())) != head.sha256:
            raise CallRefused("BAD_MESSAGE", "the content does not match its SHA-256: send it again")
        manifest = await self._apart(lambda: desk.look(content))
        wanted = requested_ladders(manifest, head.ladders, self._ladders.ladders(owner))
        ladders = [*dict.fromkeys(head.ladders)]
        desk.check_ladders(ladders)
        identity = Identity(owner, manifest.name, manifest.version)
        self._ladders.check_submitted(identity, wanted, forgets=desk.plays_one(ladders))
        if self._is_run_elsewhere(identity):  # the hosted bot would take over its session, and lose its open matches
            raise CallRefused(
                "BAD_MESSAGE",
                f"{identity.shown} plays here already, and you run it: end it with Ctrl-C and submit it then, or give "
                "this one another version in bot.toml",
            )
        # Shielded, since the caller may disconnect: a stored archive must also be queued.
        work = self._threads.submit(lambda: desk.hand_in(owner, manifest, content, ladders))
        entry = await asyncio.shield(asyncio.wrap_future(work))
        await self._apart(lambda: self._acts.note(owner, "bot submitted", identity.shown))
        message = await self._apart(lambda: desk.shown(entry))
        return submission_pb2.SubmitResponse(submission=message).SerializeToString()

    # -- calls on a thread
    def _list(self, request: bytes, owner: str) -> Message:
        call = submission_pb2.ListSubmissionsRequest.FromString(request)
        if call.owner not in ("", owner):
            public = self._desk.published(call.owner, call.bot, call.version)
            return submission_pb2.ListSubmissionsResponse(submissions=map(published_to_proto, public))
        entries = self._desk.entries(owner, call.bot, call.version)
        return submission_pb2.ListSubmissionsResponse(submissions=[self._desk.shown(entry) for entry in entries])

    def _log_of(self, request: bytes, owner: str) -> Message:
        call = submission_pb2.GetSubmissionLogRequest.FromString(request)
        entry = self._desk.entry(owner, call.bot, call.version)
        check, talk = self._desk.log(entry)
        return submission_pb2.GetSubmissionLogResponse(
            submission=self._desk.shown(entry), check=check, talk=talk[-MOST_TALK:]
        )

    def _retire(self, request: bytes, owner: str) -> Message:
        call = submission_pb2.RetireBotRequest.FromString(request)
        entry = self._desk.retire(owner, call.bot, call.version)
        self._acts.note(owner, "bot retired", entry.shown)
        return submission_pb2.RetireBotResponse(submission=self._desk.shown(entry))

    def _activate(self, request: bytes, owner: str) -> Message:
        call = submission_pb2.ActivateVersionRequest.FromString(request)
        entry = self._desk.activate(owner, call.bot, call.version)
        self._acts.note(owner, "bot activated", entry.shown)
        return submission_pb2.ActivateVersionResponse(submission=self._desk.shown(entry))

    def _publish(self, request: bytes, owner: str) -> Message:
        call = submission_pb2.PublishVersionRequest.FromString(request)
        entry = self._desk.publish(owner, call)
        self._acts.note(owner, f"bot {'published' if entry.licence else 'withdrawn'}", entry.shown)
        return submission_pb2.PublishVersionResponse(submission=self._desk.shown(entry))

    async def get_archive(self, request: bytes, context: Context) -> None:
        """Answer GetArchive: send the archive of a submission in pieces."""

        async def told(owner: str) -> None:
            asked = submission_pb2.GetArchiveRequest.FromString(request)
            desk = self._desk
            if asked.owner in ("", owner):
                entry = await self._apart(lambda: desk.entry(owner, asked.bot, asked.version))
            else:
                entry = await self._apart(lambda: desk.published_entry(asked.owner, asked.bot, asked.version))
            head = submission_pb2.GetArchiveResponse(submission=published_to_proto(entry))
            await context.write(head.SerializeToString())
            size = await self._apart(lambda: len(desk.archive(entry)))
            for at in range(0, size, PIECE):  # by piece, since a slow reader must not hold the whole archive in memory
                piece = await self._apart(partial(desk.piece, entry, at, PIECE))
                await context.write(submission_pb2.GetArchiveResponse(piece=piece).SerializeToString())

        await self._guarded(told, context)

    # -- every call
    async def _owner(self, context: Context) -> str:
        """Return the owner of the caller's token.

        Raises:
            CallRefused: If the token does not permit the call.
        """
        grant = await self._entrance.enter(context, "play")
        if grant.resident is not None:
            raise CallRefused("TOKEN_SCOPE", "this token is a bot's own, for playing: it is not its author who asks")
        return grant.owner

    async def _guarded(self, answer: Callable[[str], Awaitable[Told]], context: Context) -> Told | bytes:
        """Answer the call of an authorized owner, or end it with a status."""
        try:
            owner = await self._owner(context)
            with self._turn(owner):
                return await answer(owner)
        except grpc.aio.BaseError:  # the caller has disconnected
            raise
        except Exception as problem:
            how = self._ending(problem)
        return await abort(context, how)

    @contextmanager
    def _turn(self, owner: str) -> Iterator[None]:
        """Count a call as open while the block runs.

        Raises:
            CallRefused: If there are too many.
        """
        if self._calls[owner] >= MOST_BY_OWNER:
            raise CallRefused("STREAMS", f"{MOST_BY_OWNER} calls of {owner} are being answered; wait for one")
        if self._calls.total() >= MOST_CALLS:
            raise CallRefused("STREAMS", f"{MOST_CALLS} calls are being answered; come back later")
        self._calls[owner] += 1
        try:
            yield
        finally:
            self._calls[owner] -= 1
            if not self._calls[owner]:
                del self._calls[owner]

    async def _apart(self, work: Callable[[], Told]) -> Told:
        """Run `work` on one of the service's threads."""
        return await asyncio.wrap_future(self._threads.submit(work))

    def _ending(self, problem: Exception) -> CallStatus:
        unable = "nothing can be stored now; submit it again later"
        return status_of(problem, self._log, self._incident_number, in_trouble="submission not kept", unable=unable)


def _check_head(head: submission_pb2.SubmissionHead) -> None:
    if not 0 < head.size <= MOST_PACKED:
        raise CallRefused(
            "BAD_MESSAGE", f"an archive of {head.size:,} bytes is not taken; the maximum is {MOST_PACKED:,}"
        )
    if len(head.sha256) != 32 or len(head.ladders) > 100:
        raise CallRefused("BAD_MESSAGE", "the head has no SHA-256 of 32 bytes, or too many ladders")
