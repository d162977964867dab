"""An arena in a process of its own, made to be attacked: what `cutpurse serve` runs, with short windows, and answers.

    python -m tests.hostile.child FOLDER LIMITS

LIMITS is a JSON object of fields of `Limits` that differ from `SHORT`; "files" in it is the most file descriptors that
the process may have. The log, at DEBUG, goes to FOLDER/log, the results to FOLDER/arena.db. The first line on stdout
is the address. Then each line on stdin is a question, answered by one line of JSON.
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
from cutpurse.leaderboard.store import Store
from cutpurse.server.hosting.arena import Arena
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.league.ladder_service import RunningLeague
from cutpurse.server.league.league_queries import Answers
from cutpurse.server.league.steering import LadderAdmin
from cutpurse.server.limits import ServerLimits
from cutpurse.server.logs import capture_library_logs, logger
from cutpurse.server.matches.leaderboard_store import Ledger
from cutpurse.server.matches.lobby import Lobby
from cutpurse.server.watching.broadcast import Watching

__all__ = ["LADDERS", "SHORT"]

# Honest bots play for `steady`, with the usual clocks; whoever attacks sits down at `rough`.
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
LOOK_S = 0.02  # between looks at whether everything is back
LAG_S = 0.01  # between beats of the probe of the loop


class Seen:
    """What the arena's process can say of itself."""

    def __init__(self, arena: Arena, store: Store, seeds: set[bytes]) -> None:
        self.arena = arena
        self.store = store
        self.seeds = seeds
        self.loop = asyncio.get_running_loop()
        self.longest_s = 0.0  # that the loop did nothing, since somebody asked
        self.beat_at = self.loop.time()
        self._beat()

    def _beat(self) -> None:
        now = self.loop.time()
        self.longest_s, self.beat_at = max(self.longest_s, now - self.beat_at - LAG_S), now
        self.loop.call_later(LAG_S, self._beat)

    def counts(self) -> dict[str, int]:
        """What must come back to where it was."""
        return {
            "tasks": len(asyncio.all_tasks()),
            "streams": self.arena.streams,
            "sessions": len(self.arena.sessions),
            "fds": len(list(Path("/proc/self/fd").iterdir())),
        }

    def status(self) -> dict[str, int]:
        """The counts, memory in KiB, and the longest pause of the loop since the last question, in ms."""
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)  # what the allocator keeps for later is not what the server holds
        lines = Path("/proc/self/status").read_text().splitlines()
        memory = {line.split(":")[0]: int(line.split()[1]) for line in lines if line.startswith(("VmRSS", "VmHWM"))}
        longest, self.longest_s = self.longest_s, 0.0
        Path("/proc/self/clear_refs").write_text("5")  # the peak is counted anew
        return {
            **self.counts(),
            "rss_kib": memory["VmRSS"],
            "peak_kib": memory["VmHWM"],
            "longest_ms": round(longest * 1_000),
        }

    async def settled(self, most: dict[str, int], within_s: float) -> dict[str, int]:
        """Wait until no count is above these.  Returns those that still are when the time is over."""
        until = self.loop.time() + within_s
        while True:
            above = {name: count for name, count in self.counts().items() if count > most[name]}
            if not above or self.loop.time() > until:
                return above
            await asyncio.sleep(LOOK_S)

    def results(self) -> list[dict[str, Any]]:
        """Each seat of each finished match: ladder, bot, end cause and faults."""
        return [
            {"ladder": match.ladder, "bot": seat.bot, "cause": seat.end_cause, "faults": seat.faults}
            for match in self.store.matches(limit=100_000)
            for seat in match.seats
        ]

    def sessions(self) -> list[dict[str, str]]:
        """Every session: its bot, its id, and the secret to resume it."""
        known = self.arena.sessions._by_id.values()
        return [{"bot": one.identity.bot, "id": one.id, "secret": one.secret.hex()} for one in known]

    async def answer(self, question: dict[str, Any]) -> object:
        """What is asked by its name, with the other fields as arguments."""
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
    """Listen until stdin ends."""
    print(await arena.start(), flush=True)
    seen = Seen(arena, store, seeds)
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := await lines.readline():
        print(json.dumps(await seen.answer(json.loads(line))), flush=True)
    await arena.stop()


def main(folder: Path, changed: dict[str, Any]) -> None:
    """See the module's docstring."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests, which then close stdin
    files = changed.pop("files", None)
    if files is not None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    seeds: set[bytes] = set()

    def utc() -> datetime:
        return datetime.now(UTC)

    def entropy(count: int) -> bytes:
        fresh = secrets.token_bytes(count)
        if count == SEED_BYTES:
            seeds.add(fresh)  # others are ids, which may be told
        return fresh

    with (folder / "log").open("w", buffering=1) as stream, Store(folder / "arena.db") as store:
        log = logger(stream, "debug")
        capture_library_logs(log)
        ledger = Ledger(store, LADDERS)
        try:
            lobby = Lobby(LADDERS, ledger, entropy=entropy, utc=utc, log=log)
            limits = ServerLimits(**{**asdict(SHORT), **changed})
            watching = Watching(lobby, log, delay_s=0.05, limits=limits)
            answers = Answers(store, utc)
            league = RunningLeague(answers, LadderAdmin(store, answers, utc), lobby)
            arena = Arena("127.0.0.1:0", lobby, log, limits=limits, league=league, watching=watching)
            asyncio.run(run(arena, store, seeds))
        finally:
            ledger.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))
