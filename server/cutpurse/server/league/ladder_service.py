"""LadderService over gRPC: callers query the league, and those with the right scope change it.

Queries run on a few threads. They never run on the event loop, which keeps the bots' clocks, nor on the thread that
stores results. Each address has a limited number of simultaneous calls. The lobby is queried on the loop. This module
knows who a caller is; `league_queries` knows what they may see.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

import grpc
from google.protobuf.message import Message

from cutpurse.leaderboard.queries import LadderEntry
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.tokens import HOUSE, NOBODY, PEOPLE
from cutpurse.server.access.entrance import AuthInterceptor, Context
from cutpurse.server.act_log import ActLog
from cutpurse.server.errors import CallRefused
from cutpurse.server.ladder_config import Ladder, ladder_of
from cutpurse.server.league.league_calls import LeagueCalls, SeenLobby
from cutpurse.server.league.league_queries import Answers, Caller
from cutpurse.server.league.other_servers import OtherServers
from cutpurse.server.league.presence import Presence
from cutpurse.server.league.steering import LadderAdmin
from cutpurse.server.logs import Logger
from cutpurse.server.matches.requests import MatchRequest
from cutpurse.server.matches.start_position import StartPosition
from cutpurse.v1 import ladder_pb2

__all__ = [
    "LADDER",
    "LadderService",
    "RunningLeague",
    "RunningLobby",
]

LADDER: Final = ladder_pb2.DESCRIPTOR.services_by_name["LadderService"].full_name
PIECE: Final = 65_536  # bytes of a record per message

Handlers: TypeAlias = "Mapping[str, grpc.RpcMethodHandler[Any, Any]]"  # gRPC's own classes are not generic at run time


def _house_away(entries: Sequence[LadderEntry], presence: Presence) -> list[str]:
    """List the house bots of ladders that are not online here; workers run those of hosted ladders."""
    here = {bot.identity.bot for bot in presence.bots if bot.identity.owner == HOUSE}
    house = dict.fromkeys(name for entry in entries if not entry.is_hosted for name in entry.terms.house)
    return [name for name in house if name not in here]


class RunningLobby(SeenLobby, Protocol):
    """The lobby, as the calls about ladders use it on the event loop."""

    def request(self, match_request: MatchRequest, now: float) -> str:
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


@dataclass(frozen=True, slots=True)
class RunningLeague:
    """The parts of a league on a running server.

    Attributes:
        answers: Answers queries.
        steering: Changes ladders and pauses.
        lobby: Where matches are played.
    """

    answers: Answers
    steering: LadderAdmin
    lobby: RunningLobby


class LadderService(LeagueCalls):
    """`LadderService` of ladder.proto. Close it once no call is answered any more."""

    service = LADDER
    played = ("RequestMatch",)

    def __init__(
        self,
        league: RunningLeague,
        entrance: AuthInterceptor,
        log: Logger,
        *,
        incident_number: Callable[[], str],
        acts: ActLog | None = None,
        more: Handlers | None = None,
        servers: OtherServers | None = None,
    ) -> None:
        """Serve a league.

        Args:
            league: Answers, changes and the lobby.
            entrance: Authenticates calls.
            log: The server's log.
            incident_number: Returns a new incident number.
            acts: Where changes of ladders and pauses are noted; None means nowhere.
            more: Handlers of further methods of the service.
            servers: The other servers of the league; by default there are none.
        """
        super().__init__(
            entrance,
            log,
            league.lobby,
            incident_number=incident_number,
            acts=acts,
            servers=servers,
        )
        self._lobby: RunningLobby = league.lobby
        self._answers = league.answers
        self._steering = league.steering
        self._more = dict(more or {})

    def ladders(self) -> Mapping[str, Callable[[bytes, Caller], str]]:
        """Return how to find the ladder of a call that only its arena answers, by method."""
        return {
            "ChangeLadder": lambda request, caller: ladder_pb2.ChangeLadderRequest.FromString(request).ladder,
            "DeleteLadder": lambda request, caller: ladder_pb2.DeleteLadderRequest.FromString(request).ladder,
            "RequestMatch": lambda request, caller: ladder_pb2.RequestMatchRequest.FromString(request).ladder,
        }

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
            ("ChangeBot", "play", self._change_bot),
        ]
        methods["GetRecord"] = grpc.unary_stream_rpc_method_handler(self.get_record)
        for name, scope, steer in changes:
            methods[name] = grpc.unary_unary_rpc_method_handler(self._writing(name, steer, scope))
        return grpc.method_handlers_generic_handler(LADDER, {**methods, **self._more})

    async def _create(self, request: bytes, caller: Caller) -> Message:
        call = ladder_pb2.CreateLadderRequest.FromString(request)
        async with self._steers:
            made = await self._apart(lambda: self._steering.create(call))
            for entry in made if self._servers.is_alone else ():  # otherwise one of the servers leases it
                self._lobby.set_ladder(ladder_of(entry))
        for entry in made:
            self._log.info("ladder made", ladder=entry.name, game=entry.game, by=caller.owner)
        await self._note(caller, "ladder created", ", ".join(entry.name for entry in made))
        presence = self._presence()
        first, *others = [self._answers.shown(entry, presence) for entry in made]
        return ladder_pb2.CreateLadderResponse(ladder=first, more=others, house_away=_house_away(made, presence))

    async def _change(self, request: bytes, caller: Caller) -> Message:
        call = ladder_pb2.ChangeLadderRequest.FromString(request)
        async with self._steers:
            entry = await self._apart(lambda: self._steering.change(call, caller))
            if self._lobby.ladder_named(entry.name) is not None:  # otherwise this server plays other games
                self._lobby.set_ladder(ladder_of(entry))
        frozen = None if entry.terms.frozen is None else entry.terms.frozen.isoformat()
        self._log.info("ladder changed", ladder=entry.name, frozen=frozen, by=caller.owner)
        await self._note(caller, "ladder changed", entry.name if frozen is None else f"{entry.name}, frozen {frozen}")
        presence = self._presence()
        message = self._answers.shown(entry, presence)
        return ladder_pb2.ChangeLadderResponse(ladder=message, house_away=_house_away([entry], presence))

    async def _delete(self, request: bytes, caller: Caller) -> Message:
        call = ladder_pb2.DeleteLadderRequest.FromString(request)
        async with self._steers:
            entry = await self._apart(lambda: self._steering.deletable(call, caller))
            message = self._answers.shown(entry, self._presence())
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
        return ladder_pb2.DeleteLadderResponse(ladder=message)

    async def _request(self, request: bytes, caller: Caller) -> Message:
        call = ladder_pb2.RequestMatchRequest.FromString(request)
        presence = self._presence()
        ladder, bots = await self._apart(lambda: self._answers.chosen(call, caller, presence))
        position = await self._position(call, ladder, caller, presence)
        by = caller.owner or NOBODY
        seed = call.seed if call.HasField("seed") else None
        match_request = MatchRequest(ladder, bots, seed, by, caller.is_admin, position)
        match = self._lobby.request(match_request, asyncio.get_running_loop().time())
        self._log.info("match requested", match=match, ladder=ladder, bots=[bot.shown for bot in bots], by=by)
        return ladder_pb2.RequestMatchResponse(match=match)

    async def _position(
        self, call: ladder_pb2.RequestMatchRequest, ladder: str, caller: Caller, presence: Presence
    ) -> StartPosition | None:
        """Return the position that a request names, if it names one.

        Raises:
            CallRefused: NOT_YOURS, for all but people on the page, since a replay takes time; or as `position`.
        """
        rules = self._lobby.ladder_named(ladder)
        if not call.HasField("position") or rules is None:  # without the ladder, the lobby refuses the request
            return None
        if caller.owner != PEOPLE:
            raise CallRefused("NOT_YOURS", "only people on the page play on from a position")
        return await self._apart(lambda: self._answers.position(call.position, rules, caller, presence))

    async def _lift(self, request: bytes, caller: Caller) -> Message:
        call = ladder_pb2.LiftPauseRequest.FromString(request)
        identity = await self._apart(lambda: self._steering.lift(call, caller))
        self._lobby.lifted(identity)
        self._log.info("pause lifted", bot=identity.shown, by=caller.owner)
        await self._note(caller, "pause lifted", identity.shown)
        presence = self._presence()
        return ladder_pb2.LiftPauseResponse(
            bot=await self._apart(lambda: self._answers.bot(identity, caller, presence))
        )

    async def _change_bot(self, request: bytes, caller: Caller) -> Message:
        change = ladder_pb2.ChangeBotRequest.FromString(request)
        identity = await self._apart(lambda: self._steering.change_bot(change, caller))
        for words in _changes(change):
            self._log.info(words, bot=identity.shown, by=caller.owner)
            await self._note(caller, words, identity.shown)
        presence = self._presence()
        return ladder_pb2.ChangeBotResponse(
            bot=await self._apart(lambda: self._answers.bot(identity, caller, presence))
        )

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


def _changes(change: ladder_pb2.ChangeBotRequest) -> list[str]:
    """Say what a change of a bot's settings changes, for the logs."""
    words = []
    if change.HasField("declines_people"):
        words.append("people declined" if change.declines_people else "people allowed")
    if change.HasField("publishes_notes"):
        words.append("notes published" if change.publishes_notes else "notes kept")
    if change.forget_ladder:
        words.append("memory emptied")
    return words
