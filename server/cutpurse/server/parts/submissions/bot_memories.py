"""The memories of submitted bots: what a process finds in its folder, and what is kept of it for the next one.

A bot has a memory on a ladder that it names and whose terms give it one. All versions of the bot share it, and no other
bot gets it. Its process plays one match, so the memory at the begin of a match is that of the process, and its SHA-256
stands in the result. After the match the folder replaces the stored memory in one transaction, if that is still the one
that the process got. So a process or server that ends in the middle leaves the memory of the match before.

The matches of a version test leave nothing, since their cards are dealt twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, delete, insert, select

from cutpurse.leaderboard.owner_registry import ensure_owner
from cutpurse.leaderboard.queries.names import ladder_id_of
from cutpurse.leaderboard.relations import LADDERS, OWNERS
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.write_hooks import BotForgets, DeletingLadder
from cutpurse.server.matches.loop_hooks import LoopHooks, MatchBegan, ResultMeasured
from cutpurse.server.parts.submissions.memory_folder import pack_folder, unpack_folder
from cutpurse.server.parts.submissions.tables import BOT_MEMORIES

__all__ = ["BotMemories", "forget_ladder", "forget_memory", "load_memory", "replace_memory"]

KIB: Final = 1 << 10
MAX_OPEN: Final = 10_000  # open matches remembered; far more than a server has


class BotMemories:
    """The memories of the bots whose processes run. `listen` is for the event loop, the rest for one other thread."""

    def __init__(self, store: Store, utc: Callable[[], datetime], memory_kib: Callable[[str], int]) -> None:
        """Give no process a memory yet.

        Args:
            store: Where memories are stored.
            utc: Returns the time.
            memory_kib: Returns the size of a memory on a ladder; 0 means none.
        """
        self._store, self._utc, self._memory_kib = store, utc, memory_kib
        self._given: dict[Identity, Mapping[str, bytes]] = {}  # SHA-256 by ladder, of the running processes
        self._played: dict[Identity, str] = {}  # the ladder on which a process plays; empty: it leaves no memory
        self._began: dict[str, Mapping[Identity, bytes]] = {}  # SHA-256 of the memories in a match

    # -- on the event loop
    def listen(self, hooks: LoopHooks) -> None:
        """Note which memory a match begins with, and add its hash to the result."""
        hooks.on(MatchBegan, self._begin)
        hooks.on(ResultMeasured, self._add)

    def _begin(self, event: MatchBegan) -> None:
        match, ladder = event.match, event.match.ladder.name
        is_test = bool(match.requested_by) and match.table.board_matches > 1
        given = {bot: memories for bot in match.seats if (memories := self._given.get(bot)) is not None}
        self._played |= dict.fromkeys(given, "" if is_test else ladder)
        if began := {bot: memories[ladder] for bot, memories in given.items() if ladder in memories}:
            self._began[match.name] = began
            if len(self._began) > MAX_OPEN:
                del self._began[next(iter(self._began))]

    def _add(self, event: ResultMeasured) -> None:
        if began := self._began.pop(event.result.match, None):
            seats = [replace(seat, memory=began.get(seat.player)) for seat in event.result.seats]
            event.result = replace(event.result, seats=tuple(seats))

    # -- on the thread of the hosted bots
    def ladders(self, ladders: Sequence[str]) -> list[str]:
        """Return the ladders, of those that a bot names, on which it has a memory."""
        return [ladder for ladder in ladders if self._memory_kib(ladder)]

    def give(self, bot: Identity, ladders: Sequence[str], folder: Path) -> None:
        """Write the memories of a bot on these ladders into a folder for its next process.

        Raises:
            OSError: If the disk fails.
            LeaderboardError: If the store does.
        """
        contents = {ladder: self._store.run(load_memory, bot.owner, bot.bot, ladder) for ladder in ladders}
        for ladder, content in contents.items():
            unpack_folder(content, folder / ladder)
        self._played.pop(bot, None)
        self._given[bot] = {ladder: sha256(content).digest() for ladder, content in contents.items()}

    def keep(self, bot: Identity, folder: Path, *, is_over: bool) -> str:
        """Store what an ended process has left, if its match is over.

        Returns:
            One line for the bot's owner if not all was kept; else an empty text.

        Raises:
            OSError: If the disk fails.
            LeaderboardError: If the store does.
        """
        given, ladder = self._given.pop(bot, {}), self._played.pop(bot, "")
        kib = self._memory_kib(ladder) if ladder in given else 0
        if not is_over or not kib:
            return ""
        content, left_out = pack_folder(folder / ladder, kib * KIB)
        args = (bot.owner, bot.bot, ladder, given[ladder], content, self._utc())
        if not self._store.write_uncached(replace_memory, *args):
            return f"memory on {ladder}: not kept, since it was emptied or another version replaced it meanwhile"
        return f"memory on {ladder}: not kept of {kib:,} KiB: {left_out}" if left_out else ""


# -- in the database
def load_memory(connection: Connection, owner: str, bot: str, ladder: str) -> bytes:
    """Return the stored memory of a bot on a ladder; empty if there is none."""
    stored = (
        select(BOT_MEMORIES.c.content)
        .join(OWNERS, OWNERS.c.id == BOT_MEMORIES.c.owner_id)
        .join(LADDERS, LADDERS.c.id == BOT_MEMORIES.c.ladder_id)
        .where(OWNERS.c.name == owner, BOT_MEMORIES.c.bot == bot, LADDERS.c.name == ladder)
    )
    return connection.scalar(stored) or b""


def replace_memory(
    connection: Connection, owner: str, bot: str, ladder: str, expected: bytes, content: bytes, changed: datetime
) -> bool:
    """Replace the memory of a bot on a ladder if the stored one has the SHA-256 `expected`; return whether it had.

    Raises:
        NoSuchEntry: If there is no such ladder.
    """
    if sha256(load_memory(connection, owner, bot, ladder)).digest() != expected:
        return False
    forget_memory(connection, BotForgets(owner, bot, ladder))
    row = {"bot": bot, "ladder_id": ladder_id_of(connection, ladder), "content": content, "changed": changed}
    connection.execute(insert(BOT_MEMORIES).values(owner_id=ensure_owner(connection, owner), **row))
    return True


def forget_memory(connection: Connection, event: BotForgets) -> None:
    """Delete the memory of a bot on a ladder."""
    owners = select(OWNERS.c.id).where(OWNERS.c.name == event.owner)
    ladders = select(LADDERS.c.id).where(LADDERS.c.name == event.ladder)
    its = BOT_MEMORIES.c.owner_id.in_(owners) & BOT_MEMORIES.c.ladder_id.in_(ladders)
    connection.execute(delete(BOT_MEMORIES).where(its, BOT_MEMORIES.c.bot == event.bot))


def forget_ladder(connection: Connection, event: DeletingLadder) -> None:
    """Delete the memories of a ladder."""
    connection.execute(delete(BOT_MEMORIES).where(BOT_MEMORIES.c.ladder_id == event.ladder_id))
