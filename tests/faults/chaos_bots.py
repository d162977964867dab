"""A process of bots for the chaos, each with a connection of its own through the real SDK, and a book of what it did.

    python -m tests.faults.chaos_bots BOOK LEAST_MS MOST_MS TABLES ADDRESS NAME...

Each bot dials ADDRESS, in which `{}` stands for its name. The book gets a line for each match that begins, for each
decision (`asked` and `answered` on the system's monotonic clock), for each match that is over, and for a bot that
stopped, which none should. One that is paused when it comes tries again until it is not.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
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
PAUSED_S: Final = 2.0  # until a bot that is paused comes again: that is lifted soon


class Book:
    """What the bots of this process did, a line at a time: the process may be killed at any moment."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, **facts: Any) -> None:
        """One line."""
        self._file.write(json.dumps(facts) + "\n")
        self._file.flush()


def maker_of(name: str, book: Book, least_s: float, most_s: float) -> BotMaker:
    """Bots that think for a while, and answer at random."""

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


async def stay(name: str, address: str, tables: int, book: Book, think_s: tuple[float, float]) -> None:
    """One bot, for as long as it may."""

    def over(match: PlayedMatch) -> None:
        cause = match.result.end_causes[match.seat].value
        book.write(bot=name, match=match.match, ended=cause, voided=match.voided, rated=match.rated)

    while True:
        try:
            await connect(
                maker_of(name, book, *think_s),
                server=address.replace("{}", name),
                name=name,
                max_tables=tables,
                on_match=over,
                give_up_after_s=PATIENCE_S,
                quiet=True,
            )
            book.write(bot=name, stopped="it left")
            return
        except CutpurseError as problem:
            if PAUSED not in str(problem):
                book.write(bot=name, stopped=str(problem))
                return
        await asyncio.sleep(PAUSED_S)


async def run(file: Path, think_s: tuple[float, float], tables: int, address: str, names: list[str]) -> None:
    """All of them."""
    with file.open("a", encoding="utf-8") as lines:
        book = Book(lines)
        async with asyncio.TaskGroup() as group:
            for name in names:
                group.create_task(stay(name, address, tables, book, think_s))


def main(words: list[str]) -> None:
    """See the module's docstring."""
    file, least, most, tables, address, *names = words
    with patch.object(
        concurrency, "FIRST_TABLES", int(tables)
    ):  # all at once: there is to be much to hurt from the beginning
        asyncio.run(run(Path(file), (int(least) / 1_000, int(most) / 1_000), int(tables), address, names))


if __name__ == "__main__":
    main(sys.argv[1:])
