"""What a shell is offered: asked as the scripts of bash, zsh and fish ask, in a process of its own."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from cutpurse.cli.main import app
from cutpurse.leaderboard.ladders import NewLadder, ensure_ladder
from cutpurse.leaderboard.ratings import TrueSkill
from cutpurse.leaderboard.store import Store
from tests.leaderboard.sample_results import add_version, result

BUILT_IN = ["expert", "first_option", "greedy", "random", "search"]
NAMED = [
    "GAME",
    "LADDER",
    "[LADDER]...",
    "BOT",
    "BOT...",
    "NEW",
    "OLD",
    "BOT,BOT,...",
    "BOTS",
    "NAME=VALUE",
]  # what can be completed
COMMAND = [sys.executable, "-c", "from cutpurse.cli.main import main; main()"]
IMPORTED = """
import sys
from cutpurse.cli.main import main
try:
    main()
finally:
    print([name for name in sys.modules if name.endswith(".rules") or name == "grpc"], file=sys.stderr)
"""


def offered(shell: str, line: str, folder: Path, command: list[str] = COMMAND) -> tuple[list[str], str]:
    """What is offered at the end of a line, and what the command says to stderr; bash has split no word of it."""
    words = line.split(" ")
    asked = {
        "bash": {"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1)},
        "zsh": {"_TYPER_COMPLETE_ARGS": line},
        "fish": {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }[shell]
    plain = os.environ | {"CUTPURSE_SERVER": "127.0.0.1:1"}  # where nothing listens
    run = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=plain | asked | {"_CUTPURSE_COMPLETE": f"complete_{shell}"},
    )
    assert "Traceback" not in run.stderr
    lines = [line for line in run.stdout.splitlines() if line]
    if shell == "zsh":
        lines = [] if lines == ["_files"] else shlex.split(run.stdout.partition("((")[2].partition("))")[0])
        lines = [line.partition(":")[0] for line in lines]  # before what is said of it
    return [line.partition("\t")[0] for line in lines], run.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a bot, a folder, and a database with two ladders."""
    (tmp_path / "my_bot.py").touch()
    (tmp_path / "_helper.py").touch()
    (tmp_path / "notes.txt").touch()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "other.py").touch()
    with Store(tmp_path / "league.db") as store:
        for name in ("duel", "open"):
            store.write(ensure_ladder, NewLadder(name, game="greed", seats=2, rating=TrueSkill(draw_probability=0.05)))
        ann, bob = add_version(store, "ann", "sneak", "1.0"), add_version(store, "local", "thug", "2")
        store.submit(result("match0", [ann, bob], ladder="duel")).result()
    return tmp_path


LINES: list[tuple[str, list[str]]] = [
    ("cutpurse pl", ["play", "place"]),
    ("cutpurse play s", ["steal_and_plunder", "stolen_treasure", "szmal"]),
    ("cutpurse play greed ", [*BUILT_IN, "my_bot.py", "mine/"]),
    ("cutpurse play greed random m", ["my_bot.py", "mine/"]),
    ("cutpurse compare greed mine/", ["mine/other.py"]),
    ("cutpurse compare greed random greedy --field random,gr", ["random,greedy"]),
    ("cutpurse play greed --set mode", ["mode=single", "mode=tournament"]),
    ("cutpurse ladder create new --game greed --set max", ["max_rounds=60"]),
    ("cutpurse bot check my_bot.py --game b", ["bag_o_loot"]),
    ("cutpurse ladder show --db league.db ", ["duel", "open"]),
    ("cutpurse match list --db league.db --ladder o", ["open"]),
    ("cutpurse export --db league.db --ladder d", ["duel"]),
    ("cutpurse ladder history --db league.db duel a", ["ann/sneak"]),
    ("cutpurse db estimate league.db d", ["duel"]),
    ("cutpurse ladder show --db nothing.db ", []),
    ("cutpurse ladder show ", []),
    ("cutpurse play no_such_game --set ", []),
]
# What is offered has one source for all shells; each asks and is answered in its own form, for which some lines do.
IN_SHELLS = [
    *[("bash", *line) for line in LINES],
    *[pytest.param(shell, *line, marks=pytest.mark.full) for shell in ("zsh", "fish") for line in LINES[::3]],
]


@pytest.mark.parametrize(("shell", "line", "expected"), IN_SHELLS)
def test_what_can_be_named_is_offered(shell: str, line: str, expected: list[str], folder: Path) -> None:
    assert offered(shell, line, folder) == (expected, "")


def test_only_the_game_that_is_named_is_imported_and_no_server_is_asked_for_it(folder: Path) -> None:
    for line, imported in (
        ("cutpurse play ", "[]\n"),
        ("cutpurse play greed ", "[]\n"),
        ("cutpurse play greed --set ", "['cutpurse.games.greed.rules']\n"),
    ):
        values, said = offered("bash", line, folder, [sys.executable, "-c", IMPORTED])
        assert (bool(values), said) == (True, imported)


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash on this system")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("play greed --set mode = si", ["single"]),
        ("play greed --set mode =", ["single", "tournament"]),
        ("play greed --set = mode = t", ["tournament"]),
        ("play greed my", ["my_bot.py"]),
    ],
)
def test_bash_itself_is_offered_the_rest_of_a_word_that_it_splits(
    words: str, expected: list[str], folder: Path
) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    script = subprocess.run(
        ["cutpurse", "--show-completion", "bash"], capture_output=True, text=True, check=True, env=environment
    ).stdout
    asks = f"COMP_WORDS=(cutpurse {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _cutpurse_completion cutpurse"
    shown = 'printf "%s\\n" "${COMPREPLY[@]}"'
    run = subprocess.run(
        ["bash", "--norc", "-c", f"{script}\n{asks}\n{shown}"],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=environment,
    )
    assert (run.stdout.split(), run.stderr) == (expected, "")


def commands(command: Any, path: str = "cutpurse") -> Iterator[tuple[str, Any]]:
    """Each command with what is typed for it."""
    for name in getattr(command, "commands", ()):
        yield from commands(command.commands[name], f"{path} {name}")
    if not hasattr(command, "commands"):
        yield path, command


def test_every_game_bot_ladder_and_setting_of_every_command_is_completed() -> None:
    params = {f"{path} {param.name}": param for path, one in commands(get_command(app)) for param in one.params}
    named = {path: param for path, param in params.items() if param.metavar in NAMED}
    assert len(named) > 25
    assert [path for path, param in named.items() if param._custom_shell_complete is None] == []
