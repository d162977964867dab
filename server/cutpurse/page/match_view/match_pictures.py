"""Pictures of a finished match: one moment, or a stretch of moments with captions, as one viewer saw them.

They are drawn from the moments of the replay, so a seat's pictures show no card that the seat could not see. This
module knows no page, no file and no pixels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from cutpurse.engine.errors import UsageError
from cutpurse.page.language.speaking import gettext
from cutpurse.page.match_view.drawing import seat_pattern
from cutpurse.page.match_view.picture import Caption, picture
from cutpurse.page.match_view.replay_path import Moment, Replayed

__all__ = ["MAX_STRETCH", "moment_index", "moment_picture", "stretch_pictures", "stretch_range"]

MAX_STRETCH: Final = 60  # moments: a minute at one a second


def moment_index(replayed: Replayed, viewer: int | None, at: int | None) -> int:
    """Return the index in the viewer's path of the moment `at` of the record; None for `at` is the end.

    Raises:
        UsageError: If the match has no such moment.
    """
    path = replayed.path(viewer)
    last = replayed.path(None).ats[-1]
    if at is None:
        return len(path.ats) - 1
    if not 0 <= at <= last:
        raise UsageError(
            gettext("there is no moment %(moment)s: this match has moments 0 to %(last)s", moment=str(at), last=last)
        )
    return path.index(at)


def stretch_range(replayed: Replayed, viewer: int | None, first: int, last: int) -> range:
    """Return the indices in the viewer's path of the moments from `first` to `last` of the record.

    Raises:
        UsageError: If the match has no such moments, or they are too many.
    """
    if first > last:
        raise UsageError(
            gettext("the stretch from %(first)s to %(last)s ends before it begins", first=str(first), last=str(last))
        )
    found = range(moment_index(replayed, viewer, first), moment_index(replayed, viewer, last) + 1)
    if len(found) > MAX_STRETCH:
        given = {"first": str(first), "last": str(last), "count": len(found), "most": MAX_STRETCH}
        text = gettext("from %(first)s to %(last)s are %(count)s moments: an animation has at most %(most)s", **given)
        raise UsageError(text)
    return found


def moment_picture(replayed: Replayed, viewer: int | None, index: int) -> str:
    """Draw the table at a moment, by its index in the viewer's path, as SVG."""
    (moment,) = replayed.moments(viewer, index)
    return picture(moment.frame)


def stretch_pictures(replayed: Replayed, viewer: int | None, stretch: range) -> Iterator[str]:
    """Draw the table at each moment of a stretch as SVG, with a caption."""
    count = len(replayed.path(viewer).ats)
    for moment in replayed.moments(viewer, stretch.start, len(stretch)):
        yield picture(moment.frame, _caption(moment, count, viewer))


def _caption(moment: Moment, count: int, viewer: int | None) -> Caption:
    names = [seat.short for seat in moment.frame.seats]
    where = gettext("%(number)s of %(all)s", number=moment.index, all=count - 1)
    return Caption(
        re.sub(seat_pattern(), lambda seat: _name(names, int(seat[1])), _happened(moment)),
        where if viewer is None else gettext("as %(name)s saw it, %(moment)s", name=names[viewer], moment=where),
    )


def _name(names: list[str], seat: int) -> str:
    return names[seat] if seat < len(names) else gettext("seat %(seat)s", seat=seat)


def _happened(moment: Moment) -> str:
    """Describe in words of the log what happened since the moment before."""
    if moment.index == 0:
        return gettext("Cards were dealt.")
    if lines := [row.text for row in moment.rows if row.is_now]:
        return "; ".join(lines[-2:])
    return gettext("The match is over.") if moment.decided is None else ""
