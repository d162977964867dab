"""What several processes share, and that they are gone with whoever wanted it."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from cutpurse.process.pool import in_order, interrupts_held, number_tasks
from cutpurse.sdk.local import play
from cutpurse.wire.errors import BotNotLoaded, NotFound
from tests.sdk.bot_files import bot_file
from tests.sdk.programs import wait_until_gone

# Says where it plays, and thinks for ever in this match of its process.
THINKS_FOR_EVER = """
import os

class Bot:
    matches = 0

    def start(self, match):
        Bot.matches += 1

    def choose(self, view, decision):
        if Bot.matches == {match}:
            os.write(2, b"%d\\n" % os.getpid())  # at once: several processes say it
        while Bot.matches == {match}:
            {what}
        return 0
"""
SAYS_WHEN_IT_IS_LOADED = """
import os

with open({!r}, "a") as file:
    print(os.getpid(), file=file)

class Bot:
    def choose(self, view, decision):
        return 0
"""
THERE_IS_ONE_ONLY = """
import multiprocessing
assert multiprocessing.parent_process() is None, "there is one of me only"

class Bot:
    def choose(self, view, decision):
        return 0
"""
PATIENT = "pass"
STUBBORN = """try:
                while True: pass
            except BaseException: pass"""
TASKS = partial(number_tasks, "tasks")


def squares(numbers: range, slow: int = -1) -> list[int]:
    for _ in range(50 if slow in numbers else 0):
        time.sleep(0.001)
    return [number * number for number in numbers]


def test_tasks_of_an_iterator_are_taken_as_they_are_needed() -> None:
    taken = count()
    running = in_order(squares, (next(taken) for _ in range(100_000)), 2, TASKS)
    assert [next(running) for _ in range(3)] == [0, 1, 4]
    running.close()
    assert next(taken) < 100_000
    assert list(in_order(squares, iter([7, 5, 3]), 2, TASKS)) == [49, 25, 9]


@pytest.mark.parametrize("tasks", [0, 1, 7, 1_000])
def test_results_come_in_order_whoever_is_slow(tasks: int) -> None:
    assert list(in_order(partial(squares, slow=3), tasks, 3, TASKS)) == [number**2 for number in range(tasks)]


def fails(numbers: range) -> list[int]:
    raise NotFound(f"there is nothing at {numbers.start}")


def cannot_be_sent(numbers: range) -> list[int]:
    class Local(Exception):
        pass

    raise Local(f"there is nothing at {numbers.start}")


def test_what_is_raised_in_another_process_is_raised_here() -> None:
    with pytest.raises(NotFound, match="there is nothing at 0") as failed:
        list(in_order(fails, 10, 2, TASKS))
    assert "in fails" in failed.value.__notes__[0]
    with pytest.raises(RuntimeError, match="Local: there is nothing at 0"):
        list(in_order(cannot_be_sent, 10, 2, TASKS))


def test_a_bot_is_loaded_once_in_each_process(tmp_path: Path) -> None:
    loads = tmp_path / "loads"
    bot = bot_file(tmp_path, SAYS_WHEN_IT_IS_LOADED.format(str(loads)))
    assert play("greed", [bot, "random"], matches=60, jobs=2).matches == 60
    pids = loads.read_text(encoding="utf-8").split()
    assert len(pids) == len(set(pids)) == 3, "once here, and once in each of two others"


def test_a_bot_that_does_not_load_in_another_process_is_told_as_one_that_does_not_load_here(tmp_path: Path) -> None:
    bot = bot_file(tmp_path, THERE_IS_ONE_ONLY)
    with pytest.raises(BotNotLoaded, match=r"does not import: .*bot\.py:2: AssertionError: there is one of me only"):
        play("greed", [bot, "random"], matches=60, jobs=2)


def test_a_file_of_the_user_that_is_named_as_a_module_of_python_is_not_taken_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "types.py").write_text("raise RuntimeError('this is not the module that was meant')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    assert list(in_order(squares, 3, 2, TASKS)) == [0, 1, 4]
    assert set(in_order(environment, 1, 1, TASKS)) == {None}  # what a bot starts there finds its modules as ever
    assert "PYTHONSAFEPATH" not in os.environ


def environment(numbers: range) -> list[str | None]:
    return [os.environ.get("PYTHONSAFEPATH") for _ in numbers]


def test_an_interrupt_while_processes_are_started_is_put_off_and_not_lost() -> None:
    reached = []

    def start() -> None:
        with interrupts_held():
            os.kill(os.getpid(), signal.SIGINT)
            reached.append("the end of the block")

    with pytest.raises(KeyboardInterrupt):
        start()
    assert reached == ["the end of the block"]


def thinker(folder: Path, match: int, what: str = PATIENT) -> str:
    """The file of a bot that thinks for ever in this match."""
    bot = folder / "thinks.py"
    bot.write_text(THINKS_FOR_EVER.format(match=match, what=what), encoding="utf-8")
    return str(bot)


def playing(bot: str, *more: str) -> subprocess.Popen[str]:
    """A long run with it."""
    command = [sys.executable, "-m", "cutpurse.cli", "play", "greed", bot, "random", "--matches", "99", *more]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


@contextmanager
def ended(run: subprocess.Popen[str]) -> Iterator[None]:
    """Also where the test fails."""
    try:
        yield
    finally:
        run.kill()


@pytest.mark.parametrize(
    ("number", "what"), [(signal.SIGINT, PATIENT), (signal.SIGINT, STUBBORN), (signal.SIGKILL, STUBBORN)]
)
def test_no_process_outlives_a_run_that_is_broken_off(number: signal.Signals, what: str, tmp_path: Path) -> None:
    bot = thinker(tmp_path, 1, what)
    with playing(bot, "--jobs", "2") as run, ended(run):
        assert run.stderr is not None
        pids = {int(run.stderr.readline()) for _ in range(2)}
        assert len(pids) == 2
        run.send_signal(number)
        wait_until_gone([*pids])
        assert run.wait(240) == (130 if number == signal.SIGINT else -number)


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_what_was_played_before_an_interrupt_is_kept(ending: str, tmp_path: Path) -> None:
    out, record = tmp_path / f"rows.{ending}", tmp_path / "record.jsonl"
    with playing(thinker(tmp_path, 4), "--out", str(out), "--record", str(record)) as run, ended(run):
        assert run.stderr is not None
        assert int(run.stderr.readline()) == run.pid
        before = out.read_text(encoding="utf-8"), record.read_text(encoding="utf-8")  # as a kill -9 would leave them
        run.send_signal(signal.SIGINT)
        said = run.stderr.read()
        assert run.wait(240) == 130
    *_, played, interrupted = said.splitlines()
    assert played == f"3 of 99 matches were played, and are in {out}"
    assert interrupted.startswith(f"interrupted in {tmp_path / 'thinks.py'}:")
    text = out.read_text(encoding="utf-8")
    assert before == (text, record.read_text(encoding="utf-8"))
    rows = list(csv.DictReader(io.StringIO(text))) if ending == "csv" else [*map(json.loads, text.splitlines())]
    assert [(int(row["match"]), int(row["bot"])) for row in rows] == [(m, b) for m in range(3) for b in range(2)]
    assert len(record.read_text(encoding="utf-8").splitlines()) == 3


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full on this system")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("play greed random random --record {}", "the record cannot be written to {}: No space left on device"),
        ("play greed random random --out {}", "--out cannot be written to {}: No space left on device"),
        ("games", "cannot write what it has to say: No space left on device"),
    ],
)
def test_a_full_disk_is_told_in_a_line(words: str, said: str, tmp_path: Path) -> None:
    full = tmp_path / "rows.csv"
    full.symlink_to("/dev/full")
    command = [sys.executable, "-m", "cutpurse.cli", *words.format(full).split()]
    with full.open("wb") as nowhere:
        run = subprocess.run(command, stdout=nowhere, stderr=subprocess.PIPE, text=True, check=False)
    assert (run.returncode, run.stderr.splitlines()) == (1, [f"cutpurse: {said.format(full)}"])


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell closes them")
@pytest.mark.parametrize("closed", ["2>&-", "<&- 2>&-", "<&- >&- 2>&-"])
def test_where_the_shell_has_closed_stderr_nothing_is_written_into_files_and_the_exit_code_is_right(
    closed: str, tmp_path: Path
) -> None:
    (tmp_path / "loud.py").write_text("""
import os

class Bot:
    def choose(self, view, decision):
        for number in (0, 1, 2):
            try:
                os.write(number, b"what I think\\n")
            except OSError:
                pass
        return 0
""")

    def run(*words: str) -> int:
        command = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-m", "cutpurse.cli", *words]
        return subprocess.run(command, cwd=tmp_path, stdout=subprocess.DEVNULL, check=False).returncode

    assert run("play", "greed", "loud.py", "random", "--matches", "2", "--record", "two.jsonl") == 0
    for line in (tmp_path / "two.jsonl").read_text(encoding="utf-8").splitlines():
        assert json.loads(line)["schema"]
    assert run("match", "verify", "nothing.jsonl") == 4
    assert run("play", "greed", "random") == 2
