"""Own time passes as the clock does, except while the machine has no processor for a program that wants one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from cutpurse.check.check_run import _carried_out
from cutpurse.check.findings import CheckStatus, Failed, Late, MachineBusy
from cutpurse.check.local_arena import Host
from cutpurse.check.scenarios import Visit
from cutpurse.process.own_time import SLOWEST, OwnTime, load_share


@dataclass
class Machine:
    """What Linux shows of a process 7 with a child 8, a thread each."""

    root: Path
    now: float = 0.0
    share: float = 1.0

    def set(self, process: int, ran_s: float, waited_s: float, state: str = "S") -> None:
        folder = self.root / f"{process}/task/{process}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "schedstat").write_text(f"{ran_s * 1e9:.0f} {waited_s * 1e9:.0f} 3\n")
        (folder / "stat").write_text(f"{process} (a ) b) {state} 1 1 1\n")
        (folder / "children").write_text("8 " if process == 7 else "")

    def own_time(self, pid: int = 7) -> OwnTime:
        return OwnTime(pid, clock=lambda: self.now, proc=self.root, share=lambda: self.share)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path)
    for process in (7, 8):
        made.set(process, 1.0, 1.0)
    return made


@pytest.mark.parametrize(
    ("ran_s", "waited_s", "state", "own_s"),
    [
        (0.0, 0.0, "S", 1.0),  # it sleeps
        (0.9, 0.0, "R", 1.0),  # it computes
        (0.2, 0.7, "S", 0.3),  # it computes, waits and sleeps
        (0.0, 1.0, "S", 1 / SLOWEST),  # it waits; every wait ends
        (0.0, 7.0, "S", 1 / SLOWEST),  # many threads wait
        (0.8, 7.0, "S", 0.8),  # many threads compute, and keep each other waiting
        (0.0, 0.0, "R", 0.75),  # it waits, and the scheduler has not counted that yet
    ],
)
def test_a_second_in_which_a_child_waits_for_the_processor(
    machine: Machine, ran_s: float, waited_s: float, state: str, own_s: float
) -> None:
    own_time = machine.own_time()
    before = own_time()
    machine.now = 1.0
    machine.set(8, 1.0 + ran_s, 1.0 + waited_s, state)
    assert own_time() - before == pytest.approx(own_s)


def test_a_process_that_the_system_does_not_show_gets_its_share_of_the_load(machine: Machine) -> None:
    own_time = machine.own_time(99)
    machine.share, machine.now = 0.25, 10.0
    assert own_time() == pytest.approx(2.5)
    assert 0 < load_share() <= 1


def test_it_never_decreases_and_names_the_machine_that_withheld_most(machine: Machine) -> None:
    own_time = machine.own_time()
    began = own_time.mark()
    machine.now = 0.04  # too soon for another reading
    assert own_time() == pytest.approx(0.04)
    machine.now = 10.0
    machine.set(8, 1.0, 10.9)
    assert own_time() == pytest.approx(10 / SLOWEST)
    assert own_time.why_busy(began) == "the machine was busy: it gave no processor for 9.5 of 10.0 s"
    again = own_time.mark()
    machine.now = 20.0
    assert own_time.why_busy(again) == ""


def test_pauses_end_with_the_own_time(machine: Machine) -> None:
    own_time = machine.own_time()
    lengths = []
    for pause_s in own_time.pauses(1.0):
        lengths.append(pause_s)
        machine.now += pause_s
    assert sum(lengths) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("problem", "waited_s", "tries", "seen"),
    [
        (Late("no answer in 11 s"), 10.0, 2, None),
        (Late("no answer in 11 s"), 8.0, 2, "no answer in 11 s"),  # though it had a fifth of the time
        (Late("no answer in 11 s"), 0.0, 1, "no answer in 11 s"),
        (Failed("it answered 7"), 10.0, 1, "it answered 7"),
    ],
)
async def test_a_scenario_that_was_slow_on_a_busy_machine_is_tried_once_more(
    machine: Machine, problem: Failed, waited_s: float, tries: int, seen: str | None
) -> None:
    tried = 0

    async def scenario(visit: Visit) -> str:
        nonlocal tried
        tried += 1
        machine.now += 10.0
        machine.set(8, 1.0, 1.0 + tried * waited_s)
        raise problem

    visit = Visit(Host(), (), lambda: pytest.fail("nothing is started"), machine.own_time())
    if seen is None:
        with pytest.raises(MachineBusy, match=r"^the machine was busy: .* too slow at too late: check it again later$"):
            await _carried_out("too late", scenario, visit)
    else:
        finding = await _carried_out("too late", scenario, visit)
        assert (finding.verdict, finding.seen) == (CheckStatus.FAILED, seen)
    assert tried == tries


async def test_a_scenario_that_was_slow_once_is_passed(machine: Machine) -> None:
    tried = 0

    async def scenario(visit: Visit) -> str:
        nonlocal tried
        tried += 1
        if tried == 1:
            machine.now += 10.0
            machine.set(8, 1.0, 11.0)
            raise Late("no answer in 11 s")
        return "it answered"

    visit = Visit(Host(), (), lambda: pytest.fail("nothing is started"), machine.own_time())
    finding = await _carried_out("too late", scenario, visit)
    assert (finding.verdict, finding.seen) == (CheckStatus.PASSED, "it answered")
