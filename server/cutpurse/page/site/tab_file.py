"""A match file that was opened in the tab: its checks, as `cutpurse match verify` makes them, and its replay.

This module knows no browser.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from jinja2 import Environment

from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.page.language.game_words import game_title
from cutpurse.page.language.speaking import gettext
from cutpurse.page.loading import templates_of
from cutpurse.page.match_view.drawing import FILTERS, TEMPLATES
from cutpurse.page.match_view.replay_context import ReplayRequest, hashes_of, moments_text, replay_context
from cutpurse.page.match_view.replay_path import Replayed
from cutpurse.page.match_view.seat_names import names_in_file
from cutpurse.page.site.addresses import with_relative_links
from cutpurse.sdk.matches.match_file import FiledMatch, check, read_matches
from cutpurse.wire.text import printable

__all__ = ["OpenedFile", "environment", "open_file"]

MAX_LINE: Final = 1_000  # characters of a line of the checks, which have foreign text in them
FILE: Final = "match.html"


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """The first match of a file, checked."""

    title: str  # of the game
    checks: str  # what was checked, and what could not be, as HTML
    replay: str  # the replay as HTML; empty for a match without a record


def open_file(content: bytes, at: int = 0, seat: int | None = None) -> OpenedFile:
    """Check and replay the first match of a file.

    Args:
        content: The file.
        at: Index in the record of the moment to begin with.
        seat: Show the match as this seat saw it; None for all cards.

    Raises:
        RecordError: If the file is none, disagrees with itself, or is of another version.
        UsageError: If its game is not installed, or has no such seat.
    """
    matches = read_matches(content)
    filed = next(matches)
    result = check(filed)
    lines = [printable(line, MAX_LINE) for line in result.checked]
    not_checked = [printable(line, MAX_LINE) for line in result.not_checked]
    checks = (
        environment()
        .get_template("tab_checks.html")
        .render(checked=lines, not_checked=not_checked, has_more=_has_more(matches))
    )
    has_record = filed.text is not None and (filed.head is None or filed.head.void_cause is None)
    return OpenedFile(game_title(result.game), checks, _replay(filed, at, seat) if has_record else "")


def _has_more(matches: object) -> bool:
    try:
        return next(matches, None) is not None  # type: ignore[call-overload]  # an iterator
    except CutpurseError:
        return True


def _replay(filed: FiledMatch, at: int, seat: int | None) -> str:
    replayed = Replayed(filed.record(), names_in_file(filed))
    if seat is not None and not 0 <= seat < replayed.seats:
        raise UsageError(gettext("this match has seats 0 to %(last)s", last=replayed.seats - 1))
    view = ReplayRequest("", "", replayed, seat, replayed.path(seat))
    moments = moments_text(view, lambda html: with_relative_links(html, FILE))
    context = replay_context(view, at, moments=moments, has_viewers=True)
    html = environment().get_template("tab_replay.html").render(**context, hashes=hashes_of(replayed), match=None)
    return with_relative_links(html, FILE)


@cache
def environment() -> Environment:
    """Load the templates with a page around them that is nothing: in the tab, the page is there already."""
    made = templates_of(TEMPLATES, {"base.html": "{% block main %}{% endblock %}"})
    made.filters |= {**FILTERS, "game_title": game_title, "segment": str}
    return made
