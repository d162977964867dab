"""The league that the tests of the page look at is the same in every run."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from tests.roots import CHECKOUT
from tests.web.leagues import league_file

IN_A_PROCESS = "import sys; from pathlib import Path; from tests.web.leagues import league_file; "


def held(path: Path) -> list[str]:
    """All that a database holds, as SQL."""
    with closing(sqlite3.connect(path)) as database:
        return list(database.iterdump())


def test_what_is_played_hangs_on_no_thread_and_no_hash(tmp_path: Path) -> None:
    here = held(league_file(tmp_path / "here.db", matches=1))
    there = tmp_path / "there.db"
    subprocess.run(
        [sys.executable, "-c", IN_A_PROCESS + "league_file(Path(sys.argv[1]), matches=1)", str(there)],
        env={**os.environ, "PYTHONHASHSEED": "77"},
        cwd=CHECKOUT,
        check=True,
    )
    assert sum(line.startswith('INSERT INTO "matches"') for line in here) > 10
    assert held(there) == here
