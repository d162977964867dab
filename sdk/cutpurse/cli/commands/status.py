"""`cutpurse status`: a server's queues, disk and machines, such as the places of its submitted bots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.league_options import Authority, Server
from cutpurse.process.terminal import print_json, print_lines, table
from cutpurse.sdk.status_text import format_parts, format_queues
from cutpurse.wire.text import format_count, printable

if TYPE_CHECKING:
    from cutpurse.v1 import status_pb2

__all__ = ["status"]

SERVER_HEAD: Final = ("server", "ladders", "matches", "bots", "places", "writes", "lag", "version")
PLACE_HEAD: Final = ("place", "address", "runner", "cores", "free", "speed", "round trip", "bots", "state")
LACKS: Final = "tells nothing of its machines: it is older than this program"


def status(server: Server = None, ca: Authority = None, as_json: AsJson = False) -> None:
    """Show how a server is: its matches, bots, queues and disk, and the machines that work for it.

    Of several servers that share a league, any one shows all of them.

    Needs a token of scope admin, unless the server has no tokens.

    Example: cutpurse status --server https://league.example:7777
    """
    answer = _ask(server, ca)
    if as_json:
        print_json(
            {
                "version": answer.version,
                "matches": answer.matches,
                "bots": answer.bots,
                "has_places": answer.has_places,
                "places": [_place_row(place) for place in answer.places],
                "waiting_requests": answer.waiting_requests,
                "waiting_writes": answer.waiting_writes,
                "disk_free_bytes": answer.disk_free_bytes if answer.disk_bytes else None,
                "disk_bytes": answer.disk_bytes or None,
                "has_workers": answer.has_workers,
                "waiting_work": answer.waiting_work,
                "taken_work": answer.taken_work,
                "oldest_work_s": round(answer.oldest_work_s, 1),
                "workers": [{"name": worker.name, "matches": worker.matches} for worker in answer.workers],
                "servers": [_arena_row(arena) for arena in answer.arenas],
                "parts": {part.name: list(part.lines) for part in answer.parts},
            }
        )
        return
    matches = format_count(answer.matches, "open match", "open matches")
    lines = [f"Cutpurse {printable(answer.version, 40)}: {matches}, {format_count(answer.bots, 'bot', 'bots')} online"]
    lines += [*format_queues(answer), *format_parts(answer)]
    for head, rows in (
        (SERVER_HEAD, [_arena_cells(arena) for arena in answer.arenas]),
        (("worker", "matches"), [(printable(worker.name, 64), worker.matches) for worker in answer.workers]),
        (PLACE_HEAD, [_place_cells(place) for place in answer.places]),
    ):
        if rows:
            lines += table(head, rows)
    if answer.has_places and not answer.places:
        lines.append("no place attends; start one with `cutpurse place`")
    elif not answer.places:
        lines.append(
            "submitted bots run on the server itself, or nowhere; `cutpurse serve --places` runs them at places"
        )
    print_lines(lines)


def _ask(server: str | None, ca: Any) -> status_pb2.GetStatusResponse:
    import grpc

    from cutpurse.v1 import status_pb2, status_pb2_grpc
    from cutpurse.wire.connection import dialling
    from cutpurse.wire.league import PATIENCE_S, refusal

    to = dialling(server, ca)
    with to.blocking_channel((("grpc.enable_http_proxy", 0),)) as channel:
        stub = status_pb2_grpc.StatusServiceStub(channel)
        try:
            return stub.GetStatus(status_pb2.GetStatusRequest(), timeout=PATIENCE_S, metadata=to.metadata)
        except grpc.RpcError as error:
            raise refusal(error, to, LACKS) from None


def _arena_row(arena: status_pb2.ArenaStatus) -> dict[str, Any]:
    return {
        "address": arena.address,
        "version": arena.version or None,
        "ladders": list(arena.ladders),
        "matches": arena.matches,
        "bots": arena.bots,
        "places": arena.places,
        "waiting_writes": arena.waiting_writes,
        "lag_s": round(arena.lag_s, 1),
    }


def _arena_cells(arena: status_pb2.ArenaStatus) -> tuple[object, ...]:
    counts: tuple[object, ...] = (arena.matches, arena.bots, arena.places, arena.waiting_writes)
    return (
        printable(arena.address, 200),
        ", ".join(printable(ladder, 64) for ladder in arena.ladders),
        *(counts if arena.version else ("",) * len(counts)),
        f"{arena.lag_s:.1f} s",
        printable(arena.version, 40) or "does not answer",
    )


def _place_row(place: status_pb2.PlaceStatus) -> dict[str, Any]:
    return {
        "name": place.name,
        "address": place.address,
        "runner": place.runner,
        "cores": place.cores,
        "free_cores": place.free_cores,
        "speed": round(place.speed, 1),
        "round_trip_ms": round(place.round_trip_us / 1_000, 3) if place.round_trip_us else None,
        "bots": list(place.bots),
        "unused": place.unused or None,
    }


def _place_cells(place: status_pb2.PlaceStatus) -> tuple[object, ...]:
    return (
        printable(place.name, 64),
        printable(place.address, 64),
        printable(place.runner, 64),
        f"{place.cores:g}",
        f"{place.free_cores:g}",
        f"{place.speed:.0f}",
        f"{place.round_trip_us / 1_000:.1f} ms" if place.round_trip_us else "",
        len(place.bots),
        f"not used: {printable(place.unused)}" if place.unused else "used",
    )
