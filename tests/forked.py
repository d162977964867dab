"""Processes for tests to kill, forked from one that has imported what they need, so that they start at once.

A new interpreter would import for a second. They are not forked from the process of the tests, whose threads may hold
locks.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import select
import signal
import threading
from collections.abc import Callable
from typing import Any, Final

from tests.roots import CHECKOUT

__all__ = ["ForkedProcess"]

_CONTEXT: Final = multiprocessing.get_context("forkserver")
# The command of the tests is imported again in each process, so pytest is here too.
_IMPORTED: Final = ["pytest", "psycopg", "tests.leaderboard.writers"]


class ForkedProcess:
    """A process that does some work until it is killed.

    Attributes:
        said: What it has said so far and not yet been read, line by line; it ends with the process.
    """

    def __init__(self, work: Callable[..., None], *arguments: object) -> None:
        """Start the process.

        Args:
            work: Function of a module of the tests. It is called with a function that says a line, and the arguments.
            arguments: Further arguments of `work`.
        """
        reader, writer = _CONTEXT.Pipe(duplex=False)
        self._process = _CONTEXT.Process(target=_work, args=(work, writer, arguments), daemon=True)
        with contextlib.chdir(CHECKOUT), reader, writer:
            _CONTEXT.set_forkserver_preload(_IMPORTED)
            self._process.start()
            self.said = os.fdopen(os.dup(reader.fileno()), "rb")

    @property
    def pid(self) -> int:
        """The process's number."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended."""
        return self._process.is_alive()

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it with SIGKILL; it must not have ended before."""
        self.send(signal.SIGKILL)
        self._process.join()
        assert self._process.exitcode == -signal.SIGKILL

    def unread(self) -> list[bytes]:
        """Return the whole lines that a killed process had said and that were not yet read."""
        with self.said:
            return [line for line in self.said if line.endswith(b"\n")]


def _work(work: Callable[..., None], writer: Any, arguments: tuple[object, ...]) -> None:
    """Do the work of a new process."""

    def say(line: str) -> None:
        os.write(writer.fileno(), f"{line}\n".encode())

    threading.Thread(target=_end_with_the_reader, args=(writer,), daemon=True).start()
    work(say, *arguments)


def _end_with_the_reader(writer: Any) -> None:
    """End the process when nobody can read what it says, as after the tests were killed."""
    poll = select.poll()
    poll.register(writer.fileno(), 0)
    poll.poll()
    os._exit(1)
