"""A real server in its own process, which can be killed, and the command line of an author."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from cutpurse.server.runners.choosing import runner_named
from tests.growing_log import GrowingLog
from tests.looking import until

__all__ = ["RealServer", "cutpurse"]

START_S = 300.0  # on a busy machine


def cutpurse(*words: object, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command without any of our variables in its environment."""
    return subprocess.run(
        [sys.executable, "-m", "cutpurse.cli", *[str(word) for word in words]],
        cwd=folder,
        env={**_without_ours(os.environ), "HOME": str(folder), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,  # a build in the sandbox may wait long for a busy processor
    )


def _without_ours(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if not name.startswith("CUTPURSE_")}


class RealServer:
    """A process of `cutpurse serve` in a folder; it can be started again after its end."""

    def __init__(self, folder: Path, *flags: str) -> None:
        if (why := runner_named("bubblewrap").missing()) is not None:
            pytest.skip(why)
        self.folder = folder
        self.address = f"unix:{folder}/s"
        self.flags = flags
        self.log = folder / "server.log"
        self.growing = GrowingLog(self.log)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server, and return once it listens."""
        before = self.growing.count("bots dial in at")
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "cutpurse.cli", "serve", "--db", "league.db"),
                    *("--address", self.address, "--drain", "1", *self.flags),
                ],
                cwd=self.folder,
                env=_without_ours(os.environ),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        process = self._process
        until(
            lambda: self.growing.count("bots dial in at") > before or process.poll() is not None,
            "the server listens",
            START_S,
        )
        assert process.poll() is None, self.said()[-2_000:]

    def said(self) -> str:
        """Return its log so far."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def kill(self) -> None:
        """Kill the server with SIGKILL."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def stop(self) -> int | None:
        """Terminate the server, and return its exit code; None if it was never started."""
        if self._process is None:
            return None
        if self._process.poll() is None:
            self._process.terminate()
        return self._process.wait(240)
