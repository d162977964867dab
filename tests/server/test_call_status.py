"""The status of a failed call: what it leaves behind in a server that collects garbage rarely."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import grpc
import pytest

from cutpurse.server.call_status import abort, at_end_of_call
from cutpurse.server.errors import call_status
from tests.looking import until_so

CALLS = 50


KINDS = {
    "unary": (grpc.unary_unary_rpc_method_handler, "unary_unary"),
    "many requests": (grpc.stream_unary_rpc_method_handler, "stream_unary"),
    "many answers": (grpc.unary_stream_rpc_method_handler, "unary_stream"),
    "both": (grpc.stream_stream_rpc_method_handler, "stream_stream"),
}


class Refusing(grpc.GenericRpcHandler):
    """A service that refuses every call."""

    def __init__(self, handler: Callable[[Any], grpc.RpcMethodHandler[Any, Any]]) -> None:
        self._handler = handler

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[Any, Any]:
        return self._handler(refuse)


ended: list[str] = []


async def refuse(request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> bytes:
    at_end_of_call(lambda: ended.append("ended"))
    return await abort(context, call_status("STREAMS", "no"))


def calls_in_memory() -> int:
    """Return how many calls the server's side still holds."""
    return sum(type(held).__name__ == "RPCState" for held in gc.get_objects())


@pytest.mark.parametrize("kind", KINDS)
async def test_a_refused_call_is_freed_without_the_garbage_collector(kind: str) -> None:
    handler, method = KINDS[kind]
    ended.clear()
    server = grpc.aio.server()
    server.add_generic_rpc_handlers([Refusing(handler)])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        call = getattr(channel, method)("/service/Method")

        async def called() -> None:
            # A stream that sends nothing: a message that meets the refusal would end as gRPC's own internal error.
            answers = call() if method.startswith("stream") else call(b"")
            if method.endswith("stream"):
                await answers.read()
            await answers

        gc.collect()
        gc.disable()
        try:
            before = calls_in_memory()
            for _ in range(CALLS):
                with pytest.raises(grpc.aio.AioRpcError, match="no"):
                    await called()
            await until_so(lambda: len(ended) == CALLS)
            assert calls_in_memory() - before < CALLS / 5
        finally:
            gc.enable()
    await server.stop(None)
