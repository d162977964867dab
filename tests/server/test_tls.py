"""TLS on real sockets: who is trusted, who is not, and a certificate that is renewed while bots play."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import trustme

from cutpurse.engine.errors import UsageError
from cutpurse.sdk.run import connect
from cutpurse.server.errors import AddressError
from cutpurse.server.hosting.listen_address import checked, is_local
from cutpurse.server.hosting.open_arena import open_arena
from cutpurse.server.logs import logger
from cutpurse.wire.errors import NotAuthorised, ServerUnreachable
from tests.server.raw_bot import RawBot, honest
from tests.server.secure import LADDERS, Place, channel, peer_of, place_in, plays_over_tls, secure_arena


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return place_in(tmp_path)


async def test_a_botplays_over_tls_with_its_token(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    async with secure_arena(place) as address:
        assert address.startswith("https://127.0.0.1:")
        monkeypatch.setenv("CUTPURSE_TOKEN", place.ann)
        met: list[tuple[str, ...]] = []
        playing = asyncio.create_task(
            connect(
                "random",
                "greed",
                server=address,
                ca=place.ca_file,
                name="sneak",
                matches=1,
                on_match=lambda match: met.append(match.seats),
            )
        )
        async with RawBot(address, place.bob, channel=channel(place, address)) as bot:
            await bot.hello("sneak")
            await bot.play_on()
        stay = await playing
        assert stay.matches == 1
        assert sorted(met[0]) == ["ann/sneak", "bob/sneak"]
    for token in (place.ann, place.bob):
        assert token[13:] not in place.said.getvalue()


async def test_a_server_that_is_not_trusted_gets_no_token_and_the_bot_says_why(
    place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CUTPURSE_TOKEN", place.ann)
    other = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(str(other))
    async with secure_arena(place) as address:
        for ca in (other, None):
            with pytest.raises(
                NotAuthorised, match=r"certificate that is not trusted here.* --ca FILE, or CUTPURSE_CA"
            ):
                await connect("random", "greed", server=address, ca=ca)
        place.issue("elsewhere.example")
        with pytest.raises(NotAuthorised, match="not trusted here, or of another name"):
            await connect("random", "greed", server=address, ca=place.ca_file)
        with pytest.raises(
            ServerUnreachable, match=r"Socket closed; if it speaks TLS, its address is https://127\.0\.0\.1:"
        ):
            await connect("random", "greed", server=address.removeprefix("https://"), reconnect_timeout_s=0)
        assert place.events("stream opened") == []
        assert place.events("stream refused") == []


async def test_a_bot_without_a_token_or_with_a_bad_one_is_told_what_to_do(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with secure_arena(place) as address:
        with pytest.raises(NotAuthorised, match=r"lets bots in by token, and there is none: put it into"):
            await connect("random", "greed", server=address, ca=place.ca_file)
        monkeypatch.setenv("CUTPURSE_TOKEN", place.ann[:-6] + "000000")
        with pytest.raises(NotAuthorised, match="this token is not valid here: it is unknown, malformed"):
            await connect("random", "greed", server=address, ca=place.ca_file)


async def test_a_renewed_certificate_is_shown_without_a_restart_and_open_streams_go_on(place: Place) -> None:
    first = place.issue()
    async with secure_arena(place) as address:
        assert peer_of(address) == first
        async with RawBot(address, place.ann, channel=channel(place, address)) as bot:
            await bot.hello("sneak")
            second = place.issue()
            assert peer_of(address) == second != first
            assert peer_of(address) == second
            other = asyncio.create_task(plays_over_tls(place, address))
            await bot.play_on()
            await other
        assert len(place.events("certificate changed")) == 1


async def test_a_certificate_that_is_half_written_changes_nothing(place: Place) -> None:
    good = place.issue()
    async with secure_arena(place) as address:
        files = {name: (place.folder / name).read_bytes() for name in ("cert.pem", "key.pem")}
        trustme.CA().issue_cert("localhost").private_key_pem.write_to_path(str(place.folder / "key.pem"))
        assert peer_of(address) == good
        (place.folder / "cert.pem").write_bytes(b"nonsense")
        assert peer_of(address) == good
        (place.folder / "cert.pem").unlink()
        assert peer_of(address) == good
        assert place.events("certificate not changed")
        for name, body in files.items():
            (place.folder / name).write_bytes(body)
        assert peer_of(address) == good
        newest = place.issue()
        assert peer_of(address) == newest


def test_a_certificate_that_is_none_is_told_at_the_start(place: Place) -> None:
    (place.folder / "cert.pem").write_text("nonsense", encoding="ascii")
    with pytest.raises(UsageError, match=r"no certificate in .*cert\.pem with the key in .*key\.pem: .*PEM file"):
        _ = place.certificate
    place.issue()
    trustme.CA().issue_cert("localhost").private_key_pem.write_to_path(str(place.folder / "key.pem"))
    with pytest.raises(UsageError, match="key values mismatch; they must be PEM files, and the key that"):
        _ = place.certificate
    (place.folder / "key.pem").unlink()
    with pytest.raises(UsageError, match="No such file"):
        _ = place.certificate


# -- where it may listen
@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "10.0.0.7:7777", "league.example:7777"])
def test_other_machines_are_let_in_with_tls_or_if_asked_for(address: str) -> None:
    with pytest.raises(AddressError, match=r"could be read on the way, tokens too: give --tls-cert and --tls-key, or"):
        checked(address)
    assert str(checked(address, may_be_reached=True)) == address
    assert not is_local(address)


@pytest.mark.parametrize("address", ["127.0.0.1:0", "127.8.9.1:1", "[::1]:7777", "localhost:1", "unix:/tmp/x"])
def test_this_machine_needs_no_tls(address: str) -> None:
    assert str(checked(address)) == address
    assert is_local(address)


def test_a_server_that_nobody_could_enter_does_not_start(place: Place) -> None:
    log = logger(place.said)
    with (
        pytest.raises(AddressError, match=r"new\.db has no token yet.* cutpurse token create OWNER --db "),
        open_arena("0.0.0.0:0", place.folder / "new.db", LADDERS, log, certificate=place.certificate),
    ):
        raise AssertionError("it opened")
    with open_arena("0.0.0.0:0", place.folder / "test.db", LADDERS, log, insecure=True) as opened:
        assert opened.asks_for_tokens


async def test_an_arena_on_every_address_lets_nobody_in_without_a_token(place: Place) -> None:
    log = logger(place.said)
    with open_arena("0.0.0.0:0", place.folder / "test.db", LADDERS, log, insecure=True) as opened:
        address = (await opened.arena.start()).replace("0.0.0.0", "127.0.0.1")
        other = asyncio.create_task(honest(address, "thug", place.bob))
        async with RawBot(address, place.ann) as bot:
            await bot.hello("sneak")
            await bot.play_on()
        await other
        await opened.arena.stop()
