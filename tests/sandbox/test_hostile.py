"""Hostile programs, each tried in a real sandbox, beside a bot that means well and keeps answering.

README.md in this folder lists what is tried and what happens. Renew it with
`pytest tests/sandbox/test_hostile.py --update-pages`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from cutpurse.server.runners.cgroups import cgroups
from cutpurse.server.runners.port import Running
from cutpurse.server.runners.process_usage import descendants
from cutpurse.server.runners.runtimes import python_runtime
from tests.roots import CHECKOUT
from tests.sandbox import probes as probes_file
from tests.sandbox.expected import ANSWERS, GROUPS, IN_CONTAINERS, IN_WORDS
from tests.sandbox.hogs import HOGS
from tests.sandbox.trying import Bench, runner_or_skip
from tests.sdk.programs import wait_until_gone

PAGE: Final = CHECKOUT / "tests" / "sandbox" / "README.md"
ANSWER_S: Final = 240.0  # for an answer of the neighbour; its share is small, and this machine may be busy
CALL: Final = re.compile(r'call\("(\w+)"')

WELL_BEHAVED = """
import os, socket
calling = socket.socket(socket.AF_UNIX)
calling.connect(os.environ["CUTPURSE_SERVER"].removeprefix("unix:"))
while (asked := calling.recv(1)):
    sum(range(2000))
    calling.sendall(asked)
"""


@dataclass
class Neighbour:
    """A bot that means well, in a sandbox of its own."""

    running: Running
    stream: socket.socket
    answers: int = 0
    worst_s: float = 0.0

    def ask(self) -> None:
        """It answers, and in time."""
        began = time.monotonic()
        self.stream.sendall(b"?")
        assert self.stream.recv(1) == b"?", self.running.ended()
        self.worst_s = max(self.worst_s, time.monotonic() - began)
        self.answers += 1


@pytest.fixture(scope="module", params=["bubblewrap", pytest.param("container", marks=pytest.mark.soak)])
def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    made = Bench(runner_or_skip(request.param), tmp_path_factory.mktemp("sandbox"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def neighbour(bench: Bench) -> Iterator[Neighbour]:
    arena, listening = bench.arena("neighbours-arena")
    with listening:
        running = bench.start("neighbour", WELL_BEHAVED, arena=arena)
        stream, _ = listening.accept()
    with stream:
        stream.settimeout(ANSWER_S)
        yield Neighbour(running, stream)


@pytest.mark.parametrize("name", HOGS)
def test_what_takes_all_it_can_get_ends_with_its_cause_and_harms_nobody(
    bench: Bench, neighbour: Neighbour, name: str
) -> None:
    hog = HOGS[name]
    if lacking := set(hog.needs) & set(cgroups().lacks()):
        pytest.skip(f"this host has no control group for {', '.join(sorted(lacking))}")
    before = neighbour.answers
    began = time.monotonic()
    running = bench.start(name.replace(" ", "_"), hog.source, hog.limits, is_writable=hog.is_build)
    inside: set[int] = set()
    while (ended := running.wait(0.02)) is None:
        neighbour.ask()
        inside.update(descendants(running.pid))
    lived_s = time.monotonic() - began
    neighbour.ask()
    assert ended.cause in hog.causes, (ended, running.talk())
    assert hog.said in running.talk()
    assert neighbour.answers > before
    wait_until_gone([*inside])
    assert all(sign.isprintable() or sign in "\n\t" for sign in running.talk())
    if "cpu" not in cgroups().lacks():  # the share is that of a tenth of a second, of which the last counts in full
        assert ended.use.cpu_s <= hog.limits.cpu_cores * (lived_s + 0.2) * 1.2 + 0.1
    if "memory" not in cgroups().lacks():
        assert ended.use.peak_bytes <= hog.limits.memory_bytes
    if not hog.is_build:
        assert sum(file.stat().st_blocks << 9 for file in bench.root.rglob("*") if file.is_file()) < 256 << 20
        assert [path.name for path in (bench.root / name.replace(" ", "_")).iterdir()] == ["main.py"]
    else:
        subprocess.run(["rm", "-rf", str(bench.root / name.replace(" ", "_"))], check=True)


@pytest.fixture(scope="module")
def answers(bench: Bench) -> dict[str, str]:
    """What a hostile program was told about each of its attempts."""
    secret, abstract = "5ecret-of-the-server", f"cutpurse-{os.getpid()}"
    (bench.root / "league.db").write_text("the database", encoding="utf-8")
    other = bench.root / "other"
    other.mkdir()
    (other / "model.bin").write_text("of another bot", encoding="utf-8")
    other_arena, other_listening = bench.arena("others-arena")
    arena, listening = bench.arena("own-arena")
    hidden, port = socket.socket(socket.AF_UNIX), socket.create_server(("127.0.0.1", 0))
    hidden.bind("\0" + abstract)
    hidden.listen()
    given = {
        "calls": _numbers(Path(probes_file.__file__).read_text(encoding="utf-8")),
        "secret": secret[::-1],  # so that it is in no environment but ours
        "port": port.getsockname()[1],
        "abstract": abstract,
        "other_socket": str(other_arena / "bot.sock"),
        "other_file": str(other / "model.bin"),
        "database": str(bench.root / "league.db"),
        "server": os.getpid(),
        "setuid": shutil.which("su") or "/usr/bin/su",
    }
    os.environ["CUTPURSE_SECRET_FOR_TEST"] = secret
    try:
        task = bench.task("probes", "", arena=arena, environment={"CUTPURSE_GIVEN": json.dumps(given)})
        shutil.copy(probes_file.__file__, task.folder / "main.py")
        running = bench.runner.start(task)
        bench.started.append(running)
        ended = running.wait(240)
    finally:
        del os.environ["CUTPURSE_SECRET_FOR_TEST"]
        for one in (hidden, port, listening, other_listening):
            one.close()
    assert ended is not None
    assert ended.code == 0, running.talk()
    return dict(line.split("\t", 1) for line in running.talk().splitlines())


def _numbers(source: str) -> dict[str, int]:
    """Of the system calls that the probes name, on this machine."""
    import pyseccomp

    return {name: pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name) for name in CALL.findall(source)}


def test_every_attempt_has_its_answer(bench: Bench, answers: dict[str, str]) -> None:
    expected = ANSWERS | (IN_CONTAINERS if bench.runner.name == "container" else _on_the_way())
    wrong = {
        name: answer for name, answer in answers.items() if not re.fullmatch(expected.get(name, "no such row"), answer)
    }
    assert wrong == {}
    assert set(ANSWERS) == set(answers) == {name for names in GROUPS.values() for name in names}


def _on_the_way() -> dict[str, str]:
    """Where our Python or this checkout lies in /home, the folder that leads there is seen, and nothing else of it."""
    seen = {folder.parts[2] for folder in python_runtime() if folder.is_relative_to("/home")}
    return {"/home": re.escape(f"DONE {sorted(seen)}")} if seen else {}


def test_the_page_says_what_was_tried_and_what_comes_of_it(pytestconfig: pytest.Config) -> None:
    attempts = [f"| {group} | {', '.join(names)} | {IN_WORDS[group]} |\n" for group, names in GROUPS.items()]
    hogs = [f"| {hog.tries} | {hog.happens} | {' or '.join(hog.causes)} |\n" for hog in HOGS.values()]
    shown = {
        "attempts": "| area | attempts | result |\n|---|---|---|\n" + "".join(attempts),
        "hogs": "| program | result | cause |\n|---|---|---|\n" + "".join(hogs),
    }
    text = PAGE.read_text(encoding="utf-8")
    if pytestconfig.getoption("--update-pages"):
        for marker, table in shown.items():
            text = _table(marker).sub(lambda match, table=table: match[1] + table, text)  # type: ignore[misc]
        PAGE.write_text(text, encoding="utf-8")
    found = {marker: match[2] for marker in shown if (match := _table(marker).search(text))}
    assert found == shown


def _table(marker: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- {marker} -->\n)((?:\|.*\n)*)")
