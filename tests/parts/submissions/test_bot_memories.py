"""The memory of a bot: what the next match finds, whose it is, and what a process leaves that ends in the middle."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.ladders import delete_ladder, ensure_ladder
from cutpurse.leaderboard.match_file_writer import match_file
from cutpurse.leaderboard.owner_registry import change_bot, ensure_version
from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.leaderboard.results import FinishedMatch, Identity, LadderTerms
from cutpurse.leaderboard.store import Store
from cutpurse.sdk.matches.match_file import check, read_matches
from cutpurse.server.installed_parts import hooks_of_parts
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.loop_hooks import LoopHooks, MatchBegan, ResultMeasured
from cutpurse.server.matches.matchmaking import Seating
from cutpurse.server.matches.open_matches import OpenMatch
from cutpurse.server.parts.submissions.bot_memories import BotMemories, load_memory
from tests.leaderboard.sample_results import DAWN, result
from tests.looking import until, until_so
from tests.parts.submissions.desks import PATIENT, Author, author_of, bot_folder, handed_in, running_desk
from tests.parts.submissions.servers import RealServer, cutpurse
from tests.parts.submissions.test_desk import tokens

ANN, BOB = Identity("ann", "sneak", "1"), Identity("bob", "sneak", "1")
EMPTY = sha256(b"").digest()


@dataclass
class Table:
    name: str
    ladder: Ladder
    requested_by: str
    board_matches: int


@dataclass
class Memories:
    """The memories of a store, and the matches that a test lets begin and end."""

    store: Store
    folder: Path
    kib: dict[str, int] = field(default_factory=lambda: {"duel": 1, "other": 1})
    count: int = 0

    def __post_init__(self) -> None:
        self.hooks = LoopHooks()
        self.memories = BotMemories(self.store, lambda: datetime.now(UTC), lambda ladder: self.kib.get(ladder, 0))
        self.memories.listen(self.hooks)

    def start(self, bot: Identity, *ladders: str) -> Path:
        """Give the next process of a bot its memories."""
        self.count += 1
        folder = self.folder / str(self.count)
        folder.mkdir()
        self.memories.give(bot, self.memories.ladders(ladders or ("duel",)), folder)
        return folder

    def play(
        self, *bots: Identity, ladder: str = "duel", requested_by: str = "", matches: int = 1
    ) -> list[bytes | None]:
        """Let a match begin and end; return the hashes of memories in its result."""
        self.count += 1
        name = f"match{self.count}"
        table: Any = Table(name, Ladder(ladder, "greed", 2), requested_by, matches)
        match = OpenMatch(table, (), Seating(table.ladder, ()), DAWN, bots)
        self.hooks.send(MatchBegan(match))
        event = ResultMeasured(result(name, bots, ladder=ladder))
        self.hooks.send(event)
        finished: FinishedMatch = event.result
        return [seat.memory for seat in finished.seats]

    def keep(self, bot: Identity, folder: Path, *, is_over: bool = True) -> str:
        return self.memories.keep(bot, folder, is_over=is_over)

    def stored(self, bot: Identity, ladder: str = "duel") -> bytes:
        return self.store.run(load_memory, bot.owner, bot.bot, ladder)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Memories]:
    with Store(tmp_path / "league.db", hooks=hooks_of_parts()) as store:
        for ladder in ("duel", "other"):
            store.write(ensure_ladder, Ladder(ladder, "greed", 2).kept)
        for bot in (ANN, BOB):
            store.write(ensure_version, *bot)
        yield Memories(store, tmp_path)


def test_the_next_match_finds_what_the_last_one_left_and_its_hash_is_in_the_result(world: Memories) -> None:
    folder = world.start(ANN)
    assert world.play(ANN, BOB) == [EMPTY, None]
    (folder / "duel" / "n").write_bytes(b"1")
    assert world.keep(ANN, folder) == ""
    assert (world.start(ANN) / "duel" / "n").read_bytes() == b"1"
    assert world.play(BOB, ANN) == [None, sha256(b"n\x001\n1").digest()]


def test_no_other_owner_gets_it_whatever_the_name_of_the_bot(world: Memories) -> None:
    folder = world.start(ANN)
    world.play(ANN, BOB)
    (folder / "duel" / "secret").write_bytes(b"of ann")
    world.keep(ANN, folder)
    for other in (BOB, Identity("ann", "other", "1")):
        assert [*(world.start(other) / "duel").iterdir()] == []
    assert (world.start(Identity("ann", "sneak", "2")) / "duel" / "secret").read_bytes() == b"of ann", (
        "its next version"
    )


def test_each_ladder_has_its_own_and_only_that_of_the_match_is_kept(world: Memories) -> None:
    folder = world.start(ANN, "duel", "other", "plain")
    assert sorted(path.name for path in folder.iterdir()) == ["duel", "other"]
    for ladder in ("duel", "other"):
        (folder / ladder / "n").write_bytes(b"1")
    world.play(ANN, BOB, ladder="other")
    world.keep(ANN, folder)
    assert (world.stored(ANN), world.stored(ANN, "other")) == (b"", b"n\x001\n1")
    world.start(ANN, "duel", "other")
    assert world.play(ANN, BOB, ladder="plain") == [None, None]


def test_a_process_that_ends_in_the_middle_leaves_the_memory_of_the_match_before(world: Memories) -> None:
    folder = world.start(ANN)
    world.play(ANN, BOB)
    (folder / "duel" / "n").write_bytes(b"1")
    world.keep(ANN, folder)
    folder = world.start(ANN)
    (folder / "duel" / "n").write_bytes(b"half")
    assert world.keep(ANN, folder, is_over=False) == ""
    assert world.stored(ANN) == b"n\x001\n1"


def test_a_version_test_leaves_nothing_since_its_cards_come_again(world: Memories) -> None:
    folder = world.start(ANN)
    assert world.play(ANN, BOB, requested_by="bob", matches=2) == [EMPTY, None]
    (folder / "duel" / "cards").write_bytes(b"1")
    world.keep(ANN, folder)
    assert world.stored(ANN) == b""


def test_of_two_processes_the_first_to_end_is_kept(world: Memories) -> None:
    newer = Identity("ann", "sneak", "2")
    folders = {bot: world.start(bot) for bot in (ANN, newer)}
    world.play(ANN, newer)
    for bot, folder in folders.items():
        (folder / "duel" / "n").write_bytes(bot.version.encode())
    assert world.keep(newer, folders[newer]) == ""
    line = "memory on duel: not kept, since it was emptied or another version replaced it meanwhile"
    assert world.keep(ANN, folders[ANN]) == line
    assert world.stored(ANN) == b"n\x001\n2"


def test_a_full_memory_is_said_in_one_line_and_what_fits_is_kept(world: Memories) -> None:
    folder = world.start(ANN)
    world.play(ANN, BOB)
    (folder / "duel" / "a").write_bytes(b"1")
    (folder / "duel" / "b").write_bytes(b"x" * 2_000)
    assert world.keep(ANN, folder) == "memory on duel: not kept of 1 KiB: 1 too large"
    assert world.stored(ANN) == b"a\x001\n1"


def test_an_owner_empties_it_and_what_a_process_had_of_it_does_not_come_back(world: Memories) -> None:
    folder = world.start(ANN)
    world.play(ANN, BOB)
    (folder / "duel" / "n").write_bytes(b"1")
    world.keep(ANN, folder)
    folder = world.start(ANN)
    world.store.write(change_bot, "ann", "sneak", forgets_on="duel")
    assert world.stored(ANN) == b""
    world.play(ANN, BOB)
    assert world.keep(ANN, folder).startswith("memory on duel: not kept, since it was emptied")
    assert world.stored(ANN) == b""


def test_a_ladder_without_matches_goes_with_its_memories(world: Memories) -> None:
    folder = world.start(ANN)
    world.play(ANN, BOB)
    (folder / "duel" / "n").write_bytes(b"1")
    world.keep(ANN, folder)
    world.store.write(delete_ladder, "duel")
    world.store.write(ensure_ladder, Ladder("duel", "greed", 2).kept)
    assert world.stored(ANN) == b""


# -- in the sandbox
LADDER = Ladder("duel", "greed", 2, control=PATIENT, terms=LadderTerms(memory_kib=4))
COUNTS = r"""
import json, os
from pathlib import Path
from cutpurse.sdk.run import run

MEMORY = Path(os.environ.get("CUTPURSE_MEMORY", "/nowhere"), "duel")
FOUND = {path.name: path.read_text() for path in MEMORY.iterdir()} if MEMORY.is_dir() else None
ME = Path("me").read_text()

class Bot:
    noted = False

    def choose(self, view, decision):
        if FOUND is not None and not self.noted:
            self.noted = True
            decision.note(json.dumps(FOUND))
            (MEMORY / "half").write_text("written")  # a process that ends in the middle leaves it
        return decision.options[0]

    def end(self, result):
        if FOUND is None:  # it is being checked
            return
        (MEMORY / "n").write_text(str(int(FOUND.get("n", 0)) + 1))
        (MEMORY / "me").write_text(ME)
        (MEMORY / "link").symlink_to("/etc/passwd")
        (MEMORY / "half").unlink()

if __name__ == "__main__":
    raise SystemExit(run(Bot, "greed"))
"""


def memory_of(owner: str, count: int) -> bytes:
    """Return the hash of what COUNTS leaves after this number of matches."""
    content = b"me\0%d\n%sn\0%d\n%d" % (len(owner), owner.encode(), len(str(count)), count) if count else b""
    return sha256(content).digest()


async def test_bots_of_two_owners_with_one_name_remember_their_own_matches(short: Path) -> None:
    keys = dict(zip(("ann", "bob"), tokens(short, "ann", "bob"), strict=True))
    async with running_desk(short, [LADDER], runner="bubblewrap") as arena:
        for owner, key in keys.items():
            await handed_in(author_of(arena, key), bot_folder(short / owner, COUNTS, files={"me": owner}), "duel")
        store = arena.opened.store
        await until_so(lambda: len(store.run(queries.matches)) >= 3)
        log = await author_of(arena, keys["ann"]).ask(lambda calls: calls.log("sneak"))
        assert "memory on duel: not kept of 4 KiB: 1 no plain file\n" in log.talk
        matches = store.run(queries.matches)[::-1]
        for owner in keys:
            seats = [next(seat for seat in match.seats if seat.owner == owner) for match in matches]
            assert [seat.memory for seat in seats] == [memory_of(owner, count) for count in range(len(matches))]
            logs = store.run(queries.logs, owner, "sneak", limit=100)[::-1]
            found = [json.loads(note.text) for entry in logs for note in entry.notes]
            assert found == [{"me": owner, "n": str(count)} if count else {} for count in range(len(found))]
        (filed,) = read_matches(match_file(matches[1], store.run(queries.record, matches[1].match)).encode())
        said = f"seat 0 began with a memory, SHA-256 {memory_of(matches[1].seats[0].owner, 1).hex()}"
        assert said in " ".join(check(filed).not_checked)


async def test_a_server_that_is_killed_leaves_the_memory_of_a_finished_match(short: Path) -> None:
    server = RealServer(short, "--submissions", "bubblewrap", "--house", "random")
    cutpurse(
        *("ladder", "create", "duel", "--game", "greed", "--seats", "2", "--memory-kib", "4", "--house", "random"),
        *("--db", "league.db"),
        folder=short,
    )
    server.start()
    try:
        folder = bot_folder(short, COUNTS, files={"me": "local"})
        await handed_in(Author(server.address), folder, "duel")
        for kill in range(1, 3):
            await asyncio.to_thread(until_stored, short, 2 * kill)
            await asyncio.to_thread(server.kill)
            await asyncio.to_thread(server.start)
        await asyncio.to_thread(until_stored, short, 5)
    finally:
        server.stop()
    known = [memory_of("local", count) for count in range(len(hashes(short)) + 1)]
    counts = [known.index(memory) for memory in hashes(short)]
    steps = [after - before for before, after in pairwise(counts)]
    assert counts[0] == 0
    assert set(steps) <= {0, 1}, "each match began with what a finished match had left"
    assert steps.count(0) <= 2, "only a match whose end met a kill may be forgotten"


def until_stored(folder: Path, matches: int) -> None:
    """Wait until this many matches of the bot are stored."""
    until(lambda: len(hashes(folder)) >= matches, "matches are stored")


def hashes(folder: Path) -> list[bytes]:
    """Return the hashes of the memory of the bot in the stored matches, the oldest first."""
    with LeaderboardReader(folder / "league.db") as reader:
        matches = reader.run(queries.matches, "duel", limit=500)[::-1]
    return [seat.memory for match in matches for seat in match.seats if seat.memory is not None]
