"""Boards of fresh processes that are cut off in the middle, by kill -9, by SIGTERM or by `bot change --play`.

A board that is cut off is void as a whole or played to its end, nothing is rated twice or half, its processes are gone,
and the next board begins.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from cutpurse.engine.clocks import TimeControl
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.ladders import ensure_ladder
from cutpurse.leaderboard.owner_registry import NewToken, create_tokens
from cutpurse.leaderboard.queries import MatchEntry
from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.store import Store
from cutpurse.server.ladder_config import Ladder
from tests.looking import looks, until_so
from tests.parts.submissions.desks import FIRST, PATIENT, Author, author_of, bot_folder, handed_in, running_desk
from tests.parts.submissions.servers import RealServer, cutpurse
from tests.parts.submissions.test_desk import tokens
from tests.parts.submissions.test_killed import commands, until_nothing_runs

ROTATION: Final = Ladder("rot", "greed", 2, control=PATIENT, boards="rotation")
# Slow enough to be met in a match; not where it is tried before it is accepted.
SLOW: Final = FIRST.replace("PAUSE_S = 0.05", "PAUSE_S = 0.1")
AT: Final = {"first": (0, 1), "between": (1, 1), "second": (1, 2)}  # matches of the board that have ended, and begun


class Course:
    """What a server has logged of boards so far."""

    def __init__(self, said: str) -> None:
        self.boards: dict[str, list[str]] = {}
        self.over: set[str] = set()  # boards
        self.begun: set[str] = set()  # matches, as the next
        self.ended: set[str] = set()
        for line in said.splitlines():
            if line.startswith("{") and line.endswith("}"):
                self._read(json.loads(line))

    def _read(self, line: dict[str, Any]) -> None:
        match line.get("event"):
            case "board dealt":
                self.boards[line["board"]] = line["matches"]
            case "board ended":
                self.over.add(line["board"])
            case "match started":
                self.begun.add(line["match"])
            case "match ended":
                self.ended.add(line["match"])

    def met(self, at: str) -> str:
        """The board that is being played, if it is just there; else empty."""
        for board, matches in self.boards.items():
            if board not in self.over and AT[at] == (len(self.ended & {*matches}), len(self.begun & {*matches})):
                return board
        return ""


async def met(said: Callable[[], str], at: str) -> str:
    """The board that is just there, waited for."""
    async for _ in looks():
        if board := Course(said()).met(at):
            break
    return board


@pytest.fixture
def server(short: Path) -> Iterator[RealServer]:
    """One with the ladder, and the tokens of two owners in files."""
    with Store(short / "league.db") as store:
        store.write(ensure_ladder, ROTATION.kept)
        for token, row in store.write(create_tokens, [NewToken("ann"), NewToken("bob")], datetime.now(UTC)):
            (short / f"{row.owner}.token").write_text(token.reveal())
    made = RealServer(short, "--submissions", "bubblewrap")
    made.start()
    yield made
    made.stop()


async def both_play(server: RealServer) -> None:
    """Both hand in their bots."""
    for owner in ("ann", "bob"):
        author = Author(server.address, (server.folder / f"{owner}.token").read_text())
        await handed_in(author, bot_folder(server.folder, SLOW, name=f"{owner}s"), "rot")


def boards_of(store: Store) -> dict[str, list[MatchEntry]]:
    """Its matches, by board."""
    found: dict[str, list[MatchEntry]] = defaultdict(list)
    for entry in store.run(queries.matches, limit=1_000):
        found[entry.board].append(entry)
    return found


def check_whole(store: Store) -> None:
    """All of a board is rated, once, or nothing is, if a match of it is void; ratings follow from that."""
    sequences, sat = [], Counter[tuple[str, str]]()
    for board in boards_of(store).values():
        assert len(board) == 2, "a match of a board that was dealt is lost"
        (sequence,) = {entry.sequence for entry in board}
        assert (sequence is None) is any(entry.void_cause is not None for entry in board)
        if sequence is not None:
            sequences.append(sequence)
            sat.update((seat.bot, seat.version) for seat in board[0].seats)
    assert sorted(sequences) == list(range(1, len(sequences) + 1))
    assert [one.differences for one in recompute(store)] == [()]
    assert {
        (one.bot, one.version): one.matches for one in store.run(queries.rankings, "rot", every_version=True)
    } == sat


def is_next_rated(server: RealServer, cut: set[str]) -> bool:
    """Whether a board that came later is over, and its matches were played."""
    course = Course(server.said())
    return any(
        {*course.boards[board]} <= course.begun & course.ended for board in course.over - cut if board in course.boards
    )


SOAK = pytest.mark.soak


@pytest.mark.parametrize(
    ("how", "at"),
    [
        ("killed", "between"),
        pytest.param("killed", "first", marks=SOAK),
        pytest.param("killed", "second", marks=SOAK),
        pytest.param("drained", "first", marks=SOAK),
        pytest.param("drained", "between", marks=SOAK),
        pytest.param("drained", "second", marks=SOAK),
    ],
)
async def test_a_board_that_the_server_leaves_is_rated_whole_or_not_at_all(
    server: RealServer, how: str, at: str
) -> None:
    await both_play(server)
    board = await met(server.said, at)
    if how == "killed":
        await asyncio.to_thread(server.kill)
    else:
        assert await asyncio.to_thread(server.stop) == 0
    await asyncio.to_thread(until_nothing_runs, server.folder)
    cut_off = Course(server.said())
    earlier = {*cut_off.boards}
    with Store(server.folder / "league.db") as store:
        before = {
            entry.match: entry.sequence
            for entry in store.run(queries.matches, limit=1_000)
            if entry.sequence is not None
        }
    await asyncio.to_thread(server.start)
    await until_so(lambda: is_next_rated(server, earlier))
    assert await asyncio.to_thread(server.stop) == 0
    until_nothing_runs(server.folder)
    with Store(server.folder / "league.db") as store:
        check_whole(store)
        boards = boards_of(store)
        if board not in cut_off.over and (how == "killed" or at != "second"):
            assert {entry.sequence for entry in boards.get(board, [])} <= {None}
        assert board in boards or (how, at) == ("killed", "first")  # what was dealt is on the disk a moment later
        after = {entry.match: entry.sequence for entry in store.run(queries.matches, limit=1_000)}
        assert before.items() <= after.items()  # what was rated before is rated as it was
        assert {seat.faults for entries in boards.values() for entry in entries for seat in entry.seats} == {0}
        later = [entries for name, entries in boards.items() if name not in earlier]
        assert any(entries[0].sequence is not None for entries in later)
    assert "residents broke" not in server.said()
    assert "match broke down" not in server.said()


@SOAK
@pytest.mark.parametrize("at", ["first", "between", "second"])
async def test_a_rollback_in_the_middle_of_a_board_leaves_nothing_half(short: Path, at: str) -> None:
    quick = Ladder("rot", "greed", 2, control=TimeControl(base_ms=4_000, bank_ms=4_000), boards="rotation")
    ann, bob = tokens(short, "ann", "bob")
    async with running_desk(short, [quick], runner="bubblewrap") as arena:
        author = author_of(arena, ann)
        await handed_in(author, bot_folder(short, SLOW, name="sneak", version="1"), "rot")
        await handed_in(author, bot_folder(short, SLOW, name="sneak", version="2"), "rot")
        await handed_in(author_of(arena, bob), bot_folder(short, SLOW, name="good"), "rot")
        board = await met(lambda: arena.log, at)
        ran = await asyncio.to_thread(
            cutpurse,
            "bot",
            "change",
            "sneak:1",
            "--play",
            folder=short,
            CUTPURSE_SERVER=arena.address,
            CUTPURSE_TOKEN=ann,
        )
        assert ran.returncode == 0, ran.stderr
        store = arena.opened.store
        await until_so(lambda: any(plays(entries, "1") for entries in boards_of(store).values()))
        assert '"residents broke"' not in arena.log
    assert [command for command in commands() if str(short).encode() in command] == []
    with Store(short / "test.db") as store:
        check_whole(store)
        assert {seat.version for entry in boards_of(store)[board] for seat in entry.seats if seat.bot == "sneak"} == {
            "2"
        }
        for entries in boards_of(store).values():  # nobody else pays for it
            assert {seat.faults for entry in entries for seat in entry.seats if seat.bot == "good"} == {0}


def plays(board: list[MatchEntry], version: str) -> bool:
    """Whether it is rated, and this version of ann's bot sat at it."""
    return board[0].sequence is not None and any(
        seat.version == version for seat in board[0].seats if seat.bot == "sneak"
    )
