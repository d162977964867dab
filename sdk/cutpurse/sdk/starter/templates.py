"""The text templates of this package, and the guide for coding agents, which bots in every language get.

This module knows no command line.
"""

from __future__ import annotations

import re
import shlex
from importlib.resources import files
from pathlib import Path
from typing import Final

from cutpurse.engine.game import Game
from cutpurse.games.rule_book import rules_in_short

__all__ = ["AGENTS", "agents_text", "filled", "template"]

AGENTS: Final = "AGENTS.md"


def template(name: str) -> str:
    """Return the text of a template."""
    return files(__package__).joinpath(f"{name}.txt").read_text(encoding="utf-8")


def filled(name: str, fields: dict[str, str]) -> str:
    """Return the text of a template with its fields, such as {name}, filled in."""
    return re.sub(r"\{([a-z]+)\}", lambda place: fields[place[1]], template(name))


def agents_text(name: str, rules: type[Game], command: tuple[str, ...] = ()) -> str:
    """Return the guide for coding agents.

    Args:
        name: Name of the bot.
        rules: The game that the guide speaks of.
        command: Command that runs a program. Default: the bot is in Python, and plays this game alone.
    """
    steps = "\n".join(rules_in_short(rules))
    fields = {
        "name": name,
        "title": rules.words.title,
        "game": rules.words.game,
        "others": " ".join(["random"] * (rules.usual_seats - 1)),
        "bot": f"{name}.py",
        "before": "before.py",
        "copy": f"copy `{name}.py` to `before.py` first",
        "start": f"`{name}.py` is the bot, and the file to change. `python -m pytest` runs its tests.",
        "rules": f"`cutpurse rules {rules.words.game}` has them whole. In short:\n\n{steps}",
    }
    if command:
        fields |= {
            "title": "all games",
            "bot": shlex.quote(f"exec:{shlex.join(command)}"),
            "before": shlex.quote(f"exec:{shlex.join([*command[:-1], f'before/{Path(command[-1]).name}'])}"),
            "copy": f"copy `{command[-1]}` into `before/` first",
            "start": "`README.md` says which file is the bot, and how to build it.",
            "rules": "`cutpurse games` lists the games, and `cutpurse rules GAME` prints the rules of one.",
        }
    return filled("agents", fields)
