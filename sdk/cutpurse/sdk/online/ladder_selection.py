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


async def list_server_ladders(channel: grpc.aio.Channel, metadata: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the server's ladders that the caller may see, each with its game.  Raises grpc.aio.AioRpcError."""
    call: Any = channel.unary_unary(LIST, response_deserializer=ladder_pb2.ListLaddersResponse.FromString)
    answer = await call(b"", metadata=metadata, timeout=ANSWER_S)
    return [(ladder.defined.name, ladder.defined.game) for ladder in answer.ladders]


def by_game(wanted: Iterable[str], there: Iterable[tuple[str, str]], address: str) -> dict[str, tuple[str, ...]]:
    """Group the requested ladders by their games.

    Args:
        wanted: Names of ladders.
        there: Ladders of the server, each with its game.
        address: The server, for errors.

    Raises:
        NotFound: If the server has no such ladder; lists its ladders.
        ServerRefused: If the game of a ladder is not installed.
    """
    game_of = dict(there)
    found: dict[str, tuple[str, ...]] = {}
    for name in dict.fromkeys(wanted):
        if name not in game_of:
            are = ", ".join(sorted(map(printable, game_of))) or "none"
            hint = did_you_mean(name, map(printable, game_of))
            raise NotFound(f"the server at {address} has no ladder '{printable(name)}'{hint}; there are: {are}")
        game = game_of[name]
        if game not in GAMES:
            raise ServerRefused(
                f"ladder {name} is of the game {printable(game)}, which is not known here: upgrade cutpurse"
            )
        found[game] = (*found.get(game, ()), name)
    return found
