"""The status of a failed call: what it leaves behind in a server that collects garbage rarely."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import grpc
import pytest

from cutpurse.server.call_status import abort
from cutpurse.server.errors import call_status

CALLS = 50


class Refusing(grpc.GenericRpcHandler):
    """A service that refuses every call."""

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[Any, Any]:
        return grpc.unary_unary_rpc_method_handler(refuse)


async def refuse(request: bytes, context: grpc.aio.ServicerContext[Any, Any]) -> bytes:
    return await abort(context, call_status("STREAMS", "no"))


def calls_in_memory() -> int:
    """Return how many calls the server's side still holds."""
    return sum(type(held).__name__ == "RPCState" for held in gc.get_objects())


async def test_a_refused_call_is_freed_without_the_garbage_collector() -> None:
    server = grpc.aio.server()
    server.add_generic_rpc_handlers([Refusing()])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary("/service/Method")
        gc.collect()
        gc.disable()
        try:
            before = calls_in_memory()
            for _ in range(CALLS):
                with pytest.raises(grpc.aio.AioRpcError, match="no"):
                    await call(b"")
            await asyncio.sleep(0)  # the last call ends
            assert calls_in_memory() - before < CALLS / 5
        finally:
            gc.enable()
    await server.stop(None)
