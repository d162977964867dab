"""The part of the ledger that a write needs: stored matches, boards, ladders and versions.

Every function reads in the transaction of its connection. This module knows no thread, no file and no clock.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, FromClause, Row, bindparam, func, select, update

from cutpurse.leaderboard.comparisons import PLAIN, Comparison
from cutpurse.leaderboard.dialects import listed_integers, listed_texts
from cutpurse.leaderboard.fault_streaks import Conduct, PauseTerms, fault_streaks
from cutpurse.leaderboard.head_to_head import Encounters
from cutpurse.leaderboard.ladders import epoch_of
from cutpurse.leaderboard.rating_state import RatingState
from cutpurse.leaderboard.ratings import Skill, TrueSkill
from cutpurse.leaderboard.relations import (
    BOARDS,
    BOTS,
    CHANGES,
    LADDERS,
    MATCHES,
    OPEN_MATCHES,
    OWNERS,
    PAUSES,
    RATINGS,
    SEATS,
    VERSIONS,
    rated_seats,
)
from cutpurse.leaderboard.results import (
    VOID_SERVER,
    Change,
    Deal,
    FinishedMatch,
    FinishedSeat,
    Identity,
    MatchAnnouncement,
    StoreOutcome,
)

__all__ = [
    "announced_void",
    "AnnouncedMatch",
    "BoardState",
    "LadderState",
    "World",
    "load_write_state",
    "stored",
    "unfinished",
    "reveal_boards",
    "voided",
]


@dataclass(slots=True)
class LadderState:
    """The state of a ladder while results are written, and what has changed."""

    id: int
    seats: int
    epoch: int
    settings: TrueSkill
    sequence: int  # of the last rated board
    standings: dict[int, RatingState]  # by version, for the versions in these results and their ancestors
    parents: Mapping[int, int | None]  # of the versions never rated here, and of all their ancestors
    pause: PauseTerms
    changed: set[int] = field(default_factory=set)
    encounters: Encounters = field(default_factory=Encounters)
    added: int = 0  # newly rated boards
    added_changes: int = 0  # their rating changes
    boards: str = PLAIN  # kind of its boards


@dataclass(frozen=True, slots=True)
class AnnouncedMatch:
    """The announcement of a match that is not over."""

    ladder_id: int
    deal: Deal
    versions: tuple[int, ...]
    board_matches: int


@dataclass(slots=True)
class BoardState:
    """A board while results are written.

    Attributes:
        matches: Number of matches to play on it.
        versions: Versions by seat, of each announced or finished match.
        over: Finished matches in the order of storing; None for a void match.
    """

    ladder_id: int
    deal: Deal
    matches: int
    versions: dict[str, tuple[int, ...]] = field(default_factory=dict)
    over: list[Comparison | None] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        """Whether all its matches are over."""
        return len(self.over) == self.matches

    def counts(self) -> list[Comparison]:
        """Return its matches if all are over and none is void, else an empty list."""
        sat = [match for match in self.over if match is not None]
        return sat if len(sat) == self.matches else []


class StoredVersion(NamedTuple):
    """A version of a bot, as it is stored."""

    bot_id: int
    player: Identity


@dataclass(slots=True)
class World:
    """The stored state that a write needs, updated while results are written."""

    ids: Mapping[Identity, int]  # of the versions in the matches to write
    known: dict[str, StoreOutcome]  # by match
    announced: dict[str, AnnouncedMatch]  # by match
    boards: dict[str, BoardState]  # existing boards, by name
    ladders: dict[str, LadderState]  # existing ladders, by name
    versions: Mapping[int, StoredVersion]  # by version ID
    conduct: Conduct
    number: int  # of the last stored match

    def seated(self, entry: FinishedMatch | MatchAnnouncement) -> tuple[int, ...]:
        """List the IDs of the versions in a match, by seat."""
        return tuple(self.ids[player] for player in entry.players)


def load_write_state(
    connection: Connection, entries: Sequence[FinishedMatch | MatchAnnouncement], ids: Mapping[Identity, int]
) -> World:
    """Load the stored matches, boards, ladders and versions that `entries` refer to.

    Args:
        connection: Connection in a transaction.
        entries: Results and announcements.
        ids: IDs of the versions in them.
    """
    known = stored(connection, {entry.match for entry in entries})
    announced = _announced(connection, {entry.match for entry in entries})
    new = [entry for entry in entries if isinstance(entry, FinishedMatch) and entry.match not in known]
    last = connection.execute(_LAST).first()
    boards = _boards(connection, {entry.deal.board for entry in entries})
    playing: dict[str, set[int]] = {}  # by ladder, the versions in these matches and in others of their boards
    for entry in entries:
        versions = playing.setdefault(entry.ladder, set())
        versions.update(ids[player] for player in entry.players)
        if entry.board_matches > 1 and entry.deal.board in boards:
            versions.update(*boards[entry.deal.board].versions.values())
    ladders = _ladders(connection, playing)
    pause_terms = {name: ladder.pause for name, ladder in ladders.items()}
    counted = [
        (result, [ids[player] for player in result.players]) for result in new if result.is_rated and not result.is_void
    ]
    return World(
        ids,
        known,
        announced,
        boards,
        ladders,
        _versions(connection, {version for versions in playing.values() for version in versions}),
        fault_streaks(connection, counted, pause_terms),
        0 if last is None else last.number,
    )


_AMONG: Final = listed_integers("keys")
_AMONG_TEXTS: Final = listed_texts("keys")


def _keys(keys: Iterable[str | int]) -> dict[str, str]:
    return {"keys": json.dumps(list(keys))}


# -- names of versions
_NAMES: Final = (OWNERS.c.name.label("owner"), BOTS.c.name.label("bot"), VERSIONS.c.label.label("version"))


def _named(versions: FromClause, version_id: ColumnElement[Any]) -> FromClause:
    """Join rows that have a version with the tables of its `_NAMES`."""
    joined = versions if versions is VERSIONS else versions.join(VERSIONS, VERSIONS.c.id == version_id)
    return joined.join(BOTS, BOTS.c.id == VERSIONS.c.bot_id).join(OWNERS, OWNERS.c.id == BOTS.c.owner_id)


def _player(row: Row[*tuple[Any, ...]]) -> Identity:
    return Identity(row.owner, row.bot, row.version)


# -- matches and boards
_LAST: Final = select(MATCHES.c.number).order_by(MATCHES.c.number.desc()).limit(1)
_STORED: Final = (
    select(MATCHES.c.id, MATCHES.c.number, BOARDS.c.sequence, CHANGES, *_NAMES)
    .select_from(_named(rated_seats(), SEATS.c.version_id))
    .where(MATCHES.c.number.in_(_AMONG))
    .order_by(MATCHES.c.number, SEATS.c.seat)
)
_NUMBERS: Final = select(MATCHES.c.number).where(MATCHES.c.id.in_(_AMONG_TEXTS))
_ANNOUNCED: Final = (
    select(OPEN_MATCHES.c.match_id, OPEN_MATCHES.c.versions, BOARDS)
    .join(BOARDS, BOARDS.c.id == OPEN_MATCHES.c.board_id)
    .where(OPEN_MATCHES.c.match_id.in_(_AMONG_TEXTS))
)
_BOARDS: Final = select(BOARDS).where(BOARDS.c.id.in_(_AMONG_TEXTS))
_OPEN: Final = select(OPEN_MATCHES.c.board_id, OPEN_MATCHES.c.match_id, OPEN_MATCHES.c.versions).where(
    OPEN_MATCHES.c.board_id.in_(_AMONG_TEXTS)
)
_OVER: Final = (
    select(MATCHES.c.board_id, MATCHES.c.id, MATCHES.c.void_cause, SEATS.c.version_id, SEATS.c.place, SEATS.c.faults)
    .select_from(MATCHES.join(SEATS, SEATS.c.match_number == MATCHES.c.number))
    .where(MATCHES.c.board_id.in_(_AMONG_TEXTS))
    .order_by(MATCHES.c.number, SEATS.c.seat)
)
_SEVERAL: Final = (
    select(MATCHES.c.number, BOARDS.c.ladder_id, BOARDS.c.sequence)
    .join(BOARDS, BOARDS.c.id == MATCHES.c.board_id)
    .where(MATCHES.c.number.in_(_AMONG), BOARDS.c.matches > 1)
)
_LAST_OF_BOARD: Final = (
    select(func.max(MATCHES.c.number))
    .join(BOARDS, BOARDS.c.id == MATCHES.c.board_id)
    .where(BOARDS.c.ladder_id == bindparam("ladder"), BOARDS.c.sequence == bindparam("sequence"))
)


_CHANGES: Final = (
    select(CHANGES, *_NAMES)
    .select_from(_named(CHANGES, CHANGES.c.version_id))
    .where(CHANGES.c.ladder_id == bindparam("ladder"), CHANGES.c.sequence == bindparam("sequence"))
    .order_by(CHANGES.c.version_id)
)
_PAUSED: Final = (
    select(*_NAMES)
    .select_from(_named(PAUSES, PAUSES.c.version_id))
    .where(PAUSES.c.match_number == bindparam("match"))
    .order_by(PAUSES.c.id)
)


def stored(connection: Connection, matches: Set[str]) -> dict[str, StoreOutcome]:
    """Return what `Store.submit` answers for those of `matches` that are stored, by match."""
    numbers = connection.scalars(_NUMBERS, _keys(matches)).all()
    if not numbers:
        return {}
    by_match: dict[str, list[Row[*tuple[Any, ...]]]] = {}
    for row in connection.execute(_STORED, _keys(numbers)).all():
        by_match.setdefault(row.id, []).append(row)
    answers = {
        match: StoreOutcome(
            rows[0].sequence,
            tuple(_change(row) for row in rows if row.version_id is not None),
            tuple(_player(row) for row in connection.execute(_PAUSED, {"match": rows[0].number})),
        )
        for match, rows in by_match.items()
    }
    names = {rows[0].number: match for match, rows in by_match.items()}
    for row in connection.execute(_SEVERAL, _keys(numbers)).all():
        match = names[row.number]
        answers[match] = _of_several(connection, answers[match], row.number, row.ladder_id, row.sequence)
    return answers


def voided(connection: Connection, entries: Sequence[FinishedMatch | MatchAnnouncement]) -> set[str]:
    """Return the matches that are stored as void although their entry is not: another server made them void."""
    names = {entry.match for entry in entries if not isinstance(entry, FinishedMatch) or not entry.is_void}
    is_void = select(MATCHES.c.id).where(MATCHES.c.id.in_(_AMONG_TEXTS), MATCHES.c.void_cause.is_not(None))
    return set(connection.scalars(is_void, _keys(names)))


def _of_several(
    connection: Connection, answer: StoreOutcome, number: int, ladder_id: int, sequence: int | None
) -> StoreOutcome:
    """Complete the answer for a match whose board has several matches: only the last match rates the board."""
    which = {"ladder": ladder_id, "sequence": sequence}
    if sequence is None or connection.scalar(_LAST_OF_BOARD, which) != number:
        return replace(answer, sequence=None, changes=())
    return replace(answer, changes=tuple(_change(row) for row in connection.execute(_CHANGES, which)))


def announced_void(connection: Connection, match: str, now: datetime) -> FinishedMatch | None:
    """Return a void result of an announced match, which is not stored yet; None if the match is over."""
    return next((result for result in unfinished(connection, now) if result.match == match), None)


def unfinished(connection: Connection, now: datetime, ladders: Collection[str] | None = None) -> list[FinishedMatch]:
    """Create a void result for each announced match that is not over, in the order of starting.

    Args:
        connection: Connection in a transaction.
        now: End of these matches.
        ladders: Only matches of these ladders. Default: of all.
    """
    query = (
        select(
            OPEN_MATCHES,
            LADDERS.c.name.label("ladder"),
            BOARDS.c.commitment,
            BOARDS.c.seed,
            BOARDS.c.params,
            BOARDS.c.matches,
        )
        .join(BOARDS, BOARDS.c.id == OPEN_MATCHES.c.board_id)
        .join(LADDERS, LADDERS.c.id == BOARDS.c.ladder_id)
        .order_by(OPEN_MATCHES.c.started, OPEN_MATCHES.c.match_id)
    )
    if ladders is not None:
        query = query.where(LADDERS.c.name.in_(ladders))
    rows = connection.execute(query).all()
    versions = _versions(connection, {version for row in rows for version in json.loads(row.versions)})
    return [
        FinishedMatch(
            match=row.match_id,
            ladder=row.ladder,
            rules=row.rules,
            started=row.started,
            finished=now,
            decisions=0,
            seats=tuple(
                FinishedSeat(versions[version].player, None, None, VOID_SERVER) for version in json.loads(row.versions)
            ),
            deal=Deal(row.board_id, row.commitment, row.seed, row.params),
            void_cause=VOID_SERVER,
            is_rated=not row.requested_by,
            requested_by=row.requested_by,
            reason=row.reason,
            board_matches=row.matches,
        )
        for row in rows
    ]


def _change(row: Row[*tuple[Any, ...]]) -> Change:
    return Change(_player(row), Skill(row.mu_before, row.sigma_before), Skill(row.mu_after, row.sigma_after))


def _announced(connection: Connection, matches: Set[str]) -> dict[str, AnnouncedMatch]:
    """Load the announcements of those of `matches` that are not over."""
    return {
        row.match_id: AnnouncedMatch(
            row.ladder_id,
            Deal(row.id, row.commitment, row.seed, row.params),
            tuple(json.loads(row.versions)),
            row.matches,
        )
        for row in connection.execute(_ANNOUNCED, _keys(matches)).all()
    }


def _boards(connection: Connection, boards: Set[str]) -> dict[str, BoardState]:
    """Load those of `boards` that exist, with their finished and unfinished matches."""
    states = {
        row.id: BoardState(row.ladder_id, Deal(row.id, row.commitment, row.seed, row.params), row.matches)
        for row in connection.execute(_BOARDS, _keys(boards))
    }
    if not states:
        return states
    for board, match, versions in connection.execute(_OPEN, _keys(states)):
        states[board].versions[match] = tuple(json.loads(versions))
    for (board, match), rows in groupby(connection.execute(_OVER, _keys(states)), lambda row: (row.board_id, row.id)):
        seats = list(rows)
        versions = tuple(row.version_id for row in seats)
        states[board].versions[match] = versions
        is_void = seats[0].void_cause is not None
        sat = None if is_void else Comparison(versions, *zip(*((row.place, row.faults) for row in seats), strict=True))
        states[board].over.append(sat)
    return states


def reveal_boards(connection: Connection, ladder: str | None = None) -> None:
    """Mark every board without an open match (default: of all ladders) as having no more to play, so it is shown."""
    open_boards = select(OPEN_MATCHES.c.board_id)
    sealed = update(BOARDS).where(BOARDS.c.is_sealed, BOARDS.c.id.not_in(open_boards)).values(is_sealed=False)
    if ladder is not None:
        sealed = sealed.where(
            BOARDS.c.ladder_id == select(LADDERS.c.id).where(LADDERS.c.name == ladder).scalar_subquery()
        )
    connection.execute(sealed)


# -- ladders and versions
_VERSIONS: Final = (
    select(VERSIONS.c.id, VERSIONS.c.bot_id, *_NAMES)
    .select_from(_named(VERSIONS, VERSIONS.c.id))
    .where(VERSIONS.c.id.in_(_AMONG))
)
_RATINGS: Final = select(RATINGS).where(RATINGS.c.ladder_id == bindparam("ladder"), RATINGS.c.version_id.in_(_AMONG))


def _versions(connection: Connection, versions: Set[int]) -> dict[int, StoredVersion]:
    rows = connection.execute(_VERSIONS, _keys(versions))
    return {row.id: StoredVersion(row.bot_id, _player(row)) for row in rows}


def _ladders(connection: Connection, playing: Mapping[str, Set[int]]) -> dict[str, LadderState]:
    """Load those of the ladders in `playing` that exist, each with the ratings of its versions."""
    states = {}
    for ladder in connection.execute(select(LADDERS).where(LADDERS.c.name.in_(sorted(playing)))).all():
        last = select(func.coalesce(func.max(BOARDS.c.sequence), 0)).where(BOARDS.c.ladder_id == ladder.id)
        standings = _standings(connection, ladder.id, playing[ladder.name])
        parents = _parents(connection, playing[ladder.name] - standings.keys())
        if parents:
            standings |= _standings(connection, ladder.id, parents.keys() - standings.keys())
        epoch, settings = epoch_of(connection, ladder.id)
        sequence: int = connection.scalar(last) or 0
        state = LadderState(
            ladder.id,
            ladder.seats,
            epoch,
            settings,
            sequence,
            standings,
            parents,
            PauseTerms(ladder.id, ladder.pause_failed, ladder.pause_window),
            boards=ladder.boards,
        )
        states[ladder.name] = state
    return states


def _standings(connection: Connection, ladder_id: int, versions: Set[int]) -> dict[int, RatingState]:
    return {
        row.version_id: RatingState(
            Skill(row.mu, row.sigma), row.matches, row.wins, row.faulted, row.sequence, tuple(row.form)
        )
        for row in connection.execute(_RATINGS, {"ladder": ladder_id, **_keys(versions)}).all()
    }


def _parents(connection: Connection, versions: Set[int]) -> dict[int, int | None]:
    """Return the parent of each of `versions` and of all their ancestors."""
    if not versions:
        return {}
    line = select(VERSIONS.c.id, VERSIONS.c.parent_id).where(VERSIONS.c.id.in_(sorted(versions))).cte(recursive=True)
    before = (VERSIONS.c.id == line.c.parent_id) & (VERSIONS.c.id < line.c.id)  # ends even if parents form a cycle
    line = line.union(select(VERSIONS.c.id, VERSIONS.c.parent_id).join(line, before))
    return {row.id: row.parent_id for row in connection.execute(select(line))}
