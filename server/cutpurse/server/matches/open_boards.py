"""Boards of several matches while they are played: which of their matches can begin, and when all of them are over.

A board has one deal, so nothing of it is opened before its last match is over. Its matches begin as their bots have
free tables, together where they can; the next free tables of these bots are kept for it, board by board in the order in
which they were dealt. A bot that keeps no memory may come back between two of them as another session, as one does that
is a fresh process in each. A board of which a match is void, or none begins for a minute while none is played, or that
has a bot that is paused or withdrawn, is given up: what has not begun of it is void, and so it rates nothing.

This module knows no stream, no store and no clock: moments (seconds) are handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final

from cutpurse.server.finished_match import Deal, Identity
from cutpurse.server.matches.matchmaking import Seating
from cutpurse.server.matches.roster import PairableBot
from cutpurse.server.matches.server_match import ServerMatch

__all__ = ["WAITS_S", "OpenBoard", "OpenBoards"]

WAITS_S: Final = 60.0  # for the bots of a match that has not begun, while none of its board is played


@dataclass(slots=True, eq=False)
class OpenBoard:
    """One deal and its matches.

    matches: their names; announced: what the store says of each; waiting: those that have not begun, by their index.
    """

    seating: Seating
    deal: Deal
    matches: tuple[str, ...]
    announced: tuple[Future[None], ...]
    began: float
    waiting: list[int] = field(init=False)
    is_void: bool = False
    waits_since: float = field(init=False)  # when it was dealt, or the last of its matches that are over ended
    _left: int = field(init=False)  # matches that are not over
    _sealed: list[ServerMatch] = field(default_factory=list)  # whose bots were told the end, and not the deal

    def __post_init__(self) -> None:
        self._left = len(self.matches)
        self.waiting = list(range(len(self.matches)))
        self.waits_since = self.began

    @property
    def is_over(self) -> bool:
        """Whether all its matches are."""
        return self._left == 0

    @property
    def gives_up_at(self) -> float | None:
        """When it is waited no longer for bots of matches that have not begun; None while any is played."""
        is_played = self._left > len(self.waiting)
        return self.waits_since + WAITS_S if self.waiting and not is_played else None

    def waits_for(self, identity: Identity) -> bool:
        """Whether this bot has a seat in a match that has not begun."""
        return any(player.identity == identity for at in self.waiting for player in self.seating.tables[at])

    def ended(self, table: ServerMatch | None, now: float, is_void: bool) -> None:
        """Note that a match is over; its table is None if it could not even be set up."""
        self._left -= 1
        self.waits_since = now
        self.is_void |= is_void
        if table is not None and self._left:
            self._sealed.append(table)

    def open(self) -> None:
        """Reveal the deal to the bots that heard of the end of a match before the board was over."""
        for table in self._sealed:
            table.unseal(is_rated=not self.is_void)
        self._sealed.clear()


class OpenBoards:
    """See the module's docstring."""

    def __init__(self) -> None:
        self.reserved: dict[
            PairableBot, None
        ] = {}  # in order: whose next free table is for a board; as of the last `next`
        self._open: dict[str, OpenBoard] = {}  # by name

    @property
    def is_waiting(self) -> bool:
        """Whether a match of any is still to begin."""
        return any(board.waiting for board in self._open.values())

    def dealt(self, board: OpenBoard) -> None:
        """Add a board."""
        self._open[board.deal.board] = board

    def over(self, board: OpenBoard) -> None:
        """All matches of a board are over."""
        del self._open[board.deal.board]

    def withdrawn(self, identity: Identity) -> None:
        """Note that this version does not come back, so that no board waits for it."""
        for board in self._open.values():
            board.is_void |= board.waits_for(identity)

    def next(self, here: Mapping[Identity, PairableBot]) -> tuple[OpenBoard, int, tuple[PairableBot, ...]] | None:
        """Return a match whose bots all have a free table, and count it as begun; None if there is none.

        With who sits where: whoever was chosen, or is there in his place.
        """
        self.reserved.clear()
        for board in self._open.values():
            for at in board.waiting:
                players = _there(board.seating.tables[at], here)
                if len(players) == len(board.seating.tables[at]) and all(map(self._has_room, players)):
                    board.waiting.remove(at)
                    return board, at, players
            if board.waiting:
                self.reserved.update(dict.fromkeys(_there(board.seating.tables[board.waiting[0]], here)))
        return None

    def given_up(
        self, now: float, is_paused: Callable[[Identity], bool], is_stopping: bool
    ) -> Iterator[tuple[OpenBoard, int]]:
        """Return the matches that will not begin, each counted as begun.  is_stopping: none begins any more."""
        for board in list(self._open.values()):
            if board.waiting and (
                is_stopping
                or board.is_void
                or ((at_last := board.gives_up_at) is not None and now >= at_last)
                or any(is_paused(player.identity) for at in board.waiting for player in board.seating.tables[at])
            ):
                while board.waiting:
                    yield board, board.waiting.pop()

    def next_event_at(self) -> float | None:
        """When matches are given up though nothing else has happened."""
        return min((at for board in self._open.values() if (at := board.gives_up_at) is not None), default=None)

    def _has_room(self, player: PairableBot) -> bool:
        return player.free_tables - (player in self.reserved) > 0


def _there(chosen: Iterable[PairableBot], here: Mapping[Identity, PairableBot]) -> tuple[PairableBot, ...]:
    """Those of them who are there: they themselves, or where nothing is kept in mind the same bot as it came again."""
    found = []
    for player in chosen:
        now = here.get(player.identity)
        if now is not None and (now is player or (now.forgets and player.forgets)):
            found.append(now)
    return tuple(found)
