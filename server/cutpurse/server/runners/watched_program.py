"""What a process and a container have in common: a program that one thread watches, and any thread may ask about."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod

from cutpurse.process.own_time import OwnTime
from cutpurse.server.runners.output_log import read_talk
from cutpurse.server.runners.port import Cause, ExitStatus, ProgramSpec, ResourceUse

__all__ = ["WatchedProgram"]


class WatchedProgram(ABC):
    """A `Running` program whose thread sets `_ended`, and then `_over`."""

    def __init__(self, task: ProgramSpec) -> None:
        self._task = task
        self._why: Cause | None = None  # why the server ends it
        self._used = ResourceUse(0.0, 0)
        self._ended: ExitStatus | None = None
        self._over = threading.Event()

    @property
    @abstractmethod
    def pid(self) -> int:
        """ID of the process that stands for the program on this machine; `NO_PROCESS` if there is none."""

    def ended(self) -> ExitStatus | None:
        """Return how the program ended; None while it runs."""
        return self._ended

    def wait(self, seconds: float | None = None) -> ExitStatus | None:
        """Wait for the program to end, at most `seconds` of own time. Return how it ended; None if it still runs."""
        if seconds is None:
            self._over.wait()
        else:
            any(self._over.wait(pause_s) for pause_s in OwnTime(self.pid).pauses(seconds))
        return self._ended

    def talk(self) -> str:
        """Return the newest output of the program."""
        return read_talk(self._task.talk, self._task.limits.talk_bytes)

    def stop(self, grace_s: float = 2.0) -> ExitStatus:
        """Ask the program to end, and kill it after `grace_s` seconds of its own time. Return how it ended."""
        if self._ended is None:
            self._why = self._why or "stopped"
            if grace_s > 0:
                self._ask_to_end()
                self.wait(grace_s)
            if not self._over.is_set():
                self._kill()
                self._over.wait()
        assert self._ended is not None
        return self._ended

    @abstractmethod
    def _ask_to_end(self) -> None:
        """Ask the program to end by itself."""

    @abstractmethod
    def _kill(self) -> None:
        """End the program and all its processes."""
