"""LadderService over gRPC: callers query the league, and those with the right scope change it.

Queries run on a few threads. They never run on the event loop, which keeps the bots' clocks, nor on the thread that
stores results. Each address has a limited number of simultaneous calls. The lobby is queried on the loop. This module
knows who a caller is; `league_queries` knows what they may see.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol, TypeAlias, TypeVar

import grpc
from google.protobuf.message import Message

from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.seasons import SeasonState
from cutpurse.leaderboard.tokens import HOUSE, NOBODY, PEOPLE
from cutpurse.leaderboard.tournaments import TournamentEntry
from cutpurse.server.access.entrance import AuthInterceptor, Context
from cutpurse.server.access.owners import Grant, address_of, check_scope
from cutpurse.server.act_log import ActLog
from cutpurse.server.call_status import abort, status_of
from cutpurse.server.errors import CallRefused, CallStatus
from cutpurse.server.forwarding.forwarder import Forwarder, moving
from cutpurse.server.forwarding.merging import ladders_in_play, merge
from cutpurse.server.ladder_config import Ladder, ladder_of
from cutpurse.server.league.league_queries import STRANGER, Answers, Caller, may_see
from cutpurse.server.league.presence import NOWHERE, LiveMatchView, OnlineBotView, Presence
from cutpurse.server.league.seasons import Seasons
from cutpurse.server.league.steering import LadderAdmin
from cutpurse.server.league.tournaments import Tournaments
from cutpurse.server.league.version_testing import VersionTesting
from cutpurse.server.logs import Logger
from cutpurse.server.matches.other_arenas import OtherArena, OtherArenas, elsewhere
from cutpurse.server.matches.requests import MatchRequest
from cutpurse.server.matches.start_position import StartPosition
from cutpurse.server.matches.version_tests import VersionTest
from cutpurse.v1 import ladder_pb2

__all__ = [
    "LADDER",
    "LadderService",
    "RunningLeague",
    "RunningLobby",
    "RunningSeasons",
    "RunningTournaments",
    "caller_of",
    "is_of_this_run",
]

LADDER: Final = ladder_pb2.DESCRIPTOR.services_by_name["LadderService"].full_name
THREADS: Final = 2
MOST_BY_ADDRESS: Final = 64  # simultaneous calls: a class of sixty behind one address may ask at the same time
MOST_CALLS: Final = 512  # simultaneous calls of all addresses
MOST_BYTES: Final = 3_500_000  # maximum bytes of an answer: gRPC clients accept 4 MiB by default
SEEN: Final = 20.0  # how long a snapshot of the lobby is reused, as a multiple of the time that it took
PIECE: Final = 65_536  # bytes of a record per message
ONLINE: Final = ("ListLadders", "ListRankings", "ListOpenMatches", "ListBots")  # answers that tell who is online
PLAYED: Final = ("RequestMatch", "StartTest", "PlanTournament", "StartTournament")  # calls that need the ladder's arena

Told = TypeVar("Told")
Handlers: TypeAlias = "Mapping[str, grpc.RpcMethodHandler[Any, Any]]"  # gRPC's own classes are not generic at run time


def caller_of(grant: Grant | None) -> Caller:
    """Return the caller that a grant stands for; a stranger without one."""
    return STRANGER if grant is None else Caller(grant.owner, frozenset(grant.scopes), grant.resident is not None)


def is_of_this_run(caller: Caller) -> bool:
    """Return whether a caller has a token of this server's run, which no other server knows."""
    return caller.is_hosted_bot or caller.owner in (HOUSE, PEOPLE)


class RunningLobby(Protocol):
    """The lobby, as queried on the event loop."""

    def here(self) -> Sequence[OnlineBotView]:
        """List all online bots."""

    def open_matches(self) -> Sequence[LiveMatchView]:
        """List the open matches."""

    def unstored_matches(self) -> Sequence[LiveMatchView]:
        """List the finished matches whose results are not stored yet."""

    def requested(self, name: str) -> str:
        """Return the state of a requested match; thread-safe."""

    def request(self, wanted: MatchRequest, now: float) -> str:
        """Queue an unrated match, and return its ID.

        Raises:
            CallRefused: If it cannot be played.
        """

    def ladder_named(self, name: str) -> Ladder | None:
        """Return the ladder of this name, or None if this server does not play it."""

    def set_ladder(self, ladder: Ladder) -> None:
        """Add a ladder, or put its new terms in force."""

    def remove_ladder(self, name: str) -> None:
        """Remove a ladder.

        Raises:
            CallRefused: If a match is being played there.
        """

    def lifted(self, identity: Identity) -> None:
        """End the pause of a version."""

    def start_test(self, test: VersionTest) -> None:
        """Deal boards for a version test from now on."""

    def stop_test(self, test: str) -> None:
        """Deal no more boards for a version test."""


class RunningTournaments(Protocol):
    """The tournaments that are played, as used on the event loop."""

    def begin(self) -> None:
        """Go on with the tournaments of an earlier server, and play those that are started."""

    def close(self) -> None:
        """Play no more; the tournaments go on when the server is started again."""

    def start(self, entry: TournamentEntry) -> None:
        """Play a tournament from now on."""

    def stop(self, tournament: str) -> None:
        """Play no more boards of a tournament."""


class RunningSeasons(Protocol):
    """The seasons that are played, as used on the event loop."""

    def begin(self) -> None:
        """Go on with the seasons of an earlier server, and play those that are started."""

    def close(self) -> None:
        """Play no more; the seasons go on when the server is started again."""

    async def start(self, state: SeasonState) -> None:
        """Play a series from now on."""

    async def stop(self, state: SeasonState) -> None:
        """Play no more of a series that was stopped."""


@dataclass(frozen=True, slots=True)
class RunningLeague:
    """The parts of a league on a running server.

    Attributes:
        answers: Answers queries.
        steering: Changes ladders and pauses.
        lobby: Where matches are played.
        other_arenas: Ladders of other arenas, which may also lease new ones; None if all are played here.
        testing: Version tests; None if none are played.
        tournaments: Tournaments, and those that are played; None if none are.
        seasons: Seasons, and those that are played; None if none are.
    """

    answers: Answers
    steering: LadderAdmin
    lobby: RunningLobby
    other_arenas: OtherArenas | None = None
    testing: VersionTesting | None = None
    tournaments: tuple[Tournaments, RunningTournaments] | None = None
    seasons: tuple[Seasons, RunningSeasons] | None = None


class LadderService:
    """`LadderService` of ladder.proto. Close it once no call is answered any more."""

    def __init__(
        self,
        league: RunningLeague,
        entrance: AuthInterceptor,
        log: Logger,
        *,
        incident_number: Callable[[], str],
        acts: ActLog | None = None,
        more: Handlers | None = None,
        forwarder: Forwarder | None = None,
    ) -> None:
        """Serve a league.

        Args:
            league: Answers, changes and the lobby.
            entrance: Authenticates calls.
            log: The server's log.
            incident_number: Returns a new incident number.
            acts: Where changes of ladders and pauses are noted; None means nowhere.
            more: Handlers of further methods of the service.
            forwarder: The way to other arenas; None if there are none.
        """
        self._answers = league.answers
        self._steering = league.steering
        self._lobby = league.lobby
        self._other_arenas = league.other_arenas
        self._tournaments = league.tournaments
        self._seasons = league.seasons
        self._testing = league.testing
        self._steered_ladders = _steered_ladders(league)
        self._entrance = entrance
        self._log = log
        self._incident_number = incident_number
        self._acts = acts or ActLog()
        self._more = dict(more or {})
        self._forwarder = forwarder
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="league")
        self._calls: Counter[str] = Counter()  # calls being answered, by address
        self._last_seen, self._seen_until = NOWHERE, 0.0
        self._steers = asyncio.Lock()  # so that changes take effect in the order of writing
        self._steered: set[asyncio.Task[bytes]] = set()  # changes that go on even if their callers leave

    def close(self) -> None:
        """Stop the threads; there must be no more calls."""
        self._threads.shutdown(cancel_futures=True)

    def handler(self) -> grpc.GenericRpcHandler:
        """Return the handler to add to a `grpc.aio.server`."""
        answers = self._answers
        reads: dict[str, tuple[type[Message], Callable[[Any, Caller, Presence], Message]]] = {
            "ListLadders": (ladder_pb2.ListLaddersRequest, answers.list_ladders),
            "ListRankings": (ladder_pb2.ListRankingsRequest, answers.list_rankings),
            "ListHistory": (ladder_pb2.ListHistoryRequest, answers.list_history),
            "ListOpponents": (ladder_pb2.ListOpponentsRequest, answers.list_opponents),
            "ListMatches": (ladder_pb2.ListMatchesRequest, answers.list_matches),
            "ListOpenMatches": (ladder_pb2.ListOpenMatchesRequest, answers.list_open_matches),
            "GetMatch": (ladder_pb2.GetMatchRequest, answers.get_match),
            "ListBots": (ladder_pb2.ListBotsRequest, answers.list_bots),
        }
        methods: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            name: grpc.unary_unary_rpc_method_handler(self._reading(name, kind, answer))
            for name, (kind, answer) in reads.items()
        }
        methods["ListLogs"] = grpc.unary_unary_rpc_method_handler(
            self._reading("ListLogs", ladder_pb2.ListLogsRequest, answers.list_logs, "read", "admin")
        )
        changes = [
            ("CreateLadder", "admin", self._create),
            ("ChangeLadder", "admin", self._change),
            ("DeleteLadder", "admin", self._delete),
            ("RequestMatch", "play", self._request),
            ("LiftPause", "play", self._lift),
        ]
        if (testing := self._testing) is not None:
            asking = ("play", "read", "admin")
            for name, kind, answer in (
                ("ListTests", ladder_pb2.ListTestsRequest, testing.list),
                ("GetTest", ladder_pb2.GetTestRequest, testing.get),
            ):
                methods[name] = grpc.unary_unary_rpc_method_handler(self._reading(name, kind, answer, *asking))
            changes += [
                ("StartTest", "play", partial(self._start_test, testing)),
                ("StopTest", "play", partial(self._stop_test, testing)),
            ]
        if self._tournaments is not None:
            tournaments, playing = self._tournaments
            plan = self._reading("PlanTournament", ladder_pb2.PlanTournamentRequest, tournaments.plan, "admin")
            listing = self._reading("ListTournaments", ladder_pb2.ListTournamentsRequest, tournaments.list)
            get = self._reading("GetTournament", ladder_pb2.GetTournamentRequest, tournaments.get)
            for name, read in (("PlanTournament", plan), ("ListTournaments", listing), ("GetTournament", get)):
                methods[name] = grpc.unary_unary_rpc_method_handler(read)
            changes += [
                ("StartTournament", "admin", partial(self._start_tournament, tournaments, playing)),
                ("StopTournament", "admin", partial(self._stop_tournament, tournaments, playing)),
            ]
        if self._seasons is not None and self._tournaments is not None:
            seasons, season_play = self._seasons
            plan = self._reading("PlanSeason", ladder_pb2.PlanSeasonRequest, seasons.plan, "admin")
            listing = self._reading("ListSeasons", ladder_pb2.ListSeasonsRequest, seasons.list)
            get = self._reading("GetSeason", ladder_pb2.GetSeasonRequest, seasons.get)
            for name, read in (("PlanSeason", plan), ("ListSeasons", listing), ("GetSeason", get)):
                methods[name] = grpc.unary_unary_rpc_method_handler(read)
            changes += [
                ("StartSeason", "admin", partial(self._start_season, seasons, season_play)),
                ("StopSeason", "admin", partial(self._stop_season, seasons, season_play, self._tournaments[1])),
            ]
        methods["GetRecord"] = grpc.unary_stream_rpc_method_handler(self.get_record)
        for name, scope, steer in changes:
            methods[name] = grpc.unary_unary_rpc_method_handler(self._writing(name, scope, steer))
        return grpc.method_handlers_generic_handler(LADDER, {**methods, **self._more})

    def _reading(
        self, name: str, kind: type[Message], answer: Callable[[Any, Caller, Presence], Message], *scopes: str
    ) -> Callable[[bytes, Context], Awaitable[bytes]]:
        """Wrap a query, open to all callers or to tokens with one of these scopes."""

        async def read(request: bytes, context: Context) -> bytes:
            async def told(caller: Caller) -> bytes:
                with self._turn(context):
                    if (passed_on := await self._passed_on(name, request, caller, context)) is not None:
                        return passed_on
                    presence = self._seen()
                    asked = kind.FromString(request)
                    if self._forwarder is None:
                        return await self._apart(lambda: _sized(answer(asked, caller, presence)))
                    own = await self._apart(lambda: answer(asked, caller, presence))  # first, since it may be a refusal
                    arenas = self._asked_too(name, asked, own, caller, context)
                    if not arenas:
                        return await self._apart(lambda: _sized(own))
                    more = await self._forwarder.ask_all(arenas, f"/{LADDER}/{name}", request, context)
                    others = {arena.address: told for arena, told in more.items()}
                    address_of = self._forwarder.others.address_of
                    return await self._apart(lambda: _sized(merge(own, others, address_of)))

            return await self._guarded(told, context, *scopes)

        return read

    def _asked_too(
        self, name: str, asked: Any, own: Message, caller: Caller, context: Context
    ) -> Collection[OtherArena]:
        """Return the other arenas that complete this arena's own answer."""
        forwarder = self._forwarder
        if forwarder is None or is_of_this_run(caller) or forwarder.is_forwarded(context):
            return ()
        if name not in ONLINE:
            found = map(forwarder.others.arena_of, ladders_in_play(own))
            return dict.fromkeys(arena for arena in found if arena is not None)
        if name in ("ListLadders", "ListBots") or not asked.ladder:
            return forwarder.others.arenas
        arena = forwarder.others.arena_of(asked.ladder)
        return () if arena is None else (arena,)

    def _writing(
        self, name: str, scope: str, steer: Callable[[bytes, Caller], Coroutine[Any, Any, Message]]
    ) -> Callable[[bytes, Context], Awaitable[bytes]]:
        """Wrap a change: once begun, it goes on even if its caller leaves."""

        async def write(request: bytes, context: Context) -> bytes:
            async def told(caller: Caller) -> bytes:
                async def steered() -> bytes:
                    # until its end: otherwise a caller could leave, call again, and evade the limit
                    with self._turn(context):
                        if (passed_on := await self._passed_on(name, request, caller, context)) is not None:
                            return passed_on
                        return _sized(await steer(request, caller))

                task = asyncio.get_running_loop().create_task(steered())
                self._steered.add(task)
                task.add_done_callback(self._settle)
                try:
                    return await asyncio.shield(task)
                finally:
                    del task  # its exception leads to this frame, which would lead back to the task

            return await self._guarded(told, context, scope)

        return write

    async def _passed_on(self, name: str, request: bytes, caller: Caller, context: Context) -> bytes | None:
        """Return the answer of the arena whose ladder a call is about; None if this arena answers.

        Raises:
            CallRefused: SILENT if no arena has the ladder and one is needed; ELSEWHERE if the call was passed on to
                this arena, which has lost the ladder meanwhile.
        """
        ladder_of, others = self._steered_ladders.get(name), self._other_arenas
        if ladder_of is None or others is None:
            return None
        ladder = others.ladder_named(await self._apart(lambda: ladder_of(request, caller)))
        if ladder is None or not may_see(caller, ladder.terms):
            return None
        arena = others.arena_of(ladder.name)
        if arena is None:
            if name in PLAYED:
                raise moving(ladder.name)
            return None  # the database is enough
        if self._forwarder is None or is_of_this_run(caller) or self._forwarder.is_forwarded(context):
            raise elsewhere(ladder.name, arena.address)
        return await self._forwarder.ask(arena, f"/{LADDER}/{name}", request, context)

    def _settle(self, task: asyncio.Task[bytes]) -> None:
        self._steered.discard(task)
        if not task.cancelled():
            task.exception()  # the caller gets it, or has left

    async def _create(self, request: bytes, caller: Caller) -> Message:
        asked = ladder_pb2.CreateLadderRequest.FromString(request)
        async with self._steers:
            made = await self._apart(lambda: self._steering.create(asked))
            for entry in made if self._other_arenas is None else ():
                self._lobby.set_ladder(ladder_of(entry))
        for entry in made:
            self._log.info("ladder made", ladder=entry.name, game=entry.game, by=caller.owner)
        await self._note(caller, "ladder created", ", ".join(entry.name for entry in made))
        first, *others = [self._answers.shown(entry, self._presence()) for entry in made]
        return ladder_pb2.CreateLadderResponse(ladder=first, more=others)

    async def _change(self, request: bytes, caller: Caller) -> Message:
        asked = ladder_pb2.ChangeLadderRequest.FromString(request)
        async with self._steers:
            entry = await self._apart(lambda: self._steering.change(asked, caller))
            if self._lobby.ladder_named(entry.name) is not None:  # otherwise this server plays other games
                self._lobby.set_ladder(ladder_of(entry))
        frozen = None if entry.terms.frozen is None else entry.terms.frozen.isoformat()
        self._log.info("ladder changed", ladder=entry.name, frozen=frozen, by=caller.owner)
        await self._note(caller, "ladder changed", entry.name if frozen is None else f"{entry.name}, frozen {frozen}")
        return ladder_pb2.ChangeLadderResponse(ladder=self._answers.shown(entry, self._presence()))

    async def _delete(self, request: bytes, caller: Caller) -> Message:
        asked = ladder_pb2.DeleteLadderRequest.FromString(request)
        async with self._steers:
            entry = await self._apart(lambda: self._steering.deletable(asked, caller))
            shown = self._answers.shown(entry, self._presence())
            ladder = self._lobby.ladder_named(entry.name)
            if ladder is not None:
                self._lobby.remove_ladder(entry.name)  # first, so that no match begins there meanwhile
            try:
                await self._apart(lambda: self._steering.delete(entry))
            except Exception:
                if ladder is not None:
                    self._lobby.set_ladder(ladder)
                raise
        self._log.info("ladder deleted", ladder=entry.name, game=entry.game, by=caller.owner)
        await self._note(caller, "ladder deleted", entry.name)
        return ladder_pb2.DeleteLadderResponse(ladder=shown)

    async def _request(self, request: bytes, caller: Caller) -> Message:
        asked = ladder_pb2.RequestMatchRequest.FromString(request)
        presence = self._presence()
        ladder, bots = await self._apart(lambda: self._answers.chosen(asked, caller, presence))
        position = await self._position(asked, ladder, caller, presence)
        by = caller.owner or NOBODY
        seed = asked.seed if asked.HasField("seed") else None
        wanted = MatchRequest(ladder, bots, seed, by, caller.is_admin, position)
        match = self._lobby.request(wanted, asyncio.get_running_loop().time())
        self._log.info("match requested", match=match, ladder=ladder, bots=[bot.shown for bot in bots], by=by)
        return ladder_pb2.RequestMatchResponse(match=match)

    async def _position(
        self, asked: ladder_pb2.RequestMatchRequest, ladder: str, caller: Caller, presence: Presence
    ) -> StartPosition | None:
        """Return the position that a request names, if it names one.

        Raises:
            CallRefused: NOT_YOURS, for all but people on the page, since a replay takes time; or as `position`.
        """
        rules = self._lobby.ladder_named(ladder)
        if not asked.HasField("position") or rules is None:  # without the ladder, the lobby refuses the request
            return None
        if caller.owner != PEOPLE:
            raise CallRefused("NOT_YOURS", "only people on the page play on from a position")
        return await self._apart(lambda: self._answers.position(asked.position, rules, caller, presence))

    async def _lift(self, request: bytes, caller: Caller) -> Message:
        asked = ladder_pb2.LiftPauseRequest.FromString(request)
        identity = await self._apart(lambda: self._steering.lift(asked, caller))
        self._lobby.lifted(identity)
        self._log.info("pause lifted", bot=identity.shown, by=caller.owner)
        await self._note(caller, "pause lifted", identity.shown)
        presence = self._presence()
        return ladder_pb2.LiftPauseResponse(
            bot=await self._apart(lambda: self._answers.bot(identity, caller, presence))
        )

    async def _start_test(self, testing: VersionTesting, request: bytes, caller: Caller) -> Message:
        asked = ladder_pb2.StartTestRequest.FromString(request)
        presence = self._presence()
        async with self._steers:  # so that quotas hold
            test = await self._apart(lambda: testing.start(asked, caller, presence))
            self._lobby.start_test(test)
        self._log.info("version test started", test=test.id, ladder=test.ladder, new=test.new.shown, old=test.old.shown)
        await self._note(caller, "version test started", f"{test.new.shown} against {test.old.shown}")
        return ladder_pb2.StartTestResponse(test=await self._apart(lambda: testing.shown(test.id, caller)))

    async def _stop_test(self, testing: VersionTesting, request: bytes, caller: Caller) -> Message:
        asked = ladder_pb2.StopTestRequest.FromString(request)
        async with self._steers:
            test = await self._apart(lambda: testing.stop(asked, caller))
            self._lobby.stop_test(test)
        self._log.info("version test stopped", test=test, by=caller.owner)
        await self._note(caller, "version test stopped", test)
        return ladder_pb2.StopTestResponse(test=await self._apart(lambda: testing.shown(test, caller)))

    async def _start_tournament(
        self, tournaments: Tournaments, playing: RunningTournaments, request: bytes, caller: Caller
    ) -> Message:
        asked = ladder_pb2.StartTournamentRequest.FromString(request)
        presence = self._presence()
        async with self._steers:
            entry = await self._apart(lambda: tournaments.start(asked, caller, presence))
            playing.start(entry)
        self._log.info("tournament started", tournament=entry.id, ladder=entry.ladder, plan=asked.plan, by=caller.owner)
        await self._note(caller, "tournament started", f"{entry.id} on {entry.ladder}, plan {asked.plan}")
        return ladder_pb2.StartTournamentResponse(tournament=await self._apart(lambda: tournaments.shown(entry)))

    async def _stop_tournament(
        self, tournaments: Tournaments, playing: RunningTournaments, request: bytes, caller: Caller
    ) -> Message:
        asked = ladder_pb2.StopTournamentRequest.FromString(request)
        async with self._steers:
            entry = await self._apart(lambda: tournaments.stop(asked, caller))
            playing.stop(entry.id)
        self._log.info("tournament stopped", tournament=entry.id, by=caller.owner)
        await self._note(caller, "tournament stopped", f"{entry.id} on {entry.ladder}")
        return ladder_pb2.StopTournamentResponse(tournament=await self._apart(lambda: tournaments.shown(entry)))

    async def _start_season(self, seasons: Seasons, playing: RunningSeasons, request: bytes, caller: Caller) -> Message:
        asked = ladder_pb2.StartSeasonRequest.FromString(request)
        async with self._steers:
            state = await self._apart(lambda: seasons.start(asked, caller))
            await playing.start(state)
        series = state.series
        self._log.info("seasons started", series=series.id, name=series.name, plan=asked.plan, by=caller.owner)
        await self._note(caller, "seasons started", f"{series.id}, {series.name}, plan {asked.plan}")
        return ladder_pb2.StartSeasonResponse(season=await self._apart(lambda: seasons.shown(state)))

    async def _stop_season(
        self,
        seasons: Seasons,
        playing: RunningSeasons,
        finals: RunningTournaments,
        request: bytes,
        caller: Caller,
    ) -> Message:
        asked = ladder_pb2.StopSeasonRequest.FromString(request)
        async with self._steers:
            state = await self._apart(lambda: seasons.stop(asked, caller))
            if state.tournament:
                finals.stop(state.tournament)
            await playing.stop(state)
        self._log.info("seasons stopped", series=state.series.id, name=state.series.name, by=caller.owner)
        await self._note(caller, "seasons stopped", f"{state.series.id}, {state.series.name}")
        return ladder_pb2.StopSeasonResponse(season=await self._apart(lambda: seasons.shown(state)))

    async def _note(self, caller: Caller, what: str, about: str) -> None:
        by = caller.owner or NOBODY
        await self._apart(lambda: self._acts.note(by, what, about))

    def _presence(self) -> Presence:
        """Take a snapshot of the lobby, on the event loop; takes 1 ms for a thousand bots."""
        lobby = self._lobby
        return Presence(lobby.here(), lobby.open_matches(), lobby.requested, lobby.unstored_matches())

    def _seen(self) -> Presence:
        """Return a recent snapshot for queries, which costs at most a twentieth of the loop's time."""
        now = asyncio.get_running_loop().time()
        if now >= self._seen_until:
            began = time.thread_time()
            self._last_seen = self._presence()
            self._seen_until = now + SEEN * (time.thread_time() - began)
        return self._last_seen

    async def get_record(self, request: bytes, context: Context) -> None:
        """Answer GetRecord: send the file of a match in pieces."""

        async def told(caller: Caller) -> None:
            asked = ladder_pb2.GetRecordRequest
            with self._turn(context):
                file = await self._apart(lambda: self._answers.match_file(asked.FromString(request), caller))
                for at in range(0, len(file), PIECE):
                    piece = ladder_pb2.GetRecordResponse(piece=file[at : at + PIECE])
                    await context.write(piece.SerializeToString())

        await self._guarded(told, context)

    async def _caller(self, context: Context, *scopes: str) -> Caller:
        """Return the caller of a call. With scopes, a token with one of them is required.

        Raises:
            TokenRefused: If the token is invalid, or lacks the scopes.
        """
        grant = await self._entrance.recognise(context)
        if scopes:
            check_scope(grant, *scopes)
        return caller_of(grant)

    async def _guarded(
        self, answer: Callable[[Caller], Awaitable[Told]], context: Context, *scopes: str
    ) -> Told | bytes:
        """Answer an authorized caller, or end the call."""
        try:
            return await answer(await self._caller(context, *scopes))
        except grpc.aio.BaseError:  # the caller has left
            raise
        except Exception as problem:
            how = self._ending(problem)
        return await abort(context, how)

    @contextmanager
    def _turn(self, context: Context) -> Iterator[None]:
        """Count a call while it is answered. A delayed refusal of its token does not count.

        Raises:
            CallRefused: STREAMS if there are too many calls.
        """
        forwarder = self._forwarder
        address = address_of(context.peer()) if forwarder is None else forwarder.caller_address(context)
        if self._calls[address] >= MOST_BY_ADDRESS:
            raise CallRefused("STREAMS", f"{MOST_BY_ADDRESS} calls from this address are being answered; wait for one")
        if self._calls.total() >= MOST_CALLS:
            raise CallRefused("STREAMS", f"{MOST_CALLS} calls are being answered; come back later")
        self._calls[address] += 1
        try:
            yield
        finally:
            self._calls[address] -= 1
            if not self._calls[address]:
                del self._calls[address]

    async def _apart(self, work: Callable[[], Told]) -> Told:
        """Run `work` on a thread; cancel it if the caller leaves before it begins."""
        return await asyncio.wrap_future(self._threads.submit(work))

    def _ending(self, problem: Exception) -> CallStatus:
        unable = "the league cannot be read now; nothing was changed"
        return status_of(problem, self._log, self._incident_number, in_trouble="league not read", unable=unable)


def _steered_ladders(league: RunningLeague) -> Mapping[str, Callable[[bytes, Caller], str]]:
    """Return how to find the ladder of a call that only its arena answers, by method."""
    found: dict[str, Callable[[bytes, Caller], str]] = {
        "ChangeLadder": lambda request, caller: ladder_pb2.ChangeLadderRequest.FromString(request).ladder,
        "DeleteLadder": lambda request, caller: ladder_pb2.DeleteLadderRequest.FromString(request).ladder,
        "RequestMatch": lambda request, caller: ladder_pb2.RequestMatchRequest.FromString(request).ladder,
        "StartTest": lambda request, caller: ladder_pb2.StartTestRequest.FromString(request).ladder,
        "PlanTournament": lambda request, caller: ladder_pb2.PlanTournamentRequest.FromString(request).wanted.ladder,
        "StartTournament": lambda request, caller: ladder_pb2.StartTournamentRequest.FromString(request).wanted.ladder,
    }
    if (testing := league.testing) is not None:
        found["StopTest"] = lambda request, caller: testing.ladder_of(
            ladder_pb2.StopTestRequest.FromString(request).test, caller
        )
    if league.tournaments is not None:
        tournaments = league.tournaments[0]
        found["StopTournament"] = lambda request, caller: tournaments.ladder_of(
            ladder_pb2.StopTournamentRequest.FromString(request).tournament, caller
        )
    return found


def _sized(answer: Message) -> bytes:
    """Encode an answer.

    Raises:
        CallRefused: If it is larger than clients accept.
    """
    if answer.ByteSize() > MOST_BYTES:
        raise CallRefused("BAD_MESSAGE", f"the answer would have {answer.ByteSize():,} bytes; ask for less of it")
    return answer.SerializeToString()
