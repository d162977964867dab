"""Processor time that bots lost, from files as Linux writes them: stolen, throttled, or taken by other programs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cutpurse.server.parts.hosts.processor_time import LostTime, ProcessorTime

NOTHING = LostTime(0.0, 0.0)


@dataclass
class Machine:
    """The counters of a machine with four cores; all in seconds."""

    root: Path
    busy_s: float = 0.0
    steal_s: list[float] = field(default_factory=lambda: [0.0] * 4)
    throttled_s: float = 0.0
    waited_s: float = 0.0
    own_s: float = 0.0
    now: float = 0.0

    def write(self) -> None:
        proc, group = self.root / "proc", self.root / "sys/fs/cgroup/lab.slice"
        for folder in (proc / "self", proc / "pressure", group / "place"):
            folder.mkdir(parents=True, exist_ok=True)
        cores = [
            f"cpu{core} {self.busy_s * 25:.0f} 0 0 5 0 0 0 {steal_s * 100:.0f} 0 0"
            for core, steal_s in enumerate(self.steal_s)
        ]
        (proc / "stat").write_text("\n".join(["cpu 1 2 3 4 5 6 7 8 0 0", *cores, "intr 5"]))
        (proc / "self/cgroup").write_text("0::/lab.slice/place\n")
        (proc / "pressure/cpu").write_text(
            f"some avg10=0.00 avg60=0.00 avg300=0.00 total={self.waited_s * 1e6:.0f}\nfull total=0\n"
        )
        (group / "cpu.stat").write_text(f"usage_usec 1\nthrottled_usec {self.throttled_s * 1e6:.0f}\n")
        (group / "place/cpu.stat").write_text("usage_usec 1\n")

    def lost(self, time: ProcessorTime, seconds: float, bots_s: float = 0.0) -> LostTime:
        self.now += seconds
        self.write()
        lost = time.take(bots_s)
        return LostTime(round(lost.stolen_s, 2), round(lost.crowded_s, 2))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path)
    made.write()
    return made


@pytest.fixture
def time(machine: Machine) -> ProcessorTime:
    return ProcessorTime(3.0, machine.root, lambda: machine.now, lambda: machine.own_s)


def test_steal_of_the_worst_core_and_throttling_of_a_group_above_are_stolen(
    machine: Machine, time: ProcessorTime
) -> None:
    machine.steal_s[2] = 0.2
    assert machine.lost(time, 1.0) == LostTime(0.2, 0.0)
    machine.throttled_s = 0.5
    assert machine.lost(time, 1.0) == LostTime(0.5, 0.0)
    machine.steal_s[0] = 0.05  # a twentieth
    assert machine.lost(time, 1.0) == NOTHING


def test_time_that_bots_wait_is_crowded_so_far_as_others_use_their_cores(machine: Machine, time: ProcessorTime) -> None:
    machine.busy_s, machine.waited_s = 3.0, 1.0
    assert machine.lost(time, 1.0, bots_s=2.0) == NOTHING  # others use one core, which is not for bots
    machine.busy_s, machine.waited_s = 7.0, 2.0
    assert machine.lost(time, 1.0, bots_s=3.5) == LostTime(0.0, 0.5)  # 2.5 cores: 1.5 of the three of bots
    machine.busy_s = 11.0
    assert machine.lost(time, 1.0, bots_s=5.0) == NOTHING  # no bot wanted them
    machine.busy_s, machine.waited_s, machine.own_s = 15.0, 3.0, 3.0
    assert machine.lost(time, 1.0, bots_s=6.0) == NOTHING  # it was the place itself


def test_bots_that_wait_for_each_other_have_lost_nothing(machine: Machine, time: ProcessorTime) -> None:
    machine.busy_s, machine.waited_s = 4.0, 1.0
    assert machine.lost(time, 1.0, bots_s=4.0) == NOTHING


def test_a_system_that_tells_nothing_lost_nothing(tmp_path: Path) -> None:
    clock = iter([1.0, 2.0])
    assert ProcessorTime(1.0, tmp_path, lambda: next(clock)).take(1.0) == NOTHING
