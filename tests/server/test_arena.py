"""Stream side and match side together: whole matches of every game over real sockets, and what the log tells."""

from __future__ import annotations

import asyncio
import io
import json
import re
import secrets
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import grpc
import pytest

from cutpurse.engine.commitment import board_key, commitment
from cutpurse.games import GAMES
from cutpurse.leaderboard.errors import StoreError
from cutpurse.leaderboard.results import FinishedMatch
from cutpurse.server.hosting.arena import Arena, Listening
from cutpurse.server.hosting.arena_stages import ArenaStage
from cutpurse.server.hosting.part import Part
from cutpurse.server.ladder_config import default_ladders
from cutpurse.server.limits import ServerLimits
from cutpurse.server.logs import logger
from cutpurse.server.matches.lobby import Lobby
from cutpurse.server.matches.loop_hooks import DeadlinesNext
from cutpurse.v1 import arena_pb2
from tests.server.dialling import Bot, Ended
from tests.server.stores import Taken, match_of
from tests.server.toys import ToyLobby

BOTS = 4


class Store(Taken):
    """Keeps results in a list."""

    def __init__(self) -> None:
        self.kept: list[FinishedMatch] = []

    def take(self, result: FinishedMatch) -> None:
        self.kept.append(result)


class Drawn:
    """Entropy that remembers everything it gave away."""

    def __init__(self) -> None:
        self.all: list[bytes] = []

    def __call__(self, count: int) -> bytes:
        self.all.append(secrets.token_bytes(count))
        return self.all[-1]


class Seen:
    """What one bot was told."""

    def __init__(self) -> None:
        self.starts: dict[int, arena_pb2.MatchStarted] = {}
        self.ends: dict[int, arena_pb2.MatchEnded] = {}
        self.next_event: dict[int, int] = {}
        self.problems: list[str] = []
        self.code = ""


async def _plays(bot: Bot, name: str, is_over: Callable[[Seen], bool]) -> Seen:
    """Answer at random, now and then illegally, until it is over."""
    seen, chance = Seen(), Random(name)
    await bot.say_hello(name, max_tables=8, events=True, features=["agenda"])
    try:
        while True:
            response = await bot.read()
            for start in response.starts:
                seen.starts[start.table] = start
            answers = []
            for asked in response.decisions:
                _hear(seen, asked.table, asked.first_event, len(asked.events))
                assert asked.observation.viewer == seen.starts[asked.table].seat
                option = chance.randrange(len(asked.options)) if chance.random() > 0.02 else 1_000
                answers.append(arena_pb2.Answer(table=asked.table, decision=asked.decision, option=option))
            for refused in response.refusals:
                assert refused.reason == arena_pb2.REFUSAL_REASON_ILLEGAL
                answers.append(arena_pb2.Answer(table=refused.table, decision=refused.decision, option=0))
            for ended in response.ends:
                _hear(seen, ended.table, ended.first_event, len(ended.events))
                seen.ends[ended.table] = ended
            seen.problems += [problem.text for problem in response.problems]
            await bot.say(answers=answers, leaving=is_over(seen))
    except Ended as ended_call:
        seen.code = ended_call.code
    return seen


def _hear(seen: Seen, table: int, first: int, events: int) -> None:
    """Events come in order, without gaps."""
    assert first == seen.next_event.get(table, 0)
    seen.next_event[table] = first + events


async def test_every_game_is_played_stored_and_opened_and_the_log_keeps_its_secrets() -> None:
    store, drawn, log = Store(), Drawn(), io.StringIO()
    lines = logger(log, "debug")
    ladders = default_ladders(matches_wanted=2)
    lobby = Lobby(ladders, store, entropy=drawn, utc=lambda: datetime.now(UTC), log=lines)
    arena = Arena(Listening("127.0.0.1:0"), lobby, lines, limits=ServerLimits(), entropy=drawn)
    address = await arena.start()
    async with grpc.aio.insecure_channel(address) as channel:
        names = [f"bot{number}" for number in range(BOTS)]
        told = await asyncio.gather(*(_plays(Bot(channel), name, lambda _: lobby.is_complete) for name in names))
    await arena.stop()

    assert sorted(match_of(result).rules.words.game for result in store.kept) == sorted([*GAMES, *GAMES])
    by_name = {result.match: result for result in store.kept}
    for seen in told:
        assert (seen.code, seen.problems) == ("OK", [])
        assert seen.starts.keys() == seen.ends.keys()
        for table, ended in seen.ends.items():
            start, result = seen.starts[table], by_name[seen.starts[table].match]
            assert ended.rated
            opening = ended.opening
            assert commitment(opening.seed, opening.params) == start.commitment
            assert (opening.seed, opening.params) == (result.deal.seed, result.deal.params)
            assert [one.place for one in ended.seats] == [one.place for one in result.seats]
    assert sum(len(seen.ends) for seen in told) == sum(len(result.seats) for result in store.kept)
    _keeps_its_secrets(log.getvalue(), drawn.all, store.kept)


def _keeps_its_secrets(log: str, drawn: list[bytes], results: list[FinishedMatch]) -> None:
    facts = [json.loads(line) for line in log.splitlines()]
    events = {fact["event"] for fact in facts}
    assert events >= {"listening", "stream opened", "match started", "match ended", "stream ended", "stopped"}
    assert all(fact.get("session") for fact in facts if fact["event"].startswith("stream"))
    hidden = [result.deal.seed for result in results]
    hidden += [board_key(result.deal.seed, result.deal.params) for result in results]
    hidden += [secret for secret in drawn if len(secret) == 32]  # of sessions, too
    assert len(hidden) > 2 * len(results) + BOTS
    for secret in hidden:
        assert secret.hex() not in log.lower()
        assert repr(secret)[2:-1] not in log
    words = {word for game in GAMES.values() for card in game.words.cards for word in (card.name, card.title)}
    shown = [word for word in words if not word.isdecimal() and re.search(rf"\b{re.escape(word)}\b", log)]
    assert shown == []


async def test_a_listener_that_breaks_is_logged_and_asked_again() -> None:
    log, heard, is_heard_again = io.StringIO(), list[DeadlinesNext](), asyncio.Event()
    lobby = ToyLobby()

    def listen(event: DeadlinesNext) -> None:
        heard.append(event)
        if len(heard) == 1:
            raise ValueError("listening")
        is_heard_again.set()

    lobby.hooks.on(DeadlinesNext, listen)
    arena = Arena(Listening("127.0.0.1:0"), lobby, logger(log, "info"))
    await arena.start()
    await is_heard_again.wait()
    await arena.stop()
    (broke,) = [fact for fact in map(json.loads, log.getvalue().splitlines()) if fact["level"] == "error"]
    assert (broke["event"], broke["error"]) == ("part broke", "ValueError")
    assert heard[0].now < heard[-1].now


async def test_a_server_with_a_part_that_cannot_begin_ends_whoever_has_come_by_then(tmp_path: Path) -> None:
    met = threading.Event()

    class Broken(Part):
        def addresses(self) -> list[str]:
            return [f"unix:{tmp_path}/desk"]

        def begin(self, loop: asyncio.AbstractEventLoop) -> None:
            met.wait(240)
            raise StoreError("disk I/O error")

    address = f"unix:{tmp_path}/desk"
    arena = Arena(Listening(f"unix:{tmp_path}/s"), ToyLobby(), logger(io.StringIO(), "info"))
    arena.parts = {"broken": Broken()}
    starting = asyncio.create_task(arena.start())
    async with grpc.aio.insecure_channel(address) as channel:
        bot = Bot(channel)
        await bot.say_hello("ann")
        assert (await bot.read()).HasField("welcome")
        met.set()
        with pytest.raises(StoreError, match="disk I/O error"):
            await starting
        with pytest.raises(Ended) as told:
            await bot.read()
        assert (told.value.code, told.value.reason) == ("UNAVAILABLE", "DRAINING")
    assert arena.stage is ArenaStage.STOPPED
    assert arena.streams == 0
