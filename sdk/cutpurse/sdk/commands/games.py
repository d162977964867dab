"""`cutpurse games` and `cutpurse rules`: what can be played, and the rules as the engine's own steps tell them."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Final

from cutpurse.engine.agenda import Question, Step
from cutpurse.engine.game import Game
from cutpurse.games import GAMES, game_named
from cutpurse.sdk.commands.arguments import AsJson, GameName
from cutpurse.sdk.terminal import print_json, print_lines, table

__all__ = ["games", "rules"]

WIDTH: Final = 100  # columns
_RULES: Final = re.compile(r"(?P<rules>[A-Z]{2}-[\w.-]*\w(?:,\s+[A-Z]{2}-[\w.-]*\w)*)\.\s+(?P<text>.*)", re.DOTALL)


def games(as_json: AsJson = False) -> None:
    """What can be played: name, title, players, settings.

    Example: cutpurse games
    """
    if as_json:
        print_json([_summary(game) for game in GAMES.values()])
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
    """A table whose last column is wrapped."""
    indent = sum(max(len(row[i]) for row in [head, *rows]) + 2 for i in range(len(head) - 1))
    return [part for line in table(head, rows) for part in textwrap.wrap(line, WIDTH, subsequent_indent=" " * indent)]


def rules(game: GameName, as_json: AsJson = False) -> None:
    """The rules of a game, printed from the engine's own steps.

    Example: cutpurse rules greed
    """
    rules = game_named(game)
    document = _document(rules)
    if as_json:
        print_json(document)
    else:
        print_lines(_pages(document))


def _players(game: type[Game]) -> str:
    return f"{game.words.seats[0]}-{game.words.seats[-1]}"


def _summary(game: type[Game]) -> dict[str, Any]:
    words = game.words
    return {
        "game": words.game,
        "title": words.title,
        "rules": words.version,
        "players": list(words.seats),
        "usual_players": game.usual_seats,
        "settings": {name: setting["default"] for name, setting in _settings(game).items()},
    }


def _settings(game: type[Game]) -> dict[str, dict[str, str]]:
    defaults = game.settings_type()
    kinds = game.settings_type.kinds()
    return {
        one.name: {
            "rule": kinds[one.name].rule,
            "text": kinds[one.name].text,
            "default": defaults.text(one.name),
            "allowed": kinds[one.name].allowed(),
        }
        for one in fields(game.settings_type)
    }


def _document(game: type[Game]) -> dict[str, Any]:
    words = game.words
    seats = game.usual_seats
    copies = Counter(game.box(seats, game.check(seats, {})))
    return _summary(game) | {
        "settings": _settings(game),
        "steps": [_step(step) for step in _in_order(game)],
        "cards": [
            {
                "name": card.name,
                "title": card.title,
                "text": card.text,
                "sort": card.sort,
                "value": card.value,
                "traits": dict(card.traits),
                "copies": copies[number],
            }
            for number, card in enumerate(words.cards, 1)
        ],
        "zones": [
            {"name": kind.name, "title": kind.title, "text": kind.text, "seen_by": kind.visibility.value}
            for kind in words.zones
        ],
        "counters": {counter.name: counter.text for counter in (*words.table_counters, *words.seat_counters)},
    }


def _in_order(game: type[Game]) -> list[type[Step]]:
    """The steps as they stand in the code, first those of the main module, then those of its chapters."""
    return sorted(game.steps().values(), key=lambda step: step.__module__ != game.__module__)


def _step(step: type[Step]) -> dict[str, Any]:
    numbers, text = _told(step.__doc__)
    told: dict[str, Any] = {"name": step.__name__, "rules": numbers, "text": text}
    if issubclass(step, Question):
        told |= {"ask": step.name(), "question": step.text}
        if step.safe is not Question.safe:
            told["safe"] = _told(step.safe.__doc__)[1]
    return told


def _told(docstring: str | None) -> tuple[list[str], str]:
    """The rule numbers that a docstring opens with, and what it says."""
    text = inspect.cleandoc(docstring or "")
    if found := _RULES.fullmatch(text):
        return re.split(r",\s+", found["rules"]), " ".join(found["text"].split())
    return [], " ".join(text.split())


def _pages(document: dict[str, Any]) -> list[str]:
    """The rules as a person reads them."""
    players = document["players"]
    lines = [
        f"{document['title']} ({document['game']}), rules version {document['rules']}",
        f"{players[0]} to {players[-1]} players, usually {document['usual_players']}.",
        "",
        "SETTINGS",
    ]
    for name, setting in document["settings"].items():
        lines += _paragraph(f"{name} ({setting['rule']}): {setting['text']}")
        lines += _paragraph(f"{setting['default'] or 'as printed'} unless set; can be {setting['allowed']}", 4)
    if not document["settings"]:
        lines.append("  none: the game is played in one way")
    lines += ["", "PLAY", "What happens, in the order of the rules; a question is marked by ?", ""]
    for step in document["steps"]:
        mark = "?" if "ask" in step else " "
        asked = f"  {step['ask']}" if "ask" in step else ""
        lines.append(f"{mark} {', '.join(step['rules'])}  {_spaced(step['name'])}{asked and f' [{asked.strip()}]'}")
        if step.get("question"):
            lines += _paragraph(f'"{step["question"]}"', 4)
        lines += _paragraph(step["text"], 4)
        if "safe" in step:
            lines += _paragraph(f"For a bot that does not answer: {step['safe']}", 4)
    lines += ["", "CARDS", f"(copies with {document['usual_players']} players and no setting changed)", ""]
    for card in document["cards"]:
        facts = [f"{card['copies']} x {card['title']}", f"[{card['name']}]"]
        if card["value"]:
            facts.append(f"value {card['value']:,}")
        lines += _paragraph(" ".join(facts) + (f": {card['text']}" if card["text"] else ""))
    lines += ["", "WHERE CARDS LIE", ""]
    for zone in document["zones"]:
        lines += _paragraph(f"{zone['title']} [{zone['name']}], seen by {zone['seen_by']}: {zone['text']}")
    return lines


def _spaced(name: str) -> str:
    """GoOnOrStop as "Go on or stop"."""
    return re.sub(r"(?<!^)(?=[A-Z])", " ", name).capitalize()


def _paragraph(text: str, indent: int = 2) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=" " * indent, subsequent_indent=" " * (indent + 2))
