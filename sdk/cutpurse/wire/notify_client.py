"""The calls of NotifyService: where a server sends notices.

A server's refusal becomes an error of the command line, as with a league. This module knows no command.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import grpc

from cutpurse.v1 import notify_pb2, notify_pb2_grpc
from cutpurse.wire.connection import Dialling, dialling
from cutpurse.wire.league import refusal

__all__ = ["ReceiverCalls", "receivers_at"]

PATIENCE_S: Final = 60.0  # the server itself waits for other machines
LACKS: Final = "sends no notices; ask its operator for --notify"
_OPTIONS: Final = (("grpc.enable_http_proxy", 0), ("grpc.use_local_subchannel_pool", 1))


class ReceiverCalls:
    """The calls to one server. Each raises NotFound, NotAuthorised, UsageError, ServerUnreachable or ServerRefused."""

    def __init__(self, stub: Any, to: Dialling) -> None:
        self._stub = stub
        self._to = to

    def add(
        self, address: str, events: Sequence[str], ladders: Sequence[str], every_owner: bool
    ) -> tuple[notify_pb2.ReceiverShown, str]:
        """Add a receiver; return it with the secret of its signatures, which is empty if nothing is signed."""
        request = notify_pb2.AddReceiverRequest(
            address=address, events=events, ladders=ladders, every_owner=every_owner
        )
        answer: notify_pb2.AddReceiverResponse = self._ask("AddReceiver", request)
        return answer.receiver, answer.secret

    def list(self) -> Sequence[notify_pb2.ReceiverShown]:
        """List the receivers that this token manages."""
        answer: notify_pb2.ListReceiversResponse = self._ask("ListReceivers", notify_pb2.ListReceiversRequest())
        return answer.receivers

    def test(self, receiver: int) -> tuple[notify_pb2.ReceiverShown, str]:
        """Send a notice to a receiver; return it, and why that failed, which is empty if it succeeded."""
        request = notify_pb2.TestReceiverRequest(id=receiver)
        answer: notify_pb2.TestReceiverResponse = self._ask("TestReceiver", request)
        return answer.receiver, answer.problem

    def remove(self, receiver: int) -> notify_pb2.ReceiverShown:
        """Remove a receiver."""
        request = notify_pb2.RemoveReceiverRequest(id=receiver)
        answer: notify_pb2.RemoveReceiverResponse = self._ask("RemoveReceiver", request)
        return answer.receiver

    def _ask(self, name: str, request: Any) -> Any:
        try:
            return getattr(self._stub, name)(request, timeout=PATIENCE_S, metadata=self._to.metadata)
        except grpc.RpcError as error:
            raise refusal(error, self._to, LACKS) from None


@contextmanager
def receivers_at(server: str | None = None, ca: str | os.PathLike[str] | None = None) -> Iterator[ReceiverCalls]:
    """Open a connection to a server, for the length of the block."""
    to = dialling(server, ca)
    with to.blocking_channel(_OPTIONS) as channel:
        stub: Any = notify_pb2_grpc.NotifyServiceStub(channel)
        yield ReceiverCalls(stub, to)
