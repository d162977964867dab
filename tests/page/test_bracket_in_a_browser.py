"""A bracket in a browser: read by anybody, on a phone too, and renewed while it is open."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import uvicorn

from cutpurse.leaderboard import tournaments
from cutpurse.leaderboard.events import EventEntry
from cutpurse.leaderboard.formats.brackets import DOUBLE_ELIMINATION
from cutpurse.leaderboard.ladders import ensure_ladder
from cutpurse.leaderboard.owner_registry import ensure_version
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tournaments import TournamentBoardEntry
from cutpurse.page.app import create_app
from cutpurse.page.league_client import Asking
from cutpurse.server.hosting.page import listening_socket
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.parts.events.tournament_rules import TournamentPlan
from cutpurse.wire.league import league_at
from tests.page.browser import Watched
from tests.page.test_every_page import judged, widest

BOTS = tuple(Identity("ann", f"bot{number}", "1") for number in range(13))
NAME = "0123456789ab"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store with a double elimination of thirteen bots that has just begun."""
    with Store(tmp_path / "league.db") as store:
        store.write(ensure_ladder, Ladder("duel", "greed", 2).kept)
        for bot in BOTS:
            store.write(ensure_version, *bot)
        plan = TournamentPlan("duel", DOUBLE_ELIMINATION, 1, BOTS)
        store.write(tournaments.start, EventEntry(NAME, "duel", "root", plan.text, datetime.now(UTC)), 9)
        yield store


@pytest.fixture
def site(store: Store, tmp_path: Path) -> Iterator[str]:
    """The address of a page of this store."""
    with league_at(db=tmp_path / "league.db", as_stranger=True) as league:
        listening, address = listening_socket("127.0.0.1:0")
        app = create_app(Asking(league, live=False, keep_s=0.0), live=False)
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        with listening:
            thread.start()
            yield f"http://{address}"
            server.should_exit = True
            thread.join()


def test_a_bracket_is_renewed_where_the_reader_is(store: Store, site: str, watched: Watched) -> None:
    page = watched.page(viewport={"width": 800, "height": 700}, reduced_motion="reduce")
    page.goto(f"{site}/events/{NAME}")
    lane = page.get_by_role("group", name="Losers' bracket")
    lane.evaluate("lane => { lane.focus(); lane.scrollLeft = 120; }")
    seeds = page.locator(".duel-card", has_text="ann/bot7:1")
    assert "won" not in seeds.first.inner_text()
    store.write(tournaments.put_board, NAME, TournamentBoardEntry(1, 0, "match0001", "10"))
    page.locator(".duel-card .won", has_text="ann/bot7:1").first.wait_for()
    assert lane.evaluate("lane => [lane.scrollLeft, document.activeElement === lane]") == [120, True]
    assert judged(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_bracket_is_read_on_a_phone(site: str, watched: Watched, scheme: str) -> None:
    page = watched.page(viewport={"width": 360, "height": 700}, color_scheme=scheme, reduced_motion="reduce")
    page.goto(f"{site}/events/{NAME}")
    assert widest(page) == ""
    assert judged(page) == []
    lane = page.get_by_role("group", name="Winners' bracket")
    assert lane.evaluate("lane => lane.scrollWidth <= lane.clientWidth"), "rounds stand below each other"
    assert lane.get_by_role("heading", name="Round 2").is_visible()
    assert lane.get_by_role("listitem").count() == 4 + 8 + 4 + 2 + 1
