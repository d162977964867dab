"""The rendering of pages: templates that escape every text, and static files.

The address of a static file has a hash of its bytes, so browsers may cache it without limit. This module knows no
single page.
"""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, Final
from urllib.parse import quote

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, Response

from cutpurse.games import GAMES
from cutpurse.leaderboard.results import Identity
from cutpurse.page.anchors import strength
from cutpurse.page.charts import interval, scale, share
from cutpurse.page.conditional_response import conditional_response
from cutpurse.page.language.choosing import language_links
from cutpurse.page.language.game_words import game_title, word
from cutpurse.page.language.speaking import gettext, gettext_noop, language
from cutpurse.page.league_client import Asking
from cutpurse.page.loading import templates_of
from cutpurse.page.match_view.match_pictures import MAX_STRETCH
from cutpurse.page.match_view.pixels import has_pixels
from cutpurse.page.rating_display import percent
from cutpurse.page.submission_text import submission_text
from cutpurse.v1 import arena_pb2, event_pb2, ladder_pb2
from cutpurse.wire.league import format_bot_name, usage_per_match
from cutpurse.wire.text import printable
from cutpurse.wire.usage import format_dollars

__all__ = ["Asked", "Rendering", "StaticFile", "cause_text", "rendering_of", "show"]

HERE: Final = Path(__file__).parent
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_CAUSES: Final[dict[int, str]] = {
    arena_pb2.END_CAUSE_NORMAL: gettext_noop("played to the end"),
    arena_pb2.END_CAUSE_TIMEOUT: gettext_noop("took too long"),
    arena_pb2.END_CAUSE_ILLEGAL: gettext_noop("gave illegal answers"),
    arena_pb2.END_CAUSE_CRASHED: gettext_noop("its own code failed"),
    arena_pb2.END_CAUSE_DISCONNECTED: gettext_noop("was gone"),
    arena_pb2.END_CAUSE_VOID_SERVER: gettext_noop("void: the platform failed"),
    arena_pb2.END_CAUSE_VOID_OPERATOR: gettext_noop("void: ended by the operator of the server"),
    arena_pb2.END_CAUSE_VOID_OUTAGE: gettext_noop("void: the provider of a language model was down"),
}
_KINDS: Final = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file of `static/`."""

    address: str  # path of its URL, with a hash of its content
    kind: str  # media type
    content: bytes  # its bytes


class Rendering:
    """The templates and static files of the page."""

    def __init__(
        self,
        *,
        live: bool,
        has_seats: bool = False,
        has_accounts: bool = False,
        folder: Path = HERE,
        site_scripts: Path | None = None,
    ) -> None:
        """Read all templates and static files.

        Args:
            live: Whether there is a server, so that pages show live matches.
            has_seats: Whether people can play here.
            has_accounts: Whether people can sign in here.
            folder: Folder with `templates` and `static`.
            site_scripts: Folder of further static files, for the site without a server.
        """
        more = {} if site_scripts is None else _static(site_scripts)
        self.static: Final[Mapping[str, StaticFile]] = {**_static(folder / "static"), **more}
        self.by_address: Final = {file.address: file for file in self.static.values()}
        self.environment: Final = templates_of(folder / "templates")
        self.environment.globals |= {
            "static": lambda name: self.static[name].address,
            "is_live": live,
            "is_site": site_scripts is not None,
            "has_league": False,  # of a site; the pages of a server always show one
            "has_feeds": True,
            "has_seats": has_seats,
            "has_accounts": has_accounts,
            "has_pixels": has_pixels(),
            "max_stretch": MAX_STRETCH,
            "away_since_ms": 0,  # default; `show` passes the real value
            "language_links": list,  # default: none
            "interval": interval,
            "scale": scale,
            "share_bar": share,
        }
        self.environment.filters |= FILTERS

    def html(self, template: str, **context: object) -> str:
        """Render a template."""
        return self.environment.get_template(template).render(context)


def rendering_of(request: Request) -> Rendering:
    """Return the rendering of the app that got a request."""
    rendering: Rendering = request.app.state.rendering
    return rendering


def _asking_of(request: Request) -> Asking:
    """Return the app's client of the league.

    While the server is away, pages show its last answers, and programs get an error.
    """
    ask: Asking = request.app.state.ask
    path = request.url.path
    return ask.only_now() if path.startswith(("/api/", "/streams/")) or path.endswith(".csv") else ask


Asked = Annotated[Asking, Depends(_asking_of)]  # parameter type of endpoints that read the league


def show(request: Request, template: str, *, status: int = 200, **context: object) -> Response:
    """Respond with a page, or with 304 if the browser has it already.

    Args:
        request: Request to answer; the template gets its path as `here`, and the address before it as `site`.
        template: File name of the template.
        status: HTTP status.
        context: Variables of the template.
    """
    away_since_ms = request.app.state.ask.away_since_ms
    site = str(request.base_url).rstrip("/")
    page = {
        "here": request.url.path,
        "site": site,
        "away_since_ms": away_since_ms,
        "language_links": partial(language_links, request.scope),
    }
    html = rendering_of(request).html(template, **page, **context)
    headers = {"Cache-Control": "no-cache"}  # browsers must revalidate the page before using it again
    if status != HTTPStatus.OK:
        return HTMLResponse(html, status, headers)
    return conditional_response(request, html.encode(), "text/html", headers)


# -- filters of the templates
def _segment(text: str) -> str:
    """Quote a text as one segment of a path."""
    return quote(text, safe="")


def _bot_path(bot: Any, *, version: bool = False) -> str:
    """Return the address of a bot's page, or with `version` of the page of its named version."""
    path = f"/bots/{_segment(bot.owner or 'local')}/{_segment(bot.bot)}"
    return f"{path}/{_segment(bot.version)}" if version and bot.version else path


def _bot_shown(bot: Any) -> str:
    """Format a bot name for people: without its version, and with its owner if there is one."""
    name = printable(bot.bot, 64)
    return name if bot.owner in ("", "local") else f"{printable(bot.owner, 64)}/{name}"


def _is_person(bot: Any) -> bool:
    """Return whether a bot is its owner in person, and no program."""
    return Identity(bot.owner, bot.bot, bot.version).is_person


def _sits_twice(bot: Any, bots: Iterable[Any]) -> bool:
    """Return whether a match has several versions of a bot, so that its name alone is ambiguous."""
    return sum((one.owner, one.bot) == (bot.owner, bot.bot) for one in bots) > 1


def _iso(ms: int) -> str:
    """Format a timestamp, in milliseconds since 1970, for a browser."""
    return _moment(ms).strftime("%Y-%m-%dT%H:%M:%SZ")


def _utc(ms: int) -> str:
    """Format a timestamp, in milliseconds since 1970, for people."""
    return language().date_and_time(_moment(ms))


def _moment(ms: int) -> datetime:
    try:
        return _EPOCH + timedelta(milliseconds=ms)
    except OverflowError:  # the server sent a timestamp after the year 9999
        return datetime.max.replace(tzinfo=UTC)


def _game_title(game: str) -> str:
    """Return the title of a game, or its name if the game is unknown."""
    return game_title(game) if game in GAMES else printable(game, 64)


def cause_text(cause: int) -> str:
    """Describe for people why the server decided for a seat, or how a seat ended the match."""
    text = _CAUSES.get(cause)
    return gettext(text) if text else gettext("of another cause")


def _signed(number: float) -> str:
    """Format a number with its sign; the minus is as wide as the plus."""
    sign = "\N{MINUS SIGN}" if number < 0 else "+"
    return f"{sign}{language().decimal(abs(number), 2)}"


def _thousandth(number: int, digits: int | None = None) -> str:
    """Format a thousandth of a number with this many digits after the point; by default as many as it takes."""
    return f"{number / 1000:g}" if digits is None else language().decimal(number / 1000, digits)


def _half_width(row: Any) -> float:
    """Return how far off the rating of a row may be, to each side."""
    return float(row.high - row.low) / 2


def _percent_of(part: float, whole: float = 1.0) -> int:
    """Return how many hundredths of a whole a part is, rounded; 0 of nothing."""
    return round(100 * part / whole) if whole else 0


def _percent_ahead(met: Any) -> int:
    """Return in how many of a hundred matches a bot was ahead of an opponent, rounded; a tie is half of one."""
    return _percent_of(met.ahead + met.level / 2, met.matches)


def _per(total: float, count: int) -> float:
    return total / count


def _has_boards(ladder: Any) -> bool:
    """Return whether a ladder deals the same cards in several matches, and so rates boards."""
    return bool(ladder.boards > ladder_pb2.BOARD_KIND_PLAIN)


def _likely_outcome(met: Any) -> str:
    """Format how likely the outcome of a match between two bots was; `met.likely` is that the first is ahead."""
    return percent(met.likely if met.outcome > 0 else 1 - met.likely)


def _mebibytes(size: int) -> str:
    return language().decimal(size / 2**20, 0)


def _value_name(enum: Any, prefix: str, number: int) -> str:
    """Return the name of a value of an enum, such as "over" for SEASON_PHASE_OVER; empty for one that is not known."""
    return enum.Name(number).removeprefix(prefix).lower() if number in enum.values() else ""


FILTERS: Final = {
    "seconds": _thousandth,  # of milliseconds
    "milliseconds": _thousandth,  # of microseconds
    "half_width": _half_width,
    "percent_of": _percent_of,
    "percent_ahead": _percent_ahead,
    "per": _per,
    "mean": fmean,
    "has_boards": _has_boards,
    "likely_outcome": _likely_outcome,
    "mebibytes": _mebibytes,
    "season_phase": partial(_value_name, event_pb2.SeasonPhase, "SEASON_PHASE_"),
    "season_move": partial(_value_name, event_pb2.SeasonMove, "SEASON_MOVE_"),
    "board_kind": partial(_value_name, ladder_pb2.BoardKind, "BOARD_KIND_"),
    "cause": cause_text,
    "percent": percent,
    "signed": _signed,
    "segment": _segment,
    "bot_path": _bot_path,
    "bot_shown": _bot_shown,
    "is_person": _is_person,
    "sits_twice": _sits_twice,
    "iso": _iso,
    "utc": _utc,
    "game_title": _game_title,
    "dollars": format_dollars,
    "usage_per_match": usage_per_match,
    "strength": strength,
    "submission_text": submission_text,
    "bot_text": format_bot_name,
    "word": word,
}


def _static(folder: Path) -> dict[str, StaticFile]:
    """Read all static files of a folder, by their path below it; style sheets name others by that path."""
    files: dict[str, StaticFile] = {}

    def address(found: re.Match[bytes]) -> bytes:
        return b"url(" + files[found[1].decode()].address.encode() + b")"

    for path in sorted(folder.rglob("*"), key=lambda path: (path.suffix == ".css", path)):
        if path.is_file():
            content = path.read_bytes()
            if path.suffix == ".css":
                content = re.sub(rb"url\(([\w./-]+)\)", address, content)
            name = path.relative_to(folder).as_posix()
            hashed = f"{name.removesuffix(path.suffix)}.{sha256(content).hexdigest()[:12]}{path.suffix}"
            kind = _KINDS.get(path.suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
            files[name] = StaticFile(f"/static/{hashed}", kind, content)
    return files
