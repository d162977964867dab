"""Boards of a tournament played on this machine, in one process or several; each match gets new bots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from cutpurse.engine.chance import match_key
from cutpurse.engine.game import Game
from cutpurse.engine.match import Match
from cutpurse.experiments.luck import luck_events, total_luck
from cutpurse.experiments.position_values import VALUES_VERSION, check_has_value, expected_points
from cutpurse.experiments.tournament.tournament_file import Tournament
from cutpurse.experiments.tournament.tournament_results import PlayedBoard, TournamentBoard, TournamentMatch
from cutpurse.games import game_named
from cutpurse.process.backends import check_backend, in_order, is_in_this_process
from cutpurse.process.pool import number_tasks
from cutpurse.process.program_command import PROGRAM
from cutpurse.sdk.bot import BotMaker, bot_makers
from cutpurse.sdk.local import Failure
from cutpurse.sdk.playing.seating import play_match

__all__ = ["LocalBackend"]


class LocalBackend:
    """A backend that plays the boards of one tournament.

    Attributes:
        failures: The first failure of each bot that failed.
    """

    def __init__(self, tournament: Tournament, jobs: int = 1, on: str | None = None) -> None:
        """Load the bots.

        Args:
            tournament: The tournament.
            jobs: Number of processes.
            on: Where to play, as in `cutpurse.sdk.local.play`.

        Raises:
            UsageError: If an argument is out of range, a bot is unknown, or the luck of the game cannot be found.
            NotFound: If a bot's file does not exist.
            BotNotLoaded: If a bot cannot be loaded.
        """
        check_backend(on, jobs)
        if tournament.luck_adjusted:
            check_has_value(game_named(tournament.game))
        self.failures: dict[int, Failure] = {}
        self._jobs = jobs
        self._on = on
        makers = bot_makers([one.bot for one in tournament.bots])
        names = tuple(one.name for one in tournament.bots)
        self._table = _BoardSetup(game_named(tournament.game), tuple(makers), names, tournament, ())

    def plan(self) -> dict[str, Any]:
        """Return what the boards depend on besides the tournament: the rules, hashes of the bots' files, the values."""
        return {
            "where": "here",
            "rules": self._table.rules.words.version,
            "code": [_code(maker) for maker in self._table.makers],
            **({"values": VALUES_VERSION} if self._table.tournament.luck_adjusted else {}),
        }

    def play(self, boards: Sequence[TournamentBoard]) -> Iterator[PlayedBoard]:
        """Yield the boards, in order."""
        table = replace(self._table, boards=tuple(boards))
        one_by_one = (table.board(board) for board in boards)
        is_here = is_in_this_process(self._on, self._jobs)
        played = one_by_one if is_here else in_order(table.batch, len(boards), self._jobs, table.describe, self._on)
        try:
            for board, failures in played:
                for failure in failures:
                    self.failures.setdefault(failure.bot, failure)
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

    def describe(self, numbers: range) -> str:
        """Name some boards in an error."""
        boards = self.boards[numbers.start : numbers.stop]
        bots = ", ".join(self.names[bot] for bot in sorted({bot for board in boards for bot in board.field}))
        what = number_tasks("boards", range(boards[0].number, boards[-1].number + 1))
        return f"{self.tournament.game}, {what} (seed {self.tournament.seed}; {bots})"

    def batch(self, numbers: range) -> list[tuple[PlayedBoard, tuple[Failure, ...]]]:
        return [self.board(self.boards[number]) for number in numbers]

    def board(self, board: TournamentBoard) -> tuple[PlayedBoard, tuple[Failure, ...]]:
        """Play one deal: once, or once with every bot in every seat, as the board says."""
        key = match_key(self.tournament.seed, board.number)
        with_luck = self.tournament.luck_adjusted
        matches, faults, first = [], Counter[int](), dict[int, Failure]()
        for bots in board.seats:
            match = Match(self.rules, [self.names[bot] for bot in bots], key, dict(self.tournament.settings), log=True)
            result, failed, _ = play_match(match, [self.makers[bot] for bot in bots])
            for seat, parts in failed:
                bot = bots[seat]
                faults[bot] += 1
                first.setdefault(bot, Failure(bot, self.names[bot], self.makers[bot].file, board.number, *parts))
            causes = tuple(cause.value for cause in result.end_causes)
            luck = tuple(total_luck(luck_events(match, expected_points), len(bots))) if with_luck else ()
            matches.append(TournamentMatch(bots, tuple(result.places), tuple(result.scores), causes, luck=luck))
        return PlayedBoard(board.number, board.field, tuple(matches), dict(faults)), tuple(first.values())


def _code(maker: BotMaker) -> str:
    """Return a hash of a bot's file, since an edited bot is a different one; empty if there is no file."""
    file = Path(maker.file)
    if maker.spec.startswith(PROGRAM) or not maker.file.endswith(".py") or not file.is_file():
        return ""
    return sha256(file.read_bytes()).hexdigest()
