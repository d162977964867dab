"""Results of the lobby in a real leaderboard, in a real file."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import pytest

from cutpurse.engine.match import EndCause, Match
from cutpurse.engine.record import verify
from cutpurse.games import GAMES
from cutpurse.leaderboard.errors import InvalidEntry
from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.store import Store
from cutpurse.server.finished_match import FinishedMatch, NotTaken, StoreDown, StoreOutcome
from cutpurse.server.ladder_config import Ladder, default_ladders
from cutpurse.server.matches.leaderboard_store import Ledger
from tests.server.small_world import World


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
        ledger = Ledger(store, ladders)
        futures = [ledger.submit(result) for result in results for _ in range(2)]  # a repeat changes nothing
        kept = [future.result(30) for future in futures]
        assert kept[::2] == kept[1::2]
        assert [set(one.changes) for one in kept[::2]] == [{seat.player for seat in one.seats} for one in results]
        assert not any(one.paused for one in kept)
        ledger.close()
        for result in results:
            assert verify(store.record(result.match), GAMES[result.game])
            entry = store.match(result.match)
            assert [seat.place for seat in entry.seats] == [seat.place for seat in result.seats]
            assert [seat.bot for seat in entry.seats] == [seat.player.bot for seat in result.seats]
        for ladder in ladders:
            seats = [seat for result in results if result.ladder == ladder.name for seat in result.seats]
            assert sum(entry.matches for entry in store.rankings(ladder.name)) == len(seats)
        assert all(ladder.equal and ladder.boards == 2 for ladder in recompute(store))


def test_a_void_match_is_kept_and_rates_nothing(tmp_path: Path) -> None:
    ladder = Ladder("it", "greed", 3)
    (result,) = played(ladder)
    with Store(tmp_path / "cutpurse.db") as store:
        ledger = Ledger(store, [ladder])
        assert ledger.submit(result.voided()).result(30) == StoreOutcome()
        ledger.close()
        assert store.match(result.match).void_cause == EndCause.VOID_SERVER.value
        assert store.rankings("it") == []


def test_what_never_can_be_stored_is_not_taken(tmp_path: Path) -> None:
    (result,) = played(Ladder("it", "greed", 3))
    with Store(tmp_path / "cutpurse.db") as store:
        ledger = Ledger(store, [Ladder("other", "greed", 3)])
        with pytest.raises(NotTaken, match="it"):
            ledger.submit(result).result(30)
        broken = replace(result, ladder="other", played=without_log(result))
        with pytest.raises(NotTaken, match="cannot be written down"):
            ledger.submit(broken).result(30)
        assert ledger.submit(broken.voided()).result(30) == StoreOutcome()  # without a record
        ledger.close()


def without_log(result: FinishedMatch) -> Match:
    """The same match without its events."""
    result.played.game.log = None
    return result.played


def test_a_store_that_is_locked_is_down_and_works_again(tmp_path: Path) -> None:
    ladder = Ladder("it", "greed", 3)
    (result,) = played(ladder)
    with Store(tmp_path / "cutpurse.db", busy_timeout_s=0.01) as store:
        ledger = Ledger(store, [ladder])
        assert ledger.submit(result.voided()).result(30) == StoreOutcome()  # the versions are known from here on
        other = replace(result, match="f" * 32, deal=result.deal._replace(board="e" * 32))
        lock = sqlite3.connect(tmp_path / "cutpurse.db", isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreDown) as problem:
            ledger.submit(other).result(30)
        assert result.record() not in str(problem.value)
        lock.execute("ROLLBACK")
        lock.close()
        assert ledger.submit(other).result(30).changes
        ledger.close()


def test_after_the_end_a_store_is_down(tmp_path: Path) -> None:
    ladder = Ladder("it", "greed", 3)
    (result,) = played(ladder)
    store = Store(tmp_path / "cutpurse.db")
    ledger = Ledger(store, [ladder])
    store.close()
    with pytest.raises(StoreDown):
        ledger.submit(result).result(30)
    ledger.close()


def test_a_ladder_that_is_there_and_differs_is_refused(tmp_path: Path) -> None:
    with Store(tmp_path / "cutpurse.db") as store:
        Ledger(store, [Ladder("it", "greed", 3)]).close()
        with pytest.raises(InvalidEntry, match="it"):
            Ledger(store, [Ladder("it", "greed", 4)])


def test_what_waits_is_handed_over_at_the_end_and_a_board_has_one_match(tmp_path: Path) -> None:
    ladder = Ladder("it", "bag_o_loot", 4)
    (result,) = played(ladder)
    with Store(tmp_path / "cutpurse.db") as store:
        ledger = Ledger(store, [ladder])
        held: list[Future[StoreOutcome]] = [ledger.submit(replace(result, match=f"{at:032x}")) for at in range(3)]
        ledger.close()
    assert held[0].exception() is None
    assert isinstance(held[1].exception(), NotTaken)  # its board had its match


def test_a_lobby_with_a_leaderboard_behind_it(tmp_path: Path) -> None:
    """Nothing here is in virtual time but the bots: results come back on the store's own thread."""
    ladders = [Ladder(game, game, 3, matches_wanted=3) for game in ("greed", "szmal")]
    with Store(tmp_path / "cutpurse.db") as store:
        ledger = Ledger(store, ladders)
        world = World(ladders, store=ledger)
        woken = threading.Event()
        world.lobby.wake = woken.set
        bots = [world.bot(name, tables=2) for name in ("ann", "bob", "cid", "dan")]
        while not world.lobby.is_complete or any(bot.sat for bot in bots):
            if not world.step():
                assert woken.wait(30), "nothing more happens"
            woken.clear()
        ledger.close()
        told = {played.started.match: played.ended for bot in bots for played in bot.done}
        assert len(told) == 6
        for name, ended in told.items():
            entry = store.match(name)
            assert ended is not None
            assert ended.rated
            assert [seat.place for seat in entry.seats] == [one.place for one in ended.seats]
        assert all(ladder.equal and ladder.boards == 3 for ladder in recompute(store))
