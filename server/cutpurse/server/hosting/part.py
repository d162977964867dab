"""Parts: optional abilities of a server, which the core calls by this contract and never imports.

A package brings a part by an entry point `cutpurse.server_parts` that names a `PartKind`. Being installed and being on
are two things: what a part writes in the transactions of others (`PartKind.listen`) is written wherever it is
installed, so that a server that runs without it for an hour loses nothing. All else takes a part that is on.

`serve --help` loads every kind, so this module and those of the kinds import little.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any, TypeVar

from cutpurse.engine.errors import UsageError
from cutpurse.server.installed_parts import InstalledParts, installed_parts

if TYPE_CHECKING:
    import asyncio
    import os
    from datetime import datetime

    import grpc

    from cutpurse.leaderboard.reader import LeaderboardReader
    from cutpurse.leaderboard.results import Identity
    from cutpurse.leaderboard.store import Store
    from cutpurse.leaderboard.tokens import Token
    from cutpurse.leaderboard.write_hooks import WriteHooks
    from cutpurse.server.access.entrance import AuthInterceptor
    from cutpurse.server.act_log import ActLog
    from cutpurse.server.hosting.configuration import Value
    from cutpurse.server.ladder_config import Ladder
    from cutpurse.server.league.league_queries import Answers
    from cutpurse.server.league.other_servers import OtherServers
    from cutpurse.server.logs import Logger
    from cutpurse.server.matches.lobby import Lobby
    from cutpurse.server.settings import Setting
    from cutpurse.v1 import status_pb2

__all__ = [
    "Core",
    "Figure",
    "PageExtras",
    "Part",
    "PartKind",
    "PartWithSettings",
    "Service",
    "ladders_of_parts",
    "parts_to_serve",
    "read_settings",
]


AnyPart = TypeVar("AnyPart", bound="Part")


@dataclass(frozen=True, slots=True)
class Service:
    """A gRPC service: its full name and its handler."""

    name: str
    handler: grpc.GenericRpcHandler


@dataclass(frozen=True, slots=True)
class Figure:
    """A metric as a plain value; with a label, one value for each of the label's values."""

    name: str
    text: str
    value: float | Mapping[str, float]
    label: str = ""
    only_grows: bool = False


@dataclass(frozen=True, slots=True)
class PageExtras:
    """What a part adds to the page: words of its command, and the token with which it calls the server."""

    words: Sequence[str]
    token: Token | None = None


@dataclass(slots=True)
class Core:
    """What a part may use.

    Attributes:
        store: The leaderboard.
        answers: What callers may see of it.
        lobby: The matches and bots; use it on the event loop.
        entrance: Authorizes callers.
        log: The server's log.
        acts: Where the acts of people are noted.
        utc: Returns the time of day.
        incident_number: Returns a new incident number.
        asks_for_tokens: Whether callers need a token.
        address: Where the server listens.
        house_address: Returns where programs of the server itself connect, once it listens.
        is_open: Returns whether the server is open, and not about to stop; on the event loop.
        is_run_elsewhere: Returns whether a bot is online from a process of its owner; on the event loop.
        beat: Notes, with the time of the loop's clock, that the event loop works.
        ask: Calls a function on the event loop; thread-safe.
        servers: The other servers of the league. A part that knows some sets it when it is opened.
        parts: The parts that are open, by name.
        session_token_days: Days that tokens made in a session may last; 0 means no longer than the session. A part
            that opens sessions sets it.
    """

    store: Store
    answers: Answers
    lobby: Lobby
    entrance: AuthInterceptor
    log: Logger
    acts: ActLog
    utc: Callable[[], datetime]
    incident_number: Callable[[], str]
    asks_for_tokens: bool
    address: str
    house_address: Callable[[], str]
    is_open: Callable[[], bool]
    is_run_elsewhere: Callable[[Identity], bool]
    beat: Callable[[float], object]
    ask: Callable[[Callable[[], object]], object]
    servers: OtherServers
    parts: dict[str, Part]
    session_token_days: int = 0

    def part(self, of: type[AnyPart]) -> AnyPart:
        """Return the open part of this class, which the caller needs by its `PartKind.needs`."""
        return next(part for part in self.parts.values() if isinstance(part, of))


class Part:
    """A part that is on. Each method of this class does nothing; a part overrides those that it needs."""

    def services(self) -> Sequence[Service]:
        """Return the gRPC services that it adds."""
        return ()

    def addresses(self) -> Sequence[str]:
        """Return where the server listens for this part, without TLS, beside its own address."""
        return ()

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin to work: the server listens, on this event loop. Called on a thread, so it may wait."""

    async def run(self) -> None:
        """Do what it does by itself, on the event loop, until cancelled.

        The core logs an error and calls this again a moment later.
        """

    def drain(self) -> None:
        """Begin nothing new: the server stops when its matches are over. Called on the event loop."""

    def close(self) -> None:
        """Stop: no call comes any more, `run` has ended, and the store is still open."""

    def figures(self) -> Iterable[Figure]:
        """Return its metrics. Called on the event loop, so it must not wait."""
        return ()

    def status(self) -> Sequence[str]:
        """Return lines for `cutpurse status`. Called on the event loop, so it must not wait."""
        return ()

    def report(self, status: status_pb2.GetStatusResponse) -> None:
        """Set the fields of the status that are its own. Called on the event loop, so it must not wait."""

    def greeting(self) -> Sequence[str]:
        """Return lines for the host's terminal when the server listens."""
        return ()

    def page(self) -> PageExtras:
        """Return what it adds to the page."""
        return PageExtras(())


def _no_hooks(hooks: WriteHooks) -> None:
    """Write nothing in the transactions of others."""


def _no_calls(reader: LeaderboardReader, answers: Answers) -> Mapping[str, Any]:
    return {}


def _no_ladders(settings: Any) -> Sequence[Ladder]:
    return ()


@dataclass(frozen=True, kw_only=True)
class PartKind:
    """A part that is installed. Its module is light: what it needs is imported by its functions.

    Attributes:
        name: Its name, that of its folder and of its entry point.
        read: Reads its settings; None means that the part is off. Raises UsageError.
        open: Opens the part with what `read` returned. Raises UsageError if it cannot work on this server.
        settings: The settings of `serve` that it adds.
        needs: Names of parts that are on when this one is.
        ladders: Returns the ladders that it brings, from what `read` returned. The server makes them if they are
            missing, and gives them these terms.
        listen: Adds what it writes in the transactions of others, and declares its tables.
        figures_when_off: Returns its metrics where it is off.
        reads: Returns the calls of a league that it answers from a database without a server, by name; each is
            called with the request, the caller and who is online.
        open_store: Opens the store of the server in place of its own, from what `read` returned, the database, the
            write hooks, the names of ladders that each server plays for itself, and whether hosted ladders are
            played. One part may; it is opened before the others. The server begins without a ladder.
        plays_hosted: Whether it plays the matches of hosted ladders where it is on.
        writes: Returns the calls that it answers from a database without a server, by name; each is called with the
            store and the request.
    """

    name: str
    read: Callable[[Mapping[str, Value]], Any | None]
    open: Callable[[Any, Core], Part]
    settings: Sequence[Setting] = ()
    needs: Sequence[str] = ()
    ladders: Callable[[Any], Sequence[Ladder]] = _no_ladders
    listen: Callable[[WriteHooks], None] = _no_hooks
    figures_when_off: Callable[[], Iterable[Figure]] = tuple
    reads: Callable[[LeaderboardReader, Answers], Mapping[str, Any]] = _no_calls
    writes: Callable[[], Mapping[str, Any]] = dict
    open_store: Callable[[Any, str | os.PathLike[str], WriteHooks, Collection[str], bool], Store] | None = None
    plays_hosted: bool = False


@dataclass(frozen=True, slots=True)
class PartWithSettings:
    """An installed part with its settings; None means that it is off."""

    kind: PartKind
    settings: Any | None


def ladders_of_parts(parts: Iterable[PartWithSettings]) -> list[Ladder]:
    """Return the ladders that the parts bring that are on."""
    return [ladder for part in parts if part.settings is not None for ladder in part.kind.ladders(part.settings)]


def parts_to_serve(settings: Sequence[Setting]) -> InstalledParts:
    """Return the installed parts without those that clash with a setting of the server or of another part.

    Args:
        settings: The settings of the server without its parts.
    """
    installed = installed_parts()
    holders = dict.fromkeys((name for setting in settings for name in (setting.name, setting.option)), "the server")
    kinds, problems = [], [*installed.problems]
    for kind in installed.kinds:
        names = [name for setting in kind.settings for name in (setting.name, setting.option)]
        if clash := next((name for name in names if name in holders), ""):
            problems.append(f"part {kind.name} has a setting {clash}, and so has {holders[clash]}: remove the part")
        else:
            kinds.append(kind)
            holders |= dict.fromkeys(names, f"part {kind.name}")
    return InstalledParts(kinds, problems)


def read_settings(kinds: Iterable[PartKind], values: Mapping[str, Value]) -> list[PartWithSettings]:
    """Read the settings of all parts.

    Returns:
        The parts; those that another one needs come before it.

    Raises:
        UsageError: If a setting is invalid, if a part that is on needs one that is off, or if parts need each other.
    """
    by_name = {kind.name: kind for kind in kinds}
    try:
        order = [*TopologicalSorter({name: kind.needs for name, kind in by_name.items()}).static_order()]
    except CycleError as problem:
        raise UsageError(f"parts need each other: {', '.join(problem.args[1])}; remove one of them") from None
    parts = [PartWithSettings(by_name[name], by_name[name].read(values)) for name in order if name in by_name]
    on = {part.kind.name for part in parts if part.settings is not None}
    for kind in (part.kind for part in parts if part.settings is not None):
        if missing := [name for name in kind.needs if name not in on]:
            raise UsageError(f"part {kind.name} needs part {missing[0]}, which is off: see cutpurse serve --help")
    return parts
