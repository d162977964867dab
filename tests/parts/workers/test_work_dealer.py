"""The server's side of a hosted ladder, with a real database and no worker: what is stored, and what is void."""

from __future__ import annotations

import io
import json
import random
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection

from cutpurse.engine.commitment import board_key
from cutpurse.engine.match import Match
from cutpurse.engine.record import write_record
from cutpurse.games import game_named
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.errors import StoreError
from cutpurse.leaderboard.ladders import change_ladder, create_ladders
from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.results import FinishedMatch, FinishedSeat, Identity
from cutpurse.leaderboard.store import Store
from cutpurse.server.installed_parts import hooks_of_parts
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.logs import logger
from cutpurse.server.parts.submissions import archive_table
from cutpurse.server.parts.submissions.packed_files import pack_files
from cutpurse.server.parts.submissions.submission_queries import SubmissionEntry
from cutpurse.server.parts.workers import work
from cutpurse.server.parts.workers.match_queue import PgMatchQueue
from cutpurse.server.parts.workers.match_report import CheckedReport, check_report, write_report
from cutpurse.server.parts.workers.match_task import MatchTask
from cutpurse.server.parts.workers.work_dealer import AHEAD, DealerSite, WorkDealer
from cutpurse.wire.manifest import Manifest
from tests.postgresql_server import PostgresqlServer

pytestmark = pytest.mark.full

NOW = datetime(2026, 11, 26, tzinfo=UTC)
CODE = "0"
BOTS = [Identity(owner, "sneak", "1") for owner in ("ann", "bob", "cy")]


class Desk:
    """The submitted bots, all with the same files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "bot.toml").write_text("run")
        self.built = [
            (
                SubmissionEntry(
                    *(number, number, player.owner, player.bot, player.version, bytes([number]) * 32, 1, ("cloud",)),
                    *("accepted", "", True, True, NOW, NOW),
                ),
                Manifest(player.bot, player.version, ("greed",), "python", ("python", "bot.py")),
            )
            for number, player in enumerate(BOTS, 1)
        ]
        self.checked: list[int] = []
        self.gone: list[tuple[int, str]] = []
        self.breaks = False

    def tree(self, digest: bytes) -> Path:
        return self.folder

    def check_again(self, submission: int, why: str) -> None:
        self.checked.append(submission)

    def take_off(self, submission: int, why: str) -> None:
        self.gone.append((submission, why))
        if self.breaks:
            raise RuntimeError


class World:
    """A dealer and its store, and a worker's calls."""

    def __init__(self, address: str, folder: Path) -> None:
        self.address = address
        self.desk = Desk(folder)
        self.log = io.StringIO()
        self.random = random.Random(5)  # who meets whom is the same in every run
        self.store = Store(address, hooks=hooks_of_parts())
        self.now = 0.0
        self.dealer = self.new_dealer()
        self.worker = psycopg.connect(address, autocommit=True)

    def new_dealer(self, own_ladders: Callable[[], list[str] | None] = lambda: None) -> WorkDealer:
        site = DealerSite(
            self.store,
            PgMatchQueue(),
            self.desk,
            logger(self.log),
            lambda: NOW,
            self.random.randbytes,
            lambda bot: None,
            own_ladders,
        )
        return WorkDealer(site)

    def close(self) -> None:
        self.worker.close()
        self.store.close()

    def look(self) -> None:
        """Let the dealer do a round, a minute later."""
        self.now += 60.0
        self.dealer.look(self.now)

    def waiting(self) -> list[str]:
        with psycopg.connect(self.address) as connection:
            rows = connection.execute("SELECT match_id FROM work WHERE state = 'waiting' ORDER BY since, match_id")
            return [row[0] for row in rows]

    def rows(self) -> list[str]:
        """List the matches in `work` that a worker has taken."""
        with psycopg.connect(self.address) as connection:
            return [row[0] for row in connection.execute("SELECT match_id FROM work WHERE state <> 'waiting'")]

    def jobs(self) -> list[str]:
        with psycopg.connect(self.address) as connection:
            rows = connection.execute("SELECT payload FROM pgqueuer WHERE status = 'queued' ORDER BY id")
            return [bytes(row[0]).decode() for row in rows]

    def take(self, match: str, name: str = "w1") -> tuple[str, MatchTask | None, bytes]:
        code = self.worker.execute("SELECT code FROM work WHERE match_id = %s", (match,)).fetchone()
        query = "SELECT outcome, task, seed FROM take_match_v1(%s, %s, %s)"
        row: Any = self.worker.execute(query, (match, name, code[0] if code else CODE)).fetchone()
        return row[0], None if row[1] is None else MatchTask.from_json(row[1]), bytes(row[2] or b"")

    def hand_back(self, match: str, report: bytes, name: str = "w1") -> bool:
        row: Any = self.worker.execute("SELECT hand_back_v1(%s, %s, %s)", (match, name, report)).fetchone()
        return bool(row[0])

    def play(self, match: str, name: str = "w1", seed: bytes = b"") -> MatchTask:
        """Take a match, play it with bots that choose their first option, and hand it back."""
        outcome, task, dealt = self.take(match, name)
        assert outcome == "taken"
        assert task is not None
        assert self.hand_back(match, write_report(finished(task, seed or dealt)), name)
        return task

    def lose(self, match: str) -> None:
        """Take a match, and let the queue deliver it to another worker."""
        assert self.take(match, "w1")[0] == "taken"
        assert self.take(match, "w2")[0] == "lost"

    def events(self, name: str) -> list[dict[str, Any]]:
        return [fact for line in self.log.getvalue().splitlines() if (fact := json.loads(line))["event"] == name]


def finished(task: MatchTask, seed: bytes) -> FinishedMatch:
    rules = game_named(task.game)
    names = [player.recorded for player in task.players]
    match = Match(rules, names, board_key(seed, task.params), task.settings, log=True, ask_all=True)
    while not match.over:
        decision = match.decisions()[0]
        match.answer(decision.seat, decision.number, 0)
    result = match.result()
    seats = tuple(
        FinishedSeat(player, place, score, cause.value)
        for player, place, score, cause in zip(
            task.players, result.places, result.scores, result.end_causes, strict=True
        )
    )
    return FinishedMatch(
        task.match,
        task.ladder,
        task.rules,
        task.deal(seed),
        NOW,
        NOW,
        len(match.choices),
        seats,
        lambda: write_record(match),
    )


@pytest.fixture
def world(postgresql: PostgresqlServer, tmp_path: Path) -> Iterator[World]:
    address = postgresql.create()
    ladder = Ladder("cloud", "greed", 2, {"max_rounds": "20"}, is_hosted=True)
    with Store(address, hooks=hooks_of_parts()) as store:
        store.write(create_ladders, [ladder.kept], NOW)
    made = World(address, tmp_path)
    made.look()
    yield made
    made.close()
    postgresql.free(address)


def test_matches_are_dealt_ahead_and_stored_as_they_were_played(world: World) -> None:
    first = world.waiting()
    assert len(first) == AHEAD
    assert sorted(world.jobs()) == sorted(first)
    world.look()
    assert world.waiting() == first  # more would only wait longer
    assert world.store.run(archive_table.has_archive, pack_files(world.desk.folder)[0])
    for match in first:
        world.play(match)
    world.look()
    assert [match.match for match in world.store.run(queries.matches, "cloud")] == [*reversed(first)]
    assert all(match.void_cause is None for match in world.store.run(queries.matches, "cloud"))
    assert '"choices"' in world.store.run(queries.record, first[0])
    (ladder,) = recompute(world.store)
    assert (ladder.boards, ladder.equal) == (AHEAD, True)
    assert len(world.waiting()) == AHEAD
    assert not set(world.waiting()) & set(first)


def test_the_server_that_has_the_ladder_settles_what_another_one_has_dealt(world: World) -> None:
    owned: dict[str, list[str]] = {"a": ["cloud"], "b": []}
    a, b = (world.new_dealer(lambda name=name: [*owned[name]]) for name in owned)  # type: ignore[misc]
    world.dealer = a
    world.look()
    first, second, *_ = world.waiting()
    world.play(first)
    b.look(world.now)
    assert (world.store.run(queries.matches, "cloud"), len(world.waiting())) == ([], AHEAD - 1)
    owned["a"], owned["b"] = [], ["cloud"]
    b.look(world.now)
    assert [match.match for match in world.store.run(queries.matches, "cloud")] == [first]
    assert len(world.waiting()) == AHEAD
    world.play(second)
    world.look()
    assert (len(world.store.run(queries.matches, "cloud")), a._open) == (1, {})
    b.look(world.now)
    assert [match.match for match in world.store.run(queries.matches, "cloud")] == [second, first]
    assert all(match.void_cause is None for match in world.store.run(queries.matches, "cloud"))


def test_waiting_and_taken_matches_are_counted_also_when_draining(world: World) -> None:
    first = world.waiting()
    assert world.take(first[0])[0] == "taken"
    world.dealer.drain()
    world.look()
    assert world.dealer.load.counts == {"waiting": AHEAD - 1, "taken": 1}


def test_a_false_report_is_void_and_its_worker_is_named(world: World) -> None:
    match = world.waiting()[0]
    world.play(match, "liar", seed=b"x" * 32)
    world.look()
    (stored,) = world.store.run(queries.matches, "cloud")
    assert (stored.match, stored.void_cause) == (match, "void_server")
    (refused,) = world.events("report refused")
    assert (refused["match"], refused["worker"], refused["why"]) == (match, "liar", "its record has another deal")


def test_a_lost_match_is_void_and_a_late_report_of_it_is_dropped(world: World) -> None:
    match = world.waiting()[0]
    outcome, task, seed = world.take(match, "w1")
    assert outcome == "taken"
    assert task is not None
    assert world.take(match, "w2") == ("lost", None, b"")
    world.look()
    assert not world.hand_back(match, write_report(finished(task, seed)), "w1")
    (stored,) = world.store.run(queries.matches, "cloud")
    assert stored.void_cause == "void_server"
    assert world.take(match, "w3") == ("over", None, b"")
    assert len(world.waiting()) == AHEAD  # its bots got a fresh deal


def test_a_bot_whose_matches_are_lost_three_times_in_a_row_is_checked_again(world: World) -> None:
    for _ in range(3):
        for match in world.waiting():
            world.lose(match)
        world.look()
    assert set(world.desk.checked) == {1, 2, 3}


def test_a_match_that_is_played_clears_its_bots(world: World) -> None:
    for _ in range(4):  # two losses each time, so that no bot has three in a row
        for match in world.waiting()[:2]:
            world.lose(match)
        world.look()
        played: set[Identity] = set()
        while played != set(BOTS):
            for match in world.waiting():
                played |= set(world.play(match).players)
            world.look()
    assert world.desk.checked == []


def test_a_bot_that_does_not_start_three_times_in_a_row_is_taken_off(world: World) -> None:
    ann = BOTS[0]
    while not world.desk.gone:
        for match in world.waiting():
            _, task, seed = world.take(match)
            assert task is not None
            if ann in task.players:
                report = write_report(task.void(seed, NOW), task.players.index(ann), "it ended: exit code 1")
            else:
                report = write_report(finished(task, seed))
            assert world.hand_back(match, report)
        world.look()
    assert world.desk.gone[0] == (1, "3 times in a row it ended: exit code 1")


def test_the_next_server_stores_what_workers_played_meanwhile(world: World) -> None:
    first, second, *others = world.waiting()
    _, task, seed = world.take(first)
    world.play(second)
    assert world.store.void_unfinished(NOW, has_workers=True) == []
    world.dealer = world.new_dealer()
    world.look()
    assert [match.match for match in world.store.run(queries.matches, "cloud")] == [second]
    assert task is not None
    assert world.hand_back(first, write_report(finished(task, seed)))
    for match in others:
        world.play(match)
    world.look()
    assert {match.match for match in world.store.run(queries.matches, "cloud")} == {first, second, *others}
    assert world.events("match lost") == []


def test_a_job_that_left_the_queue_is_put_back(world: World) -> None:
    world.worker.execute("DELETE FROM pgqueuer")
    world.look()
    assert sorted(world.jobs()) == sorted(world.waiting())


def test_a_frozen_ladder_gets_no_more_matches(world: World) -> None:
    entry = world.store.run(queries.ladder, "cloud")
    world.store.write(change_ladder, "cloud", type(entry.terms)(frozen=NOW))
    for match in world.waiting():
        world.play(match)
    world.look()
    assert world.waiting() == []
    assert len(world.store.run(queries.matches, "cloud")) == AHEAD


def test_matches_that_are_dealt_while_names_are_hidden_hide_them(world: World) -> None:
    entry = world.store.run(queries.ladder, "cloud")
    world.store.write(change_ladder, "cloud", type(entry.terms)(names_hidden_until=NOW + timedelta(minutes=1)))
    first = world.waiting()
    for match in first:
        world.play(match)
    world.look()
    outcome, task, seed = world.take(world.waiting()[0])
    assert (outcome, task is not None) == ("taken", True)
    assert task is not None
    assert task.hides_names
    assert [seat["bot"] for seat in json.loads(task.params)["seats"]] == ["bot-0", "bot-1"]
    assert world.hand_back(task.match, write_report(finished(task, seed)), "w1")
    world.look()
    assert world.store.run(queries.match, task.match).void_cause is None


def changed(report: bytes, **values: object) -> bytes:
    """Return a report with other values; `seat` changes its first seat."""
    fields = json.loads(zlib.decompress(report))
    fields["seats"][0].update(values.pop("seat", {}))
    return zlib.compress(json.dumps({**fields, **values}).encode())


HOSTILE: dict[str, tuple[Callable[[MatchTask, bytes], bytes], bool]] = {  # a report, and whether its match is void
    "void with a surrogate": (lambda task, seed: changed(void(task, seed), why="\ud800 \0"), True),
    "void in the year 1": (lambda task, seed: changed(void(task, seed), finished="0001-01-01T00:00:00+14:00"), True),
    "year 9999": (lambda task, seed: changed(full(task, seed), finished="9999-12-31T23:59:59-14:00"), False),
    "year 1": (lambda task, seed: changed(full(task, seed), started="0001-01-01T00:00:00+14:00"), False),
    "NUL in a note": (lambda task, seed: changed(full(task, seed), seat={"notes": [[1, "\0\ud800"]]}), False),
    "NUL in a model": (
        lambda task, seed: changed(
            full(task, seed), seat={"course": [[], [[1, 0, "timeout", "\0"]], [[1, 0, 0, 0, "\0\ud800", ""]]]}
        ),
        False,
    ),
    "large number": (lambda task, seed: changed(full(task, seed), seat={"peak_bytes": 2**70}), True),
    "wrong seat": (lambda task, seed: changed(void(task, seed), not_started=2), True),
    "foreign match": (lambda task, seed: full(task, b"x" * 32), True),
    "no report": (lambda task, seed: b"\xff" * 100, True),
    "nothing": (lambda task, seed: b"", True),
}


def void(task: MatchTask, seed: bytes) -> bytes:
    return write_report(task.void(seed, NOW), 0, "it ended")


def full(task: MatchTask, seed: bytes) -> bytes:
    return write_report(finished(task, seed))


def hand_back_all(world: World) -> dict[str, bool]:
    """Hand back each hostile report, and one honest one; return whether each match is void then, by its ID."""
    ends = {}
    for make, is_void in [*HOSTILE.values(), (full, False)]:
        while not world.waiting():
            world.dealer._deal(world.now)
        match = world.waiting()[0]
        outcome, task, seed = world.take(match)
        assert outcome == "taken"
        assert task is not None
        assert world.hand_back(match, make(task, seed))
        world.dealer.load = world.store.run(work.load)
        ends[match] = is_void
    return ends


@pytest.mark.parametrize("own", [None, ["cloud"]])
@pytest.mark.parametrize("is_restarted", [False, True])
def test_after_hostile_reports_every_match_is_over_and_the_dealer_goes_on(
    world: World, own: list[str] | None, is_restarted: bool
) -> None:
    ends = hand_back_all(world)
    if is_restarted or own is not None:
        world.store.close()
        world.store = Store(world.address, hooks=hooks_of_parts())
        world.store.void_unfinished(NOW, has_workers=True)
        world.dealer = world.new_dealer(lambda: own)
    world.look()
    assert {
        match.match: match.void_cause is not None for match in world.store.run(queries.matches, "cloud", limit=99)
    } == ends
    assert all(NOW == match.started == match.finished for match in world.store.run(queries.matches, "cloud", limit=99))
    assert world.rows() == []
    assert len(world.waiting()) == AHEAD
    assert world.events("dealer broke") == world.events("end not noted") == world.events("result not stored") == []
    for match in world.waiting():
        world.play(match)
    world.look()
    assert len(world.store.run(queries.matches, "cloud", limit=99)) == len(ends) + AHEAD


@pytest.mark.parametrize("own", [None, ["cloud"]])
def test_a_row_of_a_match_that_is_stored_already_is_removed(
    world: World, own: list[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    played, lost, *_ = world.waiting()
    world.play(played)
    world.lose(lost)

    def fail(connection: Connection, matches: list[str]) -> None:
        raise StoreError("gone")

    with monkeypatch.context() as patched:
        patched.setattr(work, "remove", fail)
        with pytest.raises(StoreError):
            world.look()
    assert sorted(world.rows()) == sorted([played, lost])
    world.dealer = world.new_dealer(lambda: own)
    world.look()
    assert world.rows() == []
    assert {match.match: match.void_cause for match in world.store.run(queries.matches, "cloud")} == {
        played: None,
        lost: "void_server",
    }


def test_a_result_that_cannot_be_stored_is_void(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, *_ = world.waiting()

    def changed_report(report: bytes, task: MatchTask, seed: bytes, now: datetime) -> CheckedReport:
        checked = check_report(report, task, seed, now)
        if task.match == first:
            checked = CheckedReport(replace(checked.result, make_record=lambda: "\ud800"))
        return checked

    monkeypatch.setattr("cutpurse.server.parts.workers.work_dealer.check_report", changed_report)
    world.play(first)
    world.play(second)
    world.look()
    assert {match.match: match.void_cause for match in world.store.run(queries.matches, "cloud")} == {
        first: "void_server",
        second: None,
    }
    assert world.rows() == []


def test_a_task_that_cannot_be_read_is_void(world: World) -> None:
    first, second, *_ = world.waiting()
    world.play(first)
    world.play(second)
    world.worker.execute('UPDATE work SET task = \'{"seats":[],"new":1}\' WHERE match_id = %s', (first,))
    world.dealer = world.new_dealer()
    world.look()
    assert world.store.run(queries.match, first).void_cause == "void_server"
    assert world.store.run(queries.match, second).void_cause is None


def test_a_bot_that_cannot_be_taken_off_holds_up_nothing(world: World) -> None:
    world.desk.breaks = True
    over = 0
    while len(world.desk.gone) < 2:
        for match in world.waiting():
            _, task, seed = world.take(match)
            assert task is not None
            assert world.hand_back(match, void(task, seed))
            over += 1
        world.look()
    assert len(world.events("end not noted")) == len(world.desk.gone)
    assert len(world.events("match ended")) == over
    assert len(world.waiting()) == AHEAD


def test_the_name_of_a_worker_is_cut(world: World) -> None:
    match = world.waiting()[0]
    world.play(match, "w" * 10_000)
    world.look()
    assert [event["worker"] for event in world.events("match ended")] == ["w" * 200]
