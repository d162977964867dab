"""The garbage collector of a process that is a server."""

from __future__ import annotations

import gc
import weakref

from cutpurse.server.hosting.garbage import THRESHOLDS, rarely_collected


class Circle:
    """Garbage that only the collector frees."""

    def __init__(self) -> None:
        self.itself = self


def collections() -> int:
    """How often the youngest objects were looked through so far."""
    count: int = gc.get_stats()[0]["collections"]
    return count


def test_the_collector_runs_rarely_and_still_frees_what_goes_in_circles() -> None:
    circle = weakref.ref(Circle())
    with rarely_collected():
        assert circle() is None  # what is garbage before is not kept for ever
        before, circle = collections(), weakref.ref(Circle())
        held = [[] for _ in range(THRESHOLDS[0] // 2)]  # type: ignore[var-annotated]
        assert collections() == before
        held += [[] for _ in range(THRESHOLDS[0])]
        assert collections() > before
        assert circle() is None


def test_a_process_that_is_no_server_any_more_has_its_collector_back() -> None:
    usual, frozen = gc.get_threshold(), gc.get_freeze_count()
    with rarely_collected():
        assert gc.get_threshold() == THRESHOLDS
        assert gc.get_freeze_count() > frozen
    assert gc.get_threshold() == usual
    assert gc.get_freeze_count() == frozen == 0
