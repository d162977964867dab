"""Awards of tournaments for the page: worked out once, one tournament at a time, while the page goes on.

A tournament that is over never changes, so its awards are cached. The matches are read as any visitor may read them.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from cutpurse.engine.errors import CutpurseError
from cutpurse.games.awards import Award, Awards
from cutpurse.page.league_client import Asking
from cutpurse.sdk.matches.award_matches import award_match, tournament_matches
from cutpurse.v1 import event_pb2

__all__ = ["MAX_MATCHES", "AwardWork"]

MAX_MATCHES: Final = 200  # of a tournament; each takes some hundredths of a second
MAX_CACHED: Final = 64  # tournaments
AGAIN_S: Final = 60.0  # after an error


@dataclass(slots=True)
class _Work:
    """The awards of a tournament, or when working them out failed."""

    awards: Sequence[Award] | None = None
    failed_at: float | None = None


class AwardWork:
    """The awards of tournaments. All methods can be called on any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, waits: bool = False) -> None:
        """Start without any; with `waits`, `get` works them out before it returns."""
        self._clock, self._waits = clock, waits
        self._work: OrderedDict[str, _Work] = OrderedDict()
        self._lock = threading.Lock()
        self._turn = threading.Lock()

    def get(self, event: event_pb2.EventShown, ask: Asking) -> Sequence[Award] | None:
        """Return the awards of a tournament that is over; None while they are worked out, empty if they cannot be.

        Args:
            event: The tournament, as the reader may see it.
            ask: Reads its matches.
        """
        matches = tournament_matches(event.tournament)
        if not matches or len(matches) > MAX_MATCHES:
            return ()
        with self._lock:
            work = self._work.get(event.event)
            if work is not None and work.failed_at is not None and self._clock() - work.failed_at >= AGAIN_S:
                work = None
            if work is not None:
                self._work.move_to_end(event.event)
                return () if work.failed_at is not None else work.awards
            work = self._work[event.event] = _Work()
            while len(self._work) > MAX_CACHED:
                self._work.popitem(last=False)
        if self._waits:
            self._run(work, matches, ask)
            return work.awards or ()
        threading.Thread(target=self._run, args=(work, matches, ask.only_now()), name="awards", daemon=True).start()
        return None

    def _run(self, work: _Work, matches: Sequence[str], ask: Asking) -> None:
        awards = Awards()
        with self._turn:
            try:
                for match in matches:
                    told = ask.match(match)
                    awards.add(award_match(told, ask.record_bytes(match) if told.has_record else b""))
                work.awards = awards.best()
            except CutpurseError:  # the server is away, or the results are hidden by now
                pass
            finally:
                if work.awards is None:
                    work.failed_at = self._clock()
