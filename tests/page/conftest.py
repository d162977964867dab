"""The fixtures of the page's tests: a browser, leagues, and the page on them.

Each test module has its own browser, because its driver uses the thread's event loop while it runs, so that tests that
are coroutines cannot.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.page.browser import Watched, chromium
from tests.page.leagues import LiveLeague, league_file, live_league, page_process
from tests.parts.submissions.conftest import short
from tests.server.conftest import world

__all__ = ["browser", "league_db", "live", "page", "short", "site", "watched", "world"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Run a browser without a window."""
    with chromium() as opened:
        yield opened


@pytest.fixture
def watched(browser: Browser) -> Iterator[Watched]:
    """Yield the browser, and fail the test for violations by pages."""
    watched = Watched(browser)
    try:
        yield watched
    finally:
        watched.close()
    assert watched.trouble == []


@pytest.fixture
def page(watched: Watched) -> Page:
    """Open a page of 1280 by 720 in light colours."""
    return watched.page()


@pytest.fixture(scope="session")
def league_db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a read-only database with matches of two days, see `league_file`.

    One test process plays the matches, and each process gets a copy.
    """
    mine = tmp_path_factory.mktemp("league")
    shared = tmp_path_factory.getbasetemp().parent if os.environ.get("PYTEST_XDIST_WORKER") else mine
    with (shared / "league.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (played := shared / "played.db").exists():
            league_file(shared / "playing.db").rename(played)
    return Path(shutil.copy(played, mine / "league.db"))


@pytest.fixture(scope="session")
def site(league_db: Path) -> Iterator[str]:
    """Run a process that serves the pages of that database; yield its address, like "http://127.0.0.1:40001"."""
    with page_process(league_db) as address:
        yield address


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveLeague]:
    """Run a server with its page and bots."""
    with live_league(tmp_path_factory.mktemp("live")) as league:
        yield league
