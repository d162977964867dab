"""Version tests in a lobby: what is dealt for them, how many tables they have, when they end, and what bots can see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from cutpurse.engine.commitment import board_key
from cutpurse.leaderboard.results import EventBoard, FinishedMatch, Identity, LadderTerms
from cutpurse.leaderboard.statistics.sprt import Design, State, Verdict
from cutpurse.leaderboard.tokens import HOUSE
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.requests import MatchRequest
from cutpurse.server.matches.version_tests import FIRST_WAIT_S, VersionTest, VersionTests
from tests.server.small_world import BotThere, Manner, World
from tests.server.stores import match_of

SHORT = Design(min_boards=3, max_boards=3)
NEW = Identity("ann", "sneak", "2")
OLD = Identity("ann", "sneak", "1")


def versions(world: World, tables: int = 4) -> tuple[BotThere, BotThere]:
    """Both versions of ann's bot."""
    new, old = (world.bot("sneak", tables, owner="ann", version=version) for version in "21")
    return new, old


def opponents(world: World, count: int = 3, tables: int = 4) -> list[BotThere]:
    return [world.bot("brute", tables, owner=f"bob{at}") for at in range(count)]


def start(world: World, design: Design = SHORT, **changed: str) -> list[tuple[str, Verdict]]:
    """A test of ann's two versions; its verdict comes into the list."""
    verdicts: list[tuple[str, Verdict]] = []
    world.lobby.tests.on_verdict = lambda test, verdict: verdicts.append((test, verdict))
    world.lobby.start_test(VersionTest(changed.get("id", "t1"), "it", NEW, OLD, State(design)))
    return verdicts


def boards_of(world: World, test: str = "t1") -> Iterator[list[FinishedMatch]]:
    """The finished matches of each board of a test."""
    boards: dict[str, list[FinishedMatch]] = {}
    for result in world.store.kept.values():
        if result.reason.startswith(f"test {test}:"):
            boards.setdefault(result.deal.board, []).append(result)
    yield from boards.values()


def unpaired(seats: int = 3) -> Ladder:
    """A ladder on which nothing is paired."""
    return Ladder("it", "greed", seats, matches_wanted=0)


def test_a_test_plays_both_versions_on_the_same_deal_in_the_same_seat_against_the_same_opponents() -> None:
    world = World([unpaired()])
    versions(world)
    opponents(world)
    verdicts = start(world)
    world.run(lambda: bool(verdicts))
    boards = list(boards_of(world))
    assert len(boards) == 3
    for first, second in boards:
        assert first.deal == second.deal
        key = board_key(first.deal.seed, first.deal.params)
        assert (match_of(first).key, match_of(second).key) == (key, key)
        both = list(zip(first.players, second.players, strict=True))
        assert [{one, other} for one, other in both if one != other] == [{NEW, OLD}]
        assert {one.owner for one in first.players} >= {"ann"}
        for result in (first, second):
            assert (result.is_rated, result.requested_by, result.board_matches) == (False, "ann", 2)
            assert result.reason == "test t1: ann/sneak:2 against ann/sneak:1"
    assert len({result.deal.board for result, _ in boards}) == 3
    assert len({tuple(player.owner for player in result.players) for result, _ in boards}) > 1
    assert verdicts[0][0] == "t1"
    assert not world.lobby.tests.is_running("t1")
    world.run()
    assert len(list(boards_of(world))) == 3  # no board after the verdict
    assert world.lobby.is_idle


def test_a_bot_sees_a_match_of_its_ladder_and_the_deal_only_after_both_matches() -> None:
    world = World([unpaired()])
    new, old = versions(world)
    others = opponents(world, 2)
    verdicts = start(world, Design(min_boards=1, max_boards=1))
    world.run(lambda: bool(verdicts))
    world.run()
    for bot in (new, old, *others):
        for played in bot.done:
            assert played.started.ladder == "it"
            assert played.ended is not None
            assert not played.ended.rated
    played_twice = others[0].done
    assert len(played_twice) == 2
    by_end = [played.ended.HasField("opening") for played in played_twice if played.ended is not None]
    assert by_end == [False, True]
    (opened,) = others[0].opened_boards
    assert not opened.rated


def test_either_version_begins_by_chance() -> None:
    world = World([unpaired(2)])
    versions(world)
    opponents(world)
    verdicts = start(world, Design(min_boards=12, max_boards=12))
    world.run(lambda: bool(verdicts))
    first = [NEW in board[0].players for board in boards_of(world)]
    assert len(first) == 12
    assert 1 < sum(first) < 11
    seats = {[player.owner for player in board[0].players].index("ann") for board in boards_of(world)}
    assert seats == {0, 1}


def test_the_verdict_is_that_of_the_test_of_compare() -> None:
    world = World([unpaired(2)])
    world.bot("sneak", owner="ann", version="2")
    world.bot("sneak", owner="ann", version="1", manner=Manner(never=1.0))  # it is taken over, and comes last
    opponents(world, 2)
    verdicts = start(world, Design(min_boards=5, max_boards=400, effect=1.0))
    world.run(lambda: bool(verdicts))
    assert verdicts == [("t1", Verdict.BETTER)]


def test_a_void_board_does_not_count_and_another_one_is_dealt() -> None:
    world = World([unpaired()])
    new, _ = versions(world)
    opponents(world, 2)
    verdicts = start(world)
    world.run(lambda: bool(new.open))
    world.lobby.void_all()
    world.run(lambda: bool(verdicts))
    boards = list(boards_of(world))
    voided = [board for board in boards if any(result.is_void for result in board)]
    assert len(boards) == 3 + len(voided)
    assert len(voided) == 1


def test_a_test_waits_for_its_versions_and_for_opponents_and_says_so() -> None:
    world = World([unpaired()])
    verdicts = start(world)
    world.run()
    assert world.lobby.tests.waits_for("t1") == "ann/sneak:2 is away"
    versions(world)
    opponents(world, 1)
    world.run()
    assert world.lobby.tests.waits_for("t1") == "ladder it: it needs 2 opponents at once, and 1 can play now"
    assert not world.store.announced
    world.bot("brute", owner="cid")
    world.run(lambda: bool(verdicts))
    assert len(list(boards_of(world))) == 3


def test_opponents_are_neither_the_owners_own_nor_those_that_decline_or_have_one_table() -> None:
    world = World([replace(unpaired(2), terms=LadderTerms(house=("random",)))])
    versions(world)
    world.bot("own", owner="ann")
    world.bot("shy", owner="bob").declines_requests = True
    world.bot("busy", 1, owner="cid")
    world.bot("random", 1, owner=HOUSE)
    verdicts = start(world)
    world.run(lambda: bool(verdicts))
    met = {player for board in boards_of(world) for player in board[0].players} - {NEW, OLD}
    assert {player.bot for player in met} == {"random"}


def test_an_opponent_plays_for_one_test_at_a_time() -> None:
    world = World([unpaired(2)], test_share=1.0)
    versions(world)
    opponents(world, 1, tables=8)
    for name in ("t1", "t2"):
        start(world, id=name)
    most = 0

    def watch() -> bool:
        nonlocal most
        most = max(most, len({match.table.board for match in world.lobby.open_matches()}))
        return not any(world.lobby.tests.is_running(name) for name in ("t1", "t2"))

    world.run(watch)
    assert most == 1
    assert len(list(boards_of(world, "t1"))) == len(list(boards_of(world, "t2"))) == 3


def test_requested_matches_begin_first_then_boards_of_tests_and_those_of_ladders_last() -> None:
    world = World([Ladder("it", "greed", 2)], test_share=1.0)
    versions(world)
    opponents(world)
    start(world)
    board = EventBoard("cup", 3, 1)
    world.lobby.request(MatchRequest("it", (NEW, OLD), None, "root", is_by_admin=True, event_board=board), world.now)
    world.run(lambda: len(world.store.announced) > 3)
    first, *of_test, last = list(world.store.announced.values())[:4]
    assert (first.players, first.requested_by, first.event_board) == ((NEW, OLD), "root", board)
    assert [(match.requested_by, match.event_board) for match in of_test] == [("ann", EventBoard("t1", 0, 0))] * 2
    assert (last.requested_by, last.event_board) == ("", None)


def test_each_board_of_a_test_has_the_number_of_those_that_count_before() -> None:
    world = World([unpaired()])
    new, _ = versions(world)
    opponents(world)
    verdicts = start(world)
    world.run(lambda: bool(new.open))
    world.lobby.void_all()
    world.run(lambda: bool(verdicts))
    boards = {match.deal.board: match.event_board for match in world.store.announced.values()}
    assert list(boards.values()) == [EventBoard("t1", 0, number) for number in (0, 0, 1, 2)]


@pytest.mark.full
def test_under_load_tests_have_at_most_their_share_of_the_tables() -> None:
    share = 0.25
    world = World([Ladder("it", "greed", 2)], test_share=share)
    versions(world)
    opponents(world, 5)
    for at in range(3):
        start(world, Design(min_boards=500, max_boards=500), id=f"t{at}")
    seen: list[tuple[int, int]] = []

    def watch() -> bool:
        open_matches = world.lobby.open_matches()
        seen.append((sum(bool(match.requested_by) for match in open_matches), world.lobby.tables))
        return len(world.store.kept) > 24

    world.run(watch)
    assert max(tests for tests, _ in seen) >= 1
    for tests, tables in seen[len(seen) // 2 :]:
        assert tests <= max(1, share * (tables + 3)), (tests, tables)
    assert any(result.is_rated for result in world.store.kept.values())
    assert list(boards_of(world, "t0"))


def test_an_opponent_that_takes_more_tables_may_be_drawn_from_then_on() -> None:
    world = World([unpaired(2)])
    versions(world)
    (brute,) = opponents(world, 1, tables=1)
    verdicts = start(world)
    world.run()
    assert not world.store.announced
    brute.max_tables = 4
    world.lobby.changed(brute)
    world.run(lambda: bool(verdicts))
    assert len(list(boards_of(world))) == 3


def test_a_share_of_nothing_plays_no_test() -> None:
    world = World([unpaired(2)], test_share=0.0)
    versions(world)
    opponents(world)
    start(world)
    world.run()
    assert not world.store.announced


def test_a_stopped_test_ends_its_open_board_and_deals_no_more() -> None:
    world = World([unpaired(2)])
    new, _ = versions(world)
    opponents(world)
    verdicts = start(world)
    world.run(lambda: bool(new.open))
    world.lobby.stop_test("t1")
    world.run()
    assert len(list(boards_of(world))) == 1
    assert verdicts == []
    assert world.lobby.tests.needed == frozenset()
    assert world.lobby.is_idle


def test_a_test_is_forgotten_with_its_ladder_and_goes_on_from_what_the_next_arena_finds() -> None:
    world = World([unpaired(2)])
    new, _ = versions(world)
    opponents(world)
    verdicts = start(world)
    world.run(lambda: bool(new.open))
    assert not world.lobby.lose_ladder("it"), "the end of a match is not settled"
    assert world.lobby.tests.running == []
    world.run(lambda: world.lobby.lose_ladder("it"))
    assert (world.lobby.tables, verdicts, world.lobby.tests.tables) == (0, [], 0)
    assert {result.void_cause for result in world.store.kept.values()} == {"void_server"}
    world.lobby.take_ladder(unpaired(2))
    verdicts = start(world)
    world.run(lambda: bool(verdicts))
    assert len([board for board in boards_of(world) if not any(result.is_void for result in board)]) == 3


def test_a_test_that_runs_is_not_added_again() -> None:
    world = World([unpaired(2)])
    new, _ = versions(world)
    opponents(world)
    start(world)
    world.run(lambda: bool(new.open))
    verdicts = start(world)  # as the look at the database finds it
    world.run(lambda: bool(verdicts))
    assert len(list(boards_of(world))) == 3


def test_a_test_that_had_its_verdict_before_ends_at_once() -> None:
    tests = VersionTests()
    verdicts: list[tuple[str, Verdict]] = []
    tests.on_verdict = lambda test, verdict: verdicts.append((test, verdict))
    tests.add(VersionTest("t1", "it", NEW, OLD, State(SHORT, boards=3)))
    assert verdicts == [("t1", Verdict.UNDECIDED)]
    assert not tests.is_running("t1")


def test_a_version_that_is_online_for_tests_alone_is_not_paired() -> None:
    world = World([Ladder("it", "greed", 2)])
    new = world.bot("sneak", owner="ann", version="2", is_for_tests=True)
    world.bot("sneak", owner="ann", version="1")
    opponents(world, 1)
    world.run(lambda: len(world.store.kept) > 5)
    assert new.problems == []
    assert not any(NEW in result.players for result in world.store.kept.values())
    verdicts = start(world)
    world.run(lambda: bool(verdicts))
    assert sum(NEW in result.players for result in world.store.kept.values()) == 3


def test_after_a_void_board_a_test_waits_a_while() -> None:
    world = World([unpaired(2)])
    new, _ = versions(world)
    opponents(world)
    start(world)
    world.run(lambda: bool(new.open))
    world.lobby.void_all()
    world.run(lambda: bool(world.store.kept))
    ended = world.now
    world.run(lambda: len(world.store.announced) > 2)
    assert FIRST_WAIT_S <= world.now - ended < FIRST_WAIT_S + 1
