"""A run of a tournament: settles a plan, plays and stores the boards, and makes the table.

If the program is interrupted, the next run continues with the first board that is not in the journal. This module knows
no terminal, and not where boards are played.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from cutpurse.engine import seating
from cutpurse.engine.errors import UsageError
from cutpurse.lab.journal_file import digest_of
from cutpurse.lab.tournament.formats import Rounds, rounds_of
from cutpurse.lab.tournament.progress_log import Journal
from cutpurse.lab.tournament.seats import Seats
from cutpurse.lab.tournament.tournament_file import Tournament
from cutpurse.lab.tournament.tournament_results import PlayedBoard, TournamentBoard
from cutpurse.lab.tournament.tournament_table import TournamentStanding, table_of
from cutpurse.leaderboard.formats.brackets import KNOCKOUTS
from cutpurse.process.lifetime import a_run
from cutpurse.wire.text import format_count

__all__ = ["TournamentBackend", "Plan", "played_out", "plan_of", "standing"]


class TournamentBackend(Protocol):
    """The place where boards are played."""

    def plan(self) -> dict[str, Any]:
        """Return what the boards depend on besides the tournament, as JSON values; it becomes part of the plan."""

    def play(self, boards: Sequence[TournamentBoard], beat: Callable[[], None] = lambda: None) -> Iterator[PlayedBoard]:
        """Play boards, and yield each when it is over, in any order; call `beat` often meanwhile."""


@dataclass(frozen=True)
class Plan:
    """The plan, settled before the first match."""

    tournament: Tournament
    rounds: Rounds
    settled: dict[str, Any]

    @property
    def digest(self) -> str:
        """The digest of everything that is settled."""
        return digest_of(self.settled)

    def boards(self) -> int:
        """Return the number of boards; in a knock-out, the maximum."""
        return self.rounds.boards()

    def boards_text(self) -> str:
        """Return the number of boards in words."""
        most = "at most " if self.tournament.format.kind in KNOCKOUTS else ""
        return f"{most}{format_count(self.boards(), 'board')}"

    def lines(self) -> list[str]:
        """Describe the plan for people, in lines."""
        tournament = self.tournament
        kind = tournament.format.kind.replace("_", " ")
        matches = self.boards() * (tournament.seats if tournament.boards == "rotation" else 1)
        each = (
            f"each deal {tournament.seats} times, every bot in every seat"
            if tournament.boards == "rotation"
            else "a match a deal"
        )
        fill = [tournament.bots[bot].name for bot in tournament.format.fill]
        most = " at most" if tournament.format.kind in KNOCKOUTS else " in all"
        return [
            (
                f"{tournament.name}: {kind} of {format_count(len(tournament.bots) - len(fill), 'bot')} "
                f"at {tournament.game}, {tournament.seats} seats"
            ),
            (
                "bots, by seeding: "
                f"{', '.join(bot.name for at, bot in enumerate(tournament.bots) if at not in tournament.format.fill)}"
            ),
            *([f"in the other seats: {', '.join(fill)}"] if fill else []),
            *(
                [f"challenger: {tournament.bots[tournament.format.challenger].name}"]
                if tournament.format.kind == "gauntlet"
                else []
            ),
            *_said(self.rounds),
            f"boards: {tournament.boards}, {each}; {format_count(matches, 'match', 'matches')}{most}",
            f"plan {self.digest}",
        ]


def plan_of(tournament: Tournament, place: dict[str, Any]) -> Plan:
    """Return the plan of a tournament; `place` is what `TournamentBackend.plan` returned."""
    rounds = rounds_of(tournament)
    settled = {
        "tournament": tournament.as_json(),
        "place": place,
        "seating": seating.VERSION,
        "rounds": _said(rounds),
        "first_round": [list(field) for field in rounds.fields(0, ())],
    }
    return Plan(tournament, rounds, settled)


def _said(rounds: Rounds) -> list[str]:
    return [text for text in map(rounds.said, range(rounds.count())) if text]


def played_out(
    plan: Plan, place: TournamentBackend, journal: Journal, progress: Callable[[int, int], None] | None = None
) -> list[PlayedBoard]:
    """Play and store the boards that are not in the journal; return all boards by number.

    Args:
        plan: The plan.
        place: The backend that plays.
        journal: Stores the boards.
        progress: Called with the number of finished boards and of all boards: at the beginning, and often.

    Raises:
        UsageError: If the journal belongs to another tournament, or was altered.
    """
    journal.settle(plan.settled)

    def beat() -> None:
        if progress is not None:
            progress(len(journal.played), plan.boards())

    beat()
    done: list[PlayedBoard] = []
    seats = Seats(plan.tournament.boards, plan.tournament.seed)
    with a_run():
        for number in range(plan.rounds.count()):
            fields = plan.rounds.fields(number, done)
            if not fields:
                break
            boards = [
                TournamentBoard(number, field, seats.next(field)) for number, field in enumerate(fields, len(done))
            ]
            _check(boards, journal)
            missing = [board for board in boards if board.number not in journal.played]
            for played in place.play(missing, beat):
                journal.add(played)
                beat()
            done += [journal.played[board.number] for board in boards]
    return done


def _check(boards: Sequence[TournamentBoard], journal: Journal) -> None:
    for board in boards:
        played = journal.played.get(board.number)
        if played is None:
            continue
        if played.field != board.field:
            raise UsageError(
                f"{journal.path}: board {board.number} was played by {list(played.field)}, and by the plan it is "
                f"{list(board.field)}: the journal was altered"
            )
        seats = tuple([match.bots for match in played.matches])
        if seats != board.seats:
            raise UsageError(
                f"{journal.path}: the bots of board {board.number} sat in {list(map(list, seats))}, and by the plan "
                f"they sit in {list(map(list, board.seats))}: the journal was altered"
            )


def standing(plan: Plan, played: Sequence[PlayedBoard]) -> list[TournamentStanding]:
    """Return the table after these boards."""
    rows = table_of(plan.rounds.stages(played), plan.rounds.byes(played), plan.digest, plan.tournament.deals)
    ranks = plan.rounds.ranks(played)
    if ranks is None:
        return rows
    ranked = [replace(row, rank=ranks[row.bot], best=None, worst=None) for row in rows]
    return sorted(ranked, key=lambda row: (row.rank, row.bot))
