"""The bench of learning agents prints a row for each game."""

import pytest

from benchmarks.learn import main


def test_a_row_for_each_game(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--games", "greed,bag_o_loot", "--tables", "2", "--seconds", "0.01"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Decisions a second on one core, 2 tables; ")
    assert [line.split(" | ")[0] for line in lines[4:]] == ["| Greed", "| Bag-O-Loot"]
    assert all(int(cell.replace(",", "")) > 0 for line in lines[4:] for cell in line.split(" | ")[1:7])
