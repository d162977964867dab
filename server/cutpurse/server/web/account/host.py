"""The pages of a host, who has a token with the scope admin: how the league is, owners and tokens, and ladders."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from time import time
from typing import Any, Final
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from cutpurse.engine.errors import UsageError
from cutpurse.games import GAMES
from cutpurse.leaderboard.tokens import LINK, SCOPES
from cutpurse.server.web.account.acts import days_ms
from cutpurse.server.web.account.pair_search import PairSearch
from cutpurse.server.web.account.signed_in import Signed, accounts_of, act, look, show_once
from cutpurse.server.web.forms import private
from cutpurse.server.web.language.game_words import spoken
from cutpurse.server.web.language.speaking import gettext, gettext_noop
from cutpurse.server.web.pages.season import season_facts
from cutpurse.server.web.pages.tournament import tournament_facts
from cutpurse.v1 import ladder_pb2, status_pb2
from cutpurse.wire.errors import NotAuthorised, NotFound
from cutpurse.wire.league import League, bot_name
from cutpurse.wire.status_text import format_queues, format_servers

__all__ = ["router"]

MOST_FAULTS: Final = 20  # newest matches with faults that are shown
MOST_LADDERS: Final = 40  # each costs one call
MOST_ACTS: Final = 50
MOST_TOKENS: Final = 500
NOTHING_KNOWN: Final = status_pb2.GetStatusResponse()
NO_ADMIN: Final = gettext_noop("this page is for hosts: your token lacks the scope admin")

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class _LadderRow:
    """A ladder, and how many of its rated boards are in no estimate yet; None if it was not asked for."""

    shown: ladder_pb2.LadderShown
    behind: int | None


@router.api_route("/host", methods=["GET", "HEAD"])
async def host(request: Request) -> Response:
    """Show how the league is, and the forms to create ladders."""

    def load(signed: Signed) -> Mapping[str, Any]:
        _check_admin(signed)
        league = signed.account.league
        ladders = league.ListLadders(ladder_pb2.ListLaddersRequest()).ladders
        faulted = ladder_pb2.ListMatchesRequest(faulted=True, limit=MOST_FAULTS)
        server_status, no_status = signed.tried(signed.account.status, NOTHING_KNOWN)
        return {
            "rows": [_row(league, one, number) for number, one in enumerate(ladders)],
            "open_matches": len(league.ListOpenMatches(ladder_pb2.ListOpenMatchesRequest()).matches),
            "online": sum(one.is_here for one in league.ListBots(ladder_pb2.ListBotsRequest()).bots),
            "faulted": league.ListMatches(faulted).matches,
            "acts": signed.account.acts(MOST_ACTS),
            "server_status": server_status,
            "queues": [*format_queues(server_status), *format_servers(server_status)],
            "no_status": no_status,
            "tournaments": signed.tried(lambda: [*_tournaments(league)], list[ladder_pb2.TournamentShown]())[0],
            "seasons": signed.tried(lambda: [*_seasons(league)], list[ladder_pb2.SeasonShown]())[0],
            "games": {name: spoken(rules.words) for name, rules in GAMES.items()},
        }

    return await look(request, "host.html", load)


@router.api_route("/host/tokens", methods=["GET", "HEAD"])
async def tokens(request: Request) -> Response:
    """Show the tokens of all owners."""

    def load(signed: Signed) -> Mapping[str, Any]:
        _check_admin(signed)
        return _tokens(signed, "")

    return await look(request, "host_tokens.html", load)


@router.api_route("/host/ladders/{name}", methods=["GET", "HEAD"])
async def ladder(request: Request, name: str) -> Response:
    """Show the terms of a ladder, to be changed."""

    def load(signed: Signed) -> Mapping[str, Any]:
        _check_admin(signed)
        return {"ladder": _ladder(signed.account.league, name), "pairs": None}

    return await look(request, "host_ladder.html", load)


@router.post("/host/ladders")
async def create_ladder(request: Request) -> Response:
    """Create a ladder."""

    def do(signed: Signed, fields: Mapping[str, str]) -> str:
        terms = ladder_pb2.LadderTerms(
            owners=_words(fields, "owners"),
            private="private" in fields,
            people="people" in fields,
            results_hidden_until_ms=_utc_ms(fields, "results_hidden_until"),
            names_hidden_until_ms=_utc_ms(fields, "names_hidden_until"),
            title=fields.get("title", "").strip(),
        )
        name, game = fields.get("name", "").strip(), fields.get("game", "")
        defined = ladder_pb2.LadderDefined(name=name, game=game, seats=_number(fields, "seats"), terms=terms)
        signed.account.league.CreateLadder(ladder_pb2.CreateLadderRequest(ladder=defined))
        return _address(name)

    return await act(request, do)


@router.post("/host/ladders/{name}")
async def change_ladder(request: Request, name: str) -> Response:
    """Change the terms of a ladder, freeze it, or open it again."""

    def do(signed: Signed, fields: Mapping[str, str]) -> str:
        league = signed.account.league
        expected = _ladder(league, name).defined.terms
        terms = ladder_pb2.LadderTerms()
        terms.CopyFrom(expected)
        match fields.get("what"):
            case "freeze":
                terms.frozen_ms = int(time() * 1_000)
            case "open":
                terms.frozen_ms = 0
            case _:
                del terms.owners[:]
                terms.owners.extend(_words(fields, "owners"))
                terms.title = fields.get("title", "").strip()
                terms.private = "private" in fields
                terms.people = "people" in fields
                terms.results_hidden_until_ms = _utc_ms(fields, "results_hidden_until")
                terms.names_hidden_until_ms = _utc_ms(fields, "names_hidden_until")
                terms.most_bots, terms.most_per_owner = _number(fields, "most_bots"), _number(fields, "most_per_owner")
        league.ChangeLadder(ladder_pb2.ChangeLadderRequest(ladder=name, terms=terms, expected=expected))
        return _address(name)

    return await act(request, do)


@router.post("/host/ladders/{name}/pairs")
async def search_pairs(request: Request, name: str) -> Response:
    """Search the newest matches of a ladder for pairs of bots that may have an agreement."""
    pairs: PairSearch = request.app.state.pairs

    def do(signed: Signed, fields: Mapping[str, str]) -> Mapping[str, Any]:
        _check_admin(signed)
        shown = _ladder(signed.account.league, name)
        return {"ladder": shown, "pairs": pairs.search(signed.account.league, shown)}

    return await show_once(request, "host_ladder.html", do)


@router.api_route("/host/tournaments/plan", methods=["GET", "HEAD"])
async def back_from_plan(request: Request) -> Response:
    """Lead a browser that loads the address of a plan to the host's page."""
    return await back(request)


@router.api_route("/host/tournaments/{tournament}", methods=["GET", "HEAD"])
async def tournament(request: Request, tournament: str) -> Response:
    """Show a tournament, also one of a private ladder or with hidden results, to be stopped."""

    def load(signed: Signed) -> Mapping[str, Any]:
        _check_admin(signed)
        league = signed.account.league
        shown = league.GetTournament(ladder_pb2.GetTournamentRequest(tournament=tournament)).tournament
        ladder = _ladder(league, shown.ladder)
        is_public = not (ladder.defined.terms.private or ladder.has_hidden_results)
        return {**tournament_facts(shown), "is_public": is_public, "wanted": {}}

    return await look(request, "host_tournament.html", load)


@router.post("/host/tournaments/plan")
async def plan_tournament(request: Request) -> Response:
    """Show the plan of a tournament, which is not started yet."""

    def do(signed: Signed, fields: Mapping[str, str]) -> Mapping[str, Any]:
        asked = ladder_pb2.PlanTournamentRequest(wanted=_wanted(fields))
        shown = signed.account.league.PlanTournament(asked).tournament
        wanted = {name: fields.get(name, "") for name in ("ladder", "format", "best_of", "bots", "top")}
        return {**tournament_facts(shown), "is_public": False, "wanted": wanted}

    return await show_once(request, "host_tournament.html", do)


@router.post("/host/tournaments")
async def start_tournament(request: Request) -> Response:
    """Start a tournament as its plan was shown."""

    def do(signed: Signed, fields: Mapping[str, str]) -> str:
        asked = ladder_pb2.StartTournamentRequest(wanted=_wanted(fields), plan=fields.get("plan", ""))
        shown = signed.account.league.StartTournament(asked).tournament
        return f"/host/tournaments/{quote(shown.tournament, safe='')}"

    return await act(request, do)


@router.post("/host/tournaments/{tournament}/stop")
async def stop_tournament(request: Request, tournament: str) -> Response:
    """End a tournament."""

    def do(signed: Signed, fields: Mapping[str, str]) -> str:
        signed.account.league.StopTournament(ladder_pb2.StopTournamentRequest(tournament=tournament))
        return f"/host/tournaments/{quote(tournament, safe='')}"

    return await act(request, do)


@router.post("/host/tokens")
async def create_token(request: Request) -> Response:
    """Create a token or a link for an owner, and show it once."""

    def do(signed: Signed, fields: Mapping[str, str]) -> Mapping[str, Any]:
        scopes = [*fields.get("scopes", "").split(), *([LINK] if "link" in fields else [])]
        expires_ms = days_ms(fields.get("days", ""), 0)
        owner, label = fields.get("owner", "").strip(), fields.get("label", "").strip()
        made = signed.account.create_token(owner, label, scopes, expires_ms).token
        return _tokens(signed, f"{request.base_url}sign-in#{made}" if "link" in fields else made)

    return await show_once(request, "host_tokens.html", do)


@router.post("/host/tokens/revoke")
async def revoke_token(request: Request) -> Response:
    """Revoke a token of any owner."""

    def do(signed: Signed, fields: Mapping[str, str]) -> str:
        signed.account.revoke_token(fields.get("token", ""))
        return "/host/tokens"

    return await act(request, do)


@router.api_route("/host/seasons/{series}", methods=["GET", "HEAD"])
async def season(request: Request, series: str) -> Response:
    """Show the newest season of a series, also one of private ladders or with hidden results, to be stopped."""

    def load(signed: Signed) -> Mapping[str, Any]:
        _check_admin(signed)
        league = signed.account.league
        shown = league.GetSeason(ladder_pb2.GetSeasonRequest(series=series)).season
        ladders = [_ladder(league, division.ladder) for division in shown.divisions]
        is_secret = any(ladder.defined.terms.private or ladder.has_hidden_results for ladder in ladders)
        return {**season_facts(shown), "is_public": not is_secret}

    return await look(request, "host_season.html", load)


@router.post("/host/seasons/{series}/stop")
async def stop_season(request: Request, series: str) -> Response:
    """End the seasons of a series."""

    def do(signed: Signed, fields: Mapping[str, str]) -> str:
        signed.account.league.StopSeason(ladder_pb2.StopSeasonRequest(series=series))
        return f"/host/seasons/{quote(series, safe='')}"

    return await act(request, do)


@router.api_route("/host/ladders", methods=["GET", "HEAD"])
@router.api_route("/host/ladders/{name}/pairs", methods=["GET", "HEAD"])
@router.api_route("/host/tournaments", methods=["GET", "HEAD"])
@router.api_route("/host/tournaments/{tournament}/stop", methods=["GET", "HEAD"])
@router.api_route("/host/seasons/{series}/stop", methods=["GET", "HEAD"])
@router.api_route("/host/tokens/revoke", methods=["GET", "HEAD"])
async def back(request: Request) -> Response:
    """Lead a browser that loads the address of a form to the host's page."""
    accounts_of(request)
    return private(RedirectResponse("/host", 303))


def _check_admin(signed: Signed) -> None:
    """Check that the page is of use to the person; the server checks each call.  Raises NotAuthorised."""
    if "admin" not in signed.token.scopes:
        raise NotAuthorised(gettext(NO_ADMIN))


def _row(league: League, ladder: ladder_pb2.LadderShown, number: int) -> _LadderRow:
    if number >= MOST_LADDERS:
        return _LadderRow(ladder, None)
    page = league.ListRankings(ladder_pb2.ListRankingsRequest(ladder=ladder.defined.name, limit=1))
    return _LadderRow(ladder, page.boards - page.estimated)


def _ladder(league: League, name: str) -> ladder_pb2.LadderShown:
    for one in league.ListLadders(ladder_pb2.ListLaddersRequest()).ladders:
        if one.defined.name == name:
            return one
    raise NotFound(gettext("there is no ladder %(name)s", name=f"{name!r:.80}"))


def _tournaments(league: League) -> Sequence[ladder_pb2.TournamentShown]:
    return league.ListTournaments(ladder_pb2.ListTournamentsRequest()).tournaments


def _seasons(league: League) -> Sequence[ladder_pb2.SeasonShown]:
    return league.ListSeasons(ladder_pb2.ListSeasonsRequest()).seasons


def _wanted(fields: Mapping[str, str]) -> ladder_pb2.TournamentWanted:
    """Return the tournament that a form describes.  Raises UsageError."""
    name = f"TOURNAMENT_FORMAT_{fields.get('format', '').upper()}"
    known = name in ladder_pb2.TournamentFormat.keys()  # noqa: SIM118 # it is no mapping
    return ladder_pb2.TournamentWanted(
        ladder=fields.get("ladder", ""),
        format=ladder_pb2.TournamentFormat.Value(name) if known else ladder_pb2.TOURNAMENT_FORMAT_UNSPECIFIED,
        best_of=_number(fields, "best_of"),
        bots=[bot_name(text) for text in _words(fields, "bots")],
        top=_number(fields, "top"),
    )


def _tokens(signed: Signed, made: str) -> Mapping[str, Any]:
    return {"tokens": signed.account.tokens()[:MOST_TOKENS], "made": made, "scopes": SCOPES}


def _words(fields: Mapping[str, str], name: str) -> list[str]:
    return [word for word in re.split(r"[\s,]+", fields.get(name, "")) if word]


def _number(fields: Mapping[str, str], name: str) -> int:
    """Return a number of a form; 0 if it is empty.  Raises UsageError."""
    text = fields.get(name, "").strip()
    if not re.fullmatch(r"[0-9]{0,6}", text, re.ASCII):
        raise UsageError(gettext("%(text)s is no number; it can be 0 to %(most)s", text=f"{text!r:.40}", most=999_999))
    return int(text or 0)


def _utc_ms(fields: Mapping[str, str], name: str) -> int:
    """Return a time of a form, in ms since 1970; 0 if it is empty.  Raises UsageError."""
    text = fields.get(name, "").strip()
    try:
        return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1_000) if text else 0
    except (ValueError, OverflowError):
        raise UsageError(
            gettext("%(text)s is no time; it is as 2027-01-31T18:00, in UTC", text=f"{text!r:.40}")
        ) from None


def _address(name: str) -> str:
    return f"/host/ladders/{quote(name, safe='')}"
