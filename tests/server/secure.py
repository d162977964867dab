"""A server with TLS for tests: a database with tokens, renewable certificates, and a listening arena."""

from __future__ import annotations

import io
import json
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import grpc
import trustme

from cutpurse.leaderboard.owner_registry import NewToken, create_tokens
from cutpurse.leaderboard.store import Store
from cutpurse.server.hosting.certificate import Certificate
from cutpurse.server.hosting.open_arena import open_arena
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.logs import logger
from tests.server.raw_bot import RawBot

__all__ = ["LADDERS", "Place", "channel", "peer_of", "place_in", "plays_over_tls", "secure_arena"]

LADDERS = [Ladder("greed", "greed", 2)]


@dataclass
class Place:
    """A folder with a database of two tokens, certificates, and the log."""

    folder: Path
    ca: trustme.CA
    ann: str
    bob: str
    said: io.StringIO

    @property
    def ca_file(self) -> Path:
        file = self.folder / "ca.pem"
        self.ca.cert_pem.write_to_path(str(file))
        return file

    @property
    def certificate(self) -> Certificate:
        return Certificate(self.folder / "cert.pem", self.folder / "key.pem", logger(self.said))

    def issue(self, *names: str, not_after: datetime | None = None) -> str:
        """Issue a new certificate, and return its serial number as `peer_of` does."""
        made = self.ca.issue_cert(*(names or ("localhost", "127.0.0.1")), not_after=not_after)
        made.private_key_pem.write_to_path(str(self.folder / "key.pem"))
        (self.folder / "cert.pem").write_bytes(b"".join(part.bytes() for part in made.cert_chain_pems))
        return peer_of_pem(made.cert_chain_pems[0].bytes())

    def events(self, name: str) -> list[dict[str, object]]:
        return [line for line in map(json.loads, self.said.getvalue().splitlines()) if line["event"] == name]


def peer_of_pem(pem: bytes) -> str:
    return ssl.PEM_cert_to_DER_cert(pem.decode().partition("-----END")[0] + "-----END CERTIFICATE-----\n").hex()


def peer_of(address: str) -> str:
    """Return the serial number of a server's current certificate."""
    host, port = address.removeprefix("https://").rsplit(":", 1)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    with socket.create_connection((host, int(port)), 10) as plain, context.wrap_socket(plain) as secure:
        assert secure.version() == "TLSv1.3"
        der = secure.getpeercert(binary_form=True)
        assert der is not None
        return der.hex()


def place_in(folder: Path) -> Place:
    """Create a place with a certificate."""
    with Store(folder / "test.db") as store:
        made = store.write(create_tokens, [NewToken("ann"), NewToken("bob")], datetime.now(UTC))
    ann, bob = (token.reveal() for token, _ in made)
    here = Place(folder, trustme.CA(), ann, bob, io.StringIO())
    here.issue()
    return here


@asynccontextmanager
async def secure_arena(place: Place) -> AsyncIterator[str]:
    """Run an arena with TLS, and yield its address."""
    log = logger(place.said, "debug")
    with open_arena("127.0.0.1:0", place.folder / "test.db", LADDERS, log, certificate=place.certificate) as opened:
        address = await opened.arena.start()
        try:
            yield address
        finally:
            await opened.arena.stop()


def channel(place: Place, address: str) -> grpc.aio.Channel:
    """Open a channel to the arena that trusts its certificate."""
    return grpc.aio.secure_channel(
        address.removeprefix("https://"), grpc.ssl_channel_credentials(place.ca.cert_pem.bytes())
    )


async def plays_over_tls(place: Place, address: str) -> None:
    """Play one match with a bot of bob."""
    async with RawBot(address, place.bob, channel=channel(place, address)) as bot:
        await bot.hello("thug")
        await bot.play_on()
