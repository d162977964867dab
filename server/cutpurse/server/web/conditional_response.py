"""Answers that are not sent again to who has them: each has a tag that follows from its bytes.

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
    """Answer with the body, of this media type, or 304 if the client has it."""
    tag = f'W/"{sha256(body).hexdigest()[:32]}"'  # weak: on its way it may be compressed
    headers = {"ETag": tag, **headers}
    had = {one.strip() for one in request.headers.get("if-none-match", "").split(",")}
    if had & {tag, tag.removeprefix("W/"), "*"}:
        # With a body the compression says that.
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers={**headers, "Vary": "Accept-Encoding"})
    return Response(body, media_type=kind, headers=headers)
