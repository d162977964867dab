"""Error responses with the right status: a page for people, without a traceback or a server address.

Below /api/ the response is a problem document (RFC 9457) instead. This module knows no single page.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Scope

from cutpurse.engine.errors import CutpurseError, RecordError, UsageError
from cutpurse.page.language.choosing import is_english, language_of
from cutpurse.page.language.languages import ENGLISH
from cutpurse.page.language.speaking import gettext, gettext_noop, speaking
from cutpurse.page.rendering import show
from cutpurse.page.visitor_process import WorkRefused
from cutpurse.wire.errors import NotAuthorised, NotFound, ServerRefused, ServerUnreachable
from cutpurse.wire.text import printable

__all__ = ["add_problems", "http_status", "problem", "refuse", "without_address"]

_STATUS: Final[tuple[tuple[type[CutpurseError], HTTPStatus], ...]] = (
    (NotFound, HTTPStatus.NOT_FOUND),
    (RecordError, HTTPStatus.NOT_FOUND),
    (UsageError, HTTPStatus.BAD_REQUEST),
    (NotAuthorised, HTTPStatus.FORBIDDEN),
    (ServerUnreachable, HTTPStatus.SERVICE_UNAVAILABLE),
    (ServerRefused, HTTPStatus.SERVICE_UNAVAILABLE),
    (CutpurseError, HTTPStatus.SERVICE_UNAVAILABLE),
)
_WORDS: Final = {
    HTTPStatus.BAD_REQUEST: (
        gettext_noop("That cannot be asked"),
        gettext_noop("Something in the address makes no sense here."),
    ),
    HTTPStatus.FORBIDDEN: (gettext_noop("Not public"), gettext_noop("The server shows this only to some owners.")),
    HTTPStatus.NOT_FOUND: (
        gettext_noop("Not here"),
        gettext_noop("There is no such page, or it is not for everybody."),
    ),
    HTTPStatus.METHOD_NOT_ALLOWED: (
        gettext_noop("Only to be read"),
        gettext_noop("Pages can be fetched (GET), and nothing else."),
    ),
    HTTPStatus.REQUEST_URI_TOO_LONG: (
        gettext_noop("Too long"),
        gettext_noop("The address is longer than any of ours."),
    ),
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE: (
        gettext_noop("Too much"),
        gettext_noop("The request carries more headers than are read."),
    ),
    HTTPStatus.INTERNAL_SERVER_ERROR: (
        gettext_noop("A fault of ours"),
        gettext_noop("The page broke down over this. The log says where."),
    ),
    HTTPStatus.SERVICE_UNAVAILABLE: (
        gettext_noop("The arena does not answer"),
        gettext_noop("It may be starting or resting. Look again in a moment."),
    ),
}
_FROM: Final = re.compile(
    r"^the server at \S+: "
)  # prefix of a league's errors; readers must not see the server's address
_AT: Final = re.compile(r"^the server at \S+ ")
RETRY_S: Final = "5"


def http_status(error: CutpurseError) -> HTTPStatus:
    """Return the status of the response to a request that ended with this error."""
    return next(status for kind, status in _STATUS if isinstance(error, kind))


def without_address(text: str) -> str:
    """Return the text of a league's error without the server's address."""
    return _AT.sub("this server ", _FROM.sub("", text))


def problem(request: Request, status: int, text: str = "") -> Response:
    """Return an error page, or below /api/ a problem document.

    Args:
        request: Request that failed.
        status: HTTP status.
        text: Details of this case; if empty, the usual text of the status.
    """
    found = HTTPStatus(status)
    title, usual = map(gettext, _WORDS.get(found, (found.phrase, found.description)))
    if found is HTTPStatus.SERVICE_UNAVAILABLE and text:
        title = gettext("Too much at once")
    headers = {"Cache-Control": "no-store"}
    if found is HTTPStatus.METHOD_NOT_ALLOWED:
        headers["Allow"] = "GET, HEAD"
    if found is HTTPStatus.SERVICE_UNAVAILABLE:
        headers["Retry-After"] = RETRY_S
    said = printable(text, 600) or usual
    response: Response
    if request.url.path.startswith("/api/"):
        body = {"type": "about:blank", "title": title, "status": status, "detail": said}
        headers["Access-Control-Allow-Origin"] = (
            "*"  # like the API's other responses, so that scripts of other sites can read the error
        )
        response = JSONResponse(body, status, headers, "application/problem+json")
    else:
        response = show(request, "problem.html", status=status, title=title, text=said, number=status)
        response.headers.update(headers)
    return response


def refuse(scope: Scope, status: HTTPStatus) -> ASGIApp:
    """Return an error response for a rejected request; it repeats no part of the request."""
    path = "/api/" if scope["path"].startswith("/api/") else "/"
    return problem(Request({**scope, "path": path, "raw_path": path.encode(), "query_string": b""}), status)


def add_problems(app: FastAPI) -> None:
    """Register the error responses for all errors of an app."""

    async def asked(request: Request, error: Exception) -> Response:
        assert isinstance(error, CutpurseError)
        status = http_status(error)
        # The text of a server error is for the operator only, because it may name files.
        text = without_address(str(error)) if status < HTTPStatus.INTERNAL_SERVER_ERROR else ""
        if isinstance(error, WorkRefused):
            text = f"{error}."
        return problem(request, status, text)

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        text = error.detail if error.detail != HTTPStatus(error.status_code).phrase else ""
        return problem(request, error.status_code, text)

    async def malformed(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        where = ", ".join(sorted({str(one["loc"][-1]) for one in error.errors() if one["loc"]}))
        return problem(
            request,
            HTTPStatus.BAD_REQUEST,
            gettext("This makes no sense here: %(names)s.", names=where) if where else "",
        )

    async def broken(request: Request, error: Exception) -> Response:
        with speaking(ENGLISH if is_english(request.url.path) else language_of(request.scope)):
            return problem(request, HTTPStatus.INTERNAL_SERVER_ERROR)

    app.add_exception_handler(CutpurseError, asked)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(RequestValidationError, malformed)
    app.add_exception_handler(Exception, broken)
