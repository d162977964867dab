"""The part `cluster` of a server: it leases ladders, and knows the way to the servers that have the others."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from time import monotonic
from typing import Final

from cutpurse.leaderboard.arena_store import ArenaStore
from cutpurse.server.hosting.part import Core, Figure, Part
from cutpurse.server.matches.loop_hooks import DeadlinesNext
from cutpurse.server.matches.other_arenas import key_of
from cutpurse.server.parts.cluster.forwarder import Forwarder
from cutpurse.server.parts.cluster.leasing import Leasing
from cutpurse.server.parts.cluster.other_servers_of_league import OtherServersOfLeague
from cutpurse.v1 import status_pb2

__all__ = ["ClusterPart", "figures"]

LOOK_S: Final = 0.05  # seconds between looks at the leases, at least


class ClusterPart(Part):
    """Plays the leased ladders of a store that several servers write.

    Attributes:
        leasing: The leases.
        forwarder: The connections to the other servers.
    """

    def __init__(self, core: Core) -> None:
        """Take the first ladders; waits for the database.

        Raises:
            StoreError: If it does not answer.
        """
        store, lobby = core.store, core.lobby
        assert isinstance(store, ArenaStore)
        self._store, self._lobby = store, lobby
        self._look_at = -float("inf")
        self.leasing = Leasing(store, lobby, core.log, core.utc)
        self.leasing.begin()
        self.forwarder = Forwarder(lobby.other_arenas, key_of(store.holder.name), core.entrance.log)
        core.servers = OtherServersOfLeague(store, lobby, self.leasing, self.forwarder)
        lobby.hooks.on(DeadlinesNext, self._look)

    async def run(self) -> None:
        """Wait for the end of the server, then close the connections."""
        try:
            await asyncio.Event().wait()
        finally:
            await self.forwarder.close()

    def close(self) -> None:
        """Give up all ladders."""
        self.leasing.close()

    def figures(self) -> Iterator[Figure]:
        """Yield the figures of the league."""
        return figures(self._lag_s(), len({arena.address for arena in self._lobby.other_arenas.arenas}))

    def report(self, status: status_pb2.GetStatusResponse) -> None:
        """Add this server to the list of servers."""
        own = status_pb2.ArenaStatus(
            address=self._store.holder.address,
            version=status.version,
            ladders=sorted(self._ladders()),
            matches=status.matches,
            bots=status.bots,
            waiting_writes=status.waiting_writes,
            places=len(status.places),
            lag_s=self._lag_s(),
        )
        status.arenas.append(own)

    def greeting(self) -> Sequence[str]:
        """Return where the server is dialled, and its ladders."""
        ladders = ", ".join(self._ladders()) or "none yet"
        return [f"one of several servers, dialled at {self._store.holder.address}; its ladders: {ladders}"]

    def _ladders(self) -> list[str]:
        return [ladder.name for ladder in self._lobby.own_ladders if not ladder.is_for_people]

    def _lag_s(self) -> float:
        return max(0.0, monotonic() - self.leasing.renewed_at)

    def _look(self, event: DeadlinesNext) -> None:
        """Renew the leases if that is due; matches ask for deadlines far more often."""
        if event.now >= self._look_at:
            self._look_at = event.now + LOOK_S
            self.leasing.look(event.now)


def figures(lag_s: float = 0.0, others: int = 0) -> Iterator[Figure]:
    """Yield the figures of a server whose leases have this age, with this number of others."""
    text = "Time since the leases were renewed; after 10 s another server may play"
    yield Figure("leases_lag_seconds", text, lag_s)
    yield Figure("other_servers", "Other servers of the league, with and without ladders", others)
