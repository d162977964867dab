"""A process of bots for the chaos test, each with its own connection through the real SDK, and a log of their actions.

    python -m tests.faults.chaos_bots BOOK LEAST_MS MOST_MS TABLES LADDERS ADDRESS NAME...

Each bot connects to ADDRESS, in which `{}` stands for its name, and plays on LADDERS, with commas between them; on all
if it is empty. The log BOOK gets a line for the begin and the end of
each match, and for each decision, with `asked` and `answered` by the system's monotonic clock. A line for a bot that
stopped is an error. A paused bot tries again until it is admitted.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, Final, TextIO
from unittest.mock import patch

from cutpurse.engine.errors import CutpurseError
from cutpurse.sdk.bot import BotMaker, MatchInfo
from cutpurse.sdk.online import concurrency
from cutpurse.sdk.run import PlayedMatch, connect

__all__ = ["main"]

PATIENCE_S: Final = 600.0
PAUSED: Final = " is paused: "
PAUSED_S: Final = 2.0  # delay until a paused bot tries again; pauses are lifted soon


class Book:
    """The log of this process's bots, written line by line, because the process may be killed at any time."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, **facts: Any) -> None:
        """Write one line."""
        self._file.write(json.dumps(facts) + "\n")
        self._file.flush()


def maker_of(name: str, book: Book, least_s: float, most_s: float) -> BotMaker:
    """Return the maker of a bot that thinks for a while, and answers at random."""

    class Thinking:
        def start(self, match: MatchInfo) -> None:
            self.match = match.match
            book.write(bot=name, match=self.match, began=time.monotonic())
            self.chance = Random(f"{name}/{match.match}")

        async def choose(self, view: Any, decision: Any) -> int:
            asked = time.monotonic()
            await asyncio.sleep(self.chance.uniform(least_s, most_s))
            answered = time.monotonic()
            book.write(bot=name, match=self.match, decision=decision.number, asked=asked, answered=answered)
            return self.chance.randrange(decision.count)

    return BotMaker(name, Thinking)


async def stay(
    name: str, address: str, tables: int, book: Book, think_s: tuple[float, float], ladders: Sequence[str] = ()
) -> None:
    """Run one bot as long as the server lets it."""

    def over(match: PlayedMatch) -> None:
        cause = match.result.end_causes[match.seat].value
        book.write(bot=name, match=match.match, ended=cause, voided=match.voided, rated=match.rated)

    while True:
        try:
            await connect(
                maker_of(name, book, *think_s),
                ladders=ladders,
                server=address.replace("{}", name),
                name=name,
                max_tables=tables,
                on_match=over,
                reconnect_timeout_s=PATIENCE_S,
                quiet=True,
            )
            book.write(bot=name, stopped="it left")
            return
        except CutpurseError as problem:
            if PAUSED not in str(problem):
                book.write(bot=name, stopped=str(problem))
                return
        await asyncio.sleep(PAUSED_S)


async def run(
    file: Path, think_s: tuple[float, float], tables: int, ladders: Sequence[str], address: str, names: list[str]
) -> None:
    """Run all bots."""
    with file.open("a", encoding="utf-8") as lines:
        book = Book(lines)
        async with asyncio.TaskGroup() as group:
            for name in names:
                group.create_task(stay(name, address, tables, book, think_s, ladders))


def main(words: list[str]) -> None:
    """Run the command."""
    file, least, most, tables, ladders, address, *names = words
    with patch.object(concurrency, "FIRST_TABLES", int(tables)):  # all tables at once, so that chaos hits many
        think_s = int(least) / 1_000, int(most) / 1_000
        asyncio.run(run(Path(file), think_s, int(tables), ladders.split(",") if ladders else (), address, names))


if __name__ == "__main__":
    main(sys.argv[1:])
