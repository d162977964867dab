"""A conversation with a real server, recorded as the payloads that `docs/reference/protocol.md` shows.

Two bots connect over a socket and play one match of Greed. All randomness is fixed, so that every run has the same
messages. What depends on the clock, such as which messages travel together, is not shown.
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

from cutpurse.leaderboard.results import DecisionUsage, FinishedMatch, SeatNote
from cutpurse.server.hosting.arena import Arena, Listening
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
    """A substitute for a store that collects all notes and all usage."""

    def __init__(self) -> None:
        self.notes: list[SeatNote] = []
        self.usages: list[DecisionUsage] = []

    def take(self, result: FinishedMatch) -> None:
        self.notes += [note for seat in result.seats for note in seat.notes]
        self.usages += [usage for seat in result.seats if seat.course is not None for usage in seat.course.usages]


def fixed_chance() -> Callable[[int], bytes]:
    """Return a source of bytes that are always the same, and readable."""
    drawn = 0

    def entropy(count: int) -> bytes:
        nonlocal drawn
        drawn += 1
        return sha256(f"{drawn}".encode()).hexdigest().encode()[:count]

    return entropy


class Recorder:
    """The recorded messages, by their name on the page."""

    def __init__(self) -> None:
        self.said: dict[str, Message] = {}

    def once(self, name: str, message: Message) -> None:
        """Record a message unless there is one of this name."""
        if name not in self.said:
            self.said[name] = message


def only(response: arena_pb2.PlayResponse, field: str, numbered: bool) -> arena_pb2.PlayResponse:
    """Return one list of an envelope, with the envelope's number if that does not depend on the clock."""
    alone = arena_pb2.PlayResponse(envelope=response.envelope if numbered else 0)
    getattr(alone, field).extend(getattr(response, field))
    return alone


async def _plays(bot: Bot, recorder: Recorder | None) -> None:
    """Take the safe option of every decision; for the first decision, try a nonexistent option before."""
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
    """Attach a note and a usage to the first decision, and continue as `_plays` does."""
    response = await bot.read_until("decisions")
    (asked,) = response.decisions
    noted = arena_pb2.PlayRequest(
        answers=[arena_pb2.Answer(table=asked.table, decision=asked.decision, option=asked.safe_option)],
        notes=[arena_pb2.Note(table=asked.table, decision=asked.decision, text="plays low\nkeeps what raids")],
    )
    recorder.once("noted", noted)
    used = arena_pb2.PlayRequest(
        answers=noted.answers,
        usages=[
            arena_pb2.Usage(
                table=asked.table,
                decision=asked.decision,
                input_tokens=2_704,
                output_tokens=61,
                cost_micros=310,
                model="llama3.2",
                fallback=arena_pb2.FALLBACK_TIME,
            )
        ],
    )
    recorder.once("used", used)
    sent = arena_pb2.PlayRequest(received=response.envelope, usages=used.usages)
    sent.MergeFrom(noted)
    await bot.send(sent)
    await _plays(bot, None)


async def conversation() -> dict[str, str]:
    """Record the conversation; return the payloads by name, in protobuf's text format."""
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
    arena = Arena(Listening("127.0.0.1:0"), lobby, log, entropy=entropy)
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
            await other.say_hello("other", features=["notes", "usage"])
            await asyncio.gather(_plays(bot, recorder), _says_something(other, recorder))
            noted = recorder.said["noted"]
            assert isinstance(noted, arena_pb2.PlayRequest)
            assert taken.notes == [SeatNote(note.decision, note.text) for note in noted.notes]
            assert taken.usages == [DecisionUsage(1, 2_704, 61, 310, "llama3.2", "time")]
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
    """Format a payload as the page shows it."""
    return text_format.MessageToString(message, use_short_repeated_primitives=True).rstrip("\n")


async def _other_version(bot: Bot, recorder: Recorder) -> None:
    """Make a call that fails."""
    await bot.say_hello("my_bot", protocol_major=2)
    try:
        await bot.read()
    except Ended:
        pass
    for key, value in await bot.call.trailing_metadata():
        if key == "grpc-status-details-bin":
            recorder.once("status", status_pb2.Status.FromString(value))


def _shortened(catalogue: game_pb2.Catalogue) -> game_pb2.Catalogue:
    """Return the catalogue without the rules' text, and with only a few entries of each list."""
    short = game_pb2.Catalogue(game=catalogue.game, digest=catalogue.digest)
    short.cards.extend(catalogue.cards[:2])
    short.zone_kinds.append(catalogue.zone_kinds[3])
    short.verbs.extend(catalogue.verbs[:2])
    short.asks.append(catalogue.asks[0])
    return short
