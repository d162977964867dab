"""The name that a person has at a table with friends: checked, and kept in a cookie for the next time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Final
from urllib.parse import quote, unquote

from fastapi import Request
from fastapi.responses import Response

from cutpurse.page.forms import FormRefused, field_of
from cutpurse.page.language.speaking import gettext

__all__ = ["MAX_NAME", "distinct_names", "keep_name", "own_name", "read_name"]

MAX_NAME: Final = 24  # characters
COOKIE: Final = "cutpurse_name"
KEEP_S: Final = 365 * 86_400


def read_name(fields: Mapping[str, Sequence[str]]) -> str:
    """Return the name of a form, with single spaces; empty if there is none.

    Raises:
        FormRefused: If it is too long, or has characters that cannot be read.
    """
    name = " ".join(field_of(fields, "name").split())
    if len(name) > MAX_NAME:
        text = gettext(
            "Your name has %(count)s characters, and %(most)s are the most: shorten it and sit down again.",
            count=len(name),
            most=MAX_NAME,
        )
        raise FormRefused(text, HTTPStatus.BAD_REQUEST)
    if not name.isprintable():
        text = gettext("Your name has characters that cannot be shown: leave them out and sit down again.")
        raise FormRefused(text, HTTPStatus.BAD_REQUEST)
    return name


def own_name(request: Request) -> str:
    """Return the name that the browser kept; empty if it kept none."""
    try:
        return read_name({"name": [unquote(request.cookies.get(COOKIE, ""))]})
    except FormRefused:  # not written by this page
        return ""


def keep_name(request: Request, response: Response, name: str) -> None:
    """Let the browser keep a name."""
    if name != own_name(request):
        is_secure = request.url.scheme == "https"
        response.set_cookie(COOKIE, quote(name), KEEP_S, path="/", secure=is_secure, httponly=True, samesite="strict")


def distinct_names(names: Iterable[str], others: Iterable[str]) -> list[str]:
    """Add numbers to names that equal one another, or one of `others`: "Ann", "Ann 2"."""
    taken = {name.casefold() for name in others}
    result = []
    for name in names:
        number, text = 1, name
        while text and text.casefold() in taken:
            number += 1
            text = f"{name} {number}"
        taken.add(text.casefold())
        result.append(text)
    return result
