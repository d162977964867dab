"""What readers ask of a leaderboard; each function takes a connection, only reads, and returns plain values.

A match is there once it is over; nothing here is about one that is still played.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any, TypeAlias

from sqlalchemy import Connection, Row, Select, func, select

from cutpurse.leaderboard.errors import NotFound
from cutpurse.leaderboard.ratings import Skill, TrueSkill
from cutpurse.leaderboard.relations import (
    BOARDS,
    BOTS,
    CHANGES,
    EPOCHS,
    LADDERS,
    MATCHES,
    OWNERS,
    RATINGS,
    SEATS,
    TOKENS,
    VERSIONS,
    rated_seats,
)
from cutpurse.leaderboard.results import Deal

__all__ = [
    "LadderEntry",
    "MatchEntry",
    "Ranking",
    "SeatEntry",
    "Step",
    "TokenEntry",
    "has_tokens",
    "ladder_history",
    "ladders",
    "match",
    "matches",
    "rankings",
    "record",
    "token",
    "tokens",
]

_Row: TypeAlias = Row[*tuple[Any, ...]]  # its columns are named in the query


@dataclass(frozen=True, slots=True)
class LadderEntry:
    """A ladder; `matches` were rated so far, `rating` is what the next is rated with."""

    name: str
    game: str
    settings: Mapping[str, Any]
    seats: int
    clock: Mapping[str, Any]
    rating: TrueSkill
    matches: int


@dataclass(frozen=True, slots=True)
class Ranking:
    """A version's place on a ladder, 1 the best by `skill.exposed`; equals share.

    wins: first places, shared ones too; faulted: matches with a fault of its own.
    """

    place: int
    owner: str
    bot: str
    version: str
    version_id: int
    skill: Skill
    matches: int
    wins: int
    faulted: int


@dataclass(frozen=True, slots=True)
class SeatEntry:
    """Who sat in a seat and how it ended; place and score are None in a void match, as are the skills."""

    owner: str
    bot: str
    version: str
    version_id: int
    place: int | None
    score: int | None
    end_cause: str
    faults: int
    thinking_ms: int
    before: Skill | None
    after: Skill | None


@dataclass(frozen=True, slots=True)
class MatchEntry:
    """A match that is over; `number` is the order of storing, `sequence` that of rating on its ladder, None if void."""

    number: int
    match: str
    board: str
    ladder: str
    game: str
    rules: str
    settings: Mapping[str, Any]
    started: datetime
    finished: datetime
    decisions: int
    void_cause: str | None
    sequence: int | None
    deal: Deal
    seats: tuple[SeatEntry, ...]


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


@dataclass(frozen=True, slots=True)
class TokenEntry:
    """A token as far as it is kept: the secret is not.  `digest` is the SHA-256 of the whole token."""

    id: str
    digest: bytes = field(repr=False)
    owner: str
    scopes: tuple[str, ...]
    label: str
    created: datetime
    expires: datetime | None
    revoked: datetime | None
    last_used: datetime | None

    def is_good(self, now: datetime) -> bool:
        """Whether it counts at this moment."""
        return self.revoked is None and (self.expires is None or now < self.expires)


def ladders(connection: Connection) -> list[LadderEntry]:
    """All ladders, by name."""
    entries = []
    for row in connection.execute(select(LADDERS).order_by(LADDERS.c.name)).all():
        epoch = select(EPOCHS.c.settings).where(EPOCHS.c.ladder_id == row.id).order_by(EPOCHS.c.number.desc()).limit(1)
        rated = select(func.coalesce(func.max(BOARDS.c.sequence), 0)).where(BOARDS.c.ladder_id == row.id)
        entries.append(
            LadderEntry(
                row.name,
                row.game,
                json.loads(row.settings),
                row.seats,
                json.loads(row.clock),
                TrueSkill.from_json(connection.execute(epoch).scalar_one()),
                connection.execute(rated).scalar_one(),
            )
        )
    return entries


def rankings(connection: Connection, ladder: str, every_version: bool = False) -> list[Ranking]:
    """The ranking of a ladder, best first: of each bot the newest version that was rated there, or every version.

    Raises NotFound.
    """
    ladder_id = _ladder_id(connection, ladder)
    newest = func.max(RATINGS.c.version_id).over(partition_by=VERSIONS.c.bot_id)
    rated = (
        select(
            OWNERS.c.name.label("owner"),
            BOTS.c.name.label("bot"),
            VERSIONS.c.label,
            RATINGS,
            newest.label("newest"),
        )
        .select_from(
            RATINGS.join(VERSIONS, VERSIONS.c.id == RATINGS.c.version_id)
            .join(BOTS, BOTS.c.id == VERSIONS.c.bot_id)
            .join(OWNERS, OWNERS.c.id == BOTS.c.owner_id)
        )
        .where(RATINGS.c.ladder_id == ladder_id)
    )
    rows = [
        (Skill(row.mu, row.sigma), row)
        for row in connection.execute(rated)
        if every_version or row.version_id == row.newest
    ]
    rows.sort(key=lambda rated: (-rated[0].exposed, rated[1].version_id))
    ranked: list[Ranking] = []
    for at, (skill, row) in enumerate(rows, 1):
        place = ranked[-1].place if ranked and ranked[-1].skill.exposed == skill.exposed else at
        ranked.append(
            Ranking(place, row.owner, row.bot, row.label, row.version_id, skill, row.matches, row.wins, row.faulted)
        )
    return ranked


def matches(
    connection: Connection,
    ladder: str | None = None,
    owner: str | None = None,
    bot: str | None = None,
    limit: int = 50,
    before: int | None = None,
) -> list[MatchEntry]:
    """Matches, the newest first: of one ladder, of one owner's bot of this name (give both), or all.

    `before` is the number of the last match of the page before. Raises NotFound for a ladder or bot that is not there.
    """
    conditions = []
    if before is not None:
        conditions.append(MATCHES.c.number < before)
    if ladder is not None:
        conditions.append(MATCHES.c.ladder_id == _ladder_id(connection, ladder))
    newest = select(MATCHES.c.number).where(*conditions).order_by(MATCHES.c.number.desc()).limit(limit)
    if owner is None and bot is None:
        numbers = list(connection.scalars(newest))
    else:
        # The index has each version's matches in order; so each version is asked for its newest, and there are few.
        numbers = []
        for version in _versions_of(connection, owner or "", bot or ""):
            seated = newest.join(SEATS, SEATS.c.match_number == MATCHES.c.number).where(SEATS.c.version_id == version)
            by_seat = seated.order_by(None).order_by(SEATS.c.match_number.desc())
            numbers += connection.scalars(by_seat)
        numbers = sorted(set(numbers), reverse=True)[:limit]
    return _entries(connection, _whole().where(MATCHES.c.number.in_(numbers)))


def match(connection: Connection, match_id: str) -> MatchEntry:
    """One match.  Raises NotFound."""
    found = _entries(connection, _whole().where(MATCHES.c.id == match_id))
    if not found:
        raise NotFound(f"there is no match {match_id!r:.300}")
    return found[0]


def record(connection: Connection, match_id: str) -> str:
    """The line that replays a match.  Raises NotFound if there is no such match, or it has none."""
    row = connection.execute(select(MATCHES.c.record).where(MATCHES.c.id == match_id)).first()
    if row is None:
        raise NotFound(f"there is no match {match_id!r:.300}")
    if row.record is None:
        raise NotFound(f"match {match_id} has no record")
    return zlib.decompress(row.record).decode()


def ladder_history(connection: Connection, ladder: str) -> Iterator[Step]:
    """The rated boards of a ladder in the order in which they were rated.  Raises NotFound."""
    ladder_id = _ladder_id(connection, ladder)
    epochs = {
        row.number: TrueSkill.from_json(row.settings)
        for row in connection.execute(select(EPOCHS).where(EPOCHS.c.ladder_id == ladder_id))
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
            tuple(_skills(row) for row in taken),
        )


def has_tokens(connection: Connection) -> bool:
    """Whether a token was ever made, be it revoked by now."""
    return connection.execute(select(TOKENS.c.id).limit(1)).first() is not None


def tokens(connection: Connection, owner: str | None = None) -> list[TokenEntry]:
    """Tokens in the order in which they were made, of one owner or of all.  Raises NotFound for no such owner."""
    query = _tokens().order_by(TOKENS.c.created, TOKENS.c.id)
    if owner is not None:
        if connection.scalar(select(OWNERS.c.id).where(OWNERS.c.name == owner)) is None:
            raise NotFound(f"there is no owner {owner!r:.300}")
        query = query.where(OWNERS.c.name == owner)
    return [_token(row) for row in connection.execute(query)]


def token(connection: Connection, token_id: str) -> TokenEntry:
    """The token of this name, its first eight signs after `cutp_`.  Raises NotFound."""
    row = connection.execute(_tokens().where(TOKENS.c.id == token_id)).first()
    if row is None:
        raise NotFound(f"there is no token {token_id!r:.100}")
    return _token(row)


def _tokens() -> Select[Any]:
    return select(TOKENS, OWNERS.c.name.label("owner")).join(OWNERS, OWNERS.c.id == TOKENS.c.owner_id)


def _token(row: _Row) -> TokenEntry:
    return TokenEntry(
        row.id,
        row.digest,
        row.owner,
        tuple(row.scopes.split()),
        row.label,
        row.created,
        row.expires,
        row.revoked,
        row.last_used,
    )


def _whole() -> Select[Any]:
    """Everything about matches but their records, a row a seat."""
    return (
        select(
            MATCHES.c.number,
            MATCHES.c.id,
            MATCHES.c.board_id,
            LADDERS.c.name.label("ladder"),
            LADDERS.c.game,
            MATCHES.c.rules,
            LADDERS.c.settings,
            MATCHES.c.started,
            MATCHES.c.finished,
            MATCHES.c.decisions,
            MATCHES.c.void_cause,
            BOARDS.c.sequence,
            BOARDS.c.commitment,
            BOARDS.c.seed,
            BOARDS.c.params,
            OWNERS.c.name.label("owner"),
            BOTS.c.name.label("bot"),
            VERSIONS.c.label,
            SEATS.c.version_id,
            SEATS.c.place,
            SEATS.c.score,
            SEATS.c.end_cause,
            SEATS.c.faults,
            SEATS.c.thinking_ms,
            CHANGES.c.mu_before,
            CHANGES.c.sigma_before,
            CHANGES.c.mu_after,
            CHANGES.c.sigma_after,
        )
        .select_from(
            rated_seats()
            .join(LADDERS, LADDERS.c.id == MATCHES.c.ladder_id)
            .join(VERSIONS, VERSIONS.c.id == SEATS.c.version_id)
            .join(BOTS, BOTS.c.id == VERSIONS.c.bot_id)
            .join(OWNERS, OWNERS.c.id == BOTS.c.owner_id)
        )
        .order_by(MATCHES.c.number.desc(), SEATS.c.seat)
    )


def _entries(connection: Connection, query: Select[Any]) -> list[MatchEntry]:
    entries = []
    for _, seats in groupby(connection.execute(query), lambda row: row.number):
        taken = list(seats)
        entries.append(_entry(taken[0], taken))
    return entries


def _entry(row: _Row, taken: Sequence[_Row]) -> MatchEntry:
    return MatchEntry(
        row.number,
        row.id,
        row.board_id,
        row.ladder,
        row.game,
        row.rules,
        json.loads(row.settings),
        row.started,
        row.finished,
        row.decisions,
        row.void_cause,
        row.sequence,
        Deal(row.commitment, row.seed, row.params),
        tuple(_seat_entry(seat) for seat in taken),
    )


def _seat_entry(row: _Row) -> SeatEntry:
    before, after = _skills(row) or (None, None)
    return SeatEntry(
        row.owner,
        row.bot,
        row.label,
        row.version_id,
        row.place,
        row.score,
        row.end_cause,
        row.faults,
        row.thinking_ms,
        before,
        after,
    )


def _skills(row: _Row) -> tuple[Skill, Skill] | None:
    if row.mu_before is None:
        return None
    return Skill(row.mu_before, row.sigma_before), Skill(row.mu_after, row.sigma_after)


def _ladder_id(connection: Connection, ladder: str) -> int:
    found = connection.scalar(select(LADDERS.c.id).where(LADDERS.c.name == ladder))
    if found is None:
        raise NotFound(f"there is no ladder {ladder!r:.300}")
    assert isinstance(found, int)
    return found


def _versions_of(connection: Connection, owner: str, bot: str) -> list[int]:
    query = (
        select(VERSIONS.c.id)
        .join(BOTS, BOTS.c.id == VERSIONS.c.bot_id)
        .join(OWNERS, OWNERS.c.id == BOTS.c.owner_id)
        .where(OWNERS.c.name == owner, BOTS.c.name == bot)
    )
    if not (found := list(connection.scalars(query))):
        raise NotFound(f"owner {owner!r:.300} has no bot {bot!r:.300}")
    return found
