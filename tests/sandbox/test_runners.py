"""The contract of a runner, held to by each: what a program finds, what is kept of what it says, and how it ends."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cutpurse.engine.errors import UsageError
from cutpurse.server.runners import sandboxed_process as starting
from cutpurse.server.runners import user_namespace
from cutpurse.server.runners.choosing import runner_named
from cutpurse.server.runners.disk_quota import DiskQuota
from cutpurse.server.runners.port import ProgramSpec, ResourceLimits, RunnerError
from tests.sandbox.trying import IMAGE, MIB, NAMES, Bench, is_peak, runner_or_skip
from tests.sdk.programs import wait_until_gone

FOR_EVER = "import signal; print('here', flush=True); signal.pause()"


def open_descriptors() -> int:
    """How many we have."""
    return len([*Path("/proc/self/fd").iterdir()])


@pytest.fixture(params=NAMES)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    made = Bench(runner_or_skip(request.param), tmp_path)
    yield made
    made.close()


def test_a_program_finds_its_folder_its_environment_and_its_scratch_and_nothing_to_read(bench: Bench) -> None:
    os.environ["SECRET_OF_THE_SERVER"] = "hidden"
    try:
        running = bench.start(
            "looks",
            """
            import os, sys, tempfile
            with tempfile.NamedTemporaryFile() as scratch:
                scratch.write(b"scribble")
            print(sorted(os.listdir()), repr(sys.stdin.read()), os.environ["COLOUR"])
            print("SECRET_OF_THE_SERVER" in os.environ, "CUTPURSE_SERVER" in os.environ)
            raise SystemExit(7)
            """,
            environment={"COLOUR": "green"},
        )
        ended = running.wait(240)
    finally:
        del os.environ["SECRET_OF_THE_SERVER"]
    assert running.talk() == "['main.py'] '' green\nFalse False\n"
    assert ended is not None
    assert (ended.cause, ended.code, ended.text) == ("exited", 7, "it ended by itself, with exit code 7")
    assert ended == running.ended() == running.stop()
    assert 0 < ended.use.cpu_s < 30
    assert is_peak(ended.use.peak_bytes, MIB, 200 * MIB)


def test_a_program_reaches_its_server_by_the_one_socket(bench: Bench) -> None:
    arena, listening = bench.arena()
    with listening:
        running = bench.start(
            "calls",
            """
            import os, socket
            address = os.environ["CUTPURSE_SERVER"]
            calling = socket.socket(socket.AF_UNIX)
            calling.connect(address.removeprefix("unix:"))
            calling.sendall(b"hello")
            print(calling.recv(10))
            """,
            arena=arena,
        )
        heard, _ = listening.accept()
        with heard:
            assert heard.recv(10) == b"hello"
            heard.sendall(b"welcome")
        running.wait(240)
    assert running.talk() == "b'welcome'\n"


def test_a_program_is_asked_to_end_and_may_say_goodbye(bench: Bench) -> None:
    arena, listening = bench.arena()
    with listening:
        running = bench.start(
            "polite",
            """
            import os, signal, socket
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
            socket.socket(socket.AF_UNIX).connect(os.environ["CUTPURSE_SERVER"].removeprefix("unix:"))
            signal.sigwait({signal.SIGTERM})
            print("bye")
            raise SystemExit(3)
            """,
            arena=arena,
        )
        listening.accept()[0].close()
        ended = running.stop(240)
    assert (ended.cause, ended.code, ended.text) == ("stopped", 3, "it was stopped")
    assert running.talk() == "bye\n"


def test_a_program_that_does_not_want_to_end_is_ended(bench: Bench) -> None:
    arena, listening = bench.arena()
    with listening:
        running = bench.start(
            "stubborn",
            """
            import os, signal, socket
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            socket.socket(socket.AF_UNIX).connect(os.environ["CUTPURSE_SERVER"].removeprefix("unix:"))
            while True:
                signal.pause()
            """,
            arena=arena,
        )
        listening.accept()[0].close()
        assert running.ended() is None
        ended = running.stop(0.05)
    assert (ended.cause, ended.code) == ("stopped", signal.SIGKILL)
    wait_until_gone([running.pid])


def test_time_of_the_processor_and_of_the_clock_is_limited(bench: Bench) -> None:
    spinning = bench.start("spins", "while True: pass", ResourceLimits(cpu_s=0.3))
    sleeping = bench.start("sleeps", FOR_EVER, ResourceLimits(wall_s=0.5))
    spun, slept = spinning.wait(240), sleeping.wait(240)
    assert spun is not None
    assert slept is not None
    assert (spun.cause, spun.text) == ("processor", "it used up its 0.3 s of the processor")
    assert 0.3 <= spun.use.cpu_s < 5
    assert (slept.cause, slept.text) == ("time", "it took longer than its 0.5 s")
    assert slept.use.cpu_s < 1


def test_a_signal_is_named(bench: Bench) -> None:
    ended = bench.start("falls", "import os; os.abort()").wait(240)
    assert ended is not None
    assert (ended.cause, ended.code, ended.text) == ("signal", 6, "it was ended by signal 6 (SIGABRT)")


def test_a_command_that_is_not_there_is_told(bench: Bench) -> None:
    running = bench.start("none", "", command=("no-such-program",))
    ended = running.wait(240)
    assert ended is not None
    assert ended.cause == "exited"
    assert ended.code in (126, 127)
    assert "could not be run" in ended.text


@pytest.mark.soak
def test_only_the_newest_of_endless_talk_is_kept_and_nobody_waits_for_it(bench: Bench) -> None:
    limits = ResourceLimits(cpu_s=0.2, talk_bytes_per_s=20_000, talk_bytes=30_000)
    running = bench.start(
        "babbles",
        """
        import os
        line, count = b"x" * 99 + b"\\n", 0
        while True:
            os.write(1, b"%8d " % count + line * 600)
            count += 1
        """,
        limits,
    )
    ended = running.wait(240)
    assert ended is not None
    assert ended.cause == "processor"  # nothing held it up for long
    said = running.talk()
    assert 10_000 < len(said) <= 30_000
    assert "bytes left out]" in said


def test_what_would_move_a_cursor_is_made_legible(bench: Bench) -> None:
    running = bench.start(
        "colours",
        r"""
        import os
        print("\x1b[31mred\x1b]0;title\x07 \u202eright \x9b2J é\r|", flush=True)
        os.write(2, b"\xff\0")
        """,
    )
    running.wait(240)
    assert running.talk() == "\\x1b[31mred\\x1b]0;title\\x07 \\u202eright \\x9b2J é\\x0d|\n\ufffd\\x00"


def test_what_runs_on_a_build_step_is_that_it_may_write_and_others_may_not(bench: Bench) -> None:
    source = "open('made', 'w').write('by the build'); print('done')"
    built = bench.start("builds", source, is_writable=True).wait(240)
    assert built is not None
    assert built.code == 0
    assert (bench.root / "builds" / "made").read_text(encoding="utf-8") == "by the build"
    if bench.runner.name == "process":
        return  # which can forbid nothing
    refused = bench.start("writes", source)
    refused.wait(240)
    assert "Read-only file system" in refused.talk()
    assert not (bench.root / "writes" / "made").exists()


def test_a_program_finds_and_leaves_a_memory_where_the_runner_has_one(bench: Bench) -> None:
    memory = bench.root / "memory"
    (memory / "duel").mkdir(parents=True)
    (memory / "duel" / "n").write_text("1", encoding="utf-8")
    running = bench.start(
        "remembers",
        """
        import os
        from pathlib import Path
        file = Path(os.environ.get("CUTPURSE_MEMORY", "/nowhere"), "duel", "n")
        print("found", file.read_text() if file.exists() else "nothing")
        if file.exists():
            file.write_text("2")
        """,
        memory=memory,
    )
    running.wait(240)
    has_memory = bench.runner.has_memory
    assert running.talk() == ("found 1\n" if has_memory else "found nothing\n")
    assert (memory / "duel" / "n").read_text(encoding="utf-8") == ("2" if has_memory else "1")


def test_a_build_step_that_writes_too_much_is_ended(bench: Bench) -> None:
    running = bench.start(
        "fills",
        """
        number = 0
        while True:
            with open(f"full{number}", "wb") as file:
                file.write(bytes(1 << 20))
            number += 1
        """,
        ResourceLimits(file_bytes=4 * MIB),
        is_writable=True,
    )
    ended = running.wait(240)
    assert ended is not None
    assert (ended.cause, ended.text) == ("disk", "it wrote more than its 4 MiB, or too many files")


def test_what_a_program_leaves_behind_is_ended_with_it(bench: Bench) -> None:
    if bench.runner.name == "process" and bench.runner.weaker()[1:]:
        pytest.skip("without control groups a plain process can leave its group")
    arena, listening = bench.arena()
    with listening:
        bench.start(
            "parent",
            """
            import os, socket, signal, time
            calling = socket.socket(socket.AF_UNIX)
            calling.connect(os.environ["CUTPURSE_SERVER"].removeprefix("unix:"))
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    signal.signal(signal.SIGTERM, signal.SIG_IGN)
                    calling.sendall(b"demon")
                    time.sleep(1000)
                os._exit(0)
            calling.recv(10)
            """,
            arena=arena,
        )
        heard, _ = listening.accept()
        with heard:
            heard.settimeout(240)
            assert heard.recv(10) == b"demon"
            heard.sendall(b"go")
            assert heard.recv(10) == b""  # nobody holds the other end any more


SERVER = """
import signal, sys
from pathlib import Path
from cutpurse.server.runners.choosing import runner_named
from cutpurse.server.runners.port import ProgramSpec
running = runner_named(sys.argv[1], sys.argv[4]).start(
    ProgramSpec(name="bot", folder=Path(sys.argv[2]), command=("/usr/bin/env", "sleep", "1000"), talk=Path(sys.argv[3]))
)
print(running.pid, flush=True)
signal.pause()
"""


@pytest.mark.parametrize("name", NAMES)
def test_a_program_ends_with_a_server_that_is_killed(name: str, tmp_path: Path) -> None:
    runner_or_skip(name)
    (tmp_path / "bot").mkdir()
    command = [
        sys.executable,
        "-c",
        SERVER,
        name,
        str(tmp_path / "bot"),
        str(tmp_path / "talk"),
        os.environ.get(IMAGE, ""),
    ]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    pid = int(server.stdout.readline())
    assert Path(f"/proc/{pid}").exists()
    server.kill()
    server.wait()
    server.stdout.close()
    wait_until_gone([pid])


def test_a_runner_that_there_is_not() -> None:
    with pytest.raises(UsageError, match=r"'docker'; there are: bubblewrap, container, process"):
        runner_named("docker")


@pytest.mark.parametrize("name", NAMES)
def test_what_cannot_be_started_raises_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    runner = runner_or_skip(name)
    descriptors = open_descriptors()
    with pytest.raises((RunnerError, OSError)):
        runner.start(ProgramSpec(name="none", folder=tmp_path / "none", command=("true",), talk=tmp_path / "talk"))
    assert open_descriptors() <= descriptors  # some of an earlier test may be closed meanwhile


def test_a_start_that_fails_half_way_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = runner_or_skip("bubblewrap")
    if not user_namespace.is_root():
        pytest.skip("only root gives users to a namespace")

    pids = []

    def refuse(pid: int) -> None:
        pids.append(pid)
        raise PermissionError("not allowed")

    monkeypatch.setattr(starting, "give_users", refuse)
    descriptors = open_descriptors()
    with pytest.raises(PermissionError, match="not allowed"):
        runner.start(ProgramSpec(name="none", folder=tmp_path, command=("true",), talk=tmp_path / "talk"))
    wait_until_gone(pids)
    assert open_descriptors() <= descriptors  # some of an earlier test may be closed meanwhile


def test_a_program_whose_talk_cannot_be_kept_runs_all_the_same(bench: Bench) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no device here is always full")
    task = replace(bench.task("talks", "print('x' * 10_000); raise SystemExit(4)"), talk=Path("/dev/full"))
    running = bench.runner.start(task)
    ended = running.wait(240)
    assert ended is not None
    assert (ended.cause, ended.code) == ("exited", 4)


def test_a_folder_that_cannot_be_looked_at_has_grown_too_much(tmp_path: Path) -> None:
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "given").write_bytes(bytes(100_000))
    growth = DiskQuota(folder, 1_000)
    assert not growth.is_too_much()
    (folder / "link").symlink_to("/")
    assert not growth.is_too_much()
    (folder / "sparse").touch()
    os.truncate(folder / "sparse", 10_000)
    assert growth.is_too_much()
    shutil.rmtree(folder)
    assert growth.is_too_much()
