"""The comparisons of a ladder in the order of rating, for computing its ratings again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, select

from cutpurse.leaderboard.comparisons import PLAIN, Comparison, comparisons_of
from cutpurse.leaderboard.queries.names import ladder_id_of
from cutpurse.leaderboard.ratings import Skill, TrueSkill
from cutpurse.leaderboard.relations import BOARDS, CHANGES, EPOCHS, LADDERS, MATCHES, SEATS, rated_seats

__all__ = ["RatingStep", "ladder_history"]


@dataclass(frozen=True, slots=True)
class RatingStep:
    """A comparison of a board from the ledger, with the stored rating changes.

    A board of several matches can have several comparisons with the same sequence
    (`cutpurse.leaderboard.comparisons`).

    Attributes:
        sequence: Number of the board among the rated boards of the ladder.
        settings: TrueSkill parameters of the board's epoch.
        match: First match of the board.
        versions: Versions of the comparison.
        places: Their places.
        faults: Their numbers of faults.
        changes: Their skills before and after, None where no change is stored.
    """

    sequence: int
    settings: TrueSkill
    match: str
    versions: tuple[int, ...]
    places: tuple[int, ...]
    faults: tuple[int, ...]
    changes: tuple[tuple[Skill, Skill] | None, ...]


def ladder_history(connection: Connection, ladder: str) -> Iterator[RatingStep]:
    """Iterate over the comparisons of a ladder in the order of rating.  Raises NoSuchEntry."""
    ladder_id = ladder_id_of(connection, ladder)
    kind = connection.scalar(select(LADDERS.c.boards).where(LADDERS.c.id == ladder_id)) or PLAIN
    epochs = {
        row.number: TrueSkill.from_json(row.settings)
        for row in connection.execute(select(EPOCHS).where(EPOCHS.c.ladder_id == ladder_id)).all()
    }
    query = (
        select(
            BOARDS.c.sequence,
            BOARDS.c.epoch,
            MATCHES.c.id,
            SEATS.c.version_id,
            SEATS.c.place,
            SEATS.c.faults,
            CHANGES.c.mu_before,
            CHANGES.c.sigma_before,
            CHANGES.c.mu_after,
            CHANGES.c.sigma_after,
        )
        .select_from(rated_seats())
        .where(BOARDS.c.ladder_id == ladder_id, BOARDS.c.sequence.is_not(None))
        .order_by(BOARDS.c.sequence, MATCHES.c.number, SEATS.c.seat)
    )
    rows = connection.execution_options(yield_per=10_000).execute(query)
    for sequence, seats in groupby(rows, lambda row: row.sequence):
        taken = list(seats)
        changes = {
            row.version_id: None
            if row.mu_before is None
            else (Skill(row.mu_before, row.sigma_before), Skill(row.mu_after, row.sigma_after))
            for row in taken
        }
        matches = [_sat(list(of_one)) for _, of_one in groupby(taken, lambda row: row.id)]
        for versions, places, faults in comparisons_of(kind, matches):
            yield RatingStep(
                sequence,
                epochs[taken[0].epoch],
                taken[0].id,
                versions,
                places,
                faults,
                tuple(changes[version] for version in versions),
            )


def _sat(rows: Sequence[Any]) -> Comparison:
    """Convert the rows of a match."""
    versions, places, faults = zip(*((row.version_id, row.place, row.faults) for row in rows), strict=True)
    return Comparison(versions, places, faults)
