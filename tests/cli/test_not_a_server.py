"""What a bot and a command say of an address where something listens that is no Cutpurse server."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import trustme

from cutpurse.sdk.run import connect
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.connection import why_unreachable
from cutpurse.wire.errors import ServerUnreachable
from cutpurse.wire.league import league_at
from tests.sdk.stays import First

COMMAND = [sys.executable, "-m", "cutpurse.cli"]
NO_TLS = "what listens there speaks no TLS; a server without it is dialled without https://"
NO_GRPC = "what listens there speaks no gRPC, so it is no Cutpurse server"
TLS_ALONE = "what listens there speaks TLS but no gRPC, so it is no Cutpurse server"


@contextmanager
def listening(talk: Callable[[socket.socket], None]) -> Iterator[str]:
    """An address where each connection is talked to, and closed."""

    def accept() -> None:
        while True:
            try:
                connection, _ = listens.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                connection.settimeout(240)
                talk(connection)

    with socket.create_server(("127.0.0.1", 0)) as listens:
        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield f"127.0.0.1:{listens.getsockname()[1]}"
        finally:
            listens.shutdown(socket.SHUT_RDWR)
            thread.join()


def page(connection: socket.socket) -> None:
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


@pytest.fixture(autouse=True)
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> trustme.CA:
    """Who is trusted, by somebody without a token."""
    made = trustme.CA()
    made.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setenv("CUTPURSE_CA", str(tmp_path / "ca.pem"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("CUTPURSE_TOKEN", raising=False)
    return made


@pytest.mark.parametrize(("before", "told"), [("https://", NO_TLS), ("", NO_GRPC)])
async def test_a_page_that_is_taken_for_a_server(before: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    with listening(page) as address:
        with pytest.raises(ServerUnreachable, match=f"no server at {before}{address} for 0 s: {told}"):
            await connect(First, server=f"{before}{address}", reconnect_timeout_s=0)
        with league_at(f"{before}{address}") as league, pytest.raises(ServerUnreachable, match=told):
            league.ListLadders(ladder_pb2.ListLaddersRequest())


async def test_a_page_with_tls(authority: trustme.CA) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)

    def secure(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as wrapped:
            page(wrapped)

    with listening(secure) as address, pytest.raises(ServerUnreachable, match=TLS_ALONE):
        await connect(First, server=f"https://{address}", reconnect_timeout_s=0)


def test_the_library_writes_no_lines_of_its_own_unless_they_are_asked_for() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "GRPC_VERBOSITY"}
    with listening(page) as address:
        for command in (["bot", "run", "random", "--reconnect-timeout", "0"], ["ladder", "list"]):
            words = [*COMMAND, *command, "--server", f"https://{address}"]
            quiet = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
            assert quiet.returncode == 5
            assert [NO_TLS in line for line in quiet.stderr.splitlines()] == [True], quiet.stderr
        environment["GRPC_VERBOSITY"] = "INFO"
        loud = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    assert "ssl_transport_security" in loud.stderr


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:1: Some trouble: OK", "Some trouble"),
        (
            "failed to connect to all addresses; last error: X: unix:door: recvmsg:Connection reset by peer (104)",
            "Connection reset by peer",
        ),
        ("not now: later", "not now: later"),
        ("", ""),
    ],
)
def test_the_cause_is_what_is_told(said: str, told: str) -> None:
    assert why_unreachable(said) == told
