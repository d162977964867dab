"""CSV tables for spreadsheets, in UTF-8: the rankings and matches of a ladder.

A spreadsheet would run a bot name that begins with `=`, `+`, `-` or `@` as a formula. Such texts get an apostrophe in
front. Matches are fetched page by page while they are sent, so their number has no limit.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse

from cutpurse.page.api.plain import enum_name
from cutpurse.page.downloads import Downloads
from cutpurse.page.league_client import Asking
from cutpurse.page.rendering import Asked
from cutpurse.v1 import arena_pb2, ladder_pb2
from cutpurse.wire.league import usage_per_match

__all__ = ["cell", "router"]

PAGE: Final = 500  # matches per call
_MARK: Final = "\N{BYTE ORDER MARK}"  # makes spreadsheets read the file as UTF-8
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_END_CAUSES: Final = arena_pb2.DESCRIPTOR.enum_types_by_name["EndCause"]

Cell = str | int | float | None

router = APIRouter(include_in_schema=False)


@router.api_route("/ladders/{ladder}/rankings.csv", methods=["GET", "HEAD"])
def rankings(request: Request, ask: Asked, ladder: str) -> Response:
    """Send the ratings of all versions: placed ones by rating, then the others."""
    name = ask.ladder(ladder).defined.name
    head = (
        "place",
        "owner",
        "bot",
        "version",
        "rating",
        "low",
        "high",
        "matches",
        "wins",
        "faulted",
        "is_provisional",
        "best",
        "worst",
        "estimated",
        "tokens_per_match",
        "cost_micros_per_match",
    )
    rows = (_ranking(one) for one in ask.rankings(name, every_version=True))
    return _table(request, f"{name}-rankings", head, rows)


@router.api_route("/ladders/{ladder}/matches.csv", methods=["GET", "HEAD"])
def matches(request: Request, ask: Asked, ladder: str) -> Response:
    """Send all finished matches, the newest first, with one line per seat."""
    name = ask.ladder(ladder).defined.name
    head = (
        *("match", "started", "finished", "rated_number", "void_cause", "requested_by", "decisions"),
        *("seat", "owner", "bot", "version", "place", "score", "end_cause", "faults", "thinking_ms"),
        *("pairing_mu_before", "pairing_sigma_before", "pairing_mu_after", "pairing_sigma_after"),
        *("cpu_ms", "peak_bytes"),
        *("input_tokens", "output_tokens", "cost_micros", "fallbacks", "model"),
    )
    rows = (row for match in _all(ask, name) for row in _seats(match))
    return _table(request, f"{name}-matches", head, rows)


def _all(ask: Asking, ladder: str) -> Iterator[ladder_pb2.MatchShown]:
    """Yield all matches of a ladder, fetched page by page."""
    before = 0
    while True:
        page = ask.matches(ladder, limit=PAGE, before=before)
        yield from page.matches
        if not (before := page.next):
            return


def _ranking(one: ladder_pb2.Ranking) -> tuple[Cell, ...]:
    rating = (one.rating, one.low, one.high) if one.HasField("rating") else (None, None, None)
    return (
        *(one.place or None, one.bot.owner, one.bot.bot, one.bot.version),
        *(None if value is None else round(value, 3) for value in rating),
        *(one.matches, one.wins, one.faulted, str(one.is_provisional).lower()),
        *(one.best or None, one.worst or None, one.estimated or None),
        *(usage_per_match(one) or (None, None)),
    )


def _seats(match: ladder_pb2.MatchShown) -> Iterator[tuple[Cell, ...]]:
    whole: tuple[Cell, ...] = (
        *(match.match, _moment(match.started_ms), _moment(match.finished_ms), match.rated_number or None),
        *(match.void_cause, match.requested_by, match.decisions),
    )
    for number, seat in enumerate(match.seats):
        is_void = bool(match.void_cause)
        rated = ((seat.before, seat.HasField("before")), (seat.after, seat.HasField("after")))
        skills = [round(value, 3) if there else None for one, there in rated for value in (one.mu, one.sigma)]
        yield (
            *whole,
            *(number, seat.bot.owner, seat.bot.bot, seat.bot.version),
            *(None if is_void else seat.place, None if is_void else seat.score),
            *(enum_name(_END_CAUSES, seat.end_cause), seat.faults, seat.thinking_ms),
            *skills,
            *(seat.cpu_ms or None, seat.peak_bytes or None),
            *_usage(seat),
        )


def _usage(seat: ladder_pb2.MatchSeat) -> tuple[Cell, ...]:
    if not seat.HasField("usage"):
        return (None,) * 5
    used = seat.usage
    return used.input_tokens, used.output_tokens, used.cost_micros, used.fallbacks, used.model


def _moment(ms: int) -> str | None:
    if not ms:
        return None
    try:
        return (_EPOCH + timedelta(milliseconds=ms)).isoformat(timespec="milliseconds")
    except OverflowError:  # the server sent a timestamp after the year 9999
        return None


def cell(value: Cell) -> Cell:
    """Prefix a text with an apostrophe if a spreadsheet would run it as a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _table(request: Request, name: str, head: Iterable[str], rows: Iterator[tuple[Cell, ...]]) -> Response:
    """Respond with a CSV file, which is sent while its rows are fetched."""
    headers = {
        "Content-Disposition": f'attachment; filename="{name}.csv"',
        "Cache-Control": "no-cache",
        "Access-Control-Allow-Origin": "*",
    }
    if request.method == "HEAD":  # without a length, which is not known before all rows are fetched
        return StreamingResponse(iter(()), media_type="text/csv; charset=utf-8", headers=headers)

    def pieces() -> Iterator[bytes]:
        first = list(_lines([next(rows, ())]))  # fetched before the response begins, so that an error gets its status
        return _gathered(chain([_MARK], _lines([tuple(head)]), first, _lines(rows)))

    downloads: Downloads = request.app.state.downloads
    return downloads.response(pieces, "text/csv; charset=utf-8", headers)


def _lines(rows: Iterable[tuple[Cell, ...]]) -> Iterator[str]:
    for row in rows:
        if row:
            written = io.StringIO()
            csv.writer(written).writerow([cell(value) for value in row])
            yield written.getvalue()


def _gathered(lines: Iterable[str], most: int = 32_768) -> Iterator[bytes]:
    """Join lines to pieces of at least `most` bytes."""
    piece = bytearray()
    for line in lines:
        piece += line.encode("utf-8", "replace")
        if len(piece) >= most:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece)
