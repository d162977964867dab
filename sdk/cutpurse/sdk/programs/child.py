"""A program that plays as a bot: started in a process group of its own, its talk passed on, and surely ended.

It has no standard input. What it says on both its outputs goes to our stderr, its name before each line. This module
knows no protocol.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from cutpurse.sdk.child_processes import descendants, kill, wait_for_end
from cutpurse.sdk.programs.last_words import last_words
from cutpurse.sdk.terminal import print_message

__all__ = ["Child"]

GRACE_S: Final = 2.0  # between being asked to end and being ended
KEPT: Final = 200  # lines of its talk: as many as a trace has
LINE_MOST: Final = 2_000  # characters of a line that are passed on


class Child:
    """One program that runs."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        on_end: Callable[[], None] = lambda: None,
        quiet: bool = False,
        on_line: Callable[[str], None] = lambda line: None,
    ) -> None:
        """`environment` is added to our own. on_end is told, from another thread, that it has ended. quiet: only keep
        its talk. on_line is told each line of that, from another thread too.

        Raises OSError if it cannot be run.
        """
        self.name = name
        self.quiet = quiet
        self._on_end = on_end
        self._on_line = on_line
        self.left_behind = 0  # processes that it had started and that outlived it, once it was stopped
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
        """The number of its process, and of its process group."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """Its exit code, negative for the signal that ended it; None while it runs."""
        return self._process.returncode

    def how_it_ended(self) -> str:
        """In words: "ended with exit code 1"."""
        code = self._process.returncode
        if code is None:
            return "still runs"
        return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"

    def last_words(self) -> str:
        """The last lines of what it said, in one line; what is still in the pipe is waited for if it has ended."""
        if self.code is not None:
            self._threads[0].join(0.5)  # longer only if something that it started holds the pipe open
        return last_words(self._lines)

    def stop(self, grace_s: float = GRACE_S) -> bool:
        """Ask it and what it started to end, then end them; whether it ended by itself."""
        started = descendants(self.pid) if self.code is None else []  # found as long as it runs only
        if self.code is None:
            _signal(self._process, "SIGTERM")
        deadline = time.monotonic() + grace_s
        by_itself = self._wait(grace_s)
        left = wait_for_end(started, max(0.0, deadline - time.monotonic()))
        self.left_behind = len(left) if by_itself else 0
        kill(left)
        _signal(self._process, "SIGKILL")  # also what it left behind in its group
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
    """Without what would move a terminal's cursor or change its colours."""
    return "".join([sign if sign.isprintable() or sign == "\t" else "\ufffd" for sign in line])


def _signal(process: subprocess.Popen[bytes], name: str) -> None:
    """Send it to the whole group; where there are no groups, end the process."""
    if os.name != "posix":
        process.terminate()
        return
    try:
        os.killpg(process.pid, getattr(signal, name))
    except (ProcessLookupError, PermissionError):  # all of them are gone; macOS says the latter of a dead one
        pass
