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
from cutpurse.experiments.tournament.progress_log import Journal
from cutpurse.experiments.tournament.tournament_file import Tournament
from cutpurse.experiments.tournament.tournament_results import PlayedBoard, TournamentBoard, TournamentMatch
from cutpurse.v1 import arena_pb2, ladder_pb2
from cutpurse.wire.errors import NotFound, ServerRefused
from cutpurse.wire.league import League, bot_name, format_bot_name
from cutpurse.wire.request_status import RequestStatus, requested
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
        self._bots = list(map(bot_name, settled)) if settled else self._found(tournament)

    def plan(self) -> dict[str, Any]:
        """Return what the boards depend on besides the tournament."""
        return {"where": f"ladder {self._ladder}", "versions": [format_bot_name(bot) for bot in self._bots]}

    def play(self, boards: Sequence[TournamentBoard]) -> Generator[PlayedBoard, None, None]:
        """Yield the boards, each when it is over."""
        waiting = deque(boards)
        under_way: list[_UnderWay] = []
        while waiting or under_way:
            while waiting and len(under_way) < AT_ONCE:
                under_way.append(_UnderWay(waiting.popleft(), self._journal.asked))
            for one in list(under_way):
                played = self._look(one)
                if played is not None:
                    under_way.remove(one)
                    yield played
            if under_way:
                self._wait(LOOK_S)

    def _look(self, one: _UnderWay) -> PlayedBoard | None:
        """Return the board if it is over; request its match if none is open."""
        if one.match is None:
            self._ask(one)
            return None
        now = requested(self._league, one.match)
        if now.match is not None and not now.match.void_cause:
            return self._played(one.board, now.match)
        if now.state == "unknown" and one.missing_since is None:
            one.missing_since = self._clock()
        if now.state in ("waiting", "open"):
            one.missing_since = None
        elif now.state != "unknown" or self._clock() - (one.missing_since or 0.0) > STORING_S:
            one.again(_why(now))
        return None

    def _ask(self, one: _UnderWay) -> None:
        if one.tries >= TRIES:
            raise ServerRefused(
                f"board {one.board.number} was asked for {one.tries} times, and could not be played: {one.why}; "
                "the same command goes on from here"
            )
        wanted = ladder_pb2.RequestMatchRequest(
            ladder=self._ladder, bots=[self._bots[bot] for bot in one.board.seats[0]]
        )
        one.match = self._league.RequestMatch(wanted).match
        one.tries += 1
        self._journal.ask(one.board.number, one.match)

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

    def _found(self, tournament: Tournament) -> list[ladder_pb2.BotName]:
        """Return the online versions of the bots; the newest of a bot without a version."""
        asked = ladder_pb2.ListBotsRequest(ladder=self._ladder)
        there = [one.bot for one in self._league.ListBots(asked).bots if one.is_here]
        found = []
        for entrant in tournament.bots:
            wanted = bot_name(entrant.bot)
            fitting = [
                bot
                for bot in there
                if bot.bot == wanted.bot and wanted.owner in ("", bot.owner) and wanted.version in ("", bot.version)
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
            found.append(fitting[-1])
        return found


class _UnderWay:
    """A board in progress: its current match, and the number of requests in this run."""

    def __init__(self, board: TournamentBoard, asked: dict[int, list[str]]) -> None:
        self.board = board
        self.match = asked.get(board.number, [None])[-1]  # requested by an interrupted run
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
    defined = ladder.defined
    if tournament.boards != "plain":
        raise UsageError(
            f"boards is {tournament.boards!r}: bots on a server may remember a deal, so they meet each once; "
            "write boards = 'plain'"
        )
    theirs = {setting.name: setting.value for setting in defined.settings}
    for what, mine, its in (
        ("game", tournament.game, defined.game),
        ("seats", tournament.seats, defined.seats),
        ("settings", dict(tournament.settings), theirs),
    ):
        if mine != its:
            raise UsageError(f"{what} is {mine!r:.200}, and ladder {defined.name} has {its!r:.200}: they are to agree")
