"""A whole arena in virtual time: the server's own parts, a disk, a network, bots, and faults of all of them.

    World(seed).run()

The real `ArenaService` with its streams, `Sessions`, `Link`, `ServerSession`, `Lobby`, `ServerMatch`, `TimedMatch`,
`Pulse` and the timers of `Arena` run on an event loop with virtual time. The leaderboard's own code writes to a
database in memory. Everything follows from the seed. In the first phase there are faults, and every step must be safe.
In the second phase there are none. Then, within a time limit, every bot must have played, every match must be over,
reported and stored, and every table must be free.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from random import Random
from typing import Any, Final

from cutpurse.engine.clocks import TimeControl
from cutpurse.games import GAMES
from cutpurse.leaderboard.results import Identity, LadderTerms
from cutpurse.leaderboard.tokens import HOUSE
from cutpurse.server.hosting.arena import Arena, ArenaServices, Listening
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.limits import ServerLimits
from cutpurse.server.matches import match_start as dealing_module
from cutpurse.server.matches.lobby import Lobby
from cutpurse.server.matches.server_match import ServerMatch
from cutpurse.server.streams.session_stages import SessionStage
from tests.engine.toy import Toy
from tests.simulation.bots import Bot
from tests.simulation.disk import Disk, LedgerDisk, PlainDisk
from tests.simulation.faults import Faults
from tests.simulation.league import HOUSE_BOTS, Guard, League, Seen
from tests.simulation.network import Call, Caller
from tests.simulation.virtual import Course, VirtualLoop
from tests.simulation.watch import Watch
from tests.simulation.zoo import Villain

__all__ = ["Broken", "World"]

_CONTROL: Final = TimeControl(base_ms=150, bank_ms=300, grace_ms=50, poll_floor_ms=20, handover_ms=100)
_LIMITS: Final = ServerLimits(
    hello_s=3.0, heartbeat_ms=1_500, resume_window_ms=4_000, accepted_ms=100, envelope_bytes=4_000
)
_CREDITED_S: Final = 0.0601  # a stall of this length is certainly credited to the bots
_CALM_S: Final = 120.0  # time limit of the second phase
_MOST_STEPS: Final = 300_000
_SHOWN: Final = 60  # last lines of the trace in an error


class Broken(AssertionError):
    """The error for a fault of the server, or of the simulation."""


class World:
    """One world; with `real_ledger` the leaderboard's own code stores results (None means a random choice)."""

    def __init__(self, seed: int, faults: Faults | None = None, real_ledger: bool | None = None) -> None:
        self.seed = seed
        self.course = Course(seed)
        random = self.course.random
        self.faults = Faults.drawn(random) if faults is None else faults
        self._drawn = str(self.faults)
        is_real = random.random() < 0.2
        ladders = _ladders(random)
        self.league = League(self, ladders)
        self.disk: Disk = (
            LedgerDisk(self.course, self.faults, ladders)
            if (is_real if real_ledger is None else real_ledger)
            else PlainDisk(self.course, self.faults)
        )
        self.most_thinking_s = (_CONTROL.base_ms + _CONTROL.bank_ms + _CONTROL.grace_ms) / 1_000
        self.lives = 0
        self.is_calm = False
        self.stalls = 0
        self.is_draining = False
        self._is_told_to_drain = False
        self.steps = 0
        self.problem = ""
        self.honest: dict[str, Bot] = {}
        self.villains: list[Villain] = []
        self.watch = Watch(self)
        self._stalled_s = 0.0
        self._busy_until = 0.0
        self._wall_s = 0.0
        self._calls: dict[int, Call] = {}
        self._digest = sha256()
        self._last: deque[str] = deque(maxlen=_SHOWN)
        self._server: _Server | None = None

    # -- services for other modules
    def say(self, line: str) -> None:
        """Add a line to the trace."""
        line = f"{self.course.now - 1_000:.6f} {line}"
        self._digest.update(line.encode())
        self._last.append(line)

    def fails(self, what: str) -> None:
        """Report an error; the first one ends the world."""
        if not self.problem:
            self.problem = what
            self.say(f"WRONG {what}")

    @property
    def trace(self) -> str:
        """The digest of everything that has happened so far."""
        return self._digest.hexdigest()

    def effective(self) -> float:
        """Return the time without the server's stalls."""
        return self.course.now - self._stalled_s

    def latency(self) -> float:
        """Draw the travel time of a message."""
        random, faults = self.course.random, self.faults
        takes = faults.latency_s + random.random() * faults.jitter_s
        return takes + (random.random() * faults.spike_s if random.random() < faults.spike else 0.0)

    def is_gone(self, call: int) -> bool:
        """Return whether the server no longer has this call."""
        found = self._calls.get(call)
        return found is None or found.is_gone or found.is_done

    def has_stream(self, name: str) -> bool:
        """Return whether the server serves a call of this bot."""
        calls = (call for call in self._calls.values() if call.caller.name == name)
        return any(call.task is not None and not call.task.done() for call in calls)

    def dial(self, caller: Caller) -> Call:
        """Open a call of a bot."""
        call = self._calls[len(self._calls) + 1] = Call(self, caller, len(self._calls) + 1)
        late = self.course.random.random() < self.faults.late_dial
        takes = self.latency() + (self.course.random.random() * 12.0 if late else 0.0)
        call.delay(takes)
        self.course.after(takes, lambda: self._arrives(call))
        return call

    def _arrives(self, call: Call) -> None:
        if self._server is None:
            call.cut(0.0, 0.0)
        else:
            self._server.accept(call)

    # -- the run
    def run(self) -> None:
        """Run the world.  Raises Broken, with the seed and the last lines of the trace."""
        try:
            with _prepared(self):
                self._start()
                self._storm()
                self._calm()
                self.watch.conclude()
        except Exception as problem:
            if self.problem:
                raise Broken(self._report(self.problem)) from None
            if isinstance(problem, Broken):
                raise
            raise Broken(self._report(f"the simulation itself: {problem!r}")) from problem
        finally:
            if self._server is not None:
                self._server.die()
                self._server = None
        if self.problem:
            raise Broken(self._report(self.problem))

    def _report(self, what: str) -> str:
        tail = "\n".join(self._last)
        return (
            f"{tail}\n\nseed {self.seed}: {what}\nfaults: {self._drawn}\nagain: python -m tests.simulation {self.seed}"
        )

    def _start(self) -> None:
        random = self.course.random
        self._rise()
        owners = [*self.league.owners(random.choice((2, 3, 3, 4, 5))), *[HOUSE] * random.choice((0, 0, 1, 2))]
        for number, owner in enumerate(owners):
            is_slow = random.random() < self.faults.slow_reader
            thinks_s = random.choice((0.0, 0.01, 0.05, 0.15, 0.4))
            tables = random.choice((1, 1, 2, 3))
            name = HOUSE_BOTS[number - len(owners)] if owner == HOUSE else f"bot{number}"
            bot = Bot(self, name, owner, tables, thinks_s, random.random() * 0.3 if is_slow else 0.0)
            self.honest[bot.name] = bot
        for number, kind in enumerate(self.faults.hostile):
            self.villains.append(Villain(self, f"{kind}{number}", kind, random.choice((1, 2, 3))))
        guests: list[Bot | Villain] = [*self.honest.values(), *self.villains]
        for guest in guests:
            self.course.after(random.random() * 0.2, guest.connect)
        for strike in (
            self._break,
            self._stall,
            self._crash,
            self._drain,
            self._jump,
            self._change,
            self._request,
            self._lift,
        ):
            self._again(strike)

    def _storm(self) -> None:
        ends_at = self.course.now + 2.0 + 6.0 * self.course.random.random()
        most = 20 + int(80 * self.course.random.random())
        while self.course.now < ends_at and self.watch.decisions < most:
            self._step()

    def _calm(self) -> None:
        self.say("nothing goes wrong any more")
        self.faults.end()
        self.is_calm = True
        self._until(lambda: self._server is not None, "the server does not come back")
        self._mend()
        for villain in self.villains:
            villain.vanish()
        for bot in self.honest.values():
            bot.hurry()
            bot.want(0)
        self._until(self._is_quiet, "there are matches that do not end")
        played = {name: len(bot.finished) for name, bot in self.honest.items()}
        for bot in self.honest.values():
            bot.want(bot.tables)
        ordinary = [bot for bot in self.honest.values() if bot.owner != HOUSE]
        if len({bot.owner for bot in ordinary}) >= max(ladder.seats for ladder in self.league.ladders.values()):
            self._until(
                lambda: all(len(bot.finished) > played[bot.name] for bot in ordinary),
                "not everybody has got a match",
            )
        assert self._server is not None
        self._server.lobby.drain(self.course.now)
        self.is_draining = True
        self._until(self._is_quiet, "there are matches that do not end")
        self.watch.rules.conclude(self._server.lobby)
        for bot in self.honest.values():
            bot.leave()
        self._until(lambda: all(bot.is_home for bot in self.honest.values()), "there are bots that cannot leave")

    def _is_quiet(self) -> bool:
        server = self._server
        if server is None or not server.lobby.is_idle or not server.arena.sessions.notify_sessions:
            return False
        if any(bot.session.tables or not bot.is_there for bot in self.honest.values()):
            return False
        for session in server.arena.sessions._by_id.values():
            if session.stage is SessionStage.ONLINE and session.free_tables != session.max_tables:
                self.fails(f"{session} has {session.free_tables} free tables of {session.max_tables}, and sits at none")
        return True

    def _until(self, is_so: Callable[[], bool], otherwise: str) -> None:
        ends_at = self.course.now + _CALM_S
        while not is_so():
            if self.course.now > ends_at:
                self.fails(f"{otherwise}, {_CALM_S:g} s after the last fault")
            self._step()

    def _step(self) -> None:
        server = self._server
        at = self.course.next_at()
        runs_at = server.loop.next_at() if server is not None else None
        if runs_at is not None:
            runs_at = max(runs_at, self._busy_until)
        self.steps += 1
        if (at is None and runs_at is None) or self.steps > _MOST_STEPS:
            self.fails("nothing more happens" if self.steps <= _MOST_STEPS else "it goes on for ever")
        elif runs_at is None or (at is not None and (at < runs_at or (at == runs_at and self._coin()))):
            self.course.step()
        else:
            assert server is not None
            self.course.now = max(self.course.now, runs_at)
            server.loop.run_one()
            if server.loop.problems:
                self.fails(f"a callback of the server failed: {server.loop.problems[0]}")
        if self.problem:
            raise Broken(self._report(self.problem))

    def _coin(self) -> bool:
        return self.course.random.random() < 0.5

    # -- faults
    def _again(self, strike: Callable[[], float]) -> None:
        """Schedule a fault again and again, at the rate of its name in `Faults`."""
        rate = strike.__name__.strip("_")
        per_second = {
            "break": "breaks",
            "stall": "stalls",
            "crash": "crashes",
            "drain": "drains",
            "jump": "wall_jumps",
            "change": "changes",
            "request": "requests",
            "lift": "lifts",
        }
        often = getattr(self.faults, per_second[rate])
        if often > 0:

            def fall() -> None:
                if getattr(self.faults, per_second[rate]) > 0:
                    strike()
                    self._again(strike)

            self.course.after(self.course.random.expovariate(often * 1.0), fall)

    def _break(self) -> float:
        random = self.course.random
        live = [call for call in self._calls.values() if not call.is_over and not call.is_gone and not call.is_done]
        if live:
            call = random.choice(live)
            deaf = random.random() < self.faults.half_open
            late = random.random() * 6.0
            server_hears = late if deaf and random.random() < 0.6 else random.random() * 0.01
            bot_hears = late if deaf and server_hears < late else random.random() * 0.01
            self.say(f"{call} breaks: its bot hears after {bot_hears:.3f} s, the server after {server_hears:.3f} s")
            call.cut(bot_hears, server_hears)
        return 0.0

    def _stall(self) -> float:
        lasts = self.faults.stall_s * (0.5 + self.course.random.random())
        now = self.course.now
        if self._server is not None and now >= self._busy_until:
            self.say(f"the server stands still for {lasts:.3f} s")
            self._busy_until = now + lasts
            self.stalls += 1
            if lasts > _CREDITED_S:
                self._stalled_s += lasts
        return 0.0

    def _crash(self) -> float:
        if self._server is not None:
            self.say("the server is killed")
            self._fall()
        return 0.0

    def _fall(self) -> None:
        server, self._server = self._server, None
        assert server is not None
        server.die()
        for call in self._calls.values():
            if not call.is_over:
                call.orphan()
        self.watch.restart()
        self.course.after(0.05 + self.course.random.random() * 2.0, self._rise)

    def _rise(self) -> None:
        self.lives += 1
        self._busy_until = 0.0
        self.is_draining = self._is_told_to_drain = False
        self._server = _Server(self)

    def _drain(self) -> float:
        server = self._server
        if server is not None and not self._is_told_to_drain:
            seconds = self.course.random.random() * 3.0
            self.say(f"the server drains for {seconds:.3f} s")
            self._is_told_to_drain = True

            async def stop() -> None:
                self.is_draining = True  # not before: a stalled server learns of it only later
                await server.arena.stop(seconds)

            task = server.loop.create_task(stop())
            task.add_done_callback(lambda _: self._stopped(server))
        return 0.0

    def _stopped(self, server: _Server) -> None:
        if self._server is server:
            self.course.after(0.0, lambda: self._fall() if self._server is server else None)

    def _jump(self) -> float:
        self._wall_s += self.course.random.choice((-3_600.0, 3_600.0, -1.0, 0.5))
        return 0.0

    def _change(self) -> float:
        if self._server is not None:
            self.league.change(self._server.lobby)
        return 0.0

    def _request(self) -> float:
        if self._server is not None:
            self.league.ask(self._server.lobby)
        return 0.0

    def _lift(self) -> float:
        paused = sorted(self.watch.rules.paused)
        if self._server is not None and paused:
            self.league.lift(self._server.lobby, self.course.random.choice(paused))
        return 0.0

    def _mend(self) -> None:
        """Lift all pauses, and open all ladders to everybody."""
        if self._server is not None:
            self.league.open_all(self._server.lobby)
            for identity in sorted(self.watch.rules.paused):  # other pauses are not reported yet
                self.league.lift(self._server.lobby, identity)

    def paused(self, identity: Identity) -> None:
        """Note that the store has paused a version."""
        self.say(f"{identity.bot} is paused")
        self.watch.rules.paused.add(identity)
        if self.is_calm:
            self.course.after(0.01, self._mend)

    def utc(self) -> datetime:
        """Return the time of the wall clock."""
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.course.now + self._wall_s)


# -- the server
class _Server:
    """One process of the server."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.is_alive = True
        self.loop = VirtualLoop(world.course)  # type: ignore[abstract]  # the server needs no more of a loop
        self.log = _Log(world)
        entropy = Random(f"{world.seed}/{world.lives}").randbytes
        store = Seen(world.disk.opened(lambda: self.is_alive), world)
        paused = {identity for identity in world.disk.paused() if identity.owner != HOUSE}
        world.watch.rules.paused = set(paused)
        self.lobby = Lobby(
            world.league.ladders.values(),
            store,
            entropy=entropy,
            utc=world.utc,
            log=self.log,
            paused=sorted(paused),
        )
        log: Any = self.log
        self.arena = _Arena(
            Listening("127.0.0.1:0"),
            self.lobby,
            log,
            limits=_LIMITS,
            entropy=entropy,
            services=ArenaServices(Guard(world.league)),
        )
        self.arena.open(self.loop)

    def accept(self, call: Call) -> None:
        """Accept a call."""
        call.accepted(self.loop)
        call.task = self.loop.create_task(self.arena.play(call))
        call.task.add_done_callback(call.task_done)

    def die(self) -> None:
        """Kill the server."""
        self.is_alive = False
        self.log.is_heard = False
        self.loop.end()


class _Arena(Arena):
    """The arena without a listening server."""

    def open(self, loop: VirtualLoop) -> None:
        """Start the arena."""
        self._assemble(loop)
        nothing: Any = _Nothing()
        self._server = self._health = nothing
        self._begin()

    async def play(self, call: Call) -> None:
        """Serve a call of Play."""
        context: Any = call
        await self._arena.play(None, context)


class _Nothing:
    """A substitute for gRPC's server and health service when an arena stops."""

    async def stop(self, _grace: float) -> None:
        """Do nothing."""

    async def enter_graceful_shutdown(self) -> None:
        """Do nothing."""


class _Log:
    """A log that fails the world for events that must not occur."""

    def __init__(self, world: World) -> None:
        self.is_heard = True
        self._world = world

    def bind(self, **_facts: Any) -> _Log:
        return self

    def debug(self, event: str, **facts: Any) -> None:
        self._take("debug", event, facts)

    def info(self, event: str, **facts: Any) -> None:
        self._take("info", event, facts)

    def warning(self, event: str, **facts: Any) -> None:
        self._take("warning", event, facts)

    def error(self, event: str, **facts: Any) -> None:
        self._take("error", event, facts)
        if self.is_heard and (event != "result not stored" or facts["error"] == "StoreCorrupt"):
            self._world.fails(f"the server's log says: {event} {facts}")

    def _take(self, level: str, event: str, facts: dict[str, Any]) -> None:
        if self.is_heard and level != "debug":
            self._world.say(f"{level} {event} {facts}")


@contextmanager
def _prepared(world: World) -> Iterator[None]:
    """Install the game of the simulation, and let the world observe every match."""

    class Watched(ServerMatch):
        """A match observed by the watch."""

        def seat(self) -> None:
            world.watch.made(self)
            super().seat()

        def begin(self, now: float, tell_dealt: Callable[[], None] = lambda: None) -> None:
            world.watch.begun(self)
            super().begin(now, tell_dealt)

        def go_on(self) -> None:
            world.watch.moved(self)
            super().go_on()

    module: Any = dealing_module
    true = module.ServerMatch
    GAMES["toy"] = Toy
    module.ServerMatch = Watched
    try:
        yield
    finally:
        module.ServerMatch = true
        del GAMES["toy"]


def _ladders(random: Random) -> list[Ladder]:
    """Create ladders of short matches, and now and then one of a real game."""
    GAMES["toy"] = Toy
    try:
        if random.random() < 0.02:
            game = random.choice(("greed", "szmal"))
            return [Ladder(game, game, 2, {}, _CONTROL)]
        rounds = random.choice(("3", "5", "7"))
        kinds = ("plain", "plain", "rotation", "duplicate")
        terms = LadderTerms(house=HOUSE_BOTS if random.random() < 0.5 else ())
        ladders = [
            Ladder(
                "toy",
                "toy",
                random.choice((2, 2, 3)),
                {"rounds": rounds},
                _CONTROL,
                terms=terms,
                boards=random.choice(kinds),
            )
        ]
        if random.random() < 0.3:
            ladders.append(Ladder("toy-two", "toy", 2, {"rounds": "3"}, _CONTROL, boards=random.choice(kinds)))
        return ladders
    finally:
        del GAMES["toy"]
