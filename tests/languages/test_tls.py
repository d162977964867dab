"""Bots in other languages over TLS: they play with a token where they trust the server, and only there."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import trustme

from tests.languages.workshop import Made, running
from tests.server.secure import place_in, plays_over_tls, secure_arena

pytestmark = pytest.mark.timeout(400)  # the first test of a language builds it

PLAY_S = 60.0


async def test_it_plays_over_tls_with_its_token(made: Made, tmp_path: Path) -> None:
    place = place_in(tmp_path)
    async with secure_arena(place) as address:
        address = address.replace("127.0.0.1", "localhost")
        ours = {"CUTPURSE_TOKEN": f"{place.ann}\r\n", "CUTPURSE_CA": str(place.ca_file)}  # as a line of a file
        async with running(made, address, **ours), asyncio.timeout(PLAY_S):
            await plays_over_tls(place, address)
        assert [line["owner"] for line in place.events("stream opened")].count("ann") == 1


async def test_a_server_that_it_does_not_trust_gets_no_token(made: Made, tmp_path: Path) -> None:
    place = place_in(tmp_path)
    other = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(str(other))
    async with secure_arena(place) as address:
        ours = {"CUTPURSE_TOKEN": place.ann, "CUTPURSE_CA": str(other), "CUTPURSE_GIVE_UP_AFTER": "1"}
        async with running(made, address, **ours) as process, asyncio.timeout(PLAY_S):
            await process.communicate()
            assert process.returncode == 1
        assert place.events("stream opened") == []
        assert place.events("stream refused") == []
