"""Selection of ladders by name alone: the server says which game each of them has.

This module knows no session and no bot. It makes one call on a given channel.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import grpc.aio

from cutpurse.engine.errors import did_you_mean
from cutpurse.games import GAMES
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.errors import NotFound, ServerRefused
from cutpurse.wire.text import printable

__all__ = ["by_game", "list_server_ladders"]

LIST: Final = "/cutpurse.v1.LadderService/ListLadders"
ANSWER_S: Final = 10.0


async def list_server_ladders(
    channel: grpc.aio.Channel, metadata: Sequence[tuple[str, str]]
) -> Sequence[ladder_pb2.LadderShown]:
    """Return the server's ladders that the caller may see, inner ones too.  Raises grpc.aio.AioRpcError."""
    call: Any = channel.unary_unary(LIST, response_deserializer=ladder_pb2.ListLaddersResponse.FromString)
    request = ladder_pb2.ListLaddersRequest(with_inner=True).SerializeToString()
    answer: ladder_pb2.ListLaddersResponse = await call(request, metadata=metadata, timeout=ANSWER_S)
    return answer.ladders


def by_game(
    ladder_names: Iterable[str], there: Iterable[ladder_pb2.LadderShown], address: str, has_token: bool
) -> dict[str, tuple[str, ...]]:
    """Group the requested ladders by their games.

    Args:
        ladder_names: Names of ladders.
        there: Ladders of the server.
        address: The server, for errors.
        has_token: Whether the server was sent a token, without which it shows no private ladder.

    Raises:
        NotFound: If the server has no such ladder; lists its ladders.
        ServerRefused: If the game of a ladder is not installed.
    """
    listed = [*there]
    game_of = {ladder.defined.name: ladder.defined.game for ladder in listed}
    ladders: dict[str, tuple[str, ...]] = {}
    for name in dict.fromkeys(ladder_names):
        if name not in game_of:
            names = sorted(printable(ladder.defined.name) for ladder in listed if not ladder.is_inner)
            hint = did_you_mean(name, names) + ("" if has_token else " (a private one needs a token)")
            are = ", ".join(names) or "none"
            raise NotFound(f"the server at {address} has no ladder '{printable(name)}'{hint}; there are: {are}")
        game = game_of[name]
        if game not in GAMES:
            raise ServerRefused(
                f"ladder {name} is of the game {printable(game)}, which is not known here: upgrade cutpurse"
            )
        ladders[game] = (*ladders.get(game, ()), name)
    return ladders
