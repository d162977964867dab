"""The story of a match: what each seat was worth at each moment, its turning points, its luck, and how it was decided.

This module knows no page: its caller passes the addresses of moments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Final

from markupsafe import Markup

from cutpurse.engine.text import option_text
from cutpurse.engine.words import Unit
from cutpurse.games import game_named
from cutpurse.page.language.game_words import spoken
from cutpurse.page.language.second_person import addressed
from cutpurse.page.language.speaking import gettext
from cutpurse.page.luck_process import LuckShown
from cutpurse.page.match_view.drawing import rendered
from cutpurse.page.match_view.frames import NAME
from cutpurse.page.match_view.replay_path import Replayed
from cutpurse.page.match_view.seat_names import short_names
from cutpurse.page.worst_process import WorseDecisionShown, WorstShown
from cutpurse.wire.text import printable

__all__ = [
    "TURNING_POINTS",
    "decided",
    "luck_of_the_cards",
    "names_for",
    "timeline",
    "turning_points",
    "worst_decisions",
]

TURNING_POINTS: Final = 6
CLOSEST, CLOSE = 0.02, 0.07  # share of the chart that a point of 24 px takes in a wide and in a narrow window


def timeline(replayed: Replayed, luck: LuckShown | None = None, link: Callable[[int], str] | None = None) -> Markup:
    """Draw what each seat was worth, moment by moment, with turning points and, if they are known, luckiest draws.

    With `link`, turning points are links to their moments. Empty if nothing ever changed.
    """
    swings = replayed.course.swings(TURNING_POINTS)
    if not swings:
        return Markup()
    scores = replayed.course.scores  # the chart is as wide as there are moments, and 100 high; the browser stretches it
    low, high = min(map(min, scores)), max(map(max, scores))

    def height(value: int) -> str:
        return f"{98 - (value - low) / (high - low) * 96:.1f}".removesuffix(".0")

    lines = [
        (seat, f"M0 {height(scores[0][seat])}{_steps([height(one[seat]) for one in scores])}")
        for seat in range(replayed.seats)
    ]
    draws = []
    for draw in luck.luckiest if luck else ():
        index = replayed.index_after(draw.choices_after)
        draws.append((index, draw.seat, height(scores[index][draw.seat])))
    last = len(scores) - 1
    points = []
    for one in swings:
        seat, change = one.changed[0]
        gaps = [abs(other.at - one.at) / last for other in swings if abs(other.changed[0][1]) > abs(change)]
        gap = min(gaps, default=1.0)
        points.append(
            {
                "x": f"{one.at / last * 100:.2f}",  # share of the chart in percent
                "y": height(scores[one.at][seat]),
                "seat": seat,
                "href": link(one.at) if link else "",
                "index": one.at,
                "crowd": "closest" if gap < CLOSEST else "close" if gap < CLOSE else "",  # by a larger change
            }
        )
    zero = height(max(low, 0))
    drawn = {"lines": lines, "points": points, "draws": draws, "last": last, "zero": zero}
    return Markup(rendered("timeline.html", **drawn))


def turning_points(replayed: Replayed, link: Callable[[int], str], you: int | None = None) -> Markup:
    """List the turning points as links, each with the largest change and what caused it; `you` is the reader's seat."""
    swings = replayed.course.swings(TURNING_POINTS)
    if not swings:
        return Markup()
    names, unit = names_for(replayed, you), _unit(replayed)
    say = _said_to(replayed, you)
    return Markup(rendered("turning_points.html", swings=swings, link=link, names=names, unit=unit, say=say))


def luck_of_the_cards(replayed: Replayed, luck: LuckShown, link: Callable[[int], str]) -> Markup:
    """Say how many places the cards gave or cost each seat, and list the luckiest draws as links; empty if unknown."""
    if not luck.by_seat:
        return Markup()
    draws = []
    for draw in luck.luckiest:
        index = replayed.index_after(draw.choices_after)
        draws.append((index, draw, replayed.course.done_before(index)))
    return Markup(rendered("luck.html", by_seat=luck.by_seat, draws=draws, link=link, names=names_for(replayed)))


def worst_decisions(
    replayed: Replayed, match: str, seat: int, worst: WorstShown | None, *, is_yours: bool = False
) -> Markup:
    """List the worst decisions of a seat with what would have been better, or offer to look for them.

    Args:
        replayed: The match.
        match: Its ID.
        seat: The seat.
        worst: What search says; None if nobody has asked yet.
        is_yours: Whether the reader sat there.
    """
    names = names_for(replayed, seat if is_yours else None)
    say = _said_to(replayed, seat if is_yours else None)
    words = spoken(game_named(replayed.record.game).words)

    def row(decision: WorseDecisionShown) -> dict[str, Any] | None:
        position = replayed.decision_at(decision.at)
        if position is None:
            return None
        match_then, question = position
        taken, better = [
            say(option_text(match_then.game, question.options[index], words))
            for index in (decision.taken, decision.better)
        ]
        moment = replayed.path(None).index(decision.at)
        href = f"/matches/{match}/replay?at={decision.at}&seat={seat}"
        return {"said": decision, "href": href, "moment": moment, "taken": taken, "better": better}

    rows = None if worst is None else list(filter(None, map(row, worst.worst)))
    return Markup(
        rendered(
            "worst.html",
            rows=rows,
            worst=worst,
            match=match,
            seat=seat,
            name=names[seat],
            names=names,
            game=replayed.record.game,
            is_yours=is_yours,
        )
    )


def decided(replayed: Replayed, link: Callable[[int], str], you: int | None = None) -> Markup:
    """Say who won with what, by how much, what put the winner ahead for good, and what won most.

    With `you`, the seat of the reader, it is said to them, and not again that they won.
    """
    course, decisive = replayed.course, replayed.course.decisive(replayed.winners)
    final, winners = course.worths[-1], decisive.winners
    others = [worth.value for seat, worth in enumerate(final) if seat not in winners]
    return Markup(
        rendered(
            "how_decided.html",
            decisive=decisive,
            worth=final[winners[0]],
            margin=final[winners[0]].value - max(others) if others else 0,
            last=len(course.scores) - 1,
            link=link,
            names=names_for(replayed, you),
            unit=_unit(replayed),
            game=replayed.record.game,
            say=_said_to(replayed, you),
            is_yours=you in winners,
        )
    )


def names_for(replayed: Replayed, you: int | None = None) -> list[str]:
    """Return the short names of the seats; the reader is "you"."""
    short = [printable(name, NAME) for name in short_names(replayed.names)]
    return [gettext("you") if seat == you else name for seat, name in enumerate(short)]


def _said_to(replayed: Replayed, you: int | None) -> Callable[[str], str]:
    """Return a function that says a sentence of the game to the reader in a seat, if there is one."""
    if you is None:
        return str
    return partial(addressed, seat=you, words=game_named(replayed.record.game).words)


def _unit(replayed: Replayed) -> str:
    """Return the sign before a score: "$" in games about money."""
    counters = game_named(replayed.record.game).words.seat_counters
    return "$" if any(counter.unit is Unit.MONEY for counter in counters) else ""


def _steps(heights: Sequence[str]) -> str:
    """Draw a line that stays level until the moment at which its height changes."""
    turns = [f"H{at}V{now}" for at, (before, now) in enumerate(pairwise(heights), 1) if now != before]
    return "".join(turns) + f"H{len(heights) - 1}"
