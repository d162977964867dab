"""What comes in over a socket that is no proper request: an answer in the form of HTTP or none, and never a trace."""

from __future__ import annotations

import io
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from cutpurse.page import serving
from cutpurse.page.app import create_app
from cutpurse.page.league_client import Asking
from cutpurse.server.hosting.page import listening_socket
from cutpurse.server.logs import capture_library_logs, logger
from cutpurse.wire.league import League
from tests.page.test_frame import EMPTY

HOST = b"host: arena.test\r\nconnection: close\r\n\r\n"


@pytest.fixture(scope="module")
def page() -> Iterator[tuple[str, int, io.StringIO]]:
    """Where it listens, and what it logs; heads may come as late as on a busy machine."""
    said = io.StringIO()
    capture_library_logs(logger(said))
    is_over = threading.Event()
    ask = Asking(League(lambda name, request: EMPTY[name](request)))
    listening, _ = listening_socket("127.0.0.1:0")
    usual, serving.HEAD_S = serving.HEAD_S, 240.0  # type: ignore[misc]
    thread = threading.Thread(target=serving.serve_page, args=(create_app(ask, live=True), listening, is_over.is_set))
    thread.start()
    host, port = listening.getsockname()[:2]
    try:
        yield host, port, said
    finally:
        is_over.set()
        thread.join(240)
        listening.close()
        serving.HEAD_S = usual  # type: ignore[misc]
    assert not thread.is_alive()


def answer(page: tuple[str, int, io.StringIO], sent: bytes) -> bytes:
    """All that comes back until the page hangs up."""
    with socket.create_connection(page[:2], timeout=240) as connection:
        try:
            connection.sendall(sent)
        except OSError:  # it has hung up already
            pass
        told = b""
        try:
            while piece := connection.recv(65_536):
                told += piece
        except ConnectionResetError:
            pass
        return told


def status(told: bytes) -> int:
    assert told.startswith(b"HTTP/1.1 "), told[:200]
    return int(told.split(b" ")[1])


@pytest.mark.parametrize(
    ("sent", "statuses"),
    [
        (b"GET / HTTP/1.1\r\n" + HOST, {200}),
        (b"GET /?" + b"x" * 5_000 + b" HTTP/1.1\r\n" + HOST, {414}),
        (b"GET / HTTP/1.1\r\nx-much: " + b"y" * 20_000 + b"\r\n" + HOST, {431}),
        (b"GET / HTTP/1.1\r\n" + b"".join(b"x-%d: y\r\n" % number for number in range(3_000)) + HOST, {431}),
        (b"GET / HTTP/1.1\r\nx-much: " + b"y" * 200_000 + b"\r\n" + HOST, {400}),
        (b"BREW / HTTP/1.1\r\n" + HOST, {405}),
        (b"POST / HTTP/1.1\r\ncontent-length: 10\r\n" + HOST + b"0123456789", {405}),
        (b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n" + HOST + b"zz\r\n", {400, 405}),
        (b"GET / HTTP/1.1\r\ncontent-length: -1\r\n" + HOST, {400}),
        (b"GET / HTTP/1.1\r\ncookie: \xff\xfe=;=;\r\naccept-encoding: \xff\r\n" + HOST, {200}),
        (b"GET /%00%ff%c0%ae%c0%ae/ HTTP/1.1\r\n" + HOST, {404}),
        (b"GET /../../../etc/passwd HTTP/1.1\r\n" + HOST, {404}),
        (b"GET /static/../../app.py HTTP/1.1\r\n" + HOST, {404}),
        (b"GET http://elsewhere.test/ HTTP/1.1\r\n" + HOST, {404}),
        (b"GET http://elsewhere.test/ladders/ HTTP/1.1\r\n" + HOST, {404}),
        (b"GET //elsewhere.test/ladders/ HTTP/1.1\r\n" + HOST, {404}),
        (b"CONNECT elsewhere.test:80 HTTP/1.1\r\n" + HOST, {400, 404, 405}),
        (b"GET / HTTP/1.1\r\nhost: <script>\r\nconnection: close\r\n\r\n", {200}),
        (b"GET / HTTP/1.1\r\n\r\n", {400}),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", {400}),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {400, 404, 405}),
        (b"\r\n\r\n\x00\x00", {400}),
    ],
)
def test_an_answer_says_what_is_wrong_and_nothing_of_how(
    page: tuple[str, int, io.StringIO], sent: bytes, statuses: set[int]
) -> None:
    told = answer(page, sent)
    assert status(told) in statuses
    assert b"Traceback" not in told
    assert b'File "' not in told
    assert b"<script>" not in told


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nhost: a\r\nx-slow: "])
def test_who_does_not_say_what_he_wants_is_hung_up_on(
    page: tuple[str, int, io.StringIO], sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "HEAD_S", 0.5)
    assert answer(page, sent) == b""


@pytest.mark.soak
def test_a_second_request_has_to_come_in_time_too(
    page: tuple[str, int, io.StringIO], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "HEAD_S", 2.0)
    told = answer(page, b"GET /healthz HTTP/1.1\r\nhost: arena.test\r\n\r\nGET /ladders HT")
    assert status(told) == 200
    assert told.count(b"HTTP/1.1 ") == 1


def test_a_stream_is_not_taken_for_a_slow_request(
    page: tuple[str, int, io.StringIO], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "HEAD_S", 3.0)
    with socket.create_connection(page[:2], timeout=240) as connection:
        connection.sendall(b"GET /streams/home HTTP/1.1\r\n" + HOST)
        told = b""
        while b"event: changed" not in told:
            piece = connection.recv(65_536)
            assert piece
            told += piece
        connection.settimeout(4.0)  # longer than a head may take
        try:
            while piece := connection.recv(65_536):
                assert b"Connection" not in piece
        except TimeoutError:
            pass
        assert piece, "the page hung up"


def test_who_says_more_than_he_may_while_a_stream_is_sent_is_hung_up_on(page: tuple[str, int, io.StringIO]) -> None:
    with socket.create_connection(page[:2], timeout=240) as connection:
        connection.sendall(b"GET /streams/home HTTP/1.1\r\n" + HOST)
        assert status(connection.recv(65_536)) == 200
        connection.sendall(b"x")
        with suppress(ConnectionResetError):
            while connection.recv(65_536):
                pass


def test_none_of_it_broke_the_page_and_the_log_has_no_word_of_theirs(page: tuple[str, int, io.StringIO]) -> None:
    assert status(answer(page, b"GET / HTTP/1.1\r\n" + HOST)) == 200
    log = page[2].getvalue()
    assert "Traceback" not in log
    assert '"level": "error"' not in log
    assert "passwd" not in log
