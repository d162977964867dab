"""The writer of ladders, their terms, and the epochs of their ratings.

Every function works in the transaction of its connection, which must hold the write lock. This module knows no thread,
no file and no clock.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, delete, insert, select, update

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.comparisons import BOARDS as KINDS
from cutpurse.leaderboard.errors import InvalidEntry, NoSuchEntry
from cutpurse.leaderboard.queries import LadderEntry
from cutpurse.leaderboard.ratings import TrueSkill
from cutpurse.leaderboard.relations import (
    BOARDS,
    EPOCHS,
    ESTIMATES,
    EVENT_LADDERS,
    EVENTS,
    LADDERS,
    LEASES,
    RATING_POINTS,
)
from cutpurse.leaderboard.results import LadderTerms, checked_name
from cutpurse.leaderboard.write_hooks import CheckingLadder, DeletingLadder, LadderFrozen, send

__all__ = [
    "MOST_SEATS",
    "NewLadder",
    "change_ladder",
    "check_unused",
    "create_ladder",
    "create_ladders",
    "delete_ladder",
    "ensure_ladder",
    "epoch_of",
    "open_epoch",
]

MOST_SEATS: Final = 255  # a place is stored in a byte


@dataclass(frozen=True, slots=True)
class NewLadder:
    """A ladder to create.

    Attributes:
        name: Name of the ladder.
        game: Name of the game.
        seats: Number of seats of its matches.
        rating: TrueSkill parameters of its first epoch.
        settings: Settings of the game, stored as they are.
        clock: Time controls, stored as they are.
        terms: Terms that may change later.
        boards: Kind of its boards, of `comparisons.BOARDS`.
        is_hosted: Only submitted and house bots play, and workers play the matches.
    """

    name: str
    game: str
    seats: int
    rating: TrueSkill
    settings: Mapping[str, object] = field(default_factory=dict)
    clock: Mapping[str, object] = field(default_factory=dict)
    terms: LadderTerms = field(default_factory=LadderTerms)
    boards: str = "plain"
    is_hosted: bool = False


def ensure_ladder(connection: Connection, new: NewLadder, created: datetime | None = None) -> int:
    """Return the ID of a ladder, creating it with its first epoch if it is new.

    Raises:
        InvalidEntry: If a ladder of this name differs in anything but its terms.
    """
    ladder, rating = new.name, new.rating
    row = _defined(new)
    stored_row = connection.execute(select(LADDERS).where(LADDERS.c.name == ladder)).mappings().first()
    if stored_row is None:
        return _made(connection, row, new.terms, rating, created)
    for name, value in row.items():
        if stored_row[name] != value:
            raise InvalidEntry(
                f"ladder {ladder} has {name} {stored_row[name]}, not {value}; a ladder never changes: "
                "give the new one another name"
            )
    _, now = epoch_of(connection, stored_row["id"])
    if now != rating:
        raise InvalidEntry(f"ladder {ladder} is rated with {now}, not {rating}; to change that, open an epoch")
    return int(stored_row["id"])


def create_ladder(connection: Connection, new: NewLadder, created: datetime) -> int:
    """Create a ladder, and return its ID.  Raises InvalidEntry if there is one of this name."""
    ladder = new.name
    if created.tzinfo is None:
        raise InvalidEntry(f"ladder {ladder}: created {created} needs a time zone")
    if connection.scalar(select(LADDERS.c.id).where(LADDERS.c.name == ladder)) is not None:
        raise InvalidEntry(f"there is a ladder {ladder} already; give the new one another name")
    return _made(connection, _defined(new), new.terms, new.rating, created)


def create_ladders(connection: Connection, new_ladders: Iterable[NewLadder], created: datetime) -> list[LadderEntry]:
    """Create ladders in this order, all or none, and return them.  Raises as `create_ladder` does."""
    for new in new_ladders:
        create_ladder(connection, new, created)
    return [queries.ladder(connection, new.name) for new in new_ladders]


def change_ladder(connection: Connection, ladder: str, terms: LadderTerms) -> LadderEntry:
    """Replace the terms of a ladder, and return it.  Raises NoSuchEntry."""
    before = connection.execute(select(LADDERS.c.frozen).where(LADDERS.c.name == ladder)).first()
    if before is None:
        raise NoSuchEntry(f"there is no ladder {ladder!r:.300}")
    connection.execute(update(LADDERS).where(LADDERS.c.name == ladder).values(_terms(terms)))
    if terms.frozen is not None and terms.frozen != before.frozen:
        send(connection, LadderFrozen(ladder, terms.frozen))
    return queries.ladder(connection, ladder)


def check_unused(connection: Connection, ladder: str) -> int:
    """Return the ID of a ladder that nothing depends on.

    Raises:
        NoSuchEntry: If there is no such ladder.
        InvalidEntry: If it has matches, or something else needs it, such as a submitted bot.
    """
    ladder_id = connection.scalar(select(LADDERS.c.id).where(LADDERS.c.name == ladder))
    if ladder_id is None:
        raise NoSuchEntry(f"there is no ladder {ladder!r:.300}")
    if connection.scalar(select(BOARDS.c.id).where(BOARDS.c.ladder_id == ladder_id).limit(1)) is not None:
        raise InvalidEntry(f"ladder {ladder} has matches, and those are kept: freeze it instead")
    of_events = select(EVENTS.c.format).join(EVENT_LADDERS, EVENT_LADDERS.c.event_id == EVENTS.c.id)
    forms = set(connection.scalars(of_events.where(EVENT_LADDERS.c.ladder_id == ladder_id).distinct()))
    for form, what in (("test", "version tests"), ("tournament", "tournaments")):
        if form in forms:
            raise InvalidEntry(f"ladder {ladder} has {what}, and those are kept: freeze it instead")
    if forms:
        raise InvalidEntry(f"ladder {ladder} is a division of a season, and those are kept: stop the season instead")
    send(connection, CheckingLadder(ladder))
    return int(ladder_id)


def delete_ladder(connection: Connection, ladder: str) -> None:
    """Delete a ladder that nothing depends on.  Raises as `check_unused` does."""
    ladder_id = check_unused(connection, ladder)
    send(connection, DeletingLadder(ladder_id))
    for rows in (ESTIMATES, RATING_POINTS, EPOCHS, LEASES):
        connection.execute(delete(rows).where(rows.c.ladder_id == ladder_id))
    connection.execute(delete(LADDERS).where(LADDERS.c.id == ladder_id))


def open_epoch(connection: Connection, ladder: str, rating: TrueSkill) -> int:
    """Rate the next boards of a ladder with these parameters; ratings continue from their current values.

    Returns:
        The number of the epoch: a new one, or the current one if it has the same parameters.

    Raises:
        InvalidEntry: If there is no such ladder.
    """
    ladder_id = connection.scalar(select(LADDERS.c.id).where(LADDERS.c.name == ladder))
    if ladder_id is None:
        raise InvalidEntry(f"there is no ladder {ladder!r:.300}")
    number, now = epoch_of(connection, ladder_id)
    if now == rating:
        return number
    if now.beta != rating.beta:  # beta is the unit of estimates, so the old ones are on another scale
        for rows in (ESTIMATES, RATING_POINTS):
            connection.execute(delete(rows).where(rows.c.ladder_id == ladder_id))
    connection.execute(insert(EPOCHS).values(ladder_id=ladder_id, number=number + 1, settings=rating.to_json()))
    return number + 1


def epoch_of(connection: Connection, ladder_id: int) -> tuple[int, TrueSkill]:
    """Return the number and the parameters of the current epoch of a ladder."""
    query = select(EPOCHS).where(EPOCHS.c.ladder_id == ladder_id).order_by(EPOCHS.c.number.desc()).limit(1)
    row = connection.execute(query).one()
    return row.number, TrueSkill.from_json(row.settings)


def _made(
    connection: Connection, row: Mapping[str, object], terms: LadderTerms, rating: TrueSkill, created: datetime | None
) -> int:
    new = insert(LADDERS).values(**row, **_terms(terms), created=created).returning(LADDERS.c.id)
    made: int = connection.execute(new).scalar_one()
    connection.execute(insert(EPOCHS).values(ladder_id=made, number=1, settings=rating.to_json()))
    return made


def _defined(new: NewLadder) -> dict[str, object]:
    """Check and return the columns that never change.  Raises InvalidEntry."""
    name, seats = checked_name("the name of a ladder", new.name), new.seats
    if seats < 2:
        raise InvalidEntry(f"ladder {name} has {seats} seats; at least 2 are needed")
    if seats > MOST_SEATS:
        raise InvalidEntry(f"ladder {name} has {seats} seats; at most {MOST_SEATS} can be rated")
    if new.boards not in KINDS:
        raise InvalidEntry(f"ladder {name} has boards of kind {new.boards!r:.40}; there are: {', '.join(KINDS)}")
    return {
        "name": name,
        "game": new.game,
        "settings": _json(new.settings),
        "seats": seats,
        "clock": _json(new.clock),
        "boards": new.boards,
        "is_hosted": new.is_hosted,
    }


def _terms(terms: LadderTerms) -> dict[str, object]:
    return {
        "owners": _json(list(terms.owners)),
        "most_bots": terms.most_bots,
        "is_private": terms.is_private,
        "frozen": terms.frozen,
        "house": _json(list(terms.house)),
        "most_per_owner": terms.most_per_owner,
        "pause_failed": terms.pause_failed,
        "pause_window": terms.pause_window,
        "voids_outages": terms.voids_outages,
        "results_hidden_until": terms.results_hidden_until,
        "title": terms.title,
        "admits_people": terms.admits_people,
        "names_hidden_until": terms.names_hidden_until,
        "memory_kib": terms.memory_kib,
        "replays_hidden_until": terms.replays_hidden_until,
    }


def _json(value: Mapping[str, object] | list[str]) -> str:
    return json.dumps(value if isinstance(value, list) else dict(value), separators=(",", ":"), sort_keys=True)
