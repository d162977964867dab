"""The demo where the server is at fault; `test_commands.py` has it as a user runs it."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from cutpurse.engine.errors import CutpurseError
from cutpurse.engine.match import Match
from cutpurse.server.hosting.demo_run import Contestant, run_demo
from cutpurse.server.logs import logger


async def test_a_demo_whose_matches_are_void_again_and_again_says_so_and_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(match: Match) -> str:
        raise RuntimeError("no record can be written")

    monkeypatch.setattr("cutpurse.server.matches.server_match.write_record", breaks)
    run = (sys.executable, "-m", "cutpurse.cli", "bot", "run", "first_option", "--quiet", "--name")
    bots = [Contestant(name, (*run, name)) for name in ("ann", "bob", "cid", "dan")]
    with pytest.raises(CutpurseError, match="matches are void by a fault of the server"):
        await run_demo(tmp_path, bots, 2, logger(io.StringIO()), lambda stored: None)
