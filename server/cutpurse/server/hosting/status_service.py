"""The gRPC StatusService: the machines of a server, for its admins.

`server_status` lists them; a new kind of machine is a field of GetStatusResponse and a line there. A server that is one
of several asks the others for theirs.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from time import monotonic
from typing import Any, Final

import grpc

from cutpurse.leaderboard.arena_store import ArenaStore
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.work import WorkLoad
from cutpurse.server.access.entrance import AuthInterceptor, Context
from cutpurse.server.call_status import abort, status_without_store
from cutpurse.server.dealing.work_dealer import WorkDealer
from cutpurse.server.forwarding.forwarder import Forwarder
from cutpurse.server.hosting.leasing import Leasing
from cutpurse.server.logs import Logger
from cutpurse.server.matches.lobby import Lobby
from cutpurse.server.matches.other_arenas import OtherArenas
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
        forwarder: Forwarder | None = None,
    ) -> None:
        """Serve the status.

        Args:
            status: Returns it, on the event loop.
            entrance: Authorizes callers.
            log: The server's log.
            incident_number: Returns a new incident number.
            forwarder: The way to other arenas; None if there are none.
        """
        self._forwarder = forwarder
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
            await self._entrance.enter(context, "admin")
            status, forwarder = self._status(), self._forwarder
            if forwarder is not None and not forwarder.is_forwarded(context):
                arenas = forwarder.others.arenas
                told = await forwarder.ask_all(arenas, f"/{STATUS}/GetStatus", request, context)
                answers = {arena.address: answer for arena, answer in told.items()}
                for address in {arena.address for arena in arenas}:
                    status.arenas.append(_other_arena(address, answers.get(address), forwarder.others))
                status.arenas.sort(key=lambda arena: arena.address)
            return status.SerializeToString()
        except Exception as problem:
            how = status_without_store(problem, self._log, self._incident_number)
        return await abort(context, how)


def _other_arena(address: str, answer: bytes | None, others: OtherArenas) -> status_pb2.ArenaStatus:
    """Return the status of another arena: what it says of itself, or what is known of one that does not answer."""
    told = status_pb2.GetStatusResponse() if answer is None else status_pb2.GetStatusResponse.FromString(answer)
    shown = told.arenas[0] if told.arenas else status_pb2.ArenaStatus(ladders=sorted(others.ladders_at(address)))
    shown.address = address
    shown.lag_s = max(shown.lag_s, 0.0 if told.arenas else others.lags.get(address, 0.0))
    return shown


def _own_arena(
    status: status_pb2.GetStatusResponse, address: str, lobby: Lobby, lag_s: float
) -> status_pb2.ArenaStatus:
    """Return the status of this arena as one of several."""
    return status_pb2.ArenaStatus(
        address=address,
        version=status.version,
        ladders=sorted(ladder.name for ladder in lobby.own_ladders),
        matches=status.matches,
        bots=status.bots,
        waiting_writes=status.waiting_writes,
        places=len(status.places),
        lag_s=lag_s,
    )


def server_status(
    lobby: Lobby,
    store: Store,
    places: Places | None,
    dealer: WorkDealer | None,
    leasing: Leasing | None,
) -> status_pb2.GetStatusResponse:
    """Return the status of a server now.

    Args:
        lobby: Its lobby.
        store: Its store.
        places: The places of its submitted bots, if they run at places.
        dealer: Deals the matches that workers play, if they do.
        leasing: The leases of this arena, if it is one of several.
    """
    disk = shutil.disk_usage(_folder(store.database.beside))
    load = WorkLoad() if dealer is None else dealer.load
    status = status_pb2.GetStatusResponse(
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
        waiting_work=load.counts.get("waiting", 0),
        taken_work=load.counts.get("taken", 0),
        oldest_work_s=0.0 if load.oldest is None else max(0.0, (datetime.now(UTC) - load.oldest).total_seconds()),
        workers=_workers(load),
    )
    if leasing is not None and isinstance(store, ArenaStore):
        lag_s = max(0.0, monotonic() - leasing.renewed_at)
        status.arenas.append(_own_arena(status, store.holder.address, lobby, lag_s))
    return status


def _workers(load: WorkLoad) -> list[status_pb2.WorkerStatus]:
    counts: Counter[str] = Counter()
    for process, count in load.workers.items():
        counts[process.partition(" ")[0]] += count  # the rest tells its process from others of its name
    return [status_pb2.WorkerStatus(name=name, matches=count) for name, count in sorted(counts.items())]


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
