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


def test_what_rises_is_told_of_a_run_that_is_long() -> None:
    rising = [replace(row, server_mib=row.server_mib + 3 * row.minute) for row in FLAT]
    assert slopes(rising)["server_mib"] == pytest.approx(180.0)
    (told,) = verdict(rising)
    assert told.startswith("server_mib rises by 180.0 an hour; ")
    assert verdict(rising[:3]) == []


def test_what_is_too_much_in_any_line_is_told() -> None:
    (told,) = verdict([*FLAT, replace(FLAT[0], log_mib=2.0)])
    assert told == "log_mib is 2.0 at minute 5; 1 may be"
