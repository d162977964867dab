"""Runs whose worker processes are killed: nothing hangs, and the results are those of a run without a kill."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import re
import signal
import sys
import threading
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from typer.testing import Result

from cutpurse.engine.chance import match_key
from cutpurse.engine.seating import arrangement
from cutpurse.process.pool import BatchLost, in_order, number_tasks
from cutpurse.sdk.bot import bot_chance
from tests.sdk.bot_files import bot_file
from tests.typed import run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills by signals")

TASKS = 60
LARGE = 300_000  # bytes of a result: more than a pipe holds, so that a process can die while it sends one
TO_THE_END = partial(number_tasks, "tasks")

# Kills its process, if it is a worker, before its match number N in it; the fuse file lets only one do so.
DIES_ONCE = """
import multiprocessing, os, signal

class Bot:
    matches = 0

    def start(self, match):
        Bot.matches += 1
        if Bot.matches == {number} and multiprocessing.parent_process() is not None:
            try:
                os.close(os.open({fuse!r}, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return
            os.kill(os.getpid(), signal.SIGKILL)

    def choose(self, view, decision):
        return 0
"""
# Kills its process, if it is a worker, in the match in which it draws this number.
DIES_EACH_TIME = """
import multiprocessing, os, signal

class Bot:
    def start(self, match):
        if match.chance.random() in {drawn} and multiprocessing.parent_process() is not None:
            os.kill(os.getpid(), signal.SIGKILL)

    def choose(self, view, decision):
        return 0
"""


def large(number: int) -> bytes:
    return b"%d " % number * (LARGE // 4)


def half(pipe: Connection, message: bytes, *_: object) -> None:
    os.write(pipe.fileno(), message[: len(message) // 2])
    os.kill(os.getpid(), signal.SIGKILL)


def forked(numbers: range) -> None:
    """Leave a child that outlives this process, then die."""
    if os.fork() == 0:
        signal.alarm(60)
        signal.pause()
    os.kill(os.getpid(), signal.SIGKILL)


def before(numbers: range) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def sending(numbers: range) -> None:
    Connection._send = half  # type: ignore[attr-defined]


def leaving(numbers: range) -> None:
    os._exit(3)


def dies(numbers: range, how: Callable[[range], None], at: frozenset[int], fuses: str) -> list[bytes]:
    """Die in the batches with these tasks, in each of them once."""
    fuse = Path(fuses, str(numbers.start))
    if at.intersection(numbers) and not fuse.exists():
        fuse.touch()
        how(numbers)
    return [large(number) for number in numbers]


@pytest.mark.sampled
@pytest.mark.parametrize("how", [before, sending, leaving])
@pytest.mark.parametrize("jobs", [1, 3])
def test_batches_whose_process_died_are_done_again(how: Callable[[range], None], jobs: int, tmp_path: Path) -> None:
    at = frozenset(random.Random(jobs).sample(range(TASKS), 4))
    work = partial(dies, how=how, at=at, fuses=str(tmp_path))
    assert list(in_order(work, TASKS, jobs, TO_THE_END)) == [large(number) for number in range(TASKS)]
    assert 1 <= len([*tmp_path.iterdir()]) <= 4


def test_a_child_that_a_dead_process_has_forked_does_not_hold_its_pipe_open(tmp_path: Path) -> None:
    work = partial(dies, how=forked, at=frozenset({5}), fuses=str(tmp_path))
    assert list(in_order(work, TASKS, 2, TO_THE_END)) == [large(number) for number in range(TASKS)]


def killed_at_random(chance: random.Random, jobs: int) -> None:
    """Play a run in which one process is killed from outside, at any moment."""
    running = in_order(partial(dies, how=before, at=frozenset(), fuses=""), TASKS, jobs, TO_THE_END)
    done = [next(running)]
    children = [child.pid for child in multiprocessing.active_children() if child.pid is not None]
    timer = threading.Timer(chance.uniform(0.0, 0.03), os.kill, (chance.choice(children), signal.SIGKILL))
    timer.start()
    done += running
    timer.join()
    assert done == [large(number) for number in range(TASKS)]


@pytest.mark.parametrize("runs", [5, pytest.param(50, marks=pytest.mark.soak)])
def test_a_process_that_is_killed_at_any_moment_changes_nothing(runs: int) -> None:
    chance = random.Random(34)
    for number in range(runs):
        killed_at_random(chance, 1 + number % 3)


def always_dies(numbers: range, at: int) -> list[int]:
    if at in numbers:
        os.kill(os.getpid(), signal.SIGKILL)
    return list(numbers)


@pytest.mark.parametrize("at", [0, 20])
def test_a_batch_that_ends_two_processes_ends_the_run_after_the_results_before_it(at: int) -> None:
    done: list[int] = []
    with pytest.raises(BatchLost) as lost:
        done.extend(in_order(partial(always_dies, at=at), TASKS, 2, TO_THE_END))
    assert done == list(range(len(done)))
    assert len(done) <= at
    found = re.fullmatch(
        r"tasks (\d+)(?: to (\d+))?: the process that played them died, and so did the next one, which was ended by "
        "signal 9; a bot did it, or memory ran out",
        str(lost.value),
    )
    assert found is not None
    assert int(found[1]) == len(done)
    assert int(found[1]) <= at <= int(found[2] or found[1])


CUP = """
game = "greed"
seats = 2
deals = 8
bots = ["random", "first_option", {{ name = "frail", bot = "{bot}" }}]
"""


def words_of(command: str, bot: str, folder: Path, jobs: int) -> list[object]:
    match command:
        case "play":
            words = ["play", "greed", bot, "random", "--matches", 40, "--seed", 7]
        case "compare":
            words = ["compare", "greed", bot, "random", "--seats", 2, "--max-boards", 20, "--seed", 7]
        case _:
            file = folder / "cup.toml"
            file.write_text(CUP.format(bot=bot), encoding="utf-8")
            words = ["tournament", "run", file, "--journal", folder / f"journal{jobs}"]
    return [*words, "--jobs", jobs, "--json"]


def digest(result: Result) -> str:
    assert result.exit_code == 0, result.output
    value = json.loads(result.stdout)["digest"]
    assert re.fullmatch("[0-9a-f]{64}", value)
    return str(value)


@pytest.mark.parametrize("command", ["play", "compare", "tournament"])
def test_the_digest_is_that_of_a_run_without_a_kill(command: str, tmp_path: Path) -> None:
    fuse = tmp_path / "fuse"
    source = DIES_ONCE.format(number=random.Random(command).randint(2, 6), fuse=str(fuse))
    bot = bot_file(tmp_path, source)
    whole = digest(run(*words_of(command, bot, tmp_path, 1)))
    assert not fuse.exists()
    assert digest(run(*words_of(command, bot, tmp_path, 3))) == whole
    assert fuse.exists(), "a process was killed"


def frail(folder: Path, number: int) -> str:
    """The file of a bot that ends its process in this match of two bots with the seed 7, or in this board."""
    key = match_key("7", number)
    drawn = [bot_chance(key, seat).random() for seat in range(2)]
    return bot_file(folder, DIES_EACH_TIME.format(drawn=drawn))


def test_a_run_that_a_bot_ends_for_good_keeps_its_matches_and_names_the_batch(tmp_path: Path) -> None:
    bot, out = frail(tmp_path, 25), tmp_path / "rows.csv"
    assert 0 in arrangement(2, "7", 25)
    whole = run("play", "greed", bot, "random", "--matches", 40, "--seed", 7, "--out", out)
    assert whole.exit_code == 0
    rows = out.read_text(encoding="utf-8").splitlines()
    shown = run(*words_of("play", bot, tmp_path, 2), "--out", out)
    assert shown.exit_code == 1
    *_, count, said = shown.stderr.splitlines()
    played = json.loads(shown.stdout)["matches"]
    assert count == f"{played} of 40 matches were played, and are in {out}"
    assert said.startswith(f"cutpurse: greed, matches {played}")
    assert f" (seed 7; {bot}, random): the process that played them died, and so did the next one" in said
    assert out.read_text(encoding="utf-8").splitlines() == rows[: 1 + 2 * played]
    sums = run(*words_of("play", bot, tmp_path, 2), "--aggregate")
    assert (sums.exit_code, json.loads(sums.stdout)["matches"] <= 25) == (1, True)


def test_a_comparison_that_a_bot_ends_for_good_keeps_its_boards(tmp_path: Path) -> None:
    bot, state = frail(tmp_path, 12), tmp_path / "state.json"
    shown = run(*words_of("compare", bot, tmp_path, 2), "--state", state)
    assert (shown.exit_code, shown.stdout) == (1, "")
    *_, kept, said = shown.stderr.splitlines()
    assert kept == f"the boards are kept in {state}: the same command goes on from there"
    boards = json.loads(state.read_text(encoding="utf-8"))["test"]["boards"] if state.exists() else 0
    assert said.startswith(f"cutpurse: greed, boards {boards}")
    assert f"(seed 7; {bot}, random)" in said
    rest = run(*words_of("compare", bot, tmp_path, 1), "--state", state)
    assert digest(rest) == digest(run(*words_of("compare", bot, tmp_path, 1)))


def test_a_tournament_that_a_bot_ends_for_good_keeps_its_boards(tmp_path: Path) -> None:
    bot = frail(tmp_path, 17)
    words = words_of("tournament", bot, tmp_path, 2)
    (tmp_path / "cup.toml").write_text('seed = "7"\n' + CUP.format(bot=bot), encoding="utf-8")
    shown = run(*words)
    assert (shown.exit_code, shown.stdout) == (1, "")
    *_, kept, said = shown.stderr.splitlines()
    found = re.fullmatch(r"(\d+) of 24 boards were played, and are in .*/journal2", kept)
    assert found is not None
    assert said.startswith(f"cutpurse: greed, boards {found[1]}")
    assert "(seed 7; " in said
    assert "frail" in said
