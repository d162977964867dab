"""`cutpurse games` and `cutpurse rules`: the installed games, and the rules from the engine's own steps."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from cutpurse.cli.arguments import AsJson, GameName
from cutpurse.engine.game import Game
from cutpurse.games import GAMES, game_named
from cutpurse.games.rule_book import WIDTH, rule_book, rules_markdown, summary
from cutpurse.process.terminal import print_json, print_lines, print_message, table

__all__ = ["games", "rules"]


def games(as_json: AsJson = False) -> None:
    """List the games: name, title, players, settings. Installed packages can bring games.

    Example: cutpurse games
    """
    for problem in GAMES.problems():
        print_message(problem)
    if as_json:
        print_json([summary(game) for game in GAMES.values()])
        return
    rows = [
        (name, game.words.title, _players(game), ", ".join(game.settings_type.kinds())) for name, game in GAMES.items()
    ]
    print_lines(
        [
            *_hanging_table(("name", "title", "players", "settings"), rows),
            "",
            "cutpurse rules GAME prints the rules, the settings and the cards of one.",
        ]
    )


def _hanging_table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Format a table whose last column is wrapped."""
    indent = sum(max(len(row[i]) for row in [head, *rows]) + 2 for i in range(len(head) - 1))
    return [part for line in table(head, rows) for part in textwrap.wrap(line, WIDTH, subsequent_indent=" " * indent)]


def rules(game: GameName, as_json: AsJson = False) -> None:
    """Print the rules of a game, taken from the engine's own steps, as Markdown.

    Example: cutpurse rules greed
    """
    rules = game_named(game)
    if as_json:
        print_json(rule_book(rules))
    else:
        print_lines(rules_markdown(rules).splitlines())


def _players(game: type[Game]) -> str:
    least, most = game.words.seats[0], game.words.seats[-1]
    return f"{least}-{most}" if least < most else str(least)
