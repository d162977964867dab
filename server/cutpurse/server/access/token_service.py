"""TokenService over gRPC: admins create, list and revoke a server's tokens remotely.

Every call needs a token with the scope admin. A call is answered once its change is stored and in force. This module
knows no database. A secret goes into the one answer that reveals it, and nowhere else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Protocol

import grpc
from google.protobuf.message import Message

from cutpurse.leaderboard.errors import InvalidEntry as NotTaken
from cutpurse.leaderboard.owner_registry import NewToken
from cutpurse.leaderboard.queries import TokenEntry
from cutpurse.leaderboard.tokens import Token
from cutpurse.server.access.entrance import AuthInterceptor, Context
from cutpurse.server.access.owners import Grant
from cutpurse.server.call_status import abort, status_of
from cutpurse.server.logs import Logger
from cutpurse.v1 import token_pb2

__all__ = ["TOKENS", "TokenRegistry", "TokenService"]

TOKENS: Final = token_pb2.DESCRIPTOR.services_by_name["TokenService"].full_name
ACTS_S: Final = 2.0  # maximum seconds to wait until a change is in force
_LOOK_S: Final = 0.02

_Method = Callable[[bytes, Grant], Message]


class TokenRegistry(Protocol):
    """Where tokens are stored: a `Store`."""

    def create_tokens(self, wanted: Sequence[NewToken], created: datetime) -> list[tuple[Token, TokenEntry]]:
        """Create tokens, all or none."""

    def revoke_token(self, token_id: str, revoked: datetime) -> TokenEntry:
        """Revoke a token."""

    def tokens(self, owner: str | None = None) -> list[TokenEntry]:
        """Return the tokens of an owner, or all."""


class TokenService:
    """`TokenService` of token.proto."""

    def __init__(
        self,
        registry: TokenRegistry,
        entrance: AuthInterceptor,
        log: Logger,
        *,
        is_good: Callable[[str], bool],
        incident_number: Callable[[], str],
    ) -> None:
        """Serve the tokens of a registry.

        Args:
            registry: Where tokens are stored.
            entrance: Authenticates calls.
            log: The server's log.
            is_good: Returns whether the token with this ID is valid now.
            incident_number: Returns a new incident number.
        """
        self._registry = registry
        self._entrance = entrance
        self._log = log
        self._is_good = is_good
        self._incident_number = incident_number

    def handler(self) -> grpc.GenericRpcHandler:
        """Return the handler to add to a `grpc.aio.server`."""
        methods: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            "CreateTokens": grpc.unary_unary_rpc_method_handler(self.create),
            "ListTokens": grpc.unary_unary_rpc_method_handler(self.list),
            "RevokeToken": grpc.unary_unary_rpc_method_handler(self.revoke),
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

    async def _answer(self, method: _Method, request: bytes, context: Context) -> bytes:
        try:
            grant = await self._entrance.enter(context, "admin")
            answer = await asyncio.to_thread(method, request, grant)  # a commit takes as long as the disk
            await self._acts(answer)
            return answer.SerializeToString()
        except Exception as problem:
            unable = "tokens cannot be stored now; nothing was changed"
            how = status_of(problem, self._log, self._incident_number, in_trouble="tokens not written", unable=unable)
        return await abort(context, how)

    async def _acts(self, answer: Message) -> None:
        """Wait until the guard has noticed the change."""
        match answer:
            case token_pb2.CreateTokensResponse():
                names, is_good = [made.kept.id for made in answer.made], True
            case token_pb2.RevokeTokenResponse():
                names, is_good = [answer.token.id], False
            case _:
                return
        loop = asyncio.get_running_loop()
        until = loop.time() + ACTS_S
        while any(self._is_good(name) is not is_good for name in names) and loop.time() < until:
            await asyncio.sleep(_LOOK_S)

    # -- on a thread
    def _create(self, request: bytes, grant: Grant) -> Message:
        asked = token_pb2.CreateTokensRequest.FromString(request)
        wanted = [
            NewToken(
                one.owner,
                one.label,
                tuple(one.scopes) or ("play", "read"),
                _moment(one.expires_ms) if one.expires_ms else None,
            )
            for one in asked.wanted
        ]
        made = self._registry.create_tokens(wanted, datetime.now(UTC))
        for _, entry in made:
            self._log.info("token made", token=entry.id, owner=entry.owner, scopes=entry.scopes, by=grant.owner)
        return token_pb2.CreateTokensResponse(
            made=[token_pb2.TokenMade(kept=_kept(entry), token=token.reveal()) for token, entry in made]
        )

    def _list(self, request: bytes, grant: Grant) -> Message:
        asked = token_pb2.ListTokensRequest.FromString(request)
        return token_pb2.ListTokensResponse(tokens=map(_kept, self._registry.tokens(asked.owner or None)))

    def _revoke(self, request: bytes, grant: Grant) -> Message:
        asked = token_pb2.RevokeTokenRequest.FromString(request)
        entry = self._registry.revoke_token(asked.id, datetime.now(UTC))
        self._log.info("token revoked", token=entry.id, owner=entry.owner, by=grant.owner)
        return token_pb2.RevokeTokenResponse(token=_kept(entry))


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
