"""What the length of a window tells about hands: nothing that time alone could show.

`Window`s are timed by the players who opened them, on a real server over real sockets.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.timing.windows import Distinguished, Pace, distinguish, played_windows

MOST_AUC = 0.55
LEAST_WINDOWS = 2_000
ERRORS = 4  # standard errors that chance explains in the short run: more come once in 15,000 runs
SHORT = 0.25  # of the thinking times of the long run

LONGER = 0.6  # of these times where a difference is to be found: on a busy machine all turns come some 10 ms late

FAULTS = {"answered at once": Pace(LONGER, hides_time=False), "not asked": Pace(LONGER, asks_all=False)}


async def _told_by_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch, pace: Pace, matches: int, trios: int
) -> list[Distinguished]:
    return distinguish(await played_windows(folder, monkeypatch, pace, matches, trios))


async def test_time_does_not_tell_who_had_a_choice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for told in await _told_by_time(tmp_path, monkeypatch, Pace(SHORT), matches=3, trios=4):
        assert told.with_choice + told.without > 200
        assert told.auc < 0.5 + ERRORS * told.error


@pytest.mark.parametrize("fault", FAULTS)
async def test_the_planted_fault_is_found(fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told, _ = await _told_by_time(tmp_path, monkeypatch, FAULTS[fault], matches=2, trios=4)
    assert told.auc > max(0.75, 0.5 + ERRORS * told.error)


@pytest.mark.soak
@pytest.mark.timeout(900)
async def test_time_does_not_tell_who_had_a_choice_in_2000_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for told in await _told_by_time(tmp_path, monkeypatch, Pace(), matches=12, trios=12):
        assert told.with_choice + told.without >= LEAST_WINDOWS
        assert told.auc <= MOST_AUC
