"""A run is the same whatever seed Python hashes text with: nothing depends on the order of a set."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cutpurse.games import GAMES


@pytest.mark.parametrize("game", GAMES)
def test_a_record_does_not_depend_on_the_hash_seed(game: str, tmp_path: Path) -> None:
    records = []
    for hash_seed in ("1", "2"):
        record = tmp_path / f"{hash_seed}.jsonl"
        bots = ["greedy", "random", "random", "random"]
        command = [sys.executable, "-m", "cutpurse.cli", "play", game, *bots, "--record", str(record)]
        subprocess.run(command, check=True, capture_output=True, env=os.environ | {"PYTHONHASHSEED": hash_seed})
        records.append(record.read_bytes())
    assert records[0] == records[1]
    assert records[0].count(b"\n") == 1
