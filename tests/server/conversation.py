"""A conversation with a real server, kept as the payloads that `docs/protocol.md` shows.

Two bots dial in over a socket and play one match of Greed. All that chance decides is fixed, so that every run says the
same; what hangs on the clock, as which messages travel together, is not shown.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha256

import grpc
from google.protobuf import text_format
from google.protobuf.message import Message
from google.rpc import status_pb2

from cutpurse.leaderboard.results import SeatNote
from cutpurse.server.finished_match import FinishedMatch
from cutpurse.server.hosting.arena import Arena
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.logs import logger
from cutpurse.server.matches.lobby import Lobby
from cutpurse.v1 import arena_pb2, game_pb2, game_pb2_grpc
from tests.server.dialling import Bot, Ended
from tests.server.stores import Taken

__all__ = ["conversation"]

HELLO = arena_pb2.Hello(
    protocol_major=1,
    sdk="my-language 0.1",
    bot="my_bot",
    games=[arena_pb2.GameWanted(game="greed")],
    max_tables=1,
)


class Noted(Taken):
    """Keeps what all bots had to say."""

    def __init__(self) -> None:
        self.notes: list[SeatNote] = []

    def take(self, result: FinishedMatch) -> None:
        self.notes += [note for seat in result.seats for note in seat.notes]


def fixed_chance() -> Callable[[int], bytes]:
    """Bytes that are always the same, and can be read."""
    drawn = 0

    def entropy(count: int) -> bytes:
        nonlocal drawn
        drawn += 1
        return sha256(f"{drawn}".encode()).hexdigest().encode()[:count]

    return entropy


class Recorder:
    """What was said, by the name under which the page shows it."""

    def __init__(self) -> None:
        self.said: dict[str, Message] = {}

    def once(self, name: str, message: Message) -> None:
        """Keep the first of this name."""
        if name not in self.said:
            self.said[name] = message


def only(response: arena_pb2.PlayResponse, field: str, numbered: bool) -> arena_pb2.PlayResponse:
    """One list of an envelope; its number too, where it does not hang on the clock."""
    alone = arena_pb2.PlayResponse(envelope=response.envelope if numbered else 0)
    getattr(alone, field).extend(getattr(response, field))
    return alone


async def _plays(bot: Bot, recorder: Recorder | None) -> None:
    """Take the safe option of every decision; of the first, try one that does not exist before."""
    response = await bot.read()
    tried = recorder is None
    while True:
        answers = []
        if recorder is not None:
            for field in ("starts", "decisions", "refusals", "ends"):
                if len(getattr(response, field)):
                    recorder.once(field, only(response, field, numbered=field != "ends"))
        for asked in response.decisions:
            option = asked.safe_option if tried else len(asked.options)
            safe = asked.safe_option
            answers.append(arena_pb2.Answer(table=asked.table, decision=asked.decision, option=option))
        for refusal in response.refusals:
            answers.append(arena_pb2.Answer(table=refusal.table, decision=refusal.decision, option=safe))
        request = arena_pb2.PlayRequest(received=response.envelope, answers=answers)
        if recorder is not None and answers:
            recorder.once("answer" if tried else "illegal", request)
            tried = True
        if response.ends:
            request.leaving = True
            if recorder is not None:
                recorder.once("leave", arena_pb2.PlayRequest(leaving=request.leaving))
        await bot.send(request)
        if response.ends:
            return
        response = await bot.read()


async def _says_something(bot: Bot, recorder: Recorder) -> None:
    """Say something about the first decision, and go on as `_plays` does."""
    response = await bot.read_until("decisions")
    (asked,) = response.decisions
    noted = arena_pb2.PlayRequest(
        answers=[arena_pb2.Answer(table=asked.table, decision=asked.decision, option=asked.safe_option)],
        notes=[arena_pb2.Note(table=asked.table, decision=asked.decision, text="plays low\nkeeps what raids")],
    )
    recorder.once("noted", noted)
    sent = arena_pb2.PlayRequest(received=response.envelope)
    sent.MergeFrom(noted)
    await bot.send(sent)
    await _plays(bot, None)


async def conversation() -> dict[str, str]:
    """The payloads by name, in protobuf's text format."""
    recorder, taken = Recorder(), Noted()
    entropy = fixed_chance()
    log = logger(sys.stderr, "error")
    lobby = Lobby(
        [Ladder("greed", "greed", 2, matches_wanted=1)],
        taken,
        entropy=entropy,
        utc=lambda: datetime(2026, 1, 1, tzinfo=UTC),
        log=log,
    )
    arena = Arena("127.0.0.1:0", lobby, log, entropy=entropy)
    address = await arena.start()
    try:
        async with grpc.aio.insecure_channel(address) as channel:
            await _other_version(Bot(channel), recorder)
            bot, other = Bot(channel), Bot(channel)
            hello = arena_pb2.PlayRequest(hello=HELLO)
            recorder.once("hello", hello)
            await bot.send(hello)
            recorder.once("welcome", await bot.read())
            await bot.say()
            await other.say_hello("other", features=["notes"])
            await asyncio.gather(_plays(bot, recorder), _says_something(other, recorder))
            noted = recorder.said["noted"]
            assert isinstance(noted, arena_pb2.PlayRequest)
            assert taken.notes == [SeatNote(note.decision, note.text) for note in noted.notes]
            start = recorder.said["starts"]
            assert isinstance(start, arena_pb2.PlayResponse)
            asked = game_pb2.GetGameRequest(game="greed", seats=len(start.starts[0].seats))
            recorder.once("get_game", asked)
            catalogue = (await game_pb2_grpc.GameServiceStub(channel).GetGame(asked)).catalogue
            assert catalogue.digest == start.starts[0].catalogue_digest
            recorder.once("catalogue", _shortened(catalogue))
    finally:
        await arena.stop()
    return {name: as_text(message) for name, message in recorder.said.items()}


def as_text(message: Message) -> str:
    """A payload as the page shows it."""
    return text_format.MessageToString(message, use_short_repeated_primitives=True).rstrip("\n")


async def _other_version(bot: Bot, recorder: Recorder) -> None:
    """A call that fails."""
    await bot.say_hello("my_bot", protocol_major=2)
    try:
        await bot.read()
    except Ended:
        pass
    for key, value in await bot.call.trailing_metadata():
        if key == "grpc-status-details-bin":
            recorder.once("status", status_pb2.Status.FromString(value))


def _shortened(catalogue: game_pb2.Catalogue) -> game_pb2.Catalogue:
    """The catalogue of Greed without most of it: the rules' text, and all but a few entries of each list."""
    short = game_pb2.Catalogue(game=catalogue.game, digest=catalogue.digest)
    short.cards.extend(catalogue.cards[:2])
    short.zone_kinds.append(catalogue.zone_kinds[3])
    short.verbs.extend(catalogue.verbs[:2])
    short.asks.append(catalogue.asks[0])
    return short
