"""GameService over gRPC: the games of this server, and the catalogue of each.

It knows no caller. A game is listed even if all its ladders are private. Its rules are public, and bots of those
ladders request the catalogue without a token.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from typing import Any, Final

import grpc

from cutpurse.engine.errors import SettingsError
from cutpurse.games import GAMES
from cutpurse.server.access.entrance import Context
from cutpurse.server.call_status import abort, status_without_store
from cutpurse.server.errors import CallRefused, legible
from cutpurse.server.logs import Logger
from cutpurse.v1 import game_pb2
from cutpurse.wire.catalogue import catalogue_of, summary_of

__all__ = ["GAME", "GameService"]

GAME: Final = game_pb2.DESCRIPTOR.services_by_name["GameService"].full_name
_MOST_SETTINGS: Final = 64  # maximum settings in one request; every game has fewer


class GameService:
    """`GameService` of game.proto, for the games of this server."""

    def __init__(
        self, games: Callable[[], Collection[str]], log: Logger, *, incident_number: Callable[[], str]
    ) -> None:
        """Serve the games that `games` returns.

        `games` is called on the event loop at each request, since a new ladder may bring a new game.
        """
        self._games = games
        self._log = log
        self._incident_number = incident_number

    def handler(self) -> grpc.GenericRpcHandler:
        """Return the handler to add to a `grpc.aio.server`."""
        methods: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            "ListGames": grpc.unary_unary_rpc_method_handler(self.list_games),
            "GetGame": grpc.unary_unary_rpc_method_handler(self.get_game),
        }
        return grpc.method_handlers_generic_handler(GAME, methods)

    async def list_games(self, request: bytes, context: Context) -> bytes:
        """Answer ListGames."""
        return await self._answer(self._list_games, request, context)

    async def get_game(self, request: bytes, context: Context) -> bytes:
        """Answer GetGame."""
        return await self._answer(self._get_game, request, context)

    async def _answer(self, method: Callable[[bytes, list[str]], bytes], request: bytes, context: Context) -> bytes:
        try:
            # A catalogue that is not cached takes up to 20 ms: too long for the loop, which keeps the clocks.
            return await asyncio.to_thread(method, request, sorted(self._games()))
        except Exception as problem:
            how = status_without_store(problem, self._log, self._incident_number)
        return await abort(context, how)

    def _list_games(self, request: bytes, names: list[str]) -> bytes:
        game_pb2.ListGamesRequest.FromString(request)
        games = [summary_of(GAMES[name]) for name in names]
        return game_pb2.ListGamesResponse(games=games).SerializeToString()

    def _get_game(self, request: bytes, names: list[str]) -> bytes:
        asked = game_pb2.GetGameRequest.FromString(request)
        if asked.game not in names:
            name = legible(asked.game, 40)
            raise CallRefused("NOT_FOUND", f"no game is called '{name}' here; there are: {', '.join(names)}")
        if len(asked.settings) > _MOST_SETTINGS:
            raise CallRefused("SETTINGS", f"{len(asked.settings)} settings are more than {asked.game} has")
        settings: dict[str, object] = {setting.name: setting.value for setting in asked.settings}
        try:
            catalogue = catalogue_of(GAMES[asked.game], asked.seats or None, settings)
        except SettingsError as problem:
            raise CallRefused("SETTINGS", legible(str(problem), 2_000)) from None
        return game_pb2.GetGameResponse(catalogue=catalogue).SerializeToString()
