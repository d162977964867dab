"""What ordinary servers send over the chat completions protocol, read by the file of the page from a real socket."""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
import urllib.error
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutpurse.llm import Outage, Reply, read_completion
from tests.llm.test_language_models_page import PROGRAMS

MESSAGE = {"message": {"content": "hm"}}
LEAST = json.dumps({"choices": [MESSAGE]}).encode()


class Odd(BaseHTTPRequestHandler):
    """Answers every request with the bytes in `response`, and then ends the connection."""

    response: bytes = b""
    has_reset = False

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.wfile.write(type(self).response)
        if type(self).has_reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()

    def log_message(self, *words: Any) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def ask() -> Iterator[Callable[[Any], Reply]]:
    """Return the function `ask` of the page's file, which asks a server that answers as `Odd` says."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Odd) as http, pytest.MonkeyPatch.context() as patch:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        patch.setenv("MODEL_URL", f"http://127.0.0.1:{http.server_port}/v1/chat/completions")
        patch.setenv("no_proxy", "127.0.0.1")
        names: dict[str, Any] = {}
        exec(compile(PROGRAMS["my_model.py"], "my_model.py", "exec"), names)
        yield names["ask"]
        http.shutdown()
        thread.join()


def respond(patch: pytest.MonkeyPatch, response: bytes, has_reset: bool = False) -> None:
    """Set the next answer."""
    patch.setattr(Odd, "response", response)
    patch.setattr(Odd, "has_reset", has_reset)


def chunked(*parts: bytes, is_whole: bool = True) -> bytes:
    """Return a response in chunks, perhaps without its end."""
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + (b"0\r\n\r\n" if is_whole else b"")


def sized(body: bytes, status: str = "200 OK", size: int | None = None, headers: bytes = b"") -> bytes:
    """Return a response that gives its length."""
    length = len(body) if size is None else size
    return f"HTTP/1.1 {status}\r\nContent-Length: {length}\r\n".encode() + headers + b"\r\n" + body


@pytest.mark.parametrize(
    "response",
    [
        sized(LEAST),
        chunked(LEAST[:9], LEAST[9:]),
        b"HTTP/1.0 200 OK\r\n\r\n" + LEAST,
        sized(b"\xef\xbb\xbf\n" + LEAST, headers=b"Content-Type: text/html\r\n"),
    ],
)
def test_a_reply_is_read_however_it_is_sent(
    ask: Callable[[Any], Reply], monkeypatch: pytest.MonkeyPatch, response: bytes
) -> None:
    respond(monkeypatch, response)
    assert ask([]) == Reply("hm", finish="")


@pytest.mark.parametrize(
    ("response", "text"),
    [
        (b"", "Remote end closed connection without response"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "SSH-2.0-OpenSSH_9.2"),
        (b"HTTP/1.1 200 OK\r\nContent-Le", "no chat completion: an empty response"),
        (sized(b""), "no chat completion: an empty response"),
        (sized(LEAST[:-5], size=len(LEAST)), "no chat completion: "),
        (chunked(LEAST[:9], is_whole=False), "IncompleteRead"),
        (chunked(LEAST[:9], LEAST[9:], is_whole=False)[:-9], "IncompleteRead"),
        (sized(b"<html><h1>Bad gateway</h1></html>"), "no chat completion: <html><h1>Bad gateway</h1></html>"),
        (sized(b'{"error": {"message": "overloaded"}}'), 'no chat completion: {"error": {"message": "overloaded"}}'),
        (sized(b"<html>", "503 Loading model"), "status 503"),
        (sized(b"", "500 Error", size=99), "status 500"),
        (sized(b"", "408 Request Timeout"), "status 408"),
    ],
)
@pytest.mark.parametrize("has_reset", [False, True])
def test_what_may_pass_is_an_outage(
    ask: Callable[[Any], Reply], monkeypatch: pytest.MonkeyPatch, response: bytes, text: str, has_reset: bool
) -> None:
    respond(monkeypatch, response, has_reset)
    with pytest.raises(Outage, match="." if has_reset else re.escape(text)):  # a reset may come first
        ask([])


@pytest.mark.parametrize(("header", "seconds"), [(b"", 0), (b"Retry-After: 7\r\n", 7), (b"Retry-After: soon\r\n", 0)])
@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Service Unavailable"])
def test_an_outage_lasts_as_long_as_the_server_says(
    ask: Callable[[Any], Reply], monkeypatch: pytest.MonkeyPatch, status: str, header: bytes, seconds: int
) -> None:
    respond(monkeypatch, sized(b"", status, headers=header))
    with pytest.raises(Outage) as outage:
        ask([])
    assert outage.value.retry_after_s == seconds


@pytest.mark.parametrize("status", ["400 Bad Request", "401 Unauthorized", "404 Not Found"])
def test_what_does_not_pass_is_a_fault(
    ask: Callable[[Any], Reply], monkeypatch: pytest.MonkeyPatch, status: str
) -> None:
    respond(monkeypatch, sized(b'{"error": "no such model"}', status))
    with pytest.raises(urllib.error.HTTPError, match=f"^HTTP Error {status.replace(' ', ': ', 1)}$"):
        ask([])


def test_nothing_that_listens_is_an_outage(ask: Callable[[Any], Reply], monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    monkeypatch.setitem(ask.__globals__, "URL", f"http://127.0.0.1:{port}/v1")
    with pytest.raises(Outage, match=r"^\[Errno \d+\] Connection refused$"):
        ask([])


@pytest.mark.parametrize(
    ("completion", "reply"),
    [
        ({"choices": [MESSAGE], "usage": None, "model": None, "id": None}, Reply("hm", finish="")),
        (
            {
                "id": 7,
                "object": [],
                "created": "now",
                "choices": [MESSAGE | {"index": None, "logprobs": {}, "finish_reason": "length"}, 3],
                "usage": {
                    "prompt_tokens": "120",
                    "completion_tokens": 9.0,
                    "completion_tokens_details": {"reasoning_tokens": 4},
                },
                "model": "llama3.2",
            },
            Reply("hm", 120, 9, 4, model="llama3.2", finish="length"),
        ),
        (
            {
                "choices": [MESSAGE | {"finish_reason": 3}],
                "usage": {"prompt_tokens": -1, "completion_tokens": True, "completion_tokens_details": []},
                "model": {"name": "x"},
            },
            Reply("hm", finish=""),
        ),
        ({"choices": [MESSAGE], "usage": [1, 2], "model": "\ud800"}, Reply("hm", model="?", finish="")),
        ({"choices": [{"message": {"content": [{"text": "h"}, {"text": "m"}, {}, 3]}}]}, Reply("hm", finish="")),
        ({"choices": [{"text": "hm"}]}, Reply("hm", finish="")),
        ({"choices": [{"message": {"content": None, "tool_calls": []}}]}, Reply("", finish="")),
        ({"choices": [{"message": None, "finish_reason": "stop"}]}, Reply("")),
    ],
)
def test_every_field_but_the_reply_may_be_missing_null_or_odd(completion: dict[str, Any], reply: Reply) -> None:
    assert read_completion(json.dumps(completion).encode()) == reply


@pytest.mark.parametrize(
    "body",
    [
        b"\xff\xfe",
        b"null",
        b"[]",
        b'"choices"',
        b'{"choices": "abc"}',
        b'{"choices": {}}',
        b'{"choices": [[]]}',
        b'{"choices": ' * 60_000,
        b'{"choices": [' + b"9" * 5_000 + b"]}",
        b'{"id": ' + b"9" * 5_000 + b', "choices": [{"message": {"content": "hm"}}]}',
    ],
)
def test_what_is_no_completion_is_an_outage(body: bytes) -> None:
    with pytest.raises(Outage, match=r"^no chat completion: .{1,100}$"):
        read_completion(body)


ODD = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(st.characters(exclude_categories=[]), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["content", "text", "0"]), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(ODD, ODD, ODD, st.booleans())
def test_odd_values_leave_the_reply_as_it_is(usage: Any, message: Any, extra: Any, has_usage: bool) -> None:
    tokens = {"prompt_tokens": usage, "completion_tokens": usage, "completion_tokens_details": usage}
    body = json.dumps(
        {
            "choices": [MESSAGE | {"finish_reason": extra, "logprobs": extra}, extra],
            "usage": tokens if has_usage else usage,
            "model": extra,
            "id": extra,
        }
    ).encode()
    reply = read_completion(body)
    assert reply.text == "hm"
    assert min(reply.input_tokens, reply.output_tokens, reply.reasoning_tokens) >= 0
    assert isinstance(read_completion(json.dumps({"choices": [{"message": message}]}).encode()).text, str)
