"""Every address of the page with everything that makes no sense: the right status, no trace, and never a 500."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import pytest
from starlette.testclient import TestClient

from cutpurse.page.api.endpoints import CALLS, PREFIX
from cutpurse.page.app import create_app
from cutpurse.page.league_client import Asking
from cutpurse.wire.league import league_at
from tests.page.leagues import SCRIPTS
from tests.roots import CHECKOUT

BAD: Final = (
    "nothing",
    "-1",
    "0",
    "99999999999999999999999999999999",
    "1e9",
    "NaN",
    "null",
    "true",
    "%00",
    "a%00b",
    "%ff%fe",
    "%c0%ae%c0%ae",
    "%ed%a0%80",
    "..",
    "%2e%2e",
    "..%2f..%2f..%2fetc%2fpasswd",
    "%2fetc%2fpasswd",
    "%5c%5cserver",
    "%3Cscript%3Ealert(1)%3C/script%3E",
    "%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E",
    "%7B%7B7*7%7D%7D",
    "%7B%25%20for%20x%20in%20y%20%25%7D",
    "'%20OR%20'1'='1",
    "%0d%0aSet-Cookie:%20a=b",
    "%E2%80%AEgnp",
    "%F0%9F%92%B0",
    "a" * 300,
    "%25s%25n",
    "*",
    "[]",
    "a;b",
    "a%26b=c",
    "\u00e9".encode("latin-1").hex(),
)
HEADERS: Final[tuple[list[tuple[bytes, bytes]], ...]] = (
    [(b"cookie", b'a=\xff\xfe; ="; ;;; =')],
    [(b"accept", b"\xff"), (b"accept-language", b"x" * 1_000)],
    [(b"if-none-match", b'"' * 500)],
    [(b"if-modified-since", b"yesterday"), (b"range", b"bytes=9-3")],
    [(b"accept-encoding", b"gzip;q=nothing, br, \xff")],
    [(b"authorization", b"Bearer \xff"), (b"x-forwarded-for", b"1.2.3.4\x7f")],
    [(b"last-event-id", b"\xff" * 50)],
    [(b"content-length", b"0"), (b"content-type", b"application/xml")],
)
TROUBLE: Final = re.compile(
    r"Traceback|File \"|\.py\b|site-packages|sqlite|jinja|starlette|pydantic|protobuf|"
    + "|".join(re.escape(f"{folder}{os.sep}") for folder in (CHECKOUT, tempfile.gettempdir()))
)


@pytest.fixture(scope="module")
def page(league_db: Path) -> Iterator[TestClient]:
    with league_at(db=league_db, as_stranger=True) as league:
        app = create_app(Asking(league, live=False), live=False)
        page = TestClient(app, base_url="http://arena.test", raise_server_exceptions=False, follow_redirects=False)
        with page:  # else each request starts an event loop
            yield page


def paths(page: TestClient) -> list[str]:
    """Those that the app answers, with places for what is asked; the longest of the API's by its description."""
    found = {PREFIX + call.path for call in CALLS} | {f"{PREFIX}/matches/{{match}}/record"}
    waiting: list[Any] = list(page.app.routes)  # type: ignore[attr-defined]  # it is a FastAPI
    while waiting:
        route = waiting.pop()
        router = getattr(route, "original_router", None)  # of those that were included
        waiting += router.routes if router is not None else ()
        if path := getattr(route, "path", ""):
            found.add(re.sub(r":path}", "}", path))
    assert {"/", "/matches/{match}", "/docs/{name}", f"{PREFIX}/openapi.json"} <= found
    return sorted(path for path in found if not path.startswith(("/streams/", "/seat/events")))


def sane(page: TestClient, path: str, method: str = "GET", headers: list[tuple[bytes, bytes]] | None = None) -> int:
    """The status of an answer that is as it has to be."""
    answer = page.request(method, path, headers=headers)
    status = int(answer.status_code)
    assert status in (200, 204, 304, 307, 308, 400, 403, 404, 405, 414, 431), (path, status)
    if status >= 400:
        is_document = answer.request.url.path.startswith("/api/")  # dots may have led away from it
        assert answer.headers["content-type"].startswith("application/problem+json" if is_document else "text/html")
        said = answer.json()["detail"] if is_document and method != "HEAD" else answer.text
        assert not TROUBLE.search(re.sub(r'"/[a-z]+/[^"]*"', "", said)), (path, said[:300])
    if answer.headers.get("content-type", "").startswith("text/html"):
        assert not any(script in answer.text for script in SCRIPTS[:2]), path
    assert "set-cookie" not in answer.headers
    return status


def test_every_place_of_every_path_with_everything(page: TestClient) -> None:
    tried = 0
    for template in paths(page):
        names = re.findall(r"{(\w+)}", template)
        for name in names:
            for bad in BAD:
                usual = {"ladder": "greed", "owner": "ann", "bot": "sneak", "game": "greed"}
                path = re.sub(r"{(\w+)}", lambda at: bad if at[1] == name else usual.get(at[1], "x"), template)  # noqa: B023
                sane(page, path)
                tried += 1
    assert tried > 15 * len(BAD)


QUERIES: Final = (
    "ladder",
    "bot",
    "event",
    "owner",
    "version",
    "day",
    "faulted",
    "before",
    "trail",
    "limit",
    "at",
    "seat",
    "view",
)


@pytest.mark.parametrize("name", [*QUERIES, "every_version", "since_ms", "page", ""])
def test_every_parameter_with_everything(page: TestClient, name: str) -> None:
    match = page.get(f"{PREFIX}/matches?limit=1&ladder=greed").json()["matches"][0]["match"]
    addresses = [
        *("/", "/matches", f"/matches/{match}", f"/matches/{match}/replay", "/ladders/greed", "/bots/ann/sneak"),
        *("/rules/greed", "/docs/reference/protocol", "/live", f"{PREFIX}/matches", f"{PREFIX}/ladders/greed/rankings"),
        *(
            "/ladders/greed/matches.csv",
            "/ladders/greed/head-to-head",
            f"{PREFIX}/ladders/greed/bots/ann/sneak/history",
        ),
    ]
    for address in addresses:
        for bad in BAD[::3] if address.endswith(("s", "greed")) else BAD[1::6]:
            sane(page, f"{address}?{name}={bad}")


def test_every_path_with_odd_headers_and_methods(page: TestClient) -> None:
    for template in paths(page):
        path = re.sub(r"{\w+}", "x", template)
        for headers in HEADERS:
            sane(page, path, headers=headers)
        for method in ("POST", "PUT", "DELETE", "PATCH", "TRACE", "BREW", "CONNECT"):
            # A form of a person is refused unless it comes from the page itself.
            refused = (403, 404, 405) if path.startswith(("/seat", "/play")) or path.endswith("/worst") else (404, 405)
            assert sane(page, path, method) in refused, (path, method)
        status = sane(page, path, "HEAD")
        assert status == page.get(path).status_code, path


def test_what_is_absurdly_long_is_refused_everywhere(page: TestClient) -> None:
    for template in paths(page):
        path = re.sub(r"{\w+}", "x", template)
        assert sane(page, f"{path}?q={'a' * 60_000}") == HTTPStatus.REQUEST_URI_TOO_LONG
        headers = [(b"cookie", b"a=" + b"b" * 60_000)]
        assert sane(page, path, headers=headers) == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
