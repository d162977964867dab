"""Two sandboxes, which share the system's files and devices, can't signal each other by what they do to them."""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sandbox.trying import Bench, runner_or_skip

SHARED = "/usr/bin/env"
# It does to shared files what others could notice.
SENDER = f"""
import fcntl, os, socket
calling = socket.socket(socket.AF_UNIX)
calling.connect(os.environ["CUTPURSE_SERVER"].removeprefix("unix:"))
shared, device = os.open("{SHARED}", os.O_RDONLY), os.open("/dev/null", os.O_RDWR)
fcntl.flock(shared, fcntl.LOCK_EX | fcntl.LOCK_NB)
fcntl.lockf(shared, fcntl.LOCK_SH | fcntl.LOCK_NB)
fcntl.lockf(device, fcntl.LOCK_EX | fcntl.LOCK_NB)
for path, times in ((device, None), ("/dev/null", (1, 1)), ("/dev/null", None), ("/dev/zero", None)):
    try:
        os.utime(path, times)
    except PermissionError:
        pass
calling.sendall(b"!")
calling.recv(1)
"""
RECEIVER = f"""
import errno, fcntl, os, struct
shared, device = os.open("{SHARED}", os.O_RDONLY), os.open("/dev/null", os.O_RDWR)
def attempt(name, call, *arguments):
    try:
        call(*arguments)
        print(name, "DONE")
    except OSError as problem:
        print(name, errno.errorcode[problem.errno])
attempt("flock", fcntl.flock, shared, fcntl.LOCK_EX | fcntl.LOCK_NB)
attempt("lock", fcntl.lockf, device, fcntl.LOCK_EX | fcntl.LOCK_NB)
attempt("look at locks", fcntl.fcntl, shared, fcntl.F_GETLK, struct.pack("hhqqi", fcntl.F_WRLCK, 0, 0, 0, 0))
print("time", os.stat("/dev/null").st_mtime_ns, os.stat("/dev/zero").st_mtime_ns)
"""
# What common tools ask for: SQLite's locks, Path.touch, and times of files.
TOOLS = """
import os, pathlib, shutil, sqlite3, subprocess, tempfile
here = pathlib.Path(tempfile.mkdtemp())
with sqlite3.connect(here / "book.db") as book:
    book.execute("create table moves (name text)")
    book.execute("insert into moves values ('steal')")
shutil.copy2(here / "book.db", here / "copy.db")
copied = sqlite3.connect(f"file:{here}/copy.db?mode=ro", uri=True)
assert copied.execute("select * from moves").fetchall() == [("steal",)]
for _ in range(2):
    (here / "touched").touch()
    subprocess.run(["touch", here / "by_command"], check=True)
subprocess.run(["cp", "-p", here / "touched", here / "copied"], check=True)
print(*sorted(path.name for path in here.iterdir()))
"""


@pytest.fixture(scope="module", params=["bubblewrap", pytest.param("container", marks=pytest.mark.soak)])
def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    made = Bench(runner_or_skip(request.param), tmp_path_factory.mktemp("signals"))
    yield made
    made.close()


def times() -> str:
    return f"time {Path('/dev/null').stat().st_mtime_ns} {Path('/dev/zero').stat().st_mtime_ns}"


def test_what_one_sandbox_does_to_shared_files_another_does_not_see(bench: Bench) -> None:
    before = times()
    arena, listening = bench.arena("sender-arena")
    with listening, open(SHARED, "rb") as shared, open("/dev/null", "r+b") as device:  # noqa: PTH123
        sender = bench.start("sender", SENDER, arena=arena)
        stream, _ = listening.accept()
        with stream:
            stream.settimeout(240)
            assert stream.recv(1) == b"!", sender.talk()
            receiver = bench.start("receiver", RECEIVER)
            ended = receiver.wait(240)
            fcntl.flock(shared, fcntl.LOCK_EX | fcntl.LOCK_NB)  # not taken, seen from outside
            fcntl.lockf(device, fcntl.LOCK_EX | fcntl.LOCK_NB)
            asked = fcntl.fcntl(shared, fcntl.F_GETLK, struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
    assert ended is not None
    assert struct.unpack("hhqqi", asked)[0] == fcntl.F_UNLCK
    assert times() == before
    lines = receiver.talk().splitlines()
    assert lines[:2] == ["flock DONE", "lock DONE"]
    assert lines[2] in ("look at locks ENOSYS", "look at locks EPERM")  # the second by Docker before 23
    assert lines[3] == before or bench.runner.name == "container"  # it has devices of its own


def test_tools_that_lock_files_and_set_their_times_work(bench: Bench) -> None:
    running = bench.start("tools", TOOLS)
    ended = running.wait(240)
    assert ended is not None
    assert ended.code == 0, running.talk()
    assert running.talk() == "book.db by_command copied copy.db touched\n"
