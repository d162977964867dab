"""Boards of a tournament played on this machine, in one process or several; each match gets new bots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

from cutpurse.engine.chance import match_key
from cutpurse.engine.game import Game
from cutpurse.engine.match import Match
from cutpurse.games import game_named
from cutpurse.lab.luck import luck_events, total_luck
from cutpurse.lab.position_values import VALUES_VERSION, check_has_value, expected_points
from cutpurse.lab.tournament.tournament_file import Tournament
from cutpurse.lab.tournament.tournament_results import PlayedBoard, TournamentBoard, TournamentMatch
from cutpurse.process.backends import check_backend, in_order, is_in_this_process
from cutpurse.process.pool import number_tasks
from cutpurse.process.program_command import PROGRAM
from cutpurse.sdk.bot import BotMaker, bot_makers
from cutpurse.sdk.local import Failure
from cutpurse.sdk.playing.match_clock import MatchClock, SlowDecision, slowest_by_bot
from cutpurse.sdk.playing.timed import play_timed

__all__ = ["LocalBackend"]

_Played: TypeAlias = tuple[PlayedBoard, tuple[Failure, ...], tuple[SlowDecision, ...]]


class LocalBackend:
    """A backend that plays the boards of one tournament.

    Attributes:
        failures: The first failure of each bot that failed.
        slowest: The slowest decision of each bot, by board; empty without a clock.
    """

    def __init__(
        self, tournament: Tournament, jobs: int = 1, on: str | None = None, clock: MatchClock | None = None
    ) -> None:
        """Load the bots.

        Args:
            tournament: The tournament.
            jobs: Number of processes.
            on: Where to play, as in `cutpurse.sdk.local.play`.
            clock: Clock that the bots play by. Default: any bot has any time.

        Raises:
            UsageError: If an argument is out of range, a bot is unknown, or the luck of the game cannot be found.
            NotFound: If a bot's file does not exist.
            BotNotLoaded: If a bot cannot be loaded.
        """
        check_backend(on, jobs)
        if tournament.luck_adjusted:
            check_has_value(game_named(tournament.game))
        self.failures: dict[int, Failure] = {}
        self.slowest: tuple[SlowDecision, ...] = ()
        self._jobs = jobs
        self._on = on
        makers = bot_makers([entrant.bot for entrant in tournament.bots])
        names = tuple(entrant.name for entrant in tournament.bots)
        self._table = _BoardSetup(game_named(tournament.game), tuple(makers), names, tournament, (), clock)

    def plan(self) -> dict[str, Any]:
        """Return what the boards depend on besides the tournament: the rules, hashes of the bots' files, the values."""
        return {
            "where": "here",
            "rules": self._table.rules.words.version,
            "code": [_code(maker) for maker in self._table.makers],
            **({"values": VALUES_VERSION} if self._table.tournament.luck_adjusted else {}),
            **({} if self._table.clock is None else {"clock": self._table.clock.as_json()}),
        }

    def play(self, boards: Sequence[TournamentBoard], beat: Callable[[], None] = lambda: None) -> Iterator[PlayedBoard]:
        """Yield the boards, in order."""
        table = replace(self._table, boards=tuple(boards))
        one_by_one = (table.board(board, lambda _: beat()) for board in boards)
        is_here = is_in_this_process(self._on, self._jobs)
        played = (
            one_by_one if is_here else in_order(table.batch, len(boards), self._jobs, table.describe, self._on, beat)
        )
        try:
            for board, failures, slowest in played:
                for failure in failures:
                    self.failures.setdefault(failure.bot, failure)
                self.slowest = slowest_by_bot((*self.slowest, *slowest))
                yield board
        finally:
            played.close()


@dataclass(frozen=True)
class _BoardSetup:
    """The common parameters of all boards; can be sent to another process."""

    rules: type[Game]
    makers: tuple[BotMaker, ...]
    names: tuple[str, ...]
    tournament: Tournament
    boards: tuple[TournamentBoard, ...]
    clock: MatchClock | None = None

    def describe(self, numbers: range) -> str:
        """Name some boards in an error."""
        boards = self.boards[numbers.start : numbers.stop]
        bots = ", ".join(self.names[bot] for bot in sorted({bot for board in boards for bot in board.field}))
        what = number_tasks("boards", range(boards[0].number, boards[-1].number + 1))
        return f"{self.tournament.game}, {what} (seed {self.tournament.seed}; {bots})"

    def batch(self, numbers: range) -> list[_Played]:
        return [self.board(self.boards[number]) for number in numbers]

    def board(self, board: TournamentBoard, watch: Callable[[Match], None] | None = None) -> _Played:
        """Play one deal: once, or once with every bot in every seat, as the board says."""
        key = match_key(self.tournament.seed, board.number)
        with_luck = self.tournament.luck_adjusted
        matches, faults, first, slow = [], Counter[int](), dict[int, Failure](), list[SlowDecision]()
        settings, holds = dict(self.tournament.settings), self.clock is not None
        for bots in board.seats:
            names = [self.names[bot] for bot in bots]
            match = Match(self.rules, names, key, settings, log=True, hold_polls=holds)
            result, failed, _, thoughts = play_timed(match, [self.makers[bot] for bot in bots], self.clock, watch)
            slow += [
                SlowDecision(thought.seconds, bots[thought.seat], board.number, thought.decision, thought.waited_s)
                for thought in thoughts
            ]
            for seat, parts in failed:
                bot = bots[seat]
                faults[bot] += 1
                first.setdefault(bot, Failure(bot, self.names[bot], self.makers[bot].file, board.number, *parts))
            causes = tuple(cause.value for cause in result.end_causes)
            luck = tuple(total_luck(luck_events(match, expected_points), len(bots))) if with_luck else ()
            matches.append(TournamentMatch(bots, tuple(result.places), tuple(result.scores), causes, luck=luck))
        played = PlayedBoard(board.number, board.field, tuple(matches), dict(faults))
        return played, tuple(first.values()), slowest_by_bot(slow)


def _code(maker: BotMaker) -> str:
    """Return a hash of a bot's file, since an edited bot is a different one; empty if there is no file."""
    file = Path(maker.file)
    if maker.spec.startswith(PROGRAM) or not maker.file.endswith(".py") or not file.is_file():
        return ""
    return sha256(file.read_bytes()).hexdigest()
