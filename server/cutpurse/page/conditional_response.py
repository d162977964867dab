"""Conditional responses: an entity tag made from the bytes, and 304 for clients that have them already.

This module knows no page.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from http import HTTPStatus

from fastapi import Request
from fastapi.responses import Response

__all__ = ["conditional_response"]


def conditional_response(request: Request, body: bytes, kind: str, headers: Mapping[str, str]) -> Response:
    """Respond with `body` of media type `kind`, or with 304 if the client has it already."""
    tag = f'W/"{sha256(body).hexdigest()[:32]}"'  # weak, because a proxy or our middleware may compress the body
    headers = {"ETag": tag, **headers}
    had = {one.strip() for one in request.headers.get("if-none-match", "").split(",")}
    if had & {tag, tag.removeprefix("W/"), "*"}:
        # The compression middleware adds Vary only to responses with a body.
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers={**headers, "Vary": "Accept-Encoding"})
    return Response(body, media_type=kind, headers=headers)
