"""The pages of an author: bots with ladders, ratings, faults, logs and notes; submissions; tokens; private ladders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from cutpurse.page.account.calls import find_ladder
from cutpurse.page.account.signed_in import Signed, look
from cutpurse.page.language.speaking import gettext
from cutpurse.page.problems import without_address
from cutpurse.sdk.matches.request_status import requested
from cutpurse.v1 import event_pb2, ladder_pb2, submission_pb2
from cutpurse.wire.errors import NotAuthorised, NotFound
from cutpurse.wire.league import League, ranking_pages

__all__ = ["bots_of", "router"]

MOST_LOGS: Final = 20  # matches shown with their faults and notes
MOST_NOTES: Final = 40  # notes shown of one match
MOST_MATCHES: Final = 20
MOST_TESTS: Final = 10
TAIL: Final = 20_000  # characters shown of what a submitted bot printed
NO_SUBMISSIONS: Final[Sequence[submission_pb2.SubmissionShown]] = ()
PENDING: Final = (
    submission_pb2.SUBMISSION_STATE_RECEIVED,
    submission_pb2.SUBMISSION_STATE_UNPACKED,
    submission_pb2.SUBMISSION_STATE_BUILT,
)

router = APIRouter(include_in_schema=False)


@dataclass(slots=True)
class OwnBot:
    """A bot of the person, with its newest version last."""

    name: str  # its name
    versions: list[ladder_pb2.BotShown] = field(default_factory=list)  # its versions
    # its ladders, with its newest version's ranking on each
    standings: list[tuple[str, ladder_pb2.Ranking | None]] = field(default_factory=list)
    # why the results of some of these ladders are not shown, by ladder
    hidden: dict[str, str] = field(default_factory=dict)

    @property
    def newest(self) -> ladder_pb2.BotShown:
        """The newest version."""
        return self.versions[-1]


def bots_of(league: League, owner: str) -> list[OwnBot]:
    """List an owner's bots, with a ranking on each of their ladders."""
    bots: dict[str, OwnBot] = {}
    for entry in league.ListBots(ladder_pb2.ListBotsRequest(owner=owner)).bots:
        bots.setdefault(entry.bot.bot, OwnBot(entry.bot.bot)).versions.append(entry)
    ladders = {name for bot in bots.values() for version in bot.versions for name in version.ladders}
    for ladder in sorted(ladders):
        rankings, why_hidden = dict[str, ladder_pb2.Ranking](), ""
        try:
            rankings = {
                entry.bot.bot: entry for entry in ranking_pages(league.ListRankings, ladder) if entry.bot.owner == owner
            }
        except NotAuthorised as problem:
            why_hidden = without_address(str(problem))
        for bot in bots.values():
            if any(ladder in version.ladders for version in bot.versions):
                bot.standings.append((ladder, rankings.get(bot.name)))
                if why_hidden:
                    bot.hidden[ladder] = why_hidden
    return [*bots.values()]


@router.api_route("/me", methods=["GET", "HEAD"])
async def home(request: Request) -> Response:
    """Show the person's bots, submissions and private ladders."""

    def load(signed: Signed) -> Mapping[str, Any]:
        ladders = signed.account.league.ListLadders(ladder_pb2.ListLaddersRequest()).ladders
        request = event_pb2.ListEventsRequest(kind=event_pb2.EVENT_KIND_TEST, owner=signed.owner)
        tests, _ = signed.tried(lambda: [*signed.account.league.ListEvents(request).events], list[Any]())
        submissions, no_submissions = signed.tried(signed.account.submissions.list, NO_SUBMISSIONS)
        return {
            "bots": bots_of(signed.account.league, signed.owner),
            "ladders": ladders,
            "private_ladders": [one for one in ladders if one.defined.terms.private],
            "tests": tests[:MOST_TESTS],
            "submissions": submissions,
            "no_submissions": no_submissions,
        }

    return await look(request, "me.html", load)


@router.api_route("/me/bots/{bot}", methods=["GET", "HEAD"])
async def bot(request: Request, bot: str) -> Response:
    """Show one of the person's bots: versions, ladders, faults, notes and output."""

    def load(signed: Signed) -> Mapping[str, Any]:
        calls = signed.account
        submissions, _ = signed.tried(lambda: calls.submissions.list(bot), NO_SUBMISSIONS)
        found = [one for one in bots_of(calls.league, signed.owner) if one.name == bot]
        if not found and not submissions:
            raise NotFound(gettext("%(owner)s has no bot %(bot)s", owner=signed.owner, bot=f"{bot!r:.80}"))
        wanted = ladder_pb2.ListLogsRequest(bot=ladder_pb2.BotName(bot=bot), limit=MOST_LOGS)
        logs, no_logs = list[ladder_pb2.SeatLog](), ""
        if found:
            logs, no_logs = signed.tried(lambda: [*calls.league.ListLogs(wanted).logs], logs)
        output, _ = signed.tried(lambda: calls.submissions.log(bot).talk, "") if submissions else ("", "")
        return {
            "name": bot,
            "own": found[0] if found else None,
            "submissions": submissions,
            "logs": logs,
            "no_logs": no_logs,
            "output": output[-TAIL:],
            "public": _public_ladders(calls.league),
            "most_notes": MOST_NOTES,
        }

    return await look(request, "me_bot.html", load)


@router.api_route("/me/submissions/{bot}/{version}", methods=["GET", "HEAD"])
async def submission(request: Request, bot: str, version: str) -> Response:
    """Show how the build and the check of a submission go."""

    def load(signed: Signed) -> Mapping[str, Any]:
        told = signed.account.submissions.log(bot, version)
        shown = told.submission
        is_starting = shown.state == submission_pb2.SUBMISSION_STATE_ACCEPTED and shown.is_active
        return {
            "shown": shown,
            "check": told.check,
            "output": told.talk[-TAIL:],
            "is_pending": shown.state in PENDING or (is_starting and not shown.is_running),
        }

    return await look(request, "me_submission.html", load)


@router.api_route("/me/matches/{match}", methods=["GET", "HEAD"])
async def match(request: Request, match: str) -> Response:
    """Show what became of a match that the person asked for."""

    def load(signed: Signed) -> Mapping[str, Any]:
        now = requested(signed.account.league, match)
        is_pending = now.state in ("waiting", "open", "unknown")
        return {"name": match, "now": now, "is_pending": is_pending, "public": _public_ladders(signed.account.league)}

    return await look(request, "me_match.html", load)


@router.api_route("/me/ladders/{name}", methods=["GET", "HEAD"])
async def ladder(request: Request, name: str) -> Response:
    """Show the ranking and the newest matches of a ladder that the person may see."""

    def load(signed: Signed) -> Mapping[str, Any]:
        league = signed.account.league
        wanted = ladder_pb2.ListMatchesRequest(ladder=name, limit=MOST_MATCHES)
        return {
            "ladder": find_ladder(league, name),
            "rankings": [*ranking_pages(league.ListRankings, name)],
            "matches": league.ListMatches(wanted).matches,
        }

    return await look(request, "me_ladder.html", load)


@router.api_route("/me/tokens", methods=["GET", "HEAD"])
async def tokens(request: Request) -> Response:
    """Show the person's tokens."""

    def load(signed: Signed) -> Mapping[str, Any]:
        own = [one for one in signed.account.tokens() if one.owner == signed.owner]
        return {"tokens": own, "made": ""}

    return await look(request, "me_tokens.html", load)


def _public_ladders(league: League) -> set[str]:
    """Return the ladders whose matches have public pages."""
    return {
        entry.defined.name
        for entry in league.ListLadders(ladder_pb2.ListLaddersRequest()).ladders
        if not (entry.defined.terms.private or entry.has_hidden_results)
    }
