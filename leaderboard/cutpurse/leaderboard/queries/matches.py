"""Finished matches, and the result of each seat."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

from sqlalchemy import ColumnElement, Connection, Row, Select, bindparam, func, select, text

from cutpurse.leaderboard.comparisons import kind_of
from cutpurse.leaderboard.decision_logs import unpack_courses
from cutpurse.leaderboard.dialects import integer, integer_at, json_values, listed_integers, listed_texts
from cutpurse.leaderboard.errors import InvalidEntry, NoSuchEntry
from cutpurse.leaderboard.event_boards import EVENT_MATCHES
from cutpurse.leaderboard.queries.names import ladder_id_of, versions_of
from cutpurse.leaderboard.ratings import Skill
from cutpurse.leaderboard.relations import (
    BOARDS,
    BOTS,
    CHANGES,
    COURSES,
    LADDERS,
    MATCHES,
    OWNERS,
    SEATS,
    USAGES,
    VERSIONS,
)
from cutpurse.leaderboard.results import Deal, DecisionLog, Nonces, UsageTotal

__all__ = [
    "SHORTEST",
    "MatchEntry",
    "SeatEntry",
    "courses",
    "courses_of",
    "entries_of",
    "has_record",
    "match",
    "match_number",
    "matches",
    "numbers_of_versions",
    "record",
    "sealed",
]

SHORTEST: Final = 8  # minimum characters of an abbreviated match ID
_NAMED: Final = 5  # maximum number of ambiguous IDs in an error

_Row: TypeAlias = Row[*tuple[Any, ...]]  # the query names its columns
_NEWEST: Final = 2**63 - 1  # above every number
_HIGHEST: Final = "\U0010ffff"  # the last character there is
_new: Final = tuple.__new__


class SeatEntry(NamedTuple):
    """A seat and its result; place and score are None in a void match, the skills in an unrated one."""

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
    cpu_ms: int | None = None  # CPU time of its process, None if not measured
    peak_bytes: int | None = None  # peak memory of its process, None if not measured
    usage: UsageTotal | None = None  # what its bot reported, None if nothing
    memory: bytes | None = None  # SHA-256 of the memory folder that it began with, None if it had none


@dataclass(frozen=True, slots=True)
class MatchEntry:
    """A finished match.

    `number` is the order of storing, and `sequence` the order of rating on the ladder. `sequence` is None if the board
    is not rated: a match of the board is void or not over, or `is_rated` is False because the match was requested.
    `board_matches` are the finished matches of the board in the order of storing, including this one; `board_size` is
    their planned number. If `is_sealed` is True, other matches of the board may still be played with the same cards;
    if not and some are missing, they were cut off.
    """

    number: int
    match: str
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
    is_rated: bool
    requested_by: str
    reason: str
    board_kind: str
    board_matches: tuple[str, ...]
    board_size: int
    is_sealed: bool

    @property
    def board(self) -> str:
        """The ID of its board."""
        return self.deal.board


@dataclass(frozen=True, slots=True)
class _Span:
    """A range of match numbers, and of end times from `since` until before `until`; all or those of an event."""

    low: int = 0
    high: int = _NEWEST
    since: datetime | None = None
    until: datetime | None = None
    event: str = ""

    @property
    def is_timed(self) -> bool:
        """Whether end times are limited."""
        return self.since is not None or self.until is not None

    @property
    def parameters(self) -> dict[str, object]:
        """The parameters of a query."""
        values: dict[str, object] = {"low": self.low, "high": self.high}
        if self.is_timed:
            values |= {"since": self.since or _EVER, "until": self.until or _NEVER}
        return {**values, "event": self.event} if self.event else values


_EVER: Final = datetime(1, 1, 1, tzinfo=UTC)
_NEVER: Final = datetime(9999, 12, 31, tzinfo=UTC)


def matches(
    connection: Connection,
    ladder: str | None = None,
    owner: str | None = None,
    bot: str | None = None,
    version: str | None = None,
    faulted: bool = False,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int = 50,
    before: int | None = None,
    among: Collection[str] | None = None,
    others: Sequence[tuple[str, str | None, str | None]] = (),
    event: str = "",
) -> list[MatchEntry]:
    """List finished matches, the newest first, except those of sealed boards.

    Args:
        connection: Connection to read from.
        ladder: Only matches of this ladder.
        owner: Only matches of this owner's bots.
        bot: Only matches of this bot of the owner.
        version: Only matches of this version of the bot.
        faulted: Only matches with a fault, of these bots if any are given.
        since: Only matches that ended at this time or later.
        until: Only matches that ended before this time.
        limit: Maximum number of matches.
        before: Only matches with a smaller number, that of the last match of the previous page.
        among: Only matches of these ladders; unknown names are ignored.
        others: Only matches in which these bots sat, too: owner, bot and version of each.
        event: Only matches of this event, or of this kind of events, see `events`; empty for all.

    Raises:
        NoSuchEntry: If there is no such ladder, owner, bot or version.
    """
    is_of_all = ladder is None and among is None
    is_of_bots = owner is not None or bot is not None
    ladder_ids: list[int] = []
    if ladder is not None:
        ladder_ids = [ladder_id_of(connection, ladder)]
    elif among is not None or since is not None or until is not None or (faulted and not is_of_bots):
        ladder_ids = _ladder_ids(connection, among)
    span = _span(connection, ladder_ids, since, until, before, event)
    if span is None:
        return []
    hidden = sealed(connection)
    limit, most = limit + len(hidden), limit
    if is_of_bots:
        bots = [versions_of(connection, *name) for name in ((owner or "", bot, version), *others)]
        within = None if is_of_all else ladder_ids
        # of several bots, each may be the one with a fault
        first = range(len(bots) if faulted else 1)
        all_numbers = [
            number
            for at in first
            for number in _of_versions(connection, bots[at], within, faulted, limit, span, bots[:at] + bots[at + 1 :])
        ]
        numbers = sorted({*all_numbers}, reverse=True)[:limit]
    elif is_of_all and not faulted:
        numbers = _of_ladder(connection, None, False, limit, span)
    else:
        all_numbers = [
            number for ladder_id in ladder_ids for number in _of_ladder(connection, ladder_id, faulted, limit, span)
        ]
        numbers = sorted(all_numbers, reverse=True)[:limit]
    return entries_of(connection, [number for number in numbers if number not in hidden][:most])


def sealed(connection: Connection) -> set[int]:
    """Return the numbers of the finished matches of sealed boards."""
    return set(connection.scalars(_SEALED))


_SEALED: Final = select(MATCHES.c.number).join(BOARDS, BOARDS.c.id == MATCHES.c.board_id).where(BOARDS.c.is_sealed)


def match(connection: Connection, match_id: str, among: Collection[str] | None = None) -> MatchEntry:
    """Return a match.

    Args:
        connection: Connection to read from.
        match_id: Match ID, or its first 8 or more characters.
        among: Only matches of these ladders. Default: all.

    Raises:
        NoSuchEntry: If there is no such match.
        InvalidEntry: If several match IDs begin with these characters.
    """
    (entry,) = entries_of(connection, [match_number(connection, match_id, among)])
    return entry


def record(connection: Connection, match_id: str) -> str:
    """Return the line that replays a match.

    Args:
        connection: Connection to read from.
        match_id: Match ID, or its first 8 or more characters.

    Raises:
        NoSuchEntry: If there is no such match, or it has no record.
        InvalidEntry: If several match IDs begin with these characters.
    """
    number = match_number(connection, match_id)
    content = connection.scalar(select(MATCHES.c.record).where(MATCHES.c.number == number))
    if content is None:
        raise NoSuchEntry(f"match {match_id} has no record")
    return zlib.decompress(content).decode()


def has_record(connection: Connection, match_id: str) -> bool:
    """Return whether a match has a record, without reading it.  Raises as `match` does."""
    number = match_number(connection, match_id)
    return bool(connection.scalar(select(MATCHES.c.record.is_not(None)).where(MATCHES.c.number == number)))


def courses(connection: Connection, match_id: str) -> tuple[DecisionLog | None, ...]:
    """Return the decision logs of a match, by seat; None if not stored.  Raises as `match` does."""
    number = match_number(connection, match_id)
    if kept := courses_of(connection, [number]).get(number):
        return kept
    seats = connection.scalar(select(func.count()).where(SEATS.c.match_number == number)) or 0
    return (None,) * seats


def match_number(connection: Connection, match_id: str, among: Collection[str] | None = None) -> int:
    """Return the number of a match from its ID or the first characters of the ID.  Raises as `match` does."""
    named = select(MATCHES.c.number, MATCHES.c.id)
    if among is not None:
        named = named.join(LADDERS, LADDERS.c.id == MATCHES.c.ladder_id).where(LADDERS.c.name.in_(among))
    rows = connection.execute(named.where(MATCHES.c.id == match_id)).all()
    if not rows and len(match_id) >= SHORTEST:
        # No BETWEEN, in which PostgreSQL allows no collation.
        begins_so = (MATCHES.c.id >= match_id) & (MATCHES.c.id <= match_id + _HIGHEST)
        rows = connection.execute(named.where(begins_so).order_by(MATCHES.c.id).limit(_NAMED + 1)).all()
    if len(rows) > 1:
        names = ", ".join(f"{row.id:.200}" for row in rows[:_NAMED]) + (" and others" if len(rows) > _NAMED else "")
        raise InvalidEntry(f"several matches begin with {match_id!r:.300}, give more of it: {names}")
    if not rows:
        raise NoSuchEntry(f"there is no match {match_id!r:.300}")
    number = rows[0].number
    assert isinstance(number, int)
    return number


def courses_of(connection: Connection, numbers: Sequence[int]) -> dict[int, tuple[DecisionLog | None, ...]]:
    """Return the stored decision logs of matches, by number."""
    query = select(COURSES).where(COURSES.c.match_number.in_(numbers))
    return {row.match_number: unpack_courses(row.courses) for row in connection.execute(query)}


# -- selection
def numbers_of_versions(connection: Connection, versions: Sequence[int], faulted: bool, limit: int) -> list[int]:
    """List the numbers of the newest matches of these versions, or of those with a fault of theirs."""
    return _of_versions(connection, versions, None, faulted, limit, _Span())


def _ladder_ids(connection: Connection, among: Collection[str] | None) -> list[int]:
    """Return the IDs of ladders by name, or of all ladders."""
    query = select(LADDERS.c.id)
    return list(connection.scalars(query if among is None else query.where(LADDERS.c.name.in_(among))))


def _span(
    connection: Connection,
    ladders: Sequence[int],
    since: datetime | None,
    until: datetime | None,
    before: int | None,
    event: str,
) -> _Span | None:
    """Return the range of matches to search; None if it is empty."""
    high = _NEWEST if before is None else before - 1
    if since is None and until is None:
        return _Span(high=high, event=event)
    low = _NEWEST
    last = 0
    for ladder in ladders:  # separately, because the index sorts end times by ladder
        ends = select(func.min(MATCHES.c.number), func.max(MATCHES.c.number)).where(
            MATCHES.c.ladder_id == ladder, *_over(since, until)
        )
        first_here, last_here = connection.execute(ends).one()
        if first_here is not None:
            low, last = min(low, first_here), max(last, last_here)
    high = min(high, last)
    return None if low > high else _Span(low, high, since, until, event)


def _over(since: datetime | None, until: datetime | None) -> list[ColumnElement[bool]]:
    conditions = []
    if since is not None:
        conditions.append(MATCHES.c.finished >= since)
    if until is not None:
        conditions.append(MATCHES.c.finished < until)
    return conditions


def _of_ladder(connection: Connection, ladder: int | None, faulted: bool, limit: int, span: _Span) -> list[int]:
    query = _newest(ladder is not None, faulted, span.is_timed, bool(span.event))
    return list(connection.scalars(query, {**span.parameters, "most": limit, "ladder": ladder}))


@cache
def _newest(one_ladder: bool, faulted: bool, timed: bool, of_event: bool = False) -> Select[Any]:
    """Return the query for the newest matches, of `ladder` or of all."""
    query = select(MATCHES.c.number).where(MATCHES.c.number.between(bindparam("low"), bindparam("high")))
    if one_ladder:
        query = query.where(MATCHES.c.ladder_id == bindparam("ladder"))
    if faulted:
        query = query.where(MATCHES.c.is_faulted)
    if timed:
        query = query.where(MATCHES.c.finished >= bindparam("since"), MATCHES.c.finished < bindparam("until"))
    if of_event:
        query = query.where(MATCHES.c.number.in_(EVENT_MATCHES))
    return query.order_by(MATCHES.c.number.desc()).limit(bindparam("most"))


def _of_versions(
    connection: Connection,
    versions: Sequence[int],
    ladders: Sequence[int] | None,
    faulted: bool,
    limit: int,
    span: _Span,
    others: Sequence[Sequence[int]] = (),
) -> list[int]:
    one_ladder = None if ladders is None else len(ladders) == 1
    last_of, newest_of = _seated(one_ladder, faulted, span.is_timed, len(others), bool(span.event))
    parameters = span.parameters
    parameters |= {f"other{number}": json.dumps(list(opponent)) for number, opponent in enumerate(others)}
    if ladders is not None:
        parameters["ladders"] = ladders[0] if len(ladders) == 1 else json.dumps(list(ladders))
    last = connection.execute(last_of, {**parameters, "versions": json.dumps(list(versions))}).all()
    played = sorted((number, version) for version, number in last if number is not None)
    numbers: list[int] = []
    # Versions by their last match, the newest first: stop when the page is full and the other versions are older.
    for number, version in reversed(played):
        if len(numbers) >= limit and numbers[limit - 1] > number:
            break
        of_one = connection.scalars(newest_of, {**parameters, "version": version, "most": limit}).all()
        numbers = sorted({*numbers, *of_one}, reverse=True)
    return numbers[:limit]


@cache
def _seated(
    one_ladder: bool | None, faulted: bool, timed: bool, others: int, of_event: bool = False
) -> tuple[Select[Any], Select[Any]]:
    """Return the queries for the last match of each of `versions`, and for the newest matches of `version`.

    Args:
        one_ladder: Whether the parameter `ladders` is an ID instead of a JSON array; None for all ladders.
        faulted: Only matches with a fault of the version.
        timed: Only matches that ended from `since` until before `until`.
        others: Number of the other bots that sat in these matches; their versions are `other0`, `other1` and so on.
        of_event: Only matches of `event`, an ID or a kind of events.
    """

    def of(version: ColumnElement[int]) -> Select[Any]:
        query = select(SEATS.c.match_number).where(
            SEATS.c.version_id == version, SEATS.c.match_number.between(bindparam("low"), bindparam("high"))
        )
        if one_ladder is not None:
            query = query.where(
                SEATS.c.ladder_id == bindparam("ladders")
                if one_ladder
                else SEATS.c.ladder_id.in_(listed_integers("ladders"))
            )
        if faulted:
            query = query.where(text("seats.faults > 0"))  # as in the index
        if timed:
            query = query.join(MATCHES, MATCHES.c.number == SEATS.c.match_number).where(
                MATCHES.c.finished >= bindparam("since"), MATCHES.c.finished < bindparam("until")
            )
        if of_event:
            query = query.where(SEATS.c.match_number.in_(EVENT_MATCHES))
        for number in range(others):
            seats = SEATS.alias()
            is_there = (seats.c.match_number == SEATS.c.match_number) & seats.c.version_id.in_(
                listed_integers(f"other{number}")
            )
            query = query.where(select(seats.c.seat).where(is_there).correlate(SEATS).exists())
        return query.order_by(SEATS.c.match_number.desc())

    versions = json_values("versions")
    version = integer(versions.c.value)
    last = of(version).limit(1).correlate(versions).scalar_subquery()
    return select(version, last), of(bindparam("version")).limit(bindparam("most"))


# -- contents
def entries_of(connection: Connection, numbers: Sequence[int]) -> list[MatchEntry]:
    """Load the matches with these numbers, without their records, the newest first."""
    rows = connection.execute(_MATCHES, {"numbers": json.dumps(list(numbers))}).all()
    seats: dict[int, list[SeatEntry]] = {row.number: [] for row in rows}
    pairs = json.dumps([(row.number, row.sequence) for row in rows])
    usages = _usages_of(connection, numbers)
    for row in connection.execute(_SEATS, {"pairs": pairs}).all():
        number, *who_and_how, mu_before, sigma_before, mu_after, sigma_after, cpu_ms, peak_bytes, memory = row
        before = after = None
        if mu_before is not None:
            before, after = Skill(mu_before, sigma_before), Skill(mu_after, sigma_after)
        # tuple.__new__ takes half the time of SeatEntry(...), which is most of the time of a page
        usage = usages.get((number, len(seats[number])))
        seats[number].append(_new(SeatEntry, (*who_and_how, before, after, cpu_ms, peak_bytes, usage, memory)))
    several = [row.board_id for row in rows if row.size > 1]
    others = _of_boards(connection, several) if several else {}
    settings = {text: json.loads(text) for text in {row.settings for row in rows}}  # parsed once per ladder
    return [
        _entry(row, settings[row.settings], tuple(seats[row.number]), others.get(row.board_id, (row.id,)))
        for row in rows
    ]


_MATCHES: Final = (
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
        MATCHES.c.is_rated,
        MATCHES.c.requested_by,
        MATCHES.c.reason,
        BOARDS.c.sequence,
        BOARDS.c.commitment,
        BOARDS.c.seed,
        BOARDS.c.params,
        LADDERS.c.boards,
        BOARDS.c.matches.label("size"),
        BOARDS.c.is_sealed,
        BOARDS.c.nonces,
    )
    .select_from(
        MATCHES.join(BOARDS, BOARDS.c.id == MATCHES.c.board_id).join(LADDERS, LADDERS.c.id == MATCHES.c.ladder_id)
    )
    .where(MATCHES.c.number.in_(listed_integers("numbers")))
    .order_by(MATCHES.c.number.desc())
)
_PAIRS: Final = json_values("pairs")
_SEATS: Final = (
    select(
        SEATS.c.match_number,
        OWNERS.c.name,
        BOTS.c.name,
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
        SEATS.c.cpu_ms,
        SEATS.c.peak_bytes,
        SEATS.c.memory,
    )
    .select_from(
        _PAIRS.join(SEATS, SEATS.c.match_number == integer_at(_PAIRS.c.value, 0))
        .join(VERSIONS, VERSIONS.c.id == SEATS.c.version_id)
        .join(BOTS, BOTS.c.id == VERSIONS.c.bot_id)
        .join(OWNERS, OWNERS.c.id == BOTS.c.owner_id)
        .outerjoin(
            CHANGES,
            (CHANGES.c.ladder_id == SEATS.c.ladder_id)
            & (CHANGES.c.sequence == integer_at(_PAIRS.c.value, 1))
            & (CHANGES.c.version_id == SEATS.c.version_id),
        )
    )
    .order_by(SEATS.c.match_number, SEATS.c.seat)
)


def _usages_of(connection: Connection, numbers: Sequence[int]) -> dict[tuple[int, int], UsageTotal]:
    """Load what the bots of these matches reported, by match number and seat."""
    rows = connection.execute(_USAGES, {"numbers": json.dumps(list(numbers))}).all()
    return {(number, seat): UsageTotal(1, *total) for number, seat, *total in rows}


_USAGES: Final = select(
    USAGES.c.match_number,
    USAGES.c.seat,
    USAGES.c.input_tokens,
    USAGES.c.output_tokens,
    USAGES.c.cost_micros,
    USAGES.c.fallbacks,
    USAGES.c.model,
).where(USAGES.c.match_number.in_(listed_integers("numbers")))


def _of_boards(connection: Connection, boards: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """List the finished matches of these boards, in the order of storing."""
    match_ids: dict[str, tuple[str, ...]] = {}
    for board, match_id in connection.execute(_OF_BOARDS, {"boards": json.dumps(list(boards))}).all():
        match_ids[board] = (*match_ids.get(board, ()), match_id)
    return match_ids


_OF_BOARDS: Final = (
    select(MATCHES.c.board_id, MATCHES.c.id)
    .where(MATCHES.c.board_id.in_(listed_texts("boards")))
    .order_by(MATCHES.c.number)
)


def _entry(
    row: _Row, settings: Mapping[str, Any], seats: tuple[SeatEntry, ...], board_matches: tuple[str, ...]
) -> MatchEntry:
    number, match_id, board, ladder, game, rules, _, started, finished, decisions, void_cause, *more = row
    is_rated, requested_by, reason, sequence, commitment, seed, params, boards, size, is_sealed, nonces = more
    return MatchEntry(
        number,
        match_id,
        ladder,
        game,
        rules,
        settings,
        started,
        finished,
        decisions,
        void_cause,
        sequence,
        Deal(board, commitment, seed, params, Nonces.from_json(nonces)),
        seats,
        is_rated,
        requested_by,
        reason,
        kind_of(boards, size, is_rated),
        board_matches,
        size,
        is_sealed,
    )
