"""Programs that the server starts for itself, and none of which outlives it.

Each has a process group of its own, no standard input, and its talk in a file or nowhere. This module knows no bot and
no match.
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

from cutpurse.sdk.programs.last_words import last_words

__all__ = ["Children"]

GRACE_S: Final = 2.0  # between being asked to end and being ended
MOST_SAID: Final = 64 * 1024 * 1024  # bytes of its talk that are read


class Children:
    """The programs of one run; leaving the `with` block ends all of them, however it is left."""

    def __init__(self, talk: Path | None, grace_s: float = GRACE_S, *, is_heard: bool = False) -> None:
        """`talk`: the folder that gets a file NAME.log for each program, None: what they say is lost.

        grace_s: seconds to end by themselves. is_heard: without such a folder, what they say on stderr goes to that of
        this process.
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
        """Start a program; its process number.  `nice`: by how much others go before it; files: open ones that it gets.

        Raises OSError if it cannot be run.
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
            with contextlib.suppress(ProcessLookupError):  # it has ended already
                os.setpriority(os.PRIO_PROCESS, child.pid, os.getpriority(os.PRIO_PROCESS, 0) + nice)
        return child.pid

    def _log(self, name: str) -> IO[bytes]:
        if self.talk is None:
            return Path(os.devnull).open("wb")
        self.talk.mkdir(parents=True, exist_ok=True)
        return (self.talk / f"{name}.log").open("wb")

    @property
    def pids(self) -> dict[str, int]:
        """The process numbers of the programs that were started and not forgotten."""
        return {name: child.pid for name, child in self._running.items()}

    def ended(self) -> dict[str, int]:
        """Return the programs that ended by themselves, with their exit codes; a negative one is the signal."""
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
        """Ask every program and what it started to end; those that do not are ended."""
        for child in self._running.values():
            _signal(child, signal.SIGTERM)
        deadline = time.monotonic() + self.grace_s
        for child in self._running.values():
            try:
                child.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                pass
            _signal(child, signal.SIGKILL)  # also what it left behind in its group
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
    except (ProcessLookupError, PermissionError):  # all of them are gone; macOS says the latter of a dead one
        pass
