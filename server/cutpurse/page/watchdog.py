"""The watchdog of a page: it ends the page when the server is gone.

A page that a server started ends with that server's process. With a time limit, a page also ends when no server has
answered for that long. This module knows no page.
"""

from __future__ import annotations

import os
import threading
import time
from types import TracebackType
from typing import Final, Self

from cutpurse.engine.errors import CutpurseError
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.errors import ServerUnreachable
from cutpurse.wire.league import League

__all__ = ["ServerWatchdog"]

LOOK_S: Final = 1.0  # between two calls of the server


class ServerWatchdog:
    """A thread that checks regularly, during its `with` block, whether the server answers."""

    def __init__(
        self, league: League, patience_s: float | None, look_s: float = LOOK_S, *, parent: int | None = None
    ) -> None:
        """Create a watchdog; `with` starts it.

        Args:
            league: League of the server.
            patience_s: Seconds without an answer after which `is_over` is true. None: no limit, and no calls.
            look_s: Seconds between two calls.
            parent: Process ID of the parent; `is_over` is true after its end. None: do not check.
        """
        self._parent = parent
        self._league = league
        self._patience_s = patience_s
        self._look_s = look_s
        self._answered_at = time.monotonic()
        self._is_left = threading.Event()
        self._thread = threading.Thread(target=self._ask, name="patience", daemon=True)

    def is_over(self) -> bool:
        """Return whether the parent process has ended, or the server has not answered for too long."""
        if self._parent is not None and os.getppid() != self._parent:
            return True
        return self._patience_s is not None and time.monotonic() - self._answered_at >= self._patience_s

    def _ask(self) -> None:
        while not self._is_left.wait(self._look_s):
            try:
                self._league.ListLadders(ladder_pb2.ListLaddersRequest(game="none"))
            except ServerUnreachable:
                continue
            except CutpurseError:  # the server answers, with an error
                pass
            self._answered_at = time.monotonic()

    def __enter__(self) -> Self:
        if self._patience_s is not None:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_left.set()
        if self._thread.is_alive():
            self._thread.join()
