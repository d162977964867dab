"""What a server tells of its games, over a real socket."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from cutpurse.games import GAMES
from cutpurse.v1 import game_pb2, game_pb2_grpc
from cutpurse.wire.catalogue import catalogue_of
from tests.server.dialling import Ended, House, house, how_it_ended


async def test_the_games_are_listed_and_told() -> None:
    async with house() as server:
        stub = game_pb2_grpc.GameServiceStub(server.channel)
        listed = await stub.ListGames(game_pb2.ListGamesRequest())
        assert [(game.game, game.title) for game in listed.games] == [("greed", "Greed"), ("szmal", "Szmal")]
        told = await stub.GetGame(game_pb2.GetGameRequest(game="greed"))
        assert told.catalogue == catalogue_of(GAMES["greed"])


@pytest.mark.parametrize(
    ("asked", "code", "reason", "text"),
    [
        ({"game": "chess"}, "NOT_FOUND", "NOT_FOUND", "no game is called 'chess' here; there are: greed, szmal"),
        ({"game": "greed", "seats": 99}, "INVALID_ARGUMENT", "SETTINGS", "players, not 99"),
        (
            {"game": "greed", "settings": [game_pb2.Setting(name="no\nsuch", value="1")]},
            "INVALID_ARGUMENT",
            "SETTINGS",
            "there are:",
        ),
        ({"game": "greed", "settings": [game_pb2.Setting()] * 65}, "INVALID_ARGUMENT", "SETTINGS", "65 settings"),
    ],
)
async def test_what_is_wrong_with_a_question_about_a_game(
    asked: dict[str, object], code: str, reason: str, text: str
) -> None:
    async with house() as server:
        request = game_pb2.GetGameRequest(**asked)  # type: ignore[arg-type]
        ended = await _fails(server, "GetGame", request.SerializeToString())
        assert (ended.code, ended.reason) == (code, reason)
        assert text in ended.text


async def test_garbage_about_games_is_a_bad_message() -> None:
    async with house() as server:
        for method in ("GetGame", "ListGames"):
            ended = await _fails(server, method, b"\xff\xff")
            assert (ended.code, ended.reason) == ("INVALID_ARGUMENT", "BAD_MESSAGE")


async def _fails(server: House, method: str, request: bytes) -> Ended:
    call: Any = server.channel.unary_unary(f"/cutpurse.v1.GameService/{method}")
    answer = call(request)
    with pytest.raises(grpc.aio.AioRpcError):
        await answer
    return await how_it_ended(answer)
