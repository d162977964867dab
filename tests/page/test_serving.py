"""The page as a process: beside a server, which keeps it running, or by itself."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.faults.processes import Server, server
from tests.looking import until
from tests.ports import free_port
from tests.roots import CHECKOUT

CUTPURSE = (sys.executable, "-m", "cutpurse.cli")


def page_address(said: str) -> str:
    found = re.search(r"the page is at (http://\S+)", said)
    assert found, said
    return found[1]


def address_of(host: Server) -> str:
    """Of the page of a server, which says that bots can dial in before it starts its page."""
    line = re.compile(r"the page is at (http://\S+)\n")
    until(lambda: line.search(host.said) is not None, "the page's address is said")
    return page_address(host.said)


def process_of(host: Server) -> int:
    return int(host.events("page started")[-1]["pid"])


def is_gone(address: str) -> bool:
    try:
        httpx.get(f"{address}healthz", timeout=5)
    except httpx.TransportError:
        return True
    return False


def ladder_names(address: str) -> set[str]:
    answer = httpx.get(address, timeout=240)
    assert answer.status_code == 200, answer.text
    return set(re.findall(r'href="/ladders/([^"/]+)"', answer.text))


def test_a_page_that_dies_is_started_again_and_who_comes_meanwhile_waits(tmp_path: Path) -> None:
    with server(tmp_path, "--web", "127.0.0.1:0", "--game", "greed") as host:
        address = address_of(host)
        assert ladder_names(address) == {"greed"}
        os.kill(process_of(host), signal.SIGKILL)
        assert ladder_names(address) == {"greed"}
        assert len(host.events("page started")) == 2
        assert os.getpriority(os.PRIO_PROCESS, process_of(host)) >= 10
        host.signal(signal.SIGTERM)
        assert host.ends() == 0
        assert is_gone(address)


def test_after_a_kill_of_the_server_its_page_goes_and_the_next_server_has_the_address(tmp_path: Path) -> None:
    listen = f"127.0.0.1:{free_port()}"
    with server(tmp_path, "--web", listen, "--game", "greed") as host:
        address = address_of(host)
        assert ladder_names(address) == {"greed"}
        host.signal(signal.SIGKILL)
        host.ends()
    with server(tmp_path, "--web", listen, "--game", "greed", name="next") as successor:
        assert address_of(successor) == address
        assert ladder_names(address) == {"greed"}
        successor.signal(signal.SIGKILL)
        successor.ends()
        until(lambda: is_gone(address), "the page goes")


def test_while_the_server_hangs_its_page_lives_and_says_so(tmp_path: Path) -> None:
    with server(tmp_path, "--web", "127.0.0.1:0", "--game", "greed") as host:
        address = address_of(host)
        assert ladder_names(address) == {"greed"}
        page = process_of(host)
        assert b"--reconnect-timeout" not in Path(f"/proc/{page}/cmdline").read_bytes()  # however long it hangs
        host.signal(signal.SIGSTOP)
        with httpx.Client(base_url=address, timeout=240) as browser:
            until(lambda: "The arena does not answer now" in browser.get("/").text, "the page says so")
            shown = browser.get("/")
            assert (shown.status_code, 'href="/ladders/greed"' in shown.text) == (200, True)
            for path in ("/healthz", "/rules/greed", "/docs/reference/protocol"):
                assert browser.get(path).status_code == 200
            assert browser.get("/api/v1/ladders").status_code == 503  # programs are told, and not what was so once
            host.signal(signal.SIGCONT)
            until(lambda: "away-note" not in browser.get("/").text, "the page has the server again")
        assert process_of(host) == page
        assert host.events("page ended") == []


@contextmanager
def page_alone(*words: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`cutpurse web`, and what it has said until it listens."""
    command = [*CUTPURSE, "web", *map(str, words)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=CHECKOUT) as process:
        assert process.stderr is not None
        try:
            yield process, process.stderr.readline()
        finally:
            process.kill()


def test_where_no_server_is_the_page_says_so_and_ends_in_order() -> None:
    with page_alone("--listen", "127.0.0.1:0", "--server", "127.0.0.1:1") as (process, said):
        answer = httpx.get(page_address(said), timeout=240)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        assert "127.0.0.1:1" not in answer.text
        assert httpx.get(f"{page_address(said)}healthz", timeout=240).status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(240) == 0


def test_one_that_other_machines_can_read_is_said_to_be(tmp_path: Path) -> None:
    with page_alone("--listen", "0.0.0.0:0", "--server", "127.0.0.1:1") as (process, _):
        assert process.stderr is not None
        assert "other machines can read it" in process.stderr.readline()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("web", "--db", "none.db"), 4, "no database none.db: it does not exist"),
        (("web", "--db", "a.db", "--server", "127.0.0.1:1"), 2, "name one of them"),
        (("web", "none.jsonl"), 4, "no file none.jsonl: it does not exist"),
        (("web", "none.jsonl", "--db", "a.db"), 2, "name one of them"),
        (("web", "--listen", "nowhere", "--server", "127.0.0.1:1"), 2, "'nowhere' is no address"),
        (("web", "--listen", "unix:/x", "--server", "127.0.0.1:1"), 2, "is no address for HTTP"),
        (("web", "--reconnect-timeout", "0"), 2, "it is a number of seconds above 0"),
        (("serve", "--web", "unix:/x"), 2, "is no address for HTTP"),
        (("serve", "--web", "192.0.2.1:0"), 1, "cannot listen on 192.0.2.1:0"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(words: tuple[str, ...], code: int, said: str, tmp_path: Path) -> None:
    run = subprocess.run([*CUTPURSE, *words], check=False, capture_output=True, text=True, cwd=tmp_path, timeout=240)
    assert (run.returncode, run.stderr.count("\n")) == (code, 1), run.stderr
    assert said in run.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["web", "serve"])
def test_a_missing_extra_is_told_by_the_line_that_installs_it(command: str, tmp_path: Path) -> None:
    program = "import sys; sys.modules['fastapi'] = None; from cutpurse.cli.main import main; main()"
    words = [command, *(("--web", "127.0.0.1:0") if command == "serve" else ())]
    run = subprocess.run(
        [sys.executable, "-c", program, *words], check=False, capture_output=True, text=True, cwd=tmp_path, timeout=240
    )
    assert run.returncode == 2
    assert (
        run.stderr
        == "cutpurse: fastapi is not installed; in a checkout of Cutpurse, this does it: pip install '.[web]'\n"
    )
