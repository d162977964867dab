"""Signing in and out.

A token is pasted into a form, or comes from a link of the host, whose code is in the part of the address that browsers
send to no server.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from time import time
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from cutpurse.leaderboard.tokens import SESSION, read_token
from cutpurse.page.account.calls import Account
from cutpurse.page.account.cookie import forget_token, is_confidential, keep_token
from cutpurse.page.account.signed_in import Signed, accounts_of, act, called, sign_in_page
from cutpurse.page.forms import field_of, private, read_form
from cutpurse.page.language.speaking import gettext, gettext_noop
from cutpurse.page.problems import without_address
from cutpurse.wire.errors import NotAuthorised, NotFound, ServerRefused

__all__ = ["router"]

NO_TOKEN: Final = gettext_noop(
    "That is no token: one is cutp_ and 38 letters and digits. Copy all of it, or all of your link."
)
BAD: Final = gettext_noop(
    "This token is not valid here: it is unknown, has expired, or was revoked. Ask the host for another."
)
USED: Final = gettext_noop("This link was used before, or has expired. Ask the host for another.")

router = APIRouter(include_in_schema=False)


@router.api_route("/sign-in", methods=["GET", "HEAD"])
async def form(request: Request) -> Response:
    """Show the form to sign in."""
    accounts_of(request)
    return await sign_in_page(request)


@router.post("/sign-in")
async def sign_in(request: Request) -> Response:
    """Keep the person's token in the browser, once the server has recognised it."""
    accounts_of(request)
    fields = await read_form(request)
    _, is_link, text = field_of(fields, "token").strip().rpartition("#")
    if not is_confidential(request):
        return await sign_in_page(request, status=HTTPStatus.FORBIDDEN)
    if read_token(text) is None:
        return await sign_in_page(request, gettext(NO_TOKEN), HTTPStatus.FORBIDDEN)

    def checked(account: Account) -> tuple[str, int]:
        if is_link:
            made = account.redeem()
            return made.token, made.kept.expires_ms
        return text, account.token().expires_ms

    try:
        token, expires_ms = await called(request, text, checked)
    except (NotAuthorised, NotFound):
        return await sign_in_page(request, gettext(USED if is_link else BAD), HTTPStatus.FORBIDDEN)
    except ServerRefused as problem:
        return await sign_in_page(request, f"{without_address(str(problem))}.", HTTPStatus.SERVICE_UNAVAILABLE)
    response = RedirectResponse("/me", HTTPStatus.SEE_OTHER)
    keep_token(request, response, token, expires_ms // 1_000 - int(time()) if expires_ms else None)
    return private(response)


@router.post("/sign-out")
async def sign_out(request: Request) -> Response:
    """Remove the token from this browser, and revoke a session; with the field `everywhere`, revoke all of them."""

    def leave(signed: Signed, fields: Mapping[str, str]) -> str:
        is_everywhere = bool(fields.get("everywhere"))
        if is_everywhere and signed.is_session:
            for token in signed.account.tokens():
                is_own = token.owner == signed.owner and token.id != signed.token.id
                if is_own and SESSION in token.scopes and not token.revoked_ms:
                    signed.account.revoke_token(token.id)
        if is_everywhere or signed.is_session:  # nobody else knows the token of a session
            signed.account.revoke_token(signed.token.id)
        return "/sign-in"

    response = await act(request, leave)
    forget_token(request, response)
    return response


@router.api_route("/sign-out", methods=["GET", "HEAD"])
async def back(request: Request) -> Response:
    """Lead a browser that loads the address of the form to the person's pages."""
    accounts_of(request)
    return private(RedirectResponse("/me", HTTPStatus.SEE_OTHER))
