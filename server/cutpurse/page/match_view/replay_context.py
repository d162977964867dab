"""What the page of a replay shows: its variables, and the links from one moment to others.

The page of a server and a browser tab without a server show a replay by the same templates. This module knows no
request and no server.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup

from cutpurse.page.language.speaking import gettext, pgettext
from cutpurse.page.luck_process import LuckShown
from cutpurse.page.match_view.drawing import lines_of, packed, rendered, symbols
from cutpurse.page.match_view.frames import NAME
from cutpurse.page.match_view.replay_path import Moment, Path, Replayed
from cutpurse.page.match_view.scores import TURNING_POINTS, decided, timeline, turning_points
from cutpurse.page.match_view.seat_names import short_names
from cutpurse.wire.text import printable

__all__ = ["BATCH", "ReplayRequest", "hashes_of", "moments_text", "replay_context"]

BATCH: Final = 32  # moments per request: about 90 ms of work, and 6 to 20 KB compressed


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """A parsed request for a replay."""

    base: str  # address of the replay
    match: str  # ID of the match, or another name for the cache
    replayed: Replayed  # the replay
    viewer: int | None  # seat of the viewer; None to see all cards
    path: Path  # the viewer's moments

    def link(self, index: int) -> str:
        """Return the address of a moment, by its index in the path."""
        return self.address(self.path.ats[index])

    def address(self, at: int, seat: int | None = None) -> str:
        """Return the address of an index in the record, as the viewer or another seat saw it."""
        viewer = self.viewer if seat is None else seat
        return f"{self.base}?at={at}" + ("" if viewer is None else f"&seat={viewer}")

    @property
    def points(self) -> list[int]:
        """Indices of the turning points; a seat, which did not see them, has none."""
        return [swing.at for swing in self.replayed.course.swings(TURNING_POINTS)] if self.viewer is None else []

    def html(self, moment: Moment) -> str:
        """Draw a moment as HTML."""
        return rendered(
            "moment.html",
            moment=moment,
            last=len(self.path.ats) - 1,
            frame=moment.frame,
            link=self.link,
            game=self.replayed.record.game,
        )


def replay_context(
    replay_request: ReplayRequest,
    at: int,
    *,
    is_placed: bool = True,
    pictures: str = "",
    luck: LuckShown | None = None,
    moments: str = "",
    has_viewers: bool = False,
) -> dict[str, Any]:
    """Return the variables of `replay.html` and of templates that extend it; a template may need more.

    Args:
        replay_request: The replay.
        at: Index in the record of the moment to show.
        is_placed: Whether the match has a result.
        pictures: Address below which there are pictures of the match; empty if there are none.
        luck: Luck of its cards; None if it is not known.
        moments: All moments, as `moments_text` makes them, for a page that has no server; else empty.
        has_viewers: Whether the page of each seat can be opened, where there are no pictures.
    """
    path = replay_request.path
    index = path.index(at)
    with replay_request.replayed.lock:
        (moment,) = replay_request.replayed.moments(replay_request.viewer, index)
        html = replay_request.html(moment)
    sees_all = replay_request.viewer is None
    return {
        "game": replay_request.replayed.record.game,
        "viewer": replay_request.viewer,
        "names": replay_request.replayed.names,
        "short": [printable(name, NAME) for name in short_names(replay_request.replayed.names)],
        "path": path,
        "index": index,
        "at": path.ats[index],
        "batch": BATCH,
        "frames": f"{replay_request.base}/moments?seat={'' if sees_all else replay_request.viewer}&first=",
        "ways": _ways(replay_request, index),
        "seats": [
            (seat, replay_request.address(path.ats[index], seat)) for seat in range(replay_request.replayed.seats)
        ],
        "everything": f"{replay_request.base}?at={path.ats[index]}" if pictures or has_viewers else "",
        "moment": Markup(html),
        "goal": moment.frame.goal,
        "symbols": symbols(),
        "decided": decided(replay_request.replayed, replay_request.link) if sees_all and is_placed else "",
        "timeline": timeline(replay_request.replayed, luck, replay_request.link) if sees_all else "",
        "points": replay_request.points,
        "pictures": pictures,
        "following": "",
        "moments": moments,
        "turning_points": turning_points(replay_request.replayed, replay_request.link) if sees_all else "",
    }


def _ways(replay_request: ReplayRequest, index: int) -> list[dict[str, str]]:
    """Return the links to other moments: with a sign beside "play", with a key in the menu; some lead nowhere."""
    path, last = replay_request.path, len(replay_request.path.ats) - 1
    turns, faults, steals = path.turns, path.faults, path.steals

    def way(name: str, words: str, sign: str, to: int | None, key: str = "") -> dict[str, str]:
        address = "" if to is None or to == index else replay_request.link(to)
        return {"name": name, "words": words, "sign": sign, "address": address, "key": key}

    def before(places: Sequence[int]) -> int | None:
        return max((place for place in places if place < index), default=None)

    def after(places: Sequence[int]) -> int | None:
        return min((place for place in places if place > index), default=None)

    ways = [
        way("turn-back", gettext("turn back"), "turnback", before(turns)),
        way("back", gettext("back"), "first", index - 1 if index else None),
        way("on", pgettext("to the next moment", "on"), "last", index + 1 if index < last else None),
        way("turn", gettext("next turn"), "turn", after(turns)),
        way("first", gettext("first"), "", 0, "Home"),
        way("last", gettext("last"), "", last, "End"),
    ]
    if points := replay_request.points:
        ways += [
            way("point-back", gettext("turning point before"), "", before(points), "N"),
            way("point", gettext("next turning point"), "", after(points), "n"),
        ]
    if steals:
        ways += [
            way("steal-back", gettext("steal before"), "", before(steals), "S"),
            way("steal", gettext("next steal"), "hand", after(steals) or steals[0], "s"),
        ]
    if faults:
        ways += [
            way("fault-back", gettext("fault before"), "", before(faults), "F"),
            way("fault", gettext("next fault"), "", after(faults), "f"),
        ]
    return ways


def moments_text(replay_request: ReplayRequest, change: Callable[[str], str] = str) -> str:
    """Return all moments of a replay in text for a page, their HTML changed by `change`; table.js reads it."""
    moments = replay_request.replayed.moments(replay_request.viewer, 0, len(replay_request.path.ats))
    frames = [lines_of(change(replay_request.html(moment))) for moment in moments]
    return b64encode(gzip.compress(json.dumps(packed(frames), ensure_ascii=False).encode(), mtime=0)).decode()


def hashes_of(replayed: Replayed) -> list[dict[str, Any]]:
    """Return the recorded hash of each viewer's events, and whether the replay agrees with it."""
    recorded = replayed.record.events
    who = [
        gettext("%(name)s (seat %(seat)s)", name=printable(name, NAME), seat=seat)
        for seat, name in enumerate(replayed.names)
    ] + [gettext("spectators")]
    return [
        {"who": name, "recorded": said, "agrees": said == computed}
        for name, said, computed in zip(who, recorded, replayed.hashes, strict=False)
    ]
