"""Processes that a bot starts: they do not inherit our signal handlers, and they end with the bot."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_bot_run import begin, run_command
from tests.sdk.arena import arena
from tests.sdk.bot_files import bot_file

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="children are found in /proc")

FORKS = """
import os, signal, sys
from cutpurse.process.signals import interrupt_on_signal, set_handler

def of_the_bot(number, frame): ...

interrupt_on_signal()
set_handler(signal.SIGINT, of_the_bot)
signal.signal(signal.SIGUSR1, of_the_bot)
if not os.fork():
    print(signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)
    print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
    print(signal.getsignal(signal.SIGUSR1) is of_the_bot, flush=True)
    os._exit(0)
os.wait()
print(signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)
"""


def test_a_forked_process_has_none_of_our_handlers_and_keeps_those_of_the_bot() -> None:
    done = subprocess.run([sys.executable, "-c", FORKS], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True", "True", "False"]


# It leaves processes behind in every way: forked and waited for at exit, one that ignores SIGTERM, a program, and what
# that has started itself.
LEAVES = """
import multiprocessing, os, signal, subprocess, sys, time
from pathlib import Path

STARTED = Path(__file__).with_name("started")

def stay(ignore):
    if ignore:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with STARTED.open("a") as file:
        print(os.getpid(), file=file)
    while True:
        signal.pause()

PROGRAM = (
    "import os, subprocess, sys; inner = subprocess.Popen(['sleep', '600']);"
    "print(os.getpid(), inner.pid, file=open(sys.argv[1], 'a')); inner.wait()"
)

class Bot:
    def start(self, match):
        if not STARTED.exists():
            STARTED.touch()
            fork = multiprocessing.get_context("fork")
            for ignore in (False, True):
                fork.Process(target=stay, args=(ignore,)).start()
            subprocess.Popen([sys.executable, "-c", PROGRAM, str(STARTED)])
            while len(STARTED.read_text().split()) < 4:
                time.sleep(0.01)

    def choose(self, view, decision):
        return 0
"""


def started_by_it(folder: Path) -> list[int]:
    return [int(word) for word in (folder / "started").read_text().split()]


def are_gone(processes: list[int]) -> bool:
    """Tell whether none of them runs; one that waits to be reaped does not."""
    for pid in processes:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
                return False
        except OSError:
            pass
    return True


async def test_what_a_bot_has_started_ends_when_it_has_played_its_matches(tmp_path: Path) -> None:
    path = bot_file(tmp_path, LEAVES)
    async with arena(games=["greed"], matches=1) as server:
        code, _, err = await run_command(server, path, "--matches", 1)
    assert code == 0, err
    assert len(started_by_it(tmp_path)) == 4
    assert are_gone(started_by_it(tmp_path))


async def test_what_a_bot_has_started_ends_with_it_on_sigterm(tmp_path: Path) -> None:
    path = bot_file(tmp_path, LEAVES)
    async with arena(games=["greed"], matches=1_000_000) as server:
        process = await begin(server, path)
        assert process.stderr is not None
        while b"match 0001" not in await process.stderr.readline():  # its first match is over
            assert not process.stderr.at_eof()
        process.send_signal(signal.SIGTERM)
        await process.communicate()
    assert process.returncode == 0
    assert are_gone(started_by_it(tmp_path))


def test_what_a_bot_has_started_ends_with_local_matches(tmp_path: Path) -> None:
    path = bot_file(tmp_path, LEAVES)
    for jobs in ("1", "2"):
        (tmp_path / "started").unlink(missing_ok=True)
        done = subprocess.run(
            [Path(sys.executable).with_name("cutpurse"), "play", "greed", path, "random", "--jobs", jobs],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ,
        )
        assert done.returncode == 0, done.stderr
        assert are_gone(started_by_it(tmp_path))
