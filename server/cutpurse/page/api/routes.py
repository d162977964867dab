"""The routes below /api/v1: they parse the request, ask the league and respond with JSON.

Scripts of all sites may read the responses (CORS). The app turns errors into problem documents (RFC 9457). The calls
are defined in `endpoints.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Final
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from cutpurse.page.api.description import FILE_PATH, openapi
from cutpurse.page.api.endpoints import CALLS, PREFIX, Call, Values, read_parameters
from cutpurse.page.api.plain import plain
from cutpurse.page.conditional_response import conditional_response
from cutpurse.page.rendering import Asked, show

__all__ = ["router"]

# Browsers read the exposed headers from the response itself, not from the preflight.
OPEN: Final = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "ETag, Link"}
_READ: Final = ["GET", "HEAD"]
_FILE_KEEP_S: Final = 3_600
_PREFLIGHT: Final = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, HEAD",
    "Access-Control-Allow-Headers": "*",
    "Access-Control-Max-Age": "86400",
}

router = APIRouter(include_in_schema=False)


def _answering(call: Call) -> Callable[[Request, Asked], Response]:
    """Return the endpoint function of a call."""

    def answer(request: Request, ask: Asked) -> Response:
        values = read_parameters(call, request.path_params, request.query_params.multi_items())
        message = call.ask(ask, values)
        told = plain(message)
        headers = {}
        if call.next_page is not None:
            follows = call.next_page(message)
            told["next"] = _next(call, values, follows) if follows else None
            if follows:
                headers["Link"] = f'<{told["next"]}>; rel="next"'
        return _json(request, told, call.keep_s, headers)

    return answer


def _next(call: Call, values: Values, follows: int) -> str:
    """Return the address of the next page."""
    path = PREFIX + call.path.format(**{name: quote(str(values[name]), safe="") for name in call.in_path})
    asked = {**values, call.paged_by: follows}
    changed = [
        (one.name, str(asked[one.name]).lower() if isinstance(one.default, bool) else asked[one.name])
        for one in call.parameters
        if one.name not in call.in_path and asked[one.name] != one.default
    ]
    return f"{path}?{urlencode(changed)}"


def _json(request: Request, told: object, keep_s: int, headers: dict[str, str]) -> Response:
    body = json.dumps(told, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    return _cached(request, body, "application/json", keep_s, headers)


def _cached(request: Request, body: bytes, kind: str, keep_s: int, headers: dict[str, str]) -> Response:
    """Respond with `body`, which clients may cache for `keep_s` seconds, or with 304 if the client has it."""
    headers = {**OPEN, "Cache-Control": f"public, max-age={keep_s}", **headers}
    return conditional_response(request, body, kind, headers)


for _call in CALLS:
    router.add_api_route(PREFIX + _call.path, _answering(_call), methods=_READ, name=f"api_{_call.name}")


@router.api_route(PREFIX + FILE_PATH, methods=_READ)
def record(request: Request, ask: Asked, match: str) -> Response:
    """Respond with the file of a match, as a download."""
    (call,) = [one for one in CALLS if one.name == "match"]
    values = read_parameters(call, request.path_params, request.query_params.multi_items())
    name = ask.match(str(values["match"])).match.match  # the full ID; raises NotFound if there is no such match
    headers = {"Content-Disposition": f'attachment; filename="{_safe(name)}.jsonl"'}
    return _cached(request, ask.record_bytes(name), "application/jsonl", _FILE_KEEP_S, headers)


def _safe(name: str) -> str:
    """Return the ID of a match without characters that are unsafe in a file name."""
    return "".join(sign for sign in name if sign.isascii() and sign.isalnum())[:64] or "match"


@router.api_route(f"{PREFIX}/openapi.json", methods=_READ)
def description(request: Request) -> Response:
    """Respond with the OpenAPI document."""
    return _json(request, openapi(), 60, {})


@router.api_route(PREFIX, methods=_READ)
def listing(request: Request) -> Response:
    """Respond with the list of calls, as a page for people."""
    return show(request, "api.html", calls=CALLS, prefix=PREFIX, file_path=FILE_PATH)


@router.api_route(f"{PREFIX}/{{rest:path}}", methods=["OPTIONS"])
def preflight(rest: str) -> Response:
    """Respond to a browser's preflight: scripts of other sites may read the API."""
    return Response(status_code=HTTPStatus.NO_CONTENT, headers=_PREFLIGHT)


@router.api_route(f"{PREFIX}/{{rest:path}}", methods=_READ)
def nowhere(rest: str) -> Response:
    """Raise 404 for all other addresses below PREFIX."""
    raise HTTPException(HTTPStatus.NOT_FOUND, "There is no such call; they are listed at /api/v1.")
