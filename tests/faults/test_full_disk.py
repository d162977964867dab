"""The disk is full in mid-match: nothing that was told is lost, bots hear of it, and it goes on when there is room."""

from __future__ import annotations

import resource
import signal
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.store import Store
from tests.faults.league import OWNERS, owners_of, tokens_of
from tests.faults.processes import Herd, Server, herd, server
from tests.looking import until

pytestmark = pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs a limit set from without")
LOG = 1 << 18  # bytes that the server's log may have, which is a file too


def no_room(host: Server) -> None:
    """No file of the server may be written beyond what its database needs, as on a disk that is full."""
    wal = host.database.with_name(host.database.name + "-wal")
    until(
        lambda: wal.exists() and wal.stat().st_size > len(host.said.encode()) + LOG, "the database is the larger file"
    )
    hard = resource.prlimit(host.process.pid, resource.RLIMIT_FSIZE)[1]
    resource.prlimit(host.process.pid, resource.RLIMIT_FSIZE, (LOG, hard))


def room(host: Server) -> None:
    hard = resource.prlimit(host.process.pid, resource.RLIMIT_FSIZE)[1]
    resource.prlimit(host.process.pid, resource.RLIMIT_FSIZE, (hard, hard))


def test_a_full_disk_stops_new_matches_and_nothing_that_was_told_is_lost(tmp_path: Path) -> None:
    tokens = tokens_of(tmp_path, OWNERS)
    with server(tmp_path, "--game", "greed") as host, ExitStack() as stack:
        herds: dict[str, Herd] = {
            owner: stack.enter_context(herd(tmp_path, host.address, names, 2, (1, 3), f"book_{owner}", tokens[owner]))
            for owner, names in owners_of(8).items()
        }
        no_room(host)
        until(lambda: bool(host.events("result not stored")), "a result is not stored")
        until(lambda: all_told(tmp_path), "all bots are told")
        until(lambda: not host.open_matches(), "no match is open any more")
        before = len(host.events("match started"))
        room(host)
        until(lambda: bool(host.events("results are stored again")), "there is room again")
        until(lambda: len(host.events("match ended")) >= before + 8, "it goes on")
        host.signal(signal.SIGTERM)
        assert host.ends() == 0, host.said
        until(lambda: all(one.has_heard_all for one in herds.values()), "every bot has heard of each end")
    stored = host.stored()
    heard = [line for one in herds.values() for line in one.heard()]
    assert max(Counter((bot, match) for bot, match, _, _ in heard).values()) == 1
    assert {match for _, match, _, is_rated in heard if is_rated} == {
        match for match, cause in stored.items() if cause is None
    }
    started = {line["match"] for line in host.events("match started")}
    assert {match for _, match, is_void, _ in heard if is_void} == {
        match for match, cause in stored.items() if cause == "void_server" and match in started
    }
    assert started <= set(stored)
    # What could not be announced was void before anybody was told.
    assert {stored[match] for match in set(stored) - started} <= {"void_server"}
    assert "void_server" in stored.values()
    with Store(host.database) as store:
        assert all(check.equal for check in recompute(store))


def all_told(folder: Path) -> bool:
    said = [(folder / f"book_{owner}.err").read_text(encoding="utf-8") for owner in OWNERS]
    return all("results cannot be stored now" in text for text in said)
