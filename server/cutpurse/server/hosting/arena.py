"""An arena at an address: its services, the event loop's timers, and its shutdown.

`Arena` builds the stream side around the match side and drives both. It ticks the matches when they are due, watches
for stalls of its own, and removes expired sessions.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.store import Store
from cutpurse.process.signals import ends
from cutpurse.server.access.entrance import AuthInterceptor
from cutpurse.server.access.owners import Guard, OpenGuard
from cutpurse.server.access.receiving import RequestReader
from cutpurse.server.access.token_service import TOKENS, TokenService
from cutpurse.server.act_log import ActLog
from cutpurse.server.counts import Counts
from cutpurse.server.errors import CannotListen
from cutpurse.server.hosting.arena_stages import ARENA_STAGES, ENDING, RUNNING, ArenaEvent, ArenaStage
from cutpurse.server.hosting.certificate import Certificate
from cutpurse.server.hosting.garbage import rarely_collected
from cutpurse.server.hosting.listen_address import check_free, check_length, checked, house_socket_address
from cutpurse.server.hosting.options import grpc_options
from cutpurse.server.hosting.part import Part, Service
from cutpurse.server.hosting.running_parts import RunningParts
from cutpurse.server.hosting.stall_monitor import EVERY_S, Pulse
from cutpurse.server.hosting.status_service import STATUS, StatusService
from cutpurse.server.league.game_service import GAME, GameService
from cutpurse.server.league.ladder_service import (
    LADDER,
    LadderService,
    RunningLeague,
)
from cutpurse.server.league.other_servers import OtherServers
from cutpurse.server.limits import ServerLimits
from cutpurse.server.logs import Logger, traceback_locations
from cutpurse.server.matches.loop_hooks import DeadlinesNext, StallCredited
from cutpurse.server.state_table import next_state
from cutpurse.server.streams.arena_service import ARENA, ArenaService
from cutpurse.server.streams.match_port import Matches
from cutpurse.server.streams.server_session import ServerSession
from cutpurse.server.streams.sessions import Sessions
from cutpurse.server.watching.broadcast import Watching
from cutpurse.server.watching.watch_service import WatchService
from cutpurse.v1 import status_pb2
from cutpurse.wire.version import VERSION

__all__ = ["Arena", "ArenaServices", "Listening", "serve"]

_LAST_WORDS_S: Final = 2.0  # for results and ends of matches that were voided at shutdown
_CALLS_END_S: Final = 1.0  # for calls to end by themselves; after that they are cut off
_LONG_S: Final = 0.25  # a stall of this length is logged for the operator
_LEAST_S: Final = 0.001  # minimum seconds between ticks
_AGAIN_S: Final = 1.0  # seconds until the next try after an error
_LOOK_S: Final = 0.020  # seconds between checks for the end of all matches, while stopping

Told = TypeVar("Told")


@dataclass(frozen=True, slots=True)
class Listening:
    """Where an arena listens, and how it is reached.

    Attributes:
        address: HOST:PORT or unix:PATH.
        certificate: Use TLS with this certificate.
        insecure: Listen without TLS even if other machines can reach the address.
        has_house: Also listen at `Arena.house_address`, for this machine and this run only, so without TLS.
    """

    address: str
    certificate: Certificate | None = None
    insecure: bool = False
    has_house: bool = False


@dataclass(frozen=True, slots=True)
class ArenaServices:
    """What an arena offers beside matches.

    Attributes:
        guard: Checks tokens; by default none are required.
        tokens: Where tokens are stored and managed; None means that they cannot be managed.
        league: Answers questions about ladders and matches; None means that none are answered.
        watching: Serves spectators; needs `league`.
        acts: Where the acts of people are noted; by default they are not.
        status: Tells admins what this server runs on; None means that it is not shown.
    """

    guard: Guard = field(default_factory=OpenGuard)
    tokens: Store | None = None
    league: RunningLeague | None = None
    watching: Watching | None = None
    acts: ActLog = field(default_factory=ActLog)
    status: Callable[[], status_pb2.GetStatusResponse] | None = None


class Arena:
    """A server of matches.

    Start it with `address = await arena.start()`, and end it with `await arena.stop(drain_s)`.
    """

    def __init__(
        self,
        listening: Listening,
        matches: Matches,
        log: Logger,
        *,
        limits: ServerLimits | None = None,
        entropy: Callable[[int], bytes] = secrets.token_bytes,
        counts: Counts | None = None,
        services: ArenaServices | None = None,
    ) -> None:
        """Set up the arena; `start` opens it.

        Args:
            listening: Where it listens.
            matches: The lobby.
            log: The server's log.
            limits: The server's limits.
            entropy: Returns that number of unpredictable bytes.
            counts: Counters to update; new ones by default.
            services: What it offers beside matches; by default nothing.

        Raises:
            AddressError: If the address is invalid, or other machines could reach it without TLS.
        """
        self.counts = counts or Counts()
        self.stage = ArenaStage.STARTING
        self.house_address = ""  # set once it listens
        services = services or ArenaServices()
        certificate = listening.certificate
        self._has_house = listening.has_house
        self._address = checked(listening.address, may_be_reached=certificate is not None or listening.insecure)
        check_length(self._address, listening.has_house)
        self._certificate = certificate
        self._tokens = services.tokens
        self._league = services.league
        self._watching = services.watching
        self._acts = services.acts
        self._status = services.status
        self._matches = matches
        self._limits = limits or ServerLimits()
        self._entropy = entropy
        self._log = log
        self.entrance = AuthInterceptor(services.guard, log, self.counts)
        self.servers = OtherServers()  # set before the start
        self.parts: dict[str, Part] = {}  # set before the start, as each may use what this arena has
        self.session_token_days = 0  # as in `TokenService`; set before the start
        self._ladders: LadderService | None = None
        self._watch: WatchService | None = None
        self._is_hurried = False
        self._is_storing = True

    async def start(self) -> str:
        """Start listening.

        Returns:
            The address that bots dial; with TLS https://HOST:PORT.

        Raises:
            CannotListen: If the address is not available.
        """
        self._assemble(asyncio.get_running_loop())
        limits = self._limits
        self._server = grpc.aio.server(
            interceptors=[RequestReader(limits.message_s, limits.most_unsent, self.entrance.refused)],
            options=grpc_options(limits),
            maximum_concurrent_rpcs=limits.most_calls,
        )
        services = []
        for service in self._services():
            self._server.add_generic_rpc_handlers((service.handler,))
            services.append(service.name)
        self._health = health.aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        reflection.enable_server_reflection((*services, health.SERVICE_NAME, reflection.SERVICE_NAME), self._server)
        bound = self._listen()
        await self._server.start()
        for name in services:
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)
        self._begin()
        try:
            await self._running_parts.begin()
        except BaseException:  # bots that already connected must not stay with a server that nothing drives
            await self._close()
            raise
        self._log.info("listening", address=bound)
        return bound

    def _services(self) -> Iterator[Service]:
        """Yield the services of the core, then those of the parts."""
        entrance, log, number = self.entrance, self._log, self.incident_number
        yield Service(ARENA, self._arena.handler())
        yield Service(GAME, GameService(self._matches.ladders, log, incident_number=number).handler())
        if self._tokens is not None:
            tokens = TokenService(
                self._tokens,
                entrance,
                log,
                is_good=entrance.is_good,
                incident_number=number,
                acts=self._acts,
                session_token_days=self.session_token_days,
            )
            yield Service(TOKENS, tokens.handler())
        if self._league is not None:
            yield Service(LADDER, self._open_ladders(self._league).handler())
        if self._status is not None:
            status = StatusService(self._status, entrance, log, incident_number=number, servers=self.servers)
            yield Service(STATUS, status.handler())
        for part in self.parts.values():
            yield from part.services()

    def _open_ladders(self, league: RunningLeague) -> LadderService:
        """Set up the answers about the league, with what spectators watch."""
        if self._watching is not None:
            self._watch = WatchService(
                self._watching,
                self.entrance,
                self._log,
                is_good=self.entrance.is_good,
                utc=league.answers.utc,
                incident_number=self.incident_number,
                servers=self.servers,
            )
        self._ladders = LadderService(
            league,
            self.entrance,
            self._log,
            incident_number=self.incident_number,
            acts=self._acts,
            more=self._watch.methods() if self._watch is not None else None,
            servers=self.servers,
        )
        return self._ladders

    def _assemble(self, loop: asyncio.AbstractEventLoop) -> None:
        """Set up what needs no port: the sessions, their streams, and the stall monitor."""
        self._loop = loop
        self._thread = threading.get_ident()
        self.pulse = Pulse(self._credit, loop.time())
        self._running_parts = RunningParts(self.parts, self._log, self._broke)
        server = f"cutpurse {VERSION}"
        self.sessions = Sessions(
            self._matches,
            self._limits,
            server,
            self._entropy,
            self.counts,
            is_good=self.entrance.is_good,
            broke=self._session_broke,
            locate=None if self.servers.is_alone else self.servers.locate,
        )
        self._arena = ArenaService(
            self.sessions,
            self._log,
            entrance=self.entrance,
            alive=self.pulse.beat,
            moved=self._wake,
            incident_number=self.incident_number,
        )

    def _begin(self) -> None:
        """Start the timers of the matches and the sessions."""
        self._timer: asyncio.TimerHandle | None = None
        self._is_woken = False
        self._sessions_at = 0.0  # time of the next check of the sessions
        self._matches.wake = self._wake
        self._beat()
        self._wake()
        self._happened(ArenaEvent.START)

    def _happened(self, event: ArenaEvent) -> None:
        """Go on to the stage after this event."""
        self.stage = next_state(ARENA_STAGES, self.stage, event)

    @property
    def streams(self) -> int:
        """Number of Play calls that gRPC has not finished."""
        return self._arena.streams

    # -- for parts
    def address_of_house(self) -> str:
        """Return where programs of the server itself connect, once it listens."""
        return self.house_address

    def is_open(self) -> bool:
        """Return whether the arena is open, and not about to stop."""
        return self.stage is ArenaStage.OPEN

    def is_run_elsewhere(self, bot: Identity) -> bool:
        """Return whether a bot is online from a process of its owner."""
        return self.sessions.is_run_elsewhere(bot)

    def beat(self, now: float) -> None:
        """Note that the event loop works."""
        self.pulse.beat(now)

    # -- for other threads
    @property
    def seconds_since_heartbeat(self) -> float:
        """Seconds since the event loop last showed activity; 0.0 unless it runs."""
        return max(0.0, self._loop.time() - self.pulse.alive_at) if self.stage in RUNNING else 0.0

    def ask(self, question: Callable[[], Told]) -> Future[Told]:
        """Call `question` on the event loop as soon as possible.

        Returns:
            A future of its answer, which fails if the loop does not run.
        """
        answer: Future[Told] = Future()

        def tell() -> None:
            if answer.set_running_or_notify_cancel():
                self.pulse.beat(self._loop.time())
                try:
                    answer.set_result(question())
                except Exception as problem:
                    answer.set_exception(problem)

        if self.stage is ArenaStage.STARTING:
            answer.set_exception(RuntimeError("the event loop does not run yet"))
            return answer
        try:
            self._loop.call_soon_threadsafe(tell)
        except RuntimeError as problem:  # the loop is closed
            answer.set_exception(problem)
        return answer

    # -- the end
    async def stop(self, drain_s: float = 0.0) -> None:
        """Stop: start no matches, let open ones go on for `drain_s` seconds, then void them."""
        loop, matches = self._loop, self._matches
        now = loop.time()
        self._happened(ArenaEvent.DRAIN)
        self._log.info("draining", seconds=drain_s)
        await self._health.enter_graceful_shutdown()
        self._running_parts.drain()
        matches.drain(now)
        self.sessions.drain(now + drain_s, now)
        await self._until(
            lambda: self._is_hurried or (matches.is_idle and self.sessions.notify_sessions), now + drain_s
        )
        matches.void_all()
        await self._until(lambda: matches.is_idle, loop.time() + _LAST_WORDS_S)
        await self._until(lambda: self.sessions.notify_sessions, loop.time() + _CALLS_END_S)
        await self._close()
        self._log.info("stopped")

    async def _close(self) -> None:
        """End every call, by force if necessary, and stop the timers."""
        self._happened(ArenaEvent.CLOSE)
        self.sessions.close(self._loop.time())
        await self._running_parts.end()
        if self._watch is not None:
            self._watch.close()
        await self._server.stop(_CALLS_END_S)
        if self._ladders is not None:
            self._ladders.close()
        for timer in (self._timer, self._beating):
            if timer is not None:
                timer.cancel()
        self._happened(ArenaEvent.END)

    def hurry(self) -> None:
        """Stop waiting for open matches."""
        self._is_hurried = True

    async def _until(self, is_over: Callable[[], bool], at: float) -> None:
        while not is_over() and self._loop.time() < at:
            await asyncio.sleep(_LOOK_S)

    def _listen(self) -> str:
        check_free(self._address)
        try:
            if self._certificate is None:
                port = self._server.add_insecure_port(self._address.host_and_port)
            else:
                port = self._server.add_secure_port(self._address.host_and_port, self._certificate.credentials())
            for address in (address for part in self.parts.values() for address in part.addresses()):
                self._server.add_insecure_port(address)
            if self._has_house:
                self.house_address = self._listen_for_the_house()
        except RuntimeError:  # gRPC reports which system call failed, but not why
            raise CannotListen(
                f"cannot listen on {self._address}: another program does, or the system does not allow it"
            ) from None
        if self._address.path:
            return str(self._address)
        return str(replace(self._address, port=port, is_secure=self._certificate is not None))

    def _listen_for_the_house(self) -> str:
        """Listen at an address that no later server will use, so that programs left behind find no server there."""
        # access depends on the folder's mode, whereas every local user could dial a port
        if self._address.path:
            address = str(house_socket_address(self._address, self._entropy))
            self._server.add_insecure_port(address)
            return address
        return f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"

    # -- time
    def _wake(self) -> None:
        """Wake the loop of the matches, which may have something to do; thread-safe."""
        if threading.get_ident() != self._thread:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._wake)
        elif not self._is_woken and self.stage not in ENDING:
            self._is_woken = True
            self._loop.call_soon(self._look)

    def _look(self) -> None:
        """Tick the matches if they are due, and set the timer for their next event."""
        self._is_woken = False
        now = self._loop.time()
        self.pulse.beat(now)
        self._send(DeadlinesNext(now))
        at = self._tick(now)
        timer = self._timer
        if at is None or self.stage in ENDING:
            return
        if timer is None or at < timer.when():
            if timer is not None:
                timer.cancel()
            self._timer = self._loop.call_at(max(at, now + _LEAST_S), self._ring)

    def _tick(self, now: float) -> float | None:
        """Tick the matches if they are due, and return when they are next due.

        The lobby handles errors of single matches. An error that gets here only costs time.
        """
        try:
            at = self._matches.next_event_at()
            if at is not None and at <= now:
                self._matches.tick(now)
                at = self._matches.next_event_at()
            self._tell_of_the_store()
        except Exception as problem:
            self._broke("lobby broke", problem)
            return now + _AGAIN_S
        return at

    def _send(self, event: object) -> None:
        """Let listeners know; an error only costs time, as in `_tick`."""
        try:
            self._matches.hooks.send(event)
        except Exception as problem:
            self._broke("part broke", problem)

    def _tell_of_the_store(self) -> None:
        """Notify waiting bots once when results cannot be stored, so that no match begins."""
        if self._matches.is_storing != self._is_storing:
            self._is_storing = self._matches.is_storing
            if not self._is_storing:
                self.sessions.tell("STORAGE", "results cannot be stored now; no match is started until they can")

    def _session_broke(self, problem: Exception, session: ServerSession) -> str:
        """Log a broken invariant of a session, and return the incident number."""
        return self._broke("session broke", problem, session=session.id)

    def _broke(self, what: str, problem: Exception, **more: str) -> str:
        """Log a server error, and return the incident number."""
        number = self.incident_number()
        facts = {"incident": number, "error": type(problem).__name__, "places": traceback_locations(problem)}
        self._log.error(what, **more, **facts)
        return number

    def _ring(self) -> None:
        self._timer = None
        self._look()

    def _beat(self) -> None:
        """Check the sessions periodically; an error only costs time, as in `_tick`."""
        now = self._loop.time()
        self.pulse.ring(now)
        self._send(DeadlinesNext(now))
        if now >= self._sessions_at:
            try:
                if self.entrance.guard.look(now):
                    self.sessions.check_tokens(now)
                self.sessions.tick(now)
                self.entrance.log.report(now)
            except Exception as problem:
                self._broke("sessions broke", problem)
                self._sessions_at = now + _AGAIN_S
        self._beating = self._loop.call_at(now + EVERY_S, self._beat)

    def _credit(self, seconds: float) -> None:
        tell = self._log.warning if seconds >= _LONG_S else self._log.debug
        tell("stood still", seconds=round(seconds, 3))
        for credit in (self._matches.credit, self.sessions.credit, self._arena.credit):
            try:
                credit(seconds)
            except Exception as problem:  # the other credits still apply
                self._broke("credit broke", problem)
        self._send(StallCredited(seconds))

    def incident_number(self) -> str:
        """Return a new incident number and count it."""
        self.counts.incidents += 1
        return self._entropy(4).hex()


async def serve(arena: Arena, drain_s: float, listening: Callable[[str], None], *, ends_process: bool = False) -> None:
    """Run an arena until SIGTERM, SIGINT or SIGHUP.

    The first signal lets open matches go on for `drain_s` seconds; a second one ends the wait. A second SIGHUP is
    ignored, since closing one terminal may send two.

    Args:
        arena: The arena.
        drain_s: Seconds for open matches to finish.
        listening: Called with the address once bots can dial it.
        ends_process: Ignore later signals, because the process only cleans up afterwards, for seconds at most.

    Raises:
        CannotListen: If the address is not available.
    """
    loop = asyncio.get_running_loop()
    told, told_again = asyncio.Event(), asyncio.Event()

    def hear(number: int) -> None:
        if not told.is_set():
            told.set()
        elif number != signal.SIGHUP:  # both the shell and the system send it when a terminal is closed
            told_again.set()

    endings = [signal.SIGINT, *ends()]
    for number in endings:
        loop.add_signal_handler(number, hear, number)
    try:
        address = await arena.start()
        with rarely_collected():
            listening(address)
            await told.wait()
            stopping = loop.create_task(arena.stop(drain_s))
            again = loop.create_task(told_again.wait())
            await asyncio.wait((stopping, again), return_when=asyncio.FIRST_COMPLETED)
            if not stopping.done():
                arena.hurry()
            await stopping
            again.cancel()
    finally:
        for number in endings:
            loop.remove_signal_handler(number)
            if ends_process and arena.stage is ArenaStage.STOPPED:
                signal.signal(number, signal.SIG_IGN)
