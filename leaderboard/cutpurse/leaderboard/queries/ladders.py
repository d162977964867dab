"""The stored ladders."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Row, func, select

from cutpurse.leaderboard.errors import NoSuchEntry
from cutpurse.leaderboard.ratings import TrueSkill
from cutpurse.leaderboard.relations import BOARDS, EPOCHS, LADDERS
from cutpurse.leaderboard.results import LadderTerms

__all__ = ["LadderEntry", "ladder", "ladders"]


@dataclass(frozen=True, slots=True)
class LadderEntry:
    """A ladder.

    `matches` is the number of rated boards, and `rating` are the parameters for the next one. `created` is None if the
    ladder is older than that column, or was created by `ensure_ladder`.
    """

    name: str
    game: str
    settings: Mapping[str, Any]
    seats: int
    clock: Mapping[str, Any]
    rating: TrueSkill
    matches: int
    terms: LadderTerms
    created: datetime | None
    boards: str
    is_hosted: bool = False


_EPOCH: Final = (
    select(EPOCHS.c.settings)
    .where(EPOCHS.c.ladder_id == LADDERS.c.id)
    .order_by(EPOCHS.c.number.desc())
    .limit(1)
    .correlate(LADDERS)
    .scalar_subquery()
)
_RATED: Final = (
    select(func.coalesce(func.max(BOARDS.c.sequence), 0))
    .where(BOARDS.c.ladder_id == LADDERS.c.id)
    .correlate(LADDERS)
    .scalar_subquery()
)
_LADDERS: Final = select(LADDERS, _EPOCH.label("rating"), _RATED.label("rated")).order_by(LADDERS.c.name)


def ladders(connection: Connection) -> list[LadderEntry]:
    """List all ladders, by name."""
    return [_entry(row) for row in connection.execute(_LADDERS).all()]


def ladder(connection: Connection, name: str) -> LadderEntry:
    """Return the ladder of this name.  Raises NoSuchEntry."""
    row = connection.execute(_LADDERS.where(LADDERS.c.name == name)).first()
    if row is None:
        raise NoSuchEntry(f"there is no ladder {name!r:.300}")
    return _entry(row)


def _entry(row: Row[*tuple[Any, ...]]) -> LadderEntry:
    owners, house = tuple(json.loads(row.owners)), tuple(json.loads(row.house))
    return LadderEntry(
        row.name,
        row.game,
        json.loads(row.settings),
        row.seats,
        json.loads(row.clock),
        TrueSkill.from_json(row.rating),
        row.rated,
        LadderTerms(
            owners,
            row.most_bots,
            row.is_private,
            row.frozen,
            house,
            row.most_per_owner,
            row.pause_failed,
            row.pause_window,
            row.voids_outages,
            row.results_hidden_until,
            row.title,
            row.admits_people,
            row.names_hidden_until,
            row.memory_kib,
            row.replays_hidden_until,
        ),
        row.created,
        row.boards,
        row.is_hosted,
    )
