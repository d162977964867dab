"""Requests of people who are signed in: whose they are, and how pages and forms answer them.

Every answer is for one person and stays out of every cache. Calls to the server run on threads of their own, so that
the public pages never wait for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from time import monotonic
from typing import Any, Final, TypeVar

import anyio.to_thread
from fastapi import Request
from fastapi.responses import RedirectResponse, Response

from cutpurse.engine.errors import CutpurseError
from cutpurse.leaderboard.tokens import SESSION
from cutpurse.page.account.calls import Account, Accounts, KnownProvider
from cutpurse.page.account.cookie import check_key, forget_token, form_key, is_confidential, token_of
from cutpurse.page.forms import FormRefused, private, read_form
from cutpurse.page.language.speaking import gettext, gettext_noop
from cutpurse.page.problems import http_status, without_address
from cutpurse.page.rendering import show
from cutpurse.page.visitors import visitor_of
from cutpurse.v1 import sign_in_pb2, token_pb2
from cutpurse.wire.errors import NotAuthorised, NotFound

__all__ = [
    "NO_KEY",
    "FormPage",
    "Signed",
    "accounts_of",
    "act",
    "called",
    "confirm",
    "identify",
    "load_for",
    "look",
    "provider_of",
    "sign_in_page",
]

NO_KEY: Final = gettext_noop("This form is not of this session: open the page again, and send it from there.")
NOT_SIGNED: Final = gettext_noop("You are not signed in, or not any more. Sign in, and send the form again.")
MOST_BYTES: Final = 32_768  # of a form: a host's has a list of bots to pick from
MOST_FIELDS: Final = 400
PROVIDER_S: Final = 60.0  # until the server is asked again for its provider
OVER: Final = gettext_noop("Your token is not valid any more: it has expired or was revoked. Sign in with another.")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Signed:
    """A person who is signed in, while a request is answered."""

    account: Account  # the person's calls
    token: token_pb2.TokenKept  # the person's token, without its secret
    key: str  # the key for forms

    @property
    def owner(self) -> str:
        """The person's name as an owner."""
        return self.token.owner

    @property
    def is_session(self) -> bool:
        """Whether the person signed in at a provider, which created the token."""
        return SESSION in self.token.scopes

    @property
    def scopes(self) -> list[str]:
        """What the person may do, without the mark of a session."""
        return [scope for scope in self.token.scopes if scope != SESSION]

    def tried(self, call: Callable[[], T], otherwise: T) -> tuple[T, str]:
        """Return the answer of a call and "", or `otherwise` and why the server refused it."""
        try:
            return call(), ""
        except CutpurseError as problem:
            return otherwise, without_address(str(problem))


@dataclass(frozen=True, slots=True)
class FormPage:
    """A page that answers a form: its template, its variables and its status."""

    template: str
    variables: Mapping[str, Any]
    status: HTTPStatus = HTTPStatus.OK


def accounts_of(request: Request) -> Accounts:
    """Return the accounts of the page.  Raises NotFound if nobody can sign in here."""
    accounts: Accounts | None = request.app.state.accounts
    if accounts is None:
        raise NotFound(
            gettext("nobody can sign in on this page: it belongs to no server, or its server could be overheard")
        )
    return accounts


async def called(request: Request, token: str, work: Callable[[Account], T]) -> T:
    """Run `work` with the calls of this token on a thread.  Raises what it raises."""
    accounts = accounts_of(request)

    def run() -> T:
        with accounts.open(token) as account:
            return work(account)

    with accounts.turn(visitor_of(request)):
        return await anyio.to_thread.run_sync(run, limiter=accounts.limiter)


async def look(request: Request, template: str, load: Callable[[Signed], Mapping[str, Any]]) -> Response:
    """Answer with a page of the person who is signed in, or with the page to sign in.

    Args:
        request: Request to answer.
        template: File name of the template.
        load: Loads the variables of the template.
    """
    token = token_of(request)
    if not token:
        accounts_of(request)
        return private(RedirectResponse("/sign-in", HTTPStatus.SEE_OTHER))

    found = await _as_person(request, token, load)
    if found is None:
        return await _over(request)
    signed, context = found
    return private(show(request, template, signed=signed, **context))


async def identify(request: Request) -> str:
    """Return the owner who is signed in.  Raises FormRefused if nobody is."""
    return await load_for(request, lambda signed: signed.owner)


async def load_for(request: Request, load: Callable[[Signed], T]) -> T:
    """Return what `load` finds for the person who is signed in.  Raises FormRefused if nobody is."""
    found = await _as_person(request, _needed(request), load)
    if found is None:
        raise FormRefused(gettext(NOT_SIGNED), HTTPStatus.FORBIDDEN)
    return found[1]


async def act(
    request: Request,
    do: Callable[[Signed, Mapping[str, str]], str | FormPage],
    fields: Mapping[str, str] | None = None,
) -> Response:
    """Carry out a form of the person who is signed in; lead to the address that `do` returns, or answer with its page.

    Args:
        request: Request with the form.
        do: Does what the form asks for, with its fields. A page is for what is shown only now, such as a secret.
        fields: The fields of a form that was read already, after `check_own`.

    Raises:
        FormRefused: If the form is not the person's own, nobody is signed in, or the server refuses it.
    """
    done = await _done(request, do, fields)
    if done is None:
        return await _over(request)
    signed, answer = done
    if isinstance(answer, str):
        return private(RedirectResponse(answer, HTTPStatus.SEE_OTHER))
    return private(show(request, answer.template, status=answer.status, signed=signed, **answer.variables))


async def confirm(request: Request, load: Callable[[Signed], T]) -> tuple[str, T]:
    """Read a form of the person who is signed in; return their token, and what `load` finds for them.

    Raises:
        FormRefused: If the form is not the person's own, nobody is signed in, or the server refuses it.
    """
    found = await _done(request, lambda signed, _: load(signed), None)
    if found is None:
        raise FormRefused(gettext(NOT_SIGNED), HTTPStatus.FORBIDDEN)
    return _needed(request), found[1]


async def _done(
    request: Request, do: Callable[[Signed, Mapping[str, str]], T], fields: Mapping[str, str] | None
) -> tuple[Signed, T] | None:
    """Carry out a form; return None if the person's token is not valid any more."""
    accounts_of(request)
    if fields is None:
        fields = {
            name: " ".join(values) for name, values in (await read_form(request, MOST_BYTES, MOST_FIELDS)).items()
        }
    given, token = fields, _needed(request)
    if not check_key(token, given.get("key", "")):
        raise FormRefused(gettext(NO_KEY), HTTPStatus.FORBIDDEN)
    try:
        return await _as_person(request, token, lambda signed: do(signed, given))
    except CutpurseError as problem:
        raise FormRefused(f"{without_address(str(problem))}.", http_status(problem)) from None


async def _as_person(request: Request, token: str, work: Callable[[Signed], T]) -> tuple[Signed, T] | None:
    """Run `work` for the person with this token; return both, or None if the token is not valid.  Raises as `work`."""

    def run(account: Account) -> tuple[Signed, T] | None:
        try:
            signed = Signed(account, account.token(), form_key(token))
        except (NotAuthorised, NotFound):  # not found: of one run of the server, for its own programs
            return None
        return signed, work(signed)

    return await called(request, token, run)


def _needed(request: Request) -> str:
    accounts_of(request)
    if not (token := token_of(request)):
        raise FormRefused(gettext(NOT_SIGNED), HTTPStatus.FORBIDDEN)
    return token


async def sign_in_page(request: Request, problem: str = "", status: HTTPStatus = HTTPStatus.OK) -> Response:
    """Show the page to sign in."""
    safe = is_confidential(request)
    provider = await provider_of(request) if safe else None
    facts = {"problem": problem, "is_confidential": safe, "provider": provider}
    return private(show(request, "sign_in.html", status=status, **facts))


async def provider_of(request: Request) -> sign_in_pb2.GetSignInResponse | None:
    """Return the provider at which people sign in, as the server said a minute ago; None if there is none."""
    accounts = accounts_of(request)
    known = accounts.provider
    if known is None or monotonic() > known.until:
        try:
            provider = await called(request, "", lambda account: account.provider())
        except CutpurseError:  # the form for tokens is shown in any case
            return None if known is None else known.provider
        known = accounts.provider = KnownProvider(provider, monotonic() + PROVIDER_S)
    return known.provider


async def _over(request: Request) -> Response:
    response = await sign_in_page(request, gettext(OVER), HTTPStatus.FORBIDDEN)
    forget_token(request, response)
    return response
