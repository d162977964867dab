"""The benchmark of the sender of notices, for moments."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.notice_latency import is_down, main, prepare
from cutpurse.leaderboard.reader import LeaderboardReader


def test_notices_wait_for_receivers_of_several_owners(tmp_path: Path) -> None:
    assert len(prepare(tmp_path / "league.db", "http://127.0.0.1:1", 5, 100)) == 4
    with LeaderboardReader(tmp_path / "league.db") as reader:
        assert [entry.waiting for entry in reader.receivers()] == [20] * 5
        assert {entry.owner for entry in reader.receivers()} == {"owner0", "owner1", "owner2", "owner3"}


def test_a_receiver_fails_and_another_does_not_at_the_same_time() -> None:
    seconds = range(1_000)
    down = [is_down("/1", second) for second in seconds]
    assert 400 < sum(down) < 600
    assert down != [is_down("/2", second) for second in seconds]


def test_it_measures_both_windows_and_prints_their_ratio(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--notices", "400", "--receivers", "8", "--bots", "8", "--seconds", "3", "--rounds", "1"])
    printed = capsys.readouterr().out
    without, beside = re.findall(r" (\d+) notices delivered, \d+ failed, (\d+) wait", printed)
    assert without == ("0", "0")
    assert 0 < int(beside[0]) < 400
    assert 0 < int(beside[1]) < 400
    assert re.search(r"^p99, with to without: \d+\.\d{3} \(from", printed, re.MULTILINE)
