"""The clients of the benchmark of the page: they read streams as browsers do, and play a seat."""

from __future__ import annotations

import asyncio
from contextlib import closing, suppress
from pathlib import Path

import pytest

from benchmarks.page_load.__main__ import errors, times
from benchmarks.page_load.http_connection import HttpConnection, ServerEvent, server_events
from benchmarks.page_load.people import Tables
from tests.looking import PATIENCE_S, until_so
from tests.page.people import HOUSE, people_page

PIECES = (
    b": here it comes\r\nretry: 1500\r\n\r\n",
    b'event: status\r\ndata: {"a": 1}\r\n',
    b"\r\nevent: over\r\nda",
    b"ta: {}\r\n\r\n",
)


async def test_events_are_read_however_they_are_cut_and_a_connection_is_used_again() -> None:
    requests: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(EOFError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                requests.append(head.splitlines()[0])
                if b"/seat/events" in head:
                    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                    writer.writelines(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in (*PIECES, b""))
                    return
                body = await reader.readexactly(3 if b"POST" in head else 0)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        page = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        events = [event async for event in server_events(page, "/seat/events", {})]
        http = HttpConnection(page)
        answers = [await http.send("/a", form="x=1"), await http.send("/b")]
        await http.close()
    assert events == [ServerEvent("status", '{"a": 1}'), ServerEvent("over", "{}")]
    assert [(one.status, one.body) for one in answers] == [(200, b"x=1"), (200, b"")]
    assert requests == [b"GET /seat/events HTTP/1.1", b"POST /a HTTP/1.1", b"GET /b HTTP/1.1"]


@pytest.mark.full
def test_people_sit_down_and_choose(tmp_path: Path) -> None:
    assert HOUSE == ("random", "greedy")  # the opponents that people ask for

    async def observed(page: str) -> dict[str, object]:
        tables = Tables()
        assert await tables.sit_down(page, 2, 0.01, PATIENCE_S) == {"seated": 2, "errors": []}
        seen = await tables.listen(1.0)
        took_s = seen["took_s"]
        assert isinstance(took_s, list)
        await until_so(lambda: len(took_s) > 1)  # later, where the machine is busy
        await tables.leave()
        return seen

    with people_page(tmp_path) as page:
        seen = asyncio.run(observed(page.address))
    assert seen["errors"] == []
    assert isinstance(seen["took_s"], list)
    assert all(0 < took_s < PATIENCE_S for took_s in seen["took_s"])


def test_figures_are_lines() -> None:
    assert times([0.010, 0.020, 0.030], "clicks") == "3 clicks, p50 20 ms, p95 30 ms, p99 30 ms"
    assert times([], "clicks") == "no clicks"
    assert errors({"errors": ["a", "b", "c", "d"]}) == "4 errors; a; b; c"
