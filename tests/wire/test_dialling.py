"""A token is found where nobody else can read it, and is sent only where nobody can read it on the way."""

from __future__ import annotations

import asyncio
from pathlib import Path

import grpc.aio
import pytest

from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.sdk.run import run
from cutpurse.server.errors import AddressError
from cutpurse.server.hosting.listen_address import checked
from cutpurse.wire.connection import Dialling, dialling, token_file
from cutpurse.wire.errors import NotAuthorised, exit_code
from cutpurse.wire.server_address import server_address
from tests.addresses import DIALLED, HOSTILE, SOCKETS

TOKEN = "cutp_0123456789ABCDEFGHIJKLMNOPQRSTUV1wb963"
PEM = "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without token, server or certificates."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path


def keep(text: str, mode: int = 0o600) -> Path:
    """A token file."""
    file = token_file()
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    file.chmod(mode)
    return file


def test_without_a_token_none_is_sent() -> None:
    found = dialling("here:1")
    assert (found.address, found.token, found.metadata, found.is_secure) == ("here:1", "", (), False)


@pytest.mark.parametrize("server", ["127.0.0.1:1", "localhost:1", "[::1]:1", "unix:/tmp/x", "https://there:1", None])
def test_a_token_of_the_environment_is_sent_where_nobody_can_read_it(
    server: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUTPURSE_TOKEN", f" {TOKEN}\n")
    found = dialling(server)
    assert found.metadata == (("authorization", f"Bearer {TOKEN}"),)
    assert found.source == "CUTPURSE_TOKEN"


@pytest.mark.parametrize("server", ["there:1", "10.0.0.7:1", "[2001:db8::1]:1", "localhost.example:1", "0.0.0.0:1"])
def test_a_token_is_never_sent_in_the_clear_to_another_machine(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUTPURSE_TOKEN", TOKEN)
    with pytest.raises(NotAuthorised, match="the token from CUTPURSE_TOKEN could be read on the way to") as told:
        dialling(server)
    assert f"its address is https://{server}" in str(told.value)
    assert exit_code(told.value) == 6


def test_a_token_file_is_used_if_the_environment_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    file = keep(f"{TOKEN}\n")
    found = dialling()
    assert (found.token, found.source) == (TOKEN, str(file))
    other = TOKEN.replace("0123", "4567")
    monkeypatch.setenv("CUTPURSE_TOKEN", other)
    assert dialling().token == other


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o777])
def test_a_token_file_that_others_can_read_is_refused(mode: int) -> None:
    file = keep(TOKEN, mode)
    with pytest.raises(NotAuthorised, match=rf"others can read the token in .* \(mode {mode:o}\): chmod 600 ") as told:
        dialling()
    assert str(file) in str(told.value)
    assert TOKEN not in str(told.value)


@pytest.mark.parametrize("text", ["", "hunter2", TOKEN[:-1], f"{TOKEN} {TOKEN}", "\xff" * 9, "x" * 10_000])
def test_what_is_no_token_is_told_without_being_shown(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    keep(text)
    with pytest.raises(NotAuthorised, match="is no token: one is cutp_ and 38 letters and digits") as told:
        dialling()
    assert not text or text not in str(told.value)
    assert run("random", "greed") == 6
    assert "is no token" in capsys.readouterr().err


def test_a_token_file_that_is_a_folder_is_told() -> None:
    token_file().mkdir(parents=True)
    with pytest.raises(NotAuthorised, match="cannot be read: Is a directory"):
        dialling()


def test_a_token_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUTPURSE_TOKEN", TOKEN)
    found = dialling()
    assert TOKEN not in repr(found)
    assert TOKEN not in str(found)


def test_certificates_to_trust(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = home / "ca.pem"
    file.write_text(PEM, encoding="ascii")
    assert dialling("https://there:1").ca is None
    assert dialling("https://there:1", file).ca == PEM.encode()
    monkeypatch.setenv("CUTPURSE_CA", str(file))
    assert dialling("https://there:1").ca == PEM.encode()
    assert dialling("127.0.0.1:1").ca is None  # set for another server, maybe


@pytest.mark.parametrize(
    ("server", "text", "said"),
    [
        ("https://there:1", None, "cannot be read: No such file"),
        ("https://there:1", "no certificate", "holds no certificate in PEM"),
        ("127.0.0.1:1", PEM, r"127\.0\.0\.1:1 is dialled without TLS; with it, it is https://127\.0\.0\.1:1"),
    ],
)
def test_certificates_that_make_no_sense(server: str, text: str | None, said: str, home: Path) -> None:
    if text is not None:
        (home / "ca.pem").write_text(text, encoding="ascii")
    with pytest.raises(UsageError, match=rf"--ca .*ca\.pem: .*{said}") as told:
        dialling(server, home / "ca.pem")
    assert isinstance(told.value, CutpurseError)


# -- the form of an address
@pytest.mark.parametrize("text", DIALLED)
def test_a_host_and_a_port_are_dialled_by_name_and_not_as_a_uri(text: str) -> None:
    parts = dialling(text).parts
    host, address = DIALLED[text]
    assert (parts.host, str(parts)) == (host, address)
    assert parts.target == f"dns:///{address.removeprefix('https://')}"
    assert parts.is_secure == text.startswith("https://")
    assert not parts.is_local


@pytest.mark.parametrize("text", SOCKETS)
def test_a_socket_is_dialled_by_its_path(text: str) -> None:
    parts = dialling(text).parts
    assert parts.target == str(parts) == f"unix:{parts.path}" == text
    assert parts.is_local


@pytest.mark.parametrize("text", [*HOSTILE, "a.league.example:0"])
def test_what_is_no_address_is_never_dialled(text: str) -> None:
    if text:  # else the default one is meant
        with pytest.raises(UsageError, match=r"is no address of a server: it is host:port, such as 127\.0\.0\.1:7777"):
            server_address(text)
    with pytest.raises(NotAuthorised, match="which is no address of a server"):
        dialling("https://b.example:7777", trust=[".league.example", "127.0.0.1", "::1"]).at(text)
    if text in HOSTILE:
        with pytest.raises(AddressError, match="is no address"):
            checked(text)
        with pytest.raises(ValueError, match="no address of a server"):
            Dialling(text).channel(())


@pytest.mark.parametrize(
    ("host", "target"), [("127.0.0.1", "127.0.0.1"), ("127.0.0.1", "LOCALHOST"), ("[::1]", "[0:0:0:0:0:0:0:1]")]
)
async def test_grpc_dials_what_was_parsed(host: str, target: str) -> None:
    server = grpc.aio.server()
    port = server.add_insecure_port(f"{host}:0")
    await server.start()
    async with asyncio.timeout(240), dialling(f"{target}:{port}").channel(()) as channel:
        await channel.channel_ready()
    await server.stop(None)


# -- other servers of a league
@pytest.mark.parametrize(
    ("first", "trust", "address"),
    [
        ("https://a.example:7777", (), "https://a.example:7778"),
        ("https://a.example:7777", ("b.example",), "https://B.example:7777"),
        ("https://a.example:7777", (".league.example",), "https://b.league.example:7777"),
        ("127.0.0.1:7777", (), "127.0.0.1:7778"),
    ],
)
def test_the_same_host_and_trusted_ones_are_followed_with_the_token(
    first: str, trust: tuple[str, ...], address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUTPURSE_TOKEN", TOKEN)
    here = dialling(first, trust=trust)
    there = here.at(address)
    assert (there.address, there.token) == (address.lower(), TOKEN)
    assert here.at(first.replace("a.example", "A.Example")) is here


@pytest.mark.parametrize(
    ("first", "trust", "address", "said"),
    [
        (
            "https://a.example:7777",
            (),
            "https://b.example:7777",
            r"would get the token; .*: --trust b\.example, or CUTP",
        ),
        ("https://a.example:7777", (".a.example",), "https://xa.example:7777", "would get the token"),
        ("https://a.example:7777", (), "a.example:7778", "where one of the two speaks no TLS"),
        ("https://a.example:7777", (), "https://a.example", "which is no address of a server"),
        ("https://a.example:7777", (), "unix:/tmp/a", "is not dialled by a unix socket"),
        ("127.0.0.1:7777", ("b.example",), "b.example:7777", "where one of the two speaks no TLS"),
    ],
)
def test_other_hosts_never_get_the_token(
    first: str, trust: tuple[str, ...], address: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUTPURSE_TOKEN", TOKEN)
    with pytest.raises(NotAuthorised, match=said):
        dialling(first, trust=trust).at(address)


@pytest.mark.parametrize("host", ["b.example:7777", "https://b.example", "b.example/x", "..b.example", "[::1]", "a b"])
def test_what_is_no_host_is_not_trusted(host: str) -> None:
    with pytest.raises(UsageError, match=r"^'.*' is no host to trust: name it without a port, such as b\.example, or "):
        dialling("https://a.example:7777", trust=[host])


def test_hosts_to_trust_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUTPURSE_TRUST", "b.example, .C.example")
    assert dialling("a.example:1").trusted == ("b.example", ".c.example")
