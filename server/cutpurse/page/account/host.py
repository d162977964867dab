"""The pages of a host, who has a token with the scope admin: how the league is, ladders, owners and tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from time import time
from typing import Any, Final
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from cutpurse.engine.errors import CutpurseError
from cutpurse.leaderboard.tokens import HOUSE, LINK, SCOPES
from cutpurse.page.account.acts import days_ms
from cutpurse.page.account.calls import find_ladder
from cutpurse.page.account.host_forms import (
    choices,
    fields_of_terms,
    house_choices,
    ladder_wanted,
    read_terms,
)
from cutpurse.page.account.pair_search import PairSearch
from cutpurse.page.account.signed_in import FormPage, Signed, accounts_of, act, look
from cutpurse.page.forms import private
from cutpurse.page.language.speaking import gettext, gettext_noop
from cutpurse.page.problems import http_status, without_address
from cutpurse.sdk.status_text import format_parts, format_queues, format_servers
from cutpurse.v1 import event_pb2, ladder_pb2, status_pb2
from cutpurse.wire.errors import NotAuthorised
from cutpurse.wire.league import League

__all__ = ["back", "check_admin", "keep_form", "overview", "router"]

MOST_FAULTS: Final = 20  # newest matches with faults that are shown
MOST_LADDERS: Final = 40  # each costs one call
MOST_ACTS: Final = 50
MOST_TOKENS: Final = 500
NOTHING_KNOWN: Final = status_pb2.GetStatusResponse()
_KINDS: Final = (event_pb2.EVENT_KIND_TOURNAMENT, event_pb2.EVENT_KIND_SEASON)  # those of hosts
NO_ADMIN: Final = gettext_noop("this page is for hosts: your token lacks the scope admin")
SCOPE_TEXTS: Final[Mapping[str, str]] = {
    "place": gettext_noop("another machine runs submitted bots"),
    "play": gettext_noop("bots connect, and are submitted"),
    "read": gettext_noop("their private ladders, faults, notes and logs can be read"),
    "admin": gettext_noop("everything, as you: ladders, events, tokens"),
}

router = APIRouter(include_in_schema=False)


@router.api_route("/host", methods=["GET", "HEAD"])
async def host(request: Request) -> Response:
    """Show how the league is, and the forms to create ladders and events."""
    return await look(request, "host.html", overview)


@router.api_route("/host/tokens", methods=["GET", "HEAD"])
async def tokens(request: Request) -> Response:
    """Show the tokens of all owners."""

    def load(signed: Signed) -> Mapping[str, Any]:
        check_admin(signed)
        return _tokens(signed, "")

    return await look(request, "host_tokens.html", load)


@router.api_route("/host/ladders/{name}", methods=["GET", "HEAD"])
async def ladder(request: Request, name: str) -> Response:
    """Show the terms of a ladder, to be changed."""
    return await look(request, "host_ladder.html", lambda signed: _ladder_facts(signed, name))


@router.post("/host/ladders")
async def create_ladder(request: Request) -> Response:
    """Create a ladder."""

    def do(signed: Signed, fields: Mapping[str, str]) -> str:
        ladder = ladder_wanted(fields)
        signed.account.league.CreateLadder(ladder_pb2.CreateLadderRequest(ladder=ladder))
        return _address(ladder.name)

    return await act(request, keep_form(do, "ladder"))


@router.post("/host/ladders/{name}")
async def change_ladder(request: Request, name: str) -> Response:
    """Change the terms of a ladder, freeze it, or open it again."""

    def do(signed: Signed, fields: Mapping[str, str]) -> str | FormPage:
        league = signed.account.league
        expected = find_ladder(league, name).defined.terms
        terms = ladder_pb2.LadderTerms()
        terms.CopyFrom(expected)
        try:
            match fields.get("what"):
                case "freeze":
                    terms.frozen_ms = int(time() * 1_000)
                case "open":
                    terms.frozen_ms = 0
                case _:
                    read_terms(fields, terms)
            league.ChangeLadder(ladder_pb2.ChangeLadderRequest(ladder=name, terms=terms, expected=expected))
        except CutpurseError as problem:
            facts = {**_ladder_facts(signed, name), **_mistake(problem, fields)}
            return FormPage("host_ladder.html", facts, http_status(problem))
        return _address(name)

    return await act(request, do)


@router.post("/host/ladders/{name}/pairs")
async def search_pairs(request: Request, name: str) -> Response:
    """Search the newest matches of a ladder for pairs of bots that may have an agreement."""
    pairs: PairSearch = request.app.state.pairs

    def do(signed: Signed, fields: Mapping[str, str]) -> FormPage:
        facts = _ladder_facts(signed, name)
        return FormPage("host_ladder.html", {**facts, "pairs": pairs.search(signed.account.league, facts["ladder"])})

    return await act(request, do)


@router.post("/host/tokens")
async def create_token(request: Request) -> Response:
    """Create a token or a link for an owner, and show it once."""

    def do(signed: Signed, fields: Mapping[str, str]) -> FormPage:
        scopes = [*fields.get("scopes", "").split(), *([LINK] if "link" in fields else [])]
        try:
            expires_ms = days_ms(fields.get("days", ""), 0)
            owner, label = fields.get("owner", "").strip(), fields.get("label", "").strip()
            made = signed.account.create_token(owner, label, scopes, expires_ms).token
        except CutpurseError as problem:
            check_admin(signed)
            facts = {**_tokens(signed, ""), **_mistake(problem, fields)}
            return FormPage("host_tokens.html", facts, http_status(problem))
        return FormPage(
            "host_tokens.html", _tokens(signed, f"{request.base_url}sign-in#{made}" if "link" in fields else made)
        )

    return await act(request, do)


@router.post("/host/tokens/revoke")
async def revoke_token(request: Request) -> Response:
    """Revoke a token of any owner."""

    def do(signed: Signed, fields: Mapping[str, str]) -> str:
        signed.account.revoke_token(fields.get("token", ""))
        return "/host/tokens"

    return await act(request, do)


@router.api_route("/host/ladders", methods=["GET", "HEAD"])
@router.api_route("/host/ladders/{name}/pairs", methods=["GET", "HEAD"])
@router.api_route("/host/tokens/revoke", methods=["GET", "HEAD"])
async def back(request: Request) -> Response:
    """Lead a browser that loads the address of a form to the host's page."""
    accounts_of(request)
    return private(RedirectResponse("/host", 303))


# -- what the pages show
def overview(signed: Signed) -> Mapping[str, Any]:
    """Return the variables of the host's page.  Raises NotAuthorised."""
    check_admin(signed)
    league = signed.account.league
    ladders = league.ListLadders(ladder_pb2.ListLaddersRequest()).ladders
    bots = league.ListBots(ladder_pb2.ListBotsRequest()).bots
    server_status, no_status = signed.tried(signed.account.status, NOTHING_KNOWN)
    events, _ = signed.tried(lambda: _events(league), list[event_pb2.EventShown]())
    of_seasons = {division.ladder for event in events for division in event.season.divisions}
    own = [ladder for ladder in ladders if not ladder.season and ladder.defined.name not in of_seasons]
    return {
        "rows": [(ladder, _behind(league, ladder) if at < MOST_LADDERS else None) for at, ladder in enumerate(own)],
        "divisions": len(ladders) - len(own),
        "open_matches": len(league.ListOpenMatches(ladder_pb2.ListOpenMatchesRequest(with_inner=True)).matches),
        "online": sum(bot.is_here for bot in bots),
        "faulted": league.ListMatches(ladder_pb2.ListMatchesRequest(faulted=True, limit=MOST_FAULTS)).matches,
        "secret": {
            ladder.defined.name for ladder in ladders if ladder.defined.terms.private or ladder.has_hidden_results
        },
        "acts": signed.account.acts(MOST_ACTS),
        "server_status": server_status,
        "queues": [*format_queues(server_status), *format_parts(server_status), *format_servers(server_status)],
        "no_status": no_status,
        "events": events,
        **choices(ladders, bots),
        **_NO_MISTAKE,
    }


def _events(league: League) -> list[event_pb2.EventShown]:
    """Return the tournaments and seasons, the newest first."""
    requests = [event_pb2.ListEventsRequest(kind=kind) for kind in _KINDS]
    events = [event for request in requests for event in league.ListEvents(request).events]
    return sorted(events, key=lambda event: event.created_ms, reverse=True)


def keep_form(
    do: Callable[[Signed, Mapping[str, str]], str | FormPage], form: str = ""
) -> Callable[[Signed, Mapping[str, str]], str | FormPage]:
    """Return `do` such that a form that is refused is shown again, with what was typed and with what is wrong.

    Args:
        do: Does what the form asks for.
        form: Name of the form on the host's page. Default: its field `kind`.
    """

    def answer(signed: Signed, fields: Mapping[str, str]) -> str | FormPage:
        try:
            return do(signed, fields)
        except CutpurseError as problem:
            facts = {**overview(signed), **_mistake(problem, fields), "form": form or fields.get("kind", "")}
            return FormPage("host.html", facts, http_status(problem))

    return answer


def check_admin(signed: Signed) -> None:
    """Check that the page is of use to the person; the server checks each call.  Raises NotAuthorised."""
    if "admin" not in signed.token.scopes:
        raise NotAuthorised(gettext(NO_ADMIN))


_NO_MISTAKE: Final[Mapping[str, Any]] = {"form": "", "typed": {}, "problem": "", "wrong_field": ""}


def _mistake(problem: CutpurseError, fields: Mapping[str, str]) -> Mapping[str, Any]:
    """Return what a form that was refused needs: what was typed, what is wrong with it, and in which field."""
    return {
        "typed": fields,
        "problem": f"{without_address(str(problem))}.",
        "wrong_field": getattr(problem, "field", ""),
    }


def _behind(league: League, ladder: ladder_pb2.LadderShown) -> int:
    """Return how many rated boards of a ladder are in no estimate yet."""
    page = league.ListRankings(ladder_pb2.ListRankingsRequest(ladder=ladder.defined.name, limit=1))
    return page.boards - page.estimated


def _ladder_facts(signed: Signed, name: str) -> Mapping[str, Any]:
    check_admin(signed)
    ladder = find_ladder(signed.account.league, name)
    bots = signed.account.league.ListBots(ladder_pb2.ListBotsRequest(owner=HOUSE)).bots
    return {
        **_NO_MISTAKE,
        "ladder": ladder,
        "pairs": None,
        "typed": fields_of_terms(ladder.defined.terms),
        "house_bots": house_choices(),
        "house_away": _house_away(ladder.defined.terms.house, bots),
    }


def _house_away(house: Iterable[str], bots: Iterable[ladder_pb2.BotShown]) -> list[str]:
    """Return the house bots of a ladder that are not online."""
    online = {version.bot.bot for version in bots if version.is_here}
    return [bot for bot in house if bot not in online]


def _tokens(signed: Signed, made: str) -> Mapping[str, Any]:
    texts = {scope: gettext(SCOPE_TEXTS[scope]) for scope in SCOPES}
    return {**_NO_MISTAKE, "tokens": signed.account.tokens()[:MOST_TOKENS], "made": made, "scopes": texts}


def _address(name: str) -> str:
    return f"/host/ladders/{quote(name, safe='')}"
