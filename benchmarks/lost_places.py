"""A league of bots on two places that are killed in turn: what is faulted, void and played.

The places run on this machine and dial in over TLS, in turn killed with SIGKILL and started again. The bots are put
into the league as if they had been checked, which takes minutes for sixty of them. Times are wall time.
"""

from __future__ import annotations

import asyncio
import io
import json
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.accepted_bots import accept_bots
from benchmarks.running_places import PlaceProcess, certificate_of, issue_certificate
from cutpurse.engine.clocks import TimeControl
from cutpurse.leaderboard.queries import MatchEntry
from cutpurse.server.hosting.open_arena import open_arena
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.logs import logger
from cutpurse.server.runners.port import runner_named

__all__ = ["KILL_EVERY_S", "LostPlaces", "lose_places"]

# A bot whose places are lost within a minute of its start, again and again, is suspected of it, then runs alone and is
# removed in the end. So the kills are as far apart as a bot takes to start elsewhere, and a minute more.
KILL_EVERY_S: Final = 75.0
BACK_S: Final = 10.0  # until a killed place is started again
LADDER: Final = "duel"
CONTROL: Final = TimeControl(base_ms=20_000, bank_ms=20_000)
BOT: Final = (
    'from cutpurse.sdk.run import run\n\nraise SystemExit(run("{bot}", "greed", max_tables={tables}, quiet=True))\n'
)
CORES_A_BOT: Final = 0.5


@dataclass(frozen=True, slots=True)
class LostPlaces:
    """What was seen.

    Attributes:
        seconds: Duration.
        kills: Number of places that were killed.
        moved: Bots that were sent to a place, without their first start.
        played: Matches with a result.
        faults: Faults in all matches.
        void: Number of void matches by cause, as the server's log names it.
        removed: Bots that were taken off.
        decisions: Decisions of the matches with a result.
        server_cpu_s: CPU seconds of the server.
        places_cpu_s: CPU seconds of the places and of those bots that ended before their place.
    """

    seconds: float
    kills: int
    moved: int
    played: int
    faults: int
    void: dict[str, int]
    removed: int
    decisions: int = 0
    server_cpu_s: float = 0.0
    places_cpu_s: float = 0.0

    @property
    def lines(self) -> list[str]:
        """The report, for people."""
        void = "; ".join(f"{cause}: {count:,}" for cause, count in sorted(self.void.items())) or "none"
        return [
            f"{self.kills} places killed in {self.seconds / 60:.1f} minutes; bots moved {self.moved:,} times",
            f"matches with a result: {self.played:,}, {self.played / self.seconds * 60:,.0f} a minute",
            f"decisions: {self.decisions:,}, {self.decisions / self.seconds:,.0f} a second",
            f"CPU seconds: {self.server_cpu_s:.0f} of the server, {self.places_cpu_s:.0f} of places and bots",
            f"faults: {self.faults:,}",
            f"void matches: {sum(self.void.values()):,} ({void})",
            f"bots taken off: {self.removed}",
        ]


async def lose_places(
    minutes: float,
    bots: int,
    runner: str,
    kill_every_s: float = KILL_EVERY_S,
    bot: str = "search",
    tables: int | None = None,
) -> LostPlaces:
    """Play for this long, kill one of two places after the other, and return what was seen.

    Args:
        minutes: Duration. What is still open then is not counted.
        bots: Number of bots.
        runner: Runner of the places and of the server: process, bubblewrap or container.
        kill_every_s: Seconds between two kills.
        bot: Name of the built-in bot that all of them are.
        tables: Matches that a bot plays at a time. Default: as many as it is fast enough for.
    """
    with tempfile.TemporaryDirectory(prefix="cut-") as name, ExitStack() as stack:
        folder = Path(name)
        issue_certificate(folder)
        ladder = Ladder(LADDER, "greed", 2, control=CONTROL)
        source = BOT.format(bot=bot, tables=tables)
        accept_bots(folder, ladder, {f"{bot}{number}": source for number in range(1, bots + 1)})
        said = io.StringIO()
        opened = stack.enter_context(
            open_arena(
                "127.0.0.1:0",
                folder / "league.db",
                [ladder],
                logger(said, "debug"),
                certificate=certificate_of(folder),
                submissions=runner_named(runner),
                has_places=True,
            )
        )
        address = await opened.arena.start()
        try:
            places = [PlaceProcess(folder, address, runner, name, bots * CORES_A_BOT) for name in ("lab1", "lab2")]
            for place in places:
                place.start()
                stack.callback(place.kill)
            began, server_cpu_s = time.monotonic(), time.process_time()
            kills = await _kill_in_turn(places, minutes * 60, kill_every_s)
            seconds, server_cpu_s = time.monotonic() - began, time.process_time() - server_cpu_s
            log = said.getvalue()  # what the end of the places makes void is not counted
            matches = opened.store.matches(limit=10**6)
            for place in places:
                await asyncio.to_thread(place.stop)
            return _report(matches, log, seconds, kills, bots, server_cpu_s)
        finally:
            await opened.arena.stop()


async def _kill_in_turn(places: Sequence[PlaceProcess], seconds: float, kill_every_s: float) -> int:
    """Kill places in turn until `seconds` are over; return how often."""
    ends_at, kills = time.monotonic() + seconds, 0
    while time.monotonic() + kill_every_s < ends_at:
        await asyncio.sleep(kill_every_s)
        place = places[kills % len(places)]
        place.kill()
        kills += 1
        await asyncio.sleep(min(BACK_S, kill_every_s / 2))
        place.start()
    await asyncio.sleep(max(0.0, ends_at - time.monotonic()))
    return kills


def _report(
    matches: Sequence[MatchEntry], log: str, seconds: float, kills: int, bots: int, server_cpu_s: float
) -> LostPlaces:
    events: list[dict[str, Any]] = [json.loads(line) for line in log.splitlines()]
    named = {match: one["why"] for one in events if one["event"] == "matches void" for match in one["matches"]}
    counts = Counter(one["event"] for one in events)
    played = [match for match in matches if match.void_cause is None]
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return LostPlaces(
        seconds=seconds,
        kills=kills,
        moved=max(0, counts["bot sent to a place"] - bots),
        played=len(played),
        faults=sum(seat.faults for match in matches for seat in match.seats),
        void=dict(
            Counter(
                named.get(match.match, f"not named ({match.void_cause})")
                for match in matches
                if match.void_cause is not None
            )
        ),
        removed=counts["resident taken off"],
        decisions=sum(match.decisions for match in played),
        server_cpu_s=server_cpu_s,
        places_cpu_s=used.ru_utime + used.ru_stime,
    )
