"""A batch of several processes gives what one process gives, and leaves nothing behind when one is killed."""

from __future__ import annotations

import gc
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cutpurse.engine.errors import UsageError
from cutpurse.learn import IllegalNumber
from cutpurse.learn.batch import Batch
from cutpurse.learn.block_processes import BlockProcesses, TablesLost
from cutpurse.learn.opponents import OpponentFailed
from cutpurse.process.child_processes import descendants
from tests.properties.random_play import EVERY_GAME

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills by signals")

TABLES = 5
ARRAYS = ("planes", "rows", "row_mask", "numbers", "history", "mask", "seat", "match")
SHARED = Path("/dev/shm")  # where memory with a name would be


class Crashes:
    def choose(self, view: object, decision: object) -> int:
        raise RuntimeError("no idea")


def play_on(batch: Batch) -> None:
    """Step until something is raised."""
    while True:
        batch.step(batch.mask.argmax(axis=1))


def shared() -> set[str]:
    return {path.name for path in SHARED.iterdir()} if SHARED.is_dir() else set()


def processes_of(batch: Batch) -> list[int]:
    assert isinstance(batch.source, BlockProcesses)
    found = [block.process.pid for block in batch.source._blocks]
    return [pid for pid in found if pid is not None]


def assert_same(one: Batch, other: Batch) -> None:
    for name in ARRAYS:
        assert hasattr(one, name) == hasattr(other, name)
        if hasattr(one, name):
            assert (getattr(one, name) == getattr(other, name)).all(), name


@pytest.mark.parametrize("name", EVERY_GAME)
def test_several_processes_give_what_one_gives(name: str) -> None:
    """Matches end in both, with planes in one half of the games and rows and events in the other."""
    has_rows = name in ("szmal", "bag_o_loot")
    alone = Batch(name, TABLES, seed=3, history=4 if has_rows else 0, rows=has_rows)
    with Batch(name, TABLES, seed=3, history=4 if has_rows else 0, rows=has_rows, jobs=2) as batch:
        ended = 0
        for step in range(2000):
            if step % 10 == 0 or ended < 2:
                assert_same(alone, batch)
            actions = alone.mask.argmax(axis=1)
            expected = alone.step(actions)
            assert batch.step(actions) == expected
            ended += len(expected)
            if ended >= 2 and step >= 30:
                break
    assert ended >= 2


def test_arrays_stay_as_they_are_after_a_step_and_the_end() -> None:
    with Batch("greed", 4, seed=1, jobs=2) as batch:
        planes = batch.planes
        before = planes.copy()
        batch.step(batch.mask.argmax(axis=1))
        assert (planes == before).all()
    assert (planes == before).all()


@pytest.mark.parametrize("name", ["greed", "szmal"])
def test_without_copies_the_arrays_are_the_same_ones_and_have_what_new_ones_have(name: str) -> None:
    history, rows = (3, True) if name == "szmal" else (0, False)
    batch = Batch(name, TABLES, seed=3, history=history, rows=rows)
    with Batch(name, TABLES, seed=3, history=history, rows=rows, jobs=2, copy=False) as shared_batch:
        arrays = {name: getattr(shared_batch, name) for name in ARRAYS if hasattr(shared_batch, name)}
        for _ in range(40):
            actions = batch.mask.argmax(axis=1)
            batch.step(actions)
            shared_batch.step(actions)
            assert_same(batch, shared_batch)
        for name, array in arrays.items():
            assert getattr(shared_batch, name) is array
            assert array.flags.c_contiguous


def test_a_number_that_is_not_offered_moves_no_table_of_any_process() -> None:
    with Batch("greed", TABLES, seed=2, jobs=3) as batch:
        before = batch.numbers.copy()
        actions = batch.mask.argmax(axis=1)
        actions[4] = int((batch.mask[4] == 0).argmax())
        with pytest.raises(IllegalNumber, match=rf"^table 4: number {actions[4]} is not offered now; there are: "):
            batch.step(actions)
        assert (batch.numbers == before).all()
        batch.step(batch.mask.argmax(axis=1))
        assert (batch.numbers != before).any()


def test_a_killed_process_ends_the_batch_in_a_line_and_leaves_nothing() -> None:
    before = shared()
    batch = Batch("greed", TABLES, seed=2, jobs=2)
    pids = processes_of(batch)
    os.kill(pids[1], signal.SIGKILL)
    line = "tables 2 to 4: the process that stepped them was ended by signal 9; a bot did it, or memory ran out"
    with pytest.raises(TablesLost, match=f"^{re.escape(line)}$"):
        play_on(batch)
    assert not set(pids) & set(descendants(os.getpid()))
    with pytest.raises(UsageError, match=r"^the processes of this batch have ended: make another$"):
        batch.step(batch.mask.argmax(axis=1))
    assert shared() == before


def test_a_batch_that_is_forgotten_ends_its_processes() -> None:
    batch = Batch("greed", 2, jobs=2)
    pids = processes_of(batch)
    assert set(pids) <= set(descendants(os.getpid()))
    del batch
    gc.collect()
    assert not set(pids) & set(descendants(os.getpid()))


def test_a_program_that_is_killed_or_ends_leaves_no_process_and_no_memory(tmp_path: Path) -> None:
    before = shared()
    program = tmp_path / "train.py"
    program.write_text(
        "import os, signal, sys\n"
        "from cutpurse.learn.batch import Batch\n"
        "if __name__ == '__main__':\n"
        "    batch = Batch('greed', 4, jobs=2)\n"
        "    print(*[block.process.pid for block in batch.source._blocks], flush=True)\n"
        "    if sys.argv[1] == 'killed':\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n",
        encoding="utf-8",
    )
    for how, code in (("ends", 0), ("killed", -signal.SIGKILL)):
        # The pipe of its output is closed when the last of its processes has ended.
        done = subprocess.run([sys.executable, str(program), how], capture_output=True, text=True, check=False)
        assert done.returncode == code
        assert len(done.stdout.split()) == 2
        assert done.stderr == ""
    assert shared() == before


def test_a_bot_that_fails_in_another_process_is_named() -> None:
    line = r"^opponent Crashes crashed: .*test_batch_jobs\.py:\d+: RuntimeError: no idea"
    with pytest.raises(OpponentFailed, match=line) as failed:
        play_on(Batch("greed", 2, opponents=[Crashes], jobs=2))
    assert "\n" not in str(failed.value)


def test_what_cannot_be_sent_to_a_process_is_refused_in_a_line() -> None:
    class Local(Crashes):
        pass

    with pytest.raises(UsageError, match=r"^a bot cannot be sent to another process, so leave jobs at 1: "):
        Batch("greed", 2, opponents=[Local], jobs=2)
    with pytest.raises(UsageError, match=r"^0 jobs cannot be had; 1 to 256 can$"):
        Batch("greed", 2, jobs=0)
