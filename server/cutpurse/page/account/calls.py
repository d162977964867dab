"""The calls of a person who is signed in, each with that person's own token.

The server decides what the person may see and do, as for the command line. The page stores no token: it comes with each
request. This module knows no HTTP.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final, NamedTuple, TypeAlias, TypeVar

import anyio
import grpc

from cutpurse.page.account.sign_in_attempt import SignInAttempt
from cutpurse.page.language.speaking import gettext
from cutpurse.v1 import (
    ladder_pb2,
    sign_in_pb2,
    sign_in_pb2_grpc,
    status_pb2,
    status_pb2_grpc,
    submission_pb2_grpc,
    token_pb2,
    token_pb2_grpc,
)
from cutpurse.wire.connection import Dialling
from cutpurse.wire.errors import NotFound, ServerRefused
from cutpurse.wire.league import OPTIONS, PATIENCE_S, League, league_on, refusal
from cutpurse.wire.submission_client import Submissions

__all__ = ["Account", "Accounts", "KnownProvider", "find_ladder"]

AT_ONCE: Final = 12  # requests of all people at once; the threads of the public pages are others
MOST_BY_VISITOR: Final = 4  # the server delays its answers to bad tokens, so a visitor could keep all threads waiting
SIGN_IN_S: Final = 25.0  # the server asks the provider up to four times
MOST_UPLOADS: Final = 4  # at once, as a server takes
NO_STATUS: Final = "tells nothing of its machines: it is older than this page"
NO_PROVIDER: Final = "lets nobody sign in at a provider"
NO_OWNERS: Final = "has no owners: everybody may do everything there, and nobody signs in"

Request = TypeVar("Request")
Answer = TypeVar("Answer")
Call: TypeAlias = "grpc.UnaryUnaryMultiCallable[Request, Answer]"


class Account:
    """One person's calls to the server. Each raises the errors of `League`."""

    def __init__(self, channel: grpc.Channel, to: Dialling) -> None:
        self._to = to
        self._tokens = token_pb2_grpc.TokenServiceStub(channel)
        self._status = status_pb2_grpc.StatusServiceStub(channel)
        self._sign_in = sign_in_pb2_grpc.SignInServiceStub(channel)
        self.league: Final[League] = league_on(channel, to, set())
        self.submissions: Final = Submissions(submission_pb2_grpc.SubmissionServiceStub(channel), to)

    def token(self) -> token_pb2.TokenKept:
        """Return the person's token, without its secret."""
        return self._ask(self._tokens.GetToken, token_pb2.GetTokenRequest()).token

    def redeem(self) -> token_pb2.TokenMade:
        """Exchange a link for its token."""
        return self._ask(self._tokens.RedeemLink, token_pb2.RedeemLinkRequest()).made

    def provider(self) -> sign_in_pb2.GetSignInResponse | None:
        """Return the provider at which people sign in; None if there is none."""
        try:
            return self._send(self._sign_in.GetSignIn, sign_in_pb2.GetSignInRequest(), NO_PROVIDER)
        except ServerRefused:
            return None

    def begin_sign_in(self, attempt: SignInAttempt) -> str:
        """Return the address at the provider that the browser opens for an attempt."""
        asked = sign_in_pb2.BeginSignInRequest(
            state=attempt.state, nonce=attempt.nonce, code_challenge=attempt.challenge
        )
        return self._send(self._sign_in.BeginSignIn, asked, NO_PROVIDER, SIGN_IN_S).address

    def finish_sign_in(self, attempt: SignInAttempt, code: str) -> token_pb2.TokenMade:
        """Exchange the provider's code for a session."""
        asked = sign_in_pb2.FinishSignInRequest(code=code, code_verifier=attempt.verifier, nonce=attempt.nonce)
        return self._send(self._sign_in.FinishSignIn, asked, NO_PROVIDER, SIGN_IN_S).made

    def tokens(self) -> Sequence[token_pb2.TokenKept]:
        """List the tokens that the person may list, the newest first."""
        return [*reversed(self._ask(self._tokens.ListTokens, token_pb2.ListTokensRequest()).tokens)]

    def create_token(self, owner: str, label: str, scopes: Sequence[str], expires_ms: int) -> token_pb2.TokenMade:
        """Create a token."""
        wanted = token_pb2.TokenWanted(owner=owner, label=label, scopes=scopes, expires_ms=expires_ms)
        return self._ask(self._tokens.CreateTokens, token_pb2.CreateTokensRequest(wanted=[wanted])).made[0]

    def revoke_token(self, token_id: str) -> None:
        """Revoke a token."""
        self._ask(self._tokens.RevokeToken, token_pb2.RevokeTokenRequest(id=token_id))

    def acts(self, limit: int) -> Sequence[token_pb2.PersonAct]:
        """List the newest acts of people, the newest first; for hosts."""
        return self._ask(self._tokens.ListActs, token_pb2.ListActsRequest(limit=limit)).acts

    def status(self) -> status_pb2.GetStatusResponse:
        """Return what the server runs on, as `cutpurse status` shows it; for hosts."""
        return self._send(self._status.GetStatus, status_pb2.GetStatusRequest(), NO_STATUS)

    def _ask(self, call: Call[Request, Answer], request: Request) -> Answer:
        return self._send(call, request, NO_OWNERS)

    def _send(
        self, call: Call[Request, Answer], request: Request, lacks: str, patience_s: float = PATIENCE_S
    ) -> Answer:
        try:
            return call(request, timeout=patience_s, metadata=self._to.metadata)
        except grpc.RpcError as error:
            raise refusal(error, self._to, lacks) from None


def find_ladder(league: League, name: str) -> ladder_pb2.LadderShown:
    """Return the ladder of this name that a person may see.  Raises NotFound."""
    for ladder in league.ListLadders(ladder_pb2.ListLaddersRequest()).ladders:
        if ladder.defined.name == name:
            return ladder
    raise NotFound(gettext("there is no ladder %(name)s", name=f"{name!r:.80}"))


class KnownProvider(NamedTuple):
    """What the server said of its provider."""

    provider: sign_in_pb2.GetSignInResponse | None  # the provider; None if there is none
    until: float  # when it is asked again, in seconds of the monotonic clock


class Accounts:
    """Opens the calls of people, a limited number at once."""

    def __init__(self, to: Dialling) -> None:
        """Call this server.

        Raises:
            ServerRefused: If tokens could be read on the way there.
        """
        if not to.is_confidential:
            raise ServerRefused(f"tokens could be read on the way to {to.address}; use an address with https://")
        self.limiter: Final = anyio.CapacityLimiter(AT_ONCE)
        self._to = to
        self._calling: Counter[str] = Counter()  # by visitor
        self._sending: set[str] = set()  # owners
        self.provider: KnownProvider | None = None

    @contextmanager
    def open(self, token: str) -> Iterator[Account]:
        """Open the calls with this token; without one, those of a stranger."""
        to = replace(self._to, token=token, source="the browser", as_stranger=not token)
        with to.blocking_channel(OPTIONS) as channel:
            yield Account(channel, to)

    @contextmanager
    def turn(self, visitor: str) -> Iterator[None]:
        """Count a visitor's request while it is answered; on the event loop.

        Raises:
            ServerRefused: If the visitor has too many.
        """
        if self._calling[visitor] >= MOST_BY_VISITOR:
            text = gettext("%(most)s requests of your network are being answered; try again soon", most=MOST_BY_VISITOR)
            raise ServerRefused(text)
        self._calling[visitor] += 1
        try:
            yield
        finally:
            self._calling[visitor] -= 1
            if not self._calling[visitor]:
                del self._calling[visitor]

    @contextmanager
    def upload(self, owner: str) -> Iterator[None]:
        """Let an owner send an archive during the block, one at a time, since each is held in memory.

        Raises:
            ServerRefused: If another of the owner's archives is being sent, or too many of all owners.
        """
        if owner in self._sending or len(self._sending) >= MOST_UPLOADS:
            raise ServerRefused(gettext("another archive is being sent; wait for it, and send this one again"))
        self._sending.add(owner)
        try:
            yield
        finally:
            self._sending.discard(owner)
