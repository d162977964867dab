"""A good bot passes its check beside eight busy processes, and so does a submission.

The bot computes for a third of the time that the limit gives its end, so that a limit by the clock would be exceeded.
`tests/process/test_own_time.py` has the rules.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from cutpurse.check import check_run, scenarios
from cutpurse.check.findings import CheckStatus, Finding
from cutpurse.check.scenarios import SCENARIOS
from cutpurse.cli.check_bot import check_bot
from cutpurse.server.parts.submissions import checking
from cutpurse.server.parts.submissions.checking import _check
from cutpurse.server.runners.choosing import runner_named
from cutpurse.server.runners.launching import NICE
from cutpurse.wire.manifest import MANIFEST, read_manifest
from tests.busy_processes import busy_processes
from tests.parts.submissions.desks import bot_folder
from tests.sdk.bot_files import bot_file

SLOW = """
import atexit, os, time
from cutpurse.sdk.run import run

def compute(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass

class Bot:
    def choose(self, view, decision):
        return decision.options[0]

if "CUTPURSE_RECONNECT_TIMEOUT" in os.environ:  # not where the check only reads this file
    atexit.register(compute, 1.0)
if __name__ == "__main__":
    raise SystemExit(run(Bot, "greed"))
"""


@pytest.fixture(autouse=True)
def short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("handshake", "foreign server", "leaving")
    monkeypatch.setattr(check_run, "SCENARIOS", tuple(one for one in SCENARIOS if one[0] in names))
    monkeypatch.setattr(scenarios, "DIAL_IN_S", 4.0)
    monkeypatch.setattr(checking, "DIAL_IN_S", 4.0)
    monkeypatch.setattr(scenarios, "LEAVE_S", 3.0)


async def test_a_bot_that_computes_at_its_end_passes_its_check(tmp_path: Path) -> None:
    bot = bot_file(tmp_path, SLOW)
    with busy_processes():
        findings = await check_bot(bot, ["greed"])
    assert [(one.scenario, one.seen) for one in findings if one.verdict is not CheckStatus.PASSED] == []
    assert [one.scenario for one in findings] == ["handshake", "greed, a match", "foreign server", "leaving"]


async def test_a_submission_that_computes_at_its_end_passes_its_check(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, SLOW)
    arena = tmp_path / "arena"
    arena.mkdir()
    manifest = asdict(read_manifest((folder / MANIFEST).read_bytes()))
    task = {"manifest": manifest, "games": ["greed"], "folder": folder, "arena": arena, "talk": tmp_path / "talk"}
    findings: list[Finding] = []
    with busy_processes(niceness=NICE):  # as the bot
        await _check(task, runner_named("process"), findings.append)
    assert [(one.scenario, one.seen) for one in findings if one.verdict is not CheckStatus.PASSED] == []
    assert findings[-1].scenario == "leaving"
