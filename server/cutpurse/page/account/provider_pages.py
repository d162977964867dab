"""Signing in at a provider of OpenID Connect: the way there, and the way back.

The server builds the address there and takes the code that comes back. The page only keeps the attempt's secrets in the
browser that began it. It sends requests to its server alone.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from time import time
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from cutpurse.engine.errors import UsageError
from cutpurse.page.account.calls import Account
from cutpurse.page.account.cookie import is_confidential, keep_token
from cutpurse.page.account.sign_in_attempt import SignInAttempt, attempt_of, forget_attempt, keep_attempt
from cutpurse.page.account.signed_in import accounts_of, called, provider_of, sign_in_page
from cutpurse.page.forms import private
from cutpurse.page.language.speaking import gettext, gettext_noop
from cutpurse.page.problems import without_address
from cutpurse.page.rendering import show
from cutpurse.wire.errors import NotAuthorised, NotFound, ServerRefused

__all__ = ["router"]

NO_ATTEMPT: Final = gettext_noop(
    "This sign-in was finished, took longer than ten minutes, or began in another browser. Begin again."
)
FOREIGN: Final = gettext_noop("Sign in from here: another site led you to this address.")
_ERROR: Final = re.compile(r"[a-z_]{1,40}", re.ASCII)  # RFC 6749, 4.1.2.1

router = APIRouter(include_in_schema=False)


@router.api_route("/sign-in/provider", methods=["GET", "HEAD"])
async def begin(request: Request) -> Response:
    """Lead the browser to the provider, with a new attempt."""
    accounts_of(request)
    provider = await provider_of(request)
    if provider is None:
        raise NotFound(gettext("this server has no sign-in at a provider"))
    if not is_confidential(request):
        return await sign_in_page(request, status=HTTPStatus.FORBIDDEN)
    if request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
        return await sign_in_page(request, gettext(FOREIGN), HTTPStatus.FORBIDDEN)
    if f"{request.url.scheme}://{request.url.netloc}" != provider.page:
        elsewhere = gettext(
            "Sign in with %(provider)s at %(address)s; the provider sends nobody back to here.",
            provider=provider.name,
            address=f"{provider.page}/sign-in",
        )
        return await sign_in_page(request, elsewhere, HTTPStatus.BAD_REQUEST)
    attempt = SignInAttempt.begin()
    try:
        address = await called(request, "", lambda account: account.begin_sign_in(attempt))
    except ServerRefused as problem:
        return await sign_in_page(request, _line(problem), HTTPStatus.SERVICE_UNAVAILABLE)
    response = RedirectResponse(address, HTTPStatus.SEE_OTHER)
    keep_attempt(request, response, attempt)
    return private(response)


@router.api_route("/sign-in/callback", methods=["GET", "HEAD"])
async def finish(request: Request, state: str = "", code: str = "", error: str = "") -> Response:
    """Finish the attempt of this browser with the code that it brings, and keep its session."""
    accounts_of(request)
    attempt = attempt_of(request)
    # HEAD only looks at the address, which uses nothing up
    if request.method == "HEAD" or attempt is None or not attempt.is_answered_by(state):
        return await sign_in_page(request, gettext(NO_ATTEMPT), HTTPStatus.FORBIDDEN)
    response = await _finish(request, attempt, code, error)
    forget_attempt(request, response)
    return response


async def _finish(request: Request, attempt: SignInAttempt, code: str, error: str) -> Response:
    if error or not code:
        named = f" ({error})" if _ERROR.fullmatch(error) else ""
        text = gettext("The provider did not sign you in%(error)s.", error=named)
        return await sign_in_page(request, text, HTTPStatus.FORBIDDEN)

    def ask(account: Account) -> tuple[str, int]:
        made = account.finish_sign_in(attempt, code)
        return made.token, made.kept.expires_ms

    try:
        token, expires_ms = await called(request, "", ask)
    except (NotAuthorised, UsageError, NotFound) as problem:
        return await sign_in_page(request, _line(problem), HTTPStatus.FORBIDDEN)
    except ServerRefused as problem:
        return await sign_in_page(request, _line(problem), HTTPStatus.SERVICE_UNAVAILABLE)
    # Not a redirect: a browser that another site led here would not send the Strict cookie of the session.
    response = show(request, "signed_in.html")
    keep_token(request, response, token, expires_ms // 1_000 - int(time()))
    return private(response)


def _line(problem: Exception) -> str:
    """Return the server's refusal as a sentence."""
    text = without_address(str(problem))
    return f"{text[:1].upper()}{text[1:]}." if "cutpurse token link" not in text else f"{text[:1].upper()}{text[1:]}"
