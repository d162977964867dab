"""The calls that this arena passes on to other arenas of its league.

    forwarder = Forwarder(lobby.other_arenas, key_of(process), log)
    answer = await forwarder.ask(arena, f"/{LADDER}/RequestMatch", request, context)

A call is passed on once: the arena that gets it answers it itself, or refuses it. The token of a call goes with it, but
only to the address in a lease of this arena's own database. So does the address of its caller. The receiver believes
that address only from an arena that knows the receiver's key, so limits by address hold behind another arena, too.

This module knows no service, no ladder's terms and no database.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncGenerator, Collection, Mapping
from typing import Any, Final

import grpc
import grpc.aio
from google.protobuf import duration_pb2
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2

from cutpurse.engine.errors import CutpurseError
from cutpurse.server.access.entrance import Context
from cutpurse.server.access.owners import address_of
from cutpurse.server.errors import REASONS, CallRefused, CallStatus, call_status, legible
from cutpurse.server.limited_log import LimitedLog
from cutpurse.server.matches.other_arenas import OtherArena, OtherArenas
from cutpurse.wire.connection import dialling
from cutpurse.wire.server_address import STRANGER_KEY

__all__ = ["CALLER_KEY", "FORWARDED_KEY", "READ_S", "WRITE_S", "Forwarder", "silent"]

FORWARDED_KEY: Final = "cutpurse-forwarded"  # metadata: key of the arena that gets the call
CALLER_KEY: Final = "cutpurse-caller"  # metadata: address of the caller, believed with the right key only
READ_S: Final = 2.0  # for an answer that this arena can do without
WRITE_S: Final = 10.0  # for any other answer
AVOIDED_S: Final = 3.0  # in which an arena that did not answer is not asked for what can be done without
OPTIONS: Final = (
    ("grpc.enable_http_proxy", 0),
    ("grpc.keepalive_time_ms", 10_000),  # notices an arena that is gone about when its leases end
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 1_000),
    ("grpc.max_reconnect_backoff_ms", 2_000),
    ("grpc.use_local_subchannel_pool", 1),
)
_PASSED_ON: Final = ("authorization", STRANGER_KEY)  # metadata that says who asks


def silent(arena: OtherArena) -> CallStatus:
    """Return the status of a call whose arena does not answer."""
    text = f"the server at {arena.address} does not answer; if it is gone, another plays its ladders within 15 s"
    return call_status("SILENT", f"{text}: ask again then", 5.0)


class Forwarder:
    """The way to the other arenas. Use it on one event loop, and close it before the server stops."""

    def __init__(self, others: OtherArenas, own_key: str, log: LimitedLog) -> None:
        """Set up without a connection.

        Args:
            others: The other arenas.
            own_key: Key of this arena, see `other_arenas.key_of`.
            log: The server's log, for lines that any caller can cause.
        """
        self.others: Final = others
        self._own_key = own_key
        self._log = log
        self._channels: dict[str, grpc.aio.Channel] = {}
        self._silent_at: dict[str, float] = {}  # when an arena last did not answer, by address

    async def close(self) -> None:
        """Close all connections; calls that are under way end."""
        channels, self._channels = self._channels, {}
        for channel in channels.values():
            await channel.close()

    # -- the calls that this arena gets
    def is_forwarded(self, context: Context) -> bool:
        """Return whether another arena passed a call on, or its caller says so, so that it goes no further."""
        return any(key == FORWARDED_KEY for key, _ in context.invocation_metadata() or ())

    def caller_address(self, context: Context) -> str:
        """Return the network address of a caller, even if another arena passed the call on."""
        metadata = dict(context.invocation_metadata() or ())
        key, caller = (str(metadata.get(name, "")) for name in (FORWARDED_KEY, CALLER_KEY))
        if caller and hmac.compare_digest(key.encode(), self._own_key.encode()):
            return caller[:100]
        return address_of(context.peer())

    # -- the calls that it passes on
    async def ask(
        self, arena: OtherArena, method: str, request: bytes, context: Context, patience_s: float = WRITE_S
    ) -> bytes:
        """Pass a call with one answer on.

        Args:
            arena: The arena.
            method: Full name of the method: "/cutpurse.v1.LadderService/RequestMatch".
            request: The request.
            context: The caller's call.
            patience_s: Maximum seconds to wait; less if the caller waits less.

        Raises:
            CallRefused: With the status of the other arena, or SILENT if it does not answer.
        """
        left_s = context.time_remaining()
        timeout_s = patience_s if left_s is None else max(0.0, min(patience_s, left_s))
        try:
            if (channel := self._channels.get(arena.address)) is None:
                channel = self._channels[arena.address] = _channel(arena)
            call: Any = channel.unary_unary(method)
            answer: bytes = await call(request, timeout=timeout_s, metadata=self._metadata(arena, context))
        except (grpc.aio.AioRpcError, CutpurseError) as error:
            raise self._refusal(arena, error, method) from None
        self._silent_at.pop(arena.address, None)
        return answer

    async def ask_all(
        self, arenas: Collection[OtherArena], method: str, request: bytes, context: Context
    ) -> Mapping[OtherArena, bytes]:
        """Ask several arenas at once, and return the answers that came; the others are left out."""
        now = asyncio.get_running_loop().time()
        asked = [one for one in arenas if now >= self._silent_at.get(one.address, -AVOIDED_S) + AVOIDED_S]
        answers = await asyncio.gather(
            *(self.ask(arena, method, request, context, READ_S) for arena in asked), return_exceptions=True
        )
        for answer in answers:
            if isinstance(answer, BaseException) and not isinstance(answer, CallRefused):
                raise answer
        return {arena: answer for arena, answer in zip(asked, answers, strict=True) if isinstance(answer, bytes)}

    async def follow(
        self, arena: OtherArena, method: str, request: bytes, context: Context
    ) -> AsyncGenerator[bytes, None]:
        """Pass a call with a stream of answers on, over a connection of its own, and yield the answers as they come.

        A server answers few calls per connection, and these last.

        Raises:
            CallRefused: As in `ask`, when the other arena ends the stream with an error.
        """
        try:
            async with _channel(arena) as channel:
                call: Any = channel.unary_stream(method)
                metadata = self._metadata(arena, context)
                async for answer in call(request, timeout=context.time_remaining(), metadata=metadata):
                    yield answer
        except (grpc.aio.AioRpcError, CutpurseError) as error:
            raise self._refusal(arena, error, method) from None

    def _metadata(self, arena: OtherArena, context: Context) -> tuple[tuple[str, str | bytes], ...]:
        said = [(key, value) for key, value in context.invocation_metadata() or () if key in _PASSED_ON]
        caller = self.caller_address(context)
        if _is_of_one_machine(caller):  # such as a page, which every machine may have
            caller = f"{caller} at {self._own_key[:8]}"
        caller = caller.encode("ascii", "replace").decode()
        return (*said, (FORWARDED_KEY, arena.key), (CALLER_KEY, caller))

    def _refusal(self, arena: OtherArena, error: grpc.aio.AioRpcError | CutpurseError, method: str) -> CallRefused:
        how = None if isinstance(error, CutpurseError) else _status_of(error)
        if how is None or how.reason == "ELSEWHERE":
            text = str(error) if isinstance(error, CutpurseError) else error.details() or error.code().name
            now = asyncio.get_running_loop().time()
            self._log.info(
                now, "call not passed on", arena.address, arena=arena.address, method=method, text=legible(text, 200)
            )
            lacks = not isinstance(error, CutpurseError) and error.code() is grpc.StatusCode.UNIMPLEMENTED
            if how is None and not lacks:
                self._silent_at[arena.address] = now
            how = silent(arena) if how is None else call_status("SILENT", "the ladder moves to another server", 2.0)
        refused = CallRefused(how.reason, how.text)
        refused.ending = how
        return refused


def _channel(arena: OtherArena) -> grpc.aio.Channel:
    """Create a channel; a certificate is checked as that of any server, see $CUTPURSE_CA.

    Raises:
        CutpurseError: If the address or the file of certificates is invalid.
    """
    return dialling(arena.address, as_stranger=True).channel(OPTIONS)


def _is_of_one_machine(address: str) -> bool:
    return address.startswith(("127.", "::/", "unix:"))


def _status_of(error: grpc.aio.AioRpcError) -> CallStatus | None:
    """Return the status with which an arena ended a call; None if it was not the arena that ended it."""
    for key, value in error.trailing_metadata() or ():
        if key != "grpc-status-details-bin" or not isinstance(value, bytes):
            continue
        try:
            status = status_pb2.Status.FromString(value)
        except DecodeError:
            return None
        info, retry, retry_s = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo(), None
        reason, address = "", ""
        for detail in status.details:
            if detail.Unpack(info):
                reason, address = info.reason, info.metadata.get("address", "")
            elif detail.Unpack(retry):
                retry_s = _seconds(retry.retry_delay)
        if reason in REASONS:
            return call_status(reason, status.message, retry_s, address)
    return None


def _seconds(delay: duration_pb2.Duration) -> float:
    return delay.ToMilliseconds() / 1_000
