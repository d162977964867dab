"""The rules of a game, taken from the engine's own steps: as a document and as Markdown.

The command line prints them and the catalogue of the wire carries them. This module knows no game and prints nothing.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

from cutpurse.engine.agenda import Question, Step
from cutpurse.engine.game import Game
from cutpurse.games.origins import RULES, SETTINGS

__all__ = [
    "WIDTH",
    "play_markdown",
    "rule_book",
    "rule_numbers",
    "rules_markdown",
    "rules_in_short",
    "settings_of",
    "steps_in_order",
    "summary",
]

WIDTH: Final = 100  # columns
TITLE_WIDTH: Final = 30  # columns of a card's title in the table of cards
FACT_WIDTH: Final = 18  # columns of a fact in that table
MARKS: Final = (
    "Marks: (ruling) no published text settles the rule, and this project decides; (partly ruling) parts of it; "
    "(proposed) a number of this project, as none is published. Everything else is the "
    "publisher's or another public source's. The reasons are in docs/reference/rulings.md."
)


def summary(game: type[Game]) -> dict[str, Any]:
    """Summarize a game as JSON values: name, title, rules version, players and default settings."""
    words = game.words
    return {
        "game": words.game,
        "title": words.title,
        "rules": words.version,
        "players": list(words.seats),
        "usual_players": game.usual_seats,
        "settings": {name: setting["default"] for name, setting in settings_of(game).items()},
    }


def settings_of(game: type[Game]) -> dict[str, dict[str, Any]]:
    """Describe the settings by name: rule, origin, text, default, allowed values, and when they have an effect."""
    defaults = game.settings_type()
    origins = SETTINGS.get(game.words.game, {})
    return {
        name: {
            "rule": kind.rule,
            "origin": origins.get(name, ""),
            "text": kind.text,
            "default": defaults.text(name),
            "default_by_players": kind.default_by_seats(defaults.text(name), game.words.seats),
            "allowed": kind.allowed(),
            "only_with": kind.only_where(),
        }
        for name, kind in game.settings_type.kinds().items()
    }


def rule_book(game: type[Game]) -> dict[str, Any]:
    """Return everything about a game as JSON values: steps in the order of the rules, cards, zones, counters.

    Copies are counted for the usual players and default settings.
    """
    words = game.words
    seats = game.usual_seats
    steps = [_told_step(step) for step in steps_in_order(game)]
    copies = Counter(game.box(seats, game.check(seats, {})))
    return summary(game) | {
        "settings": settings_of(game),
        "steps": steps,
        "origins": {rule: RULES[rule] for step in steps for rule in step["rules"] if rule in RULES},
        "value": words.value_title,
        "cards": [
            {
                "name": card.name,
                "title": card.title,
                "text": card.text,
                "sort": card.sort,
                "value": card.value,
                "traits": dict(card.traits),
                "facts": {heading: fact for heading, fact in card.facts.items() if fact},
                "copies": copies[number],
                "proposed": list(card.proposed),
                "rule": card.rule,
                "origin": RULES.get(card.rule, ""),
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
    """List the steps in the order of the code: first those of the main module, then those of its chapters."""
    return sorted(game.steps().values(), key=lambda step: step.__module__ != game.__module__)


def rule_numbers(step: type[Step]) -> list[str]:
    """Return the numbers of the rules that a step carries out."""
    return step.rule.split(", ") if step.rule else []


def _told_step(step: type[Step]) -> dict[str, Any]:
    description: dict[str, Any] = {
        "name": step.__name__,
        "rules": rule_numbers(step),
        "text": _in_a_line(step.paragraph),
    }
    if issubclass(step, Question):
        description |= {"ask": step.name, "question": step.text}
        if step.safe_paragraph:
            description["safe"] = _in_a_line(step.safe_paragraph)
    return description


def _in_a_line(text: str) -> str:
    return " ".join(text.split())


def rules_markdown(game: type[Game]) -> str:
    """Write the rules for people: Markdown, in lines of at most `WIDTH` columns."""
    book = rule_book(game)
    players = _players(book["players"], book["usual_players"])
    lines = [
        f"# {book['title']}",
        "",
        f"`{book['game']}`, rules version {book['rules']}, for {players}",
        "",
        *([*_paragraph(MARKS), ""] if book["origins"] else []),
        "## Settings",
        "",
    ]
    for name, setting in book["settings"].items():
        lines += _setting_lines(name, setting)
    if not book["settings"]:
        lines.append("None: the game is played in one way.")
    lines += ["", *_play_lines(game, book)]
    lines += ["", "## Cards", "", f"Copies with {book['usual_players']} players and no setting changed:", ""]
    lines += _card_table(book)
    if any(card["proposed"] for card in book["cards"]):
        lines += ["", "* proposed"]
    if origins := {card["rule"]: card["origin"] for card in book["cards"] if card["origin"]}:
        marked = ", ".join(_marked(rule, f"({origin})", " ") for rule, origin in origins.items())
        lines += ["", *_paragraph(f"Rules of these cards: {marked}")]
    lines += ["", "## Where cards lie", ""]
    for zone in book["zones"]:
        lines += _item(f"{zone['title']} (`{zone['name']}`), seen by {zone['seen_by']}: {zone['text']}")
    return "\n".join(lines) + "\n"


def play_markdown(game: type[Game]) -> str:
    """Write only how to play: the game's sheet, or its steps, under the title."""
    return "\n".join([f"# {game.words.title}", "", *_play_lines(game, rule_book(game))]) + "\n"


def rules_in_short(game: type[Game]) -> list[str]:
    """List what happens in a game, a line for each step; a question has the name of its decision."""
    lines = []
    for step in rule_book(game)["steps"]:
        ask = f" (`{step['ask']}`)" if "ask" in step else ""
        lines.append(f"- {_spaced(step['name'])}{ask}: {step['text']}")
    return lines


def _play_lines(game: type[Game], book: dict[str, Any]) -> list[str]:
    if game.sheet:
        return inspect.cleandoc(game.sheet).splitlines()
    lines = ["## Play", "", "What happens, in the order of the rules; a question has its name behind it."]
    for step in book["steps"]:
        lines += _step_lines(step)
    return lines


def _players(allowed: list[int], usual: int) -> str:
    """Format the numbers of players: "2 to 5 players, usually 4", "2 players"."""
    if len(allowed) == 1:
        return f"{usual} players"
    return f"{allowed[0]} to {allowed[-1]} players, usually {usual}"


def _setting_lines(name: str, setting: dict[str, Any]) -> Iterator[str]:
    by_players = setting["default_by_players"]
    default = f"by number of players: {by_players}" if by_players else setting["default"] or "as listed"
    yield from _item(
        f"`{name}` ({_marked(setting['rule'], setting['origin'])}): {setting['text']}; {default} unless set"
    )
    yield from _paragraph(f"Can be {setting['allowed']}", "  ")
    if setting["only_with"]:
        yield from _paragraph(f"Has an effect only {setting['only_with']}", "  ")


def _marked(rule: str, origin: str, between: str = ", ") -> str:
    return f"{rule}{between}{origin}" if origin else rule


def _card_table(book: dict[str, Any]) -> list[str]:
    """Lay out all cards with type, value and facts. Long cells have several lines; facts in the text get no column."""
    cards = book["cards"]
    headings = list(dict.fromkeys([heading for card in cards for heading in card["facts"]]))
    in_text = [heading for heading in headings if all(_says(card, heading) for card in cards)]
    columns = [heading for heading in headings if heading not in in_text]
    head = ["card", "type", "copies", book["value"], *columns, "what it does"]
    rows = [
        [
            f"{card['title']}\n{card['name']}",
            card["sort"],
            f"{card['copies']}{_star(card, 'copies')}",
            f"{card['value']:,}{_star(card, 'value')}" if card["value"] or "value" in card["proposed"] else "",
            *[card["facts"].get(heading, "") for heading in columns],
            card["text"],
        ]
        for card in cards
    ]
    widths = [TITLE_WIDTH, *[FACT_WIDTH] * (len(head) - 2)]
    widths = [min(most, _longest(row[i] for row in [head, *rows])) for i, most in enumerate(widths)]
    indent = 4  # a block of code in Markdown
    widths.append(WIDTH - indent - sum(widths) - 2 * len(widths))
    return [" " * indent + line for row in [head, *rows] for line in _row_lines(row, widths)]


def _says(card: dict[str, Any], heading: str) -> bool:
    """Return whether the text of a card contains this fact: "Cost: $10,000"."""
    fact = card["facts"].get(heading, "")
    return not fact or f"{heading.capitalize()}: {fact}" in card["text"]


def _star(card: dict[str, Any], what: str) -> str:
    return "*" if what in card["proposed"] else ""


def _longest(cells: Iterable[str]) -> int:
    return max(len(line) for cell in cells for line in cell.split("\n"))


def _row_lines(row: list[str], widths: list[int]) -> Iterator[str]:
    cells = [
        [part for line in cell.split("\n") for part in textwrap.wrap(line, width)]
        for cell, width in zip(row, widths, strict=True)
    ]
    for i in range(max(map(len, cells))):
        parts = [(cell[i] if i < len(cell) else "").ljust(width) for cell, width in zip(cells, widths, strict=True)]
        yield "  ".join(parts).rstrip()


def _step_lines(step: dict[str, Any]) -> Iterator[str]:
    asks = f" (`{step['ask']}`)" if "ask" in step else ""
    yield from ("", f"### {_spaced(step['name'])}{asks}", "")
    if step.get("question"):
        yield from (*textwrap.wrap(step["question"], WIDTH, initial_indent="> ", subsequent_indent="> "), "")
    rules = [f"{rule} ({RULES[rule]})" if rule in RULES else rule for rule in step["rules"]]
    yield from _paragraph(f"{', '.join(rules)}. {step['text']}")
    if "safe" in step:
        yield from ("", *_paragraph(f"For a bot that does not answer: {step['safe']}"))


def _spaced(name: str) -> str:
    """Format a step's name as words: "Go on or stop" for GoOnOrStop."""
    return re.sub(r"(?<!^)(?=[A-Z])", " ", name).capitalize()


def _paragraph(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def _item(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="- ", subsequent_indent="  ")
