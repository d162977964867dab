"""Programs that the server starts end with it, in every way it can end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cutpurse.server.hosting.children import Children
from tests.sdk.programs import is_alive, wait_until_gone

# Says its own number and that of a child which ignores SIGTERM, then waits for ever.
STUBBORN = """
import os, signal, subprocess, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
open(sys.argv[1], "w").write(f"{os.getpid()} {child.pid}")
os.rename(sys.argv[1], sys.argv[1] + ".done")
signal.pause()
"""

HOST = """
import signal, sys
from pathlib import Path
from cutpurse.server.hosting.children import Children
with Children(Path(sys.argv[1]), grace_s=0.1) as children:
    children.start("one", [sys.executable, "-c", sys.argv[2], sys.argv[3]])
    signal.pause()
"""


def wait_for(file: Path) -> str:
    while not file.exists():
        os.sched_yield()
    return file.read_text(encoding="utf-8")


pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")


def test_a_stubborn_program_and_its_own_children_are_ended(tmp_path: Path) -> None:
    def run() -> None:
        with Children(tmp_path / "talk", grace_s=0.1) as children:
            children.start("stubborn", [sys.executable, "-c", STUBBORN, str(tmp_path / "numbers")])
            assert all(is_alive(int(pid)) for pid in wait_for(tmp_path / "numbers.done").split())
            raise RuntimeError("the run failed")

    with pytest.raises(RuntimeError, match="the run failed"):
        run()
    wait_until_gone([int(pid) for pid in (tmp_path / "numbers.done").read_text(encoding="utf-8").split()])


def test_a_program_that_ends_is_told_with_its_code_and_its_last_words(tmp_path: Path) -> None:
    with Children(tmp_path) as children:
        pid = children.start(
            "brief", [sys.executable, "-c", "print('one\\n\\ntwo\\nthree\\nfour'); raise SystemExit(7)"]
        )
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        assert children.ended() == {"brief": 7}
        assert children.last_words("brief") == "two | three | four"
        assert children.last_words("nobody") == ""


def test_a_program_goes_behind_others_and_is_forgotten_when_it_has_ended() -> None:
    with Children(None) as children:
        pid = children.start("idle", [sys.executable, "-c", "import signal; signal.pause()"], nice=5)
        assert os.getpriority(os.PRIO_PROCESS, pid) == min(19, os.getpriority(os.PRIO_PROCESS, 0) + 5)
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        assert children.ended() == {"idle": -signal.SIGKILL}
        assert children.last_words("idle") == ""
        children.forget("idle")
        assert children.ended() == {}


def test_what_cannot_be_run_raises(tmp_path: Path) -> None:
    with Children(tmp_path) as children, pytest.raises(OSError, match="no-such-program"):
        children.start("none", ["/no-such-program"])


def test_ctrl_c_in_the_middle_ends_them_too(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOST, str(tmp_path), STUBBORN, str(tmp_path / "numbers")]
    host = subprocess.Popen(command, stderr=subprocess.PIPE)
    pids = [int(pid) for pid in wait_for(tmp_path / "numbers.done").split()]
    host.send_signal(signal.SIGINT)
    _, said = host.communicate(timeout=240)
    assert b"KeyboardInterrupt" in said
    wait_until_gone(pids)
