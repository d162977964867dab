"""Large files: two at a time, made while they are sent, and nobody holds one up for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.exceptions import HTTPException

from cutpurse.page.downloads import MAX_AT_ONCE, Downloads
from cutpurse.v1 import ladder_pb2
from tests.page.serving import page_of

SCOPE: dict[str, Any] = {"type": "http", "method": "GET", "path": "/", "headers": []}


class Reader:
    """Takes what is sent, unless it is told to stop."""

    def __init__(self) -> None:
        self.got = bytearray()
        self.reads = asyncio.Event()
        self.reads.set()

    async def send(self, message: Any) -> None:
        await self.reads.wait()
        self.got += message.get("body", b"")

    async def receive(self) -> Any:
        await asyncio.Event().wait()


def pieces() -> Iterator[bytes]:
    yield from (b"one", b"two")


async def test_two_are_sent_at_a_time_and_the_rest_are_told_to_come_again() -> None:
    downloads = Downloads()
    answers = [downloads.response(pieces, "text/csv", {}) for _ in range(MAX_AT_ONCE)]
    with pytest.raises(HTTPException, match="2 tables are being downloaded already") as refused:
        downloads.response(pieces, "text/csv", {})
    assert refused.value.status_code == 503
    reader = Reader()
    await answers[0](SCOPE, reader.receive, reader.send)
    assert reader.got == b"onetwo"
    downloads.response(pieces, "text/csv", {})
    with pytest.raises(HTTPException):
        downloads.response(pieces, "text/csv", {})


async def test_a_reader_who_takes_nothing_is_let_go() -> None:
    downloads, reader = Downloads(unread_s=0.0), Reader()
    reader.reads.clear()
    for _ in range(MAX_AT_ONCE + 1):
        with pytest.raises((TimeoutError, ExceptionGroup)):
            await downloads.response(pieces, "text/csv", {})(SCOPE, reader.receive, reader.send)


def test_one_that_fails_at_once_leaves_its_place() -> None:
    def broken() -> Iterator[bytes]:
        raise ValueError("broke")

    downloads = Downloads()
    for _ in range(MAX_AT_ONCE + 1):
        with pytest.raises(ValueError, match="broke"):
            downloads.response(broken, "text/csv", {})


def test_the_page_refuses_a_third_table_with_a_time_to_come_again() -> None:
    ladders = ladder_pb2.ListLaddersResponse(
        ladders=[ladder_pb2.LadderShown(defined=ladder_pb2.LadderDefined(name="it", game="greed", seats=2))]
    )
    page = page_of({"ListLadders": lambda _: ladders, "ListMatches": lambda _: ladder_pb2.ListMatchesResponse()})
    downloads: Any = page.app.state.downloads  # type: ignore[attr-defined]
    sent = [downloads.response(pieces, "text/csv", {}) for _ in range(MAX_AT_ONCE)]
    refused = page.get("/ladders/it/matches.csv")
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
    assert "2 tables are being downloaded already" in refused.text
    assert page.head("/ladders/it/matches.csv").status_code == 200  # which sends nothing
    for one in sent:
        one._over()
    assert page.get("/ladders/it/matches.csv").text.count("\n") == 1
