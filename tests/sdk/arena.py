"""A small server for tests: a real gRPC server on a real socket with real matches, independent of the product's server.

Each bot plays its own matches against seats that answer at random. One coroutine per stream is enough, because a bot
answers each envelope with at least one. A test can define when streams break, with which status they end, and what else
is sent.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import grpc
import grpc.aio
from google.protobuf import any_pb2, duration_pb2
from google.rpc import code_pb2, error_details_pb2, status_pb2

from cutpurse.engine.commitment import board_key, commitment
from cutpurse.engine.errors import IllegalAnswer, WrongDecision
from cutpurse.engine.match import CORRECTIONS, FAULTS, EndCause, Match
from cutpurse.games import GAMES
from cutpurse.v1 import arena_pb2, game_pb2, ladder_pb2
from cutpurse.wire.catalogue import catalogue_of, settings_on_the_wire
from cutpurse.wire.encode import MatchEncoder

__all__ = ["Arena", "Ending", "Meeting", "arena", "others_chance"]


@dataclass
class Meeting:
    """A match with one seat for the bot; the others answer at random, deterministic by number."""

    number: int  # table number
    game: str
    seats: int
    seat: int
    bot: str
    told: int = 0
    ended: bool = False  # the next envelope reports it to the bot
    known: bool = False  # the bot has acknowledged the end
    corrections: int = CORRECTIONS

    def __post_init__(self) -> None:
        self.name = f"{self.number:04x}{sha256(self.game.encode()).hexdigest()[:12]}"
        self.seed = sha256(self.name.encode()).digest()
        self.params = json.dumps({"board": self.name, "game": self.game}).encode()
        names = [self.bot if seat == self.seat else "random" for seat in range(self.seats)]
        self.match = Match(GAMES[self.game], names, board_key(self.seed, self.params), log=True, ask_all=True)
        self.encoder = MatchEncoder(GAMES[self.game], self.match.game.settings, self.seats)
        self.others = others_chance(self.game, self.number)
        self.play_others()

    def play_others(self) -> None:
        """Let all other seats answer their decisions."""
        while asked := next((one for one in self.match.decisions() if one.seat != self.seat), None):
            count = len(asked.options)  # one option draws no random number, as in local play, which does not ask
            self.match.answer(asked.seat, asked.number, int(self.others.random() * count) if count > 1 else 0)

    def started(self) -> arena_pb2.MatchStarted:
        """Return the MatchStarted message."""
        rules, settings = GAMES[self.game], self.match.game.settings
        return arena_pb2.MatchStarted(
            table=self.number,
            match=self.name,
            game=self.game,
            rules_version=rules.words.version,
            catalogue_digest=catalogue_of(rules, self.seats, settings.changed()).digest,
            settings=settings_on_the_wire(settings),
            seat=self.seat,
            seats=[arena_pb2.SeatTaken(bot=name, version="1") for name in self.match.seats],
            clock=arena_pb2.Clock(base_ms=1000, bank_ms=10_000, corrections=CORRECTIONS, max_faults=FAULTS),
            commitment=commitment(self.seed, self.params),
            board=self.name,
        )

    def decision(self) -> arena_pb2.Decision | None:
        """Return the open Decision of the bot, if any, with the events since the last one."""
        asked = self.match.decision(self.seat)
        if asked is None:
            return None
        game, log = self.match.game, self.match.game.log
        assert log is not None
        since, self.told = self.told, len(log)
        body = self.encoder.decision(
            table=self.number,
            number=asked.number,
            ask=asked.ask,
            options=asked.options,
            observation=self.encoder.observation_of(game, self.seat, agenda=True),
            events=self.encoder.events(7, log[since:], self.seat),
            first_event=since,
            base_left_ms=1000,
            bank_left_ms=10_000,
            safe_option=asked.options.index(game.safe_option(self.seat, asked.options)),
        )
        return arena_pb2.Decision.FromString(body)

    def end(self, opened: bool = True) -> arena_pb2.MatchEnded:
        """Return the MatchEnded message."""
        log = self.match.game.log
        assert log is not None
        result = self.match.result()
        ended = arena_pb2.MatchEnded.FromString(self.encoder.events(3, log[self.told :], self.seat))
        ended.table, ended.first_event, ended.rated = self.number, self.told, True
        for place, score, cause in zip(result.places, result.scores, result.end_causes, strict=True):
            number = arena_pb2.EndCause.Value(f"END_CAUSE_{cause.name}")
            ended.seats.append(arena_pb2.SeatOutcome(place=place, score=score, end_cause=number))
        if opened:
            ended.opening.seed, ended.opening.params = self.seed, self.params
        return ended

    def take(self, answer: arena_pb2.Answer) -> arena_pb2.Refusal | None:
        """Process an answer; return the refusal, if it is refused."""
        refusal = arena_pb2.Refusal(table=self.number, decision=answer.decision)
        asked = self.match.decision(self.seat)
        try:
            option = answer.option if answer.HasField("option") else -1
            self.match.answer(self.seat, answer.decision - 1, option)
        except IllegalAnswer:
            assert asked is not None
            refusal.reason = arena_pb2.REFUSAL_REASON_ILLEGAL
            refusal.options_count = len(asked.options)
            refusal.corrections_left = self.corrections
            self.corrections -= 1
            if self.match.decision(self.seat) is asked:
                return refusal
        except WrongDecision:
            refusal.reason = arena_pb2.REFUSAL_REASON_ALREADY_DECIDED
            return refusal
        self.corrections = CORRECTIONS
        self.play_others()
        return refusal if refusal.reason else None


def others_chance(game: str, number: int) -> random.Random:
    """Return the random stream of the other seats of a match."""
    return random.Random(f"{game}/{number}")


@dataclass
class Ending:
    """The status with which a stream ends."""

    code: grpc.StatusCode = grpc.StatusCode.UNAVAILABLE
    text: str = "broken by the test"
    reason: str = ""
    retry_ms: int = 0


@dataclass
class _Kept:
    """A session, which outlives its streams."""

    name: str
    bot: str
    games: list[str]
    tables: dict[int, Meeting] = field(default_factory=dict)
    wanted: int = 0
    leaving: bool = False
    out: arena_pb2.PlayResponse = field(default_factory=arena_pb2.PlayResponse)


@dataclass
class Arena:
    """The server; `requests` and `hellos` are the received messages, `hellos_at` the times of the latter."""

    games: Sequence[str] = tuple(GAMES)
    matches: int = 1  # per session
    seats: int = 3
    most_tables: int = 8
    address: str = ""
    # Called for each request, with session and number in the stream. A result ends the stream, before the request is
    # processed (False) or after (True).
    breaks: Callable[[str, int], tuple[bool, Ending] | None] = lambda session, number: None
    refuse: list[Ending] = field(default_factory=list)  # answers to the next Hellos
    tamper: Callable[[arena_pb2.PlayResponse], None] = lambda response: None
    hold: Callable[[arena_pb2.PlayRequest], Any] | None = None  # awaited for every request
    hellos: list[arena_pb2.Hello] = field(default_factory=list)
    hellos_at: list[float] = field(default_factory=list)
    requests: list[arena_pb2.PlayRequest] = field(default_factory=list)
    sessions: dict[str, _Kept] = field(default_factory=dict)
    streams: list[Any] = field(default_factory=list)  # their contexts
    heartbeat_ms: int = 15_000
    no_catalogues: int = 0  # number of next GetGame calls that fail
    hold_catalogues: Callable[[], Any] | None = None  # awaited before each answer to GetGame
    ladders: dict[str, str] = field(default_factory=dict)  # game by name of the ladder
    no_ladders: list[Ending] = field(default_factory=list)  # errors for the next ListLadders calls

    async def play(self, requests: Any, context: Any) -> None:
        """Serve ArenaService.Play."""
        self.streams.append(context)
        first = arena_pb2.PlayRequest.FromString(await context.read())
        hello = first.hello
        self.hellos.append(hello)
        self.hellos_at.append(time.monotonic())
        if self.refuse:
            await _end(context, self.refuse.pop(0))
        session = self.sessions.get(hello.resume.session)
        resumed = session is not None
        if hello.HasField("resume") and session is None:
            await _end(context, Ending(grpc.StatusCode.NOT_FOUND, "no such session", "RESUME_EXPIRED"))
        if session is None:
            name = f"session {len(self.sessions)}"
            session = self.sessions[name] = _Kept(name, hello.bot, [one.game for one in hello.games])
        session.wanted = hello.max_tables
        session.leaving |= first.leaving
        session.out = arena_pb2.PlayResponse(
            welcome=arena_pb2.Welcome(
                session=session.name,
                resume_secret=b"secret",
                resumed=resumed,
                max_tables=hello.max_tables,
                most_tables=self.most_tables,
                heartbeat_ms=self.heartbeat_ms,
                server="test",
                bot=hello.bot,
                version=hello.version,
            )
        )
        for meeting in session.tables.values():
            if not meeting.known:
                session.out.starts.append(meeting.started())
                self._go_on(session, meeting)
        await self._follow(session, context)

    async def get_game(self, request: game_pb2.GetGameRequest, context: Any) -> game_pb2.GetGameResponse:
        """Serve GameService.GetGame, for a bot without the SDK's own catalogues."""
        if self.no_catalogues:
            self.no_catalogues -= 1
            await _end(context, Ending(text="no catalogue"))
        if self.hold_catalogues is not None:
            await self.hold_catalogues()
        settings = {setting.name: setting.value for setting in request.settings}
        return game_pb2.GetGameResponse(catalogue=catalogue_of(GAMES[request.game], request.seats, settings))

    async def list_ladders(
        self, request: ladder_pb2.ListLaddersRequest, context: Any
    ) -> ladder_pb2.ListLaddersResponse:
        """Serve LadderService.ListLadders."""
        if self.no_ladders:
            await _end(context, self.no_ladders.pop(0))
        ladders = [ladder_pb2.LadderDefined(name=name, game=game) for name, game in self.ladders.items()]
        return ladder_pb2.ListLaddersResponse(ladders=[ladder_pb2.LadderShown(defined=one) for one in ladders])

    async def _follow(self, session: _Kept, context: Any) -> None:
        sent = number = 0
        received = 0
        ends: list[int] = []  # tables that the last envelope ended
        while True:
            if received == sent:
                self._begin(session)
                if session.out.ByteSize():
                    sent += 1
                    session.out.envelope = sent
                    ends = [end.table for end in session.out.ends]
                    self.tamper(session.out)
                    await context.write(session.out.SerializeToString())
                    session.out = arena_pb2.PlayResponse()
                elif session.leaving and all(meeting.known for meeting in session.tables.values()):
                    return
            if (data := await context.read()) is grpc.aio.EOF:
                return
            request = arena_pb2.PlayRequest.FromString(data)
            number += 1
            self.requests.append(request)
            if self.hold is not None:
                await self.hold(request)
            broken = self.breaks(session.name, number)
            if broken is None or broken[0]:
                self._take(session, request)
            if broken is not None:
                await _end(context, broken[1])
            received = request.received
            for table in ends if received == sent else ():
                session.tables[table].known = True

    def _begin(self, session: _Kept) -> None:
        """Start as many matches as the bot and the test allow."""
        while len(session.tables) < self.matches and not session.leaving:
            if sum(not meeting.ended for meeting in session.tables.values()) >= session.wanted:
                return
            number = len(session.tables) + 1
            games = session.games or self.games
            game = games[number % len(games)]
            meeting = Meeting(number, game, self.seats, number % self.seats, session.bot)
            session.tables[number] = meeting
            session.out.starts.append(meeting.started())
            self._go_on(session, meeting)

    def _take(self, session: _Kept, request: arena_pb2.PlayRequest) -> None:
        session.leaving |= request.leaving
        if request.HasField("max_tables"):
            session.wanted = request.max_tables
        for answer in request.answers:
            meeting = session.tables[answer.table]
            refusal = meeting.take(answer)
            if refusal is None:
                session.out.accepted.append(meeting.number)
            else:
                session.out.refusals.append(refusal)
            if refusal is None or (refusal.reason == arena_pb2.REFUSAL_REASON_ILLEGAL and not refusal.corrections_left):
                self._go_on(session, meeting)
        for give_up in request.give_ups:
            meeting = session.tables[give_up.table]
            if give_up.whole_match:
                meeting.match.take_over(meeting.seat, EndCause.CRASHED, give_up.reason)
            else:
                meeting.match.give_up(meeting.seat, give_up.decision - 1, give_up.reason)
            meeting.play_others()
            self._go_on(session, meeting)

    def _go_on(self, session: _Kept, meeting: Meeting) -> None:
        if (decision := meeting.decision()) is not None:
            session.out.decisions.append(decision)
        elif meeting.match.over:
            session.out.ends.append(meeting.end())
            meeting.ended = True


async def _end(context: Any, ending: Ending) -> None:
    details = [any_pb2.Any(), any_pb2.Any()]
    details[0].Pack(error_details_pb2.ErrorInfo(reason=ending.reason, domain="cutpurse"))
    delay = duration_pb2.Duration()
    delay.FromMilliseconds(ending.retry_ms)
    details[1].Pack(error_details_pb2.RetryInfo(retry_delay=delay))
    wanted = [one for one, there in zip(details, (ending.reason, ending.retry_ms), strict=True) if there]
    status = status_pb2.Status(code=code_pb2.Code.Value(ending.code.name), message=ending.text, details=wanted)
    await context.abort(ending.code, ending.text, (("grpc-status-details-bin", status.SerializeToString()),))


@asynccontextmanager
async def arena(address: str = "127.0.0.1:0", **wishes: Any) -> AsyncIterator[Arena]:
    """Run a server for the length of the block."""
    made = Arena(**wishes)
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    handlers: dict[str, Any] = {"Play": grpc.stream_stream_rpc_method_handler(made.play)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("cutpurse.v1.ArenaService", handlers),))
    games: dict[str, Any] = {
        "GetGame": grpc.unary_unary_rpc_method_handler(
            made.get_game,
            game_pb2.GetGameRequest.FromString,
            game_pb2.GetGameResponse.SerializeToString,
        )
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("cutpurse.v1.GameService", games),))
    ladders: dict[str, Any] = {
        "ListLadders": grpc.unary_unary_rpc_method_handler(
            made.list_ladders,
            ladder_pb2.ListLaddersRequest.FromString,
            ladder_pb2.ListLaddersResponse.SerializeToString,
        )
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("cutpurse.v1.LadderService", ladders),))
    port = server.add_insecure_port(address)
    made.address = address if address.startswith("unix:") else f"127.0.0.1:{port}"
    await server.start()
    try:
        yield made
    finally:
        await server.stop(0)
