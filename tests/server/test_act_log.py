"""The acts of people: kept across crashes, read from the newest on, and shown by the command."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cutpurse.cli.main import app
from cutpurse.leaderboard.owner_registry import NewToken
from cutpurse.leaderboard.store import Store
from cutpurse.server import act_log
from cutpurse.server.act_log import ActLog, act_log_beside, acts_in
from tests.server.arenas import running_arena


def test_acts_come_back_the_newest_first(tmp_path: Path) -> None:
    log = ActLog(tmp_path / "league.db.acts")
    assert log.newest(10) == []
    for number in range(5):
        log.note("ann", "ladder changed", f'"{number}"\n\N{SNOWMAN}')
    assert [act.about for act in log.newest(3)] == [f'"{number}"\n\N{SNOWMAN}' for number in (4, 3, 2)]
    assert len(acts_in(tmp_path / "league.db.acts", 100)) == 5
    assert (tmp_path / "league.db.acts").stat().st_mode & 0o777 == 0o600


def test_a_line_that_a_crash_cut_off_spoils_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "league.db.acts"
    log = ActLog(path)
    log.note("ann", "token made", "first")
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:30])
    log.note("bob", "token made", "second")
    assert [act.about for act in log.newest(10)] == ["second", "first"]
    monkeypatch.setattr(act_log, "TAIL_BYTES", len(whole) + 10)
    assert [act.about for act in log.newest(10)] == ["second"]


def test_a_log_without_a_file_keeps_nothing() -> None:
    log = ActLog()
    log.note("ann", "token made", "first")
    assert log.newest(10) == []


async def cutpurse(*words: str) -> Result:
    return await asyncio.to_thread(lambda: CliRunner().invoke(app, words, prog_name="cutpurse"))


async def test_a_host_reads_who_did_what(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CUTPURSE_SERVER", "CUTPURSE_CA", "CUTPURSE_DB"):
        monkeypatch.delenv(name, raising=False)
    with Store(tmp_path / "test.db") as store:
        wanted = [NewToken("root", scopes=("admin",)), NewToken("ann")]
        (root, _), (ann, _) = store.create_tokens(wanted, datetime.now(UTC))
    async with running_arena(tmp_path) as arena:
        where = ("--server", arena.address)
        monkeypatch.setenv("CUTPURSE_TOKEN", ann.reveal())
        made = (await cutpurse("token", "create", "ann", *where)).stdout.strip()
        assert (await cutpurse("token", "acts", *where)).exit_code == 6
        monkeypatch.setenv("CUTPURSE_TOKEN", root.reveal())
        assert (await cutpurse("ladder", "freeze", "greed", *where)).exit_code == 0
        assert (await cutpurse("token", "revoke", ann.id, *where)).exit_code == 0
        run = await cutpurse("token", "acts", "--json", *where)
        assert run.exit_code == 0, run.stderr
    acts = [(act["by"], act["what"], act["about"].partition(",")[0]) for act in json.loads(run.stdout)]
    assert acts == [
        ("root", "token revoked", f"{ann.id} of ann"),
        ("root", "ladder changed", "greed"),
        ("ann", "token made", f"{made[5:13]} of ann"),
    ]
    assert made[13:] not in act_log_beside(tmp_path / "test.db").read_text(encoding="utf-8")
    offline = await cutpurse("token", "acts", "--db", str(tmp_path / "test.db"), "--limit", "1")
    assert (offline.exit_code, "token revoked" in offline.stdout, "ladder" in offline.stdout) == (0, True, False)
