"""Replays that play by themselves, one after the other: on the live page while nothing runs, and on a screen in a room.

A room's list is the one that the host put into the address, or the best of the day.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Annotated, Any, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from cutpurse.engine.errors import CutpurseError
from cutpurse.page.language.speaking import gettext, language, ngettext
from cutpurse.page.league_client import Asking
from cutpurse.page.match_view.replay_context import replay_context
from cutpurse.page.pages.replay import replay_wanted
from cutpurse.page.record_remarks import RecordRemarks
from cutpurse.page.rendering import Asked, show
from cutpurse.sdk.matches.remark import Remark, RemarkKind
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.errors import NotAuthorised, NotFound

__all__ = ["ShownMatch", "best_of_day", "newest_first", "remark_text", "router", "show_one"]

WINDOW: Final = 200  # newest matches among which the best are
OF_KIND: Final = 4  # best matches of each kind
MAX_LIST: Final = 50  # matches in a list of the host
MATCH_S: Final = 90.0  # a match is shown in about this time
PACE_MS: Final = (250, 1_500)  # least and greatest time for a moment
BEFORE: Final = 12  # moments that lead to what is remarkable
DAY_MS: Final = 86_400_000

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class ShownMatch:
    """A match to show, why, and the number of choices after which that happened; 0 if at no certain one."""

    match: ladder_pb2.MatchShown
    why: str = ""
    at: int = 0


@router.api_route("/show", methods=["GET", "HEAD"])
def room(
    request: Request,
    ask: Asked,
    matches: Annotated[str, Query(max_length=2_000)] = "",
    ladder: str = "",
    number: Annotated[int, Query(ge=0, lt=10**6)] = 0,
) -> Response:
    """Play matches one after the other, without menus.

    Args:
        request: Request to answer.
        ask: Client of the league.
        matches: IDs of the matches, with commas between them; empty for the best of the day.
        ladder: Only the best of this ladder.
        number: Number of the match in the list, which begins again at its end.
    """
    names = [name for part in matches.split(",")[:MAX_LIST] if (name := part.strip())]
    entries = _listed(ask, names) if names else best_of_day(request, ask, ladder)
    query = {"matches": matches, "ladder": ladder}
    page = show_one(request, ask, entries, number, "/show", query)
    return page or show(request, "nothing_to_show.html")


def _listed(ask: Asking, names: Sequence[str]) -> list[ShownMatch]:
    """Return the matches of a list, without those that nobody may see."""
    entries = []
    for name in names:
        try:
            entries.append(ShownMatch(ask.match(name).match))
        except (NotAuthorised, NotFound):
            continue
    return entries


def best_of_day(request: Request, ask: Asking, ladder: str = "") -> list[ShownMatch]:
    """Return the greatest upsets, closest ends, comebacks and steals of a day in turn, else the newest matches."""
    now_ms = time.time_ns() // 1_000_000
    matches = ask.matches(ladder, since_ms=now_ms - DAY_MS, limit=WINDOW).matches or newest_first(ask, ladder)
    remarks: RecordRemarks = request.app.state.record_remarks
    kinds = [remarks.best(kind, matches, ask)[0][:OF_KIND] for kind in RemarkKind]
    pairs = [pair for pair in chain.from_iterable(zip_longest(*kinds)) if pair is not None]
    first = {match.match: ShownMatch(match, remark_text(remark), remark.at) for match, remark in reversed(pairs)}
    best = [first[name] for name in dict.fromkeys(match.match for match, _ in pairs)]
    return best or [ShownMatch(match) for match in matches if match.decisions and not match.void_cause]


def newest_first(ask: Asking, ladder: str = "") -> Sequence[ladder_pb2.MatchShown]:
    """Return the newest matches, of all ladders or one."""
    return ask.matches(ladder, limit=WINDOW).matches


def remark_text(remark: Remark) -> str:
    """Describe what is remarkable about a match, for people, without the winner's name."""
    match remark.kind:
        case RemarkKind.UPSET:
            percent = f"{max(1, round(100 * remark.value))} %"
            return gettext("Upset: chance %(percent)s", percent=percent)
        case RemarkKind.CLOSE:
            margin = int(remark.value)
            return gettext("Close end: %(margin)s apart", margin=margin) if margin else gettext("Close end: level")
        case RemarkKind.COMEBACK:
            percent = f"{round(100 * remark.value)} %"
            return gettext("Comeback: last for %(percent)s of it", percent=percent)
        case RemarkKind.STEAL:
            if remark.is_money:
                return gettext("Large steal: $%(money)s", money=language().number(int(remark.value)))
            return ngettext("Large steal: %(num)s card", "Large steal: %(num)s cards", int(remark.value))


def show_one(
    request: Request,
    ask: Asking,
    entries: Sequence[ShownMatch],
    number: int,
    base: str,
    query: Mapping[str, str],
    **context: Any,
) -> Response | None:
    """Respond with a replay that plays by itself and leads to the next match of a list; None if none can be replayed.

    Args:
        request: Request to answer.
        ask: Client of the league.
        entries: The list.
        number: Number of the match in it.
        base: Address of the page.
        query: Query of that address, besides the number.
        context: More variables of the template.
    """
    for step in range(len(entries)):
        entry = entries[(number + step) % len(entries)]
        try:
            replay, answer = replay_wanted(request, ask, entry.match.match, None)
        except CutpurseError:  # it has no record, or may not be seen any more
            continue
        following = {**query, "number": str((number + step + 1) % len(entries))}
        moments = len(replay.path.ats)
        start = max(0, replay.path.index(entry.at) - BEFORE) if entry.at else 0
        least, most = PACE_MS
        facts = {
            **replay_context(replay, replay.path.ats[start]),
            "match": answer.match,
            "why": entry.why,
            "following": f"{base}?{urlencode({name: value for name, value in following.items() if value})}",
            "pace_ms": min(max(int(1_000 * MATCH_S / (moments - start)), least), most),
            "is_room": base == "/show",
            "is_signed_in": False,
            "matches": (),
            "ladders": (),
        }
        return show(request, "showing.html", **{**facts, **context})
    return None
