"""The language of each request: of its `lang` parameter, of its cookie, of the browser's settings, or English.

What programs read stays English: the API, feeds, and tables for spreadsheets. This module knows no page.
"""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cutpurse.page.language.languages import ENGLISH, Language, offered_languages
from cutpurse.page.language.speaking import speaking

__all__ = ["COOKIE", "PARAMETER", "Speaking", "language_links", "language_of"]

PARAMETER: Final = "lang"
COOKIE: Final = "lang"
KEEP_S: Final = 365 * 86_400  # lifetime of the cookie
ENGLISH_PATHS: Final = ("/api/", "/feeds/", "/static/", "/healthz", "/robots.txt", "/favicon.ico")
CALLBACK: Final = "/sign-in/"  # the address at which a provider sends people back has a code
MOST_WISHES: Final = 16  # languages of a browser that are looked at


class Speaking:
    """Middleware that answers each request in its language."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or is_english(scope["path"]):
            await self._app(scope, receive, send)
            return
        wished = _parameter(scope)
        spoken = language_of(scope)

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.add_vary_header("Accept-Language")
                headers.add_vary_header("Cookie")
                if wished is not None:
                    kept = f"{COOKIE}={wished.tag}; Path=/; Max-Age={KEEP_S}; SameSite=Lax"
                    headers.append("Set-Cookie", kept)
            await send(message)

        with speaking(spoken):
            await self._app(scope, receive, sending)


def is_english(path: str) -> bool:
    """Return whether what lies at a path is for programs, so that it is English for everybody."""
    return path.startswith(ENGLISH_PATHS) or path.endswith(".csv")


def language_of(scope: Scope) -> Language:
    """Return the language of a request."""
    headers = Headers(scope=scope)
    return _parameter(scope) or _cookie(headers) or _browser(headers) or ENGLISH


def language_links(scope: Scope) -> list[tuple[Language, str]]:
    """Return the address of the same page in each language; of the first page, where that is no address to keep."""
    unkept = is_english(scope["path"]) or scope["path"].startswith(CALLBACK)
    is_here = scope["method"] in ("GET", "HEAD") and not unkept
    path = _path(scope) if is_here else "/"
    kept = [(name, value) for name, value in _pairs(scope) if name != PARAMETER] if is_here else []
    return [(one, f"{path}?{urlencode([*kept, (PARAMETER, one.tag)])}") for one in offered_languages().values()]


def _path(scope: Scope) -> str:
    """Return the path as it was sent, with one slash at its beginning: two would name another host."""
    sent: bytes = scope.get("raw_path") or quote(scope["path"]).encode("ascii")
    path = sent.partition(b"?")[0].decode("latin-1").replace("\\", "%5C")
    return "/" + path.lstrip("/")


def _pairs(scope: Scope) -> list[tuple[str, str]]:
    try:
        return parse_qsl(scope["query_string"].decode("latin-1"), max_num_fields=20)
    except ValueError:
        return []


def _parameter(scope: Scope) -> Language | None:
    if b"lang=" not in scope["query_string"]:
        return None
    return offered_languages().get(dict(_pairs(scope)).get(PARAMETER, ""))


def _cookie(headers: Headers) -> Language | None:
    text = headers.get("cookie", "")
    if f"{COOKIE}=" not in text:
        return None
    try:
        cookies = SimpleCookie(text)
    except CookieError:
        return None
    return offered_languages().get(cookies[COOKIE].value) if COOKIE in cookies else None


def _browser(headers: Headers) -> Language | None:
    """Return the language of ours that the browser likes best: "de-AT" is "de" for us."""
    wishes: list[tuple[float, Language]] = []
    for wish in headers.get("accept-language", "").split(",")[:MOST_WISHES]:
        tag, _, weight = wish.partition(";")
        found = offered_languages().get(tag.strip().partition("-")[0].lower())
        if found is not None:
            wishes.append((_weight(weight), found))
    liked = [one for one in wishes if one[0] > 0]
    return max(liked, key=lambda one: one[0])[1] if liked else None


def _weight(text: str) -> float:
    """Return the weight of a wish, from 0 to 1; 0 if it cannot be read."""
    name, _, value = text.strip().partition("=")
    if not name:
        return 1.0
    try:
        return min(max(float(value), 0.0), 1.0) if name.strip() == "q" else 0.0
    except ValueError:
        return 0.0
