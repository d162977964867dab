"""The replay of a finished match, decision by decision, with all cards visible or as one seat saw it.

A page shows one moment and links to the others. Scripts fetch the moments in batches instead.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response
from markupsafe import Markup

from cutpurse.server.web.account.cookie import token_of
from cutpurse.server.web.language.languages import Language
from cutpurse.server.web.language.speaking import gettext, language, pgettext
from cutpurse.server.web.league_client import Asking
from cutpurse.server.web.luck_process import LuckShown
from cutpurse.server.web.match_view.drawing import lines_of, packed, rendered, symbols
from cutpurse.server.web.match_view.filed_replay import replay_of
from cutpurse.server.web.match_view.frames import NAME
from cutpurse.server.web.match_view.replay_path import Moment, Path, Replayed
from cutpurse.server.web.match_view.scores import TURNING_POINTS, decided, timeline, turning_points
from cutpurse.server.web.match_view.seat_names import short_names
from cutpurse.server.web.rendering import Asked, show
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.errors import NotFound
from cutpurse.wire.text import printable

__all__ = [
    "BATCH",
    "KEPT_BY_BROWSERS_S",
    "MOST",
    "ReplayRequest",
    "Replays",
    "batch_of",
    "replay_wanted",
    "router",
    "seat_wanted",
    "show_replay",
]

BATCH: Final = 32  # moments per request: about 90 ms of work, and 6 to 20 KB compressed
MOST_BATCHES: Final = 64  # maximum cached batches, about 120 KB each
MOST_KEPT: Final = 8  # maximum cached matches; one of 3,000 decisions takes a few megabytes
KEPT_BY_BROWSERS_S: Final = 600
MOST: Final = 10**9

router = APIRouter(include_in_schema=False)


class Replays:
    """A cache of the matches that were replayed last, and of batches and pictures of their moments."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, Language], Replayed] = OrderedDict()
        self._batches: OrderedDict[tuple[str, Language, int | None, int | str], bytes] = OrderedDict()
        self._lock = Lock()

    def get(self, ask: Asking, told: ladder_pb2.GetMatchResponse) -> Replayed:
        """Return the replay of a match, from the cache if possible.

        Raises:
            NotFound: If the match has no record.
            RecordError: If the record does not verify.
        """
        name = told.match.match
        kept = name, language()
        with self._lock:
            if kept in self._kept:
                self._kept.move_to_end(kept)
                return self._kept[kept]
        if not told.has_record:
            broke, imagined = gettext("the platform broke down in it"), gettext("it went on from an imagined position")
            why = broke if told.match.void_cause else imagined
            raise NotFound(gettext("this match has no record, so it cannot be shown: %(why)s", why=why))
        made = replay_of(ask.record(name), told.courses)
        with self._lock:
            self._kept[kept] = made
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return made

    def batch(
        self, match: str, replayed: Replayed, viewer: int | None, first: int | str, make: Callable[[], bytes]
    ) -> bytes:
        """Return a batch of moments or a picture from the cache, or call `make` for it.

        Args:
            match: ID of the match.
            replayed: Its replay.
            viewer: Seat of the viewer; None to see all cards.
            first: Index of the first moment of a batch, or the name of a picture.
            make: Makes the bytes.
        """
        key = match, language(), viewer, first
        with replayed.lock:  # concurrent requests for the batch wait, so that it is made once
            with self._lock:
                found = self._batches.get(key)
            if found is None:
                found = make()
            with self._lock:
                self._batches[key] = found
                self._batches.move_to_end(key)
                while len(self._batches) > MOST_BATCHES:
                    self._batches.popitem(last=False)
        return found


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """A parsed request for a replay.

    Attributes:
        base: Address of the replay.
        match: ID of the match, or another name for the cache.
        replayed: The replay.
        viewer: Seat of the viewer; None to see all cards.
        path: The viewer's moments.
    """

    base: str
    match: str
    replayed: Replayed
    viewer: int | None
    path: Path

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
        return [one.at for one in self.replayed.swings(TURNING_POINTS)] if self.viewer is None else []

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


def replay_wanted(
    request: Request, ask: Asking, match: str, seat: int | None
) -> tuple[ReplayRequest, ladder_pb2.GetMatchResponse]:
    """Load the replay that a request asks for, and what the server says of the match.

    Raises:
        NotFound: If there is no such match or seat, or the match has no record.
        RecordError: If the record does not verify.
    """
    told = ask.match(match)
    replays: Replays = request.app.state.replays
    replayed = replays.get(ask, told)
    if seat is not None and not 0 <= seat < replayed.seats:
        raise NotFound(gettext("this match has seats 0 to %(last)s", last=replayed.seats - 1))
    name = told.match.match
    return ReplayRequest(f"/matches/{name}/replay", name, replayed, seat, replayed.path(seat)), told


def seat_wanted(request: Request) -> int | None:
    """Return the seat of the query; None, for a missing or empty one, sees all cards.

    Raises:
        NotFound: If it is not a number.
    """
    text = request.query_params.get("seat", "")
    if not text:
        return None
    if not (text.isascii() and text.isdecimal()) or len(text) > 2:
        raise NotFound(gettext("a seat is a number, from 0"))
    return int(text)


@router.api_route("/matches/{match}/replay", methods=["GET", "HEAD"])
def replay(request: Request, ask: Asked, match: str, at: Annotated[int, Query(ge=-MOST, le=MOST)] = 0) -> Response:
    """Show a replay at the moment with index `at` in the record."""
    wanted, told = replay_wanted(request, ask, match, seat_wanted(request))
    if match != wanted.match:  # the address has only the first characters of the ID
        return RedirectResponse(wanted.address(at))
    return show_replay(
        request,
        "replay.html",
        wanted,
        at,
        is_placed=not told.match.void_cause,
        match=told.match,
        hashes=_hashes(wanted.replayed),
        pictures=f"/matches/{wanted.match}",
        luck=request.app.state.luck.cached(wanted.match),
        is_signed_in=request.app.state.accounts is not None and token_of(request) != "",
    )


def show_replay(
    request: Request,
    template: str,
    wanted: ReplayRequest,
    at: int,
    *,
    is_placed: bool = True,
    pictures: str = "",
    luck: LuckShown | None = None,
    **context: Any,
) -> Response:
    """Respond with the page of a replay.

    Args:
        request: Request to answer.
        template: `replay.html`, or a template that extends it.
        wanted: The replay.
        at: Index in the record of the moment to show.
        is_placed: Whether the match has a result.
        pictures: Address below which there are pictures of the match; empty if there are none.
        luck: Luck of its cards; None if it is not known.
        context: More variables of the template.
    """
    path = wanted.path
    index = path.index(at)
    with wanted.replayed.lock:
        (moment,) = wanted.replayed.moments(wanted.viewer, index)
        html = wanted.html(moment)
    sees_all = wanted.viewer is None
    return show(
        request,
        template,
        game=wanted.replayed.record.game,
        viewer=wanted.viewer,
        names=wanted.replayed.names,
        short=[printable(name, NAME) for name in short_names(wanted.replayed.names)],
        path=path,
        index=index,
        at=path.ats[index],
        batch=BATCH,
        frames=f"{wanted.base}/moments?seat={'' if wanted.viewer is None else wanted.viewer}&first=",
        ways=_ways(wanted, index),
        seats=[(seat, wanted.address(path.ats[index], seat)) for seat in range(wanted.replayed.seats)],
        everything=f"{wanted.base}?at={path.ats[index]}",
        moment=Markup(html),
        symbols=symbols(),
        decided=decided(wanted.replayed) if sees_all and is_placed else "",
        timeline=timeline(wanted.replayed, luck) if sees_all else "",
        points=wanted.points,
        pictures=pictures,
        turning_points=turning_points(wanted.replayed, wanted.link) if sees_all else "",
        **context,
    )


@router.api_route("/matches/{match}/replay/moments", methods=["GET", "HEAD"])
def moments(request: Request, ask: Asked, match: str, first: Annotated[int, Query(ge=0, le=MOST)] = 0) -> Response:
    """Respond with a batch of moments from index `first` of the path on, in the format of `packed`."""
    wanted, _ = replay_wanted(request, ask, match, seat_wanted(request))
    return batch_of(request, wanted, first)


def batch_of(request: Request, wanted: ReplayRequest, first: int) -> Response:
    """Respond with a batch of moments of a replay.  Raises NotFound if it has no moment `first`."""
    if first >= len(wanted.path.ats):
        raise NotFound(gettext("this replay has moments 0 to %(last)s", last=len(wanted.path.ats) - 1))

    def made() -> bytes:
        shown = [lines_of(wanted.html(one)) for one in wanted.replayed.moments(wanted.viewer, first, BATCH)]
        return json.dumps({"first": first, **packed(shown)}, ensure_ascii=False, separators=(",", ":")).encode()

    replays: Replays = request.app.state.replays
    batch = replays.batch(wanted.match, wanted.replayed, wanted.viewer, first, made)
    headers = {"Cache-Control": f"public, max-age={KEPT_BY_BROWSERS_S}"}
    return Response(batch, media_type="application/json", headers=headers)


@dataclass(frozen=True, slots=True)
class _MomentLink:
    """A link to another moment; its address is empty if there is no such moment."""

    name: str
    words: str
    sign: str
    address: str


def _ways(wanted: ReplayRequest, index: int) -> list[_MomentLink]:
    path, last = wanted.path, len(wanted.path.ats) - 1
    turns, faults, steals = path.turns, path.faults, path.steals

    def way(name: str, words: str, sign: str, to: int | None) -> _MomentLink:
        return _MomentLink(name, words, sign, "" if to is None or to == index else wanted.link(to))

    def before(places: Sequence[int]) -> int | None:
        return max((one for one in places if one < index), default=None)

    def after(places: Sequence[int]) -> int | None:
        return min((one for one in places if one > index), default=None)

    ways = [
        way("first", gettext("first"), "first", 0),
        way("turn-back", gettext("turn back"), "turnback", before(turns)),
        way("back", gettext("back"), "back", index - 1 if index else None),
        way("on", pgettext("to the next moment", "on"), "on", index + 1 if index < last else None),
        way("turn", gettext("next turn"), "turn", after(turns)),
        way("last", gettext("last"), "last", last),
    ]
    if points := wanted.points:
        ways += [
            way("point-back", gettext("turning point before"), "", before(points)),
            way("point", gettext("next turning point"), "", after(points)),
        ]
    if steals:
        ways += [
            way("steal-back", gettext("steal before"), "", before(steals)),
            way("steal", gettext("next steal"), "", after(steals)),
        ]
    if faults:
        ways += [
            way("fault-back", gettext("fault before"), "", before(faults)),
            way("fault", gettext("next fault"), "", after(faults)),
        ]
    return ways


@dataclass(frozen=True, slots=True)
class _Hash:
    """The recorded hash of a viewer's events, and whether the replay agrees with it."""

    who: str
    recorded: str
    agrees: bool


def _hashes(replayed: Replayed) -> list[_Hash]:
    recorded = replayed.record.events
    who = [
        gettext("%(name)s (seat %(seat)s)", name=printable(name, NAME), seat=seat)
        for seat, name in enumerate(replayed.names)
    ] + [gettext("spectators")]
    return [_Hash(name, said, said == found) for name, said, found in zip(who, recorded, replayed.hashes, strict=False)]
