"""What a server runs on, as its admins see it: over real gRPC, by the command and by the call."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import Result

from cutpurse.leaderboard.results import Identity
from cutpurse.sdk.status_text import format_queues, format_servers
from cutpurse.server.errors import CallStatus
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.parts.hosts.part import HostsPart
from cutpurse.server.parts.hosts.places import PlaceFacts
from cutpurse.server.runners.port import ProgramSpec
from cutpurse.v1.status_pb2 import ArenaStatus, GetStatusResponse
from tests.parts.open_parts import part_of, parts_with
from tests.server.arenas import running_arena
from tests.server.tokens import tokens_in
from tests.typed import run_beside

LADDERS = [Ladder("greed", "greed", 2)]


class Stream:
    """A stream of a place that takes everything."""

    def wake(self) -> None:
        """Do nothing."""

    def close(self, how: CallStatus) -> None:
        """Do nothing."""


async def status(*arguments: object) -> Result:
    return await run_beside("status", *arguments)


@pytest.fixture(autouse=True)
def no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


async def test_places_are_listed_with_their_bots_and_why_one_is_not_used(tmp_path: Path) -> None:
    async with running_arena(tmp_path, LADDERS, parts=parts_with(submissions="process", places=True)) as arena:
        empty = await status("--server", arena.address)
        assert (empty.exit_code, empty.stderr) == (0, "")
        assert empty.stdout.splitlines()[-1] == "no place attends; start one with `cutpurse place`"
        places = part_of(arena.opened, HostsPart).places
        places.bots_of = lambda programs: [Identity("ann", "sneak", "1")] * len(programs)
        near, _ = places.enter(PlaceFacts("lab1", "bubblewrap", 4.0, b"k", "192.0.2.7"), (), Stream(), 812.4)
        far, _ = places.enter(PlaceFacts("lab2", "container", 8.0, b"l", "192.0.2.8"), (), Stream(), 820.0)
        near.round_trips.append(0.0012)
        far.round_trips.extend([0.09] * 3)
        (tmp_path / "bot").mkdir()
        program = places.start(ProgramSpec("sneak:1", tmp_path / "bot", ("python",), tmp_path / "talk"))
        for place in (near, far):
            place.heard_at += 1_000.0  # they are not silent, however busy this machine is
        places.look(near.heard_at)
        shown = await status("--server", arena.address)
        machine = await status("--server", arena.address, "--json")
        program.end("stopped", None, "the test is over")
    assert shown.exit_code == 0, shown.stderr
    assert shown.stdout.splitlines()[0].endswith("0 open matches, 0 bots online")
    lines = [line.split() for line in shown.stdout.splitlines()[3:]]
    assert lines[0] == ["place", "address", "runner", "cores", "free", "speed", "round", "trip", "bots", "state"]
    assert lines[1][:8] == ["lab1", "192.0.2.7", "bubblewrap", "4", "3.5", "812", "1.2", "ms"]
    told = json.loads(machine.stdout)
    assert (told["has_places"], told["matches"], told["bots"]) == (True, 0, 0)
    assert [place["name"] for place in told["places"]] == ["lab1", "lab2"]
    assert (told["places"][0]["unused"], told["places"][0]["bots"]) == (None, ["ann/sneak:1"])
    assert told["places"][1] == {
        "name": "lab2",
        "address": "192.0.2.8",
        "runner": "container",
        "cores": 8.0,
        "free_cores": 8.0,
        "speed": 820.0,
        "round_trip_ms": 90.0,
        "bots": [],
        "unused": "its round trip is 90 ms; clocks run on the server and allow for 50 ms",
    }


async def test_only_an_admin_sees_the_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = tokens_in(tmp_path / "test.db", "ann", root=("admin",))
    async with running_arena(tmp_path, LADDERS) as arena:
        assert (await status("--server", arena.address)).exit_code == 6
        monkeypatch.setenv("CUTPURSE_TOKEN", tokens["ann"])
        refused = await status("--server", arena.address)
        assert (refused.exit_code, refused.stderr.count("\n")) == (6, 1)
        assert "this token is good for play, read, not for admin; ask for one that is" in refused.stderr
        monkeypatch.setenv("CUTPURSE_TOKEN", tokens["root"])
        shown = await status("--server", arena.address)
        assert (shown.exit_code, shown.stderr) == (0, "")
        assert "submitted bots run on the server itself, or nowhere" in shown.stdout


async def test_queues_and_disk_are_shown(tmp_path: Path) -> None:
    async with running_arena(tmp_path, LADDERS) as arena:
        shown = await status("--server", arena.address)
        told = json.loads((await status("--server", arena.address, "--json")).stdout)
    assert re.search(
        r"^waiting: 0 requested matches, 0 writes to the leaderboard\n"
        r"disk: \d+\.\d of \d+\.\d GiB free\n"
        r"submitted bots run",
        shown.stdout,
        re.MULTILINE,
    )
    assert 0 < told["disk_free_bytes"] <= told["disk_bytes"]
    queues = ("waiting_requests", "waiting_writes", "has_workers", "waiting_work", "taken_work")
    assert [told[name] for name in queues] == [0, 0, False, 0, 0]


def test_queues_in_words() -> None:
    status = GetStatusResponse(waiting_requests=1, waiting_writes=2_000, disk_free_bytes=2**29, disk_bytes=2**31)
    lines = ["waiting: 1 requested match, 2,000 writes to the leaderboard", "disk: 0.5 of 2.0 GiB free"]
    assert format_queues(status) == lines
    status = GetStatusResponse(disk_bytes=1, has_workers=True, waiting_work=1, taken_work=3)
    assert format_queues(status)[2:] == ["workers: 3 matches being played, 1 match waits"]
    assert format_servers(status) == []
    status.oldest_work_s = 12.3
    assert format_queues(status)[2:] == ["workers: 3 matches being played, 1 match waits (for 12 s)"]
    assert format_queues(GetStatusResponse(version="0.2.0", matches=3)) == []  # of an older server


def test_servers_that_share_a_league_are_described_one_by_one() -> None:
    near = ArenaStatus(
        address="https://a:7777", version="0.2.0", ladders=["greed", "szmal"], matches=1, bots=2, lag_s=1.24
    )
    away = ArenaStatus(address="https://b:7777", lag_s=7.5)
    assert format_servers(GetStatusResponse(arenas=[near, away])) == [
        "server https://a:7777: greed, szmal; 1 open match, 2 bots online; leases renewed 1.2 s ago",
        "server https://b:7777: no ladder; does not answer; leases renewed 7.5 s ago",
    ]
