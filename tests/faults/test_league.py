"""A league whose server is killed with -9 in the middle of matches, and that its verdict can be a bad one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.faults.league import LeagueRun, Plan


def test_twelve_bots_of_four_owners_lose_nothing_though_the_server_is_killed_three_times(tmp_path: Path) -> None:
    run = LeagueRun(Plan(), tmp_path)
    verdict = run.run()
    assert verdict.wrong == []
    assert verdict.told >= 4 * run.plan.matches - 3 * 6, "at each kill six matches at most were stored and not told yet"
    assert verdict.void > 0, "no kill came in the middle of a match"
    assert verdict.counted >= verdict.told

    # A verdict that finds nothing wrong there finds what was done to the same database.
    with closing(sqlite3.connect(tmp_path / "league.db")) as connection, connection:
        newest = "SELECT number, id FROM matches WHERE void_cause IS NULL ORDER BY number DESC"
        number, match = connection.execute(newest).fetchone()
        connection.execute("UPDATE ratings SET mu = mu + 0.001 WHERE version_id = 1")
        connection.execute("UPDATE matches SET void_cause = 'void_server' WHERE id = ?", (match,))
        (board,) = connection.execute("SELECT board_id FROM matches WHERE void_cause IS NOT NULL").fetchone()
        connection.execute("DELETE FROM matches WHERE board_id = ?", (board,))
        connection.execute("UPDATE seats SET version_id = 1 WHERE match_number = ?", (number,))
    run._judge()
    said = "\n".join(run.verdict.wrong)
    assert "mu" in said
    assert f"match {match} was told as rated and is void" in said
    assert " met in match " in said
    assert f"board {board} was announced, and is neither stored nor void" in said


@pytest.mark.soak
def test_ten_minutes_with_a_kill_a_minute(tmp_path: Path) -> None:
    verdict = LeagueRun(Plan(kills=10, seconds=60.0, seed=2, think_ms=(5, 50)), tmp_path).run()
    assert verdict.wrong == []
    assert verdict.told > 500
