"""Pages of a server on which bots play: they move by themselves."""

from __future__ import annotations

import json
import socket
import urllib.request
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.looking import until
from tests.page.browser import Watched
from tests.page.leagues import LiveLeague
from tests.page.test_every_page import PHONE, judged, widest

# The title of the page of a match, and how many links lead to its table.
PLAYED = """address => [
    document.querySelector("h1").innerText, document.querySelectorAll(`a[href="${address}"]`).length
]"""
STANDINGS = "[...document.querySelectorAll('#moving tbody tr')].map(row => row.innerText).join('\\n')"


def test_the_rankings_move_without_a_reload(live: LiveLeague, page: Page) -> None:
    page.goto(f"{live.page}/ladders/greed")
    page.wait_for_function(f"() => {STANDINGS}.split('\\n').length > 4")
    page.evaluate("window.stillHere = true")
    seen = page.evaluate(STANDINGS)
    page.wait_for_function(f"before => {STANDINGS} !== before", arg=seen)
    assert page.evaluate("window.stillHere")
    names = "[...document.querySelectorAll('#moving tbody .bot')].map(one => one.innerText).join()"
    order = page.evaluate(names)
    page.wait_for_function(f"before => {names} !== before", arg=order)
    assert page.evaluate("window.stillHere")


@pytest.mark.parametrize("path", ["/", "/ladders/greed", "/bots/local/ann", "/live", "/live?ladder=greed", "/matches"])
def test_a_page_that_moves_can_be_read_by_anybody(live: LiveLeague, watched: Watched, path: str) -> None:
    for wishes in ({"color_scheme": "light"}, {"color_scheme": "dark", "viewport": PHONE}):
        page = watched.page(reduced_motion="reduce", **wishes)
        answer = page.goto(live.page + path)
        assert answer is not None
        assert answer.status == 200
        if path.startswith("/live?"):
            page.wait_for_selector("#moment [data-key]")
        assert judged(page) == []
        assert widest(page) == ""


def open_matches(live: LiveLeague) -> list[dict[str, Any]]:
    """List the matches that are being played."""
    with urllib.request.urlopen(f"{live.page}/api/v1/open-matches") as answer:
        return list(json.load(answer)["matches"])


def test_a_live_table_moves(live: LiveLeague, page: Page) -> None:
    ladders: list[str] = []

    def is_playing() -> bool:
        ladders.extend(match["ladder"] for match in open_matches(live))
        return bool(ladders)

    until(is_playing, "a match is being played")
    page.goto(f"{live.page}/live?ladder={ladders[0]}")
    page.wait_for_selector("#moment [data-key]")
    seen = page.inner_text("#moment")
    page.wait_for_function("before => document.querySelector('#moment').innerText !== before", arg=seen)


def test_a_match_that_is_being_played_leads_to_its_table_and_tells_its_end_by_itself(
    live: LiveLeague, page: Page
) -> None:
    met: list[str] = []

    def is_met() -> bool:
        for match in open_matches(live)[:1]:
            answer = page.goto(f"{live.page}/matches/{match['match']}")
            assert answer is not None
            assert answer.status == 200
            title, links = page.evaluate(PLAYED, f"/live/{match['match']}")  # at one moment: it may be over in the next
            if "is being played" in title:
                assert links == 1
                met.append(match["match"])
        return bool(met)

    until(is_met, "a match is met while it is being played")
    page.wait_for_selector("#seats")  # what the page of a match that is stored has
    assert page.inner_text("h1") == f"Match {met[0][:8]}"


def ask(address: str, request: bytes) -> bytes:
    """What a server answers to these bytes, as far as it comes before it hangs up or says nothing for a while."""
    host, _, port = address.removeprefix("http://").rpartition(":")
    with socket.create_connection((host, int(port)), timeout=240) as connection:
        connection.sendall(request)
        told = b""
        while piece := connection.recv(65_536):
            told += piece
        return told


@pytest.mark.parametrize(
    ("request_line", "statuses"),
    [
        (b"GET /matches?q=" + b"a" * 100_000 + b" HTTP/1.1", (400, 414, 431)),
        (b"GET /ladders/\xff\xfe HTTP/1.1", (400, 404)),
        (b"GET /ladders/\x00 HTTP/1.1", (400, 404)),
        (b"GET /../../etc/passwd HTTP/1.1", (404,)),
        (b"GET http://elsewhere/ HTTP/1.1", (200, 400, 404)),
        (b"GET * HTTP/1.1", (400, 404)),
        (b"BREW / HTTP/1.1", (405,)),
        (b"GET /", (400,)),
        (b"\x16\x03\x01\x02\x00", (400,)),
        (b"GET /api/v1/matches?limit=\xff HTTP/1.1", (400,)),
        (b"GET / HTTP/1.1\r\nCookie: \xff\xfe;;=\x01", (200, 400)),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b", (200, 400)),
        (b"POST /api/v1/ladders HTTP/1.1\r\nContent-Length: 99999999999", (400, 405)),
    ],
)
def test_odd_bytes_are_answered_with_the_right_status(
    live: LiveLeague, request_line: bytes, statuses: tuple[int, ...]
) -> None:
    told = ask(live.page, request_line + b"\r\nHost: arena.test\r\nConnection: close\r\n\r\n")
    assert told.startswith(b"HTTP/1.1 "), told[:200]
    assert int(told[9:12]) in statuses, told[:300]
    assert b"Traceback" not in told
    assert urllib.request.urlopen(f"{live.page}/healthz").read() == b"alive\n"
