"""A folder for a new bot: the bot, its tests, a README, a guide for coding agents and a manifest for servers.

The bot is the template of its game in this package. Its tests repeat a decision that the new bot has just made, so they
pass when they are written. This module knows no command line.
"""

from __future__ import annotations

import json
import keyword
import sys
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Final

from cutpurse.engine.chance import match_key
from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.engine.match import Match
from cutpurse.engine.record import read_record, replay, write_record
from cutpurse.games import GAMES, game_named
from cutpurse.sdk.bot import load_bot
from cutpurse.sdk.playing.positions import decision_for
from cutpurse.sdk.playing.seating import play_match
from cutpurse.sdk.starter.place import new_folder
from cutpurse.sdk.starter.templates import AGENTS, agents_text, filled, template
from cutpurse.wire.server_address import DEFAULT_SERVER

__all__ = ["write_starter"]

MATCHES: Final = 40  # in the new bot's test; they take a second or two
SEED: Final = 1
LEAST: Final = 3  # options of the decision in the test


def write_starter(name: str, game: str, where: Path, source: str | None = None) -> list[Path]:
    """Write the folder `where / name`; return its files.

    Args:
        name: Name of the bot.
        game: Name of the game.
        where: Parent folder.
        source: The bot. Default: the template of the game.

    Raises:
        UsageError: If the name is invalid, the game has no template, or the folder exists.
        BotNotLoaded: If the bot cannot be imported.
        CutpurseError: If it decides nothing that could be made a test.
    """
    rules = game_named(game)
    if game not in GAMES.built_in:
        there = ", ".join(sorted(GAMES.built_in))
        raise UsageError(
            f"there is no bot to begin with for {game}, only for {there}; write a class with choose(view, decision)"
        )
    taken = frozenset({*keyword.kwlist, *sys.stdlib_module_names})
    _check_hides_no_package(name)
    folder = new_folder(name, where, taken, "word or module of Python")
    others = rules.usual_seats - 1
    bot, tests, page = folder / f"{name}.py", folder / f"test_{name}.py", folder / "README.md"
    manifest, agents = folder / "bot.toml", folder / AGENTS
    bot.write_text(template(game) if source is None else source, encoding="utf-8")
    fields = {"name": name, "game": game, "title": rules.words.title, "server": DEFAULT_SERVER}
    decision = _decision(bot, game)
    random = ", ".join(['"random"'] * others)
    mean = f"{(rules.usual_seats + 1) / 2:g}"
    of_tests = fields | decision | {"others": random, "matches": str(MATCHES), "mean": mean}
    tests.write_text(filled("test", of_tests), encoding="utf-8")
    page.write_text(filled("readme", fields | {"others": " ".join(["random"] * others)}), encoding="utf-8")
    manifest.write_text(filled("manifest", fields), encoding="utf-8")
    agents.write_text(agents_text(name, rules), encoding="utf-8")
    return [bot, tests, manifest, page, agents]


def _check_hides_no_package(name: str) -> None:
    """Check that no installed package has this name, since the bot's file would hide it.  Raises UsageError."""
    if name in {*packages_distributions(), "cutpurse"}:
        raise UsageError(f"{name!r} is an installed package, and {name}.py would hide it: choose another name")


def _decision(bot: Path, game: str) -> dict[str, str]:
    """Return an early decision of the new bot with a real choice, as the fields of its test."""
    rules = game_named(game)
    makers = [load_bot(str(bot)), *[load_bot("random")] * (rules.usual_seats - 1)]
    names = [f"{bot.stem}.py", *["random"] * (rules.usual_seats - 1)]
    match = Match(rules, names, match_key(SEED, 0), log=True)
    play_match(match, makers)
    record = read_record(write_record(match))
    position = next(
        (
            (len(played.choices), open_decision, decision_for(played, open_decision)[1], chosen.option)
            for played, open_decision, chosen in replay(record, rules)
            if open_decision.seat == 0
            and open_decision.number
            and len(open_decision.options) >= LEAST
            and chosen.option != open_decision.options[0]
        ),
        None,
    )
    if position is None:
        raise CutpurseError(f"the bot for {game} was asked nothing that could be made a test")
    place, open_decision, decision, chosen = position
    head = {
        "game": game,
        "rules": record.rules,
        "key": record.key.hex(),
        "seats": names,
        "settings": record.settings,
    }
    return {
        "ask": open_decision.ask,
        "match": _written(head),
        "choices": "\n".join([f"    {_written(choice)}," for choice in record.choices[: place + 1]]),
        "offered": "\n".join([f"    #   {option.text}" for option in decision.options]),
        "text": json.dumps(decision.options[open_decision.options.index(chosen)].text),
    }


def _written(value: object) -> str:
    """Format a value as Python, with double quotes."""
    return json.dumps(value).replace("null", "None")
