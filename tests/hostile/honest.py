"""An honest bot of the SDK in its own process, which reports how long its turns take.

    python -m tests.hostile.honest SERVER NAME LADDER

It prints a line of JSON for each turn: the time of its answer (`at`, by the system's monotonic clock) and the seconds
until its next decision in that match (`turn_s`). It prints a line for each finished match, with its end cause
(`ended`).
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any, Final

from cutpurse.sdk.bot import BotMaker, MatchInfo
from cutpurse.sdk.run import PlayedMatch, connect

__all__ = ["main"]

THINKS_S: Final = 0.02  # per decision, so that honest bots use little CPU time
TABLES: Final = 2


def tell(**facts: object) -> None:
    """Print one line."""
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


class Bot:
    """A bot that takes the first option."""

    hides_time = False  # its own waits would count as the server's

    def start(self, match: MatchInfo) -> None:
        self.answered: float | None = None

    async def choose(self, view: Any, decision: Any) -> int:
        if self.answered is not None:
            tell(at=self.answered, turn_s=time.monotonic() - self.answered)
        await asyncio.sleep(THINKS_S)
        self.answered = time.monotonic()
        return 0


def main(server: str, name: str, ladder: str) -> None:
    """Play until killed."""

    def over(match: PlayedMatch) -> None:
        tell(ended=match.result.end_causes[match.seat].value)

    bot = BotMaker(name, Bot)
    stay = connect(
        bot,
        server=server,
        name=name,
        ladders=ladder,
        max_tables=TABLES,
        on_match=over,
        reconnect_timeout_s=600.0,
        quiet=True,
    )
    asyncio.run(stay)


if __name__ == "__main__":
    main(*sys.argv[1:])
