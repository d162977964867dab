"""Bots in other languages over TLS: they play with a token where they trust the server, and else say why not."""

from __future__ import annotations

import asyncio
import socket
import struct
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme

from tests.languages.workshop import LANGUAGES, Made, running
from tests.server.secure import place_in, plays_over_tls, secure_arena

PLAY_S = 240.0
FAULTS = ("authority", "name", "time")  # of the server's certificate


async def test_it_plays_over_tls_with_its_token(made: Made, tmp_path: Path) -> None:
    place = place_in(tmp_path)
    async with secure_arena(place) as address:
        address = address.replace("127.0.0.1", "localhost")
        ours = {"CUTPURSE_TOKEN": f"{place.ann}\r\n", "CUTPURSE_CA": str(place.ca_file)}  # as a line of a file
        async with running(made, address, **ours), asyncio.timeout(PLAY_S):
            await plays_over_tls(place, address)
        assert [line["owner"] for line in place.events("stream opened")].count("ann") == 1


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_server_that_it_does_not_trust_gets_no_token_and_is_told_in_a_line(
    made: Made, tmp_path: Path, fault: str
) -> None:
    """By a name and by an address in turn: each language meets both, and each fault occurs with both."""
    host = ("localhost", "127.0.0.1")[(LANGUAGES.index(made.language) + FAULTS.index(fault)) % 2]
    place = place_in(tmp_path)
    authority = place.ca_file
    if fault == "authority":
        place.ca = trustme.CA()
    until = datetime.now(UTC) - timedelta(days=1) if fault == "time" else None
    place.issue("elsewhere.example" if fault == "name" else host, not_after=until)
    async with secure_arena(place) as address:
        address = address.replace("127.0.0.1", host)
        ours = {"CUTPURSE_TOKEN": place.ann, "CUTPURSE_CA": str(authority), "CUTPURSE_BOT": "me"}
        async with running(made, address, **ours) as process, asyncio.timeout(PLAY_S):
            out, err = await process.communicate()
        said = err.decode().splitlines()
        assert (process.returncode, out, len(said)) == (6, b"", 1)
        assert said[0].startswith(f"me: the server at {address} has a certificate that is not trusted here, ")
        assert "CUTPURSE_CA" in said[0]
        assert place.ann not in said[0]
        assert place.events("stream opened") == []
        assert place.events("stream refused") == []


@pytest.mark.parametrize("secure", [False, True])
async def test_a_connection_that_is_cut_off_is_tried_again(made: Made, tmp_path: Path, secure: bool) -> None:
    """By whatever is on the way, before a word was said: that goes away by itself."""
    place = place_in(tmp_path)
    dialled: asyncio.Queue[None] = asyncio.Queue()

    async def cut_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        at_once = struct.pack("ii", 1, 0)  # so that the other side sees a reset
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        writer.transport.abort()
        dialled.put_nowait(None)

    async with await asyncio.start_server(cut_off, "127.0.0.1", 0) as server:
        _, port = server.sockets[0].getsockname()
        address = f"{'https://' if secure else ''}localhost:{port}"
        ours = {"CUTPURSE_CA": str(place.ca_file), "CUTPURSE_BOT": "me"}
        async with running(made, address, **ours) as process, asyncio.timeout(PLAY_S):
            for _ in range(2):
                again = asyncio.create_task(dialled.get())
                ended = asyncio.create_task(process.wait())
                await asyncio.wait([again, ended], return_when=asyncio.FIRST_COMPLETED)
                assert again.done(), f"it ended with {process.returncode}"
                ended.cancel()
