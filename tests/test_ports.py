"""A claimed port is nobody else's: neither another call, nor another process of tests, nor the system gives it away."""

import socket
import subprocess
import sys
from pathlib import Path

from tests.ports import free_port
from tests.roots import CHECKOUT

ASK = [sys.executable, "-c", "from tests.ports import free_port; print(free_port())"]


def test_each_port_is_given_away_once() -> None:
    mine = {free_port() for _ in range(3)}
    other = subprocess.run(ASK, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert len({*mine, int(other)}) == 4


def test_where_a_program_listens_is_not_free() -> None:
    port = free_port()
    with socket.create_server(("127.0.0.1", port + 1)):
        assert free_port() > port + 1


def test_the_system_gives_none_of_them_away() -> None:
    given = Path("/proc/sys/net/ipv4/ip_local_port_range")
    assert not given.exists() or free_port() < int(given.read_text(encoding="utf-8").split()[0])
