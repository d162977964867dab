"""The rules of a game as the engine's own steps tell them: as a document, and as Markdown.

The command line prints them and the catalogue of the wire carries them. This module knows no game and prints nothing.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Final

from cutpurse.engine.agenda import Question, Step
from cutpurse.engine.game import Game

__all__ = ["WIDTH", "rule_book", "rule_numbers", "rules_markdown", "settings_of", "steps_in_order", "summary"]

WIDTH: Final = 100  # columns
_RULES: Final = re.compile(r"(?P<rules>[A-Z]{2}-[\w.-]*\w(?:,\s+[A-Z]{2}-[\w.-]*\w)*)\.\s+(?P<text>.*)", re.DOTALL)


def summary(game: type[Game]) -> dict[str, Any]:
    """A game in a few words: name, title, rules version, players, the defaults of its settings.  JSON-able."""
    words = game.words
    return {
        "game": words.game,
        "title": words.title,
        "rules": words.version,
        "players": list(words.seats),
        "usual_players": game.usual_seats,
        "settings": {name: setting["default"] for name, setting in settings_of(game).items()},
    }


def settings_of(game: type[Game]) -> dict[str, dict[str, str]]:
    """The settings by name: rule, text, default and what is allowed, all as text."""
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


def rule_book(game: type[Game]) -> dict[str, Any]:
    """Everything about a game, JSON-able: steps in the order of the rules, cards, zones, counters.

    Copies are those with the usual players and no setting changed.
    """
    words = game.words
    seats = game.usual_seats
    copies = Counter(game.box(seats, game.check(seats, {})))
    return summary(game) | {
        "settings": settings_of(game),
        "steps": [_told_step(step) for step in steps_in_order(game)],
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


def steps_in_order(game: type[Game]) -> list[type[Step]]:
    """The steps as they stand in the code, first those of the main module, then those of its chapters."""
    return sorted(game.steps().values(), key=lambda step: step.__module__ != game.__module__)


def rule_numbers(step: type[Step]) -> list[str]:
    """The numbers of the rules that a step carries out; none if its docstring does not open with one."""
    return _told(step.__doc__)[0]


def _told_step(step: type[Step]) -> dict[str, Any]:
    numbers, text = _told(step.__doc__)
    told: dict[str, Any] = {"name": step.__name__, "rules": numbers, "text": text}
    if issubclass(step, Question):
        told |= {"ask": step.name, "question": step.text}
        if step.safe is not Question.safe:
            told["safe"] = _told(step.safe.__doc__)[1]
    return told


def _told(docstring: str | None) -> tuple[list[str], str]:
    """The rule numbers that a docstring opens with, and what it says."""
    text = inspect.cleandoc(docstring or "")
    if found := _RULES.fullmatch(text):
        return re.split(r",\s+", found["rules"]), " ".join(found["text"].split())
    return [], " ".join(text.split())


def rules_markdown(game: type[Game]) -> str:
    """The rules as a person reads them: Markdown, in lines of at most `WIDTH` columns."""
    book = rule_book(game)
    players = f"{book['players'][0]} to {book['players'][-1]} players, usually {book['usual_players']}"
    lines = [
        f"# {book['title']}",
        "",
        f"`{book['game']}`, rules version {book['rules']}, for {players}",
        "",
        "## Settings",
        "",
    ]
    for name, setting in book["settings"].items():
        default = setting["default"] or "as printed"
        lines += _item(f"`{name}` ({setting['rule']}): {setting['text']}; {default} unless set")
        lines += _paragraph(f"Can be {setting['allowed']}", "  ")
    if not book["settings"]:
        lines.append("None: the game is played in one way.")
    lines += ["", "## Play", "", "What happens, in the order of the rules; a question has its name behind it."]
    for step in book["steps"]:
        lines += _step_lines(step)
    lines += ["", "## Cards", "", f"Copies with {book['usual_players']} players and no setting changed:", ""]
    for card in book["cards"]:
        value = f", value {card['value']:,}" if card["value"] else ""
        text = f": {card['text']}" if card["text"] else ""
        lines += _item(f"{card['copies']} x {card['title']} (`{card['name']}`){value}{text}")
    lines += ["", "## Where cards lie", ""]
    for zone in book["zones"]:
        lines += _item(f"{zone['title']} (`{zone['name']}`), seen by {zone['seen_by']}: {zone['text']}")
    return "\n".join(lines) + "\n"


def _step_lines(step: dict[str, Any]) -> Iterator[str]:
    asks = f" (`{step['ask']}`)" if "ask" in step else ""
    yield from ("", f"### {_spaced(step['name'])}{asks}", "")
    if step.get("question"):
        yield from (*textwrap.wrap(step["question"], WIDTH, initial_indent="> ", subsequent_indent="> "), "")
    yield from _paragraph(f"{', '.join(step['rules'])}. {step['text']}")
    if "safe" in step:
        yield from ("", *_paragraph(f"For a bot that does not answer: {step['safe']}"))


def _spaced(name: str) -> str:
    """GoOnOrStop as "Go on or stop"."""
    return re.sub(r"(?<!^)(?=[A-Z])", " ", name).capitalize()


def _paragraph(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent)


def _item(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="- ", subsequent_indent="  ")
