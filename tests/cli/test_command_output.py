"""What commands print where: each that answers a question does so on stdout, whatever it says on stderr."""

from __future__ import annotations

from typing import Any

from typer.main import get_command

from cutpurse.cli.main import app
from tests.cli.hosted_league import Hosted, hosted

__all__ = ["hosted"]  # the fixture

ANSWERS = [  # commands that answer, each with a line that it answers here
    "games",
    "rules greed",
    "play greed random random",
    "compare greed random greedy --max-boards 1",
    "bot list",
    "bot logs sneak",
    "bot style random FOLDER/run.jsonl",
    "ladder list",
    "ladder rankings duel",
    "ladder show duel",
    "ladder history duel ann/sneak",
    "ladder history duel ann/sneak --opponents",
    "ladder rankings duel --overall",
    "ladder circles duel",
    "ladder pairs people.greed.3 --db FOLDER/test.db",
    "match list",
    "match show match0000",
    "match verify FOLDER/run.jsonl",
    "match replay FOLDER/run.jsonl",
    "match replay FOLDER/run.jsonl --luck",
    "export FOLDER/run.jsonl --to FOLDER/data",
    "tournament run FOLDER/cup.toml --plan",
    "tournament run FOLDER/cup.toml",
    "tournament show FOLDER/cup.toml",
    "event list",
    "awards duel",
    "status",
    "db copies FOLDER/test.db",
    "db verify FOLDER/test.db",
    "token list",
    "token list --acts",
    "serve --show-config",
]
# commands that change something, take long, or wait for bots and machines that are not here
ACTS = {
    "bot change",
    *("bot init", "bot check", "bot run", "bot submit", "bot submitted"),
    *("ladder create", "ladder change", "ladder delete"),
    *("match request", "match download", "match watch", "match picture", "notify add", "notify list"),
    *("notify remove", "mcp", "event start", "event show", "event stop", "tune"),
    *("db upgrade", "db backup", "db restore", "db copy", "db estimate", "demo", "place"),
    *("serve", "token create", "token revoke", "token link", "train", "web"),
    "worker",
    *("exploit", "site build", "yardstick measure", "yardstick verify"),
}
CUP = 'game = "greed"\nseats = 2\nbots = ["random", "greedy"]\ndeals = 1\n'


def commands(group: Any, words: str = "") -> set[str]:
    """Return the words of each command."""
    below = getattr(group, "commands", None)
    return {words} if below is None else {path for name in below for path in commands(below[name], f"{words} {name}")}


async def test_every_command_that_answers_does_so_on_stdout(hosted: Hosted) -> None:
    (hosted.folder / "cup.toml").write_text(CUP, encoding="utf-8")
    assert (await hosted.typed("play greed random random --record FOLDER/run.jsonl")).exit_code == 0
    for line in ANSWERS:
        run = await hosted.typed(line, "ann" if line.startswith("bot ") else "root")
        assert run.exit_code == 0, (line, run.stderr)
        assert run.stdout.strip(), (line, run.stderr)


def test_every_command_answers_or_acts() -> None:
    names = {path.strip() for path in commands(get_command(app))}
    answering = {name for name in names for line in ANSWERS if f"{line} ".startswith(f"{name} ")}
    assert names - answering - ACTS == set()
