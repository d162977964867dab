"""What every page has: headers, errors as pages, static files that may be kept for ever."""

from __future__ import annotations

import asyncio
import re
import threading
from typing import Any

import httpx
import pytest

from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.page.security_headers import HEADERS, MOST_HEADER_BYTES, MOST_TARGET_BYTES
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.errors import NotAuthorised, NotFound, ServerRefused, ServerUnreachable
from tests.page.serving import app_of, page_of

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=y>"


def _nothing(request: Any) -> Any:
    kind = type(request).__name__.replace("Request", "Response")
    return getattr(ladder_pb2, kind)()


EMPTY = dict.fromkeys(("ListLadders", "ListRankings", "ListMatches", "ListOpenMatches", "ListBots"), _nothing)


def _failing(problem: Exception) -> Any:
    def answer(request: Any) -> Any:
        raise problem

    return answer


def test_every_answer_carries_the_headers_and_no_cookie() -> None:
    page = page_of(EMPTY)
    for path in ("/", "/nowhere", "/robots.txt", "/healthz", f"/?{'x' * 5_000}"):
        answer = page.get(path)
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS, path
        assert "set-cookie" not in answer.headers
    policy = HEADERS["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


def test_no_page_has_a_script_or_a_style_of_its_own() -> None:
    page = page_of(EMPTY)
    for path in ("/", "/nowhere"):
        text = page.get(path).text
        assert re.findall(r"<script(?![^>]* src=)", text) == []
        assert re.findall(r"<style|\sstyle=|\son[a-z]+=|javascript:", text) == []


def test_static_files_may_be_kept_for_ever_under_a_name_of_their_bytes() -> None:
    page = page_of(EMPTY)
    addresses = re.findall(r'"(/static/[^"]+)"', page.get("/").text)
    assert {address.rpartition(".")[2] for address in addresses} == {"css", "js", "svg", "woff2"}
    for address in addresses:
        assert re.fullmatch(r"/static/[a-z0-9/-]+\.[0-9a-f]{12}\.[a-z0-9]+", address)
        answer = page.get(address)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
    assert page.get("/static/style.css").status_code == 404
    assert page.get("/static/../app.py").status_code == 404
    assert page.get("/static/%2e%2e/app.py").status_code == 404


@pytest.mark.parametrize(
    ("problem", "status"),
    [
        (NotFound("the server at 127.0.0.1:7777: there is no ladder x"), 404),
        (UsageError("the server at 127.0.0.1:7777: that makes no sense"), 400),
        (NotAuthorised("the server at 127.0.0.1:7777: not yours"), 403),
        (ServerUnreachable("the server at 127.0.0.1:7777: refused"), 503),
        (ServerRefused("the server at 127.0.0.1:7777: a secret of ours"), 503),
        (CutpurseError("the leaderboard /srv/league.db: disk I/O error"), 503),
        (ValueError("a secret of ours"), 500),
    ],
)
def test_what_a_league_refuses_is_a_page_with_the_right_status(problem: Exception, status: int) -> None:
    answer = page_of({**EMPTY, "ListLadders": _failing(problem)}).get("/")
    assert answer.status_code == status
    assert "<h1>" in answer.text
    assert not re.search(r"127\.0\.0\.1|/srv/|secret|Traceback|Error", answer.text)
    assert answer.headers.get("retry-after") == ("5" if status == 503 else None)


def test_below_the_api_it_is_a_document() -> None:
    answer = page_of(EMPTY).get("/api/v1/nowhere")
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
    assert answer.json()["status"] == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"])
def test_pages_can_only_be_read(method: str) -> None:
    answer = page_of(EMPTY).request(method, "/", content=b"x" * 100_000)
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")


def test_a_head_is_answered_as_a_get_without_its_body() -> None:
    answer = page_of(EMPTY).head("/")
    assert (answer.status_code, answer.text) == (200, "")


def test_what_is_absurdly_long_is_refused() -> None:
    page = page_of(EMPTY)
    assert page.get("/?" + "x" * (MOST_TARGET_BYTES - 1)).status_code == 200
    assert page.get("/?" + "x" * MOST_TARGET_BYTES).status_code == 414
    assert page.get("/", headers={"x-much": "y" * MOST_HEADER_BYTES}).status_code == 431


@pytest.mark.parametrize(
    "path", ["/ladders/%00", "/ladders/%ff%fe", "/bots/a/%2e%2e%2f", "/ladders/%3Cscript%3E", "/%"]
)
def test_odd_paths_are_not_found(path: str) -> None:
    answer = page_of(EMPTY).get(path, headers=[(b"cookie", b'\xff=;;;="'), (b"accept", b"*/\xfe")])
    assert answer.status_code == 404
    assert "<script>" not in answer.text


def test_every_name_is_shown_as_text() -> None:
    ladder = ladder_pb2.LadderShown(defined=ladder_pb2.LadderDefined(name=HOSTILE, game=HOSTILE, seats=2))
    leader = ladder_pb2.Ranking(bot=ladder_pb2.BotName(owner=HOSTILE, bot=HOSTILE, version=HOSTILE), place=1)
    page = page_of(
        {
            **EMPTY,
            "ListLadders": lambda _: ladder_pb2.ListLaddersResponse(ladders=[ladder]),
            "ListRankings": lambda _: ladder_pb2.ListRankingsResponse(rankings=[leader]),
        }
    )
    text = page.get("/").text
    assert "&lt;script&gt;alert(1)" in text
    assert "<script>alert" not in text
    assert "<img src=x" not in text


async def test_while_the_league_hangs_files_and_the_probe_are_answered() -> None:
    may_answer = threading.Event()

    def hangs(request: Any) -> Any:
        assert may_answer.wait(240)
        return _nothing(request)

    app = app_of({**EMPTY, "ListLadders": hangs})
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://arena.test") as client:
        waiting = [asyncio.create_task(client.get(f"/ladders/l{number}")) for number in range(60)]
        for path in ("/healthz", "/robots.txt", "/nowhere"):
            assert (await asyncio.wait_for(client.get(path), 240)).status_code in (200, 404)
        assert not any(task.done() for task in waiting)
        may_answer.set()
        assert {(await task).status_code for task in waiting} == {404}
