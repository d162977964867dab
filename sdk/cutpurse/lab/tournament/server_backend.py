"""Boards of a tournament played by bots on a server: unrated requested matches, with the rules of a ladder.

These bots may remember deals, so every board is one match of a deal that nobody chose and that does not come again. A
match that was dropped or void is requested again, a few times.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import Any, Final

from cutpurse.engine.errors import UsageError
from cutpurse.lab.tournament.progress_log import Journal
from cutpurse.lab.tournament.tournament_file import Tournament, check_rules
from cutpurse.lab.tournament.tournament_results import PlayedBoard, TournamentBoard, TournamentMatch
from cutpurse.sdk.matches.request_status import RequestStatus, requested
from cutpurse.v1 import arena_pb2, ladder_pb2
from cutpurse.wire.errors import NotFound, ServerRefused
from cutpurse.wire.league import League, bot_name, format_bot_name
from cutpurse.wire.text import printable

__all__ = ["ServerBackend"]

AT_ONCE: Final = 4  # matches; a server allows eight per owner
TRIES: Final = 5  # requests per board
LOOK_S: Final = 0.25  # between two polls of the open matches
STORING_S: Final = 10.0  # for the server to store a finished match; after that it counts as lost


class ServerBackend:
    """A backend that plays the boards of one tournament on a ladder of a server."""

    def __init__(
        self,
        tournament: Tournament,
        league: League,
        ladder: ladder_pb2.LadderShown,
        journal: Journal,
        *,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        """Find the bots on the server, or take them from the journal.

        Raises:
            UsageError: If the tournament does not fit the ladder, or a bot's name is ambiguous.
            NotFound: If a bot is not online.
        """
        _check(tournament, ladder)
        self._league = league
        self._ladder = ladder.defined.name
        self._journal = journal
        self._clock = clock
        self._wait = wait
        settled = (journal.plan or {}).get("place", {}).get("versions")
        # A bot without a version keeps the version that is newest when the tournament begins.
        self._bots = list(map(bot_name, settled)) if settled else self._find_bots(tournament)

    def plan(self) -> dict[str, Any]:
        """Return what the boards depend on besides the tournament."""
        return {"where": f"ladder {self._ladder}", "versions": [format_bot_name(bot) for bot in self._bots]}

    def play(
        self, boards: Sequence[TournamentBoard], beat: Callable[[], None] = lambda: None
    ) -> Generator[PlayedBoard, None, None]:
        """Yield the boards, each when it is over."""
        waiting = deque(boards)
        under_way: list[_UnderWay] = []
        while waiting or under_way:
            while waiting and len(under_way) < AT_ONCE:
                under_way.append(_UnderWay(waiting.popleft(), self._journal.asked))
            for open_board in list(under_way):
                played = self._look(open_board)
                if played is not None:
                    under_way.remove(open_board)
                    yield played
            beat()
            if under_way:
                self._wait(LOOK_S)

    def _look(self, open_board: _UnderWay) -> PlayedBoard | None:
        """Return the board if it is over; request its match if none is open."""
        if open_board.match is None:
            self._ask(open_board)
            return None
        now = requested(self._league, open_board.match)
        if now.match is not None and not now.match.void_cause:
            return self._played(open_board.board, now.match)
        if now.state == "unknown" and open_board.missing_since is None:
            open_board.missing_since = self._clock()
        if now.state in ("waiting", "open"):
            open_board.missing_since = None
        elif now.state != "unknown" or self._clock() - (open_board.missing_since or 0.0) > STORING_S:
            open_board.again(_why(now))
        return None

    def _ask(self, open_board: _UnderWay) -> None:
        if open_board.tries >= TRIES:
            raise ServerRefused(
                f"board {open_board.board.number} was asked for {open_board.tries} times, "
                f"and could not be played: {open_board.why}; "
                "the same command goes on from here"
            )
        request = ladder_pb2.RequestMatchRequest(
            ladder=self._ladder, bots=[self._bots[bot] for bot in open_board.board.seats[0]]
        )
        open_board.match = self._league.RequestMatch(request).match
        open_board.tries += 1
        self._journal.ask(open_board.board.number, open_board.match)

    def _played(self, board: TournamentBoard, match: ladder_pb2.MatchShown) -> PlayedBoard:
        (bots,) = board.seats
        if [seat.bot.bot for seat in match.seats] != [self._bots[bot].bot for bot in bots]:
            raise ServerRefused(f"match {printable(match.match, 200)} was played by other bots than were asked for")
        faults = {bot: seat.faults for bot, seat in zip(bots, match.seats, strict=True) if seat.faults}
        played = TournamentMatch(
            bots,
            tuple(seat.place for seat in match.seats),
            tuple(seat.score for seat in match.seats),
            tuple(arena_pb2.EndCause.Name(seat.end_cause).removeprefix("END_CAUSE_").lower() for seat in match.seats),
            match.match,
        )
        return PlayedBoard(board.number, board.field, (played,), faults)

    def _find_bots(self, tournament: Tournament) -> list[ladder_pb2.BotName]:
        """Return the online versions of the bots; the newest of a bot without a version."""
        request = ladder_pb2.ListBotsRequest(ladder=self._ladder)
        there = [listed.bot for listed in self._league.ListBots(request).bots if listed.is_here]
        versions = []
        for entrant in tournament.bots:
            request_bot = bot_name(entrant.bot)
            fitting = [
                bot
                for bot in there
                if bot.bot == request_bot.bot
                and request_bot.owner in ("", bot.owner)
                and request_bot.version in ("", bot.version)
            ]
            owners = {bot.owner for bot in fitting}
            if not fitting:
                raise NotFound(
                    f"{printable(entrant.bot, 100)} is not there to play on ladder {self._ladder}; "
                    f"there are: {', '.join(format_bot_name(bot) for bot in there[:20]) or 'none'}"
                )
            if len(owners) > 1:
                raise UsageError(
                    f"{printable(entrant.bot, 100)} is a bot of {', '.join(sorted(owners))}: write whose is meant"
                )
            versions.append(fitting[-1])
        return versions


class _UnderWay:
    """A board in progress: its current match, and the number of requests in this run."""

    def __init__(self, board: TournamentBoard, requests: dict[int, list[str]]) -> None:
        self.board = board
        self.match = requests.get(board.number, [None])[-1]  # requested by an interrupted run
        self.tries = 0
        self.why = ""
        self.missing_since: float | None = None

    def again(self, why: str) -> None:
        """Request another match at the next poll, because this one has failed."""
        self.match, self.why, self.missing_since = None, why, None


def _why(now: RequestStatus) -> str:
    if now.match is not None:
        return f"match {printable(now.match.match, 200)} is void: {printable(now.match.void_cause, 40)}"
    return now.why or "the server knows nothing of its match any more"


def _check(tournament: Tournament, ladder: ladder_pb2.LadderShown) -> None:
    """Check that the tournament fits the ladder.  Raises UsageError."""
    if tournament.boards != "plain":
        raise UsageError(
            f"boards is {tournament.boards!r}: bots on a server may remember a deal, so they meet each once; "
            "write boards = 'plain'"
        )
    settings = dict(tournament.settings)
    check_rules({"game": tournament.game, "seats": tournament.seats, "settings": settings}, ladder.defined)
