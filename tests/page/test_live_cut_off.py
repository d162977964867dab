"""A browser that goes at any moment of a live stream is no reader any more, and what it looked at is let go."""

from __future__ import annotations

import asyncio
import io
import socket
import threading
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest
from fastapi import Request, Response
from sse_starlette.sse import EventSourceResponse
from starlette.types import Message

from cutpurse.page.app import create_app, end_streams
from cutpurse.page.event_broadcast import EventBroadcaster
from cutpurse.page.league_client import Asking
from cutpurse.page.match_view.live_feed import Watches
from cutpurse.page.pages import live
from cutpurse.page.serving import serve_page
from cutpurse.page.stream_shares import StreamShares
from cutpurse.server.hosting.page import listening_socket
from cutpurse.server.logs import capture_library_logs, logger
from cutpurse.wire.errors import ServerRefused
from cutpurse.wire.league import League
from tests.page.test_frame import EMPTY
from tests.page.test_live_tables import Stream
from tests.server.moments import end_at_every_moment

TURNS = 30  # in which all is told that there is at first


class Browser:
    """Asks for a stream, takes a turn for each piece of it, and goes; `by_word`: the server of HTTP says so."""

    def __init__(self, answer: Callable[[Request], Any], readers: Callable[[], int], *, by_word: bool) -> None:
        self.task: asyncio.Task[None] | None = None
        self._answer = answer
        self._readers = readers
        self._by_word = by_word
        self._is_gone = asyncio.Event()
        self.scope: dict[str, Any] = {"type": "http", "method": "GET", "client": ("127.0.0.1", 1)}

    async def course(self) -> None:
        self.task = asyncio.get_running_loop().create_task(self._ask())
        await asyncio.wait([self.task])

    async def _ask(self) -> None:
        response: Response = await self._answer(Request(self.scope))
        await response(self.scope, self._receive, self._send)

    async def _receive(self) -> Message:
        await self._is_gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, _message: Message) -> None:
        """As behind an earlier answer that was not read to its end."""
        await asyncio.sleep(0)

    def end(self) -> None:
        if self._by_word or self.task is None:
            self._is_gone.set()
        else:
            self.task.cancel()

    def check(self) -> None:
        assert self.task is None or self.task.done()
        assert self._readers() == 0


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread that takes its time, and no task of a library that stays for all streams of the loop."""

    async def at_once(work: Callable[..., Any], *given: Any) -> Any:
        await asyncio.sleep(0)
        return work(*given)

    async def for_ever(_response: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(live, "run_in_threadpool", at_once)
    monkeypatch.setattr("cutpurse.page.event_broadcast.run_in_threadpool", at_once)
    monkeypatch.setattr(EventSourceResponse, "_listen_for_exit_signal_with_grace", for_ever)


@pytest.mark.parametrize("by_word", [True, False])
async def test_a_browser_that_goes_at_any_moment_of_a_live_table_is_no_reader(by_word: bool) -> None:
    def scene() -> Browser:
        watches, stream = Watches(), Stream()
        matches = SimpleNamespace(matches=[])
        ask = cast(
            "Any",
            SimpleNamespace(live=True, watch=lambda match, ladder: stream, open_matches=lambda ladder: matches),
        )

        def readers() -> int:
            count = watches.readers
            watches.close()  # what is followed would be let go some seconds later
            return count

        browser = Browser(lambda request: live.events(request, ask, ladder="duel"), readers, by_word=by_word)
        browser.scope["app"] = SimpleNamespace(state=SimpleNamespace(watches=watches, stream_shares=StreamShares()))
        return browser

    assert await end_at_every_moment(scene, TURNS) == TURNS  # nothing ends it but the browser


@pytest.mark.parametrize("by_word", [True, False])
async def test_a_browser_that_goes_at_any_moment_of_news_is_no_listener(by_word: bool) -> None:
    def scene() -> Browser:
        news = EventBroadcaster()

        async def answer(_request: Request) -> Response:
            return news.response("topic", lambda: "text")

        return Browser(answer, lambda: news.listeners, by_word=by_word)

    assert await end_at_every_moment(scene, TURNS) == TURNS


async def test_a_table_for_which_there_is_no_thread_leaves_no_task(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    watches = Watches()
    with pytest.raises(RuntimeError, match="can't start new thread"):
        watches.join("", "duel", Stream())
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert watches.readers == 0


@pytest.mark.parametrize("path", ["/streams/home", "/streams/live?ladder=duel"])
def test_a_stream_comes_to_its_end_as_the_page_stops_and_nobody_is_told_of_an_error(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said, is_over = io.StringIO(), threading.Event()
    capture_library_logs(logger(said))
    ask = Asking(League(lambda name, request: EMPTY[name](request)))
    monkeypatch.setattr(ask, "watch", lambda match, ladder: Stream())
    app = create_app(ask, live=True)
    listening, _ = listening_socket("127.0.0.1:0")
    page = threading.Thread(target=serve_page, args=(app, listening, is_over.is_set, partial(end_streams, app)))
    page.start()
    with socket.create_connection(listening.getsockname(), timeout=240) as browser:
        browser.sendall(f"GET {path} HTTP/1.1\r\nhost: arena.test\r\n\r\n".encode())
        told = b""
        while b"retry: " not in told:
            told += browser.recv(65_536)
        is_over.set()
        while piece := browser.recv(65_536):
            told += piece
    page.join(240)
    listening.close()
    assert told.endswith(b"\r\n0\r\n\r\n")  # of the last chunk
    assert "error" not in said.getvalue()


async def test_nobody_begins_to_listen_once_the_page_stops() -> None:
    news, watches = EventBroadcaster(), Watches()
    news.close()
    watches.close()
    with pytest.raises(ServerRefused, match="the page is stopping"):
        news.response("topic", lambda: "text")
    request = Request(
        {"type": "http", "app": SimpleNamespace(state=SimpleNamespace(watches=watches, stream_shares=StreamShares()))}
    )
    ask = SimpleNamespace(live=True, open_matches=lambda ladder: SimpleNamespace(matches=[]))
    with pytest.raises(ServerRefused, match="the page is stopping"):
        await live.events(request, cast("Any", ask), ladder="duel")
