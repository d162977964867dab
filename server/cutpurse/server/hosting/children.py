"""Child processes of the server, which all end with it.

Each has its own process group, no standard input, and its output in a file or nowhere. This module knows no bot and no
match.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from cutpurse.process.last_words import last_words

__all__ = ["Children"]

GRACE_S: Final = 2.0  # seconds between SIGTERM and SIGKILL
MOST_SAID: Final = 64 * 1024 * 1024  # maximum bytes of its output that are read


class Children:
    """The child processes of one run; leaving the `with` block ends all of them."""

    def __init__(self, talk: Path | None, grace_s: float = GRACE_S, *, is_heard: bool = False) -> None:
        """Start without processes.

        Args:
            talk: Folder for a file NAME.log per program; None discards the output.
            grace_s: Seconds that programs get to end by themselves.
            is_heard: Without a folder, pass stderr of the programs to stderr of this process.
        """
        self.talk = talk
        self._is_heard = is_heard
        self.grace_s = grace_s
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str] | None = None,
        nice: int = 0,
        files: Sequence[int] = (),
    ) -> int:
        """Start a program, and return its process ID.

        Args:
            name: Its name here.
            command: The command line.
            environment: Variables to add.
            nice: Increment of its nice value.
            files: Open file descriptors to pass.

        Raises:
            OSError: If it cannot be run.
        """
        with self._log(name) as log:
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=None if self._is_heard and self.talk is None else subprocess.STDOUT,
                env={**os.environ, **(environment or {})},
                pass_fds=files,
                start_new_session=True,
            )
        self._running[name] = child
        if nice:
            with contextlib.suppress(ProcessLookupError):  # it has already ended
                os.setpriority(os.PRIO_PROCESS, child.pid, os.getpriority(os.PRIO_PROCESS, 0) + nice)
        return child.pid

    def _log(self, name: str) -> IO[bytes]:
        if self.talk is None:
            return Path(os.devnull).open("wb")
        self.talk.mkdir(parents=True, exist_ok=True)
        return (self.talk / f"{name}.log").open("wb")

    @property
    def pids(self) -> dict[str, int]:
        """Process IDs of the programs that were started and not forgotten."""
        return {name: child.pid for name, child in self._running.items()}

    def ended(self) -> dict[str, int]:
        """Return the exit codes of ended programs by name; a negative code is the signal."""
        codes = {name: child.poll() for name, child in self._running.items()}
        return {name: code for name, code in codes.items() if code is not None}

    def last_words(self, name: str) -> str:
        """Return the last lines of a program's output, in one line."""
        return last_words(self.said(name).splitlines())

    def said(self, name: str) -> str:
        """Return a program's output so far, or the beginning of very long output."""
        if self.talk is None:
            return ""
        try:
            with (self.talk / f"{name}.log").open("rb") as log:
                return log.read(MOST_SAID).decode("utf-8", errors="replace")
        except OSError:
            return ""

    def forget(self, name: str) -> None:
        """Forget a program that has ended."""
        del self._running[name]

    def stop(self) -> None:
        """Terminate every program and its process group; kill those still running after the grace time."""
        for child in self._running.values():
            _signal(child, signal.SIGTERM)
        deadline = time.monotonic() + self.grace_s
        for child in self._running.values():
            try:
                child.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                pass
            _signal(child, signal.SIGKILL)  # also processes that it left in its group
            child.wait()
        self._running.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _signal(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    try:
        os.killpg(child.pid, number)
    except (ProcessLookupError, PermissionError):  # all are gone; for a dead process macOS raises the latter
        pass
