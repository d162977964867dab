"""The measured arena: a real server in its own process (`python -m benchmarks.arena.server`).

It plays Greed with four seats. Without a database, results are counted and dropped. With one, they are stored and rated
as by `cutpurse serve`.
"""

import asyncio
import gc
import os
import secrets
import sys
import time
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.arena.child import LOOK_S, Does, serve, so_long
from benchmarks.arena.probe import to_be_watched, watching
from benchmarks.arena.summary import nearest_rank
from cutpurse.engine.clocks import TimeControl
from cutpurse.leaderboard.ladders import ensure_ladder
from cutpurse.leaderboard.ratings import Skill
from cutpurse.leaderboard.results import FinishedMatch, Identity, MatchAnnouncement, StoreOutcome
from cutpurse.leaderboard.store import Store
from cutpurse.server.counts import Counts
from cutpurse.server.hosting.arena import Arena, Listening
from cutpurse.server.hosting.garbage import rarely_collected
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.limits import ServerLimits
from cutpurse.server.logs import capture_library_logs, logger
from cutpurse.server.matches.lobby import Lobby
from cutpurse.server.result_store import ResultStore

__all__ = ["prepare"]

SEATS = 4


class Taken:
    """A substitute for a store that drops everything."""

    def announce(self, match: MatchAnnouncement) -> Future[None]:
        """Drop an announcement."""
        done: Future[None] = Future()
        done.set_result(None)
        return done

    def standings(self, player: Identity, seen: datetime) -> Future[Mapping[str, tuple[Skill, int]]]:
        """Return no ratings: every bot is a newcomer."""
        done: Future[Mapping[str, tuple[Skill, int]]] = Future()
        done.set_result({})
        return done

    def submit(self, _: FinishedMatch) -> Future[StoreOutcome]:
        """Drop a result."""
        done: Future[StoreOutcome] = Future()
        done.set_result(StoreOutcome())
        return done


class Server:
    """A process that runs one arena at a time."""

    def __init__(self) -> None:
        self._log = logger(sys.stderr, "error")
        capture_library_logs(self._log)
        self._open = ExitStack()

    async def open(
        self, tables: int, database: str | None = None, address: str = "127.0.0.1:0", base_ms: int = 1_000
    ) -> dict[str, object]:
        """Start the arena; return its address, and the time by the system's monotonic clock."""
        # Without a minimum time of simultaneous decisions, which would slow matches down.
        ladder = Ladder("greed", "greed", SEATS, {}, TimeControl(base_ms=base_ms, poll_floor_ms=0))
        store: ResultStore = Taken()
        if database is not None:
            leaderboard = self._open.enter_context(Store(Path(database)))
            leaderboard.write(ensure_ladder, ladder.kept)
            store = leaderboard
        self._counts = counts = Counts()
        log = self._log
        self._lobby = Lobby(
            [ladder], store, entropy=secrets.token_bytes, utc=lambda: datetime.now(UTC), log=log, counts=counts
        )
        self._arena = Arena(
            Listening(address), self._lobby, log, limits=ServerLimits(most_tables=tables), counts=counts
        )
        bound = await self._arena.start()
        self._open.enter_context(rarely_collected())  # as `cutpurse serve` does
        return {"address": bound, "at": time.monotonic()}

    async def tables(self, wanted: int, patience_s: float) -> dict[str, object]:
        """Wait until `wanted` matches are open, at most `patience_s`, and return their number."""
        until = time.monotonic() + patience_s
        while self._lobby.tables < wanted and time.monotonic() < until:
            await asyncio.sleep(LOOK_S)
        return {"tables": self._lobby.tables}

    async def measure(self, seconds: float) -> dict[str, object]:
        """Count for `seconds`, or longer until the first decision; faults are counted at the end of their match."""
        before = self._done()
        began, cpu = time.monotonic(), time.process_time()
        await so_long(seconds, lambda: self._counts.accepted > before["decisions"])
        return {
            "seconds": time.monotonic() - began,
            "server_cpu_s": time.process_time() - cpu,
            **{name: count - before[name] for name, count in self._done().items()},
        }

    def _done(self) -> dict[str, int]:
        counts = self._counts
        return {
            "decisions": counts.accepted,
            "matches": counts.matches_finished.total(),
            "faults": counts.faults.total(),
            "envelopes_sent": counts.envelopes_out,
            "envelopes_read": counts.envelopes_in,
        }

    async def watch(self, seconds: float) -> dict[str, object]:
        """Probe for `seconds`: the latency of answers, and the bytes per answer."""
        with watching() as seen:
            await so_long(seconds, lambda: seen.took)
        count = max(1, len(seen.took))
        return {
            "p50_ms": 1e3 * nearest_rank(seen.took, 50) if seen.took else 0.0,
            "p99_ms": 1e3 * nearest_rank(seen.took, 99) if seen.took else 0.0,
            "bytes_sent": seen.sent_bytes / count,
            "bytes_read": seen.read_bytes / count,
        }

    async def used(self, after_s: float = 0.0) -> dict[str, object]:
        """Return resident memory and CPU seconds after `after_s` and a garbage collection."""
        await asyncio.sleep(after_s)
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return {"bytes": pages * os.sysconf("SC_PAGE_SIZE"), "cpu_s": time.process_time()}

    async def close(self) -> dict[str, object]:
        """Stop the arena; open matches are void."""
        await self._arena.stop()
        self._open.close()
        return {}


def prepare() -> Does:
    """Return the commands of this process, by name."""
    to_be_watched()
    server = Server()
    return {
        "open": server.open,
        "tables": server.tables,
        "measure": server.measure,
        "watch": server.watch,
        "used": server.used,
        "close": server.close,
    }


if __name__ == "__main__":
    serve(prepare)
