"""Runs on Ray: the results are those of one process, also if a process or a node is killed."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from cutpurse.engine.errors import UsageError
from cutpurse.process.pool import pickle_work
from cutpurse.process.ray_cluster import _run_batch, _versions, check_address
from cutpurse.sdk.local import play
from cutpurse.wire.errors import NotFound
from tests.looking import until
from tests.ports import free_port
from tests.sdk.bot_files import bot_file
from tests.typed import run

has_ray = pytest.mark.skipif(find_spec("ray") is None, reason="the extra `ray` is not installed")
PATIENCE_S = 240.0  # Ray takes 5 s to start, and many times that on a busy machine

# The first process that gets there writes down its parent, the node, and stays where it is until it is killed.
STAYS_ONCE = """
import os, signal, sys

class Bot:
    def start(self, match):
        if "ray" in sys.modules:
            try:
                file = os.open({fuse!r}, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            except FileExistsError:
                return
            os.write(file, b"%d %d\\n" % (os.getpid(), os.getppid()))
            os.close(file)
            signal.pause()

    def choose(self, view, decision):
        return 0
"""


def is_written(file: Path) -> bool:
    return file.exists() and file.read_text().endswith("\n")


def digest_of(words: list[str]) -> str:
    shown = subprocess.run(words, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    return str(json.loads(shown.stdout)["digest"])


def command(bot: str, *more: str) -> list[str]:
    words = ("play", "greed", bot, "random", "--matches", "60", "--seed", "7", "--json")
    return [sys.executable, "-m", "cutpurse.cli", *words, *more]


def digest_with_a_kill(words: list[str], fuse: Path, with_node: bool) -> str:
    """Play, and kill the process in which a bot stays, and its node too, as if its machine had gone."""
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as playing:
        try:
            until(lambda: is_written(fuse) or playing.poll() is not None, "a bot that stays", PATIENCE_S)
            if is_written(fuse):
                process, node = map(int, fuse.read_text().split())
                for victim in (node, process) if with_node else (process,):
                    os.kill(victim, signal.SIGKILL)
            out, err = playing.communicate(timeout=PATIENCE_S)
        finally:
            playing.kill()
    assert (playing.returncode, fuse.exists()) == (0, True), err
    return str(json.loads(out)["digest"])


@has_ray
def test_a_process_of_ray_that_is_killed_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fuse = tmp_path / "fuse"
    bot_file(tmp_path, STAYS_ONCE.format(fuse=str(fuse)))
    words = command("my_bot.py", "--on", "ray", "--jobs", "2")
    assert digest_with_a_kill(words, fuse, with_node=False) == digest_of(command("my_bot.py"))


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a cluster of two nodes."""
    port = free_port()
    words = [sys.executable, str(Path(__file__).with_name("ray_nodes.py")), str(port)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as nodes:
        try:
            assert nodes.stdout is not None
            assert "ready" in nodes.stdout.readline()
            yield f"ray://127.0.0.2:{port}"
        finally:
            assert nodes.stdin is not None
            nodes.stdin.close()
            nodes.wait(PATIENCE_S)


@has_ray
def test_a_cluster_has_the_digest_of_one_process_also_if_a_node_is_killed(cluster: str, tmp_path: Path) -> None:
    fuse = tmp_path / "fuse"
    bot = bot_file(tmp_path, STAYS_ONCE.format(fuse=str(fuse)))
    whole = digest_of(command(bot))
    assert digest_with_a_kill(command(bot, "--on", cluster, "--aggregate"), fuse, with_node=True) == whole
    assert digest_of(command(bot, "--on", cluster)) == whole


@has_ray
def test_a_ray_address_where_nothing_is_is_one_line() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    shown = run("play", "greed", "random", "random", "--on", f"ray://127.0.0.1:{port}")
    assert (shown.exit_code, shown.stdout) == (5, "")
    assert shown.stderr == (
        f"cutpurse: no Ray cluster answers at ray://127.0.0.1:{port}: [Errno 111] Connection refused\n"
    )


class FakeRay(ModuleType):
    """Ray as the command uses it, in this process; it warns in each way in which the real one does."""

    exceptions = SimpleNamespace(RayError=OSError, RayTaskError=OSError)
    put = get = staticmethod(lambda value: value)
    is_initialized = staticmethod(lambda: False)
    shutdown = staticmethod(lambda: None)
    cluster_resources = staticmethod(lambda: {"CPU": 1})

    @staticmethod
    def wait(tasks: list[object], **_: object) -> tuple[list[object], list[object]]:
        return tasks, []

    @staticmethod
    def init(*_: object, **__: object) -> None:
        warnings.warn("Tip: in future versions of Ray", FutureWarning, stacklevel=1)
        logging.getLogger("ray._private.services").warning("the object store is slow")

    @staticmethod
    def remote(**_: object) -> Callable[[Callable[..., object]], SimpleNamespace]:
        return lambda function: SimpleNamespace(remote=function)


def test_a_start_of_ray_on_this_machine_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ray", FakeRay("ray"))
    monkeypatch.setattr(logging.getLogger("ray"), "level", logging.NOTSET)
    shown = run("play", "greed", "random", "random", "--on", "ray", "--json")
    assert (shown.exit_code, shown.stderr, capfd.readouterr().err) == (0, "starting Ray on this machine\n", "")
    assert json.loads(shown.stdout)["digest"] == play("greed", ["random", "random"]).digest
    assert os.environ["RAY_BACKEND_LOG_LEVEL"] == "error"


def test_without_ray_the_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    for words in (("play", "greed", "random", "random"), ("compare", "greed", "random", "greedy")):
        shown = run(*words, "--on", "ray")
        assert (shown.exit_code, shown.stdout) == (2, "")
        assert "ray is not installed; in a checkout of Cutpurse, this does it: pip install '.[ray]'" in shown.stderr


@pytest.mark.parametrize("on", ["dask", "ray:", "ray://", "ray://:1", "ray://host:port", "RAY", ""])
def test_another_place_to_play_is_refused(on: str) -> None:
    with pytest.raises(UsageError, match="is no place to play; ray and ray://HOST:PORT are"):
        play("greed", ["random", "random"], on=on)


def test_a_number_of_processes_for_a_cluster_is_refused() -> None:
    with pytest.raises(UsageError, match="as many processes as its nodes have processors"):
        play("greed", ["random", "random"], on="ray://host", jobs=2)
    assert check_address("ray://host") == ("host", 10001)
    assert check_address("ray://host:5") == ("host", 5)


@pytest.mark.parametrize("more", [("--watch",), ("--human", 0)])
def test_a_match_on_ray_cannot_be_watched(more: tuple[object, ...]) -> None:
    shown = run("play", "greed", "random", "random", "--on", "ray", *more)
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert f"{more[0]} needs --jobs 1, without --on" in shown.stderr


# -- what a node does with a batch
def square(numbers: range) -> list[int]:
    return [number**2 for number in numbers]


def missing(numbers: range) -> list[int]:
    raise NotFound("no bot file my_bot.py: it does not exist")


def test_a_node_returns_results_and_problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    node = socket.gethostname()
    results, seconds, problem = _run_batch(pickle_work(square), range(3), str(tmp_path), _versions())
    assert (results, seconds >= 0, problem) == ([0, 1, 4], True, None)
    _, _, problem = _run_batch(pickle_work(missing), range(3), str(tmp_path / "nowhere"), _versions())
    assert isinstance(problem, NotFound)
    assert str(problem) == f"on the node {node}: no bot file my_bot.py: it does not exist"
    _, _, problem = _run_batch(pickle_work(square), range(3), str(tmp_path), {"cutpurse": "0.0", "Python": "2.7"})
    assert isinstance(problem, UsageError)
    assert str(problem).startswith(f"the node {node} has cutpurse ")
    assert str(problem).endswith("and cutpurse 0.0 and Python 2.7 is needed")
    _, _, problem = _run_batch(b"no pickle", range(3), str(tmp_path), _versions())
    assert problem is not None
    assert "Traceback" in problem.__notes__[0]
