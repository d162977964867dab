"""A real place in its own process, which can be killed and stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.growing_log import GrowingLog
from tests.looking import until

__all__ = ["RealPlace"]

START_S = 300.0  # on a busy machine


class RealPlace:
    """A process of `cutpurse place`; it can be started again after its end."""

    def __init__(self, folder: Path, address: str, name: str = "lab1", *flags: str, **environment: str) -> None:
        self.folder = folder / name
        self.name = name
        options = {"--server": address, "--name": name, "--folder": str(self.folder)}
        options |= dict(zip(flags[::2], flags[1::2], strict=True))
        self._words = [word for option in options.items() for word in option]
        ours = {key: value for key, value in os.environ.items() if not key.startswith("CUTPURSE_")}
        self._environment = {**ours, "HOME": str(folder), **environment}
        self._log = folder / f"{name}.log"
        self._growing = GrowingLog(self._log)
        self.process: subprocess.Popen[bytes] | None = None

    def spawn(self) -> None:
        """Start the place, without waiting for anything."""
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "cutpurse.cli", "place", *self._words],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def start(self) -> None:
        """Start the place, and return once it attends."""
        before = self._growing.count("attends")
        self.spawn()
        process = self.process
        assert process is not None
        until(
            lambda: self._growing.count("attends") > before or process.poll() is not None, "the place attends", START_S
        )
        assert process.poll() is None, self.said()

    def said(self) -> str:
        """Return what it has printed so far."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the place, and to no bot of it."""
        assert self.process is not None
        os.kill(self.process.pid, number)

    def kill(self) -> None:
        """Kill the place with SIGKILL."""
        self.send(signal.SIGKILL)
        assert self.process is not None
        self.process.wait()

    def wait(self) -> int:
        """Return the exit code of the place, once it has ended."""
        assert self.process is not None
        return self.process.wait(240)

    def stop(self) -> None:
        """Terminate the place, if it runs."""
        if self.process is not None and self.process.poll() is None:
            self.send(signal.SIGCONT)
            self.send(signal.SIGTERM)
            self.send(signal.SIGINT)  # the second signal ends it at once
            self.process.wait(240)
