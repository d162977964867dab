"""The hostile hour in seconds, and that its verdict can be a bad one."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.hostile.siege import Figures, Plan, Siege, slopes, verdict

FLAT = [Figures(minute, 150.0, 90.0, 80.0, 30.0, 0.1, 40.0, 12.0, 80.0, 60.0, 90.0) for minute in range(5, 65, 5)]


@pytest.fixture
def folder() -> Iterator[Path]:
    """One whose path is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="siege-") as name:
        yield Path(name)


async def test_a_siege_tells_what_everybody_did(folder: Path) -> None:
    kinds = ("refused", "half", "streams", "loop", "mute")
    siege = Siege(Plan(samples=20, kinds=kinds), folder)
    besieging = asyncio.create_task(siege.run())
    while not siege.ended or min(siege.done[kind] for kind in kinds) == 0:
        siege.news.clear()
        await siege.news.wait()
    siege.end()
    await besieging
    (row,) = siege.rows
    assert row.server_mib > 2 < row.page_mib
    assert row.server_fds > 2 < row.page_fds
    assert row.turns > 0
    assert siege.ended["normal"] == siege.ended.total()
    assert not [text for text in siege.wrong if "has ended" in text or "broke" in text or "exit code" in text]


def test_what_is_flat_is_well() -> None:
    assert verdict(FLAT) == []
    assert max(slopes(FLAT).values()) == pytest.approx(0.0)


@pytest.mark.parametrize("name", ["server_mib", "server_fds", "page_mib", "page_fds", "turn_p99_ms", "home_ms"])
def test_what_rises_is_told_of_a_run_that_is_long(name: str) -> None:
    rising = [replace(row, **{name: getattr(row, name) + 3 * row.minute}) for row in FLAT]
    assert slopes(rising)[name] == pytest.approx(180.0)
    (told,) = verdict(rising)
    assert told.startswith(f"{name} rises by 180.0 an hour; ")
    assert verdict(rising[:3]) == []


def test_a_log_that_grows_faster_and_faster_is_told() -> None:
    rising = [replace(row, log_mib=0.012 * row.minute) for row in FLAT]
    assert verdict(rising) == ["log_mib rises by 0.7 an hour; 0.5 may be"]


@pytest.mark.parametrize(("name", "most"), [("log_mib", 1), ("server_fds", 2_000), ("home_ms", 1_000)])
def test_what_is_too_much_in_any_line_is_told(name: str, most: int) -> None:
    (told,) = verdict([*FLAT, replace(FLAT[0], **{name: most + 1.0})])
    assert told == f"{name} is {most + 1:.1f} at minute 5; {most} may be"
