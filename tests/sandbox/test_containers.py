"""The container runner's own: what it says where it cannot be used, what it leaves, and what its engine is told."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cutpurse.server.runners import container_program, seccomp
from cutpurse.server.runners.cgroups import group_of
from cutpurse.server.runners.container import LABEL, ContainerRunner
from cutpurse.server.runners.container_engine import Engine, EngineError, socket_of
from cutpurse.server.runners.port import ResourceLimits
from tests.looking import until
from tests.sandbox.trying import MIB, Bench, runner_or_skip

ORPHANS = """
import os, time
for number in range(60):
    while True:
        try:
            first = os.fork()
            break
        except OSError:
            time.sleep(0.05)
    if first == 0:
        try:
            os.fork()
        finally:
            os._exit(0)
    os.wait()
print("done")
"""
# A server that ends between making a container and starting it.
HALF_WAY = """
import os, signal, sys
from pathlib import Path
from cutpurse.server.runners import container
from cutpurse.server.runners.port import Task

def contained(task, engine, made):
    print(made, flush=True)
    signal.pause()

container.contained = contained
container.ContainerRunner(sys.argv[1]).start(Task("bot", Path(sys.argv[2]), ("true",), Path(sys.argv[2], "talk")))
"""


@pytest.fixture
def runner() -> ContainerRunner:
    found = runner_or_skip("container")
    assert isinstance(found, ContainerRunner)
    return found


@pytest.fixture
def engine(runner: ContainerRunner) -> Engine:
    path = socket_of(os.environ)
    assert path is not None
    return Engine(path)


def test_without_an_engine_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    assert f"no engine of containers listens at {tmp_path}/none.sock: start" in (ContainerRunner().missing() or "")
    monkeypatch.setenv("DOCKER_HOST", "tcp://10.0.0.1:2375")
    assert "only an engine of this machine will do, unix:///PATH" in (ContainerRunner().missing() or "")


def test_the_usual_places_of_engines_are_looked_at(tmp_path: Path) -> None:
    (tmp_path / "podman").mkdir()
    (tmp_path / "podman" / "podman.sock").touch()
    found = socket_of({"XDG_RUNTIME_DIR": str(tmp_path)})
    assert found in (tmp_path / "podman" / "podman.sock", Path("/var/run/docker.sock"), Path("/run/podman/podman.sock"))
    assert socket_of({"DOCKER_HOST": "unix:///a/b"}) == Path("/a/b")


def test_an_image_that_is_not_there_is_told(runner: ContainerRunner) -> None:
    assert ContainerRunner("cutpurse-none:1").missing() == (
        "there is no image cutpurse-none:1: docker build -f docker/bot.Dockerfile -t cutpurse-none:1 ."
    )


def test_what_a_server_left_half_made_is_removed_at_the_next_start(
    runner: ContainerRunner, engine: Engine, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", HALF_WAY, runner.image, str(tmp_path)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    left = server.stdout.readline().strip()
    assert ContainerRunner(runner.image).missing() is None
    assert left in {found["Id"] for found in engine.containers(LABEL)}  # its server lives
    server.kill()
    server.wait()
    server.stdout.close()
    assert ContainerRunner(runner.image).missing() is None
    assert left not in {found["Id"] for found in engine.containers(LABEL)}
    with pytest.raises(EngineError) as gone:
        engine.inspect(left)
    assert gone.value.is_gone


def test_orphans_that_have_ended_do_not_count_as_processes(runner: ContainerRunner, tmp_path: Path) -> None:
    bench = Bench(runner, tmp_path)
    try:
        running = bench.start("orphans", ORPHANS, ResourceLimits(processes=12, wall_s=90.0))
        running.wait(100)
    finally:
        bench.close()
    assert running.talk() == "done\n"


def test_a_bot_that_forges_its_end_is_taken_at_its_word(runner: ContainerRunner, tmp_path: Path) -> None:
    bench = Bench(runner, tmp_path)
    forger = """
    import signal
    with open("/proc/6/fd/3", "w") as told:
        told.write("began x\\nended 999999999999\\nended 5\\n")
    signal.pause()
    """
    try:
        running = bench.start("forges", forger, ResourceLimits(wall_s=30.0))
        ended = running.wait(240)
    finally:
        bench.close()
    assert ended is not None
    assert (ended.cause, ended.code) in (("exited", 5), ("exited", 1))  # the second: it could not even open that


def test_figures_are_the_engines_where_the_group_cannot_be_seen(
    runner: ContainerRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container_program, "group_of", lambda pid, name: None)
    bench = Bench(runner, tmp_path)
    try:
        hog = bench.start("hogs", "held = bytearray(b'x' * (40 << 20))\nwhile True: pass", ResourceLimits(cpu_s=0.4))
        ended = hog.wait(240)
    finally:
        bench.close()
    assert ended is not None
    assert ended.cause == "processor"
    assert 0.4 <= ended.use.cpu_s < 5
    assert 40 * MIB < ended.use.peak_bytes < 200 * MIB


def test_an_engine_without_control_groups_is_not_asked_what_a_container_has_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It would tell what the whole machine has used, for which a bot was ended."""
    monkeypatch.setattr(Engine, "info", lambda engine: {"CgroupDriver": "none"})
    whole = {"cpu_stats": {"cpu_usage": {"total_usage": 4e16}}, "memory_stats": {"usage": 1 << 50}}
    monkeypatch.setattr(Engine, "figures", lambda engine, container: whole)
    monkeypatch.setattr(Engine, "inspect", lambda engine, container: {"State": {"OOMKilled": False}})
    counted = container_program.counted_of(Engine(Path("/none.sock")), "a container", os.getpid())
    assert isinstance(counted, container_program.UsageSample)
    counted.look()
    assert 0 < (counted.cpu_s() or 0) < 1e6
    assert MIB < (counted.peak_bytes() or 0) < 1 << 49
    assert (counted.out_of_memory(), counted.refused()) == (0, 0)


def test_a_container_is_one_of_this_server_and_keeps_nothing(
    runner: ContainerRunner, engine: Engine, tmp_path: Path
) -> None:
    bench = Bench(runner, tmp_path)
    try:
        running = bench.start("waits", "import signal; print('here', flush=True); signal.pause()")
        (found,) = [one for one in engine.containers(LABEL) if str(os.getpid()) in one["Labels"][LABEL].split()]
        (name,) = found["Names"]
        assert name.lstrip("/").startswith(f"cutpurse-{os.getpid()}-")
        told = engine.inspect(found["Id"])
        assert told["State"]["Pid"] == running.pid
        assert told["HostConfig"]["NetworkMode"] == "none"
        assert told["HostConfig"]["LogConfig"]["Type"] == "none"
        assert told["Config"]["User"] == "65534:65534"
        began = time.monotonic()
        assert running.stop(0.0).code == signal.SIGKILL
        assert time.monotonic() - began < 20
    finally:
        bench.close()
    # Docker says that it is over a little before.
    until(lambda: found["Id"] not in {one["Id"] for one in engine.containers(LABEL)}, "the container is removed")


def test_the_list_of_calls_is_that_of_the_sandbox() -> None:
    told = seccomp.profile()
    rules = {name: rule["action"] for rule in told["syscalls"] if not rule["args"] for name in rule["names"]}
    assert rules == {
        **dict.fromkeys(seccomp.ALLOWED.split(), "SCMP_ACT_ALLOW"),
        **dict.fromkeys(set(seccomp.FORBIDDEN.split()) - {"personality"}, "SCMP_ACT_ERRNO"),
        **dict.fromkeys((*seccomp.WITHOUT_EFFECT.split(), "clone3"), "SCMP_ACT_ERRNO"),
    }
    (quiet,) = [rule for rule in told["syscalls"] if "flock" in rule["names"]]
    assert quiet["errnoRet"] == 0  # they succeed
    (clone3,) = [rule for rule in told["syscalls"] if rule["names"] == ["clone3"]]
    assert clone3["errnoRet"] == errno.ENOSYS  # else the C library makes no threads, where engines have another default
    assert {name for rule in told["syscalls"] if rule["args"] for name in rule["names"]} == {
        "socket",
        "socketpair",
        "personality",
        "clone",
        "fcntl",
        "utimensat",
    }
    assert told["defaultAction"] == "SCMP_ACT_ERRNO"


def test_the_group_of_a_container_is_found_in_either_version(tmp_path: Path) -> None:
    proc, root = tmp_path / "proc", tmp_path / "cgroup"
    (proc / "7").mkdir(parents=True)
    (root / "memory" / "docker" / "abc").mkdir(parents=True)
    (root / "memory" / "docker" / "abc" / "memory.max_usage_in_bytes").write_text("4096\n", encoding="ascii")
    (proc / "7" / "cgroup").write_text("4:memory:/docker/abc\n3:pids:/elsewhere\n0::/\n", encoding="ascii")
    found = group_of(7, "abc", root, proc)
    assert found is not None
    assert (found.peak_bytes(), found.has("pids")) == (4096, False)
    assert group_of(7, "xyz", root, proc) is None  # somebody else's of the same number
    assert group_of(8, "abc", root, proc) is None

    (root / "cgroup.controllers").write_text("cpu memory pids\n", encoding="ascii")
    (root / "machine.slice" / "libpod-abc.scope").mkdir(parents=True)
    (root / "machine.slice" / "libpod-abc.scope" / "cpu.stat").write_text("usage_usec 2500000\n", encoding="ascii")
    (proc / "7" / "cgroup").write_text("0::/machine.slice/libpod-abc.scope/container\n", encoding="ascii")
    found = group_of(7, "abc", root, proc)
    assert found is not None
    assert found.cpu_s() == 2.5
