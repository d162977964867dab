"""A real receiver of webhooks for tests: an HTTP server on a thread, which answers as the test says."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

__all__ = ["Received", "WebhookReceiver", "webhook_receiver"]


@dataclass(frozen=True)
class Received:
    """A request."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class WebhookReceiver:
    """A receiver and its requests, in their order.

    Attributes:
        url: Where it listens.
        answer: Returns the raw answer to a request.
        requests: All requests so far.
    """

    url: str
    answer: Callable[[Received], bytes]
    requests: list[Received] = field(default_factory=list)


OK = b"HTTP/1.1 204 No Content\r\n\r\n"


@contextmanager
def webhook_receiver(answer: Callable[[Received], bytes] = lambda request: OK) -> Iterator[WebhookReceiver]:
    """Run a receiver on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            request = Received(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            receiver.requests.append(request)
            self.wfile.write(receiver.answer(request))
            self.close_connection = True

        def log_message(self, *arguments: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    receiver = WebhookReceiver(f"http://127.0.0.1:{server.server_port}/hook?key=1", answer)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
