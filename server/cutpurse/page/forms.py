"""Forms that pages of this host send, and the answers to those that are refused.

A form is taken only if the browser says that a page of this host has sent it. This module knows no page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qs, urlsplit

from fastapi import Request
from fastapi.responses import JSONResponse, Response

from cutpurse.page.language.speaking import gettext, gettext_noop
from cutpurse.page.rendering import show

__all__ = [
    "FormRefused",
    "check_own",
    "count_of",
    "field_of",
    "is_script",
    "private",
    "read_form",
    "read_upload",
    "refuse_in_a_line",
]

MOST_BYTES: Final = 2_048  # of a form without a file
MOST_FIELDS: Final = 20
FOREIGN: Final = gettext_noop("This was not sent by a page of this site, so nothing was done.")
_BOUNDARY: Final = re.compile(r"^multipart/form-data; *boundary=\"?([A-Za-z0-9'()+_,./:=?-]{1,70})\"?$", re.ASCII)
_NAME: Final = re.compile(rb'name="([^"\r\n]*)"')
TOO_LONG: Final = gettext_noop("This form is longer than any of ours.")


class FormRefused(Exception):
    """A request that is not carried out; the text says why, in one line."""

    def __init__(self, text: str, status: HTTPStatus) -> None:
        super().__init__(text)
        self.status = status


async def refuse_in_a_line(request: Request, error: Exception) -> Response:
    """Answer a refused request: with one line for a script, with a page for a form."""
    status = error.status if isinstance(error, FormRefused) else HTTPStatus.CONFLICT
    if is_script(request):
        return private(JSONResponse({"text": str(error)}, status))
    response = show(
        request, "problem.html", status=status, title=gettext("Not done"), text=str(error), number=int(status)
    )
    return private(response)


async def read_form(
    request: Request, most_bytes: int = MOST_BYTES, most_fields: int = MOST_FIELDS
) -> dict[str, list[str]]:
    """Read a form of at most this length that a page of this host has sent.

    Raises:
        FormRefused: If another site has sent it, or it is too long.
    """
    check_own(request)
    body = await _read_body(request, most_bytes)
    try:
        return parse_qs(body.decode("utf-8", "replace"), max_num_fields=most_fields)
    except ValueError:
        raise FormRefused(gettext(TOO_LONG), HTTPStatus.BAD_REQUEST) from None


def field_of(fields: Mapping[str, Sequence[str]], name: str) -> str:
    """Return the first value of a field; empty if the form has none."""
    return fields.get(name, [""])[0]


def count_of(text: str, most_digits: int = 9) -> int | None:
    """Return the number that a browser sent; None if it is no number of a few digits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= most_digits else None


async def read_upload(request: Request, most: int) -> tuple[dict[str, str], bytes]:
    """Read a form with one file of at most `most` bytes, and return its other fields and the file.

    Raises:
        FormRefused: If another site has sent it, or it is too long, or is no such form.
    """
    check_own(request)
    boundary = _BOUNDARY.search(request.headers.get("content-type", ""))
    if boundary is None:
        raise FormRefused(gettext("This form carries no file."), HTTPStatus.BAD_REQUEST)
    body = await _read_body(request, most + MOST_BYTES)
    fields, content = dict[str, str](), b""
    for part in (b"\r\n" + body).split(b"\r\n--" + boundary[1].encode("ascii"))[1:-1][:MOST_FIELDS]:
        head, _, value = part.partition(b"\r\n\r\n")
        name = _NAME.search(head)
        if b"filename=" in head:
            content = value
        elif name is not None:
            fields[name[1].decode("utf-8", "replace")] = value.decode("utf-8", "replace")
    return fields, content


async def _read_body(request: Request, most: int) -> bytes:
    """Read the body of a request.  Raises FormRefused if it has more than `most` bytes."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            raise FormRefused(gettext(TOO_LONG), HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    return bytes(body)


def check_own(request: Request) -> None:
    """Check that a page of this host has sent a request, as far as the browser says.  Raises FormRefused."""
    if (site := request.headers.get("sec-fetch-site")) is not None:
        is_own = site == "same-origin"
    else:
        try:
            is_own = urlsplit(request.headers.get("origin", "")).netloc == request.headers.get("host", "") != ""
        except ValueError:
            is_own = False
    if not is_own:
        raise FormRefused(gettext(FOREIGN), HTTPStatus.FORBIDDEN)


def is_script(request: Request) -> bool:
    """Return whether a script of a page has sent the request."""
    return request.headers.get("accept") == "application/json"


def private(response: Response) -> Response:
    """Keep a response out of every cache."""
    response.headers["Cache-Control"] = "no-store"
    return response
