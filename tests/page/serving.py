"""The page without a socket, on a fake league whose answers a test defines, or on a database."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.testclient import TestClient

from cutpurse.page.app import create_app
from cutpurse.page.league_client import Asking
from cutpurse.page.seat.seats import PageSeats
from cutpurse.wire.league import League, league_at

__all__ = ["app_of", "page_of", "page_of_file"]


def app_of(
    answers: Mapping[str, Callable[[Any], Any]],
    *,
    live: bool = True,
    bots_dial: str = "",
    seats: PageSeats | None = None,
) -> FastAPI:
    """Create the app on a fake league with answers by name of the call."""
    league = League(lambda name, request: answers[name](request))
    return create_app(Asking(league, live=live, keep_s=0.0), live=live, bots_dial=bots_dial, seats=seats)


def page_of(answers: Mapping[str, Callable[[Any], Any]], *, live: bool = True, bots_dial: str = "") -> TestClient:
    """Create the page on a fake league with answers by name of the call; an error of the page gives status 500."""
    app = app_of(answers, live=live, bots_dial=bots_dial)
    return TestClient(app, base_url="http://arena.test", raise_server_exceptions=False)


@contextmanager
def page_of_file(path: Path) -> Iterator[TestClient]:
    """Serve the page of a database file for the length of the block; an error of the page is raised."""
    with league_at(db=path, as_stranger=True) as league:
        app = create_app(Asking(league, live=False, keep_s=0.0), live=False)
        with TestClient(app, base_url="http://arena.test") as page:  # else each request starts an event loop
            yield page
