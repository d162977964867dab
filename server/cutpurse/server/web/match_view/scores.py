"""How the scores of a match went, as a chart, and the moments by which they had moved most.

This module knows no page: where a moment is shown is handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from markupsafe import Markup

from cutpurse.sdk.terminal import printable
from cutpurse.server.web.charts import Line, over_time
from cutpurse.server.web.match_view.drawing import rendered
from cutpurse.server.web.match_view.replay_path import Replayed

__all__ = ["scores_html"]

SWINGS: Final = 6
_NAME: Final = 20  # signs of a name beside its line
_LARGE: Final = 100_000  # from which on scores are drawn in thousands


def scores_html(replayed: Replayed, link: Callable[[int], str]) -> Markup:
    """Draw the scores, or nothing if no score ever moved.  link: returns the address of a moment."""
    scores = replayed.scores
    swings = replayed.swings(SWINGS)
    if not swings:
        return Markup()
    unit = 1_000 if max(abs(one) for some in scores for one in some) >= _LARGE else 1
    lines = [
        Line(f"{seat} {printable(name, _NAME)}", _corners([one[seat] / unit for one in scores]))
        for seat, name in enumerate(replayed.names)
    ]
    chart = over_time(lines, title="What each seat had, moment by moment", x_name="moments")
    return Markup(rendered("scores.html", chart=chart, in_thousands=unit > 1, swings=swings, link=link))


def _corners(values: Sequence[float]) -> list[tuple[float, float]]:
    """List the points at which a line bends, and its ends."""
    last = len(values) - 1
    return [
        (at, value)
        for at, value in enumerate(values)
        if at in (0, last) or values[at - 1] != value or values[at + 1] != value
    ]
