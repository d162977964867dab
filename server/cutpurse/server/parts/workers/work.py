"""Matches that workers play: what each is to play, who has it, and what was handed back.

A match waits until a worker takes it. Its deal is handed out in the statement that marks it as taken, so once. A worker
that asks for a match which another worker has taken declares it lost: the queue delivers a match again only when the
first worker is gone. A lost match is void, and a report of it that comes late is dropped.

Workers call `take_match_v1` and `hand_back_v1` with a role that can read no table here but the archives. SQLite has the
tables too, but no workers. Every function works in the transaction of its connection. This module knows no queue.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, delete, func, insert, or_, select

from cutpurse.leaderboard.relations import BOARDS, LADDERS, MATCHES, OPEN_MATCHES
from cutpurse.leaderboard.write_hooks import LookingForOpen, MatchesVoided
from cutpurse.server.parts.workers.tables import REPORTS, WORK

__all__ = [
    "add_matches_of_workers",
    "remove_void",
    "GRANTS",
    "MAX_REPORT_BYTES",
    "EndedWork",
    "NewWork",
    "WorkLoad",
    "counts",
    "create_functions",
    "ended_matches",
    "open_tasks",
    "put",
    "remove",
    "unfinished_matches",
    "load",
]

MAX_REPORT_BYTES: Final = 2 << 20  # a report of a long match has 30 KiB, and several are read at once
_LONGEST_WORKER: Final = 200  # characters of a worker's name

# A worker whose answer was lost on its way asks again, and gets the same deal again. The names of tables need no
# schema: PostgreSQL looks for them in the schema of the functions only.
_FUNCTIONS: Final = """
CREATE OR REPLACE FUNCTION take_match_v1(
  wanted text, worker_name text, worker_code text, OUT outcome text, OUT task text, OUT seed bytea)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = {schema}, pg_temp AS $$
DECLARE needed text;
BEGIN
  worker_name := left(worker_name, {longest});
  SELECT w.code INTO needed FROM work w WHERE w.match_id = wanted AND w.state = 'waiting';
  IF needed <> worker_code THEN
    outcome := 'other version'; task := needed; RETURN;
  END IF;
  UPDATE work w SET state = 'taken', worker = worker_name WHERE w.match_id = wanted AND w.state = 'waiting'
    RETURNING w.task, w.seed INTO task, seed;
  IF FOUND THEN
    outcome := 'taken'; RETURN;
  END IF;
  UPDATE work w SET state = 'lost' WHERE w.match_id = wanted AND w.state = 'taken' AND w.worker <> worker_name;
  IF FOUND THEN
    PERFORM pg_notify('cutpurse_work', wanted);
    outcome := 'lost'; RETURN;
  END IF;
  SELECT 'yours', w.task, w.seed INTO outcome, task, seed FROM work w WHERE w.match_id = wanted AND w.state = 'taken';
  outcome := coalesce(outcome, 'over');
END $$;
CREATE OR REPLACE FUNCTION hand_back_v1(wanted text, worker_name text, handed bytea) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = {schema}, pg_temp AS $$
BEGIN
  worker_name := left(worker_name, {longest});
  UPDATE work w SET state = 'over'
    WHERE w.match_id = wanted AND w.state = 'taken' AND w.worker = worker_name AND octet_length(handed) <= {most};
  IF NOT FOUND THEN
    RETURN EXISTS (SELECT FROM work w WHERE w.match_id = wanted AND w.state = 'over' AND w.worker = worker_name);
  END IF;
  INSERT INTO reports VALUES (wanted, handed);
  PERFORM pg_notify('cutpurse_work', wanted);
  RETURN true;
END $$;
REVOKE ALL ON FUNCTION take_match_v1(text, text, text), hand_back_v1(text, text, bytea) FROM PUBLIC;
"""

# What the role of workers needs, beside the tables of the queue.
GRANTS: Final = (
    "GRANT EXECUTE ON FUNCTION take_match_v1(text, text, text), hand_back_v1(text, text, bytea) TO {role}",
    "GRANT SELECT ON archives, alembic_version TO {role}",
    "GRANT USAGE ON SCHEMA public TO {role}",
)


@dataclass(frozen=True, slots=True)
class NewWork:
    """An announced match that a worker is to play.

    Attributes:
        match: ID of the match.
        code: Version of this program, which the worker must have.
        task: All that the worker needs but the seed, as JSON.
        seed: Seed of the deal.
    """

    match: str
    code: str
    task: str
    seed: bytes


@dataclass(frozen=True, slots=True)
class EndedWork:
    """A match that a worker has reported, or that was lost with its worker.

    Attributes:
        match: ID of the match.
        task: The task that the worker had.
        seed: Seed of the promised deal.
        worker: The worker.
        report: What the worker handed back; None if the match was lost.
    """

    match: str
    task: str
    seed: bytes
    worker: str
    report: bytes | None


@dataclass(frozen=True, slots=True)
class WorkLoad:
    """What workers play and what waits for them.

    Attributes:
        counts: Number of matches by state.
        workers: Matches that each worker has.
        oldest: Since when the oldest match waits; None if none does.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    workers: Mapping[str, int] = field(default_factory=dict)
    oldest: datetime | None = None


def create_functions(connection: Connection) -> None:
    """Create the functions that workers call, or replace them; rights that were granted on them stay."""
    schema = connection.scalar(select(func.quote_ident(func.current_schema())))
    script = _FUNCTIONS.format(schema=schema, most=MAX_REPORT_BYTES, longest=_LONGEST_WORKER)
    connection.exec_driver_sql(script, execution_options={"no_parameters": True})


def put(connection: Connection, works: Sequence[NewWork], now: datetime) -> None:
    """Store matches that workers may take from now on."""
    rows = [
        {"match_id": work.match, "code": work.code, "task": work.task, "seed": work.seed, "state": "waiting"}
        for work in works
    ]
    connection.execute(insert(WORK), [{**row, "worker": "", "since": now} for row in rows])


def unfinished_matches(connection: Connection) -> list[str]:
    """List the matches that wait for a worker, or that a worker has."""
    unfinished = select(WORK.c.match_id).where(WORK.c.state.in_(("waiting", "taken")))
    return list(connection.scalars(unfinished.order_by(WORK.c.since, WORK.c.match_id)))


def open_tasks(connection: Connection) -> dict[str, str]:
    """Return the tasks of all matches whose result is not stored, by match, in the order of their announcement."""
    rows = connection.execute(select(WORK.c.match_id, WORK.c.task).order_by(WORK.c.since, WORK.c.match_id))
    return {row.match_id: row.task for row in rows}


def counts(connection: Connection) -> dict[str, int]:
    """Return the number of matches by state."""
    rows = connection.execute(select(WORK.c.state, func.count()).group_by(WORK.c.state))
    return {state: int(count) for state, count in rows}


def load(connection: Connection) -> WorkLoad:
    """Return what workers play and what waits for them."""
    query = select(WORK.c.state, WORK.c.worker, func.count(), func.min(WORK.c.since)).group_by(
        WORK.c.state, WORK.c.worker
    )
    rows = connection.execute(query).all()
    counts: dict[str, int] = {}
    for state, _, count, _ in rows:
        counts[state] = counts.get(state, 0) + int(count)
    workers = {worker: int(count) for state, worker, count, _ in rows if state == "taken"}
    return WorkLoad(counts, workers, min((since for state, _, _, since in rows if state == "waiting"), default=None))


def ended_matches(connection: Connection, limit: int, ladders: Collection[str] | None = None) -> list[EndedWork]:
    """List matches that were reported or lost, in the order of their announcement.

    Args:
        connection: Connection in a transaction.
        limit: Maximum number of matches.
        ladders: Only matches of these ladders, stored or not. Default: all matches.
    """
    query = (
        select(WORK, REPORTS.c.report)
        .outerjoin(REPORTS, REPORTS.c.match_id == WORK.c.match_id)
        .where(or_(WORK.c.state == "lost", REPORTS.c.match_id.is_not(None)))
        .order_by(WORK.c.since, WORK.c.match_id)
        .limit(limit)
    )
    if ladders is not None:
        query = (
            query.outerjoin(OPEN_MATCHES, OPEN_MATCHES.c.match_id == WORK.c.match_id)
            .outerjoin(MATCHES, MATCHES.c.id == WORK.c.match_id)
            .join(BOARDS, BOARDS.c.id == func.coalesce(OPEN_MATCHES.c.board_id, MATCHES.c.board_id))
            .join(LADDERS, LADDERS.c.id == BOARDS.c.ladder_id)
            .where(LADDERS.c.name.in_(sorted(ladders)))
        )
    return [
        EndedWork(row.match_id, row.task, row.seed, row.worker, row.report if row.state == "over" else None)
        for row in connection.execute(query).all()
    ]


def remove(connection: Connection, matches: Collection[str]) -> None:
    """Remove matches whose results are stored."""
    for rows in (REPORTS, WORK):
        connection.execute(delete(rows).where(rows.c.match_id.in_(sorted(matches))))


# -- matches that an earlier server left open
def add_matches_of_workers(connection: Connection, event: LookingForOpen) -> None:
    """Name the matches that workers have, or may take."""
    event.elsewhere.update(open_tasks(connection))


def remove_void(connection: Connection, event: MatchesVoided) -> None:
    """Let no worker play a match that is void."""
    remove(connection, event.matches)
