"""The stores of a simulated world, on a disk that is slow, fails, or reports a failure after a successful commit.

There are two: the real leaderboard on a database in memory, with transactions in virtual time, and a dictionary that
implements `ResultStore`, for worlds that do not test the leaderboard. Committed data outlives the server; other data is
lost with it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import StaticPool

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.errors import StoreError, Unsure
from cutpurse.leaderboard.fault_streaks import lift_pause
from cutpurse.leaderboard.ladders import change_ladder, ensure_ladder
from cutpurse.leaderboard.ratings import Skill
from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.result_writer import LastCommit
from cutpurse.leaderboard.results import PAUSE_FAILED, PAUSE_WINDOW, Change, FinishedMatch, Identity, MatchAnnouncement
from cutpurse.leaderboard.results import StoreOutcome as Follows
from cutpurse.leaderboard.schema import upgrade
from cutpurse.leaderboard.store import Store, _PendingWrite, _Task
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.result_store import ResultStore
from tests.simulation.faults import Faults
from tests.simulation.virtual import Course

__all__ = ["Disk", "Kept", "LedgerDisk", "PlainDisk"]


class Kept(NamedTuple):
    """A stored match."""

    is_void: bool
    is_rated: bool  # as requested; `sequence` shows whether it really was rated
    sequence: int | None  # number of its board among the rated ones of its ladder
    ladder: str
    places: tuple[int, ...]
    board: str
    board_matches: int


class Disk(Protocol):
    """The storage that outlives the server."""

    def opened(self, is_alive: Callable[[], bool]) -> ResultStore:
        """Open the store for a server, until that dies."""

    def kept(self) -> dict[str, Kept]:
        """Return all stored matches, by ID."""

    def announced(self) -> set[str]:
        """Return the announced matches that are not over."""

    def paused(self) -> set[Identity]:
        """Return the paused versions."""

    def lift(self, identity: Identity) -> None:
        """Lift a pause.  May raise LeaderboardError."""

    def put(self, ladder: Ladder) -> None:
        """Create a ladder, or set its terms.  May raise LeaderboardError."""

    def problems(self) -> list[str]:
        """List errors in the stored data."""


class _Spindle:
    """The queue of writes, with random delays and failures."""

    def __init__(self, course: Course, faults: Faults, is_alive: Callable[[], bool]) -> None:
        self._course = course
        self._faults = faults
        self._is_alive = is_alive
        self._free_at = course.now

    def stumbles(self) -> bool:
        """Draw whether a short write fails at once."""
        return self._course.random.random() < self._faults.store_fails / 4

    def write(self, do: Callable[[str], None], settle: Callable[[], None]) -> None:
        """Call `do` with the drawn result ("", "fails" or "fails at the commit"), then `settle`."""
        random, faults = self._course.random, self._faults
        luck = ""
        if random.random() < faults.store_fails:
            luck = "fails at the commit" if random.random() < faults.store_unsure else "fails"
        begins = max(self._free_at, self._course.now)
        takes = faults.store_s + random.random() * faults.store_jitter_s
        later = takes if random.random() < 0.3 else 0.0  # the answer comes later than the write
        self._free_at = begins + takes

        def write() -> None:
            if self._is_alive():
                do(luck)
                self._course.after(later, lambda: settle() if self._is_alive() else None)

        self._course.after(self._free_at - self._course.now, write)

    def read(self, tell: Callable[[], None]) -> None:
        """Call `tell` after the time of a read."""
        self._course.after(self._faults.store_s, lambda: tell() if self._is_alive() else None)

    def commits(self) -> bool:
        """Draw whether a failing commit has happened nevertheless."""
        return self._course.random.random() < 0.5


class PlainDisk:
    """A disk that stores results in a dictionary."""

    def __init__(self, course: Course, faults: Faults) -> None:
        self._course = course
        self._faults = faults
        self._kept: dict[str, Kept] = {}
        self._last: dict[str, int] = {}
        self._announced: dict[str, MatchAnnouncement] = {}
        self._standings: dict[Identity, dict[str, tuple[Skill, int]]] = {}
        self._taken_over: dict[tuple[Identity, str], list[bool]] = {}  # by ladder, in the last rated matches
        self._paused: set[Identity] = set()
        self._answers: dict[str, Follows] = {}

    def opened(self, is_alive: Callable[[], bool]) -> ResultStore:
        for match in self._announced.values():
            self._kept[match.match] = Kept(
                True,
                not match.requested_by,
                None,
                match.ladder,
                (0,) * len(match.players),
                match.deal.board,
                match.board_matches,
            )
        self._announced.clear()
        return _PlainStore(self, _Spindle(self._course, self._faults, is_alive))

    def announce(self, match: MatchAnnouncement) -> None:
        """Store an announcement."""
        if match.match not in self._kept:
            self._announced[match.match] = match

    def take(self, result: FinishedMatch) -> Follows:
        """Store a result once."""
        if result.match in self._kept:
            return self._answers.get(result.match, Follows())
        self._announced.pop(result.match, None)
        is_void = result.is_void
        follows = Follows()
        if not is_void and result.is_rated:
            follows = self._answers[result.match] = self._rate(result)
        places, board = tuple(seat.place or 0 for seat in result.seats), result.deal.board
        self._kept[result.match] = Kept(
            is_void, result.is_rated, None, result.ladder, places, board, result.board_matches
        )
        mates = [name for name, kept in self._kept.items() if kept.board == board]
        if len(mates) == result.board_matches and all(
            self._kept[name].is_rated and not self._kept[name].is_void for name in mates
        ):
            sequence = self._last[result.ladder] = self._last.get(result.ladder, 0) + 1
            self._kept |= {name: self._kept[name]._replace(sequence=sequence) for name in mates}
        return follows

    def _rate(self, result: FinishedMatch) -> Follows:
        changes: list[Change] = []
        paused: list[Identity] = []
        for seat in result.seats:
            known = self._standings.setdefault(seat.player, {})
            skill, matches = known.get(result.ladder, (Skill(25.0, 8.0), 0))
            now = Skill(skill.mu + 2.0 - (seat.place or 0), 8.0)
            known[result.ladder] = now, matches + 1
            changes.append(Change(seat.player, skill, now))
            window = self._taken_over.setdefault((seat.player, result.ladder), [])
            window.append(seat.is_taken_over)
            del window[:-PAUSE_WINDOW]
            if window[-1] and sum(window) >= PAUSE_FAILED and seat.player not in self._paused:
                self._paused.add(seat.player)
                paused.append(seat.player)
        return Follows(None, tuple(changes), tuple(paused))

    def standings(self, player: Identity) -> Mapping[str, tuple[Skill, int]]:
        """Return the ratings of a bot."""
        return dict(self._standings.get(player, {}))

    def kept(self) -> dict[str, Kept]:
        return self._kept

    def announced(self) -> set[str]:
        return set(self._announced)

    def paused(self) -> set[Identity]:
        return set(self._paused)

    def lift(self, identity: Identity) -> None:
        self._paused.discard(identity)
        for player, ladder in self._taken_over:
            if player == identity:
                self._taken_over[player, ladder] = []

    def put(self, ladder: Ladder) -> None:
        pass

    def problems(self) -> list[str]:
        return []


class _PlainStore:
    def __init__(self, disk: PlainDisk, spindle: _Spindle) -> None:
        self._disk = disk
        self._spindle = spindle

    def announce(self, match: MatchAnnouncement) -> Future[None]:
        future: Future[None] = Future()
        problems: list[Exception] = []

        def do(luck: str) -> None:
            if luck:
                problems.append(StoreError(luck))
            else:
                self._disk.announce(match)

        def tell() -> None:
            if problems:
                future.set_exception(problems[0])
            else:
                future.set_result(None)

        self._spindle.write(do, tell)
        return future

    def standings(self, player: Identity, seen: datetime) -> Future[Mapping[str, tuple[Skill, int]]]:
        future: Future[Mapping[str, tuple[Skill, int]]] = Future()
        self._spindle.read(lambda: future.set_result(self._disk.standings(player)))
        return future

    def submit(self, result: FinishedMatch) -> Future[Follows]:
        future: Future[Follows] = Future()
        problems: list[Exception] = []
        answers: list[Follows] = []

        def do(luck: str) -> None:
            if not luck or (luck != "fails" and self._spindle.commits()):
                answers.append(self._disk.take(result))
            if luck:
                problems.append(StoreError(luck) if luck == "fails" else Unsure(luck))

        def settle() -> None:
            if problems:
                future.set_exception(problems[0])
            else:
                future.set_result(answers[0])

        self._spindle.write(do, settle)
        return future


# -- the real one
class LedgerDisk:
    """A disk with the real leaderboard, on a database in memory."""

    def __init__(self, course: Course, faults: Faults, ladders: Iterable[Ladder]) -> None:
        self._course = course
        self._faults = faults
        self._ladders = tuple(ladders)
        template, self._raw, self._engine = _database()
        template.backup(self._raw)

    def opened(self, is_alive: Callable[[], bool]) -> ResultStore:
        spindle = _Spindle(self._course, self._faults, is_alive)
        store = _VirtualStore(self._course, self._engine, spindle)
        store.void_unfinished(datetime(2026, 1, 1, tzinfo=UTC))
        for ladder in self._ladders:
            store.write(ensure_ladder, ladder.kept)
        self._store = store
        store.is_up = True
        return store

    def kept(self) -> dict[str, Kept]:
        rows = self._raw.execute(
            "SELECT m.id, m.void_cause, m.is_rated, b.sequence, l.name, s.place, b.id, b.matches FROM matches m "
            "JOIN boards b ON b.id = m.board_id JOIN ladders l ON l.id = m.ladder_id "
            "JOIN seats s ON s.match_number = m.number ORDER BY m.number, s.seat"
        )
        kept: dict[str, Kept] = {}
        for match, void, is_rated, sequence, ladder, place, board, matches in rows:
            earlier = kept[match].places if match in kept else ()
            places = (*earlier, place or 0)
            kept[match] = Kept(void is not None, bool(is_rated), sequence, ladder, places, board, matches)
        return kept

    def announced(self) -> set[str]:
        return {match for (match,) in self._raw.execute("SELECT match_id FROM open_matches")}

    def paused(self) -> set[Identity]:
        return {
            Identity(bot.owner, bot.bot, bot.version) for bot in self._store.run(queries.bots) if bot.paused is not None
        }

    def lift(self, identity: Identity) -> None:
        for bot in self._store.run(queries.bots):
            if (bot.owner, bot.bot, bot.version) == identity and bot.paused is not None:
                self._store.write(lift_pause, bot.version_id, datetime(2026, 1, 1, tzinfo=UTC))

    def put(self, ladder: Ladder) -> None:
        self._store.write(ensure_ladder, ladder.kept)
        self._store.write(change_ladder, ladder.name, ladder.terms)
        self._ladders = (*(one for one in self._ladders if one.name != ladder.name), ladder)

    def problems(self) -> list[str]:
        checks = recompute(_VirtualStore(self._course, self._engine, None))
        found = [difference for check in checks for difference in check.differences]
        (count,) = self._raw.execute("SELECT count(*) FROM rating_changes").fetchone()
        if self._raw.execute("SELECT count(*) FROM seats").fetchone()[0] < count:
            found.append("more ratings were changed than seats were played")
        return found


@cache
def _database() -> tuple[sqlite3.Connection, sqlite3.Connection, Engine]:
    """Return an empty leaderboard as a template, and one for writing; cached, so that tables are created only once."""
    template_engine, template = _engine()
    upgrade(template_engine, "virtual.db")
    engine, raw = _engine()
    return template, raw, engine


def _engine() -> tuple[Engine, sqlite3.Connection]:
    raw = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    engine = create_engine("sqlite://", creator=lambda: raw, poolclass=StaticPool)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    return engine, raw


class _VirtualStore(Store):
    """The leaderboard's own store without its thread and its file."""

    def __init__(self, course: Course, engine: Engine, spindle: _Spindle | None) -> None:
        self.path = Path("virtual.db")
        self._last = LastCommit()
        self._broken = None
        self.is_up = False  # nothing fails while ladders are created
        self._course = course
        self._engine = engine
        self._spindle = spindle
        self._batch: list[_PendingWrite] = []
        self._luck = ""

    def _hand_in(self, job: Any) -> None:
        if not self.is_up:
            if isinstance(job, _Task):
                self._run(job)
            else:
                self._write_entries([job])
            return
        if isinstance(job, _Task):
            assert self._spindle is not None
            self._spindle.read(lambda: self._run(job))
            return
        self._batch.append(job)
        if len(self._batch) == 1:
            self._course.after(0.0, self._begin)

    def _run(self, task: _Task) -> None:
        try:
            answer = self.write(task.write)
        except StoreError as problem:
            task.future.set_exception(problem)
        else:
            task.future.set_result(answer)

    def _begin(self) -> None:
        assert self._spindle is not None
        batch, self._batch = self._batch, []
        written = [_PendingWrite(job.entry, Future()) for job in batch]

        def do(luck: str) -> None:
            self._luck = luck
            self._write_entries(written)
            self._luck = ""

        def settle() -> None:
            for job, mine in zip(batch, written, strict=True):
                problem = mine.future.exception()
                if problem is not None:
                    job.future.set_exception(problem)
                else:
                    job.future.set_result(mine.future.result())

        self._spindle.write(do, settle)

    def write(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        if self.is_up and self._spindle is not None and self._spindle.stumbles():
            raise StoreError("disk I/O error")
        with self._engine.begin() as connection:
            return function(connection, *args, **kwargs)

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        assert self._spindle is not None
        with self._engine.connect() as connection:
            yield connection
            if self._luck != "fails" and (not self._luck or self._spindle.commits()):
                connection.commit()
        if self._luck:
            raise StoreError("disk I/O error") if self._luck == "fails" else Unsure("disk I/O error")

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        if self._luck and self._spindle is not None and self._spindle.commits():
            raise StoreError("disk I/O error")
        with self._engine.connect() as connection:
            yield connection
