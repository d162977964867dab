"""NotifyService over gRPC: owners and hosts manage the receivers of their notices.

A token manages the receivers of its owner; with the scope admin, all. A secret goes into the one answer that reveals
it, and an address is shown without what may be secret in it. This module knows no database.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

import grpc
from google.protobuf.message import Message

from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tokens import HOUSE, PEOPLE
from cutpurse.server.access.entrance import AuthInterceptor, Context
from cutpurse.server.access.owners import Grant, check_scope
from cutpurse.server.act_log import ActLog
from cutpurse.server.call_status import abort, status_of
from cutpurse.server.errors import CallRefused
from cutpurse.server.logs import Logger
from cutpurse.server.parts.notices.channels import Channels, shown_address
from cutpurse.server.parts.notices.errors import DeliveryFailed, UnsuitableAddress
from cutpurse.server.parts.notices.notice import test_of
from cutpurse.server.parts.notices.outbox import Outcome, settle
from cutpurse.server.parts.notices.receivers import (
    WEBHOOK,
    NewReceiver,
    ReceiverEntry,
    add_receiver,
    receiver,
    receivers,
    remove_receiver,
)
from cutpurse.server.parts.notices.signature import new_secret, show_secret
from cutpurse.v1 import notify_pb2

__all__ = ["NOTIFY", "NotifyService"]

NOTIFY: Final = notify_pb2.DESCRIPTOR.services_by_name["NotifyService"].full_name
MOST_AT_ONCE: Final = 4  # calls that wait for other machines; each takes a thread for seconds

_Method = Callable[[bytes, Grant], Message]


class NotifyService:
    """`NotifyService` of notify.proto."""

    def __init__(
        self,
        store: Store,
        channels: Channels,
        entrance: AuthInterceptor,
        log: Logger,
        utc: Callable[[], datetime],
        *,
        incident_number: Callable[[], str],
        acts: ActLog,
    ) -> None:
        """Serve the receivers of a store.

        Args:
            store: Where receivers are stored.
            channels: Checks addresses, and delivers tests.
            entrance: Authenticates calls.
            log: The server's log.
            utc: Returns the time of day.
            incident_number: Returns a new incident number.
            acts: Where acts are noted.
        """
        self._store = store
        self._channels = channels
        self._entrance = entrance
        self._log = log
        self._utc = utc
        self._incident_number = incident_number
        self._acts = acts
        self._outside: set[str] = set()  # owners with a call that waits for another machine
        self._lock = threading.Lock()

    def handler(self) -> grpc.GenericRpcHandler:
        """Return the handler to add to a `grpc.aio.server`."""
        methods: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            "AddReceiver": grpc.unary_unary_rpc_method_handler(self.add),
            "ListReceivers": grpc.unary_unary_rpc_method_handler(self.list),
            "TestReceiver": grpc.unary_unary_rpc_method_handler(self.test),
            "RemoveReceiver": grpc.unary_unary_rpc_method_handler(self.remove),
        }
        return grpc.method_handlers_generic_handler(NOTIFY, methods)

    async def add(self, request: bytes, context: Context) -> bytes:
        """Answer AddReceiver."""
        return await self._answer(self._add, request, context)

    async def list(self, request: bytes, context: Context) -> bytes:
        """Answer ListReceivers."""
        return await self._answer(self._list, request, context)

    async def test(self, request: bytes, context: Context) -> bytes:
        """Answer TestReceiver."""
        return await self._answer(self._test, request, context)

    async def remove(self, request: bytes, context: Context) -> bytes:
        """Answer RemoveReceiver."""
        return await self._answer(self._remove, request, context)

    async def _answer(self, method: _Method, request: bytes, context: Context) -> bytes:
        try:
            grant = await self._entrance.recognise(context)
            check_scope(grant, "admin", "play", "read")
            assert grant is not None
            if grant.owner in (HOUSE, PEOPLE):
                raise CallRefused("NOT_YOURS", f"{grant.owner} has no receivers")
            answer = await asyncio.to_thread(method, request, grant)
            return answer.SerializeToString()
        except Exception as problem:
            unable = "receivers cannot be stored now; nothing was changed"
            how = status_of(
                problem, self._log, self._incident_number, in_trouble="receivers not written", unable=unable
            )
        return await abort(context, how)

    # -- on a thread
    def _add(self, request: bytes, grant: Grant) -> Message:
        asked = notify_pb2.AddReceiverRequest.FromString(request)
        if asked.every_owner and "admin" not in grant.scopes:
            raise CallRefused("TOKEN_SCOPE", "for the bots of every owner, a token with the scope admin is needed")
        try:
            with self._going_outside(grant.owner):
                kind = self._channels.kind_of(asked.address)
        except (UnsuitableAddress, DeliveryFailed) as problem:
            raise CallRefused("BAD_MESSAGE", f"no receiver was added: {problem}") from None
        secret = new_secret() if kind == WEBHOOK else b""
        new = NewReceiver(
            grant.owner, kind, asked.address, secret, tuple(asked.events), tuple(asked.ladders), asked.every_owner
        )
        entry = self._store.write(add_receiver, new, self._utc())
        self._note("receiver added", entry, grant)
        return notify_pb2.AddReceiverResponse(receiver=_shown(entry), secret=show_secret(secret) if secret else "")

    def _list(self, request: bytes, grant: Grant) -> Message:
        notify_pb2.ListReceiversRequest.FromString(request)
        owner = None if "admin" in grant.scopes else grant.owner
        return notify_pb2.ListReceiversResponse(receivers=map(_shown, self._store.run(receivers, owner)))

    def _test(self, request: bytes, grant: Grant) -> Message:
        entry = self._own(notify_pb2.TestReceiverRequest.FromString(request).id, grant)
        notice = test_of(self._utc(), entry.id)
        problem = ""
        try:
            with self._going_outside(grant.owner):
                self._channels.deliver(entry, notice.id, notice.body())
        except DeliveryFailed as failure:
            problem = str(failure)
        else:
            self._store.write_uncached(settle, [Outcome(entry.id, (), is_tested=True)], self._utc())
        return notify_pb2.TestReceiverResponse(receiver=_shown(self._store.run(receiver, entry.id)), problem=problem)

    def _remove(self, request: bytes, grant: Grant) -> Message:
        entry = self._own(notify_pb2.RemoveReceiverRequest.FromString(request).id, grant)
        removed = self._store.write(remove_receiver, entry.id)
        self._note("receiver removed", removed, grant)
        return notify_pb2.RemoveReceiverResponse(receiver=_shown(removed))

    def _own(self, wanted: int, grant: Grant) -> ReceiverEntry:
        """Return a receiver that the caller may manage; others do not exist for them."""
        owner = None if "admin" in grant.scopes else grant.owner
        for entry in self._store.run(receivers, owner):
            if entry.id == wanted:
                return entry
        raise CallRefused("NOT_FOUND", f"there is no receiver {wanted}; `cutpurse notify list` names them")

    @contextmanager
    def _going_outside(self, owner: str) -> Iterator[None]:
        """Wait for other machines, one call of an owner at a time, and few in all.  Raises CallRefused."""
        with self._lock:
            if owner in self._outside or len(self._outside) >= MOST_AT_ONCE:
                raise CallRefused("FULL", "another receiver is being tried; wait until that is done")
            self._outside.add(owner)
        try:
            yield
        finally:
            with self._lock:
                self._outside.discard(owner)

    def _note(self, event: str, entry: ReceiverEntry, grant: Grant) -> None:
        self._log.info(event, receiver=entry.id, owner=entry.owner, kind=entry.kind, by=grant.owner)
        self._acts.note(grant.owner, event, f"{entry.id} of {entry.owner}, {entry.kind}")


def _shown(entry: ReceiverEntry) -> notify_pb2.ReceiverShown:
    return notify_pb2.ReceiverShown(
        id=entry.id,
        owner=entry.owner,
        address=shown_address(entry.kind, entry.address),
        events=entry.events,
        ladders=entry.ladders,
        every_owner=entry.is_host,
        created_ms=_ms(entry.created),
        waiting=entry.waiting,
        delivered=entry.delivered,
        missed=entry.missed,
        failures=entry.failures,
        problem=entry.problem,
        retry_ms=_ms(entry.retry_at),
        paused_ms=_ms(entry.paused),
    )


def _ms(moment: datetime | None) -> int:
    return 0 if moment is None else int(moment.timestamp() * 1_000)
