"""The compose file of a league on several servers: what it starts exists, and tells whether it lives."""

from __future__ import annotations

import asyncio
import re
import shlex
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
import typer.main

from cutpurse.cli.main import app
from cutpurse.server.logs import logger
from cutpurse.server.parts.submissions.machine import monitored
from cutpurse.server.settings import SETTINGS
from cutpurse.wire.server_address import CA_VARIABLE, TOKEN_VARIABLE
from tests.docker.compose import IMAGE_HEALTH, parts
from tests.postgresql_server import programs
from tests.roots import CHECKOUT

PARTS = parts("league.yaml")
OURS = [name for name in PARTS if name != "postgres"]


def health(name: str) -> list[str]:
    """The words of the health check of a part."""
    own = PARTS[name].get("healthcheck")
    if own is not None:
        return list(own["test"][1:])
    text = (CHECKOUT / "docker/server.Dockerfile").read_text(encoding="utf-8")
    (command,) = re.findall(r"^ +CMD (\[.*healthz.*\])$", text, re.MULTILINE)
    return [word.strip(",") for word in shlex.split(command[1:-1])]


def test_all_parts_are_there_and_may_do_little() -> None:
    assert [*PARTS] == ["postgres", "arena-a", "arena-b", "place", "worker", "page"]
    for name, part in PARTS.items():
        assert part["restart"] == "unless-stopped", name
        assert {"mem_limit", "cpus", "pids_limit"} <= part.keys(), name
        assert not part.get("privileged", False)
    for name in OURS:
        assert (PARTS[name]["read_only"], PARTS[name]["cap_drop"]) == (True, ["ALL"]), name
    # the filter of system calls is off only where sandboxes are made
    assert [name for name in OURS if "no-new-privileges:true" in PARTS[name]["security_opt"]] == ["page"]
    assert PARTS["page"]["ports"] == ["127.0.0.1:8080:8080"]
    assert [name for name in OURS if "build" in PARTS[name]] == ["arena-a"]


def parse_cutpurse(arguments: list[object]) -> str | None:
    """Parse the arguments of `cutpurse`; return the name of the command."""
    words = [str(word) for word in arguments]
    group = typer.main.get_command(app)
    with group.make_context("cutpurse", words, resilient_parsing=False) as context:
        _, command, rest = group.resolve_command(context, words)  # type: ignore[attr-defined]
        with command.make_context(words[0], list(rest), parent=context) as parsed:
            name: str | None = parsed.command.name
            return name


@pytest.mark.parametrize("name", OURS)
def test_a_part_is_a_command_with_options_that_there_are(name: str) -> None:
    assert parse_cutpurse(PARTS[name]["command"]) == PARTS[name]["command"][0]
    known = {setting.variable for setting in SETTINGS} | {CA_VARIABLE, TOKEN_VARIABLE, "PGPASSWORD"}
    assert PARTS[name]["environment"].keys() <= known


def test_a_league_on_a_rented_machine_is_behind_tls_and_is_backed_up() -> None:
    host = parts("host.yaml")
    assert [*host] == ["owner", "caddy", "server", "backup"]
    for name, part in host.items():
        assert (part["read_only"], part["cap_drop"]) == (True, ["ALL"]), name
        assert part["security_opt"] == ["no-new-privileges:true"], name
        assert {"mem_limit", "cpus", "pids_limit"} <= part.keys(), name
    assert {port for part in host.values() for port in part.get("ports", ())} == {
        *("80:80", "443:443", "443:443/udp", "7777:7777")
    }  # and no page without TLS
    server, caddy = host["server"]["environment"], host["caddy"]
    assert server.keys() - {"FORWARDED_ALLOW_IPS"} <= {setting.variable for setting in SETTINGS}
    assert server["FORWARDED_ALLOW_IPS"] == caddy["networks"]["league"]["ipv4_address"]
    assert server["CUTPURSE_TLS_KEY"] == caddy["healthcheck"]["test"][-1]
    caddyfile = (CHECKOUT / "docker/Caddyfile").read_text(encoding="utf-8")
    assert "acme_ca https://acme-v02.api.letsencrypt.org/directory" in caddyfile
    assert "reverse_proxy server:8080" in caddyfile
    assert {*re.findall(r"\{\$(\w+)\}", caddyfile)} == {name for name in caddy["environment"] if "LEAGUE" in name}
    assert parse_cutpurse(host["server"]["command"]) == "serve"


def test_the_backup_of_a_rented_machine_replaces_only_by_a_whole_copy(tmp_path: Path) -> None:
    backup = parts("host.yaml")["backup"]
    assert backup["entrypoint"] == ["sh", "-c"]
    (script,) = backup["command"]
    fake = tmp_path / "cutpurse"  # the first copy is written, the second fails, and then the loop is left
    fake.write_text('#!/bin/sh\necho "$4" >> log\n[ "$(wc -l < log)" = 1 ] && echo whole > "$4"\n')
    (tmp_path / "sleep").write_text('#!/bin/sh\n[ "$(wc -l < log)" = 1 ] || kill $PPID\n')
    for file in tmp_path.iterdir():
        file.chmod(0o755)
    (tmp_path / "backups").mkdir()
    words = ["sh", "-c", script.replace("$$", "$").replace("/backups", "backups")]
    subprocess.run(words, cwd=tmp_path, env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, check=False)
    (copy,) = (tmp_path / "backups").iterdir()
    assert re.fullmatch(r"league-[1-7]\.db", copy.name)
    assert copy.read_text() == "whole\n"


def test_each_part_tells_whether_it_lives() -> None:
    assert health("postgres")[:2] == ["pg_isready", "-q"]
    for name in OURS:
        command = " ".join(map(str, PARTS[name]["command"]))
        (address,) = re.findall(r"http://(127\.0\.0\.1:\d+)/healthz", " ".join(health(name)))
        if name == "page":
            assert f"--listen 0.0.0.0:{address.rpartition(':')[2]}" in command
        else:
            assert f"http://{address}/healthz" == IMAGE_HEALTH
            assert name.startswith("arena") or f"--metrics {address}" in command


@pytest.mark.skipif(programs() is None, reason="PostgreSQL is not installed here")
def test_the_check_of_the_database_runs() -> None:
    found = programs()
    assert found is not None
    words = [str(found / "pg_isready"), *health("postgres")[1:], "-h", "127.0.0.1", "-p", "1"]
    assert subprocess.run(words, check=False).returncode == 2  # nobody answers


async def test_the_check_of_a_place_and_a_worker_runs(capsys: pytest.CaptureFixture[str]) -> None:
    _, *words = health("worker")

    async def check(address: str) -> int:
        script = [word.replace("127.0.0.1:9100", address) for word in words]
        process = await asyncio.create_subprocess_exec(sys.executable, *script, stderr=asyncio.subprocess.DEVNULL)
        return await process.wait()

    figures = {"worker_slots": "Matches that this worker plays at a time"}
    with monitored("127.0.0.1:0", figures, lambda: {"worker_slots": 3}, logger(StringIO(), "info")):
        (address,) = re.findall(r"metrics at http://(\S+)/metrics", capsys.readouterr().err)
        reader, writer = await asyncio.open_connection(*address.split(":"))
        writer.write(b"GET /metrics HTTP/1.1\r\n\r\n")
        assert b"\ncutpurse_worker_slots 3.0\n" in await reader.read()
        writer.close()
        assert await check(address) == 0
    assert await check(address) == 1
