"""The tutorial on training: its bot, manifest and commands, but for the training itself, with a random net."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from cutpurse.check import scenarios
from cutpurse.wire.manifest import read_manifest
from cutpurse.wire.packing import pack
from tests.cli.test_bot_run import begin
from tests.learn.nets import random_net
from tests.roots import CHECKOUT
from tests.sdk.arena import arena
from tests.typed import run

TEXT = (CHECKOUT / "docs" / "tutorial" / "train_a_bot.md").read_text(encoding="utf-8")
PROGRAMS = dict(re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL))
(MANIFEST,) = re.findall(r"^```toml\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
COMMANDS = re.findall(r"^\$ (cutpurse.*)$", TEXT, re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a reader has after the first two steps, in the current folder."""
    made = tmp_path / "runs" / "szmal"
    made.mkdir(parents=True)
    random_net("szmal").save(made / "net.npz")
    (made / "my_net_bot.py").write_text(PROGRAMS["my_net_bot.py"], encoding="utf-8")
    (made / "bot.toml").write_text(MANIFEST, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return made


def words(command: str) -> list[str]:
    """Return the words of the only command of the page that begins like this."""
    (line,) = [line for line in COMMANDS if line.startswith(command)]
    return shlex.split(line)


def test_the_bot_of_the_page_plays_its_matches(folder: Path) -> None:
    typed = words("cutpurse play")
    typed[typed.index("1000")] = "2"
    played = run(*typed[1:])
    assert (played.exit_code, played.stderr) == (0, "")
    assert played.stdout.splitlines()[1].startswith(typed[3])
    assert "2 matches of szmal" in played.stdout


def test_the_training_of_a_net_is_printed(folder: Path) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAMS["trained.py"]], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("{'seed': 1, 'teacher': 'greedy'}\n", "")


async def test_the_bot_of_the_page_plays_on_a_server(folder: Path) -> None:
    async with arena(games=["szmal"], matches=1) as server:
        typed = words("cutpurse bot run")
        process = await begin(server, *typed[3:], "--matches", 1)
        out, err = await process.communicate()
    assert (process.returncode, out) == (0, b"")
    first, *notes, last = err.decode().splitlines()
    assert first.startswith("my_net_bot (version 1) plays at ")
    assert all("the net is for 4 seats, not 3: " in note for note in notes)  # the server of this test has three
    assert last.startswith("match ")


def test_the_manifest_of_the_page_leaves_the_state_at_home(folder: Path) -> None:
    for name in ("state.pt", "curve.jsonl"):
        (folder / name).touch()
    packed = pack(Path(words("cutpurse bot submit")[3]))
    assert sorted(name for name, _ in packed.files) == ["bot.toml", "my_net_bot.py", "net.npz"]
    assert packed.left_out == ("curve.jsonl", "state.pt")
    assert read_manifest(MANIFEST.encode()).games == ("szmal",)


@pytest.mark.full  # waits for the deadlines of the check
def test_the_bot_of_the_page_passes_the_check(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scenarios, "DIAL_IN_S", 60.0)  # a machine that is busy with other tests starts programs slowly
    checked = run(*words("cutpurse bot check")[1:], "--json")
    assert checked.exit_code == 0, checked.stdout
    assert {scenario["verdict"] for scenario in json.loads(checked.stdout)["findings"]} <= {"passed", "warned"}


def test_every_message_of_the_page_is_one_of_the_program() -> None:
    table = TEXT.partition("## What can go wrong")[2]
    sources = "".join(
        path.read_text(encoding="utf-8")
        for path in (CHECKOUT / "sdk" / "cutpurse").rglob("*.py")
        if path.parent.name in ("learn", "training", "wire")
    )
    for said in re.findall(r"^\| `(.+?)`", table, re.MULTILINE):
        fixed = max(re.split(r"torch|state\.pt|net\.npz|\b[0-9]\b|seed|szmal|greed|numbering|\.\.\.", said), key=len)
        assert fixed.strip() in sources, said
