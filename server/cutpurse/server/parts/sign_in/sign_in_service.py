"""SignInService over gRPC: a person with an account at the server's provider gets a session.

Anybody may call it, with a code that only the provider gives out. Calls that wait for the provider have threads of
their own, a limited number and rate, so a slow provider and a flood of bad codes delay nobody but those who sign in.
A secret goes into the one answer that reveals it, and nowhere else.
"""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol, TypeVar

import grpc
from google.rpc import code_pb2

from cutpurse.leaderboard.errors import InvalidEntry
from cutpurse.leaderboard.owner_registry import NewToken
from cutpurse.leaderboard.queries import TokenEntry
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tokens import Token
from cutpurse.server.access.entrance import AuthInterceptor, Context
from cutpurse.server.access.owners import address_of
from cutpurse.server.access.token_service import made_token, wait_until_in_force
from cutpurse.server.act_log import ActLog
from cutpurse.server.call_status import abort, status_of
from cutpurse.server.errors import CallRefused, CallStatus, call_status, legible
from cutpurse.server.limits import TokenBucket
from cutpurse.server.logs import Logger
from cutpurse.server.parts.sign_in.accounts import NotLinked, ProviderAccount, link_account, open_session
from cutpurse.server.parts.sign_in.sign_in_rules import AdmittedPerson, ProviderAway, SignInRefused, admit
from cutpurse.server.parts.sign_in.sign_in_settings import SignInSettings
from cutpurse.v1 import sign_in_pb2

__all__ = ["SIGN_IN", "IdentityProvider", "SignIn", "SignInService"]

SIGN_IN: Final = sign_in_pb2.DESCRIPTOR.services_by_name["SignInService"].full_name
AT_ONCE: Final = 4  # calls that wait for the provider; the others wait for a thread
PER_SECOND: Final = 5.0
BURST: Final = 100  # a class, as its lesson begins
BUSY: Final = "too many people are signing in; try again in a minute"
_VALUE: Final = re.compile(r"[A-Za-z0-9_-]{16,128}", re.ASCII)
_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
_VERIFIER: Final = re.compile(r"[A-Za-z0-9_-]{43,128}", re.ASCII)
_CODE: Final = re.compile(r"[\x20-\x7e]{1,4096}", re.ASCII)  # RFC 6749, A.11

T = TypeVar("T")


class IdentityProvider(Protocol):
    """Who knows people: an `OpenIdProvider`, which is loaded only where it is used."""

    def address(self, state: str, nonce: str, challenge: str) -> str:
        """Return the address that a browser opens to sign in."""

    def identify(self, code: str, verifier: str, nonce: str) -> Mapping[str, Any]:
        """Exchange a code for the claims of a person, once."""

    def close(self) -> None:
        """Close connections to the provider."""


class SignIn:
    """Signing in at one provider: its settings, its verified answers, and the accounts that are linked."""

    def __init__(self, settings: SignInSettings, provider: IdentityProvider, store: Store) -> None:
        self.settings: Final = settings
        self.provider: Final = provider
        self._store = store

    def open(self, code: str, verifier: str, nonce: str, now: datetime) -> tuple[Token, TokenEntry, AdmittedPerson]:
        """Exchange a code for a session.

        Raises:
            SignInRefused: If the person does not come in.
            StoreError: If the session cannot be stored.
        """
        settings = self.settings
        person = admit(self.provider.identify(code, verifier, nonce), settings)
        expires = now + timedelta(hours=settings.session_hours)
        account = self.account(person.subject)
        label = f"signed in with {settings.name}"
        try:
            new, is_named = NewToken(person.owner, label, person.scopes, expires), True
        except InvalidEntry:  # an account that is linked needs no name
            new, is_named = NewToken("unnamed", label, person.scopes, expires), False
        may_create = settings.new_owners and is_named
        try:
            token, entry = self._store.write(open_session, account, new, now, may_create=may_create)
        except NotLinked as problem:
            raise SignInRefused(self._not_linked(problem.owner if is_named else "", person)) from None
        return token, entry, person

    def link(self, subject: str, issuer: str, owner: str, now: datetime) -> str:
        """Link an account with an owner; return the owner before.  Raises InvalidEntry, and StoreError."""
        return self._store.write(link_account, self.account(subject, issuer), owner, now)

    def account(self, subject: str, issuer: str = "") -> ProviderAccount:
        """Return the account with this subject, of this server's provider by default.  Raises InvalidEntry."""
        return ProviderAccount(issuer or self.settings.issuer, subject)

    def _not_linked(self, taken: str, person: AdmittedPerson) -> str:
        command = f"cutpurse token link {taken or 'OWNER'} {shlex.quote(person.subject)}"
        if taken:
            return f"there is an owner {taken} already; if that is you, the host can link you with: {command}"
        if self.settings.new_owners:
            why = f"your account has no {self.settings.owner_claim} that can name an owner"
        else:
            why = "your account is not linked with an owner"
        return f"{why}; the host can link you with: {command}"


class SignInService:
    """The `SignInService` of sign_in.proto."""

    def __init__(
        self,
        sign_in: SignIn,
        entrance: AuthInterceptor,
        log: Logger,
        *,
        is_good: Callable[[str], bool],
        incident_number: Callable[[], str],
        acts: ActLog,
    ) -> None:
        """Serve the sessions of one provider.

        Args:
            sign_in: The provider, and the accounts.
            entrance: Authorizes hosts.
            log: The server's log.
            is_good: Returns whether the token with this ID is valid now.
            incident_number: Returns a new incident number.
            acts: Where acts are noted.
        """
        self._sign_in = sign_in
        self._entrance = entrance
        self._log = log
        self._is_good = is_good
        self._incident_number = incident_number
        self._acts = acts
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="sign-in")
        self._rate: TokenBucket | None = None

    def handler(self) -> grpc.GenericRpcHandler:
        """Return the handler to add to a `grpc.aio.server`."""
        methods: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            "GetSignIn": grpc.unary_unary_rpc_method_handler(self.get),
            "BeginSignIn": grpc.unary_unary_rpc_method_handler(self.begin),
            "FinishSignIn": grpc.unary_unary_rpc_method_handler(self.finish),
            "LinkAccount": grpc.unary_unary_rpc_method_handler(self.link),
        }
        return grpc.method_handlers_generic_handler(SIGN_IN, methods)

    def close(self) -> None:
        """Let nobody else sign in; do not wait for the provider."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._sign_in.provider.close()

    async def get(self, request: bytes, context: Context) -> bytes:
        """Answer GetSignIn."""
        try:
            sign_in_pb2.GetSignInRequest.FromString(request)
            settings = self._sign_in.settings
            answer = sign_in_pb2.GetSignInResponse(
                name=settings.name, page=settings.page, token_days=settings.token_days
            )
            return answer.SerializeToString()
        except Exception as problem:
            how = self._status(problem, context)
        return await abort(context, how)

    async def begin(self, request: bytes, context: Context) -> bytes:
        """Answer BeginSignIn."""
        try:
            asked = sign_in_pb2.BeginSignInRequest.FromString(request)
            _check(_VALUE, "state", asked.state)
            _check(_VALUE, "nonce", asked.nonce)
            _check(_CHALLENGE, "code_challenge", asked.code_challenge)
            provider = self._sign_in.provider
            address = await self._run(lambda: provider.address(asked.state, asked.nonce, asked.code_challenge))
            return sign_in_pb2.BeginSignInResponse(address=address).SerializeToString()
        except Exception as problem:
            how = self._status(problem, context)
        return await abort(context, how)

    async def finish(self, request: bytes, context: Context) -> bytes:
        """Answer FinishSignIn."""
        try:
            asked = sign_in_pb2.FinishSignInRequest.FromString(request)
            _check(_CODE, "code", asked.code)
            _check(_VERIFIER, "code_verifier", asked.code_verifier)
            _check(_VALUE, "nonce", asked.nonce)
            token, entry = await self._run(lambda: self._finish(asked))
            await wait_until_in_force(self._is_good, [entry.id], True)
            return sign_in_pb2.FinishSignInResponse(made=made_token(token, entry)).SerializeToString()
        except Exception as problem:
            how = self._status(problem, context)
        return await abort(context, how)

    async def link(self, request: bytes, context: Context) -> bytes:
        """Answer LinkAccount."""
        try:
            grant = await self._entrance.enter(context, "admin")
            asked = sign_in_pb2.LinkAccountRequest.FromString(request)
            now = datetime.now(UTC)
            before = await asyncio.to_thread(self._sign_in.link, asked.subject, asked.issuer, asked.owner, now)
            was = f", before with {before}" if before else ""
            account = self._sign_in.account(asked.subject, asked.issuer)
            self._acts.note(grant.owner, "account linked", f"{_name(account)} with {asked.owner}{was}")
            return sign_in_pb2.LinkAccountResponse(previous_owner=before).SerializeToString()
        except Exception as problem:
            how = self._status(problem, context)
        return await abort(context, how)

    async def _run(self, work: Callable[[], T]) -> T:
        """Run a call on a thread.  Raises CallRefused if there are too many, and what `work` raises."""
        loop = asyncio.get_running_loop()
        self._rate = self._rate or TokenBucket(PER_SECOND, BURST, loop.time())
        if self._rate.take(loop.time(), 0) > 0.0:
            raise CallRefused("FULL", BUSY)
        self._rate.take(loop.time())
        return await loop.run_in_executor(self._threads, work)

    def _finish(self, asked: sign_in_pb2.FinishSignInRequest) -> tuple[Token, TokenEntry]:
        """Open a session, on a thread."""
        now = datetime.now(UTC)
        token, entry, person = self._sign_in.open(asked.code, asked.code_verifier, asked.nonce, now)
        account = _name(self._sign_in.account(person.subject))
        self._log.info("signed in", token=entry.id, owner=entry.owner, scopes=entry.scopes, account=account)
        self._acts.note(entry.owner, "signed in", f"{entry.id}, good for {', '.join(person.scopes)}, as {account}")
        return token, entry

    def _status(self, problem: Exception, context: Context) -> CallStatus:
        if isinstance(problem, SignInRefused):
            now, text = asyncio.get_running_loop().time(), legible(str(problem), 600)
            self._entrance.log.info(now, "sign-in refused", address_of(context.peer()), text=text)
            if isinstance(problem, ProviderAway):
                return CallStatus(code_pb2.FAILED_PRECONDITION, "", text)
            return call_status("NOT_YOURS", text)
        unable = "sessions cannot be stored now; try again later"
        return status_of(problem, self._log, self._incident_number, in_trouble="session not written", unable=unable)


def _check(form: re.Pattern[str], name: str, value: str) -> None:
    if not form.fullmatch(value):
        raise CallRefused("BAD_MESSAGE", f"{name} is not of the form that sign_in.proto names")


def _name(account: ProviderAccount) -> str:
    return f"{account.subject} of {account.issuer}"
