"""The replay of a finished match, decision by decision, with all cards visible or as one seat saw it.

A page shows one moment and links to the others. Scripts fetch the moments in batches instead.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from cutpurse.page.account.cookie import token_of
from cutpurse.page.forms import count_of
from cutpurse.page.language.languages import Language
from cutpurse.page.language.speaking import gettext, language
from cutpurse.page.league_client import Asking
from cutpurse.page.match_view.drawing import lines_of, packed
from cutpurse.page.match_view.filed_replay import published_notes, replay_of
from cutpurse.page.match_view.replay_context import BATCH, ReplayRequest, hashes_of, replay_context
from cutpurse.page.match_view.replay_path import Replayed
from cutpurse.page.rendering import Asked, show
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.errors import NotFound

__all__ = [
    "KEPT_BY_BROWSERS_S",
    "MOST",
    "Replays",
    "batch_of",
    "replay_wanted",
    "router",
    "seat_wanted",
]

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
