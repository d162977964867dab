"""Badges: the place and rating of a bot on a ladder as a small SVG, for pages elsewhere."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import escape

from cutpurse.page.conditional_response import conditional_response
from cutpurse.page.language.speaking import gettext, language
from cutpurse.page.pages.bot import is_version, named_bot, usual_ladder
from cutpurse.page.rating_display import placed
from cutpurse.page.rendering import Asked
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.errors import NotFound
from cutpurse.wire.text import printable

__all__ = ["router"]

_HEIGHT: Final = 20
_LETTER: Final = 6.2  # width of a letter of 11 px; `textLength` makes it so in every font
_EDGE: Final = 7
_LABEL, _FIRST, _OTHER = "#3b3a37", "#8a6100", "#1f6b4a"

router = APIRouter(include_in_schema=False)


@router.api_route("/badges/bots/{rest:path}", methods=["GET", "HEAD"])
def badge(request: Request, ask: Asked, rest: str, ladder: str = "") -> Response:
    """Send the badge of a bot or one of its versions, on `ladder` or else its ladder with the most matches.

    The names are read from the raw path, as on the bot's page.

    Raises:
        NotFound: If there is no such bot, or it was never rated on a ladder that may be seen.
        NotAuthorised: If results of the ladder are hidden.
    """
    bot = named_bot(request, "/badges")
    rated = {name for version in ask.bots(bot.owner) if is_version(version.bot, bot) for name in version.ladders}
    hidden = {entry.defined.name for entry in ask.ladders() if entry.has_hidden_results}
    if not ladder and rated - hidden:
        ladder = usual_ladder(ask, sorted(rated - hidden))
    if not ladder or (ladder not in rated and ladder not in hidden):
        raise NotFound(gettext("That bot was never rated on such a ladder."))
    rankings = ask.rankings(ladder, every_version=bool(bot.version))  # refused while results are hidden
    row = next((ranking for ranking in rankings if is_version(ranking.bot, bot)), None)
    text = gettext("no rating") if row is None else _standing(row, len(placed(rankings)))
    colour = _FIRST if row is not None and row.place == 1 else _OTHER
    svg = _drawn(printable(ladder, 64), text, colour)
    return conditional_response(request, svg.encode(), "image/svg+xml", {"Cache-Control": "no-cache"})


def _standing(row: ladder_pb2.Ranking, count: int) -> str:
    """Describe a place and a rating with its interval; either may be missing."""
    place = gettext("%(place)s of %(count)s", place=language().ordinal(row.place), count=count)
    rating = f"{language().decimal(row.rating, 1)} ± {language().decimal((row.high - row.low) / 2, 1)}"
    parts = [place if row.place else gettext("not placed yet"), rating if row.HasField("rating") else ""]
    return " · ".join([part for part in parts if part])


def _drawn(label: str, text: str, colour: str) -> str:
    """Draw a badge: a label, and beside it a text on a colour."""
    halves, left = [], 0.0
    for words, fill in ((label, _LABEL), (text, colour)):
        length = _LETTER * len(words)
        width = length + 2 * _EDGE
        halves.append(
            f'<rect x="{left:.1f}" width="{width:.1f}" height="{_HEIGHT}" fill="{fill}"/>'
            f'<text x="{left + _EDGE:.1f}" y="14" textLength="{length:.1f}" '
            f'lengthAdjust="spacingAndGlyphs" fill="#fff">{escape(words)}</text>'
        )
        left += width
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left:.1f}" height="{_HEIGHT}" role="img" '
        f'font-family="Verdana,DejaVu Sans,sans-serif" font-size="11"><title>{escape(f"{label}: {text}")}</title>'
        f'<clipPath id="r"><rect width="{left:.1f}" height="{_HEIGHT}" rx="4"/></clipPath>'
        f'<g clip-path="url(#r)">{"".join(halves)}</g></svg>'
    )
