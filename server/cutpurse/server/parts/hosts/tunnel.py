"""The way from a place to its server: a unix socket here, and for each connection to it one to the server.

Bytes are passed on unchanged, and a side that does not read is not read from. So a bot in its sandbox speaks with the
server as if it ran there. This module knows no bot and no token.
"""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path
from typing import Final

from cutpurse.wire.connection import Dialling
from cutpurse.wire.server_address import ServerAddress

__all__ = ["open_tunnel"]

READ_BYTES: Final = 65_536


async def open_tunnel(path: Path, to: Dialling) -> asyncio.Server:
    """Listen on a new socket at `path`, and pass each connection on to the server.

    Raises:
        OSError: If the system refuses the socket.
    """
    tls = _tls(to) if to.is_secure else None

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, back = await _connect(to.parts, tls)
        except OSError:  # the bot retries, as with any server that is gone
            writer.close()
            return
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(_pass_on(reader, back))
                both.create_task(_pass_on(there, writer))
        except* (OSError, EOFError):
            pass
        finally:
            back.close()
            writer.close()

    return await asyncio.start_unix_server(carry, path)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(READ_BYTES):
        writer.write(data)
        await writer.drain()
    raise EOFError


async def _connect(to: ServerAddress, tls: ssl.SSLContext | None) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if to.path:
        return await asyncio.open_unix_connection(to.path)
    return await asyncio.open_connection(to.host, to.port, ssl=tls)


def _tls(to: Dialling) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=None if to.ca is None else to.ca.decode("ascii", "replace"))
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["h2"])  # gRPC speaks nothing else
    return context
