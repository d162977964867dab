"""The bench of nets prints a row for each file."""

from pathlib import Path

import pytest

from benchmarks.net import main
from tests.learn.nets import random_net


def test_a_row_for_each_net(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(tmp_path / f"{game}.npz") for game in ("greed", "szmal")]
    for game, file in zip(("greed", "szmal"), files, strict=True):
        random_net(game).save(file)
    main([*files, "--matches", "1"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Milliseconds per decision with numpy, by the clock (CPU); ")
    assert [line.split(" | ")[0] for line in lines[4:]] == ["| greed, 4 seats", "| szmal, 4 seats"]
    for line in lines[4:]:
        p50, p99, most = (float(cell.split()[0]) for cell in line.strip("| ").split(" | ")[5:])
        assert 0 < p50 <= p99 <= most
