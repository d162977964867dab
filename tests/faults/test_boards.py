"""Boards of several matches over gRPC: eight owners on a server that is killed, and a rotation of bots that forget."""

from __future__ import annotations

import asyncio
import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cutpurse.engine.clocks import TimeControl
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.ladders import ensure_ladder
from cutpurse.leaderboard.match_file_writer import match_file
from cutpurse.leaderboard.owner_registry import NewToken, create_tokens
from cutpurse.leaderboard.ratings import TrueSkill
from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.store import Store
from cutpurse.sdk.matches.match_file import check, read_matches
from cutpurse.sdk.run import PlayedMatch, connect
from cutpurse.server.access.owners import ANYBODY, Grant, OpenGuard
from cutpurse.server.hosting import open_arena as open_arena_module
from cutpurse.server.ladder_config import Ladder
from tests.faults.processes import Server, herd, server
from tests.looking import until
from tests.server.arenas import running_arena

OWNERS = 8


def prepared(folder: Path) -> list[str]:
    """A database with a ladder of duplicate boards; a token for each owner."""
    with Store(folder / "league.db") as store:
        store.write(ensure_ladder, Ladder("dup", "greed", 3, boards="duplicate").kept)
        wanted = [NewToken(f"owner{n}") for n in range(OWNERS)]
        return [token.reveal() for token, _ in store.write(create_tokens, wanted, datetime.now(UTC))]


def rated(host: Server) -> int:
    with closing(sqlite3.connect(host.database)) as connection:
        (count,) = connection.execute("SELECT count(sequence) FROM boards WHERE matches > 1").fetchone()
        return int(count)


def check_all(store: Store) -> tuple[int, int]:
    """Ratings follow from what is stored, and every match can be verified; how many boards are rated, and are not."""
    assert [one.differences for one in recompute(store)] == [()] * len(store.run(queries.ladders))
    entries = store.run(queries.matches, limit=10_000)
    boards = {entry.board: entry for entry in entries if entry.board_size > 1}
    for entry in entries:
        assert not entry.is_sealed
        has_record = entry.decisions > 0 or entry.void_cause is None
        filed = match_file(entry, store.run(queries.record, entry.match) if has_record else None)
        (one,) = read_matches(filed.encode())
        said = " ".join(check(one).checked)
        assert ("it is a board of kind" in said) is (entry.board_size > 1)
    whole = [entry for entry in boards.values() if entry.sequence is not None]
    assert sorted(entry.sequence or 0 for entry in whole) == sorted({entry.sequence or 0 for entry in whole})
    return len(whole), len(boards) - len(whole)


def test_duplicates_of_eight_owners_survive_a_kill(tmp_path: Path) -> None:
    tokens = prepared(tmp_path)
    with ExitStack() as stack:
        first = stack.enter_context(server(tmp_path))
        herds = [
            stack.enter_context(herd(tmp_path, first.address, [f"bot{n}"], 2, (1, 4), f"book{n}", token))
            for n, token in enumerate(tokens)
        ]
        until(lambda: rated(first) >= 10 and len(first.open_matches()) >= 2, "boards are rated")
        first.signal(signal.SIGKILL)
        first.ends()
        told = {match for one in herds for _, match, _, is_rated in one.heard() if is_rated}
        before = rated(first)
        second = stack.enter_context(server(tmp_path, address=first.address, name="second"))
        until(lambda: rated(second) >= before + 5, "boards are rated again")
        second.signal(signal.SIGTERM)
        assert second.ends() == 0, second.said
        assert second.events("match broke down") == []
    with Store(tmp_path / "league.db") as store:
        counting, void = check_all(store)
        assert counting >= before + 5
        assert void >= 1  # what the kill has cut off
        sequences = {entry.match: entry.sequence for entry in store.run(queries.matches, limit=10_000)}
        assert all(sequences[match] is not None for match in told)
        for entry in store.run(queries.matches, limit=10_000):
            owners = [seat["owner"] for table in tables_of(entry.deal.params) for seat in table["seats"]]
            assert len(set(owners)) == len(owners)
        some = [entry.match for entry in store.run(queries.matches, limit=10_000) if entry.board_size > 1][:2]
    for name in some:  # as anybody would
        words = [sys.executable, "-m", "cutpurse.cli", "match", "show", name, "--db", str(tmp_path / "league.db")]
        shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        assert "duplicate: " in shown


def tables_of(params: bytes) -> list[dict[str, Any]]:
    settled = json.loads(params)
    return settled.get("tables") or [settled]


class Forgetful(OpenGuard):
    """Everybody who comes keeps no memory."""

    def enter(self, *about: Any) -> Grant:
        return ANYBODY._replace(forgets=True)


def test_a_rotation_over_grpc_is_rated_and_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = TimeControl(base_ms=2_000, bank_ms=4_000, poll_floor_ms=5)
    ladder = Ladder("rot", "greed", 3, {}, quick, TrueSkill(draw_probability=0.05), boards="rotation")
    heard: dict[str, list[PlayedMatch]] = {"first_option": [], "random": [], "greedy": []}
    opened: list[PlayedMatch] = []

    async def play(folder: Path) -> None:
        async with running_arena(folder, [ladder]) as arena:
            playing = [
                connect(
                    name,
                    server=arena.address,
                    name=name,
                    max_tables=2,
                    on_match=heard[name].append,
                    on_opened=opened.append,
                    matches=9,
                    quiet=True,
                )
                for name in heard
            ]
            await asyncio.gather(*playing)

    monkeypatch.setattr(open_arena_module, "OpenGuard", Forgetful)
    asyncio.run(play(tmp_path))
    with Store(tmp_path / "test.db") as store:
        counting, _ = check_all(store)
        assert counting >= 2
        matches = [one for played in heard.values() for one in played]
        at_once = [one.match for one in matches if one.opened]
        later = [one.match for one in opened]
        assert at_once
        assert later
        rated_ones = {one.match for one in (*matches, *opened) if one.rated}
        sequences = {entry.match: entry.sequence for entry in store.run(queries.matches, limit=1_000)}
        assert rated_ones
        assert all(sequences[match] is not None for match in rated_ones)
        assert {entry.board_kind for entry in store.run(queries.matches, limit=1_000)} == {"rotation"}
