"""The table as lines of text, as one viewer sees it: for watching, playing by hand, and reading records.

This module knows no game and no terminal.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from cutpurse.engine.words import Counter, Unit
from cutpurse.sdk.cards import cards_of
from cutpurse.sdk.views.base import GameView
from cutpurse.sdk.views.piles import Pile, pile_text

__all__ = ["event_lines", "render_table"]

WIDTH: Final = 100  # columns


def render_table(view: GameView[Any], names: Sequence[str]) -> list[str]:
    """Return the table's and each seat's piles and counters as lines, without empty piles and zeros."""
    lines = ["table"]
    lines += _numbers(view, view.words.table_counters, view.counters)
    lines += _piles(view.all_piles())
    for player in view.players:
        you = ", you" if player.is_me else ""
        lines.append(f"seat {player.seat} ({names[player.seat]}{you})")
        lines += _numbers(view, view.words.seat_counters, player.counters)
        lines += _piles(player.all_piles())
    if pending := view.pending:
        lines += ["under way", *_wrapped([act.text for act in pending])]
    return lines


def event_lines(view: GameView[Any]) -> list[str]:
    """Describe the events, one sentence per line, with equal neighbours joined.

    Questions to seats are left out, since their answers are events too.
    """
    texts = [(text, len(list(same))) for text, same in groupby(e.text for e in view.events if e.kind != "asked")]
    return _wrapped([text if times == 1 else f"{text} ({times} times)" for text, times in texts], indent="- ")


def _piles(piles: Sequence[Pile]) -> list[str]:
    return _wrapped([f"{_short_title(pile)}: {pile_text(pile)}" for pile in piles if pile.size])


def _short_title(pile: Pile) -> str:
    """Return the title without its owner, whose line is above."""
    return f"{pile.raw.kind.title} {pile.number}" if pile.raw.kind.many else pile.raw.kind.title


def _numbers(view: GameView[Any], kinds: Sequence[Counter], values: Mapping[str, int]) -> list[str]:
    entries = [f"{kind.text}: {_number(view, kind, values[kind.name])}" for kind in kinds if values[kind.name]]
    return _wrapped(entries)


def _number(view: GameView[Any], kind: Counter, value: int) -> str:
    if kind.unit is Unit.SEAT:
        return f"seat {value - 1}"
    if kind.unit is Unit.FLAG:
        return "yes"
    if kind.unit is Unit.CARD:
        return str(cards_of(view.words)[value])
    return f"{value:,}"


def _wrapped(texts: Sequence[str], indent: str = "  ") -> list[str]:
    return [
        line
        for text in texts
        for line in textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=" " * (len(indent) + 2))
    ]
