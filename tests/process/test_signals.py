"""A command that is told to end by a signal ends in order, and a second one at once."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from cutpurse.process.signals import ends, run_until_signalled

BEGIN = """
import asyncio, signal
from cutpurse.process.signals import interrupt_on_signal

def tell(what=signal.SIGTERM):
    try:
        signal.raise_signal(what)
    except KeyboardInterrupt:
        return "interrupted"
    return "nothing"

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # however these tests are run
now = [0.0]
interrupt_on_signal(lambda: now[0])
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="other signals there")


def run(script: str) -> tuple[int, list[str]]:
    """How the process of this script ended, and what it said."""
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return done.returncode, done.stdout.splitlines()


def test_a_signal_at_once_after_the_first_is_the_same_one_and_a_later_one_ends_the_process() -> None:
    code, said = run("""
print(tell(signal.SIGHUP), flush=True)
now[0] = 0.9
print(tell(signal.SIGHUP), tell(signal.SIGTERM), flush=True)
now[0] = 1.0
print(tell(signal.SIGTERM), flush=True)
""")
    assert (code, said) == (-signal.SIGTERM, ["interrupted", "nothing nothing"])


def test_a_loop_that_does_not_hear_the_signal_is_not_broken_off_but_ended() -> None:
    code, said = run("""
async def main():
    print("running", flush=True)
    print(tell(), flush=True)

asyncio.run(main())
""")
    assert (code, said) == (-signal.SIGTERM, ["running"])


@pytest.mark.parametrize(
    ("number", "end"), [(signal.SIGINT, (0, ["interrupted"])), (signal.SIGTERM, (-signal.SIGTERM, []))]
)
def test_a_signal_while_a_loop_is_made_waits_until_it_runs(number: signal.Signals, end: tuple[int, list[str]]) -> None:
    ended = run(f"""
from cutpurse.process.signals import run_async

class Loop(asyncio.SelectorEventLoop):
    def __init__(self):
        signal.raise_signal({number:d})
        super().__init__()

class Policy(asyncio.DefaultEventLoopPolicy):
    _loop_factory = Loop

asyncio.set_event_loop_policy(Policy())
try:
    run_async(asyncio.Event().wait)
except KeyboardInterrupt:
    print("interrupted")
""")
    assert ended == end


def test_a_closed_terminal_that_is_ignored_stays_so() -> None:
    code, said = run("""
signal.signal(signal.SIGHUP, signal.SIG_IGN)
interrupt_on_signal()
print(tell(signal.SIGHUP), signal.getsignal(signal.SIGHUP) == signal.SIG_IGN)
""")
    assert (code, said) == (0, ["nothing True"])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_runs_in_a_loop_is_cancelled(number: signal.Signals) -> None:
    went: list[str] = []

    async def main() -> None:
        signal.raise_signal(number)
        try:
            await asyncio.Event().wait()
        finally:
            went.append("tidied up")

    before = signal.signal(number, signal.SIG_DFL)
    try:
        assert number in ends()
        with pytest.raises(KeyboardInterrupt):
            run_until_signalled(main)
    finally:
        signal.signal(number, before)
    assert went == ["tidied up"]


async def seven() -> int:
    return 7


def test_what_ends_by_itself_says_what_came_of_it() -> None:
    assert run_until_signalled(seven) == 7


def test_what_runs_in_a_thread_hears_no_signal_and_says_what_came_of_it() -> None:
    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(run_until_signalled, seven).result() == 7
