"""The part `workers` of a server: it deals the matches of hosted ladders, which workers play."""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Collection, Iterator
from datetime import UTC, datetime

from cutpurse.leaderboard.results import Identity
from cutpurse.server.hosting.part import Core, Figure, Part
from cutpurse.server.parts.submissions.part import SubmissionsPart
from cutpurse.server.parts.workers.match_queue import PgMatchQueue
from cutpurse.server.parts.workers.work import WorkLoad
from cutpurse.server.parts.workers.work_dealer import DealerSite, WorkDealer
from cutpurse.v1 import status_pb2

__all__ = ["WorkersPart", "figures"]


class WorkersPart(Part):
    """Deals matches to workers and stores what they hand back."""

    def __init__(self, core: Core) -> None:
        """Set up; nothing is dealt before `begin`."""
        self._core = core
        desk = core.part(SubmissionsPart).desk
        self.dealer = WorkDealer(
            DealerSite(
                core.store,
                PgMatchQueue(),
                desk,
                core.log,
                core.utc,
                secrets.token_bytes,
                self._pause,
                self._own_ladders,
            )
        )

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start to deal."""
        self.dealer.begin()

    def drain(self) -> None:
        """Deal no more matches."""
        self.dealer.drain()

    def close(self) -> None:
        """Stop dealing; workers play on."""
        self.dealer.close()

    def figures(self) -> Iterator[Figure]:
        """Yield the figures as of the dealer's last round."""
        return figures(self.dealer.load)

    def report(self, status: status_pb2.GetStatusResponse) -> None:
        """Tell which matches wait for workers, and which workers have."""
        load = self.dealer.load
        status.has_workers = True
        status.waiting_work = load.counts.get("waiting", 0)
        status.taken_work = load.counts.get("taken", 0)
        status.oldest_work_s = _age_s(load)
        counts: Counter[str] = Counter()
        for process, count in load.workers.items():
            counts[process.partition(" ")[0]] += count  # the rest tells its process from others of its name
        shown = [status_pb2.WorkerStatus(name=name, matches=count) for name, count in sorted(counts.items())]
        status.workers.extend(shown)

    def _pause(self, identity: Identity) -> None:
        """Pause a version because of a match that a worker played; called on the dealer's thread."""
        self._core.ask(lambda: self._core.lobby.paused_elsewhere(identity))

    def _own_ladders(self) -> Collection[str] | None:
        """Return the ladders of this server; None means all."""
        if not self._core.store.is_shared:
            return None
        return [ladder.name for ladder in self._core.lobby.own_ladders]


def figures(load: WorkLoad | None = None) -> Iterator[Figure]:
    """Yield the figures of the matches that workers play."""
    load = load or WorkLoad()
    states = {state: load.counts.get(state, 0) for state in ("waiting", "taken")}
    text = "Matches that wait for a worker, and that workers have, of all servers"
    yield Figure("work", text, states, "state")
    yield Figure("work_oldest_seconds", "Age of the match that has waited longest for a worker", _age_s(load))
    yield Figure("workers", "Workers that have matches", len(load.workers))


def _age_s(load: WorkLoad) -> float:
    return 0.0 if load.oldest is None else max(0.0, (datetime.now(UTC) - load.oldest).total_seconds())
