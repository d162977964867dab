"""The tokens of a running server, as `owner_registry` has those of a database, over gRPC.

The caller's own token is configured like that of a bot. For tokens of other owners it needs the scope admin. Refusals
of the server become errors of the command line. This module knows no command.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Final, Self

import grpc

from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.leaderboard.owner_registry import NewToken
from cutpurse.leaderboard.queries import TokenEntry
from cutpurse.leaderboard.tokens import Token, read_token
from cutpurse.server.act_log import NotedAct
from cutpurse.v1 import sign_in_pb2, sign_in_pb2_grpc, token_pb2, token_pb2_grpc
from cutpurse.wire.connection import UNTRUSTED, Dialling, token_file, why_unreachable
from cutpurse.wire.errors import NotAuthorised, NotFound, ServerRefused, ServerUnreachable
from cutpurse.wire.server_address import TOKEN_VARIABLE
from cutpurse.wire.text import printable

__all__ = ["RemoteTokens"]

PATIENCE_S: Final = 15.0  # seconds to wait for an answer; refusals of bad tokens may be delayed by 5
_OPTIONS: Final = (("grpc.enable_http_proxy", 0),)
_ERRORS: Final[dict[grpc.StatusCode, type[CutpurseError]]] = {
    grpc.StatusCode.UNAUTHENTICATED: NotAuthorised,
    grpc.StatusCode.PERMISSION_DENIED: NotAuthorised,
    grpc.StatusCode.NOT_FOUND: NotFound,
    grpc.StatusCode.INVALID_ARGUMENT: UsageError,
    grpc.StatusCode.UNAVAILABLE: ServerUnreachable,
    grpc.StatusCode.DEADLINE_EXCEEDED: ServerUnreachable,
}


class RemoteTokens:
    """The tokens of a server.

    Its methods raise NotAuthorised, NotFound, UsageError and ServerUnreachable.
    """

    def __init__(self, dialling: Dialling) -> None:
        """Connect to a server.

        Raises:
            NotAuthorised: If there is no token to authenticate with.
        """
        if not dialling.token:
            raise NotAuthorised(
                f"to ask {dialling.address} takes a token, for other owners one with the scope admin: put it into "
                f"{TOKEN_VARIABLE}, or into {token_file()}; with --db FILE a database is used, and no server asked"
            )
        self._dialling = dialling
        self._channel = dialling.blocking_channel(_OPTIONS)
        self._stub = token_pb2_grpc.TokenServiceStub(self._channel)
        self._accounts: Any = sign_in_pb2_grpc.SignInServiceStub(self._channel)  # Any: as for `grpc.Channel`

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._channel.close()

    def create_tokens(self, wanted: Sequence[NewToken], created: datetime) -> list[tuple[Token, TokenEntry]]:
        """Create tokens, all or none, and return them with their entries; the server's clock counts."""
        asked = token_pb2.CreateTokensRequest()
        for new in wanted:
            expires_ms = 0 if new.expires is None else int(new.expires.timestamp() * 1_000)
            asked.wanted.add(owner=new.owner, label=new.label, scopes=new.scopes, expires_ms=expires_ms)
        try:
            answer = self._stub.CreateTokens(asked, timeout=PATIENCE_S, metadata=self._dialling.metadata)
        except grpc.RpcError as error:
            raise self._told(error) from None
        made = [(read_token(one.token), _entry(one.kept)) for one in answer.made]
        return [(token, entry) for token, entry in made if token is not None]

    def revoke_token(self, token_id: str, revoked: datetime) -> TokenEntry:
        """Revoke a token; a revoked token stays as it is."""
        try:
            answer = self._stub.RevokeToken(
                token_pb2.RevokeTokenRequest(id=token_id), timeout=PATIENCE_S, metadata=self._dialling.metadata
            )
        except grpc.RpcError as error:
            raise self._told(error) from None
        return _entry(answer.token)

    def tokens(self, owner: str | None = None) -> list[TokenEntry]:
        """List the tokens of an owner, or all."""
        try:
            answer = self._stub.ListTokens(
                token_pb2.ListTokensRequest(owner=owner or ""), timeout=PATIENCE_S, metadata=self._dialling.metadata
            )
        except grpc.RpcError as error:
            raise self._told(error) from None
        return [_entry(kept) for kept in answer.tokens]

    def link_account(self, owner: str, subject: str, issuer: str) -> str:
        """Link an account with an owner, and return the owner before; "" means the issuer of the server's provider.

        Raises:
            ServerRefused: If that server has no provider.
        """
        asked = sign_in_pb2.LinkAccountRequest(owner=owner, subject=subject, issuer=issuer)
        try:
            answer = self._accounts.LinkAccount(asked, timeout=PATIENCE_S, metadata=self._dialling.metadata)
        except grpc.RpcError as error:
            call: Any = error  # as in `_told`
            if call.code() is grpc.StatusCode.UNIMPLEMENTED:
                raise ServerRefused(
                    f"the server at {self._dialling.address} lets nobody sign in at a provider: see `serve --sign-in`"
                ) from None
            raise self._told(error) from None
        return str(answer.previous_owner)

    def acts(self, limit: int) -> list[NotedAct]:
        """Return the newest acts of people, the newest first."""
        asked = token_pb2.ListActsRequest(limit=limit)
        try:
            answer = self._stub.ListActs(asked, timeout=PATIENCE_S, metadata=self._dialling.metadata)
        except grpc.RpcError as error:
            raise self._told(error) from None
        return [NotedAct(one.at_ms, one.by, one.what, one.about) for one in answer.acts]

    def _told(self, error: grpc.RpcError) -> CutpurseError:
        call: Any = error  # the raised error is also a Call, which its type does not say
        address, code, text = self._dialling.address, call.code(), call.details() or ""
        if any(words in text for words in UNTRUSTED):
            return NotAuthorised(f"the server at {address} has a certificate that is not trusted here: --ca FILE")
        if code is grpc.StatusCode.UNIMPLEMENTED:
            return ServerRefused(
                f"the server at {address} has no owners: it was started on a database without a token. Stop it, and "
                "make the first with --db"
            )
        said = printable(why_unreachable(text)) or code.name
        return _ERRORS.get(code, ServerRefused)(f"the server at {address}: {said}")


def _entry(kept: token_pb2.TokenKept) -> TokenEntry:
    return TokenEntry(
        kept.id,
        b"",  # stays on the server
        kept.owner,
        tuple(kept.scopes),
        kept.label,
        datetime.fromtimestamp(kept.created_ms / 1_000, UTC),
        _moment(kept.expires_ms),
        _moment(kept.revoked_ms),
        _moment(kept.last_used_ms),
    )


def _moment(ms: int) -> datetime | None:
    return datetime.fromtimestamp(ms / 1_000, UTC) if ms else None
