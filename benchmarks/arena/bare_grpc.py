"""The bare exchange with which the arena is compared: gRPC streams with alternating questions and answers.

It has the same library, options and message sizes as the arena, and no work behind them. The server sends the next
question as soon as it has read an answer: on the same stream, or on the next one if streams take turns, as in a match
that asks one seat after the other. This module is the server and a client with one stream that answers at once. Each
runs in its own process (`python -m benchmarks.arena.bare_grpc`).
"""

import asyncio
import time
from typing import Any, Final

import grpc
import grpc.aio

from benchmarks.arena.child import Does, serve, so_long
from benchmarks.arena.summary import nearest_rank
from cutpurse.sdk.online.client import OPTIONS
from cutpurse.server.hosting.options import grpc_options
from cutpurse.server.limits import ServerLimits

__all__ = ["METHOD", "prepare"]

SERVICE: Final = "bench.Exchange"
METHOD: Final = f"/{SERVICE}/Play"


class Exchange:
    """A server, a client, or both."""

    def __init__(self) -> None:
        self._question = b""
        self._took: list[float] = []  # seconds from writing a question to reading its answer
        self._client: asyncio.Task[None] | None = None
        self._server: grpc.aio.Server | None = None

    async def open(self, question_bytes: int, in_turn: int = 0) -> dict[str, object]:
        """Start a server with questions of this size; if `in_turn` is not 0, that many streams take turns."""
        self._question = bytes(question_bytes)
        self._in_turn = in_turn
        self._turns: list[asyncio.Event] = []
        limits = ServerLimits()
        handler: Any = grpc.stream_stream_rpc_method_handler(self._play)
        server = grpc.aio.server(options=grpc_options(limits), maximum_concurrent_rpcs=limits.most_streams)
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, {"Play": handler}),))
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        if self._server is not None:
            await self._server.stop(None)
        self._server = server
        return {"address": f"127.0.0.1:{port}"}

    async def _play(self, _: object, context: Any) -> None:
        turns, mine, place = self._turns, asyncio.Event(), len(self._turns)
        turns.append(mine)
        if len(turns) == self._in_turn:
            turns[0].set()  # all streams are open
        while True:
            if self._in_turn:
                await mine.wait()
                mine.clear()
            began = time.monotonic()
            await context.write(self._question)
            if await context.read() is grpc.aio.EOF:
                return
            self._took.append(time.monotonic() - began)
            if self._in_turn:
                turns[(place + 1) % len(turns)].set()

    async def measure(self, seconds: float) -> dict[str, object]:
        """Measure answers and their latencies for `seconds`, or longer until the first answer."""
        took: list[float] = []
        self._took = took
        began, cpu = time.monotonic(), time.process_time()
        await so_long(seconds, lambda: took)
        self._took = []
        wall, cpu = time.monotonic() - began, time.process_time() - cpu
        return {
            "decisions": len(took),
            "envelopes_sent": len(took),
            "envelopes_read": len(took),
            "seconds": wall,
            "server_cpu_s": cpu,
            "p50_ms": 1e3 * nearest_rank(took, 50) if took else 0.0,
            "p99_ms": 1e3 * nearest_rank(took, 99) if took else 0.0,
        }

    async def answer(self, address: str, answer_bytes: int) -> dict[str, object]:
        """Start a client that answers on one stream at once."""
        self._client = asyncio.create_task(self._answer(address, bytes(answer_bytes)))
        return {}

    async def _answer(self, address: str, answer: bytes) -> None:
        async with grpc.aio.insecure_channel(address, options=OPTIONS) as channel:
            call: grpc.aio.StreamStreamCall[bytes, bytes] = channel.stream_stream(METHOD)()
            while await call.read() is not grpc.aio.EOF:
                await call.write(answer)

    async def rest(self) -> dict[str, object]:
        """Stop the client."""
        if self._client is not None:
            self._client.cancel()
            await asyncio.wait([self._client])
        return {}

    async def cpu(self) -> dict[str, object]:
        """Return the CPU seconds of this process so far, and the current time."""
        return {"cpu_s": time.process_time(), "at": time.monotonic()}


def prepare() -> Does:
    """Return the commands of this process, by name."""
    exchange = Exchange()
    return {
        "open": exchange.open,
        "measure": exchange.measure,
        "answer": exchange.answer,
        "rest": exchange.rest,
        "cpu": exchange.cpu,
    }


if __name__ == "__main__":
    serve(prepare)
