"""Tournaments of one weak bot and three equal ones, between which the table must show no difference."""

from __future__ import annotations

from typing import Final, Protocol

from cutpurse.lab.tournament.local_backend import LocalBackend
from cutpurse.lab.tournament.tournament_file import Entrant, Format, Tournament
from cutpurse.lab.tournament.tournament_results import PlayedBoard, TournamentBoard
from cutpurse.lab.tournament.tournament_table import TournamentStanding, table_of
from cutpurse.leaderboard.formats.pairings import Field

__all__ = ["EQUALS", "FIELD", "Arranges", "TurningCircle", "equal_bots", "is_apart", "play_boards", "standings_of"]

FIELD: Final = (0, 1, 2, 3)
EQUALS: Final = (1, 2, 3)


class Arranges(Protocol):
    """An arrangement of bots in seats."""

    def next(self, field: Field) -> tuple[Field, ...]:
        """Return the bots by seat in each match of the next board."""


class TurningCircle:
    """The former arrangement as a planted fault: the same circle, turned by one seat each time."""

    def __init__(self, boards: str, seed: str) -> None:
        self._is_rotation = boards == "rotation"
        self._number = 0

    def next(self, field: Field) -> tuple[Field, ...]:
        """Return the bots by seat in each match of the next board."""
        n = len(field)
        turns = range(n) if self._is_rotation else (self._number,)
        self._number += 1
        return tuple([tuple([field[(seat + turn) % n] for seat in range(n)]) for turn in turns])


def equal_bots(game: str, number: int, boards: str, deals: int) -> Tournament:
    """Return tournament `number` of a game: bot 0 takes its first option, the others any."""
    bots = (Entrant("weak", "first_option"), *[Entrant(f"equal {bot}", "random") for bot in EQUALS])
    seed = f"equal/{game}/{number}"
    return Tournament(seed, game, len(bots), {}, seed, boards, deals, bots, Format("round_robin", {"meetings": 1}))


def play_boards(tournament: Tournament, seats: Arranges) -> list[PlayedBoard]:
    """Play the tournament's deals with four bots, in this process."""
    boards = [TournamentBoard(number, FIELD, seats.next(FIELD)) for number in range(tournament.deals)]
    return list(LocalBackend(tournament).play(boards))


def standings_of(tournament: Tournament, played: list[PlayedBoard]) -> dict[int, TournamentStanding]:
    """Return the row of each bot."""
    return {row.bot: row for row in table_of([(FIELD, played)], {}, tournament.seed)}


def is_apart(rows: dict[int, TournamentStanding]) -> bool:
    """Return whether the table shows one of two equal bots as better, by points or by ranks."""
    for bot in EQUALS:
        for other in EQUALS:
            one, another = rows[bot], rows[other]
            assert one.low is not None
            assert another.high is not None
            assert one.worst is not None
            assert another.best is not None
            if one.low > another.high or one.worst < another.best:
                return True
    return False
