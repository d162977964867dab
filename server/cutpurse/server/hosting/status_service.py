"""The gRPC StatusService: the machines of a server, for its admins.

`server_status` lists them; a part sets the fields that are its own. A server that is one of several asks the others for
theirs.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import grpc

from cutpurse.leaderboard.store import Store
from cutpurse.server.access.entrance import AuthInterceptor, Context
from cutpurse.server.call_status import abort, status_without_store
from cutpurse.server.hosting.part import Part
from cutpurse.server.league.league_calls import caller_of
from cutpurse.server.league.other_servers import OtherServers, ServerCall
from cutpurse.server.logs import Logger
from cutpurse.server.matches.lobby import Lobby
from cutpurse.v1 import status_pb2
from cutpurse.wire.version import VERSION

__all__ = ["STATUS", "StatusService", "server_status"]

STATUS: Final = status_pb2.DESCRIPTOR.services_by_name["StatusService"].full_name


class StatusService:
    """The `StatusService` of status.proto."""

    def __init__(
        self,
        status: Callable[[], status_pb2.GetStatusResponse],
        entrance: AuthInterceptor,
        log: Logger,
        *,
        incident_number: Callable[[], str],
        servers: OtherServers | None = None,
    ) -> None:
        """Serve the status.

        Args:
            status: Returns it, on the event loop.
            entrance: Authorizes callers.
            log: The server's log.
            incident_number: Returns a new incident number.
            servers: The other servers of the league; by default there are none.
        """
        self._servers = servers or OtherServers()
        self._status = status
        self._entrance = entrance
        self._log = log
        self._incident_number = incident_number

    def handler(self) -> grpc.GenericRpcHandler:
        """Return the handler to add to a `grpc.aio.server`."""
        methods: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            "GetStatus": grpc.unary_unary_rpc_method_handler(self.get)
        }
        return grpc.method_handlers_generic_handler(STATUS, methods)

    async def get(self, request: bytes, context: Context) -> bytes:
        """Answer GetStatus."""
        try:
            caller = caller_of(await self._entrance.enter(context, "admin"))
            status = self._status()
            call = ServerCall(f"/{STATUS}/GetStatus", request, caller, context)
            if (complete := await self._servers.complete(call, status)) is not None:
                complete()
            return status.SerializeToString()
        except Exception as problem:
            how = status_without_store(problem, self._log, self._incident_number)
        return await abort(context, how)


def server_status(lobby: Lobby, store: Store, parts: Mapping[str, Part]) -> status_pb2.GetStatusResponse:
    """Return the status of a server now.

    Args:
        lobby: Its lobby.
        store: Its store.
        parts: The parts that are on.
    """
    disk = shutil.disk_usage(_folder(store.database.beside))
    status = status_pb2.GetStatusResponse(
        version=VERSION,
        matches=len(lobby.open_matches()),
        bots=len(lobby.here()),
        waiting_requests=lobby.waiting_requests,
        waiting_writes=store.waiting,
        disk_free_bytes=disk.free,
        disk_bytes=disk.total,
        parts=[
            status_pb2.PartStatus(name=name, lines=lines) for name, part in parts.items() if (lines := part.status())
        ],
    )
    for part in reversed([*parts.values()]):  # the part that shares the league sums up what the others report
        part.report(status)
    return status


def _folder(beside: Path) -> Path:
    """Return the folder of the league's files, or the nearest one above that exists."""
    return next(folder for folder in beside.absolute().parents if folder.is_dir())
