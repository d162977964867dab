"""The story of a match: what each seat was worth at each moment, its turning points, its luck, and how it was decided.

This module knows no page: its caller passes the addresses of moments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from markupsafe import Markup

from cutpurse.engine.words import Unit
from cutpurse.games import game_named
from cutpurse.server.web.luck_process import LuckShown
from cutpurse.server.web.match_view.drawing import rendered
from cutpurse.server.web.match_view.frames import NAME
from cutpurse.server.web.match_view.replay_path import Replayed
from cutpurse.server.web.match_view.seat_names import short_names
from cutpurse.wire.text import printable

__all__ = ["TURNING_POINTS", "decided", "luck_of_the_cards", "timeline", "turning_points"]

TURNING_POINTS: Final = 6


def timeline(replayed: Replayed, luck: LuckShown | None = None) -> Markup:
    """Draw what each seat was worth, moment by moment, with turning points and, if they are known, luckiest draws.

    Empty if nothing ever changed.
    """
    swings = replayed.swings(TURNING_POINTS)
    if not swings:
        return Markup()
    scores = replayed.scores  # the chart is as wide as there are moments, and 100 high; the browser stretches it
    low, high = min(map(min, scores)), max(map(max, scores))

    def height(value: int) -> str:
        return f"{98 - (value - low) / (high - low) * 96:.1f}".removesuffix(".0")

    lines = [
        (seat, f"M0 {height(scores[0][seat])}{_steps([height(one[seat]) for one in scores])}")
        for seat in range(replayed.seats)
    ]
    points = [(one.at, one.changed[0][0], height(scores[one.at][one.changed[0][0]])) for one in swings]
    draws = []
    for draw in luck.luckiest if luck else ():
        index = replayed.index_after(draw.choices_after)
        draws.append((index, draw.seat, height(scores[index][draw.seat])))
    last = len(scores) - 1
    zero = height(max(low, 0))
    return Markup(rendered("timeline.html", lines=lines, points=points, draws=draws, last=last, zero=zero))


def turning_points(replayed: Replayed, link: Callable[[int], str]) -> Markup:
    """List the turning points as links, each with the largest change and what caused it."""
    swings = replayed.swings(TURNING_POINTS)
    return (
        Markup(rendered("turning_points.html", swings=swings, link=link, names=_names(replayed), unit=_unit(replayed)))
        if swings
        else Markup()
    )


def luck_of_the_cards(replayed: Replayed, luck: LuckShown, link: Callable[[int], str]) -> Markup:
    """Say how many places the cards gave or cost each seat, and list the luckiest draws as links; empty if unknown."""
    if not luck.by_seat:
        return Markup()
    draws = []
    for draw in luck.luckiest:
        index = replayed.index_after(draw.choices_after)
        draws.append((index, draw, replayed.done_before(index)))
    return Markup(rendered("luck.html", by_seat=luck.by_seat, draws=draws, link=link, names=_names(replayed)))


def decided(replayed: Replayed) -> Markup:
    """Say in one sentence who won, by how much, and what put the winner ahead for good."""
    winners, since = replayed.lead
    final = replayed.scores[-1]
    others = [score for seat, score in enumerate(final) if seat not in winners]
    margin = final[winners[0]] - max(others) if others else 0
    return Markup(
        rendered(
            "how_decided.html",
            winners=winners,
            margin=margin,
            since=since,
            last=len(replayed.scores) - 1,
            text=replayed.swing(since).text if since else "",
            names=_names(replayed),
            unit=_unit(replayed),
        )
    )


def _names(replayed: Replayed) -> list[str]:
    return [printable(name, NAME) for name in short_names(replayed.names)]


def _unit(replayed: Replayed) -> str:
    """Return the sign before a score: "$" in games about money."""
    counters = game_named(replayed.record.game).words.seat_counters
    return "$" if any(counter.unit is Unit.MONEY for counter in counters) else ""


def _steps(heights: Sequence[str]) -> str:
    """Draw a line that stays level until the moment at which its height changes."""
    turns = [f"H{at}V{now}" for at, (before, now) in enumerate(pairwise(heights), 1) if now != before]
    return "".join(turns) + f"H{len(heights) - 1}"
