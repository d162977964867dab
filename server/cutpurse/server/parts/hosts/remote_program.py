"""A bot that runs at a place, as the server knows it: what the place has sent about it.

Its output is logged on the server as that of any other bot, within the same limits, since a place is another machine.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from cutpurse.process.own_time import NO_PROCESS
from cutpurse.server.runners.output_log import OutputLog
from cutpurse.server.runners.port import Cause, ExitStatus, ProgramSpec, ResourceUse
from cutpurse.server.runners.watched_program import WatchedProgram

__all__ = ["RemoteProgram"]

STOP_MS: Final = 2_000  # for the bot to end by itself; the place kills it then
KILL_S: Final = 10.0  # for the place to report the end of a bot that it has to kill


class RemoteProgram(WatchedProgram):
    """A `Running` bot at a place. Its methods are thread-safe; none of them waits for the place, except `stop`."""

    def __init__(
        self, number: int, task: ProgramSpec, started_at: float, ask_to_stop: Callable[[int, int], None]
    ) -> None:
        """Log the output of a bot that will be started.

        Args:
            number: Names the bot between server and place.
            task: The bot.
            started_at: Time on the clock of `Places`.
            ask_to_stop: Tells the place to stop the bot with this number; the second argument is the grace in ms.

        Raises:
            OSError: If the disk fails.
        """
        super().__init__(task)
        self.number = number
        self.folder = task.folder
        self.cpu_cores = task.limits.cpu_cores
        self.ladders = task.ladders
        self.memory = task.memory
        self.moves_because = ""  # why it is stopped here, to be started at another place
        self.started_at = started_at
        self._ask_place_to_stop = ask_to_stop
        self._output = OutputLog(task.talk, task.limits.talk_bytes_per_s, task.limits.talk_bytes, time.monotonic())
        self._lock = threading.Lock()  # guards the end, which several threads may report

    @property
    def pid(self) -> int:
        """No process of this machine."""
        return NO_PROCESS

    def use(self) -> ResourceUse:
        """Return the usage that the place has reported last."""
        return self._used

    # -- what the place sends
    def set_use(self, use: ResourceUse) -> None:
        """Store the usage so far; it never decreases."""
        self._used = ResourceUse(max(self._used.cpu_s, use.cpu_s), max(self._used.peak_bytes, use.peak_bytes))

    def log_output(self, text: str) -> None:
        """Log new output, within the bot's limits."""
        data = text.encode()
        with self._lock, suppress(OSError):  # a full disk must not stop the bot
            if self._ended is None and len(data) <= self._output.room(time.monotonic()):
                self._output.take(data)
            else:
                self._output.leave_out(len(data))

    def end(self, cause: Cause, code: int | None, text: str) -> None:
        """Note how the bot ended; the first end counts. A bot that moves is 'lost' here, so it is started elsewhere."""
        if self.moves_because and cause in ("stopped", "exited", "signal"):
            cause, code, text = "lost", None, f"it moves to another place: {self.moves_because}"
        with self._lock:
            if self._ended is not None:
                return
            with suppress(OSError):
                self._output.close()
            self._ended = ExitStatus(cause, code, self._used, text)
        self._over.set()

    # -- `WatchedProgram`
    def _ask_to_end(self) -> None:
        self._ask_place_to_stop(self.number, STOP_MS)

    def _kill(self) -> None:
        self._ask_place_to_stop(self.number, 0)
        if not self._over.wait(KILL_S):
            self.end("stopped", None, "it was stopped; its place did not say how it ended")
