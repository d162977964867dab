"""The bench of data sets prints a row for each game."""

import pytest

from benchmarks.export import main


def test_a_row_for_each_game(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--games", "greed,szmal", "--seats", "3", "--rows", "300", "--features"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Export of 300 rows and more of each game; ")
    assert [line.split(" | ")[0] for line in lines[4:]] == ["| Greed", "| Szmal"]
    assert all(int(cell.replace(",", "")) > 0 for line in lines[4:] for cell in line.strip("| ").split(" | ")[1:])
