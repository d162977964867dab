"""Boards of several matches while they are played: which of their matches can begin, and when all of them are over.

A board has one deal, so nothing of it is opened before its last match is over. Its matches begin as their bots have
free tables, together where they can; the next free tables of these bots are kept for it, board by board in the order in
which they were dealt. A board of which a match is void, or cannot begin within a minute, or has a bot that is paused,
is given up: what has not begun of it is void, and so it rates nothing.

This module knows no stream, no store and no clock: moments (seconds) are handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from cutpurse.server.books import Plays
from cutpurse.server.pairing import Seating
from cutpurse.server.results import Deal, Identity
from cutpurse.server.table import Table

__all__ = ["WAITS_S", "Board", "Boards"]

WAITS_S: Final = 60.0  # for the bots of a match that has not begun


@dataclass(slots=True, eq=False)
class Board:
    """One deal and its matches.  matches: their names; waiting: those that have not begun, by their place there."""

    seating: Seating
    deal: Deal
    matches: tuple[str, ...]
    began: float
    waiting: list[int] = field(init=False)
    is_void: bool = False
    _left: int = field(init=False)  # matches that are not over
    _sealed: list[Table] = field(default_factory=list)  # whose bots were told the end, and not the deal

    def __post_init__(self) -> None:
        self._left = len(self.matches)
        self.waiting = list(range(len(self.matches)))

    @property
    def is_over(self) -> bool:
        """Whether all its matches are."""
        return self._left == 0

    def ended(self, table: Table | None, is_void: bool) -> None:
        """A match is over; its table is None if it could not even be set up."""
        self._left -= 1
        self.is_void |= is_void
        if table is not None and self._left:
            self._sealed.append(table)

    def open(self) -> None:
        """It is over: those who were told the end of a match before are told what was dealt."""
        for table in self._sealed:
            table.unseal(is_rated=not self.is_void)
        self._sealed.clear()


class Boards:
    """See the module's docstring."""

    def __init__(self) -> None:
        self.reserved: set[Plays] = set()  # whose next free table is for a board; as of the last `next`
        self._open: dict[str, Board] = {}  # by name

    @property
    def is_waiting(self) -> bool:
        """Whether a match of any is still to begin."""
        return any(board.waiting for board in self._open.values())

    def dealt(self, board: Board) -> None:
        """A board begins."""
        self._open[board.deal.board] = board

    def over(self, board: Board) -> None:
        """All matches of a board are over."""
        del self._open[board.deal.board]

    def next(self, here: Mapping[Identity, Plays]) -> tuple[Board, int] | None:
        """A match whose bots all have a free table now, from now on counted as begun; None if there is none."""
        self.reserved.clear()
        for board in self._open.values():
            for at in board.waiting:
                players = board.seating.tables[at]
                if all(here.get(player.identity) is player and self._has_room(player) for player in players):
                    board.waiting.remove(at)
                    return board, at
            if board.waiting:
                self.reserved.update(board.seating.tables[board.waiting[0]])
        return None

    def given_up(
        self, now: float, is_paused: Callable[[Identity], bool], is_stopping: bool
    ) -> Iterator[tuple[Board, int]]:
        """Matches that will not begin, each counted as begun.  is_stopping: none begins any more."""
        for board in list(self._open.values()):
            if board.waiting and (
                is_stopping
                or board.is_void
                or now >= board.began + WAITS_S
                or any(is_paused(player.identity) for at in board.waiting for player in board.seating.tables[at])
            ):
                while board.waiting:
                    yield board, board.waiting.pop()

    def next_event_at(self) -> float | None:
        """When matches are given up though nothing else has happened."""
        return min((board.began + WAITS_S for board in self._open.values() if board.waiting), default=None)

    def _has_room(self, player: Plays) -> bool:
        return player.free_tables - (player in self.reserved) > 0
