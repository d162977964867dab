"""TokenService over gRPC: admins manage a server's tokens, and owners manage their own.

Without the scope admin, a token manages the tokens of its owner that permit no more than itself. What it makes lasts no
longer than itself, except in a session of a person who signed in at a provider, which is short. A call is answered once
its change is stored and in force. This module knows no database. A secret goes into the one answer that reveals it, and
nowhere else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import grpc
from google.protobuf.message import Message

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.errors import InvalidEntry as NotTaken
from cutpurse.leaderboard.owner_registry import NewToken, create_tokens, redeem_link, revoke_token
from cutpurse.leaderboard.queries import TokenEntry
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tokens import LINK, SCOPES, SESSION, Token
from cutpurse.server.access.entrance import AuthInterceptor, Context
from cutpurse.server.access.owners import Grant, check_scope
from cutpurse.server.act_log import ActLog
from cutpurse.server.call_status import abort, status_of
from cutpurse.server.errors import CallRefused
from cutpurse.server.logs import Logger
from cutpurse.v1 import token_pb2

__all__ = ["TOKENS", "TokenService", "made_token", "wait_until_in_force"]

TOKENS: Final = token_pb2.DESCRIPTOR.services_by_name["TokenService"].full_name
ACTS_S: Final = 2.0  # maximum seconds to wait until a change is in force
_LOOK_S: Final = 0.02
CLOCK: Final = timedelta(minutes=1)  # by which the page's clock may be ahead
USUAL_ACTS: Final = 100
MOST_ACTS: Final = 1_000

_Method = Callable[[bytes, Grant], Message]


class TokenService:
    """`TokenService` of token.proto."""

    def __init__(
        self,
        store: Store,
        entrance: AuthInterceptor,
        log: Logger,
        *,
        is_good: Callable[[str], bool],
        incident_number: Callable[[], str],
        acts: ActLog,
        session_token_days: int = 0,
    ) -> None:
        """Serve the tokens of a store.

        Args:
            store: Where tokens are stored.
            entrance: Authenticates calls.
            log: The server's log.
            is_good: Returns whether the token with this ID is valid now.
            incident_number: Returns a new incident number.
            acts: Where acts are noted, and read from.
            session_token_days: Days that tokens made in a session may last; 0 means no longer than the session.
        """
        self._store = store
        self._entrance = entrance
        self._log = log
        self._is_good = is_good
        self._incident_number = incident_number
        self._acts = acts
        self._session_token_days = session_token_days

    def handler(self) -> grpc.GenericRpcHandler:
        """Return the handler to add to a `grpc.aio.server`."""
        methods: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            "CreateTokens": grpc.unary_unary_rpc_method_handler(self.create),
            "ListTokens": grpc.unary_unary_rpc_method_handler(self.list),
            "RevokeToken": grpc.unary_unary_rpc_method_handler(self.revoke),
            "GetToken": grpc.unary_unary_rpc_method_handler(self.get),
            "ListActs": grpc.unary_unary_rpc_method_handler(self.list_acts),
            "RedeemLink": grpc.unary_unary_rpc_method_handler(self.redeem),
        }
        return grpc.method_handlers_generic_handler(TOKENS, methods)

    async def create(self, request: bytes, context: Context) -> bytes:
        """Answer CreateTokens."""
        return await self._answer(self._create, request, context)

    async def list(self, request: bytes, context: Context) -> bytes:
        """Answer ListTokens."""
        return await self._answer(self._list, request, context)

    async def revoke(self, request: bytes, context: Context) -> bytes:
        """Answer RevokeToken."""
        return await self._answer(self._revoke, request, context)

    async def get(self, request: bytes, context: Context) -> bytes:
        """Answer GetToken."""
        return await self._answer(self._get, request, context)

    async def redeem(self, request: bytes, context: Context) -> bytes:
        """Answer RedeemLink."""
        return await self._answer(self._redeem, request, context, LINK)

    async def list_acts(self, request: bytes, context: Context) -> bytes:
        """Answer ListActs."""
        return await self._answer(self._list_acts, request, context, "admin")

    async def _answer(self, method: _Method, request: bytes, context: Context, scope: str | None = None) -> bytes:
        """Answer a call of a token with this scope, by default of any token that is no link and no hosted bot's."""
        try:
            if scope is None:
                grant = await self._entrance.recognise(context)
                check_scope(grant, *SCOPES)
                assert grant is not None
            else:
                grant = await self._entrance.enter(context, scope)
            answer = await asyncio.to_thread(method, request, grant)  # a commit takes as long as the disk
            await self._in_force(answer)
            return answer.SerializeToString()
        except Exception as problem:
            unable = "tokens cannot be stored now; nothing was changed"
            how = status_of(problem, self._log, self._incident_number, in_trouble="tokens not written", unable=unable)
        return await abort(context, how)

    async def _in_force(self, answer: Message) -> None:
        """Wait until the guard has noticed the change."""
        match answer:
            case token_pb2.CreateTokensResponse():
                names, is_good = [made.kept.id for made in answer.made], True
            case token_pb2.RevokeTokenResponse():
                names, is_good = [answer.token.id], False
            case token_pb2.RedeemLinkResponse():
                names, is_good = [answer.made.kept.id], True
            case _:
                return
        await wait_until_in_force(self._is_good, names, is_good)

    # -- on a thread
    def _create(self, request: bytes, grant: Grant) -> Message:
        call = token_pb2.CreateTokensRequest.FromString(request)
        new_tokens = [
            NewToken(
                one.owner,
                one.label,
                tuple(one.scopes) or ("play", "read"),
                _moment(one.expires_ms) if one.expires_ms else None,
            )
            for one in call.wanted
        ]
        if "admin" not in grant.scopes:
            own = self._own(grant)
            for new in new_tokens:
                _check_own(own, new, self._until(own))
        made = self._store.write(create_tokens, new_tokens, datetime.now(UTC))
        for _, entry in made:
            self._log_made(entry, grant)
        return token_pb2.CreateTokensResponse(made=[made_token(token, entry) for token, entry in made])

    def _list(self, request: bytes, grant: Grant) -> Message:
        call = token_pb2.ListTokensRequest.FromString(request)
        if "admin" not in grant.scopes:
            if call.owner not in ("", grant.owner):
                raise CallRefused("NOT_YOURS", f"this token lists the tokens of {grant.owner} only; ask an admin")
            call.owner = grant.owner
        return token_pb2.ListTokensResponse(tokens=map(_kept, self._store.run(queries.tokens, call.owner or None)))

    def _revoke(self, request: bytes, grant: Grant) -> Message:
        call = token_pb2.RevokeTokenRequest.FromString(request)
        if "admin" not in grant.scopes:
            entries = [entry for entry in self._store.run(queries.tokens, grant.owner) if entry.id == call.id]
            if not entries:  # as for a token that does not exist
                raise CallRefused("NOT_FOUND", f"{grant.owner} has no such token; `cutpurse token list` names them")
            _check_scopes(grant.scopes, {*entries[0].scopes} - {LINK, SESSION})
        entry = self._store.write(revoke_token, call.id, datetime.now(UTC))
        self._log.info("token revoked", token=entry.id, owner=entry.owner, by=grant.owner)
        self._acts.note(grant.owner, "token revoked", f"{entry.id} of {entry.owner}")
        return token_pb2.RevokeTokenResponse(token=_kept(entry))

    def _get(self, request: bytes, grant: Grant) -> Message:
        token_pb2.GetTokenRequest.FromString(request)
        return token_pb2.GetTokenResponse(token=_kept(self._own(grant)))

    def _redeem(self, request: bytes, grant: Grant) -> Message:
        token_pb2.RedeemLinkRequest.FromString(request)
        token, entry = self._store.write(redeem_link, grant.token, datetime.now(UTC))
        self._log_made(entry, grant)
        return token_pb2.RedeemLinkResponse(made=made_token(token, entry))

    def _list_acts(self, request: bytes, grant: Grant) -> Message:
        call = token_pb2.ListActsRequest.FromString(request)
        acts = self._acts.newest(min(call.limit or USUAL_ACTS, MOST_ACTS))
        return token_pb2.ListActsResponse(acts=[token_pb2.PersonAct(**asdict(act)) for act in acts])

    def _own(self, grant: Grant) -> TokenEntry:
        """Return the stored token of a caller."""
        for entry in self._store.run(queries.tokens, grant.owner):
            if entry.id == grant.token:
                return entry
        raise CallRefused("NOT_FOUND", "this token is of one run of the server and is not stored")

    def _until(self, own: TokenEntry) -> datetime | None:
        """Return when tokens expire at the latest that this token makes; None for never."""
        if own.expires is None or SESSION not in own.scopes:
            return own.expires
        return max(own.expires, datetime.now(UTC) + timedelta(days=self._session_token_days) + CLOCK)

    def _log_made(self, entry: TokenEntry, grant: Grant) -> None:
        facts = {"token": entry.id, "owner": entry.owner, "scopes": entry.scopes}
        self._log.info("token made", **facts, by=grant.owner, using=grant.token)
        about = f"{entry.id} of {entry.owner}, good for {', '.join(entry.scopes)}, with {grant.token}"
        self._acts.note(grant.owner, "token made", about)


async def wait_until_in_force(is_good: Callable[[str], bool], tokens: Iterable[str], is_in_force: bool) -> None:
    """Wait until the guard has noticed that these tokens became valid, or invalid; some seconds at most."""
    loop = asyncio.get_running_loop()
    until, names = loop.time() + ACTS_S, [*tokens]
    while any(is_good(name) is not is_in_force for name in names) and loop.time() < until:
        await asyncio.sleep(_LOOK_S)


def _check_own(own: TokenEntry, new: NewToken, last: datetime | None) -> None:
    """Check that the owner of a token may have another one.

    Args:
        own: The token.
        new: The other one.
        last: When that may expire at the latest; None for never.

    Raises:
        CallRefused: If it is another owner's, or permits more, or expires later.
    """
    if new.owner != own.owner:
        raise CallRefused("NOT_YOURS", f"this token makes tokens of {own.owner} only; ask an admin for others")
    _check_scopes(own.scopes, {*new.scopes})
    if last is not None and (new.expires is None or new.expires > last):
        until = last.strftime("%Y-%m-%d %H:%M UTC")
        raise CallRefused("BAD_MESSAGE", f"this token is limited: what it makes may not last longer than until {until}")


def _check_scopes(own: Sequence[str], scopes: Collection[str]) -> None:
    """Check that a token with the scopes `own` may manage one with `scopes`.  Raises CallRefused."""
    if more := {*scopes} - {*own}:
        raise CallRefused("TOKEN_SCOPE", f"this token permits less: it lacks {', '.join(sorted(more))}; ask an admin")


def made_token(token: Token, entry: TokenEntry) -> token_pb2.TokenMade:
    """Return the message with a new token and its secret."""
    return token_pb2.TokenMade(kept=_kept(entry), token=token.reveal())


def _kept(entry: TokenEntry) -> token_pb2.TokenKept:
    return token_pb2.TokenKept(
        id=entry.id,
        owner=entry.owner,
        scopes=entry.scopes,
        label=entry.label,
        created_ms=_ms(entry.created),
        expires_ms=_ms(entry.expires),
        revoked_ms=_ms(entry.revoked),
        last_used_ms=_ms(entry.last_used),
    )


def _ms(moment: datetime | None) -> int:
    return 0 if moment is None else int(moment.timestamp() * 1_000)


def _moment(ms: int) -> datetime:
    try:
        return datetime.fromtimestamp(ms / 1_000, UTC)
    except (OverflowError, ValueError, OSError):
        raise NotTaken("expires_ms is beyond the year 9999") from None
