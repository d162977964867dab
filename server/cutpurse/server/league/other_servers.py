"""The other servers of a league, as calls find them; `OtherServers` is that of a server that is alone.

A part that lets several servers share a league puts one of its own in its place, see `hosting.part.Core.servers`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass

from google.protobuf.message import Message

from cutpurse.server.access.entrance import Context
from cutpurse.server.access.owners import address_of
from cutpurse.server.errors import CallStatus
from cutpurse.server.league.league_queries import Caller
from cutpurse.v1 import ladder_pb2

__all__ = ["OtherServers", "ServerCall"]


@dataclass(frozen=True, slots=True)
class ServerCall:
    """A call that another server may answer or complete.

    Attributes:
        method: Full name of the method: "/cutpurse.v1.LadderService/RequestMatch".
        request: The request.
        caller: Who calls.
        context: gRPC's side of the call.
    """

    method: str
    request: bytes
    caller: Caller
    context: Context


class OtherServers:
    """No other servers: all ladders are played here.

    Attributes:
        is_alone: Whether there are none, now and later.
        address: Where bots dial this one, as the others know it.
    """

    is_alone = True
    address = ""

    def epoch_of(self, ladder: str) -> int | None:
        """Return the epoch in which this server plays a ladder; None if it does not; thread-safe."""
        return 0

    def locate(self, plays: Callable[[str, str], bool], owner: str) -> tuple[bool, Sequence[tuple[str, str]]]:
        """Return whether a bot can play here, and where else, see `Lobby.locate`."""
        return True, ()

    def caller_address(self, context: Context) -> str:
        """Return the network address of a caller, even if another server passed the call on."""
        return address_of(context.peer())

    async def answer(self, call: ServerCall, ladder: Callable[[], Awaitable[str]], *, is_played: bool) -> bytes | None:
        """Return the answer of the server whose ladder a call is about; None if this one answers.

        Args:
            call: The call.
            ladder: Returns the ladder.
            is_played: Whether only the server that plays the ladder can answer.

        Raises:
            CallRefused: SILENT if no server has the ladder and one is needed; ELSEWHERE if the call was passed on to
                this server, which has lost the ladder meanwhile.
        """
        return None

    async def complete(self, call: ServerCall, own: Message) -> Callable[[], Message] | None:
        """Ask the others for what they know beside this server's own answer.

        Returns:
            A function that puts all into `own` and returns it, to be called on a thread; None if `own` is complete.
        """
        return None

    def watch(
        self, call: ServerCall, watched: ladder_pb2.WatchMatchRequest, refusal: CallStatus
    ) -> AsyncGenerator[bytes, None] | None:
        """Return the messages of the server that has what this one has refused to show; None if none has it.

        The generator raises CallRefused with the status with which the watch ends.
        """
        return None
