"""The table in lines of text, as one viewer sees it: for watching, for a person who plays, for looking at a record.

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
    """List what lies before each seat, the table first, without empty piles and numbers that are 0."""
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
    """Describe what has happened, a sentence a line, with equal ones in a row joined.

    That a seat is asked is left out, since the answer is told.
    """
    texts = [(text, len(list(same))) for text, same in groupby(e.text for e in view.events if e.kind != "asked")]
    return _wrapped([text if times == 1 else f"{text} ({times} times)" for text, times in texts], indent="- ")


def _piles(piles: Sequence[Pile]) -> list[str]:
    return _wrapped([f"{_short_title(pile)}: {pile_text(pile)}" for pile in piles if pile.size])


def _short_title(pile: Pile) -> str:
    """Return the title without its owner, who stands above."""
    return f"{pile.raw.kind.title} {pile.number}" if pile.raw.kind.many else pile.raw.kind.title


def _numbers(view: GameView[Any], kinds: Sequence[Counter], values: Mapping[str, int]) -> list[str]:
    told = [f"{kind.text}: {_number(view, kind, values[kind.name])}" for kind in kinds if values[kind.name]]
    return _wrapped(told)


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
