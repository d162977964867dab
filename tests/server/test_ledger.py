"""Results of the lobby in a real leaderboard, in a real file."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import pytest

from cutpurse.engine.match import EndCause
from cutpurse.engine.record import verify
from cutpurse.games import GAMES
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.errors import InvalidEntry, StoreError
from cutpurse.leaderboard.ladders import ensure_ladder
from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.results import FinishedMatch, StoreOutcome
from cutpurse.leaderboard.store import Store
from cutpurse.server.ladder_config import Ladder, default_ladders
from tests.server.small_world import World
from tests.server.stores import match_of


def played(ladder: Ladder, matches: int = 1) -> list[FinishedMatch]:
    """Results of so many matches between five bots."""
    world = World([replace(ladder, matches_wanted=matches)], seed=ladder.name)
    for name in ("ann", "bob", "cid", "dan", "eve"):
        world.bot(name)
    world.run(lambda: world.lobby.is_complete)
    return list(world.store.kept.values())


def test_what_was_played_is_what_the_leaderboard_tells(tmp_path: Path) -> None:
    ladders = default_ladders(matches_wanted=2)
    results = [result for ladder in ladders for result in played(ladder, 2)]
    with Store(tmp_path / "cutpurse.db") as store:
        for ladder in ladders:
            store.write(ensure_ladder, ladder.kept)
        futures = [store.submit(result) for result in results for _ in range(2)]  # a repeat changes nothing
        kept = [future.result(240) for future in futures]
        assert kept[::2] == kept[1::2]
        assert [[change.player for change in one.changes] for one in kept[::2]] == [[*one.players] for one in results]
        assert not any(one.paused for one in kept)
        for result in results:
            assert verify(store.run(queries.record, result.match), GAMES[match_of(result).rules.words.game])
            entry = store.run(queries.match, result.match)
            assert [seat.place for seat in entry.seats] == [seat.place for seat in result.seats]
            assert [seat.bot for seat in entry.seats] == [seat.player.bot for seat in result.seats]
        for ladder in ladders:
            seats = [seat for result in results if result.ladder == ladder.name for seat in result.seats]
            assert sum(entry.matches for entry in store.run(queries.rankings, ladder.name)) == len(seats)
        assert all(ladder.equal and ladder.boards == 2 for ladder in recompute(store))


def test_a_void_match_is_kept_and_rates_nothing(tmp_path: Path) -> None:
    ladder = Ladder("it", "greed", 3)
    (result,) = played(ladder)
    with Store(tmp_path / "cutpurse.db") as store:
        store.write(ensure_ladder, ladder.kept)
        assert store.submit(result.voided()).result(240) == StoreOutcome()
        assert store.run(queries.match, result.match).void_cause == EndCause.VOID_SERVER.value
        assert store.run(queries.rankings, "it") == []


def test_what_never_can_be_stored_is_not_taken(tmp_path: Path) -> None:
    (result,) = played(Ladder("it", "greed", 3))
    with Store(tmp_path / "cutpurse.db") as store:
        store.write(ensure_ladder, Ladder("other", "greed", 3).kept)
        with pytest.raises(InvalidEntry, match="it"):
            store.submit(result).result(240)
        broken = replace(result, ladder="other")
        match_of(result).game.log = None
        with pytest.raises(InvalidEntry, match="cannot be written down"):
            store.submit(broken).result(240)
        assert store.submit(broken.voided()).result(240) == StoreOutcome()  # without a record


def test_a_store_that_is_locked_is_down_and_works_again(tmp_path: Path) -> None:
    ladder = Ladder("it", "greed", 3)
    (result,) = played(ladder)
    with Store(tmp_path / "cutpurse.db", busy_timeout_s=0.01) as store:
        store.write(ensure_ladder, ladder.kept)
        assert store.submit(result.voided()).result(240) == StoreOutcome()  # the versions are known from here on
        other = replace(result, match="f" * 32, deal=result.deal._replace(board="e" * 32))
        lock = sqlite3.connect(tmp_path / "cutpurse.db", isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError) as problem:
            store.submit(other).result(240)
        assert result.record() not in str(problem.value)
        lock.execute("ROLLBACK")
        lock.close()
        assert store.submit(other).result(240).changes


def test_after_the_end_a_store_is_down(tmp_path: Path) -> None:
    ladder = Ladder("it", "greed", 3)
    (result,) = played(ladder)
    store = Store(tmp_path / "cutpurse.db")
    store.write(ensure_ladder, ladder.kept)
    store.close()
    with pytest.raises(StoreError):
        store.submit(result).result(240)


def test_a_ladder_that_is_there_and_differs_is_refused(tmp_path: Path) -> None:
    with Store(tmp_path / "cutpurse.db") as store:
        store.write(ensure_ladder, Ladder("it", "greed", 3).kept)
        with pytest.raises(InvalidEntry, match="it"):
            store.write(ensure_ladder, Ladder("it", "greed", 4).kept)


def test_what_waits_is_handed_over_at_the_end_and_a_board_has_one_match(tmp_path: Path) -> None:
    ladder = Ladder("it", "bag_o_loot", 4)
    (result,) = played(ladder)
    with Store(tmp_path / "cutpurse.db") as store:
        store.write(ensure_ladder, ladder.kept)
        held: list[Future[StoreOutcome]] = [store.submit(replace(result, match=f"{at:032x}")) for at in range(3)]
    assert held[0].exception() is None
    assert isinstance(held[1].exception(), InvalidEntry)  # its board had its match


def test_a_lobby_with_a_leaderboard_behind_it(tmp_path: Path) -> None:
    """Nothing here is in virtual time but the bots: results come back on the store's own thread."""
    ladders = [Ladder(game, game, 3, matches_wanted=3) for game in ("greed", "szmal")]
    with Store(tmp_path / "cutpurse.db") as store:
        for ladder in ladders:
            store.write(ensure_ladder, ladder.kept)
        world = World(ladders, store=store)
        woken = threading.Event()
        world.lobby.wake = woken.set
        bots = [world.bot(name, tables=2) for name in ("ann", "bob", "cid", "dan")]
        while not world.lobby.is_complete or any(bot.sat for bot in bots):
            if not world.step():
                assert woken.wait(240), "nothing more happens"
            woken.clear()
        told = {played.started.match: played.ended for bot in bots for played in bot.done}
        assert len(told) == 6
        for name, ended in told.items():
            entry = store.run(queries.match, name)
            assert ended is not None
            assert ended.rated
            assert [seat.place for seat in entry.seats] == [one.place for one in ended.seats]
        assert all(ladder.equal and ladder.boards == 3 for ladder in recompute(store))
