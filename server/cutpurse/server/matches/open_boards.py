"""Boards of several matches in play: which of their matches can begin, and when all of them are over.

A board has one deal, so its commitment is opened only after its last match. Its matches begin when their bots have free
tables, together where possible. The next free tables of these bots are reserved for it, board by board in the order of
dealing. A bot that keeps no memory may return between two of them as another session, for example as a fresh process.

A board is given up if one of its matches is void, or if one of its bots is paused or withdrawn. It is also given up if
none of its matches is played and none begins for a minute. Its matches that have not begun are then void, so it is not
rated.

This module knows no stream, no store and no clock: times (in seconds) are passed in.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final

from cutpurse.leaderboard.results import Deal, Identity
from cutpurse.server.matches.deal_nonces import DealNonces
from cutpurse.server.matches.matchmaking import Seating
from cutpurse.server.matches.roster import PairableBot
from cutpurse.server.matches.server_match import ServerMatch
from cutpurse.server.matches.version_tests import DrawnBoard

__all__ = ["WAITS_S", "OpenBoard", "OpenBoards"]

WAITS_S: Final = 60.0  # maximum wait for the bots of a match while no match of its board is played


@dataclass(slots=True, eq=False)
class OpenBoard:
    """One deal and its matches.

    Args:
        matches: Match IDs.
        announced: The store's answer for each match.
        drawn: The board of a version test, which is not rated; None for the board of a ladder.
        hides_names: Whether its bots do not learn whom they play against.
        waiting: Indexes of the matches that have not begun.
    """

    seating: Seating
    deal: Deal
    matches: tuple[str, ...]
    announced: tuple[Future[None], ...]
    began: float
    drawn: DrawnBoard | None = None
    hides_names: bool = False
    waiting: list[int] = field(init=False)
    is_void: bool = False
    waits_since: float = field(init=False)  # when it was dealt, or its latest finished match ended
    nonces: DealNonces = field(default_factory=DealNonces)  # those of the match that begins first
    _left: int = field(init=False)  # number of matches that are not over
    _sealed: list[ServerMatch] = field(default_factory=list)  # matches whose bots know the end, but not the deal

    def __post_init__(self) -> None:
        self._left = len(self.matches)
        self.waiting = list(range(len(self.matches)))
        self.waits_since = self.began

    @property
    def is_over(self) -> bool:
        """Whether all its matches are over."""
        return self._left == 0

    @property
    def is_rated(self) -> bool:
        """Whether ratings change if none of its matches is void."""
        return self.drawn is None and not self.is_void

    @property
    def gives_up_at(self) -> float | None:
        """When the wait for bots of its other matches ends; None while any match is played."""
        is_played = self._left > len(self.waiting)
        return self.waits_since + WAITS_S if self.waiting and not is_played else None

    def waits_for(self, identity: Identity) -> bool:
        """Return whether this bot has a seat in a match that has not begun."""
        return any(player.identity == identity for at in self.waiting for player in self.seating.tables[at])

    def ended(self, table: ServerMatch | None, now: float, is_void: bool) -> None:
        """Note the end of a match; `table` is None if it could not be set up."""
        self._left -= 1
        self.waits_since = now
        self.is_void |= is_void
        if table is not None and self._left:
            self._sealed.append(table)

    def open(self) -> None:
        """Reveal the deal to the bots whose matches ended before the board did."""
        for table in self._sealed:
            table.unseal(is_rated=self.is_rated)
        self._sealed.clear()


class OpenBoards:
    """All boards of several matches in play."""

    def __init__(self) -> None:
        self.reserved: dict[
            PairableBot, None
        ] = {}  # bots whose next free table is reserved for a board, in order, as of the last `next`
        self._open: dict[str, OpenBoard] = {}  # by board ID

    @property
    def is_waiting(self) -> bool:
        """Whether a match of any board has not begun."""
        return any(board.waiting for board in self._open.values())

    def dealt(self, board: OpenBoard) -> None:
        """Add a board."""
        self._open[board.deal.board] = board

    def over(self, board: OpenBoard) -> None:
        """Remove a board whose matches are all over."""
        del self._open[board.deal.board]

    def withdrawn(self, identity: Identity) -> None:
        """Note that this version will not return, so that no board waits for it."""
        for board in self._open.values():
            board.is_void |= board.waits_for(identity)

    def next(
        self, here: Mapping[Identity, PairableBot], may_begin: Callable[[OpenBoard], bool] = lambda board: True
    ) -> tuple[OpenBoard, int, tuple[PairableBot, ...]] | None:
        """Return a match whose bots all have a free table, and count it as begun; None if there is none.

        Args:
            here: Online bots.
            may_begin: Returns whether a match of a board may begin now.

        Returns:
            The board, the index of the match on it, and the online bots by seat.
        """
        self.reserved.clear()
        for board in self._open.values():
            if board.waiting and not may_begin(board):
                continue
            for at in board.waiting:
                players = _there(board.seating.tables[at], here)
                if len(players) == len(board.seating.tables[at]) and all(map(self._has_room, players)):
                    board.waiting.remove(at)
                    return board, at, players
            if board.waiting:
                self.reserved.update(dict.fromkeys(_there(board.seating.tables[board.waiting[0]], here)))
        return None

    def given_up(
        self, now: float, is_paused: Callable[[Identity], bool], is_stopping: bool, closed: Container[str] = ()
    ) -> Iterator[tuple[OpenBoard, int]]:
        """Yield the matches that will not begin, each counted as begun.

        Args:
            now: Seconds on the lobby's clock.
            is_paused: Returns whether a version is paused.
            is_stopping: Whether no match may begin any more.
            closed: Ladders on which no match may begin any more.
        """
        for board in list(self._open.values()):
            if board.waiting and (
                is_stopping
                or board.is_void
                or board.seating.ladder.name in closed
                or ((at_last := board.gives_up_at) is not None and now >= at_last)
                or any(is_paused(player.identity) for at in board.waiting for player in board.seating.tables[at])
            ):
                while board.waiting:
                    yield board, board.waiting.pop()

    def next_event_at(self) -> float | None:
        """Return when matches are given up if nothing else happens."""
        return min((at for board in self._open.values() if (at := board.gives_up_at) is not None), default=None)

    def _has_room(self, player: PairableBot) -> bool:
        return player.free_tables - (player in self.reserved) > 0


def _there(chosen: Iterable[PairableBot], here: Mapping[Identity, PairableBot]) -> tuple[PairableBot, ...]:
    """Return those of the chosen bots that are online: the same session, or a new one of a bot without memory."""
    found = []
    for player in chosen:
        now = here.get(player.identity)
        if now is not None and (now is player or (now.forgets and player.forgets)):
            found.append(now)
    return tuple(found)
