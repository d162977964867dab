"""The gRPC StatusService: the machines of a server, for its admins.

`server_status` lists them; a new kind of machine is a field of GetStatusResponse and a line there.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import grpc

from cutpurse.leaderboard.store import Store
from cutpurse.server.access.entrance import AuthInterceptor, Context
from cutpurse.server.call_status import abort, status_without_store
from cutpurse.server.dealing.work_dealer import WorkDealer
from cutpurse.server.logs import Logger
from cutpurse.server.matches.lobby import Lobby
from cutpurse.server.places.places import Place, Places
from cutpurse.v1 import status_pb2

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
    ) -> None:
        """Serve the status.

        Args:
            status: Returns it, on the event loop.
            entrance: Authorizes callers.
            log: The server's log.
            incident_number: Returns a new incident number.
        """
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

    async def get(self, _request: bytes, context: Context) -> bytes:
        """Answer GetStatus."""
        try:
            await self._entrance.enter(context, "admin")
            return self._status().SerializeToString()
        except Exception as problem:
            how = status_without_store(problem, self._log, self._incident_number)
        return await abort(context, how)


def server_status(
    lobby: Lobby, store: Store, places: Places | None, dealer: WorkDealer | None
) -> status_pb2.GetStatusResponse:
    """Return the status of a server now.

    Args:
        lobby: Its lobby.
        store: Its store.
        places: The places of its submitted bots, if they run at places.
        dealer: Deals the matches that workers play, if they do.
    """
    disk = shutil.disk_usage(_folder(store.database.beside))
    work = {} if dealer is None else dealer.work_counts
    return status_pb2.GetStatusResponse(
        version=version("cutpurse"),
        matches=len(lobby.open_matches()),
        bots=len(lobby.here()),
        has_places=places is not None,
        places=[_place(place, places) for place in places.listed()] if places is not None else (),
        waiting_requests=lobby.waiting_requests,
        waiting_writes=store.waiting,
        disk_free_bytes=disk.free,
        disk_bytes=disk.total,
        has_workers=dealer is not None,
        waiting_work=work.get("waiting", 0),
        taken_work=work.get("taken", 0),
    )


def _folder(beside: Path) -> Path:
    """Return the folder of the league's files, or the nearest one above that exists."""
    return next(folder for folder in beside.absolute().parents if folder.is_dir())


def _place(place: Place, places: Places) -> status_pb2.PlaceStatus:
    return status_pb2.PlaceStatus(
        name=place.facts.name,
        address=place.facts.address,
        runner=place.facts.runner,
        cores=place.facts.cores,
        free_cores=place.free_cores,
        speed=place.speed,
        round_trip_us=round(1e6 * (place.round_trip_s or 0.0)),
        bots=sorted(f"{bot.owner}/{bot.bot}:{bot.version}" for bot in places.bots_of([*place.programs.values()])),
        unused=place.unused,
    )
