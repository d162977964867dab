"""When a page is to end: a page that a server started for itself goes when that process does, and no sooner.

With a time limit, a page ends too once no server has answered for so long. This module knows no page; it asks a league
on a thread of its own.
"""

from __future__ import annotations

import os
import threading
import time
from types import TracebackType
from typing import Final, Self

from cutpurse.engine.errors import CutpurseError
from cutpurse.sdk.errors import ServerUnreachable
from cutpurse.sdk.league import League
from cutpurse.v1 import ladder_pb2

__all__ = ["ServerWatchdog"]

LOOK_S: Final = 1.0  # between questions


class ServerWatchdog:
    """Asks now and then, from `with` on until its block is left, whether there is a server."""

    def __init__(
        self, league: League, patience_s: float | None, look_s: float = LOOK_S, *, parent: int | None = None
    ) -> None:
        """Wait for nothing yet.

        Args:
            league: What is asked whether it answers.
            patience_s: Seconds without an answer after which it `is_over`; None: any number, and nothing is asked.
            look_s: Seconds between two questions.
            parent: Number of the process that started this one, with whose end it `is_over`; None: any.
        """
        self._parent = parent
        self._league = league
        self._patience_s = patience_s
        self._look_s = look_s
        self._answered_at = time.monotonic()
        self._is_left = threading.Event()
        self._thread = threading.Thread(target=self._ask, name="patience", daemon=True)

    def is_over(self) -> bool:
        """Whether the process that started this one has ended, or nobody has answered for too long."""
        if self._parent is not None and os.getppid() != self._parent:
            return True
        return self._patience_s is not None and time.monotonic() - self._answered_at >= self._patience_s

    def _ask(self) -> None:
        while not self._is_left.wait(self._look_s):
            try:
                self._league.ListLadders(ladder_pb2.ListLaddersRequest(game="none"))
            except ServerUnreachable:
                continue
            except CutpurseError:  # it is there, and in trouble
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
