"""What an author does on the page: bots, submissions, matches and tokens.

Each act is one call of the server, which alone decides whether the person may do it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from http import HTTPStatus
from time import time
from typing import Final
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from cutpurse.engine.errors import UsageError
from cutpurse.page.account.signed_in import FormPage, Signed, accounts_of, act, identify
from cutpurse.page.forms import FormRefused, check_own, private, read_upload
from cutpurse.page.language.speaking import gettext
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.league import bot_name
from cutpurse.wire.packing import MOST_PACKED

__all__ = ["days_ms", "router"]

SEND_S: Final = 150.0  # for an upload
DAY_MS: Final = 86_400_000
MOST_DAYS: Final = 3_650

router = APIRouter(include_in_schema=False)


@router.post("/me/submit")
async def submit(request: Request) -> Response:
    """Send an archive to the server, which builds and checks it."""
    accounts = accounts_of(request)
    check_own(request)
    owner = await identify(request)  # before 16 MiB are read
    with accounts.upload(owner):
        try:
            async with asyncio.timeout(SEND_S):
                fields, content = await read_upload(request, MOST_PACKED)
        except TimeoutError:
            raise FormRefused(
                gettext("The archive did not come within %(seconds)s s.", seconds=f"{SEND_S:g}"),
                HTTPStatus.REQUEST_TIMEOUT,
            ) from None

        def send(signed: Signed, fields: Mapping[str, str]) -> str:
            if not content:
                raise UsageError(gettext("choose an archive: a .zip of the bot's folder with its bot.toml at the top"))
            shown = signed.account.submissions.submit(content, fields.get("ladders", "").split())
            return _submission(shown.bot, shown.version)

        return await act(request, send, fields)


@router.post("/me/bots/{bot}/activate")
async def activate(request: Request, bot: str) -> Response:
    """Let an accepted version play in place of the present one."""

    def do(signed: Signed, fields: Mapping[str, str]) -> str:
        shown = signed.account.submissions.activate(bot, fields.get("version", ""))
        return _submission(shown.bot, shown.version)

    return await act(request, do)


@router.post("/me/bots/{bot}/retire")
async def retire(request: Request, bot: str) -> Response:
    """Take a submitted bot off its ladders."""

    def do(signed: Signed, fields: Mapping[str, str]) -> str:
        signed.account.submissions.retire(bot, fields.get("version", ""))
        return _bot(bot)

    return await act(request, do)


@router.post("/me/bots/{bot}/lift")
async def lift(request: Request, bot: str) -> Response:
    """End the pause of a version."""

    def do(signed: Signed, fields: Mapping[str, str]) -> str:
        name = ladder_pb2.BotName(bot=bot, version=fields.get("version", ""))
        signed.account.league.LiftPause(ladder_pb2.LiftPauseRequest(bot=name))
        return _bot(bot)

    return await act(request, do)


@router.post("/me/bots/{bot}/settings")
async def change(request: Request, bot: str) -> Response:
    """Change the settings of a bot that the form has: yes or no."""

    def do(signed: Signed, fields: Mapping[str, str]) -> str:
        changes = {name: fields[name] == "yes" for name in ("declines_people", "publishes_notes") if name in fields}
        change = ladder_pb2.ChangeBotRequest(
            bot=ladder_pb2.BotName(bot=bot),
            declines_people=changes.get("declines_people"),
            publishes_notes=changes.get("publishes_notes"),
        )
        signed.account.league.ChangeBot(change)
        return _bot(bot)

    return await act(request, do)


@router.post("/me/match")
async def ask_for_match(request: Request) -> Response:
    """Ask for an unrated match."""

    def do(signed: Signed, fields: Mapping[str, str]) -> str:
        bots = [bot_name(text) for text in re.split(r"[\s,]+", fields.get("bots", "").strip()) if text]
        wanted = ladder_pb2.RequestMatchRequest(ladder=fields.get("ladder", ""), bots=bots)
        return f"/me/matches/{quote(signed.account.league.RequestMatch(wanted).match, safe='')}"

    return await act(request, do)


@router.post("/me/tokens")
async def create_token(request: Request) -> Response:
    """Create a token of the person, and show it once."""

    def do(signed: Signed, fields: Mapping[str, str]) -> FormPage:
        expires_ms = days_ms(fields.get("days", ""), last_ms(signed))
        scopes = fields.get("scopes", "").split()
        made = signed.account.create_token(signed.owner, fields.get("label", "").strip(), scopes, expires_ms)
        own = [one for one in signed.account.tokens() if one.owner == signed.owner]
        return FormPage("me_tokens.html", {"tokens": own, "made": made.token})

    return await act(request, do)


@router.post("/me/tokens/revoke")
async def revoke_token(request: Request) -> Response:
    """Revoke a token of the person."""

    def do(signed: Signed, fields: Mapping[str, str]) -> str:
        signed.account.revoke_token(fields.get("token", ""))
        return "/me/tokens"

    return await act(request, do)


@router.api_route("/me/bots/{bot}/activate", methods=["GET", "HEAD"])
@router.api_route("/me/bots/{bot}/lift", methods=["GET", "HEAD"])
@router.api_route("/me/bots/{bot}/retire", methods=["GET", "HEAD"])
@router.api_route("/me/bots/{bot}/settings", methods=["GET", "HEAD"])
@router.api_route("/me/match", methods=["GET", "HEAD"])
@router.api_route("/me/submit", methods=["GET", "HEAD"])
@router.api_route("/me/tokens/revoke", methods=["GET", "HEAD"])
async def back(request: Request) -> Response:
    """Lead a browser that loads the address of a form to the person's pages."""
    accounts_of(request)
    return private(RedirectResponse("/me", HTTPStatus.SEE_OTHER))


def last_ms(signed: Signed) -> int:
    """Return when tokens of this person expire at the latest, in milliseconds since 1970; 0 for never."""
    expires_ms = signed.token.expires_ms
    provider = signed.account.provider() if signed.is_session else None
    return expires_ms if provider is None else max(expires_ms, int(time() * 1_000) + provider.token_days * DAY_MS)


def days_ms(days: str, most_ms: int) -> int:
    """Return when a token of this many days expires, in milliseconds since 1970; 0 for never.

    Args:
        days: Number of days; empty for as long as possible.
        most_ms: When it expires at the latest; 0 for never.

    Raises:
        UsageError: If that is no number of days.
    """
    if not days.strip():
        return most_ms
    if not re.fullmatch(r" *[1-9][0-9]{0,3} *", days, re.ASCII) or int(days) > MOST_DAYS:
        text = gettext(
            "%(days)s is no number of days; it can be 1 to %(most)s, or nothing", days=f"{days!r:.40}", most=MOST_DAYS
        )
        raise UsageError(text)
    wanted = int(time() * 1_000) + int(days) * DAY_MS
    return min(wanted, most_ms) if most_ms else wanted


def _bot(bot: str) -> str:
    return f"/me/bots/{quote(bot, safe='')}"


def _submission(bot: str, version: str) -> str:
    return f"/me/submissions/{quote(bot, safe='')}/{quote(version, safe='')}"
