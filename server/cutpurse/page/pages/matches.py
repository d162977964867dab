"""The list of finished matches, in pages, with filters for ladder, bot, event, day and faults."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Final, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from cutpurse.engine.errors import UsageError
from cutpurse.page.language.speaking import gettext
from cutpurse.page.pages.showing import remark_text
from cutpurse.page.record_remarks import RecordRemarks
from cutpurse.page.rendering import Asked, show
from cutpurse.sdk.matches.remark import Remark, RemarkKind
from cutpurse.v1 import ladder_pb2

__all__ = ["bot_meant", "router"]

PAGE: Final = 50
NEWEST: Final = 500  # matches among which the best are
BEST: Final = 20  # of them
MOST_TRAIL: Final = 40  # earlier pages that the address remembers, for the links back
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NUMBERS: Final = re.compile(r"(\d{1,16}(\.\d{1,16})*)?", re.ASCII)

router = APIRouter(include_in_schema=False)


@router.api_route("/matches", methods=["GET", "HEAD"])
def matches(
    request: Request,
    ask: Asked,
    ladder: str = "",
    bot: str = "",
    event: str = "",
    day: str = "",
    faulted: bool = False,
    best: Annotated[RemarkKind | Literal[""], Query()] = "",
    before: Annotated[int, Query(ge=0, lt=2**53)] = 0,
    trail: str = "",
) -> Response:
    """Show one page of the matches that pass the filters.

    Args:
        request: Request to answer.
        ask: Client of the league.
        ladder: Only matches of this ladder.
        bot: Only matches of this bot: name, owner/name or owner/name:version; several with commas between them.
        event: Only matches of this event, or of this kind of events.
        day: Only matches that finished on this day in UTC, such as 2026-11-21.
        faulted: Only matches with a fault.
        best: Only the newest matches that are remarkable in this way, the greatest first.
        before: Only matches with a lower number; 0 for the newest ones.
        trail: Values of `before` of the pages before, joined by dots.
    """
    since_ms, until_ms = _day(day)
    bots = ask.bots()
    who = [bot_meant(name.strip(), bots) for name in bot.split(",") if name.strip()]
    page = ask.matches(
        ladder,
        who,
        faulted=faulted,
        since_ms=since_ms,
        until_ms=until_ms,
        limit=NEWEST if best else PAGE,
        before=0 if best else before,
        event=event.strip(),
    )
    remarks: dict[str, Remark] = {}
    pending = 0
    if best:
        works: RecordRemarks = request.app.state.record_remarks
        pairs, pending = works.best(RemarkKind(best), page.matches, ask)
        remarks = {match.match: remark for match, remark in pairs[:BEST]}
        page = ladder_pb2.ListMatchesResponse(matches=[match for match, _ in pairs[:BEST]])
    query = {
        "ladder": ladder,
        "bot": bot.strip(),
        "event": event.strip(),
        "day": day,
        "faulted": "true" if faulted else "",
        "best": best,
    }
    return show(
        request,
        "matches.html",
        told=page.matches,
        ladders=ask.ladders(),
        bots=sorted({(one.bot.owner, one.bot.bot) for one in bots}),
        asked=query,
        is_filtered=any(query.values()),
        remarks={name: (remark_text(remark), remark.at) for name, remark in remarks.items()},
        pending=pending,
        is_later=before > 0,
        newer=_newer(query, before, trail),
        older=_address(query, page.next, _trail(trail, before)) if page.next else None,
        newest=_address(query, 0, ""),
    )


def bot_meant(text: str, known: Sequence[ladder_pb2.BotShown]) -> ladder_pb2.BotName:
    """Find the bot meant by `name`, `owner/name` or `owner/name:version`, preferably a known one.

    Raises:
        UsageError: If the text has none of these forms.
    """
    names = {(one.bot.owner, one.bot.bot): one.bot for one in known}
    owner, _, bot = text.rpartition("/") if "/" in text else ("local", "", text)
    for at in [at for at, sign in enumerate(text) if sign == "/"]:  # names from other systems may contain slashes
        if (text[:at], text[at + 1 :]) in names:
            return ladder_pb2.BotName(owner=text[:at], bot=text[at + 1 :])
    if "/" not in text:
        alike = [one for (_, name), one in names.items() if name == text]
        if len(alike) == 1:  # the name is unique among all owners
            return ladder_pb2.BotName(owner=alike[0].owner, bot=text)
    name, _, version = bot.partition(":")
    if not owner or not name:
        raise UsageError(
            gettext("%(text)s names no bot: write owner/name, or owner/name:version", text=f"{text!r:.80}")
        )
    return ladder_pb2.BotName(owner=owner, bot=name, version=version)


def _day(text: str) -> tuple[int, int]:
    """Return the start and end of a UTC day, in milliseconds since 1970; 0 and 0 for an empty text.

    Raises:
        UsageError: If the text is not a date.
    """
    if not text:
        return 0, 0
    try:
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII):
            raise ValueError
        begin = datetime.combine(date.fromisoformat(text), datetime.min.time(), UTC)
        if not 1971 <= begin.year < 2100:
            raise ValueError
    except ValueError:
        raise UsageError(gettext("%(text)s is no day: write it as 2026-11-21", text=f"{text!r:.40}")) from None
    since = (begin - _EPOCH) // timedelta(milliseconds=1)
    return since, since + 86_400_000


def _trail(trail: str, before: int) -> str:
    """Return the trail of the next page: `trail` with `before` added."""
    if not _NUMBERS.fullmatch(trail):
        return str(before)
    return ".".join([*trail.split("."), str(before)][-MOST_TRAIL:] if trail else [str(before)])


def _newer(query: dict[str, str], before: int, trail: str) -> str | None:
    """Return the address of the page before this one, if the trail has it."""
    if not before or not trail or not _NUMBERS.fullmatch(trail):
        return None
    *earlier, last = trail.split(".")
    return _address(query, int(last), ".".join(earlier))


def _address(asked: dict[str, str], before: int, trail: str) -> str:
    query = {**asked, "before": str(before or ""), "trail": trail if before else ""}
    said = urlencode({name: value for name, value in query.items() if value})
    return f"/matches?{said}" if said else "/matches"
