"""Which match of a board begins next, whose tables are kept for it, and when it is waited no longer."""

from __future__ import annotations

from concurrent.futures import Future

import pytest

from cutpurse.leaderboard.results import Deal, Identity
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.matchmaking import Seating
from cutpurse.server.matches.open_boards import WAITS_S, OpenBoard, OpenBoards
from tests.server.test_pairing import Somebody


def board(name: str, *tables: tuple[Somebody, ...], began: float = 0.0) -> OpenBoard:
    """One that was just dealt, with a match for each table."""
    seating = Seating(Ladder("it", "greed", len(tables[0]), boards="duplicate"), tables)
    matches = tuple(f"{name}-{at}" for at in range(len(tables)))
    announced: tuple[Future[None], ...] = tuple(Future() for _ in tables)
    return OpenBoard(seating, Deal(name, b"{}", bytes(32), bytes(32)), matches, announced, began)


def bots(count: int, tables: int = 1) -> list[Somebody]:
    return [Somebody(f"bot{at}", tables, owner=f"owner{at}") for at in range(count)]


def here(*there: Somebody) -> dict[Identity, Somebody]:
    return {one.identity: one for one in there}


def nobody(identity: Identity) -> bool:
    """Who is paused: nobody."""
    return False


def given_up(boards: OpenBoards, now: float, paused: Identity | None = None) -> list[tuple[str, int]]:
    return [(one.deal.board, at) for one, at in boards.given_up(now, lambda identity: identity == paused, False)]


def test_the_first_match_whose_bots_all_have_a_free_table_begins() -> None:
    a, b, c, d = bots(4)
    boards = OpenBoards()
    boards.dealt(one := board("one", (a, b), (c, d)))
    b.max_tables = 0
    there = here(a, b, c, d)
    assert boards.next(there) == (one, 1, (c, d))
    assert boards.next(there) is None
    was_waiting = boards.is_waiting
    b.max_tables = 1
    assert boards.next(there) == (one, 0, (a, b))
    assert (was_waiting, boards.is_waiting) == (True, False)
    assert boards.next(there) is None


def test_tables_are_kept_board_by_board_in_the_order_in_which_they_were_dealt() -> None:
    a, b, c = bots(3)
    b.max_tables = 0
    boards = OpenBoards()
    boards.dealt(board("one", (a, b)))
    boards.dealt(later := board("later", (a, c)))
    assert boards.next(here(a, b, c)) is None
    assert list(boards.reserved) == [a, b, c]
    a.max_tables = 2
    assert boards.next(here(a, b, c)) == (later, 0, (a, c))
    assert list(boards.reserved) == [a, b]


def test_nothing_is_kept_for_a_board_all_of_whose_matches_have_begun() -> None:
    a, b = bots(2)
    boards = OpenBoards()
    boards.dealt(board("one", (a, b)))
    assert boards.next(here(a, b)) is not None
    assert boards.next(here(a, b)) is None
    assert list(boards.reserved) == []


@pytest.mark.parametrize(
    ("forgot", "forgets", "is_found"),
    [(True, True, True), (True, False, False), (False, True, False), (False, False, False)],
)
def test_in_place_of_a_bot_comes_one_of_its_name_if_both_keep_nothing_in_mind(
    forgot: bool, forgets: bool, is_found: bool
) -> None:
    a, b = bots(2)
    again = Somebody("bot1", 1, owner="owner1")
    b.forgets, again.forgets = forgot, forgets
    boards = OpenBoards()
    boards.dealt(one := board("one", (a, b)))
    assert boards.next(here(a)) is None
    assert boards.next(here(a, again)) == ((one, 0, (a, again)) if is_found else None)


def test_a_board_is_given_up_a_minute_after_the_last_of_its_matches_that_were_played() -> None:
    a, b, c, d = bots(4)
    boards = OpenBoards()
    boards.dealt(one := board("one", (a, b), (c, d)))
    boards.dealt(board("later", (a, b), began=5.0))
    assert boards.next_event_at() == WAITS_S
    assert boards.next(here(a, b)) is not None
    assert boards.next_event_at() == 5.0 + WAITS_S  # one of the first is being played
    one.ended(None, 7.0, is_void=False)
    assert given_up(boards, 5.0 + WAITS_S) == [("later", 0)]
    assert boards.next_event_at() == 7.0 + WAITS_S
    assert given_up(boards, 6.9 + WAITS_S) == []
    assert given_up(boards, 7.0 + WAITS_S) == [("one", 1)]
    assert boards.next_event_at() is None


def test_boards_of_which_a_bot_is_withdrawn_or_paused_are_given_up_and_others_are_not() -> None:
    a, b, c, d = bots(4)
    boards = OpenBoards()
    boards.dealt(board("one", (a, b)))
    boards.dealt(board("two", (b, c)))
    boards.dealt(board("three", (c, d)))
    boards.withdrawn(a.identity)
    boards.withdrawn(Identity("owner9", "nobody", "1"))
    assert given_up(boards, 1.0) == [("one", 0)]
    assert given_up(boards, 1.0, paused=b.identity) == [("two", 0)]
    assert given_up(boards, 1.0) == []


def test_when_the_server_stops_every_match_that_waits_is_given_up() -> None:
    a, b, c, d = bots(4)
    boards = OpenBoards()
    boards.dealt(one := board("one", (a, b), (c, d)))
    assert [(board, at) for board, at in boards.given_up(1.0, nobody, is_stopping=True)] == [(one, 1), (one, 0)]
    assert list(boards.given_up(1.0, nobody, is_stopping=True)) == []
