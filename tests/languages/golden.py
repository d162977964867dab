"""The golden messages of server and bot in `proto/golden`: one match of each game with a real server.

All randomness is fixed, and times in messages do not depend on the machine, so that every run has the same messages.
Messages that travel together are stored separately, because that depends on the clock.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import grpc
from google.protobuf import json_format
from google.protobuf.message import Message

from cutpurse.engine.clocks import TimeControl
from cutpurse.games import GAMES
from cutpurse.server.hosting.arena import Arena, Listening
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.logs import logger
from cutpurse.server.matches.lobby import Lobby
from cutpurse.v1 import arena_pb2, game_pb2, game_pb2_grpc
from tests.languages.rule import GIVES_AWAY, STOPS
from tests.roots import CHECKOUT
from tests.server.conversation import fixed_chance
from tests.server.dialling import Bot
from tests.server.stores import Taken

__all__ = ["FOLDER", "TYPES", "conversation", "files_of"]

FOLDER = CHECKOUT / "proto" / "golden"
# The message types, in the order of the conversation.
TYPES: dict[str, type[Message]] = {
    "hello": arena_pb2.PlayRequest,
    "welcome": arena_pb2.PlayResponse,
    "started": arena_pb2.PlayResponse,
    "get_game": game_pb2.GetGameRequest,
    "catalogue": game_pb2.GetGameResponse,
    "illegal": arena_pb2.PlayRequest,
    "refusal": arena_pb2.PlayResponse,
    "correction": arena_pb2.PlayRequest,
    "decisions": arena_pb2.PlayResponse,
    "answers": arena_pb2.PlayRequest,
    "ended": arena_pb2.PlayResponse,
    "leaving": arena_pb2.PlayRequest,
}
NAME = "my_bot"
FIRST = 6  # stored decisions, besides the first one of each `ask`
LONG = TimeControl(base_ms=3_600_000, bank_ms=3_600_000, handover_ms=60_000, poll_floor_ms=0)
ROUND = 60_000  # ms; remaining times are rounded to this


def choice(decision: arena_pb2.Decision, catalogue: game_pb2.Catalogue) -> int:
    """Apply the rule of `tests.languages.rule` using only the messages."""

    def price(option: game_pb2.Act) -> int:
        verb = catalogue.verbs[option.verb - 1].name
        value = sum(catalogue.cards[number - 1].value for number in option.cards if number)
        return -1 if verb in STOPS else -value if verb in GIVES_AWAY else value

    prices = [price(option) for option in decision.options]
    safe = decision.safe_option
    return safe if prices[safe] == max(prices) else prices.index(max(prices))


class Recorder:
    """The recorded bot: its received and sent messages, by name of the file."""

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.said: dict[str, Message] = {}
        self.catalogue = game_pb2.Catalogue()
        self.asks: set[int] = set()
        self.decisions = arena_pb2.PlayResponse()
        self.answers = arena_pb2.PlayRequest()

    async def begin(self) -> None:
        """Send Hello."""
        hello = arena_pb2.Hello(protocol_major=1, sdk="my-language 0.1", bot=NAME, version="1", max_tables=1)
        self.said["hello"] = arena_pb2.PlayRequest(hello=hello)
        await self.bot.send(self.said["hello"])
        self.said["welcome"] = await self.bot.read()
        await self.bot.say()

    async def play(self, games: Any) -> None:
        """Play the match until the server ends the stream."""
        ended = False
        while not ended:
            heard = await self.bot.read()
            answer = arena_pb2.PlayRequest(received=heard.envelope)
            for start in heard.starts:
                self.said["started"] = arena_pb2.PlayResponse(starts=[start])
                asked = game_pb2.GetGameRequest(game=start.game, seats=len(start.seats), settings=start.settings)
                given: game_pb2.GetGameResponse = await games.GetGame(asked)
                self.said |= {"get_game": asked, "catalogue": given}
                self.catalogue = given.catalogue
            for refusal in heard.refusals:
                self.said["refusal"] = arena_pb2.PlayResponse(refusals=[refusal])
                safe = self.decisions.decisions[0].safe_option
                corrected = arena_pb2.Answer(table=refusal.table, decision=refusal.decision, option=safe)
                self.said["correction"] = arena_pb2.PlayRequest(answers=[corrected])
                answer.answers.append(corrected)
            answer.answers.extend([self._answer(decision) for decision in heard.decisions])
            for end in heard.ends:
                self.said["ended"] = arena_pb2.PlayResponse(ends=[end])
                answer.leaving = ended = True
                self.said["leaving"] = arena_pb2.PlayRequest(leaving=True)
            await self.bot.send(answer)
        self.said |= {"decisions": self.decisions, "answers": self.answers}

    def _answer(self, decision: arena_pb2.Decision) -> arena_pb2.Answer:
        """Return the right answer; for the first decision, one with a nonexistent option."""
        answer = arena_pb2.Answer(table=decision.table, decision=decision.decision)
        answer.option = choice(decision, self.catalogue)
        if len(self.decisions.decisions) < FIRST or decision.ask not in self.asks:
            self.asks.add(decision.ask)
            kept = self.decisions.decisions.add()
            kept.CopyFrom(decision)
            kept.base_left_ms = -(-kept.base_left_ms // ROUND) * ROUND
            kept.bank_left_ms = -(-kept.bank_left_ms // ROUND) * ROUND
            self.answers.answers.append(answer)
        if "illegal" in self.said:
            return answer
        wrong = arena_pb2.Answer(table=decision.table, decision=decision.decision, option=len(decision.options))
        self.said["illegal"] = arena_pb2.PlayRequest(answers=[wrong])
        return wrong


async def _plays(bot: Bot) -> None:
    """Run an opponent that takes the last option of every decision until the match is over."""
    ended = False
    while not ended:
        heard = await bot.read()
        answers = [
            arena_pb2.Answer(table=asked.table, decision=asked.decision, option=len(asked.options) - 1)
            for asked in heard.decisions
        ]
        ended = bool(heard.ends)
        await bot.say(answers=answers, leaving=ended)


async def conversation(game: str) -> dict[str, Message]:
    """Record the messages of a match with the fewest seats, by name."""
    seats = GAMES[game].words.seats[0]
    entropy, log = fixed_chance(), logger(sys.stderr, "error")
    lobby = Lobby(
        [Ladder(game, game, seats, control=LONG, matches_wanted=1)],
        Taken(),
        entropy=entropy,
        utc=lambda: datetime(2026, 1, 1, tzinfo=UTC),
        log=log,
    )
    arena = Arena(Listening("127.0.0.1:0"), lobby, log, entropy=entropy)
    address = await arena.start()
    try:
        async with grpc.aio.insecure_channel(address) as channel:
            recorder = Recorder(Bot(channel))
            await recorder.begin()
            others = [Bot(channel) for _ in range(seats - 1)]
            for number, other in enumerate(others[:-1]):
                await other.say_hello(f"other_{number}")
                await other.read()
                await other.say()
            await others[-1].say_hello("other")
            games = game_pb2_grpc.GameServiceStub(channel)
            await asyncio.gather(recorder.play(games), *[_plays(other) for other in others])
    finally:
        await arena.stop()
    assert recorder.said.keys() == TYPES.keys()
    return {name: recorder.said[name] for name in TYPES}


def files_of(game: str, said: dict[str, Message]) -> Iterator[tuple[str, bytes]]:
    """Generate the files of a game, with paths below `FOLDER`: each message as bytes and as JSON."""
    for number, (name, message) in enumerate(said.items(), 1):
        path = f"{game}/{number:02}_{name}"
        yield f"{path}.binpb", message.SerializeToString(deterministic=True)
        told = json_format.MessageToDict(message, preserving_proto_field_name=True)
        text = json.dumps(_with_maps_in_order(told), indent=2, ensure_ascii=False)
        yield f"{path}.json", f"{text}\n".encode()


def _with_maps_in_order(told: Any) -> Any:
    """Return the value with a card's traits, the only map, sorted by key."""
    if isinstance(told, list):
        return [_with_maps_in_order(one) for one in told]
    if not isinstance(told, dict):
        return told
    return {
        key: dict(sorted(value.items())) if key == "traits" else _with_maps_in_order(value)
        for key, value in told.items()
    }
