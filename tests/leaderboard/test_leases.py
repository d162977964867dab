"""Several arenas write one league: each the ladders that it has leased, and none what it has lost."""

import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread

import pytest

from cutpurse.leaderboard import leases, postgresql_database, queries, tournaments
from cutpurse.leaderboard.arena_store import ArenaStore, Tended
from cutpurse.leaderboard.databases import find_database
from cutpurse.leaderboard.errors import InUse, LadderMoved, NewerSchema, StoreError
from cutpurse.leaderboard.events import EventEntry
from cutpurse.leaderboard.ladders import NewLadder, change_ladder, delete_ladder, ensure_ladder
from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.results import EventBoard, FinishedMatch, LadderTerms, StoreOutcome
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tokens import PEOPLE
from cutpurse.leaderboard.tournaments import TournamentBoardEntry
from tests.forked import ForkedProcess
from tests.kill_loops import KillLoop
from tests.leaderboard.databases import change_by_hand
from tests.leaderboard.sample_results import DAWN, LADDER, PLAYERS, RATING, prepare, random_result, result
from tests.leaderboard.test_announced import announcement
from tests.leaderboard.writers import play_as_an_arena
from tests.looking import until
from tests.postgresql_server import PostgresqlServer

pytestmark = pytest.mark.full
psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed here: pip install '.[cluster]'")

NOON = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
SECOND = "szmal-two"
GAMES = ("greed", "szmal")
BUSY_S = 0.05
SILENCE_S = 280.0  # of arenas that play all the time, on a busy machine


@pytest.fixture(autouse=True)
def _long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no lease run out because the machine is slow."""
    for name in ("LEASE_S", "DELAY_S"):
        monkeypatch.setattr(leases, name, 3_600.0)


@pytest.fixture
def address(postgresql: PostgresqlServer) -> str:
    address = postgresql.create()
    with Store(address) as store:
        prepare(store)
        store.write(ensure_ladder, NewLadder(SECOND, game="szmal", seats=4, rating=RATING))
    return address


@pytest.fixture
def arenas(address: str) -> Iterator[tuple[ArenaStore, ArenaStore]]:
    with ExitStack() as stack:
        a, b = (stack.enter_context(ArenaStore(address, f"{name}:7777", games=GAMES)) for name in "ab")
        yield a, b


def addresses(tended: Tended) -> dict[str, str]:
    """Where bots dial for each ladder of other arenas."""
    return {ladder: holder.address for ladder, holder in tended.elsewhere.items()}


def run_out(address: str, *ladders: str) -> None:
    """Let the leases of these ladders (of all, if none is named) run out, as when they were not renewed."""
    named = " OR ".join(f"name = '{ladder}'" for ladder in ladders) or "true"
    change_by_hand(
        address,
        "UPDATE leases SET until = until - interval '2 hours' "
        f"WHERE ladder_id IN (SELECT id FROM ladders WHERE {named})",
    )


def test_a_ladder_belongs_to_one_arena_and_the_other_knows_where(arenas: tuple[ArenaStore, ArenaStore]) -> None:
    a, b = arenas
    first = a.tend(NOON)
    assert dict(first.epochs) == {LADDER: 1, SECOND: 1}
    second = b.tend(NOON)
    assert (dict(second.epochs), addresses(second)) == ({}, {LADDER: "a:7777", SECOND: "a:7777"})
    assert dict(a.tend(NOON).epochs) == dict(first.epochs), "renewed, in the same epoch"
    a.release()
    assert dict(b.tend(NOON).epochs) == {LADDER: 2, SECOND: 2}
    assert addresses(a.tend(NOON)) == {LADDER: "b:7777", SECOND: "b:7777"}


def test_a_preferred_ladder_is_taken_at_once_and_others_only_after_a_while(address: str) -> None:
    with ArenaStore(address, "a:7777", games=GAMES, preferred=[LADDER, "none"]) as store:
        assert dict(store.tend(NOON).epochs) == {LADDER: 1}
        assert dict(store.tend(NOON).epochs) == {LADDER: 1}
        change_by_hand(address, "UPDATE leases SET until = until - interval '1 hour' WHERE epoch = 0")
        assert dict(store.tend(NOON).epochs) == {LADDER: 1, SECOND: 1}


def test_ladders_of_other_games_are_left_and_none_is_taken_while_it_drains(address: str) -> None:
    with ArenaStore(address, "a:7777", games=["szmal"]) as store:
        assert dict(store.tend(NOON, takes_more=False).epochs) == {}
        assert dict(store.tend(NOON).epochs) == {SECOND: 1}


def test_an_arena_without_a_ladder_is_known_until_it_leaves_or_is_silent(
    arenas: tuple[ArenaStore, ArenaStore], address: str
) -> None:
    a, b = arenas

    def known(one: ArenaStore) -> list[tuple[str, bool]]:
        return [(arena.address, arena.lag_s < 60) for arena in one.tend(NOON).arenas]

    assert known(a) == []
    assert known(b) == [("a:7777", True)]
    assert known(a) == [("b:7777", True)]
    b.release()
    assert known(a) == []
    assert known(b) == [("a:7777", True)], "it has come back"
    change_by_hand(address, "UPDATE arenas SET until = until - interval '2 hours'")
    assert known(a) == []
    assert known(b) == [("a:7777", True)]


def test_who_lost_a_ladder_changes_no_board_of_its_tournaments(
    arenas: tuple[ArenaStore, ArenaStore], address: str
) -> None:
    a, b = arenas
    a.tend(NOON)
    a.write(tournaments.start, EventEntry("t", LADDER, "root", "{}", NOON), 9)
    lost, later = TournamentBoardEntry(0, 0, "", "10"), TournamentBoardEntry(0, 1, "", "01")
    duels = [
        announcement(result(f"m{at}", PLAYERS[:4], is_rated=False, requested_by="root"), EventBoard("t", 0, at))
        for at in range(4)
    ]
    a.write_on(LADDER, tournaments.put_board, "t", lost)
    run_out(address)
    a.announce(duels[1]).result()  # nobody has taken the ladder
    b.tend(NOON)
    for _ in range(2):  # its leases are known to be lost only the second time
        with pytest.raises(LadderMoved, match=f"this arena does not have ladder {LADDER}"):
            a.write_on(LADDER, tournaments.put_board, "t", later)
        with pytest.raises(LadderMoved):
            a.announce(duels[2]).result()
        a.tend(NOON)
    b.announce(duels[3]).result()
    assert a.run(tournaments.boards, "t") == [
        lost,
        TournamentBoardEntry(0, 1, "m1"),
        TournamentBoardEntry(0, 3, "m3"),
    ]


def test_who_lost_a_ladder_writes_nothing_there(arenas: tuple[ArenaStore, ArenaStore], address: str) -> None:
    a, b = arenas
    versions = PLAYERS
    a.tend(NOON)
    a.announce(announcement(result("open", versions[:4]))).result()
    assert a.submit(result("m1", versions[:4])).result().sequence == 1
    run_out(address)
    assert a.submit(result("m2", versions[:4])).result().sequence == 2, "nobody has taken the ladder"
    assert b.tend(NOON).voided == ["open"]
    assert b.submit(result("m3", versions[:4])).result().sequence == 3
    for again in range(2):  # its leases are known to be lost only the second time
        for lost in ("open", "m4"):
            with pytest.raises(LadderMoved, match=f"match {lost}: "):
                a.submit(result(lost, versions[:4])).result()
        with pytest.raises(LadderMoved, match=f"this arena does not have ladder {LADDER}"):
            a.announce(announcement(result("m5", versions[:4]))).result()
        assert a.submit(result("m1", versions[:4])).result().sequence == 1, "its answer is repeated"
        if not again:
            assert dict(a.tend(NOON).epochs) == {}
    assert sorted(match.match for match in a.run(queries.matches, limit=9)) == ["m1", "m2", "m3", "open"]
    assert a.run(queries.match, "open").void_cause == "void_server"
    b.release()
    a.tend(NOON)
    assert a.submit(result("m6", versions[:4])).result().sequence == 4, "it counts the boards anew"
    assert all(check.equal for check in recompute(b))


def test_a_match_that_was_made_void_meanwhile_does_not_count_for_who_takes_its_ladder_again(
    arenas: tuple[ArenaStore, ArenaStore], address: str
) -> None:
    a, _ = arenas
    versions = PLAYERS
    a.tend(NOON)
    a.announce(announcement(result("open", versions[:4]))).result()
    run_out(address)
    again = a.tend(NOON)
    assert (dict(again.epochs), again.voided) == ({LADDER: 2, SECOND: 2}, ["open"])
    with pytest.raises(LadderMoved, match=f"match open: another arena took ladder {LADDER} meanwhile"):
        a.submit(result("open", versions[:4])).result()
    assert a.submit(result("open", versions[:4]).voided()).result().sequence is None


def test_only_the_matches_of_taken_ladders_are_void(arenas: tuple[ArenaStore, ArenaStore], address: str) -> None:
    a, b = arenas
    versions = PLAYERS
    a.tend(NOON)
    for ladder in (LADDER, SECOND):
        a.announce(announcement(result(f"on {ladder}", versions[:4], ladder=ladder))).result()
    run_out(address, SECOND)
    assert b.tend(NOON).voided == [f"on {SECOND}"]
    assert a.submit(result(f"on {LADDER}", versions[:4])).result().sequence == 1


class Interrupted(ArenaStore):
    """An arena to which something happens after it has looked which matches are open."""

    happens: Callable[[], object] | None = None

    def submit(self, result: FinishedMatch) -> Future[StoreOutcome]:
        happens, self.happens = self.happens, None
        if happens is not None:
            happens()
        return super().submit(result)


def test_who_loses_a_ladder_while_it_ends_its_open_matches_leaves_them_and_goes_on(
    arenas: tuple[ArenaStore, ArenaStore], address: str
) -> None:
    a, b = arenas
    a.tend(NOON)
    for ladder in (LADDER, SECOND):
        a.announce(announcement(result(f"on {ladder}", PLAYERS[:4], ladder=ladder))).result()

    def lose_a_ladder() -> None:
        run_out(address, LADDER)
        assert list(b.write(leases.tend, b.holder).taken) == [LADDER]  # it hasn't ended open matches yet

    run_out(address)
    with Interrupted(address, "c:7777", games=GAMES) as c:
        c.happens = lose_a_ladder
        tended = c.tend(NOON)
        assert tended.voided == [f"on {SECOND}"]
        assert dict(c.tend(NOON).epochs) == {SECOND: 2}
    assert [match.match for match in b.run(queries.matches, limit=9)] == [f"on {SECOND}"]


def test_who_loses_a_ladder_shows_no_board_that_may_be_played_on(
    arenas: tuple[ArenaStore, ArenaStore], address: str
) -> None:
    a, b = arenas
    change_by_hand(address, f"UPDATE ladders SET boards = 'rotation' WHERE name = '{LADDER}'")
    a.tend(NOON)
    first = result("first of its board", PLAYERS[:4], board="one", board_matches=4)
    a.announce(announcement(first)).result()
    a.submit(first).result()
    run_out(address)
    b.write(leases.tend, b.holder)
    assert a.void_unfinished(NOON, [LADDER]) == []
    assert a.run(queries.match, first.match).is_sealed
    run_out(address)
    a.tend(NOON)
    assert not a.run(queries.match, first.match).is_sealed, "nobody else can play it on"


def test_open_matches_of_a_taken_ladder_are_void_later_if_writing_failed(
    arenas: tuple[ArenaStore, ArenaStore], address: str
) -> None:
    a, _ = arenas
    a.tend(NOON)
    a.announce(announcement(result("open", PLAYERS[:4]))).result()
    run_out(address)

    def fail() -> None:
        raise StoreError("the disk is full")

    with Interrupted(address, "c:7777", games=GAMES) as c:
        c.happens = fail
        with pytest.raises(StoreError, match="the disk is full"):
            c.tend(NOON)
        assert c.tend(NOON).voided == ["open"]
        assert c.tend(NOON).voided == []


def test_a_hosted_ladder_is_taken_by_an_arena_that_deals_to_workers(address: str) -> None:
    change_by_hand(address, f"UPDATE ladders SET is_hosted = true WHERE name = '{SECOND}'")
    with ArenaStore(address, "a:7777", games=GAMES) as a:
        assert dict(a.tend(NOON).epochs) == {LADDER: 1}
        with ArenaStore(address, "b:7777", games=GAMES, plays_hosted=True) as b:
            assert dict(b.tend(NOON).epochs) == {SECOND: 1}


def test_the_ladders_of_people_are_played_by_each_arena_that_has_some(address: str) -> None:
    people = "people.greed.2"
    with Store(address) as store:
        versions = prepare(store)
        store.write(ensure_ladder, NewLadder(people, game="greed", seats=2, rating=RATING))
        store.write(change_ladder, people, LadderTerms(owners=(PEOPLE,)))
    with ExitStack() as stack:
        a, b = (
            stack.enter_context(ArenaStore(address, f"{name}:7777", games=GAMES, people_ladders=[people]))
            for name in "ab"
        )
        c = stack.enter_context(ArenaStore(address, "c:7777", games=GAMES))
        assert [dict(one.tend(NOON).epochs) for one in (a, b, c)] == [
            {LADDER: 1, SECOND: 1, people: 0},
            {people: 0},
            {},
        ]
        matches = {
            name: result(name, versions[:2], ladder=people, is_rated=False, requested_by=PEOPLE) for name in "abc"
        }
        for name, one in (("a", a), ("b", b)):
            one.announce(announcement(matches[name])).result()
        assert a.submit(matches["a"]).result().sequence is None
        with pytest.raises(LadderMoved, match="does not have ladder"):
            c.submit(matches["c"]).result()
        b.release()
        # what b leaves open is void when a later arena finds it long after
        for now, voided in ((NOON, []), (DAWN + timedelta(days=3), ["b"])):
            with ArenaStore(address, "d:7777", games=GAMES, people_ladders=[people]) as later:
                assert list(later.tend(now).voided) == voided
                assert list(later.tend(now).voided) == []


def test_a_server_alone_and_arenas_exclude_each_other(address: str) -> None:
    with Store(address), pytest.raises(InUse, match="is being written by process"):
        ArenaStore(address, "a:7777", games=GAMES, busy_timeout_s=BUSY_S)
    with ExitStack() as arenas:
        for name in "ab":
            arenas.enter_context(ArenaStore(address, f"{name}:7777", games=GAMES))
        with pytest.raises(InUse, match="is being written by process"):
            Store(address, busy_timeout_s=BUSY_S)
    Store(address).close()


def test_an_arena_that_stands_still_while_it_opens_holds_up_no_other(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:  # for this one alone: the next one may be slow on a busy machine
        patch.setattr(postgresql_database, "OPENING_IDLE_S", 0.2)
        stopped = find_database(address).open_for_writing(5.0, is_shared=True)  # it has not shared the lock yet
    try:
        assert stopped.is_alone
        with ArenaStore(address, "b:7777", games=GAMES) as b:
            assert dict(b.tend(NOON).epochs) == {LADDER: 1, SECOND: 1}
            with pytest.raises(StoreError, match="stood still while it opened the leaderboard"):
                stopped.share()
            idle = b.write(lambda connection: connection.exec_driver_sql("SHOW idle_session_timeout").scalar())
            assert idle == "0", "once it is open, an arena may be idle"
    finally:
        stopped.release()


@pytest.mark.parametrize(("is_synced", "state"), [(False, "active"), (True, "idle in transaction")])
def test_an_arena_that_stands_still_between_statements_sent_together_loses_the_write_lock(
    arenas: tuple[ArenaStore, ArenaStore], address: str, monkeypatch: pytest.MonkeyPatch, is_synced: bool, state: str
) -> None:
    a, _ = arenas
    monkeypatch.setattr(postgresql_database, "SHARED_IDLE_S", 0)
    with ExitStack() as stack:
        watcher = stack.enter_context(psycopg.connect(address, autocommit=True))
        stopped = psycopg.pq.PGconn.connect(address.encode())
        stack.callback(stopped.finish)
        # What psycopg sends for many rows, up to the middle: no timeout of PostgreSQL ends such a wait.
        stopped.enter_pipeline_mode()
        stopped.send_query_params(b"BEGIN", None)
        stopped.send_query_params(b"SELECT pg_advisory_xact_lock(%d)" % postgresql_database.WRITE_LOCK, None)
        if is_synced:
            stopped.pipeline_sync()
        stopped.send_flush_request()
        stopped.flush()
        waits = "SELECT state, wait_event FROM pg_stat_activity WHERE pid = %s"
        pid = stopped.backend_pid
        until(lambda: watcher.execute(waits, (pid,)).fetchone() == (state, "ClientRead"), "it holds the lock")
        assert dict(a.tend(NOON).epochs) == {LADDER: 1, SECOND: 1}
        until(lambda: watcher.execute(waits, (pid,)).fetchone() is None, "its session has ended")


def test_an_arena_of_another_version_does_not_join(address: str) -> None:
    with ArenaStore(address, "a:7777", games=GAMES):
        change_by_hand(address, "UPDATE alembic_version SET version_num = '99'")
        with pytest.raises(NewerSchema, match="has schema 99"):
            ArenaStore(address, "b:7777", games=GAMES)


def test_a_file_has_one_server(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"is a file, which one server writes; several arenas need a database postgre"):
        ArenaStore(tmp_path / "ladder.db", "a:7777", games=GAMES)


def test_a_deleted_ladder_takes_its_lease_along(arenas: tuple[ArenaStore, ArenaStore]) -> None:
    a, b = arenas
    a.tend(NOON)
    b.write(delete_ladder, SECOND)
    assert dict(a.tend(NOON).epochs) == {LADDER: 1}


# -- kills
class Arenas:
    """Two arenas in processes of their own; each prefers one of two ladders."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.number = 0
        self.acknowledged: set[str] = set()
        self._begun: set[str] = set()
        self._lines: SimpleQueue[str] = SimpleQueue()
        self._readers: list[Thread] = []
        self._numbers = ["", ""]
        self._is_ending = False
        self.running = [self.start(at) for at in range(2)]

    def start(self, at: int) -> ForkedProcess:
        self.number += 1_000_000
        self._numbers[at] = str(self.number)
        process = ForkedProcess(play_as_an_arena, self.address, (LADDER, SECOND)[at], self.number)
        reader = Thread(target=self._read, args=(process,))
        reader.start()
        self._readers.append(reader)
        return process

    def _read(self, process: ForkedProcess) -> None:
        with process.said:
            for line in process.said:
                self._lines.put(line.decode())
        self._lines.put("ended")

    def play(self, count: int) -> None:
        """Read on until `count` results of each ladder were acknowledged."""
        left = {LADDER: count, SECOND: count}
        while any(number > 0 for number in left.values()):
            if ladder := self._read_on(f"results of both ladders, missing {left}"):
                left[ladder] -= 1

    def _read_on(self, what: str) -> str:
        """Return the ladder of the next acknowledged result, or an empty text for another line."""
        try:
            line = self._lines.get(timeout=SILENCE_S)
        except Empty:
            raise AssertionError(f"no arena says anything for {SILENCE_S:g} s; waited for {what}") from None
        ladder, _, match = line.partition(" ")
        if ladder == "begun":
            self._begun.add(match.strip())
        elif ladder == "ended":
            assert self._is_ending or all(process.is_alive for process in self.running), "an arena ended by itself"
        elif match.endswith("\n"):
            self.acknowledged.add(match.strip())
            return ladder
        return ""

    def stop(self, at: int) -> None:
        """Stop an arena that has begun: one that begins alone has the database for itself, and no other would begin."""
        while self._numbers[at] not in self._begun:
            self._read_on(f"arena {at} to begin")
        self.running[at].send(signal.SIGSTOP)

    def kill(self, at: int) -> None:
        self.running[at].kill()

    def end(self) -> None:
        self._is_ending = True
        for process in self.running:
            if process.is_alive:
                process.kill()
        for reader in self._readers:
            reader.join()
        while not self._lines.empty():
            self._read_on("lines that are there")


def test_arenas_are_killed_and_stopped_and_nothing_is_lost_or_rated_twice(
    address: str, kill_loop: KillLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SHARED_STATEMENT_S", "SHARED_IDLE_S"):  # the arenas have the usual ones, and try again
        monkeypatch.setattr(postgresql_database, name, 300)
    rng, kills = kill_loop.rng, kill_loop.kills
    arenas = Arenas(address)
    try:
        for kill in kills:
            kill_loop.killed("arena, by SIGSTOP" if kill % 2 else "arena")
            arenas.play(rng.randint(1, 12))
            at = rng.randrange(2)
            if kill % 2:
                arenas.stop(at)
                arenas.play(9)  # the other arena has taken its ladders
                arenas.running[at].send(signal.SIGCONT)
            else:
                arenas.kill(at)
                arenas.running[at] = arenas.start(at)
        arenas.play(9)
    finally:
        arenas.end()
    # Sessions of killed arenas may hold locks for a moment, longer on a busy machine.
    with ArenaStore(address, "c:7777", games=GAMES, busy_timeout_s=SILENCE_S) as store:
        run_out(address)
        cut_off = store.tend(NOON).voided
        stored = {match.match: match for match in store.run(queries.matches, limit=10**6)}
        checks = recompute(store)
        with store.reading() as connection:
            takeovers = connection.exec_driver_sql("SELECT sum(epoch) FROM leases").scalar_one()
    assert arenas.acknowledged - stored.keys() == set()
    assert [(check.equal, check.differences) for check in checks] == [(True, ())] * 2
    assert takeovers > len(kills) // 2
    kill_loop.count(acknowledged_results=len(arenas.acknowledged), takeovers=int(takeovers))
    for ladder in (LADDER, SECOND):
        played = [match for match in stored.values() if match.ladder == ladder and match.void_cause is None]
        assert sorted(match.sequence or 0 for match in played) == list(range(1, len(played) + 1))
    for name, match in stored.items():
        expected = random_result(int(name[1:]), PLAYERS)
        if name in arenas.acknowledged or match.void_cause is None:
            assert [(seat.bot, seat.place) for seat in match.seats] == [(s.player.bot, s.place) for s in expected.seats]
    assert set(cut_off).isdisjoint(arenas.acknowledged)
