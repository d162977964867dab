"""A league goes from SQLite to PostgreSQL and back, and every bit of it is the same."""

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import pytest
from sqlalchemy import Insert, insert

from cutpurse.leaderboard import copying, queries, seasons, tournaments, version_tests
from cutpurse.leaderboard.copying import copy_leaderboard
from cutpurse.leaderboard.databases import find_database
from cutpurse.leaderboard.errors import InUse, InvalidEntry, OlderSchema, StoreError
from cutpurse.leaderboard.estimates.result_matrix import ladder_results, put_estimates
from cutpurse.leaderboard.events import EventEntry
from cutpurse.leaderboard.ladders import NewLadder
from cutpurse.leaderboard.models import Base
from cutpurse.leaderboard.owner_registry import NewToken, create_tokens
from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.relations import ARENAS, EVENT_BOARDS, LEASES
from cutpurse.leaderboard.results import DecisionLog, DecisionUsage, FinishedSeat, Identity, SeatNote
from cutpurse.leaderboard.schema import newest_revision
from cutpurse.leaderboard.seasons import NewSeason, SeasonBot
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tournaments import TournamentBoardEntry
from cutpurse.server.installed_parts import hooks_of_parts
from cutpurse.server.parts.notices import receivers
from cutpurse.server.parts.notices.receivers import WEBHOOK, NewReceiver
from cutpurse.server.parts.notices.tables import OUTBOX, OVERTAKINGS
from cutpurse.server.parts.sign_in.accounts import ProviderAccount, link_account
from cutpurse.server.parts.submissions import archive_table, submissions
from cutpurse.server.parts.submissions.bot_memories import replace_memory
from cutpurse.server.parts.submissions.submissions import NewSubmission
from cutpurse.server.parts.workers import work
from cutpurse.server.parts.workers.tables import REPORTS
from cutpurse.server.parts.workers.work import NewWork
from tests.leaderboard.sample_results import DAWN, LADDER, PLAYERS, RATING, add_version, prepare, random_result, result
from tests.leaderboard.test_announced import announcement
from tests.postgresql_server import PostgresqlServer


def fill(store: Store, matches: int) -> None:
    """A league with a row in each table."""
    versions = prepare(store)
    for future in [store.submit(random_result(number, versions)) for number in range(matches)]:
        future.result()
    log = DecisionLog((1, 2, 3), (), (DecisionUsage(2, 2**30, 61, 310, "small"),))
    for number in range(3):  # after which the first is paused
        seats = (
            FinishedSeat(versions[0], 4, 0, "timeout", 3, 7, course=log, notes=(SeatNote(1, "so it is \u2013"),)),
            *(FinishedSeat(version, 1, 5, "normal") for version in versions[1:4]),
        )
        store.submit(result(f"fault {number}", versions[:4], seats=seats)).result()
    store.announce(announcement(result("open", versions[:4]))).result()
    store.write(create_tokens, [NewToken("ann", "laptop \u00e9")], DAWN + timedelta(microseconds=1))
    store.write(link_account, ProviderAccount("https://login.school.example", "ann \u00e9"), "ann", DAWN)
    store.write(submissions.hand_in, NewSubmission("ann", "sneak", "1", bytes(32), 2**40, ()), DAWN)
    store.write(put_estimates, store.run(ladder_results, LADDER).estimates(), DAWN)
    store.write_uncached(archive_table.put_archives, {bytes(32): b"files"})
    receiver = store.write(
        receivers.add_receiver, NewReceiver("ann", WEBHOOK, "https://ann.example/\u00e9", b"\0key"), DAWN
    )
    version = add_version(store, "owner 0", "bot 0", "2.0")
    test = EventEntry("t1", LADDER, "owner 0", "{}", DAWN)
    store.write(version_tests.start, test, Identity(*version), Identity(*versions[0]), 9, 9)
    store.write(tournaments.start, EventEntry("t2", LADDER, "ann", "{}", DAWN), 9)
    store.write(tournaments.put_board, "t2", TournamentBoardEntry(1, 0, "match", "1="))
    ladder = NewLadder("cup-1-s1", "greed", 2, RATING)
    season = NewSeason([ladder], [SeasonBot("owner 0", "bot 0", 1, 1)], DAWN)
    store.write(seasons.start, EventEntry("s1", "", "ann", "{}", DAWN, name="cup"), season, 9)
    for row in (
        insert(OUTBOX).values(number=2**40, receiver_id=receiver.id, event_id="e1", body='{"text": "\u2013"}'),
        insert(OVERTAKINGS).values(ladder_id=1, bot_id=1, other_id=2, at=DAWN + timedelta(microseconds=3)),
        insert(EVENT_BOARDS).values(event_id="t1", duel=0, board=0, match_id="", board_id="board of open", result=""),
    ):
        put(store, row)
    lease = insert(LEASES).values(ladder_id=1, holder="one", address="10.0.0.1:7777", epoch=1, until=DAWN)
    put(store, lease)
    put(store, insert(ARENAS).values(holder="one", address="10.0.0.1:7777", until=DAWN))
    report = insert(REPORTS).values(match_id="open", report=b"report")
    store.write_uncached(work.put, [NewWork("open", "0.1", "{}", bytes(32))], DAWN)
    put(store, report)
    store.write_uncached(replace_memory, "ann", "sneak", LADDER, sha256(b"").digest(), b"n\x001\n1", DAWN)


def put(store: Store, row: Insert) -> None:
    """Store a row that no method of the store writes alone."""
    store.write_uncached(lambda connection: connection.execute(row).close())


def contents(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Each row of a file, floats and all, as SQLite has them."""
    with closing(sqlite3.connect(path)) as file:
        return {
            name: sorted(file.execute(f"SELECT * FROM {name}").fetchall(), key=repr)
            for name in [*sorted(Base.metadata.tables), "alembic_version"]
        }


@pytest.mark.full
def test_there_and_back_is_the_same_to_the_bit(tmp_path: Path, postgresql: PostgresqlServer) -> None:
    there = find_database(postgresql.create())
    with Store(tmp_path / "first.db") as store:
        fill(store, 150)
    copied = copy_leaderboard(find_database(tmp_path / "first.db"), there)
    with Store(there) as store:
        assert all(check.equal for check in recompute(store))
        ranked = store.run(queries.rankings, LADDER)
    seen: list[tuple[int, int]] = []
    back = copy_leaderboard(there, find_database(tmp_path / "last.db"), lambda done, total: seen.append((done, total)))
    first, last = contents(tmp_path / "first.db"), contents(tmp_path / "last.db")
    assert [name for name, rows in first.items() if not rows] == []
    assert first == last
    assert back == copied
    assert seen[-1] == (back.rows, back.rows) == (sum(map(len, first.values())) - 1,) * 2
    hooks = hooks_of_parts()
    with Store(there, hooks=hooks) as one, Store(tmp_path / "last.db", hooks=hooks) as other:  # both go on alike
        for store in (one, other):
            assert store.run(queries.rankings, LADDER) == ranked
            assert store.void_unfinished(DAWN + timedelta(days=1)) == ["open"]
            new = add_version(store, "zoe", "sneak", "1")
            assert store.submit(result("new", [new, *PLAYERS[1:4]])).result().sequence is not None
        assert one.run(queries.rankings, LADDER) == other.run(queries.rankings, LADDER)
        assert [entry.number for entry in one.run(queries.matches)] == [
            entry.number for entry in other.run(queries.matches)
        ]


def test_what_has_a_league_is_not_replaced(new_database: Callable[[str], str], tmp_path: Path) -> None:
    with Store(tmp_path / "first.db") as store:
        fill(store, 5)
    target = find_database(new_database("target"))
    with Store(target) as store:
        add_version(store, "ann", "sneak", "1")
    with pytest.raises(InvalidEntry, match="has a league already, and a copy replaces nothing: name an empty"):
        copy_leaderboard(find_database(tmp_path / "first.db"), target)
    with Store(target) as store:
        assert len(store.run(queries.bots)) == 1
        assert store.run(queries.ladders) == []


def test_a_copy_that_differs_or_is_cut_off_is_not_kept(
    new_database: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(tmp_path / "first.db") as store:
        fill(store, 5)
    source, target = find_database(tmp_path / "first.db"), find_database(new_database("target"))
    with monkeypatch.context() as patch:
        patch.setattr(copying, "_add", lambda digest, rows: digest.update(random.randbytes(8)))
        with pytest.raises(StoreError, match=r"the copy of \w+ in .* differs from its source; nothing was copied"):
            copy_leaderboard(source, target)

    def cut_off(done: int, total: int) -> None:
        if done > 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_leaderboard(source, target, cut_off)
    assert copy_leaderboard(source, target).rows > 20  # it was empty still


def test_only_a_database_of_this_schema_is_copied_and_only_to_where_nobody_writes(
    new_database: Callable[[str], str], tmp_path: Path
) -> None:
    target = find_database(new_database("target"))
    (tmp_path / "empty.db").touch()
    with pytest.raises(OlderSchema, match="is no leaderboard yet"):
        copy_leaderboard(find_database(tmp_path / "empty.db"), target)
    with Store(tmp_path / "first.db") as store:
        fill(store, 1)
        with Store(target), pytest.raises(InUse):
            copy_leaderboard(store.database, target)
        assert copy_leaderboard(store.database, target).revision == newest_revision()
