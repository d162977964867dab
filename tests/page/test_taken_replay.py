"""A replay elsewhere: one file that opens without a server, and the only page that other sites may frame."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Page
from starlette.testclient import TestClient

from cutpurse.page.security_headers import FRAMED, HEADERS
from tests.page.browser import Watched
from tests.page.serving import page_of_file
from tests.page.test_every_page import judged, newest
from tests.typed import run


@pytest.fixture(scope="module")
def client(league_db: Path) -> Iterator[TestClient]:
    with page_of_file(league_db) as page:
        yield page


def match_of(client: TestClient, ladder: str) -> str:
    matches = client.get(f"/api/v1/matches?ladder={ladder}").json()["matches"]
    return str(min((one for one in matches if not one["void_cause"]), key=lambda one: one["decisions"])["match"])


def moment(page: Page, number: int) -> None:
    page.wait_for_selector(f'html[data-moment="{number}"]')


def test_a_file_steps_forward_and_back_without_a_request(
    watched: Watched, client: TestClient, league_db: Path, tmp_path: Path
) -> None:
    match, file = match_of(client, "szmal"), tmp_path / "match.html"
    command = ["match", "picture", match[:8], "--db", str(league_db), "--into", str(file)]
    said = run(*command).stderr
    assert f"{file.stat().st_size:,} bytes" in said
    assert "already exists" in run(*command).stderr
    page = watched.page()
    page.goto(file.as_uri())
    moment(page, 0)
    dealt = page.inner_text("#moment")
    for key, number in (("ArrowRight", 1), ("ArrowRight", 2), ("End", None), ("Home", 0)):
        page.keyboard.press(key)
        if number is None:
            page.wait_for_selector(".decided.over")
        else:
            moment(page, number)
    assert page.inner_text("#moment") == dealt
    assert page.locator("#proof .bad").count() == 0
    assert page.evaluate("document.fonts.check('700 20px Bitter')")
    assert re.findall(r'(?:href|src)="/[^"]*"', file.read_text(encoding="utf-8")) == []
    page.goto(f"{file.as_uri()}?at=20")
    page.wait_for_selector("#player[data-at='20'], #player[data-at='19']")
    assert watched.asked == [file.as_uri(), f"{file.as_uri()}?at=20"]


def test_the_page_offers_the_file_with_links_to_itself(client: TestClient) -> None:
    match = match_of(client, "szmal")
    (link,) = re.findall(
        r'href="([^"]+)" download>keep as one file', client.get(f"/matches/{match}/replay?seat=1").text
    )
    answer = client.get(link)
    assert answer.headers["content-disposition"] == f'attachment; filename="cutpurse-{match[:8]}.html"'
    assert f'href="http://arena.test/matches/{match}"' in answer.text
    assert 'data-viewer="1"' in answer.text
    assert "'unsafe-inline'" not in re.findall(r"script-src ([^;]+);", answer.text)[0]


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """Serve pages of another origin: called with an address, it returns that of a page which frames it."""

    def framing(address: str) -> str:
        frame = f'<iframe src="{address}" width="960" height="640"></iframe>'
        name = f"{len(list(tmp_path.iterdir()))}.html"
        (tmp_path / name).write_text(f'<!doctype html><link rel="icon" href="data:,">{frame}', encoding="utf-8")
        return f"http://127.0.0.1:{server.server_port}/{name}"

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(tmp_path))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield framing
        server.shutdown()
        thread.join()


class _Quiet(SimpleHTTPRequestHandler):
    """Sends files, and writes no log."""

    def log_message(self, *_: object) -> None:
        """Write nothing."""


def test_the_embed_alone_may_be_framed(
    watched: Watched, site: str, client: TestClient, elsewhere: Callable[[str], str]
) -> None:
    match = newest(site, "ladder=greed")
    page = watched.page(viewport={"width": 1000, "height": 700})
    page.goto(elsewhere(f"{site}/matches/{match}/embed?at=3"))
    frame = page.frames[1]
    frame.wait_for_selector('html[data-moment="3"]')
    frame.click('[data-go="on"]')
    frame.wait_for_selector('html[data-moment="4"]')
    assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert frame.locator(".site, .bottom, .after-table").count() == 0
    for path in (f"/matches/{match}/replay", f"/matches/{match}", "/"):
        page.goto(elsewhere(site + path))
        assert page.frames[1].locator("h1").count() == 0
        watched.forgive("frame-ancestors")
        headers = client.get(path).headers
        assert (headers["X-Frame-Options"], FRAMED in headers.values()) == ("DENY", False)
    headers = client.get(f"/matches/{match}/embed").headers
    assert headers["Content-Security-Policy"] == FRAMED
    assert {name for name in HEADERS if name not in headers} == {"X-Frame-Options"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_embed_can_be_read_by_anybody(watched: Watched, site: str, scheme: str) -> None:
    page = watched.page(color_scheme=scheme, viewport={"width": 390, "height": 640}, reduced_motion="reduce")
    page.goto(f"{site}/matches/{newest(site, 'ladder=bag_o_loot')}/embed?at=9")
    assert judged(page) == []
