"""The rated boards of a ladder, one after the other, for whoever computes its ratings again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from sqlalchemy import Connection, select

from cutpurse.leaderboard.queries.names import ladder_id_of
from cutpurse.leaderboard.ratings import Skill, TrueSkill
from cutpurse.leaderboard.relations import BOARDS, CHANGES, EPOCHS, MATCHES, SEATS, rated_seats

__all__ = ["Step", "ladder_history"]


@dataclass(frozen=True, slots=True)
class Step:
    """A rated board as the ledger has it, and as `rating_changes` has it: by seat."""

    sequence: int
    settings: TrueSkill
    match: str
    versions: tuple[int, ...]
    places: tuple[int, ...]
    faults: tuple[int, ...]
    changes: tuple[tuple[Skill, Skill] | None, ...]  # before and after; None where there is no such row


def ladder_history(connection: Connection, ladder: str) -> Iterator[Step]:
    """The rated boards of a ladder in the order in which they were rated.  Raises NotFound."""
    ladder_id = ladder_id_of(connection, ladder)
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
        .order_by(BOARDS.c.sequence, SEATS.c.seat)
    )
    rows = connection.execution_options(yield_per=10_000).execute(query)
    for sequence, seats in groupby(rows, lambda row: row.sequence):
        taken = list(seats)
        yield Step(
            sequence,
            epochs[taken[0].epoch],
            taken[0].id,
            tuple(row.version_id for row in taken),
            tuple(row.place for row in taken),
            tuple(row.faults for row in taken),
            tuple(
                None
                if row.mu_before is None
                else (Skill(row.mu_before, row.sigma_before), Skill(row.mu_after, row.sigma_after))
                for row in taken
            ),
        )
