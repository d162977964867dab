"""The acts of people: kept across crashes, read from the newest on, and shown by the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cutpurse.server import act_log
from cutpurse.server.act_log import ActLog, act_log_beside, acts_in
from tests.server.arenas import running_arena
from tests.server.tokens import tokens_in
from tests.typed import run_beside as cutpurse


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


async def test_a_host_reads_who_did_what(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = tokens_in(tmp_path / "test.db", "ann", root=("admin",))
    async with running_arena(tmp_path) as arena:
        where = ("--server", arena.address)
        monkeypatch.setenv("CUTPURSE_TOKEN", tokens["ann"])
        made = (await cutpurse("token", "create", "ann", *where)).stdout.strip()
        assert (await cutpurse("token", "list", "--acts", *where)).exit_code == 6
        monkeypatch.setenv("CUTPURSE_TOKEN", tokens["root"])
        assert (await cutpurse("ladder", "change", "greed", "--freeze", "now", *where)).exit_code == 0
        assert (await cutpurse("token", "revoke", tokens["ann"][5:13], *where)).exit_code == 0
        run = await cutpurse("token", "list", "--acts", "--json", *where)
        assert run.exit_code == 0, run.stderr
    acts = [(act["by"], act["what"], act["about"].partition(",")[0]) for act in json.loads(run.stdout)]
    assert acts == [
        ("root", "token revoked", f"{tokens['ann'][5:13]} of ann"),
        ("root", "ladder changed", "greed"),
        ("ann", "token made", f"{made[5:13]} of ann"),
    ]
    assert made[13:] not in act_log_beside(tmp_path / "test.db").read_text(encoding="utf-8")
    for words, problem in ((("ann", "--acts"), "leave out OWNER"), (("--limit", "1"), "add --acts")):
        refused = await cutpurse("token", "list", *words, "--db", str(tmp_path / "test.db"))
        assert (refused.exit_code, problem in refused.stderr) == (2, True)
    offline = await cutpurse("token", "list", "--acts", "--db", str(tmp_path / "test.db"), "--limit", "1")
    assert (offline.exit_code, "token revoked" in offline.stdout, "ladder" in offline.stdout) == (0, True, False)
