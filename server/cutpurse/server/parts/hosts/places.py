"""The places that attend now, as a `Runner`: each bot is started at the place with the most free cores.

A place shows every 50 ms that it works. While it is silent, the clocks of its bots stand still: `on_delay` is called
with the bots and the seconds. So it is if others use the processors of its bots. After LOST_S of silence it is lost:
`on_lost` is called, and each of its bots ends as 'lost'. That is not the bot's own fault, so its supervisor starts it
elsewhere. A bot whose places are lost soon after its start again and again runs at a place of its own; if that is lost
too, it ends as 'deadly' (see `suspects`).

The bots of a place that drains move: each is paired no more (`part`), and stopped once its open matches are over. Where
a place has become too slow or too fast for a ladder (see `speed_rule`), its bots move at once; their matches are void.

Supervisors call `start` on their threads; all other methods are for the event loop. This module knows no call.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from hmac import compare_digest
from pathlib import Path
from time import monotonic
from typing import Final, Protocol

from cutpurse.leaderboard.results import Identity
from cutpurse.server.errors import CallRefused, CallStatus, call_status
from cutpurse.server.logs import Logger
from cutpurse.server.matches.loop_hooks import DeadlinesNext, LoopHooks, StallCredited
from cutpurse.server.parts.hosts.remote_program import RemoteProgram
from cutpurse.server.parts.hosts.speed_rule import LIKE, UNLIKE, are_like, largest_group
from cutpurse.server.parts.hosts.suspects import SOON_S, Suspects
from cutpurse.server.parts.submissions.packed_files import FilesError, pack_files
from cutpurse.server.runners.port import NoRoom, ProgramSpec, RunnerError, Running
from cutpurse.v1 import place_pb2

__all__ = ["LOST_S", "Place", "PlaceFacts", "PlaceStream", "Places"]

STALL_S: Final = 0.150  # silence that is longer is credited from its beginning; less is within every bot's grace
LOST_S: Final = 2.0  # of silence, after which a place is lost
MAX_ROUND_TRIP_S: Final = 0.050  # of a place that is used
MIN_ROUND_TRIPS: Final = 3  # before a place is said to be too far away
REVIEW_S: Final = 0.25  # between two looks for bots that must move
MOVE_MS: Final = 2_000  # for a bot that moves to end by itself
ROUND_TRIPS: Final = 10  # latest ones; the shortest of them counts, since the others may have met a busy moment
WAITS_S: Final = 5.0  # since its latest attempt, that an empty place is reserved for a bot that must run alone


class PlaceStream(Protocol):
    """The stream on which a place attends. Both methods are thread-safe."""

    def wake(self) -> None:
        """Send what is ready in the place's `starts` and `stops`."""

    def close(self, how: CallStatus) -> None:
        """End the stream."""


@dataclass(frozen=True, slots=True)
class PlaceFacts:
    """What a place has said about itself.

    Attributes:
        name: Its name.
        runner: How it isolates bots.
        cores: Cores for bots.
        key: Tells its process from others with the same name.
        address: Address that it dials from.
    """

    name: str
    runner: str
    cores: float
    key: bytes
    address: str = ""


@dataclass(slots=True, eq=False)
class Place:
    """A place that attends, on one stream after the other."""

    facts: PlaceFacts
    heard_at: float
    stream: PlaceStream | None  # None if it has ended, and the place may come back
    speed: float  # playouts per second, as measured last
    is_draining: bool = False
    unused: str = ""  # why no bot is started there now
    credited_s: float = 0.0  # of the present silence
    round_trips: deque[float] = field(default_factory=lambda: deque(maxlen=ROUND_TRIPS))
    programs: dict[int, RemoteProgram] = field(default_factory=dict)
    starts: list[place_pb2.StartBot] = field(default_factory=list)  # to send
    stops: list[place_pb2.StopBot] = field(default_factory=list)  # to send
    alone: int | None = None  # number of the only program that may run there

    @property
    def free_cores(self) -> float:
        """Cores that no bot may use."""
        return self.facts.cores - sum(program.cpu_cores for program in self.programs.values())

    @property
    def round_trip_s(self) -> float | None:
        """The shortest of its latest round trips; None before the first."""
        return min(self.round_trips, default=None)

    @property
    def is_near(self) -> bool:
        """Whether messages to it are fast enough to run bots there."""
        return self.round_trip_s is not None and self.round_trip_s <= MAX_ROUND_TRIP_S

    def bots_on(self, ladder: str) -> list[RemoteProgram]:
        """Return its bots that play on this ladder."""
        return [program for program in [*self.programs.values()] if ladder in program.ladders]

    def wake(self) -> None:
        """Have its stream send what is ready; without a stream, the next one does."""
        if (stream := self.stream) is not None:
            stream.wake()


class Places:
    """All places of a server. Set the hooks before the first place attends."""

    name: Final = "places"
    image: Final = ""

    def __init__(self, log: Logger, clock: Callable[[], float] = monotonic) -> None:
        """Start without places.

        Args:
            log: The server's log.
            clock: Returns the time on the event loop's clock.
        """
        self.bots_of: Callable[[Collection[Running]], Collection[Identity]] = lambda programs: ()
        self.on_delay: Callable[[Collection[Identity], float], None] = lambda bots, seconds: None
        self.on_crowding: Callable[[Collection[Identity], float], None] = lambda bots, seconds: None
        self.on_lost: Callable[[Collection[Identity], str], object] = lambda bots, why: None
        self.part: Callable[[Collection[Identity]], Collection[Identity]] = lambda bots: ()
        self.has_memory = False  # whether programs at places may have a memory
        self._log = log
        self._clock = clock
        self._lock = threading.Lock()  # guards all below, except `_packed`
        self._places: dict[str, Place] = {}
        self._last = 0  # number of the latest program
        self._suspects = Suspects()
        self._waiting: dict[Path, tuple[float, float]] = {}  # bots that must run alone: first and latest attempt
        self._is_closed = False
        self._review_at = 0.0
        self._packed: dict[Path, tuple[int, bytes, Path]] = {}  # by folder: its inode, and SHA-256 and path of the file

    # -- `Runner`, on any thread
    def missing(self) -> str | None:
        """Return None, since a place may attend at any time."""
        return None

    def weaker(self) -> tuple[str, ...]:
        """Return no lines; each place has its own."""
        return ()

    def start(self, task: ProgramSpec) -> RemoteProgram:
        """Have a bot started at a place. If it cannot be started there, it ends as 'lost'.

        Raises:
            NoRoom: If no place takes it now.
            RunnerError: If its files cannot be packed.
            OSError: If the disk fails.
        """
        digest, file = self._pack(task.folder)
        with self._lock:
            now = self._clock()
            place = self._choose(task, now)
            self._last += 1
            number = self._last
            program = RemoteProgram(number, task, now, lambda bot, grace_ms: self._stop(place, bot, grace_ms))
            place.programs[number] = program
            if self._suspects.is_suspect(task.folder):
                self._waiting.pop(task.folder, None)
                if len(place.programs) == 1:
                    place.alone = number
            place.starts.append(_start(number, task, digest, file.stat().st_size))
        place.wake()
        self._log.info("bot sent to a place", bot=task.name, number=number, place=place.facts.name)
        return program

    def _pack(self, folder: Path) -> tuple[bytes, Path]:
        """Pack the files of a bot, unless that was done before. Return their SHA-256 and the packed file."""
        inode = folder.stat().st_ino  # another one if the files were built again
        known = self._packed.get(folder)
        if known is None or known[0] != inode:
            try:
                digest, content = pack_files(folder)
            except FilesError as problem:
                raise RunnerError(str(problem)) from None
            file = folder.with_name(f"{folder.name}.packed")
            file.write_bytes(content)
            known = self._packed[folder] = (inode, digest, file)
        return known[1], known[2]

    def _choose(self, task: ProgramSpec, now: float) -> Place:
        near = [place for place in self._places.values() if place.is_near and not place.is_draining]
        if not near:
            ms = f"{1_000 * MAX_ROUND_TRIP_S:g} ms"
            far = f"no place answers within {ms}, and clocks allow for no more"
            is_any = any(not place.is_draining for place in self._places.values())
            raise NoRoom(far if is_any else "no place attends; start one with `cutpurse place`")
        near = [place for place in near if not self._unlike(place, task.ladders)]
        if not near:
            ladders = ", ".join(task.ladders)
            raise NoRoom(f"no place is as fast as those of ladder {ladders}, within {100 * (LIKE - 1):.0f} %")
        empty = [place for place in near if not place.programs]
        if self._suspects.is_suspect(task.folder):
            if empty:
                return max(empty, key=lambda place: place.facts.cores)
            first, latest = self._waiting.get(task.folder, (now, now))
            first = first if now < latest + WAITS_S else now
            self._waiting[task.folder] = (first, now)
            if now < first + SOON_S:  # then it runs beside bots that were cleared, because it may never have a place
                losses = self._suspects.losses(task.folder)
                raise NoRoom(f"{losses} places were lost soon after its start, so it waits for one without other bots")
        if any(now < latest + WAITS_S for _, latest in self._waiting.values()):
            near = [place for place in near if place.programs]
        cores = task.limits.cpu_cores
        able = [place for place in near if place.alone is None and place.free_cores >= cores]
        if not able:
            raise NoRoom(f"no place has {cores:g} free cores; start another one, or one with more --cores")
        low, high = largest_group([(place.speed, place.free_cores) for place in able])
        return max((place for place in able if low <= place.speed <= high), key=lambda place: place.free_cores)

    def _unlike(self, place: Place, ladders: Collection[str]) -> str:
        """Return the first of these ladders for which this place is too slow or too fast; empty for none.

        A place that has bots of the ladder may get more of them, until `_move_unlike` takes them away.
        """
        for ladder in ladders:
            if place.bots_on(ladder):
                continue
            speeds = [
                other.speed
                for other in [*self._places.values()]
                if other is not place and not other.is_draining and other.bots_on(ladder)
            ]
            if not are_like([place.speed, *speeds]):
                return ladder
        return ""

    def _stop(self, place: Place, number: int, grace_ms: int) -> None:
        with self._lock:
            program = place.programs.get(number)
            kept = [start for start in place.starts if start.bot != number]
            is_unsent = len(kept) < len(place.starts)
            place.starts = kept
            if program is not None and not is_unsent:
                place.stops.append(place_pb2.StopBot(bot=number, grace_ms=grace_ms))
        if program is not None and is_unsent:
            self.ended(place, number)
            program.end("stopped", None, "it was stopped")
        place.wake()

    def ended(self, place: Place, number: int) -> RemoteProgram | None:
        """Free the cores of a program that has ended at a place, and return it; None if it is unknown."""
        with self._lock:
            program = place.programs.pop(number, None)
            if program is not None:
                self._suspects.note_end(program.folder, self._clock() - program.started_at)
                place.alone = None if place.alone == number else place.alone
        return program

    def packed_file(self, digest: bytes) -> Path | None:
        """Return the packed files with this SHA-256, if a bot with them was to be started."""
        return next((file for _, known, file in [*self._packed.values()] if known == digest), None)

    # -- on the event loop
    def memory_of(self, key: bytes, number: int) -> Path | None:
        """Return the memory folder of a program at the place with this key; None if it has none there."""
        place = next((place for place in self._places.values() if compare_digest(place.facts.key, key)), None)
        program = None if place is None else place.programs.get(number)
        return None if program is None else program.memory

    def listed(self) -> list[Place]:
        """List the places by name."""
        return [place for _, place in sorted(self._places.items())]

    def take_orders(self, place: Place) -> tuple[list[place_pb2.StartBot], list[place_pb2.StopBot]]:
        """Return the bots that a place has to start and to stop, and forget them."""
        with self._lock:
            starts, place.starts = place.starts, []
            stops, place.stops = place.stops, []
        return starts, stops

    def enter(self, facts: PlaceFacts, bots: Collection[int], stream: PlaceStream, speed: float) -> tuple[Place, bool]:
        """Admit a place, or another stream of it.

        Args:
            facts: What it says about itself.
            bots: Numbers of the bots that it runs already.
            stream: Its stream.
            speed: Its speed, in playouts per second.

        Returns:
            The place, and whether its bots play on.

        Raises:
            CallRefused: If another place of this name attends, or the server stops.
        """
        if self._is_closed:
            raise CallRefused("DRAINING", "the server is stopping")
        now = self._clock()
        place = self._places.get(facts.name)
        if place is not None and place.facts.key != facts.key:
            if place.stream is not None:
                raise CallRefused(
                    "HELLO", f"a place called {facts.name} attends already; choose another name with --name"
                )
            self._lose(place, "another process of it has come")
            place = None
        if place is not None:
            place.speed = speed
            self._resume(place, bots, stream, now)
            return place, True
        place = Place(facts, now, stream, speed)
        with self._lock:
            self._places[facts.name] = place
        self._log.info("place attends", place=facts.name, cores=facts.cores, runner=facts.runner, speed=round(speed, 1))
        return place, False

    def _resume(self, place: Place, bots: Collection[int], stream: PlaceStream, now: float) -> None:
        """Go on with a place on another stream."""
        if place.stream is not None:
            place.stream.close(call_status("SUPERSEDED", "another stream of this place was opened"))
        self.heard(place, now)
        with self._lock:
            place.stream = stream
            unsent = {start.bot for start in place.starts}
            gone = [one for number, one in place.programs.items() if number not in bots and number not in unsent]
            place.stops += [place_pb2.StopBot(bot=number) for number in bots if number not in place.programs]
        self._log.info("place is back", place=place.facts.name, bots=len(bots), gone=len(gone))
        self.on_lost(self.bots_of(gone), "a place was lost")  # nobody knows any more how they ended
        for program in gone:
            self.ended(place, program.number)
            program.end("lost", None, f"how it ended at place {place.facts.name} is not known")

    def detach(self, place: Place, stream: PlaceStream) -> None:
        """Note that a stream has ended; the place may open another one within LOST_S."""
        if place.stream is stream:
            place.stream = None

    def leave(self, place: Place) -> None:
        """Remove a place that stops; its bots are started elsewhere."""
        self._lose(place, "it was stopped", is_sudden=False)

    def heard(self, place: Place, now: float, stolen_s: float = 0.0, crowded_s: float = 0.0) -> None:
        """Note that an envelope of a place has come.

        Args:
            place: The place.
            now: The time.
            stolen_s: New time in which it had no processor.
            crowded_s: New time in which its bots waited for cores that other programs used.
        """
        self._account(place, now)
        stolen_s = max(0.0, stolen_s - place.credited_s)  # the same moment is credited once
        crowded_s = max(0.0, crowded_s - place.credited_s - stolen_s)
        if (stolen_s or crowded_s) and place.programs:
            bots = self.bots_of([*place.programs.values()])
            self.on_delay(bots, stolen_s)
            self.on_crowding(bots, crowded_s)
        place.heard_at, place.credited_s = now, 0.0

    def measured(self, place: Place, speed: float) -> None:
        """Note the speed of a place."""
        self._log.info("place measured", place=place.facts.name, speed=round(speed, 1), before=round(place.speed, 1))
        place.speed = speed

    def drain(self, place: Place) -> None:
        """Start no bot at a place that will stop, and move its bots to others, each after its open matches."""
        if not place.is_draining:
            place.is_draining = True
            self._log.info("place drains", place=place.facts.name, bots=len(place.programs))
            self._review()

    def listen(self, hooks: LoopHooks) -> None:
        """Look before each check for late decisions, and heed stalls of the server."""
        hooks.on(DeadlinesNext, lambda event: self.look(event.now))
        hooks.on(StallCredited, lambda event: self.credit(event.seconds))

    def look(self, now: float) -> None:
        """Account for the silence of each place. Call it before any deadline is checked."""
        for place in [*self._places.values()]:
            self._account(place, now)
            if now - place.heard_at > LOST_S:
                self._lose(place, f"it was silent for {LOST_S:g} s")
            elif place.alone is not None:
                self._clear(place, now)
        if now >= self._review_at:
            self._review_at = now + REVIEW_S
            self._review()

    def credit(self, seconds: float) -> None:
        """Note that the server itself stood still for this time, and heard no place."""
        for place in self._places.values():
            place.heard_at += seconds

    def close(self) -> None:
        """End all streams, since the server stops; the places then stop their bots."""
        self._is_closed = True
        with self._lock:
            places, self._places = [*self._places.values()], {}
        for place in places:
            if place.stream is not None:
                place.stream.close(call_status("DRAINING", "the server is stopping"))
            for program in [*place.programs.values()]:
                program.end("stopped", None, "the server stops")

    def _review(self) -> None:
        """Move the bots that must not stay where they are, and note which places are not used."""
        places = [*self._places.values()]
        for place in places:
            if place.is_draining:
                self._move_when_idle(place, "its place stops")
        used = [place for place in places if not place.is_draining]
        for ladder in {
            ladder for place in used for program in [*place.programs.values()] for ladder in program.ladders
        }:
            self._move_unlike(ladder, [place for place in used if place.bots_on(ladder)])
        for place in places:
            if (unused := self._why_unused(place)) != place.unused:
                if bool(unused) != bool(place.unused):
                    self._log.warning("place not used" if unused else "place used", place=place.facts.name, why=unused)
                place.unused = unused

    def _move_when_idle(self, place: Place, why: str) -> None:
        programs = [program for program in [*place.programs.values()] if not program.moves_because]
        bots = {program: frozenset(self.bots_of([program])) for program in programs}
        busy = frozenset(self.part([bot for program in programs for bot in bots[program]]))
        for program in programs:
            if not bots[program] & busy:
                self._move(place, program, why)

    def _move_unlike(self, ladder: str, places: Sequence[Place]) -> None:
        """Take the bots of a ladder from the places that are too slow or too fast for the others."""
        if are_like([place.speed for place in places], UNLIKE):
            return
        low, high = largest_group([(place.speed, len(place.bots_on(ladder))) for place in places])
        for place in places:
            programs = [program for program in place.bots_on(ladder) if not program.moves_because]
            if not low <= place.speed <= high and programs:
                why = f"place {place.facts.name} has another speed than those with other bots of ladder {ladder}"
                self._log.warning("bots moved", place=place.facts.name, bots=len(programs), why=why)
                self.on_lost(self.bots_of(programs), why)
                for program in programs:
                    self._move(place, program, why)

    def _move(self, place: Place, program: RemoteProgram, why: str) -> None:
        program.moves_because = why
        self._stop(place, program.number, MOVE_MS)

    def _why_unused(self, place: Place) -> str:
        if place.is_draining:
            return "it stops"
        round_trip_s = place.round_trip_s
        if round_trip_s is not None and not place.is_near and len(place.round_trips) >= MIN_ROUND_TRIPS:
            most = 1_000 * MAX_ROUND_TRIP_S
            return (
                f"its round trip is {1_000 * round_trip_s:.0f} ms; clocks run on the server and allow for {most:.0f} ms"
            )
        ladders = {
            ladder for other in self._places.values() for bot in [*other.programs.values()] for ladder in bot.ladders
        }
        if ladder := self._unlike(place, sorted(ladders)):
            return (
                f"its speed of {place.speed:.0f} is more than {100 * (LIKE - 1):.0f} % from that of the places that "
                f"have bots of ladder {ladder}, which are not started there"
            )
        return ""

    def _account(self, place: Place, now: float) -> None:
        """Credit the present silence of a place to the clocks of its bots, as far as that was not done before."""
        silent_s = now - place.heard_at
        if silent_s > max(STALL_S, place.credited_s):
            seconds, place.credited_s = silent_s - place.credited_s, silent_s
            if place.programs:
                self.on_delay(self.bots_of([*place.programs.values()]), seconds)

    def _clear(self, place: Place, now: float) -> None:
        """Let other bots run at a place if the only bot there has done no harm for long enough."""
        with self._lock:
            program = place.programs.get(place.alone or 0)
            if program is None or self._suspects.clear_if_harmless(program.folder, now - program.started_at):
                place.alone = None

    def _lose(self, place: Place, why: str, *, is_sudden: bool = True) -> None:
        """Remove a place, and let its bots end."""
        now, name = self._clock(), place.facts.name
        with self._lock:
            del self._places[name]
            programs = [*place.programs.values()]
            losses = [
                self._suspects.note_loss(program.folder, now - program.started_at) if is_sudden else 0
                for program in programs
            ]
        self._log.warning("place lost", place=name, bots=len(programs), why=why)
        self.on_lost(self.bots_of(programs), "a place was lost" if is_sudden else "a place was stopped")
        for program, count in zip(programs, losses, strict=True):
            if count and program.number == place.alone:
                program.end(
                    "deadly", None, f"{count} places were lost soon after its start, the last one with no other bot"
                )
            else:
                program.end("lost", None, f"place {name} was lost: {why}")
        if place.stream is not None:
            place.stream.close(call_status("SILENT", why))


def _start(number: int, task: ProgramSpec, digest: bytes, size: int) -> place_pb2.StartBot:
    limits = task.limits
    return place_pb2.StartBot(
        bot=number,
        name=task.name,
        sha256=digest,
        size=size,
        command=task.command,
        environment=dict(task.environment),
        memory_ladders=[] if task.memory is None else sorted(path.name for path in task.memory.iterdir()),
        limits=place_pb2.BotLimits(
            memory_bytes=limits.memory_bytes,
            processes=limits.processes,
            open_files=limits.open_files,
            file_bytes=limits.file_bytes,
            cpu_cores=limits.cpu_cores,
            output_bytes_per_s=limits.talk_bytes_per_s,
            output_bytes=limits.talk_bytes,
        ),
    )
