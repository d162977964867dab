"""The calls of a league: ladders, rankings, matches and bots, of a running server or of its database file.

Both answer with the messages of ladder.proto and event.proto, so callers need only `League`. A server's refusal becomes
an error of the command line, chosen by its reason. The package that reads databases provides the entry point `db` of
the group `cutpurse.leagues`. This module knows no command.

A bot is written `owner/name:version`. Without an owner, it is the caller's own bot. Without a version, it is the
newest, or every version in lists.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from importlib.metadata import entry_points
from itertools import islice
from typing import Any, Final

import grpc
from google.protobuf.message import DecodeError, Message
from google.rpc import error_details_pb2, status_pb2

from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.v1 import arena_pb2, event_pb2, event_pb2_grpc, ladder_pb2, ladder_pb2_grpc
from cutpurse.wire.connection import UNTRUSTED, Dialling, dialling, why_unreachable
from cutpurse.wire.errors import NotAuthorised, NotFound, ServerRefused, ServerUnreachable, needs
from cutpurse.wire.installation import how_to_install
from cutpurse.wire.text import format_count, printable
from cutpurse.wire.usage import MODEL_MOST, fallback_of, format_usage

__all__ = [
    "LOCAL",
    "OPTIONS",
    "PATIENCE_S",
    "Following",
    "League",
    "bot_name",
    "league_at",
    "league_on",
    "match_pages",
    "problem_of",
    "ranking_pages",
    "rankings",
    "refusal",
    "format_absent",
    "format_bot_name",
    "format_reported_usage",
    "format_usage_total",
    "usage_per_match",
]

PATIENCE_S: Final = 15.0  # seconds to wait for an answer; the server delays bad tokens by up to 5
GROUP: Final = "cutpurse.leagues"
LACKS: Final = "tells nothing of its league: it is older than this program"
LOCAL: Final = "local"  # the owner of bots on servers that need no token
MATCH_PAGE: Final = 500  # matches of an answer; a server gives no more
MOST_BYTES: Final = 64 * 1024 * 1024  # largest answer; a page of matches has 300 KB, 10,000 rankings 2 MB

OPTIONS: Final = (
    ("grpc.enable_http_proxy", 0),
    ("grpc.keepalive_time_ms", 30_000),  # so that watch calls notice when the server is gone
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.max_receive_message_length", MOST_BYTES),
    ("grpc.use_local_subchannel_pool", 1),
)
_BY_REASON: Final[dict[str, type[CutpurseError]]] = {
    "BAD_MESSAGE": UsageError,
    "SETTINGS": UsageError,
    "NOT_FOUND": NotFound,
    "TOKEN_INVALID": NotAuthorised,
    "TOKEN_SCOPE": NotAuthorised,
    "NOT_YOURS": NotAuthorised,
    "DRAINING": ServerUnreachable,
}
_BY_CODE: Final[dict[grpc.StatusCode, type[CutpurseError]]] = {
    grpc.StatusCode.UNAUTHENTICATED: NotAuthorised,
    grpc.StatusCode.UNAVAILABLE: ServerUnreachable,
    grpc.StatusCode.DEADLINE_EXCEEDED: ServerUnreachable,
}


class League:
    """The calls of LadderService and EventService, each a function of its request; streaming calls return an iterator.

    Each raises NotFound, NotAuthorised, UsageError, ServerUnreachable or ServerRefused.
    """

    def __init__(self, ask: Callable[[str, Message], Any]) -> None:
        """Create a league.  `ask` answers a call by its name and request."""
        pb = ladder_pb2
        self.ListLadders: Callable[[pb.ListLaddersRequest], pb.ListLaddersResponse] = partial(ask, "ListLadders")
        self.CreateLadder: Callable[[pb.CreateLadderRequest], pb.CreateLadderResponse] = partial(ask, "CreateLadder")
        self.ChangeLadder: Callable[[pb.ChangeLadderRequest], pb.ChangeLadderResponse] = partial(ask, "ChangeLadder")
        self.DeleteLadder: Callable[[pb.DeleteLadderRequest], pb.DeleteLadderResponse] = partial(ask, "DeleteLadder")
        self.ListRankings: Callable[[pb.ListRankingsRequest], pb.ListRankingsResponse] = partial(ask, "ListRankings")
        self.ListHistory: Callable[[pb.ListHistoryRequest], pb.ListHistoryResponse] = partial(ask, "ListHistory")
        self.ListOpponents: Callable[[pb.ListOpponentsRequest], pb.ListOpponentsResponse] = partial(
            ask, "ListOpponents"
        )
        self.ListMatches: Callable[[pb.ListMatchesRequest], pb.ListMatchesResponse] = partial(ask, "ListMatches")
        self.ListOpenMatches: Callable[[pb.ListOpenMatchesRequest], pb.ListOpenMatchesResponse] = partial(
            ask, "ListOpenMatches"
        )
        self.GetMatch: Callable[[pb.GetMatchRequest], pb.GetMatchResponse] = partial(ask, "GetMatch")
        self.GetRecord: Callable[[pb.GetRecordRequest], Iterator[pb.GetRecordResponse]] = partial(ask, "GetRecord")
        self.WatchMatch: Callable[[pb.WatchMatchRequest], Following] = partial(ask, "WatchMatch")
        self.RequestMatch: Callable[[pb.RequestMatchRequest], pb.RequestMatchResponse] = partial(ask, "RequestMatch")
        self.ListBots: Callable[[pb.ListBotsRequest], pb.ListBotsResponse] = partial(ask, "ListBots")
        self.ListLogs: Callable[[pb.ListLogsRequest], pb.ListLogsResponse] = partial(ask, "ListLogs")
        self.LiftPause: Callable[[pb.LiftPauseRequest], pb.LiftPauseResponse] = partial(ask, "LiftPause")
        self.ChangeBot: Callable[[pb.ChangeBotRequest], pb.ChangeBotResponse] = partial(ask, "ChangeBot")
        ev = event_pb2
        self.PlanEvent: Callable[[ev.PlanEventRequest], ev.PlanEventResponse] = partial(ask, "PlanEvent")
        self.StartEvent: Callable[[ev.StartEventRequest], ev.StartEventResponse] = partial(ask, "StartEvent")
        self.ListEvents: Callable[[ev.ListEventsRequest], ev.ListEventsResponse] = partial(ask, "ListEvents")
        self.GetEvent: Callable[[ev.GetEventRequest], ev.GetEventResponse] = partial(ask, "GetEvent")
        self.StopEvent: Callable[[ev.StopEventRequest], ev.StopEventResponse] = partial(ask, "StopEvent")


def rankings(
    league: League, ladder: str, every_version: bool = False, limit: int | None = None
) -> list[ladder_pb2.Ranking]:
    """Return the rankings of all pages, the best first; with `limit`, only the first ones.

    A bot that moves between two pages meanwhile is listed once, at its first position. Raises what the calls of
    `League` raise.
    """
    return list(islice(ranking_pages(league.ListRankings, ladder, every_version, limit or 0), limit))


def usage_per_match(ranking: ladder_pb2.Ranking) -> tuple[int, int] | None:
    """Return the tokens of a bot per rated match and their cost in micros; None if it reported nothing."""
    if not ranking.HasField("usage") or not ranking.usage.matches:
        return None
    used = ranking.usage
    return round((used.input_tokens + used.output_tokens) / used.matches), round(used.cost_micros / used.matches)


def format_reported_usage(usage: arena_pb2.Usage) -> str:
    """Format what a bot reported for a decision: "2,704+61 tokens, $0.00031, llama3.2, fallback: time"."""
    model, fallback = printable(usage.model, MODEL_MOST), fallback_of(usage.fallback)
    return format_usage(usage.input_tokens, usage.output_tokens, usage.cost_micros, model, fallback)


def format_usage_total(used: ladder_pb2.UsageTotal) -> str:
    """Format what a bot reported for a match: "11,004+1,561 tokens, $0.0022, llama3.2, 1 fallback"."""
    fallbacks = [format_count(used.fallbacks, "fallback", "fallbacks")] if used.fallbacks else []
    model = printable(used.model, MODEL_MOST)
    return ", ".join([format_usage(used.input_tokens, used.output_tokens, used.cost_micros, model), *fallbacks])


def ranking_pages(
    ask: Callable[[ladder_pb2.ListRankingsRequest], ladder_pb2.ListRankingsResponse],
    ladder: str,
    every_version: bool = False,
    limit: int = 0,
) -> Iterator[ladder_pb2.Ranking]:
    """Yield the rankings of all pages, each bot once; a page is requested when it is needed.

    Args:
        ask: Requests one page.
        ladder: Name of the ladder.
        every_version: List all versions of each bot.
        limit: Bots per page; 0 means the server's default.
    """
    seen, after = set[tuple[str, str, str]](), 0
    while True:
        page = ask(ladder_pb2.ListRankingsRequest(ladder=ladder, every_version=every_version, limit=limit, after=after))
        for ranking in page.rankings:
            if (name := (ranking.bot.owner, ranking.bot.bot, ranking.bot.version)) not in seen:
                seen.add(name)
                yield ranking
        if page.next <= after:  # the last page, or a server that sends the same page again
            return
        after = page.next


@contextmanager
def league_at(
    server: str | None = None,
    ca: str | os.PathLike[str] | None = None,
    db: str | os.PathLike[str] | None = None,
    patience_s: float = PATIENCE_S,
    *,
    as_stranger: bool = False,
) -> Iterator[League]:
    """Open the league of a server, or with `db` that of a database, for the length of the block.

    Args:
        server: Server address, see `cutpurse.sdk.run`.
        ca: PEM file with certificates to trust.
        db: Database: a file, or `postgresql://...`.
        patience_s: Seconds to wait for each answer.
        as_stranger: Return only public data; a token is not used.

    Raises:
        UsageError: If both a server and a file are given.
        NotFound: If the file does not exist.
        ExtraMissing: If the packages that read databases are not installed.
    """
    if db is None:
        with _remote(dialling(server, ca, as_stranger=as_stranger), patience_s) as league:
            yield league
        return
    if server is not None or ca is not None:
        raise UsageError("--db reads a database, --server and --ca are for a server: name one of them")
    with _local(os.fspath(db), as_stranger) as league:
        yield league


def problem_of(reason: str, text: str) -> CutpurseError:
    """Return the error for a reason (an ErrorReason without its prefix)."""
    return _BY_REASON.get(reason, ServerRefused)(text)


def match_pages(
    ask: Callable[[ladder_pb2.ListMatchesRequest], ladder_pb2.ListMatchesResponse], ladder: str, since_ms: int = 0
) -> Iterator[Sequence[ladder_pb2.MatchShown]]:
    """Yield the pages of a ladder's matches that ended since then, the newest first; each is requested when needed."""
    before = 0
    while True:
        request = ladder_pb2.ListMatchesRequest(ladder=ladder, limit=MATCH_PAGE, since_ms=since_ms, before=before)
        page = ask(request)
        yield page.matches
        if not page.next or page.next == before:  # the last page, or a server that sends the same page again
            return
        before = page.next


def bot_name(text: str, is_owner_enough: bool = False) -> ladder_pb2.BotName:
    """Parse `owner/name:version`; owner and version are optional.

    Args:
        text: The text to parse.
        is_owner_enough: Accept `owner/`, which means every bot of that owner.

    Raises:
        UsageError: If the text names no bot.
    """
    rest, colon, version = text.partition(":")
    owner, slash, bot = rest.rpartition("/")
    if is_owner_enough and text == f"{owner}/" and owner and "/" not in owner:
        return ladder_pb2.BotName(owner=owner)
    if not bot or (slash and not owner) or (colon and not version) or "/" in owner or ":" in version:
        raise UsageError(f"{text!r:.100} names no bot: write name, owner/name, or owner/name:version")
    return ladder_pb2.BotName(owner=owner, bot=bot, version=version)


def format_bot_name(bot: ladder_pb2.BotName) -> str:
    """Format a bot's name, without a missing owner or version."""
    name = printable(bot.bot, 64)
    if bot.owner not in ("", LOCAL):
        name = f"{printable(bot.owner, 64)}/{name}"
    return f"{name}:{printable(bot.version, 64)}" if bot.version else name


def format_absent(absent: Sequence[event_pb2.AbsentBot], bots: int) -> str:
    """Describe which of the bots of a plan cannot play now, and why."""
    named = ", ".join(f"{format_bot_name(bot.bot)} {printable(bot.why, 100)}" for bot in absent)
    return f"{len(absent)} of {bots} cannot play now: {named}"


# -- a database
def _local(address: str, as_stranger: bool) -> AbstractContextManager[League]:
    points = {point.name: point for point in entry_points(group=GROUP)}
    if "db" not in points:
        raise UsageError(f"--db: nothing that is installed here reads databases; {how_to_install('server')}")
    with needs("server"):
        opens = points["db"].load()
    opened: AbstractContextManager[League] = opens(address, as_stranger)
    return opened


# -- a server
@contextmanager
def _remote(to: Dialling, patience_s: float) -> Iterator[League]:
    watching: set[Following] = set()
    with to.blocking_channel(OPTIONS) as channel:
        try:
            yield league_on(channel, to, watching, patience_s)
        finally:
            for own in [*watching]:
                own.close()


def league_on(channel: grpc.Channel, to: Dialling, watching: set[Following], patience_s: float = PATIENCE_S) -> League:
    """Return the league of a server on an open channel.

    Args:
        channel: A channel to the server, made with `OPTIONS`.
        to: The server, and the token of the calls.
        watching: Holds the streams of watched matches until they are closed, which the caller must do.
        patience_s: Seconds to wait for each answer.
    """
    stub, events = ladder_pb2_grpc.LadderServiceStub(channel), event_pb2_grpc.EventServiceStub(channel)

    def ask(name: str, request: Message) -> Any:
        if name == "WatchMatch":
            return Following(request, to, watching)
        call = getattr(stub if hasattr(stub, name) else events, name)
        if name == "GetRecord":
            return _pieces(call(request, metadata=to.metadata), to)
        try:
            return call(request, timeout=patience_s, metadata=to.metadata)
        except grpc.RpcError as error:
            raise refusal(error, to) from None

    return League(ask)


class Following(Iterator[ladder_pb2.WatchMatchResponse]):
    """The messages of a watched match, received on a connection of its own.

    A server answers a limited number of calls per connection, and a watch call lasts as long as its match. On a shared
    connection a few watch calls would block all others.
    """

    def __init__(self, request: Message, to: Dialling, among: set[Following]) -> None:
        """Open the call.  `among` holds this object until it is closed."""
        self._among = among
        self._own = to.blocking_channel(OPTIONS)
        among.add(self)
        stub: Any = ladder_pb2_grpc.LadderServiceStub(self._own)
        self._pieces = _pieces(stub.WatchMatch(request, metadata=to.metadata), to)

    def __next__(self) -> ladder_pb2.WatchMatchResponse:
        """Wait for the next message.  Raises what the calls of `League` raise."""
        try:
            piece: ladder_pb2.WatchMatchResponse = next(self._pieces)
        except BaseException:
            self.close()
            raise
        return piece

    def close(self) -> None:
        """End the stream. May be called repeatedly and on any thread; a thread that waits for a message raises."""
        self._among.discard(self)
        self._own.close()


def _pieces(call: Any, to: Dialling) -> Iterator[Any]:
    try:
        yield from call
    except grpc.RpcError as error:
        raise refusal(error, to) from None
    finally:
        call.cancel()


def refusal(error: grpc.RpcError, to: Dialling, lacks: str = LACKS) -> CutpurseError:
    """Convert the status of a failed call to an error of the command line.

    Args:
        error: The failed call.
        to: The server.
        lacks: What to say of a server that does not have the call.
    """
    call: Any = error  # Any: a raised RpcError is also a grpc.Call, which its type does not say
    address, code, text = to.address, call.code(), call.details() or ""
    if any(words in text for words in UNTRUSTED):
        return NotAuthorised(f"the server at {address} has a certificate that is not trusted here: --ca FILE")
    if code is grpc.StatusCode.UNIMPLEMENTED:
        return ServerRefused(f"the server at {address} {lacks}")
    said = f"the server at {address}: {printable(why_unreachable(text), 600) or code.name}"
    reason = _reason(call)
    if reason == "TOKEN_INVALID" and not to.token:
        return to.without_token()
    return problem_of(reason, said) if reason else _BY_CODE.get(code, ServerRefused)(said)


def _reason(call: Any) -> str:
    """Return the reason of a refusal, as in ErrorReason; empty if the server gave none."""
    for key, value in call.trailing_metadata() or ():
        if key == "grpc-status-details-bin" and isinstance(value, bytes):
            try:
                details = status_pb2.Status.FromString(value).details
                for detail in details:
                    info = error_details_pb2.ErrorInfo()
                    if detail.Unpack(info):
                        return str(info.reason)
            except DecodeError:
                return ""
    return ""
