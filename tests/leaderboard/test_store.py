"""A result goes in whole, once, and comes out as it went in."""

import os
import random
import stat
import threading
from concurrent.futures import Future
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from sqlalchemy import Connection

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.errors import InvalidEntry, NoSuchEntry, StoreError
from cutpurse.leaderboard.estimates.estimated import Estimated
from cutpurse.leaderboard.estimates.result_matrix import LadderEstimates, put_estimates
from cutpurse.leaderboard.ladders import NewLadder, ensure_ladder, open_epoch
from cutpurse.leaderboard.owner_registry import ensure_version
from cutpurse.leaderboard.ratings import Skill, TrueSkill, rate
from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.leaderboard.results import Deal, FinishedSeat, Identity, StoreOutcome
from cutpurse.leaderboard.store import Store
from cutpurse.server.parts.submissions import archive_table
from tests.leaderboard.sample_results import (
    DAWN,
    LADDER,
    PLAYERS,
    RATING,
    add_version,
    player_of,
    prepare,
    random_result,
    result,
)

ANN, BOB = PLAYERS[:2]


# -- storing
def test_a_result_is_stored_with_its_record_and_its_ratings(store: Store, versions: list[Identity]) -> None:
    seats = (
        FinishedSeat(versions[0], 2, 7, "normal", faults=0, thinking_ms=120),
        FinishedSeat(versions[1], 1, 9, "normal", faults=1, thinking_ms=4000),
        FinishedSeat(versions[2], 4, -1, "timeout", faults=3, thinking_ms=0),
        FinishedSeat(versions[3], 2, 7, "normal", faults=0, thinking_ms=2**40),
    )
    deal = Deal("b1", b"\x00" * 32, b"\xff" * 32, b'{"board":"b1"}')
    stored = store.submit(
        result("m1", versions[:4], seats=seats, rules="3", decisions=115, deal=deal, record="a record \u00e9")
    ).result()

    newcomers = [RATING.newcomer] * 4
    skills = rate([2, 1, 4, 2], newcomers, RATING)
    assert stored.sequence == 1
    assert [(change.player, change.before, change.after) for change in stored.changes] == list(
        zip(versions[:4], newcomers, skills, strict=True)
    )
    match = store.run(queries.match, "m1")
    assert (match.number, match.board, match.ladder, match.game, match.rules) == (1, "b1", LADDER, "greed", "3")
    assert (match.started, match.finished, match.decisions) == (DAWN, DAWN + timedelta(seconds=3), 115)
    assert (match.void_cause, match.sequence, match.deal, match.settings) == (None, 1, deal, {})
    assert [
        FinishedSeat(player_of(s), s.place, s.score, s.end_cause, s.faults, s.thinking_ms) for s in match.seats
    ] == [*seats]
    assert [(s.before, s.after) for s in match.seats] == list(zip(newcomers, skills, strict=True))
    assert store.run(queries.record, "m1") == "a record \u00e9"
    assert [
        (r.place, r.bot, r.pairing_skill, r.matches, r.wins, r.faulted) for r in store.run(queries.rankings, LADDER)
    ] == [
        (0, "bot 0", skills[0], 1, 0, 0),  # nothing is estimated yet
        (0, "bot 1", skills[1], 1, 1, 1),
        (0, "bot 2", skills[2], 1, 0, 1),
        (0, "bot 3", skills[3], 1, 0, 0),
    ]


def test_a_rating_goes_on_from_the_match_before_in_one_batch_or_in_two(store: Store, versions: list[Identity]) -> None:
    first = store.submit(result("m1", versions[:4])).result()
    waiting = [store.submit(result(f"m{n}", versions[:4])) for n in (2, 3, 4)]
    skills = [change.after for change in first.changes]
    for sequence, future in enumerate(waiting, 2):
        stored = future.result()
        assert stored.sequence == sequence
        assert [change.before for change in stored.changes] == skills
        skills = rate([1, 2, 3, 4], skills, RATING)
        assert [change.after for change in stored.changes] == skills
    assert {player_of(r): r.pairing_skill for r in store.run(queries.rankings, LADDER)} == dict(
        zip(versions[:4], skills, strict=True)
    )


def test_a_repeat_changes_nothing_and_is_answered_as_the_first_time(store: Store, versions: list[Identity]) -> None:
    first = store.submit(result("m1", versions[:4])).result()
    store.submit(result("m2", versions[3:7])).result()
    ranked = store.run(queries.rankings, LADDER)
    again = store.submit(result("m1", versions[:4])).result()
    other = store.submit(result("m1", versions[4:8], record="something else")).result()
    assert again == other == first
    assert store.run(queries.rankings, LADDER) == ranked
    assert store.run(queries.record, "m1") == '{"match":"m1"}'
    assert [match.match for match in store.run(queries.matches)] == ["m2", "m1"]


def test_a_void_match_is_stored_and_rates_nothing(store: Store, versions: list[Identity]) -> None:
    seats = tuple(FinishedSeat(version, None, None, "void_server", thinking_ms=7) for version in versions[:4])
    void = result("m1", versions[:4], seats=seats, void_cause="void_server", record="")
    stored = store.submit(void).result()
    assert stored == StoreOutcome()
    assert store.submit(void).result() == stored
    assert store.run(queries.rankings, LADDER) == []
    match = store.run(queries.match, "m1")
    assert (match.void_cause, match.sequence, match.deal) == ("void_server", None, void.deal)
    assert [(s.place, s.score, s.before, s.after) for s in match.seats] == [(None, None, None, None)] * 4
    with pytest.raises(NoSuchEntry, match="match m1 has no record"):
        store.run(queries.record, "m1")
    assert store.submit(result("m2", versions[:4])).result().sequence == 1


def test_what_is_cancelled_or_still_waits_at_the_end_is_stored_all_the_same(database: str) -> None:
    with Store(database) as store:
        versions = prepare(store)
        futures = [store.submit(random_result(number, versions)) for number in range(300)]
        assert not any(future.cancel() for future in futures)
    assert all(future.done() for future in futures)
    with pytest.raises(StoreError, match=r"the leaderboard .* is closed"):
        store.submit(random_result(0, versions)).result()
    store.close()
    with Store(database) as store:
        assert len(store.run(queries.matches, limit=1000)) == 300


@pytest.mark.parametrize("is_linked", [False, True])
def test_what_is_made_is_for_its_user_alone_and_what_is_there_keeps_its_mode(tmp_path: Path, is_linked: bool) -> None:
    folder, path = tmp_path / "data", tmp_path / "data" / "ladder.db"
    folder.mkdir()
    if is_linked:
        path = tmp_path / "ladder.db"
        path.symlink_to(folder / "ladder.db")
    before = os.umask(0)
    try:
        for mode in (0o600, 0o644):
            with Store(path) as store:
                prepare(store)
                modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}
            kept = {"ladder.db", "ladder.db-wal", "ladder.db-shm"}
            assert modes == dict.fromkeys(kept, mode) | {"ladder.db.lock": 0o600}
            path.chmod(0o644)
    finally:
        os.umask(before)


def test_a_moment_comes_back_in_utc(store: Store, versions: list[Identity]) -> None:
    there = timezone(timedelta(hours=5, minutes=30))
    started = datetime(2026, 11, 21, 2, 0, 0, 123456, tzinfo=there)
    store.submit(result("m1", versions[:4], started=started, finished=started)).result()
    assert store.run(queries.match, "m1").started == started
    assert store.run(queries.match, "m1").started.utcoffset() == timedelta(0)


# -- once only
def test_eight_threads_hand_in_each_result_several_times_and_it_counts_once(
    store: Store, versions: list[Identity]
) -> None:
    results = {number: random_result(number, versions) for number in range(120)}
    answers: dict[str, list[Future[StoreOutcome]]] = {r.match: [] for r in results.values()}
    everybody = threading.Barrier(8)

    def hand_in(thread: int) -> None:
        rng = random.Random(thread)
        mine = [number for number in results for _ in range(rng.randint(1, 5))]
        rng.shuffle(mine)
        everybody.wait()
        for number in mine:
            answers[f"m{number}"].append(store.submit(results[number]))

    threads = [threading.Thread(target=hand_in, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stored = {match: {future.result() for future in futures} for match, futures in answers.items()}

    assert all(len(different) == 1 for different in stored.values())
    counted = [r for r in results.values() if not r.is_void]
    assert 0 < len(counted) < len(results)
    sequences = sorted(answer.sequence for (answer,) in stored.values() if answer.sequence)
    assert sequences == list(range(1, len(counted) + 1))
    assert sum(ranking.matches for ranking in store.run(queries.rankings, LADDER)) == 4 * len(counted)
    assert len(store.run(queries.matches, limit=1000)) == len(results)
    for match, (answer,) in stored.items():
        assert [(player_of(s), s.before, s.after) for s in store.run(queries.match, match).seats if s.before] == [
            (change.player, change.before, change.after) for change in answer.changes
        ]


def test_a_reader_sees_whole_results_while_others_are_written(store: Store, versions: list[Identity]) -> None:
    done = threading.Event()
    looks: list[tuple[int, int, int]] = []

    def look() -> None:
        while not done.is_set():
            with store.reading() as connection:
                (ladder,) = queries.ladders(connection)
                seats = sum(ranking.matches for ranking in queries.rankings(connection, LADDER))
                newest = queries.matches(connection, LADDER, limit=1)
                number = next((match.sequence for match in newest if match.sequence), ladder.matches)
            looks.append((ladder.matches, seats, number))

    readers = [threading.Thread(target=look) for _ in range(3)]
    for reader in readers:
        reader.start()
    for batch in range(20):
        for future in [store.submit(random_result(10 * batch + n, versions)) for n in range(10)]:
            future.result()
    done.set()
    for reader in readers:
        reader.join()
    assert len({matches for matches, _, _ in looks}) > 3
    assert [look for look in looks if look[1] != 4 * look[0] or look[2] != look[0]] == []


# -- refused
def test_a_result_that_does_not_fit_is_refused_and_the_others_are_none_the_worse(
    store: Store, versions: list[Identity]
) -> None:
    store.submit(result("m0", versions[:4], board="b0")).result()
    futures = [
        store.submit(bad)
        for bad in (
            result("m1", versions[:4], ladder="no such ladder"),
            result("m2", versions[:3]),
            result("m3", [*versions[:3], Identity("ann", "", "1")]),
            result("m4", versions[:4], board="b0"),
            result("m5", versions[:4]),
        )
    ]
    assert [str(future.exception()) for future in futures[:4]] == [
        "match m1: there is no ladder 'no such ladder'",
        "match m2: it has 3 seats, and ladder greed-main has 4",
        "the name of a bot is ''; it needs 1-200 printable characters without a space at its ends",
        "match m4: board b0 has its match already, m0",
    ]
    assert all(isinstance(future.exception(), InvalidEntry) for future in futures[:4])
    assert futures[4].result().sequence == 2
    assert [match.match for match in store.run(queries.matches)] == ["m5", "m0"]


def test_a_value_that_no_column_takes_spoils_only_its_own_result(store: Store, versions: list[Identity]) -> None:
    broken = result("m1", versions[:4], rules=object())
    futures = [store.submit(r) for r in (result("m0", versions[:4]), broken, result("m2", versions[:4]))]
    assert str(futures[1].exception()) == "the match cannot be written down"
    assert [futures[0].result().sequence, futures[2].result().sequence] == [1, 2]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"match": ""}, "the id of a match is ''"),
        ({"match": "m\x1b[2J"}, "printable"),
        ({"board": " b"}, "the id of a board is ' b'"),
        ({"started": datetime(2026, 1, 1)}, "need a time zone"),  # noqa: DTZ001  # that is what is refused
        ({"decisions": -1}, "are counts"),
        ({"seats": (FinishedSeat(ANN, 1, 1, "normal"),)}, "1 seats; a match has at least 2"),
        (
            {"seats": (FinishedSeat(ANN, 1, 1, "normal"), FinishedSeat(ANN, 2, 0, "normal"))},
            "sits in two seats",
        ),
        (
            {"seats": (FinishedSeat(ANN, 1, 1, "normal"), FinishedSeat(BOB, 3, 0, "normal"))},
            r"has place 2, not 3",
        ),
        (
            {"seats": (FinishedSeat(ANN, 2, 1, "normal"), FinishedSeat(BOB, 2, 1, "normal"))},
            r"has place 1, not 2",
        ),
        (
            {"seats": (FinishedSeat(ANN, 1, 1, "normal"), FinishedSeat(BOB, None, 0, "normal"))},
            "every seat has a place",
        ),
        (
            {"seats": (FinishedSeat(ANN, 1, 1, "normal"), FinishedSeat(BOB, 2, 2**63, "normal"))},
            "at most 63 bits",
        ),
        (
            {"seats": (FinishedSeat(ANN, 1, 1, "normal", faults=-1), FinishedSeat(BOB, 2, 0, "normal"))},
            "are counts",
        ),
        ({"void_cause": "void_server"}, "its seats have no place"),
    ],
)
def test_a_result_that_could_not_have_happened_is_refused(store: Store, changed: dict[str, object], said: str) -> None:
    fields: dict[str, object] = {"match": "m1", "players": PLAYERS[:2], **changed}
    with pytest.raises(InvalidEntry, match=said):
        store.submit(result(**fields)).result()  # type: ignore[arg-type]  # by name


def test_a_function_writes_all_or_nothing_and_only_what_has_copies_counts_as_a_change(store: Store) -> None:
    def fail(connection: Connection, key: bytes) -> None:
        archive_table.put_archives(connection, {key: b"content"})
        raise ValueError("no")

    seen = store.changes
    store.write_uncached(archive_table.put_archives, contents={b"first": b"content"})
    with pytest.raises(ValueError, match="no"):
        store.write(fail, b"second")
    assert (store.run(archive_table.archive_keys), store.changes) == ({b"first"}, seen)
    later = store.write_later(ensure_version, "ann", "sneak", version="1.0")
    assert store.write(ensure_version, "ann", "sneak", "1.0") == later.result()
    assert store.changes == seen + 2
    with pytest.raises(TypeError):
        store.write(ensure_version, "ann", "sneak")  # type: ignore[call-arg]  # it has no version
    with pytest.raises(StoreError):
        store.run(archive_table.put_archives, {b"third": b"content"})  # the connection is read-only


# -- names and ladders
def test_names_are_made_once(store: Store) -> None:
    one = store.write(ensure_version, "ann", "sneak", "1.0")
    assert store.write(ensure_version, "ann", "sneak", "1.0") == one
    others = [("bob", "sneak", "1.0"), ("ann", "thug", "1.0"), ("ann", "sneak", "1.1"), ("ann", "sneak", "'; --")]
    assert len({one, *(store.write(ensure_version, *names) for names in others)}) == 5
    for names in (("", "b", "v"), ("o", "b" * 201, "v"), ("o", "b", "v\n"), ("o", "b", "\ud800"), ("o", "b", "v ")):
        with pytest.raises(InvalidEntry, match="1-200 printable characters"):
            store.write(ensure_version, *names)


def test_a_ladder_is_made_once_and_never_changes(store: Store) -> None:
    clock = {"base_ms": 1000, "bank_ms": 10_000}

    def ensure(**other: object) -> int:
        fields: dict[str, object] = {"game": "greed", "seats": 4, "rating": RATING, "settings": {"b": "x", "a": "y"}}
        new = NewLadder("greed-fast", **{**fields, "clock": clock, **other})  # type: ignore[arg-type]
        return store.write(ensure_ladder, new)

    made = ensure()
    assert ensure(settings={"a": "y", "b": "x"}) == made
    for other, said in (
        ({"game": "szmal"}, "ladder greed-fast has game greed, not szmal; a ladder never changes"),
        ({"seats": 3}, "has seats 4, not 3"),
        ({"settings": {}}, r'has settings {"a":"y","b":"x"}, not {}'),
        ({"clock": {}}, "has clock"),
        ({"rating": TrueSkill(draw_probability=0.5)}, "to change that, open an epoch"),
    ):
        with pytest.raises(InvalidEntry, match=said):
            ensure(**other)
    with pytest.raises(InvalidEntry, match="ladder one has 1 seats; at least 2 are needed"):
        store.write(ensure_ladder, NewLadder("one", game="greed", seats=1, rating=RATING))
    (entry,) = store.run(queries.ladders)
    assert (entry.name, entry.game, entry.settings, entry.seats, entry.clock, entry.rating, entry.matches) == (
        *("greed-fast", "greed", {"a": "y", "b": "x"}, 4, clock),
        *(RATING, 0),
    )


def test_an_epoch_rates_with_other_numbers_from_the_next_board_on(store: Store, versions: list[Identity]) -> None:
    store.submit(result("m1", versions[:4])).result()
    fitted = TrueSkill(draw_probability=0.02, beta=9.0, tau=0.01)
    assert store.write(open_epoch, LADDER, fitted) == 2
    assert store.write(open_epoch, LADDER, fitted) == 2
    assert store.submit(result("m1", versions[:4])).result().changes[0].before == RATING.newcomer
    before = [s.after for s in store.run(queries.match, "m1").seats if s.after]
    after = [change.after for change in store.submit(result("m2", versions[:4])).result().changes]
    assert after == rate([1, 2, 3, 4], before, fitted)
    assert after != rate([1, 2, 3, 4], before, RATING)
    assert store.run(queries.ladders)[0].rating == fitted
    with pytest.raises(InvalidEntry, match="no ladder 'nowhere'"):
        store.write(open_epoch, "nowhere", fitted)


def test_ladders_are_rated_apart(store: Store, versions: list[Identity]) -> None:
    store.write(ensure_ladder, NewLadder("szmal-main", game="szmal", seats=2, rating=TrueSkill(draw_probability=0.2)))
    futures = [
        store.submit(result("g1", versions[:4])),
        store.submit(result("s1", versions[:2], ladder="szmal-main")),
        store.submit(result("g2", versions[:4])),
    ]
    assert [future.result().sequence for future in futures] == [1, 1, 2]
    assert [ladder.matches for ladder in store.run(queries.ladders)] == [2, 1]
    assert [r.matches for r in store.run(queries.rankings, "szmal-main")] == [1, 1]
    assert [match.match for match in store.run(queries.matches, "szmal-main")] == ["s1"]
    assert [match.match for match in store.run(queries.matches, LADDER)] == ["g2", "g1"]


# -- reading
def test_a_ranking_has_the_newest_version_of_each_bot_or_every_version(store: Store, versions: list[Identity]) -> None:
    newer = add_version(store, "owner 0", "bot 0", "2.0")
    store.submit(result("m1", versions[:4])).result()
    assert [r.version for r in store.run(queries.rankings, LADDER)] == ["1.0"] * 4
    store.submit(result("m2", [versions[1], versions[2], versions[3], newer])).result()
    assert [(r.bot, r.version) for r in store.run(queries.rankings, LADDER)][-1] == ("bot 0", "2.0")
    everything = store.run(queries.rankings, LADDER, every_version=True)
    assert [r.version for r in everything if r.bot == "bot 0"] == ["1.0", "2.0"]
    assert len(everything) == 5


def test_equal_ratings_share_a_place(store: Store, versions: list[Identity]) -> None:
    store.write(ensure_ladder, NewLadder("two", game="greed", seats=2, rating=RATING))
    for number in range(10):
        store.submit(result(f"a{number}", versions[:2], ladder="two")).result()
        store.submit(result(f"b{number}", versions[2:4], ladder="two")).result()
    ratings = {versions[0]: 20.0, versions[1]: 20.0, versions[2]: 15.0, versions[3]: 30.0}
    found = {
        store.write(ensure_version, *version): Estimated(mu, mu - 1, mu + 1, 1, 4) for version, mu in ratings.items()
    }
    store.write(put_estimates, LadderEstimates("two", 20, found), DAWN)
    assert [(r.place, r.bot) for r in store.run(queries.rankings, "two")] == [
        (1, "bot 3"),
        (2, "bot 0"),
        (2, "bot 1"),
        (4, "bot 2"),
    ]


def test_matches_are_turned_page_by_page(store: Store, versions: list[Identity]) -> None:
    newer = add_version(store, "owner 1", "bot 1", "2.0")
    results = [random_result(number, [*versions, newer]) for number in range(60)]
    for one in results:
        store.submit(one).result()
    pages: list[str] = []
    before = None
    while page := store.run(queries.matches, limit=7, before=before):
        pages += [match.match for match in page]
        before = page[-1].number
    assert pages == [r.match for r in reversed(results)]

    both = {versions[1], newer}
    wanted = [r.match for r in reversed(results) if both & {seat.player for seat in r.seats}]
    assert [match.match for match in store.run(queries.matches, owner="owner 1", bot="bot 1", limit=1000)] == wanted
    first = store.run(queries.matches, LADDER, "owner 1", "bot 1", limit=5)
    rest = store.run(queries.matches, LADDER, "owner 1", "bot 1", limit=1000, before=first[-1].number)
    assert [match.match for match in first + rest] == wanted
    assert 5 < len(wanted) < 60


def test_what_is_not_there_is_said(store: Store, versions: list[Identity]) -> None:
    assert versions == PLAYERS
    for ask, said in (
        (lambda: store.run(queries.match, "m9"), "there is no match 'm9'"),
        (lambda: store.run(queries.record, "m9"), "there is no match 'm9'"),
        (lambda: store.run(queries.rankings, "nowhere"), "there is no ladder 'nowhere'"),
        (lambda: store.run(queries.matches, "nowhere"), "there is no ladder 'nowhere'"),
        (lambda: store.run(queries.matches, owner="ann", bot="bot 0"), "owner 'ann' has no bot 'bot 0'"),
    ):
        with pytest.raises(NoSuchEntry, match=said):
            ask()


def test_a_reader_cannot_write(store: Store) -> None:
    with (
        pytest.raises(StoreError, match=r"attempt to write a readonly database|in a read-only transaction"),
        store.reading() as connection,
    ):
        connection.exec_driver_sql("DELETE FROM owners")


def test_a_float_is_stored_to_the_bit(store: Store, versions: list[Identity]) -> None:
    stored = store.submit(result("m1", versions[:4])).result()
    with store.reading() as connection:
        rows = connection.exec_driver_sql("SELECT mu, sigma FROM ratings ORDER BY version_id").all()
    found = [Skill(*row) for row in rows]
    assert [[n.hex() for n in skill] for skill in found] == [[n.hex() for n in c.after] for c in stored.changes]


@pytest.mark.parametrize("address", ["mysql://host/db", Path("postgresql://host/db"), ":memory:", "", "sqlite:///"])
def test_only_a_file_is_taken(address: str | Path) -> None:
    with pytest.raises(StoreError, match=r"a leaderboard is (kept|stored) in"):
        Store(address)


def test_a_path_may_have_any_characters(tmp_path: Path) -> None:
    odd = tmp_path / "a b%20c?mode=ro#d"
    with Store(odd) as store:
        prepare(store)
        assert store.run(queries.rankings, LADDER) == []
    assert odd.exists()


def test_a_connection_that_another_thread_still_uses_is_closed_when_it_comes_back(database: str) -> None:
    with Store(database) as store:
        prepare(store)
    reader = LeaderboardReader(database)
    with reader.reading() as connection:
        in_use = connection.connection.dbapi_connection
        reader.close()
        assert queries.ladder(connection, LADDER).name == LADDER
    assert in_use is not None
    with pytest.raises(Exception, match="closed"):
        in_use.cursor().execute("SELECT 1")
