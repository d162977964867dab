"""Control groups: those of this host in earnest, and the files of version 2, wherever this host has only version 1."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from cutpurse.server.runners.cgroups import CONTROLLERS, Group, cgroups
from cutpurse.server.runners.port import ResourceLimits
from tests.sandbox.trying import MIB


def version_2(root: Path, enabled: str = "cpu memory pids") -> Path:
    """Files as version 2 has them, with ourselves in a group of a service."""
    service = root / "system.slice" / "cutpurse.service"
    service.mkdir(parents=True)
    (root / "cgroup.controllers").write_text("cpuset cpu io memory pids\n", encoding="ascii")
    (service / "cgroup.controllers").write_text("cpu memory pids\n", encoding="ascii")
    (service / "cgroup.subtree_control").write_text(enabled, encoding="ascii")
    (service / "cgroup.procs").write_text(f"{os.getpid()}\n", encoding="ascii")
    (root / "membership").write_text("0::/system.slice/cutpurse.service\n", encoding="ascii")
    return service


def test_version_2_is_found_below_our_own_group(tmp_path: Path) -> None:
    service = version_2(tmp_path)
    found = cgroups(tmp_path, tmp_path / "membership")
    assert (found.version, found.lacks()) == (2, ())
    group = found.make()
    assert group is not None
    (door,) = group.doors  # one for all controllers
    assert door.parent.parent == service
    assert group.remove()


def test_a_controller_that_cannot_be_had_is_told(tmp_path: Path) -> None:
    service = version_2(tmp_path, "memory pids")
    (service / "cgroup.controllers").write_text("memory pids\n", encoding="ascii")
    found = cgroups(tmp_path, tmp_path / "membership")
    assert found.lacks() == ("cpu",)
    group = found.make()
    assert group is not None
    assert [group.has(controller) for controller in CONTROLLERS] == [True, True, False]


def test_limits_and_figures_of_version_2(tmp_path: Path) -> None:
    for name in ("memory.max", "memory.swap.max", "memory.oom.group", "pids.max", "cpu.max", "cpu.weight"):
        (tmp_path / name).write_text("max", encoding="ascii")
    group = Group(dict.fromkeys(CONTROLLERS, tmp_path), 2)
    group.limit(ResourceLimits(memory_bytes=64 * MIB, processes=10, cpu_cores=0.25), 2)
    written = {file.name: file.read_text(encoding="ascii") for file in tmp_path.iterdir()}
    assert written == {
        "memory.max": str(64 * MIB),
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "pids.max": "12",
        "cpu.max": "25000 100000",
        "cpu.weight": "25",
    }
    assert (group.cpu_s(), group.peak_bytes(), group.out_of_memory(), group.refused()) == (None, None, 0, 0)
    (tmp_path / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 1\n", encoding="ascii")
    (tmp_path / "memory.current").write_text("5000\n", encoding="ascii")
    assert (group.cpu_s(), group.peak_bytes()) == (1.5, 5_000)
    (tmp_path / "memory.current").write_text("4000\n", encoding="ascii")
    assert group.peak_bytes() == 5_000  # an older kernel keeps no peak, so what was seen counts
    (tmp_path / "memory.peak").write_text("9000\n", encoding="ascii")
    (tmp_path / "memory.events").write_text("low 0\nmax 7\noom 2\noom_kill 1\n", encoding="ascii")
    (tmp_path / "pids.events").write_text("max 31\n", encoding="ascii")
    assert (group.peak_bytes(), group.out_of_memory(), group.refused()) == (9_000, 1, 31)


def test_a_host_without_them_has_none(tmp_path: Path) -> None:
    found = cgroups(tmp_path, tmp_path / "nothing")
    assert (found.make(), found.lacks()) == (None, CONTROLLERS)


def test_a_group_of_this_host_holds_what_enters_it_and_goes_away() -> None:
    group = cgroups().make()
    if group is None:
        pytest.skip("this host lets us make no control groups")
    doors = [str(door) for door in group.doors]
    sleeper = subprocess.Popen(["/bin/sh", "-c", 'for door; do echo 0 > "$door"; done; exec sleep 1000', "sh", *doors])
    try:
        while sleeper.pid not in group.processes():
            os.sched_yield()
        assert not group.remove()  # somebody is in it
        group.kill()
        assert sleeper.wait(240) == -9
    finally:
        sleeper.kill()
        sleeper.wait()
    while not group.remove():
        os.sched_yield()
    assert not any(door.parent.exists() for door in group.doors)


def test_empty_groups_of_servers_that_are_gone_are_swept_away() -> None:
    found = cgroups()
    group = found.make()
    if group is None:
        pytest.skip("this host lets us make no control groups")
    gone = subprocess.Popen(["true"])
    gone.wait()
    left = group.doors[0].parent.with_name(f"cutpurse-{gone.pid}-1")
    left.mkdir()
    found.sweep()
    assert not left.exists()
    assert group.doors[0].parent.exists()  # we are not gone
    group.remove()
