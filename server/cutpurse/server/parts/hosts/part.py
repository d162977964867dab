"""The part `hosts` of a server: submitted bots run at places, which are other machines that attend."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

from cutpurse.server.hosting.part import Core, Figure, Part, Service
from cutpurse.server.parts.hosts.host_facts import host_facts
from cutpurse.server.parts.hosts.place_service import PLACES, PlaceService
from cutpurse.server.parts.hosts.places import Place, Places
from cutpurse.server.parts.submissions.part import SubmissionsPart
from cutpurse.v1 import status_pb2

__all__ = ["HostsPart", "figures"]


class HostsPart(Part):
    """Runs the bots of the desk at the places that attend."""

    def __init__(self, core: Core) -> None:
        """Have hosted bots run at places from now on."""
        submissions, lobby = core.part(SubmissionsPart), core.lobby
        self._core = core
        self._host = host_facts(submissions.runner.name)
        self.places = Places(core.log)
        self.places.has_memory = self._host.is_isolated
        self.places.bots_of = submissions.desk.residents.bots_of
        self.places.on_delay, self.places.on_crowding = lobby.delay, lobby.credit_to
        self.places.on_lost, self.places.part = lobby.lose, lobby.part
        self.places.listen(lobby.hooks)
        submissions.desk.residents.runner = self.places

    def services(self) -> Sequence[Service]:
        """Return the service on which places attend."""
        core = self._core
        service = PlaceService(
            self.places,
            self._host,
            core.entrance,
            core.log,
            is_good=core.entrance.is_good,
            alive=core.beat,
            incident_number=core.incident_number,
        )
        return [Service(PLACES, service.handler())]

    async def run(self) -> None:
        """Wait for the end of the server, then end the streams of the places."""
        try:
            await asyncio.Event().wait()
        finally:
            self.places.close()

    def close(self) -> None:
        """Let no place attend, also where `run` was never called."""
        self.places.close()

    def figures(self) -> Iterator[Figure]:
        """Yield the figures of the places."""
        return figures(self.places.listed())

    def report(self, status: status_pb2.GetStatusResponse) -> None:
        """List the places."""
        status.has_places = True
        status.places.extend([self._shown(place) for place in self.places.listed()])

    def greeting(self) -> Sequence[str]:
        """Return how a place attends."""
        return ["they run at places: cutpurse place --server ADDRESS, with a token of scope place"]

    def _shown(self, place: Place) -> status_pb2.PlaceStatus:
        bots = self.places.bots_of([*place.programs.values()])
        return status_pb2.PlaceStatus(
            name=place.facts.name,
            address=place.facts.address,
            runner=place.facts.runner,
            cores=place.facts.cores,
            free_cores=place.free_cores,
            speed=place.speed,
            round_trip_us=round(1e6 * (place.round_trip_s or 0.0)),
            bots=sorted(f"{bot.owner}/{bot.bot}:{bot.version}" for bot in bots),
            unused=place.unused,
        )


def figures(places: Sequence[Place]) -> Iterator[Figure]:
    """Yield the figures of these places."""
    free = sum(place.free_cores for place in places)
    yield Figure("places", "Places that attend, to run submitted bots", len(places))
    cores = {"free": free, "used": sum(place.facts.cores for place in places) - free}
    yield Figure("place_cores", "Cores of the places", cores, "state")
