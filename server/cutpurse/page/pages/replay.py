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

from cutpurse.page.account.cookie import token_of
from cutpurse.page.forms import count_of
from cutpurse.page.language.languages import Language
from cutpurse.page.language.speaking import gettext, language, pgettext
from cutpurse.page.league_client import Asking
from cutpurse.page.luck_process import LuckShown
from cutpurse.page.match_view.drawing import lines_of, packed, rendered, symbols
from cutpurse.page.match_view.filed_replay import published_notes, replay_of
from cutpurse.page.match_view.frames import NAME
from cutpurse.page.match_view.replay_path import Moment, Path, Replayed
from cutpurse.page.match_view.scores import TURNING_POINTS, decided, timeline, turning_points
from cutpurse.page.match_view.seat_names import short_names
from cutpurse.page.rendering import Asked, show
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
    "hashes_of",
    "replay_context",
    "replay_wanted",
    "router",
    "seat_wanted",
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

    def get(self, ask: Asking, match: ladder_pb2.GetMatchResponse) -> Replayed:
        """Return the replay of a match, from the cache if possible.

        Raises:
            NotFound: If the match has no record.
            NotAuthorised: If its replay is hidden.
            RecordError: If the record does not verify.
        """
        if match.replay_hidden_until_ms:
            ask.record_bytes(match.match.match)  # the server refuses it
        name = match.match.match
        kept, notes = (name, language()), published_notes(match.courses)
        with self._lock:
            if kept in self._kept and self._kept[kept].notes == notes:
                self._kept.move_to_end(kept)
                return self._kept[kept]
        if not match.has_record:
            broke, imagined = gettext("the platform broke down in it"), gettext("it went on from an imagined position")
            why = broke if match.match.void_cause else imagined
            raise NotFound(gettext("this match has no record, so it cannot be shown: %(why)s", why=why))
        made = replay_of(ask.record(name), match.courses)
        with self._lock:
            if kept in self._kept:  # its owner publishes notes now, or does not any more
                self._batches = OrderedDict((key, batch) for key, batch in self._batches.items() if key[0] != name)
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
                batch = self._batches.get(key)
            if batch is None:
                batch = make()
            with self._lock:
                self._batches[key] = batch
                self._batches.move_to_end(key)
                while len(self._batches) > MOST_BATCHES:
                    self._batches.popitem(last=False)
        return batch


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
    if (seat := count_of(text)) is None:
        raise NotFound(gettext("a seat is a number, from 0"))
    return seat


@router.api_route("/matches/{match}/replay", methods=["GET", "HEAD"])
def replay(request: Request, ask: Asked, match: str, at: Annotated[int, Query(ge=-MOST, le=MOST)] = 0) -> Response:
    """Show a replay at the moment with index `at` in the record."""
    wanted, told = replay_wanted(request, ask, match, seat_wanted(request))
    if match != wanted.match:  # the address has only the first characters of the ID
        return RedirectResponse(wanted.address(at))
    pictures, luck = f"/matches/{wanted.match}", request.app.state.luck.luck_of(wanted.match)
    return show(
        request,
        "replay.html",
        **replay_context(wanted, at, is_placed=not told.match.void_cause, pictures=pictures, luck=luck),
        match=told.match,
        hashes=hashes_of(wanted.replayed),
        is_signed_in=request.app.state.accounts is not None and token_of(request) != "",
    )


def replay_context(
    replay_request: ReplayRequest, at: int, *, is_placed: bool = True, pictures: str = "", luck: LuckShown | None = None
) -> dict[str, Any]:
    """Return the variables of `replay.html` and of templates that extend it; a template may need more.

    Args:
        replay_request: The replay.
        at: Index in the record of the moment to show.
        is_placed: Whether the match has a result.
        pictures: Address below which there are pictures of the match; empty if there are none.
        luck: Luck of its cards; None if it is not known.
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
        "everything": f"{replay_request.base}?at={path.ats[index]}" if pictures else "",
        "moment": Markup(html),
        "goal": moment.frame.goal,
        "symbols": symbols(),
        "decided": decided(replay_request.replayed, replay_request.link) if sees_all and is_placed else "",
        "timeline": timeline(replay_request.replayed, luck, replay_request.link) if sees_all else "",
        "points": replay_request.points,
        "pictures": pictures,
        "following": "",
        "turning_points": turning_points(replay_request.replayed, replay_request.link) if sees_all else "",
    }


@router.api_route("/matches/{match}/replay/moments", methods=["GET", "HEAD"])
def moments(request: Request, ask: Asked, match: str, first: Annotated[int, Query(ge=0, le=MOST)] = 0) -> Response:
    """Respond with a batch of moments from index `first` of the path on, in the format of `packed`."""
    wanted, _ = replay_wanted(request, ask, match, seat_wanted(request))
    return batch_of(request, wanted, first)


def batch_of(request: Request, replay_request: ReplayRequest, first: int) -> Response:
    """Respond with a batch of moments of a replay.  Raises NotFound if it has no moment `first`."""
    if first >= len(replay_request.path.ats):
        raise NotFound(gettext("this replay has moments 0 to %(last)s", last=len(replay_request.path.ats) - 1))

    def made() -> bytes:
        shown = [
            lines_of(replay_request.html(one))
            for one in replay_request.replayed.moments(replay_request.viewer, first, BATCH)
        ]
        return json.dumps({"first": first, **packed(shown)}, ensure_ascii=False, separators=(",", ":")).encode()

    replays: Replays = request.app.state.replays
    batch = replays.batch(replay_request.match, replay_request.replayed, replay_request.viewer, first, made)
    headers = {"Cache-Control": f"public, max-age={KEPT_BY_BROWSERS_S}"}
    return Response(batch, media_type="application/json", headers=headers)


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
