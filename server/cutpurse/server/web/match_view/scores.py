"""A chart of the scores of a match, with the moments at which they changed most.

This module knows no page: its caller passes the addresses of moments.
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
_NAME: Final = 20  # maximum characters of a name beside its line
_LARGE: Final = 100_000  # score from which the chart is in thousands


def scores_html(replayed: Replayed, link: Callable[[int], str]) -> Markup:
    """Draw the chart of a match's scores, and list the moments with the largest changes.

    Args:
        replayed: The match.
        link: Returns the address of a moment by its index in the path.

    Returns:
        The HTML; empty if no score ever changed.
    """
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
    """List the ends of a line, and the points at which it bends."""
    last = len(values) - 1
    return [
        (at, value)
        for at, value in enumerate(values)
        if at in (0, last) or values[at - 1] != value or values[at + 1] != value
    ]
