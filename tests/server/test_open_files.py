"""A server may open as many files as its connections need, whatever the shell that started it lets it have at first."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from cutpurse.server.logs import logger
from cutpurse.server.open_files import FILES, raise_file_limit

resource = pytest.importorskip("resource")

IN_FEW = 'ulimit -Sn 256; exec "$@"'


def test_a_server_raises_the_soft_limit_of_its_shell(tmp_path: Path) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    serve = [
        sys.executable,
        "-m",
        "cutpurse.cli",
        "serve",
        "--address",
        "127.0.0.1:0",
        "--db",
        tmp_path / "test.db",
    ]
    process = subprocess.Popen(
        ["sh", "-c", IN_FEW, "sh", *map(str, serve)], stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    try:
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        assert next(line for line in lines if line.startswith("bots dial in"))
        limit = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
    finally:
        process.terminate()
        process.communicate(timeout=240)
    assert limit == (FILES if hard == resource.RLIM_INFINITY else min(FILES, hard), hard)


@pytest.mark.parametrize(
    ("soft", "hard", "then", "told"),
    [
        (1_024, 524_288, 16_384, []),
        (1_024, -1, 16_384, []),
        (1_024, 4_096, 4_096, [4_096]),
        (1_024, 1_024, 1_024, [1_024]),
        (65_536, 524_288, 65_536, []),
        (-1, -1, -1, []),
    ],
)
def test_it_is_raised_as_far_as_the_hard_one_goes_and_few_are_told(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, then: int, told: list[int]
) -> None:
    limits = [(soft, hard)]
    monkeypatch.setattr(resource, "RLIM_INFINITY", -1)
    monkeypatch.setattr(resource, "getrlimit", lambda which: limits[-1])
    monkeypatch.setattr(resource, "setrlimit", lambda which, wanted: limits.append(wanted))
    said = io.StringIO()
    raise_file_limit(logger(said))
    assert limits[-1] == (then, hard)
    assert [json.loads(line)["most"] for line in said.getvalue().splitlines()] == told
