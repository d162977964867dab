"""Probes and pages: green, red for a reason, and unmoved by whoever is slow, rude or many."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack
from http import HTTPStatus
from pathlib import Path

import pytest

from cutpurse.leaderboard.errors import StoreError
from cutpurse.leaderboard.store import Store
from cutpurse.server.errors import AddressError, CannotListen
from cutpurse.server.hosting.monitoring import MOST, Answer, Monitoring
from cutpurse.server.hosting.open_arena import open_arena
from cutpurse.server.hosting.probes import pages
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.logs import logger
from tests.server.arenas import QUICK, running_arena
from tests.server.monitored import figures, get, watched_server
from tests.server.raw_bot import RawBot

LOG = logger(sys.stderr)


async def hello() -> Answer:
    return Answer(HTTPStatus.OK, b"hello\n")


async def breaks() -> Answer:
    raise RuntimeError("the deck is s3cret")


@pytest.fixture
def monitoring() -> Iterator[Monitoring]:
    with Monitoring("127.0.0.1:0", {"/hello": hello, "/breaks": breaks}, LOG, patience_s=240.0) as monitoring:
        yield monitoring


def raw(monitoring: Monitoring, said: bytes) -> socket.socket:
    """A connection on which this was said."""
    host, _, port = monitoring.address.rpartition(":")
    connection = socket.create_connection((host, int(port)), timeout=240)
    connection.sendall(said)
    return connection


def rest(connection: socket.socket) -> bytes:
    """All that comes until the other side is done."""
    heard = b""
    with connection:
        try:
            while got := connection.recv(65_536):
                heard += got
        except ConnectionResetError:
            pass
    return heard


# -- HTTP
def test_a_page_is_told_by_its_path(monitoring: Monitoring) -> None:
    assert get(monitoring.address, "/hello") == (200, "hello\n")
    assert get(monitoring.address, "/hello?verbose") == (200, "hello\n")
    assert get(monitoring.address, "/hello", "HEAD") == (200, "")
    assert get(monitoring.address, "/") == (404, "there is no such page; there are: /hello, /breaks\n")
    assert get(monitoring.address, "/hello", "POST")[0] == 405


def test_a_page_that_breaks_says_nothing_of_why(monitoring: Monitoring, capsys: pytest.CaptureFixture[str]) -> None:
    status, text = get(monitoring.address, "/breaks")
    assert status == 500
    assert "s3cret" not in text + capsys.readouterr().err


@pytest.mark.parametrize(
    "said", [b"\r\n\r\n", b"GET\r\n\r\n", b"GET /hello HTTP/2\r\n\r\n", b"\x16\x03\x01 \xff \r\n\r\n"]
)
def test_what_is_no_request_is_answered_as_such(monitoring: Monitoring, said: bytes) -> None:
    assert rest(raw(monitoring, said)).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("said", [b"", b"GET /hello HTTP/1.1\r\n", b"GET /" + b"a" * 100_000])
def test_who_does_not_come_to_an_end_is_cut_off(said: bytes) -> None:
    with Monitoring("127.0.0.1:0", {}, LOG, patience_s=0.5) as hasty:
        assert rest(raw(hasty, said)) == b""


def test_many_slow_ones_keep_nobody_waiting() -> None:
    with Monitoring("127.0.0.1:0", {"/hello": hello}, LOG, patience_s=600.0) as monitoring, ExitStack() as stack:
        slow = [stack.enter_context(raw(monitoring, b"GET /hel")) for _ in range(4 * MOST)]
        for _ in range(10):
            assert get(monitoring.address, "/hello") == (200, "hello\n")
        assert slow[0].recv(1) == b""  # the oldest had to go
        slow[-1].sendall(b"lo HTTP/1.1\r\n\r\n")
        assert rest(slow[-1]).endswith(b"hello\n")


def test_nothing_is_left_of_it(monitoring: Monitoring) -> None:
    with raw(monitoring, b"GET"), Monitoring("127.0.0.1:0", {}, LOG) as other:
        connection = raw(other, b"GET")
        within = {*threading.enumerate()}
    assert {*threading.enumerate()} < within, "one less, or more: of an earlier test some may end meanwhile"
    assert rest(connection) == b""
    with pytest.raises(ConnectionRefusedError):
        get(other.address, "/hello")


def test_it_is_for_this_machine_only() -> None:
    for address in ("0.0.0.0:0", "192.168.1.1:9777", "unix:/tmp/watch", "127.0.0.1", "example.org:80"):
        with pytest.raises(AddressError):
            Monitoring(address, {}, LOG)


def test_a_port_that_is_taken_is_told_in_a_line(monitoring: Monitoring) -> None:
    with pytest.raises(CannotListen, match=f"^cannot listen on {monitoring.address}: another program does"):
        Monitoring(monitoring.address, {}, LOG)


def test_where_the_system_has_no_loop_for_it_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*_: object, **_more: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(asyncio, "start_server", refuse)
    with pytest.raises(CannotListen, match=r"cannot listen on 127\.0\.0\.1:\d+: Too many open files"):
        Monitoring("127.0.0.1:0", {}, LOG).__enter__()


def test_it_listens_on_the_newer_protocol_too() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no ::1")
    with Monitoring("[::1]:0", {"/hello": hello}, LOG) as monitoring:
        assert get(monitoring.address, "/hello") == (200, "hello\n")


# -- probes
async def test_health_is_red_while_the_loop_stands_still_and_green_again_afterwards(tmp_path: Path) -> None:
    async with running_arena(tmp_path) as arena:
        with Monitoring("127.0.0.1:0", pages(arena.opened), LOG) as monitoring:
            seen_red = threading.Event()
            scrapes: list[str] = []

            def ask() -> list[str]:
                reasons = []
                for wanted in (200, 503, 200):
                    while (answer := get(monitoring.address, "/healthz"))[0] != wanted:
                        pass
                    reasons.append(answer[1])
                    assert get(monitoring.address, "/readyz")[0] == wanted or wanted == 200
                    if wanted == 503:
                        scrapes.append(get(monitoring.address, "/metrics")[1])
                        seen_red.set()
                    else:
                        asyncio.run_coroutine_threadsafe(stand_still(), loop)
                return reasons

            async def stand_still() -> None:
                seen_red.wait(240)

            loop = asyncio.get_running_loop()
            green, red, again = await asyncio.to_thread(ask)
            assert green == again == "ok\n"
            assert re.fullmatch(r"the event loop has stood still for \d+\.\d s\n", red)
            assert figures(scrapes[0])["cutpurse_loop_silent_seconds", ()] > 1.0
            text = (await asyncio.to_thread(get, monitoring.address, "/metrics"))[1]
            assert figures(text)["cutpurse_loop_stalled_seconds_total", ()] > 1.0


async def test_a_server_that_does_not_listen_yet_is_alive_and_not_ready(tmp_path: Path) -> None:
    with (
        open_arena("127.0.0.1:0", tmp_path / "test.db", [Ladder("greed", "greed", 4)], LOG) as opened,
        Monitoring("127.0.0.1:0", pages(opened), LOG) as monitoring,
    ):

        async def told(path: str) -> tuple[int, str]:
            return await asyncio.to_thread(get, monitoring.address, path)

        assert await told("/healthz") == (200, "ok\n")
        assert await told("/readyz") == (503, "the server does not listen yet\n")
        assert (await told("/metrics"))[0] == 200
        await opened.arena.start()
        assert await told("/readyz") == (200, "ok\n")
        await opened.arena.stop()
        assert await told("/readyz") == (503, "the server is stopping and accepts no bots\n")
        assert await told("/healthz") == (200, "ok\n")


async def test_a_server_that_drains_is_alive_and_not_ready(tmp_path: Path) -> None:
    async with (
        watched_server(tmp_path / "test.db") as server,
        RawBot(server.address) as ann,
        RawBot(server.address) as bob,
    ):
        await ann.hello("ann")
        await bob.hello("bob")
        playing = [asyncio.create_task(bot.decision()) for bot in (ann, bob)]
        await asyncio.wait(playing, return_when=asyncio.FIRST_COMPLETED)
        server.process.send_signal(signal.SIGTERM)
        while (answer := await server.get("/readyz"))[0] == 200:
            pass
        assert answer == (503, "the server is stopping and accepts no bots\n")
        assert await server.get("/healthz") == (200, "ok\n")
        for task in playing:
            task.cancel()


async def test_a_server_that_cannot_store_is_alive_and_not_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ladders = [Ladder("greed", "greed", 2, control=QUICK, matches_wanted=1)]
    async with running_arena(tmp_path, ladders) as arena:
        with Monitoring("127.0.0.1:0", pages(arena.opened), LOG) as monitoring, monkeypatch.context() as patch:

            def full(*_: object) -> None:
                raise StoreError("the disk is full")

            patch.setattr(Store, "submit", full)
            async with RawBot(arena.address) as ann, RawBot(arena.address) as bob:
                await ann.hello("ann")
                await bob.hello("bob")
                ends = await asyncio.gather(ann.play_on(), bob.play_on())
            assert all(end.voided for end in ends)
            why = "results cannot be stored, and no match is started until they can\n"
            assert await asyncio.to_thread(get, monitoring.address, "/readyz") == (503, why)
            assert await asyncio.to_thread(get, monitoring.address, "/healthz") == (200, "ok\n")
            found = figures((await asyncio.to_thread(get, monitoring.address, "/metrics"))[1])
            assert found["cutpurse_pending_void_results", ()] == 1
            assert found["cutpurse_matches_ended_total", (("end", "void"), ("ladder", "greed"))] == 1
            patch.undo()
            while (await asyncio.to_thread(get, monitoring.address, "/readyz"))[0] != 200:
                pass


async def test_slow_connections_to_the_pages_harm_no_bot(tmp_path: Path) -> None:
    async with watched_server(tmp_path / "test.db") as server, AsyncExitStack() as stack:
        host, _, port = server.watched.rpartition(":")
        for _ in range(200):
            slow = stack.enter_context(socket.create_connection((host, int(port)), timeout=240))
            slow.sendall(b"GET /metrics HTTP/1.1\r\nX: ")
        async with RawBot(server.address) as ann, RawBot(server.address) as bob:  # so late: Hello has to come in 3 s
            await ann.hello("ann")
            await bob.hello("bob")
            ends = await asyncio.gather(ann.play_on(), bob.play_on())
        assert await server.get("/healthz") == (200, "ok\n")
        assert {seat.end_cause for end in ends for seat in end.seats} == {1}  # NORMAL


# -- the command
SERVE = (sys.executable, "-m", "cutpurse.cli", "serve", "--address", "127.0.0.1:0", "--game", "greed")


def listening(process: int) -> set[int]:
    """The TCP ports on which a process listens."""
    inodes = set()
    for file in Path(f"/proc/{process}/fd").iterdir():
        try:
            inodes |= set(re.findall(r"socket:\[(\d+)\]", str(file.readlink())))
        except OSError:
            continue
    ports = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{process}/net/{table}").read_text(encoding="utf-8").splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in inodes:
                ports.add(int(fields[1].rpartition(":")[2], 16))
    return ports


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs /proc")
@pytest.mark.parametrize("way", ["off", "option", "environment"])
def test_the_command_opens_a_port_for_it_only_when_asked_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    if way == "environment":
        monkeypatch.setenv("CUTPURSE_METRICS", "127.0.0.1:0")
    words = ["--metrics", "127.0.0.1:0"] if way == "option" else []
    process = subprocess.Popen([*SERVE, "--db", str(tmp_path / "test.db"), *words], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    said = ""
    while "bots dial in" not in said:
        said += (line := process.stderr.readline())
        assert line
    ports = {int(port) for port in re.findall(r"(?:dial in at|http://)\D*127\.0\.0\.1:(\d+)", said)}
    try:
        assert listening(process.pid) == ports
        assert len(ports) == (1 if way == "off" else 2)
        if way != "off":
            where = re.findall(r"http://([\d.:]+)/metrics", said)[0]
            assert get(where, "/readyz") == (200, "ok\n")
            assert "cutpurse_build_info" in get(where, "/metrics")[1]
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=240)
    assert process.returncode == 0


def test_an_address_for_others_is_refused_in_a_line_before_there_is_a_database(tmp_path: Path) -> None:
    database = tmp_path / "test.db"
    run = subprocess.run(
        [*SERVE, "--db", str(database), "--metrics", "0.0.0.0:9777"], capture_output=True, text=True, check=False
    )
    assert run.returncode == 2
    assert len(run.stderr.splitlines()) == 1
    assert "0.0.0.0" in run.stderr
    assert not database.exists()
