"""The server of the chaos test: `cutpurse serve`, with a status line on stdout every second.

    python -m tests.faults.chaos_server FOLDER DRAIN_S

Lines are JSON objects: first `address`, then `status` every second, and `fault` for each faulted decision. Times are of
the system's monotonic clock, as in the bots' logs.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from cutpurse.engine.match import Fault
from cutpurse.leaderboard.results import FinishedMatch
from cutpurse.server.hosting.arena import serve
from cutpurse.server.hosting.open_arena import OpenArena, open_arena
from cutpurse.server.ladder_config import default_ladders
from cutpurse.server.logs import capture_library_logs, logger
from cutpurse.server.matches.server_match import ServerMatch

__all__ = ["main"]

EVERY_S: Final = 1.0
LOOK_S: Final = 0.05
PAGE: Final = os.sysconf("SC_PAGE_SIZE")


def tell(**facts: Any) -> None:
    """Write one line."""
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


class Watch:
    """Counters of what the matches do, from outside."""

    def __init__(self) -> None:
        self.matches = self.voids = self.decisions = 0
        self.causes: Counter[str] = Counter()

    def put_on(self) -> None:
        """Instrument all matches from now on."""
        tick, finish = ServerMatch.tick, ServerMatch.finish

        def watched_tick(table: ServerMatch, now: float) -> None:
            before = len(table.match.faults)
            tick(table, now)
            for fault in table.match.faults[before:]:
                tell(
                    fault={
                        "at": time.monotonic(),
                        "match": table.name,
                        "bot": table.match.seats[fault.seat].partition(" ")[0],
                        "decision": _number(table, fault),
                        "cause": fault.cause.value,
                        "reason": fault.reason,
                    }
                )

        def watched_finish(table: ServerMatch, started: datetime, finished: datetime) -> FinishedMatch:
            result = finish(table, started, finished)
            self.matches += 1
            self.voids += result.is_void
            self.decisions += result.decisions
            self.causes.update(seat.end_cause for seat in result.seats)
            return result

        ServerMatch.tick = watched_tick  # type: ignore[method-assign, assignment]
        ServerMatch.finish = watched_finish  # type: ignore[method-assign, assignment]


def _number(table: ServerMatch, fault: Fault) -> int:
    """Return the number of a faulted decision as its bot counts, from 0; -1 if it had one option and was not asked."""
    choices = table.match.choices
    if choices[fault.place].lone is not None:
        return -1
    return sum(chosen.seat == fault.seat and chosen.lone is None for chosen in choices[: fault.place])


async def status(opened: OpenArena, watch: Watch) -> None:
    """Report the server's status every second, without end."""
    loop = asyncio.get_running_loop()
    told_at, lag_s = loop.time(), 0.0
    while True:
        before = loop.time()
        await asyncio.sleep(LOOK_S)
        lag_s = max(lag_s, loop.time() - before - LOOK_S)
        if loop.time() - told_at < EVERY_S:
            continue
        told_at = loop.time()
        arena, lobby = opened.arena, opened.lobby
        tell(
            status={
                "matches": watch.matches,
                "voids": watch.voids,
                "decisions": watch.decisions,
                "causes": dict(watch.causes),
                "tables": lobby.tables,
                "sessions": len(arena.sessions),
                "connected": arena.sessions.connected,
                "streams": arena.streams,
                "tasks": len(asyncio.all_tasks()),
                "fds": len(list(Path("/proc/self/fd").iterdir())),
                "rss": int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * PAGE,
                "lag_ms": round(lag_s * 1_000),
                "cpu_s": round(time.process_time(), 1),
            }
        )
        lag_s = 0.0


async def run(opened: OpenArena, watch: Watch, drain_s: float) -> None:
    """Serve and report until a signal; then wait for open matches, at most `drain_s`."""
    telling: list[asyncio.Task[None]] = []

    def listening(address: str) -> None:
        tell(address=address)
        telling.append(asyncio.create_task(status(opened, watch)))

    await serve(opened.arena, drain_s, listening)
    for task in telling:
        task.cancel()


def main(folder: Path, drain_s: float) -> None:
    """Serve all games, with default clocks, until a signal."""
    watch = Watch()
    watch.put_on()
    with (folder / "server.log").open("w", encoding="utf-8") as file:
        log = logger(file, "info")
        capture_library_logs(log)
        with open_arena("127.0.0.1:0", folder / "chaos.db", default_ladders(), log) as opened:
            asyncio.run(run(opened, watch, drain_s))
    tell(closed=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
