"""A program that plays as a bot: started in its own process group, its output passed on, and reliably ended.

It has no standard input. Its stdout and stderr go to our stderr, with its name before each line. This module knows no
protocol.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from cutpurse.process.child_processes import descendants, kill, wait_for_end
from cutpurse.process.last_words import last_words
from cutpurse.process.own_time import OwnTime
from cutpurse.process.terminal import print_message

__all__ = ["Child"]

GRACE_S: Final = 2.0  # seconds between SIGTERM and SIGKILL
KEPT: Final = 200  # lines of output stored, enough for a traceback
LINE_MOST: Final = 2_000  # characters per line that are passed on


class Child:
    """A running program."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        on_end: Callable[[], None] = lambda: None,
        quiet: bool = False,
        on_line: Callable[[str], None] = lambda line: None,
    ) -> None:
        """Start the program.

        Args:
            name: Name in its output lines.
            command: The command to run.
            environment: Variables added to our own environment.
            on_end: Called from another thread when the program has ended.
            quiet: Store its output without passing it on.
            on_line: Called from another thread with each line of its output.

        Raises:
            OSError: If the command cannot be run.
        """
        self.name = name
        self.quiet = quiet
        self._on_end = on_end
        self._on_line = on_line
        self.left_behind = 0  # number of its own processes that outlived it, known after `stop`
        self._lines: deque[str] = deque(maxlen=KEPT)
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, **environment},
            start_new_session=True,
        )
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._listen, self._watch)]
        for thread in self._threads:
            thread.start()

    @property
    def pid(self) -> int:
        """The process ID, which is also the process group ID."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """The exit code, negative for the signal that ended it; None while it runs."""
        return self._process.returncode

    def how_it_ended(self) -> str:
        """Describe the end in words: "ended with exit code 1"."""
        code = self._process.returncode
        if code is None:
            return "still runs"
        return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"

    def last_words(self) -> str:
        """Return the last lines of its output in one line; after its end, wait for what is still in the pipe."""
        if self.code is not None:
            self._threads[0].join(0.5)  # takes longer only if a process that it started holds the pipe open
        return last_words(self._lines)

    def stop(self, grace_s: float = GRACE_S) -> bool:
        """Ask the program and its processes to end, then kill them; return whether it ended by itself.

        Args:
            grace_s: Seconds of own time (see `OwnTime`) for them to end.
        """
        started = descendants(self.pid) if self.code is None else []  # can only be found while it runs
        if self.code is None:
            _signal(self._process, "SIGTERM")
        own = OwnTime()  # a busy machine takes nothing of its grace
        deadline = own() + grace_s
        by_itself = any(self._wait(pause_s) for pause_s in own.pauses(grace_s)) or self._wait(0)
        left = wait_for_end(started, max(0.0, deadline - own()))
        self.left_behind = len(left) if by_itself else 0
        kill(left)
        _signal(self._process, "SIGKILL")  # also processes left in its group
        self._wait(None)
        for thread in self._threads:
            thread.join(1.0)
        return by_itself

    def _wait(self, seconds: float | None) -> bool:
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _listen(self) -> None:
        pipe = self._process.stdout
        assert pipe is not None
        with pipe:
            while data := pipe.readline(LINE_MOST):
                line = _legible(data.decode("utf-8", "replace").rstrip("\r\n"))
                self._lines.append(line)
                self._on_line(line)
                if not self.quiet:
                    print_message(f"{self.name}: {line}")

    def _watch(self) -> None:
        self._process.wait()
        self._on_end()


def _legible(line: str) -> str:
    """Replace control characters, which could move a terminal's cursor or change its colours."""
    return "".join([sign if sign.isprintable() or sign == "\t" else "\ufffd" for sign in line])


def _signal(process: subprocess.Popen[bytes], name: str) -> None:
    """Send a signal to the whole group; on systems without groups, end the process."""
    if os.name != "posix":
        process.terminate()
        return
    try:
        os.killpg(process.pid, getattr(signal, name))
    except (ProcessLookupError, PermissionError):  # all have ended; macOS raises the latter for a dead process
        pass
