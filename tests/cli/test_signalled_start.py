"""A command that is signalled while it starts ends without a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="other signals there")

# Python prints a line after each import; those before `typer` are its own and the first of ours.
START = (sys.executable, "-X", "importtime", "-m", "cutpurse.cli")
NOWHERE = ("--server", "127.0.0.1:1")
COMMANDS = {
    "serve": (("serve", "--db", "league.db", "--address", "127.0.0.1:0"), "cutpurse.server.hosting.arena"),
    "worker": (("worker", "--db", "postgresql://127.0.0.1:1/x", "--runner", "process"), "cutpurse.server.logs"),
    "place": (("place", *NOWHERE, "--runner", "process"), "cutpurse.server.logs"),
    "bot run": (("bot", "run", "random", *NOWHERE), "cutpurse.sdk.run"),
    "games": (("games",), "cutpurse.cli.main"),
}


def ended(words: tuple[str, ...], module: str, number: signal.Signals, folder: Path) -> tuple[int, list[str]]:
    """Signal a command once it has imported a module; return how it ended, and what it said from then on."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CUTPURSE_")}
    with subprocess.Popen(
        [*START, *words],
        cwd=folder,
        env={**environment, "HOME": str(folder), "XDG_CACHE_HOME": str(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.rstrip().endswith(f" {module}"):
                break
        else:
            pytest.fail(f"{module} is not imported by {words}")
        process.send_signal(number)
        said = process.stderr.read()
    return process.returncode, [line for line in said.splitlines() if not line.startswith("import time:")]


@pytest.mark.sampled
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_is_signalled_while_it_is_imported_is_quiet(
    name: str, number: signal.Signals, tmp_path: Path
) -> None:
    words, late = COMMANDS[name]
    for module in ("typer", late):
        code, said = ended(words, module, number, tmp_path)
        assert code in (-number, 130, 0), (module, code, said)
        assert [line for line in said if line.startswith(("Traceback", "Exception ignored", " "))] == [], module


def test_the_console_script_is_the_one_that_is_quiet() -> None:
    (script,) = entry_points(group="console_scripts", name="cutpurse")
    assert script.value == "cutpurse.cli.__main__:main"


def test_an_interrupt_that_python_would_ignore_is_repeated() -> None:
    script = """
import signal, threading, weakref
from cutpurse.process.signals import command_begins, end_quietly

class Kept: pass

end_quietly()
command_begins()
kept = Kept()
reference = weakref.ref(kept, lambda gone: signal.raise_signal(signal.SIGINT))
try:
    del kept
    threading.Event().wait()
except KeyboardInterrupt:
    print("interrupted")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")


def test_a_signal_while_asyncio_is_half_imported_ends_the_process() -> None:
    script = """
import importlib.abc, signal, sys
from cutpurse.process.signals import command_begins, end_quietly

class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "asyncio.base_events":
            signal.raise_signal(signal.SIGTERM)

end_quietly()
command_begins()
sys.meta_path.insert(0, Finder())
import asyncio
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGTERM, "", "")
