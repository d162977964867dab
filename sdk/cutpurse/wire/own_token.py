"""The scopes of the caller's own token, as its server has them.

A server without owners has no tokens, and everybody may do everything there. This module knows no command.
"""

from __future__ import annotations

import os
from typing import Any, Final

import grpc

from cutpurse.v1 import token_pb2, token_pb2_grpc
from cutpurse.wire.connection import dialling
from cutpurse.wire.errors import NotAuthorised
from cutpurse.wire.league import PATIENCE_S, refusal

__all__ = ["check_admin"]

ADMIN: Final = "admin"
_OPTIONS: Final = (("grpc.enable_http_proxy", 0), ("grpc.use_local_subchannel_pool", 1))


def check_admin(server: str | None, ca: str | os.PathLike[str] | None, purpose: str) -> None:
    """Check that the caller's token has the scope admin.

    Args:
        server: Server address, see `cutpurse.sdk.run`.
        ca: PEM file with certificates to trust.
        purpose: What needs the scope, for the error.

    Raises:
        NotAuthorised: If it has not, or there is no token.
        ServerUnreachable: If the server does not answer.
    """
    to = dialling(server, ca)
    with to.blocking_channel(_OPTIONS) as channel:
        stub: Any = token_pb2_grpc.TokenServiceStub(channel)
        try:
            answer = stub.GetToken(token_pb2.GetTokenRequest(), timeout=PATIENCE_S, metadata=to.metadata)
        except grpc.RpcError as error:
            call: Any = error  # the raised error is also a Call, which its type does not say
            if call.code() is grpc.StatusCode.UNIMPLEMENTED:
                return
            raise refusal(error, to) from None
    if ADMIN not in answer.token.scopes:
        raise NotAuthorised(f"the server at {to.address}: {purpose} is for hosts: a token with the scope admin")
