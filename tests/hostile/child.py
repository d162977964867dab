"""An arena in its own process, as the target of attacks: that of `cutpurse serve` with short timeouts.

    python -m tests.hostile.child FOLDER LIMITS

LIMITS is a JSON object of fields of `ServerLimits` that differ from `SHORT`; its key "files" is the maximum number of
file descriptors. The debug log goes to FOLDER/log, the results to FOLDER/arena.db. The first line on stdout is the
address. Then each line on stdin is a question, answered by one line of JSON.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import json
import resource
import secrets
import signal
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cutpurse.engine.clocks import TimeControl
from cutpurse.engine.commitment import SEED_BYTES
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.ladders import ensure_ladder
from cutpurse.leaderboard.store import Store
from cutpurse.server.hosting.arena import Arena, ArenaServices, Listening
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.league.ladder_service import RunningLeague
from cutpurse.server.league.league_queries import Answers
from cutpurse.server.league.steering import LadderAdmin
from cutpurse.server.limits import ServerLimits
from cutpurse.server.logs import capture_library_logs, logger
from cutpurse.server.matches.lobby import Lobby
from cutpurse.server.watching.broadcast import Watching

__all__ = ["LADDERS", "SHORT"]

# Honest bots play on `steady` with default clocks; attackers play on `rough`.
HASTY = TimeControl(base_ms=100, bank_ms=100, grace_ms=50, poll_floor_ms=5, handover_ms=100)
LADDERS = (Ladder("steady", "greed", 2), Ladder("rough", "greed", 2, {}, HASTY))
SHORT = ServerLimits(
    hello_s=1.0,
    heartbeat_ms=5_000,
    resume_window_ms=500,
    handshake_s=2.0,
    idle_s=1.0,
    keepalive_s=1.0,
    keepalive_timeout_s=3.0,
)
LOOK_S = 0.02  # polling interval
LAG_S = 0.01  # interval of the probe for stalls


class Seen:
    """The state that the arena's process reports."""

    def __init__(self, arena: Arena, store: Store, seeds: set[bytes]) -> None:
        self.arena = arena
        self.store = store
        self.seeds = seeds
        self.loop = asyncio.get_running_loop()
        self.longest_s = 0.0  # longest stall of the event loop since the last question
        self.beat_at = self.loop.time()
        self._beat()

    def _beat(self) -> None:
        now = self.loop.time()
        self.longest_s, self.beat_at = max(self.longest_s, now - self.beat_at - LAG_S), now
        self.loop.call_later(LAG_S, self._beat)

    def counts(self) -> dict[str, int]:
        """Return the counts that must be back to normal after an attack."""
        return {
            "tasks": len(asyncio.all_tasks()),
            "streams": self.arena.streams,
            "sessions": len(self.arena.sessions),
            "fds": len(list(Path("/proc/self/fd").iterdir())),
        }

    def status(self) -> dict[str, int]:
        """Return the counts, memory in KiB, and the longest stall since the last question, in ms."""
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)  # so that memory cached by the allocator does not count
        lines = Path("/proc/self/status").read_text().splitlines()
        memory = {line.split(":")[0]: int(line.split()[1]) for line in lines if line.startswith(("VmRSS", "VmHWM"))}
        longest, self.longest_s = self.longest_s, 0.0
        Path("/proc/self/clear_refs").write_text("5")  # resets the peak
        return {
            **self.counts(),
            "rss_kib": memory["VmRSS"],
            "peak_kib": memory["VmHWM"],
            "longest_ms": round(longest * 1_000),
        }

    async def settled(self, most: dict[str, int], within_s: float) -> dict[str, int]:
        """Wait until no count is above `most`; return the counts that are still above after `within_s`."""
        until = self.loop.time() + within_s
        while True:
            above = {name: count for name, count in self.counts().items() if count > most[name]}
            if not above or self.loop.time() > until:
                return above
            await asyncio.sleep(LOOK_S)

    def results(self) -> list[dict[str, Any]]:
        """Return each seat of each finished match: ladder, bot, end cause and faults."""
        return [
            {"ladder": match.ladder, "bot": seat.bot, "cause": seat.end_cause, "faults": seat.faults}
            for match in self.store.run(queries.matches, limit=100_000)
            for seat in match.seats
        ]

    def sessions(self) -> list[dict[str, str]]:
        """Return bot, ID and secret of every session."""
        known = self.arena.sessions._by_id.values()
        return [{"bot": one.identity.bot, "id": one.id, "secret": one.secret.hex()} for one in known]

    async def answer(self, question: dict[str, Any]) -> object:
        """Answer the question named by `ask`, with the other fields as arguments."""
        match question.pop("ask"):
            case "status":
                return self.status()
            case "settled":
                return await self.settled(**question)
            case "results":
                return await asyncio.to_thread(self.results)
            case "sessions":
                return self.sessions()
            case "seeds":
                return sorted(one.hex() for one in self.seeds)
            case other:
                raise ValueError(other)


async def run(arena: Arena, store: Store, seeds: set[bytes]) -> None:
    """Serve until stdin ends."""
    print(await arena.start(), flush=True)
    seen = Seen(arena, store, seeds)
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := await lines.readline():
        print(json.dumps(await seen.answer(json.loads(line))), flush=True)
    await arena.stop()


def main(folder: Path, changed: dict[str, Any]) -> None:
    """Run the arena, with limits changed by `changed`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # only the tests get Ctrl-C, and then close stdin
    files = changed.pop("files", None)
    if files is not None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    seeds: set[bytes] = set()

    def utc() -> datetime:
        return datetime.now(UTC)

    def entropy(count: int) -> bytes:
        fresh = secrets.token_bytes(count)
        if count == SEED_BYTES:
            seeds.add(fresh)  # other sizes are IDs, which are not secret
        return fresh

    with (folder / "log").open("w", buffering=1) as stream, Store(folder / "arena.db") as store:
        log = logger(stream, "debug")
        capture_library_logs(log)
        for ladder in LADDERS:
            store.write(ensure_ladder, ladder.kept)
        lobby = Lobby(LADDERS, store, entropy=entropy, utc=utc, log=log)
        limits = ServerLimits(**{**asdict(SHORT), **changed})
        watching = Watching(lobby, log, delay_s=0.05, limits=limits)
        answers = Answers(store, utc)
        league = RunningLeague(answers, LadderAdmin(store, answers, utc), lobby)
        arena = Arena(
            Listening("127.0.0.1:0"),
            lobby,
            log,
            limits=limits,
            services=ArenaServices(league=league, watching=watching),
        )
        asyncio.run(run(arena, store, seeds))


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))
