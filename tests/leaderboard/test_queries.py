"""Whatever readers ask, they are answered as if somebody went through all results by hand."""

import itertools
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.dialects import sqlite

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.errors import InvalidEntry, NoSuchEntry
from cutpurse.leaderboard.ladders import NewLadder, ensure_ladder
from cutpurse.leaderboard.owner_registry import ensure_version
from cutpurse.leaderboard.queries import MatchEntry
from cutpurse.leaderboard.queries.matches import _newest, _seated
from cutpurse.leaderboard.ratings import TrueSkill
from cutpurse.leaderboard.results import FinishedMatch, Identity, StoreOutcome
from cutpurse.leaderboard.store import Store
from tests.leaderboard.sample_results import (
    DAWN,
    LADDER,
    RATING,
    add_version,
    player_of,
    prepare,
    random_result,
    result,
)
from tests.leaderboard.test_schema import schema_22
from tests.postgresql_server import PostgresqlServer

LADDERS = (LADDER, "greed-fast", "greed-old")
MATCHES = 240


class World:
    """A leaderboard of three ladders, and what was handed in."""

    def __init__(self, database: str) -> None:
        rng = random.Random(7)
        self.store = Store(database)
        versions = prepare(self.store)
        for ladder in LADDERS[1:]:
            self.store.write(ensure_ladder, NewLadder(ladder, game="greed", seats=4, rating=RATING))
        self.players = set(versions)
        self.results: list[FinishedMatch] = []
        self.stored: list[StoreOutcome] = []
        newest = list(versions)
        for number in range(MATCHES):
            if rng.random() < 0.15:
                at = rng.randrange(len(newest))
                newest[at] = add_version(self.store, newest[at].owner, newest[at].bot, f"1.{number}")
                self.players.add(newest[at])
            one = random_result(number, newest[: 6 if number % 3 else 12])
            ladder = LADDERS[2] if number < 8 else LADDERS[rng.randrange(2)]
            finished = DAWN + timedelta(seconds=60 * number - rng.choice((0, 0, 0, 200)))  # some are stored late
            is_rated = rng.random() < 0.9
            one = replace(
                one, ladder=ladder, started=finished - timedelta(seconds=3), finished=finished, is_rated=is_rated
            )
            self.results.append(replace(one, requested_by="" if is_rated else "ann", reason=f"why {number}"))
        waiting = [self.store.submit(one) for one in self.results]
        self.stored = [future.result() for future in waiting]

    def of(self, ladder: str) -> list[tuple[FinishedMatch, StoreOutcome]]:
        """The rated results of a ladder, in order."""
        return [
            (one, stored)
            for one, stored in zip(self.results, self.stored, strict=True)
            if one.ladder == ladder and stored.sequence is not None
        ]


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.full)])
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    if request.param == "sqlite":
        made = World(str(tmp_path_factory.mktemp("queries") / "ladder.db"))
    else:
        server: PostgresqlServer = request.getfixturevalue("postgresql")
        made = World(server.create())
    yield made
    made.store.close()


# -- matches
def test_matches_are_found_by_whatever_is_asked(world: World) -> None:
    rng = random.Random(1)
    found_some = 0
    for _ in range(400):
        owner, bot, version = rng.choice(sorted(world.players))
        kind = rng.randrange(4)
        asked: dict[str, Any] = {
            "ladder": rng.choice((None, *LADDERS)),
            "owner": owner if kind else None,
            "bot": bot if kind > 1 else None,
            "version": version if kind > 2 else None,
            "faulted": rng.random() < 0.4,
            "since": rng.choice((None, DAWN + timedelta(minutes=rng.randrange(-5, MATCHES + 5)))),
            "until": rng.choice((None, DAWN + timedelta(minutes=rng.randrange(-5, MATCHES + 5)))),
            "limit": rng.choice((1, 3, 10, 1000)),
            "before": rng.choice((None, rng.randrange(1, MATCHES))),
            "others": [rng.choice(sorted(world.players)) for _ in range(rng.randrange(3) if owner and kind else 0)],
        }
        expected = [number for number in range(MATCHES, 0, -1) if _fits(world, number, asked)][: asked["limit"]]
        found = [entry.number for entry in world.store.run(queries.matches, **asked)]
        assert found == expected, asked
        found_some += 0 < len(expected) < MATCHES
    assert found_some > 120


def _fits(world: World, number: int, asked: dict[str, Any]) -> bool:
    one = world.results[number - 1]
    before, since, until = asked["before"], asked["since"], asked["until"]
    bots = [(asked["owner"], asked["bot"], asked["version"]), *asked["others"]]
    of_each = [
        [
            seat
            for seat in one.seats
            if all(want is None or want == have for want, have in zip(wanted, seat.player, strict=True))
        ]
        for wanted in bots
    ]
    seats = [seat for seats in of_each for seat in seats]
    return (
        (before is None or number < before)
        and asked["ladder"] in (None, one.ladder)
        and (since is None or one.finished >= since)
        and (until is None or one.finished < until)
        and all(of_each)
        and (not asked["faulted"] or any(seat.faults for seat in seats))
    )


def test_pages_follow_each_other(world: World) -> None:
    for asked in ({"owner": "owner 1", "bot": "bot 1"}, {"ladder": LADDER, "faulted": True}, {}):
        whole = [entry.match for entry in world.store.run(queries.matches, limit=1000, **asked)]
        pages: list[MatchEntry] = []
        while page := world.store.run(queries.matches, limit=7, before=pages[-1].number if pages else None, **asked):
            pages += page
        assert [entry.match for entry in pages] == whole
        assert len(whole) > 7


def test_who_is_not_there_has_no_matches(world: World) -> None:
    for asked, said in (
        ({"ladder": "none"}, "there is no ladder 'none'"),
        ({"owner": "zoe"}, "owner 'zoe' has no bot"),
        ({"owner": "owner 1", "bot": "bot 0"}, "owner 'owner 1' has no bot 'bot 0'"),
        ({"owner": "owner 0", "bot": "bot 0", "version": "7"}, "bot 'bot 0' of owner 'owner 0' has no version '7'"),
    ):
        with pytest.raises(NoSuchEntry, match=said):
            world.store.run(queries.matches, **asked)  # type: ignore[arg-type]  # by name


def test_a_match_is_called_by_its_first_signs(store: Store) -> None:
    versions = prepare(store)[:4]
    for name in ("a17cc3d0-11", "a17cc3d0-12", "a17cc3d1-11", "A17CC3D0-11", "a17cc3d0", "b17%cc3_", "b17xcc3yz"):
        store.submit(result(name, versions)).result()
    for called, name in (
        ("a17cc3d1", "a17cc3d1-11"),
        ("a17cc3d0-12", "a17cc3d0-12"),
        ("a17cc3d0", "a17cc3d0"),  # a whole name, though others begin so
        ("A17CC3D0", "A17CC3D0-11"),
        ("b17%cc3_", "b17%cc3_"),  # signs that some databases read otherwise
        ("b17xcc3y", "b17xcc3yz"),
    ):
        assert store.run(queries.match, called).match == name
        assert store.run(queries.record, called) == f'{{"match":"{name}"}}'
        assert len(store.run(queries.courses, called)) == 4
    said = "several matches begin with 'a17cc3d0-1', give more of it: a17cc3d0-11, a17cc3d0-12$"
    with pytest.raises(InvalidEntry, match=said):
        store.run(queries.match, "a17cc3d0-1")
    for number in range(3, 7):
        store.submit(result(f"a17cc3d0-1{number}", versions)).result()
    with pytest.raises(InvalidEntry, match=r": a17cc3d0-11, (a17cc3d0-1\d, ){3}a17cc3d0-15 and others$"):
        store.run(queries.match, "a17cc3d0-1")
    for called in ("a17cc3d", "a17cc3d2", "", "\U0010ffff" * 9, "x" * 10_000):
        with pytest.raises(NoSuchEntry, match="there is no match '") as told:
            store.run(queries.match, called)
        assert len(str(told.value)) < 400


# -- rankings and what they are made of
def test_form_and_wins_follow_from_the_matches(world: World) -> None:
    for ladder in LADDERS:
        places: dict[Identity, list[int | None]] = defaultdict(list)
        for one, _ in world.of(ladder):
            for seat in one.seats:
                places[seat.player].insert(0, seat.place)
        ranked = world.store.run(queries.rankings, ladder, every_version=True)
        assert {player_of(entry) for entry in ranked} == set(places)
        for entry in ranked:
            assert list(entry.form) == places[player_of(entry)][:10]
            assert entry.wins == places[player_of(entry)].count(1)
            assert entry.matches == len(places[player_of(entry)])
    assert max(len(entry.form) for entry in world.store.run(queries.rankings, LADDER)) == 10


def test_history_has_each_step_of_a_rating(world: World) -> None:
    for owner, bot in {player[:2] for player in world.players}:
        steps = [
            (stored.sequence, one.match, one.finished, seat.player.version, seat.place, seat.player)
            for one, stored in world.of(LADDER)
            for seat in one.seats
            if seat.player[:2] == (owner, bot)
        ]
        steps.reverse()
        told = world.store.run(queries.history, LADDER, owner, bot)
        assert [(s.number, s.match, s.finished, s.version, s.place) for s in told] == [s[:5] for s in steps]
        changes = {(stored.sequence, c.player): c for _, stored in world.of(LADDER) for c in stored.changes}
        assert [(s.before, s.after) for s in told] == [
            (changes[s[0], s[5]].before, changes[s[0], s[5]].after) for s in steps
        ]
        for version in {step[3] for step in steps}:
            of_one = world.store.run(queries.history, LADDER, owner, bot, version)
            assert of_one == [step for step in told if step.version == version]
        paged = world.store.run(queries.history, LADDER, owner, bot, limit=3)
        if len(paged) == 3:
            paged += world.store.run(queries.history, LADDER, owner, bot, limit=1000, before=paged[-1].number)
        assert paged == told
    assert max(len(world.store.run(queries.history, LADDER, *player[:2])) for player in world.players) > 30
    with pytest.raises(NoSuchEntry, match="there is no ladder 'none'"):
        world.store.run(queries.history, "none", "owner 0", "bot 0")
    with pytest.raises(NoSuchEntry, match="owner 'ann' has no bot 'bot 0'"):
        world.store.run(queries.history, LADDER, "ann", "bot 0")


def test_each_step_has_those_against_whom_it_was_made(world: World) -> None:
    changes = {(stored.sequence, c.player): c for _, stored in world.of(LADDER) for c in stored.changes}
    results = {stored.sequence: one for one, stored in world.of(LADDER)}
    for owner, bot in {player[:2] for player in world.players}:
        for step in world.store.run(queries.history, LADDER, owner, bot):
            one = results[step.number]
            mine = next(seat for seat in one.seats if seat.player == (owner, bot, step.version))
            others = [seat for seat in one.seats if seat is not mine]
            assert step.matches == (one.match,)
            assert [(o.owner, o.bot, o.version) for o in step.opponents] == [s.player for s in others]
            assert [o.before for o in step.opponents] == [changes[step.number, s.player].before for s in others]
            assert mine.place is not None
            for seat, told in zip(others, step.opponents, strict=True):
                assert seat.place is not None
                assert told.outcome == (seat.place > mine.place) - (seat.place < mine.place)
                assert 0 < told.likely < 1
                assert (told.likely > 0.5) == (step.before.mu > told.before.mu) or step.before.mu == told.before.mu


def test_whether_there_is_a_record_is_told_without_it(store: Store) -> None:
    versions = prepare(store)[:4]
    store.submit(result("with-record", versions)).result()
    store.submit(result("without-one", versions, record="")).result()
    assert store.run(queries.has_record, "with-record")
    assert not store.run(queries.has_record, "without-one")
    with pytest.raises(NoSuchEntry):
        store.run(queries.has_record, "of-no-match")


def test_opponents_are_counted_by_bot(world: World) -> None:
    for ladder in LADDERS:
        met: dict[tuple[str, str], dict[tuple[str, str], list[int]]] = defaultdict(lambda: defaultdict(lambda: [0] * 3))
        for one, _ in world.of(ladder):
            for mine in one.seats:
                for other in one.seats:
                    if mine is not other and mine.place is not None and other.place is not None:
                        tally = met[mine.player[:2]][other.player[:2]]
                        tally[0] += 1
                        tally[1] += mine.place < other.place
                        tally[2] += mine.place == other.place
        for owner, bot in {player[:2] for player in world.players}:
            told = world.store.run(queries.opponents, ladder, owner, bot)
            assert {(o.owner, o.bot): [o.matches, o.ahead, o.level] for o in told} == met[owner, bot]
            assert [o.matches for o in told] == sorted((o.matches for o in told), reverse=True)
    assert sum(o.level for o in world.store.run(queries.opponents, LADDER, "owner 0", "bot 0")) > 0
    with pytest.raises(NoSuchEntry, match="owner 'ann' has no bot 'bot 0'"):
        world.store.run(queries.opponents, LADDER, "ann", "bot 0")


def test_a_repeat_is_answered_as_the_first_time_though_others_came_since(world: World) -> None:
    for one, stored in zip(world.results, world.stored, strict=True):
        assert world.store.submit(one).result() == stored


def test_standings_are_what_the_next_match_begins_with(store: Store) -> None:
    versions = prepare(store)
    wide = TrueSkill(draw_probability=0.1, sigma=9.0)
    store.write(ensure_ladder, NewLadder("two", game="szmal", seats=2, rating=wide))
    for number in range(5):
        store.submit(result(f"m{number}", versions[:4])).result()
    child = add_version(store, "owner 0", "bot 0", "2.0")
    grandchild = add_version(store, "owner 0", "bot 0", "3.0")
    parents = {player_of(ranking): ranking.pairing_skill for ranking in store.run(queries.rankings, LADDER)}
    assert store.standings(versions[0], DAWN).result() == {LADDER: (parents[versions[0]], 5), "two": (wide.newcomer, 0)}
    for version in (child, grandchild):
        heir = RATING.prior_for_new_version(parents[versions[0]])
        assert store.standings(version, DAWN).result() == {LADDER: (heir, 0), "two": (wide.newcomer, 0)}
    before = store.submit(result("last", [grandchild, *versions[1:4]])).result().changes[0].before
    assert before == heir
    assert store.standings(grandchild, DAWN).result()[LADDER][1] == 1
    assert store.standings(child, DAWN).result()[LADDER] == (heir, 0)
    seen, now = store.changes, DAWN + timedelta(hours=1)
    newcomer = Identity("zoe", "sneak", "1")
    assert store.standings(newcomer, now).result() == {LADDER: (RATING.newcomer, 0), "two": (wide.newcomer, 0)}
    assert [entry.created for entry in store.run(queries.bots, owner="zoe")] == [now]
    assert store.changes == seen
    with pytest.raises(InvalidEntry, match="the name of a bot"):
        store.standings(Identity("zoe", "", "1"), now).result()


# -- bots
def test_bots_are_told_with_the_ladders_they_are_rated_on(world: World) -> None:
    rated = defaultdict(set)
    for ladder in LADDERS:
        for one, _ in world.of(ladder):
            for seat in one.seats:
                rated[seat.player].add(ladder)
    everybody = world.store.run(queries.bots)
    assert {player_of(entry) for entry in everybody} == world.players
    assert [(e.owner, e.bot, e.version_id) for e in everybody] == sorted(
        (e.owner, e.bot, e.version_id) for e in everybody
    )
    assert all(entry.ladders == tuple(sorted(rated[player_of(entry)])) for entry in everybody)
    assert [e for e in everybody if e.owner == "owner 3"] == world.store.run(queries.bots, owner="owner 3")
    assert [e for e in everybody if LADDERS[2] in e.ladders] == world.store.run(queries.bots, ladder=LADDERS[2])
    assert world.store.run(queries.bots, owner="nobody") == []
    with pytest.raises(NoSuchEntry, match="there is no ladder 'none'"):
        world.store.run(queries.bots, ladder="none")


def test_a_bot_without_a_match_is_told_too(store: Store) -> None:
    version = store.write(ensure_version, "ann", "sneak", "1.0", DAWN)
    (entry,) = store.run(queries.bots)
    assert (entry.version_id, entry.created, entry.ladders, entry.paused) == (version, DAWN, (), None)


@pytest.mark.parametrize("is_new", [True, False], ids=["new", "upgraded"])
def test_faults_are_looked_up_and_not_searched_for(is_new: bool, tmp_path: Path) -> None:
    """Whatever else is asked: one with a fault may be a million matches back."""
    path = tmp_path / "ladder.db" if is_new else schema_22(tmp_path / "ladder.db")
    asked = itertools.product([None, True, False], [True, False], [0, 2])
    statements = [one for ladders, timed, others in asked for one in _seated(ladders, True, timed, others)]
    statements += [_newest(True, True, timed) for timed in (True, False)]
    with Store(path) as store, store.reading() as connection:
        for statement in statements:
            sql = str(statement.compile(dialect=sqlite.dialect()))
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", (1,) * sql.count("?")).all()
            found = [row.detail for row in plan if re.search(r"(seats|matches) USING", row.detail)]
            assert re.search(r"COVERING INDEX ix_(seats|matches)_faulted ", found[0]), (sql, found)
