"""The leases by which several arenas share the ladders of one league.

A ladder belongs to one arena at a time, which alone announces, stores and rates its matches. The arena renews its
lease every third of `LEASE_S`. When it has not done so for `LEASE_S`, another arena may take the ladder, in a new
epoch. All times are the database's, so no two clocks are compared.

Every function works in the transaction of its connection. `held` locks the leases until that transaction ends, so a
ladder cannot be taken while its results are being written. Only PostgreSQL has leagues of several arenas.

Each arena has a row of its own, too, which it renews with its leases, so that one without a ladder is known.

The ladders of people have no lease: nothing is rated there, and each arena plays those of its own page.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from sqlalchemy import Connection, text

from cutpurse.leaderboard.tokens import PEOPLE

__all__ = ["DELAY_S", "LEASE_S", "Holder", "LadderHolder", "Leases", "held", "others", "present", "release", "tend"]

LEASE_S: Final = 10.0  # seconds that a lease lasts
DELAY_S: Final = 2 * LEASE_S  # seconds that an arena leaves a free ladder to those that prefer it

_NOW: Final = "(clock_timestamp() AT TIME ZONE 'utc')"
_PEOPLE: Final = json.dumps([PEOPLE])  # as the owners of a ladder are stored
_ADD: Final = text(f"""
INSERT INTO leases (ladder_id, holder, address, epoch, until) SELECT id, '', '', 0, {_NOW} FROM ladders
WHERE NOT EXISTS (SELECT 1 FROM leases WHERE ladder_id = ladders.id) AND owners <> :people
""")  # no value is pasted in
_RENEW: Final = text(f"""
UPDATE leases SET until = {_NOW} + make_interval(secs => :lease_s) FROM ladders
WHERE ladders.id = ladder_id AND holder = :holder AND until > {_NOW} RETURNING ladders.name, epoch
""")
_TAKE: Final = text(f"""
UPDATE leases SET holder = :holder, address = :address, epoch = epoch + 1,
  until = {_NOW} + make_interval(secs => :lease_s) FROM ladders
WHERE ladders.id = ladder_id AND ladder_id IN (
  SELECT leases.ladder_id FROM leases JOIN ladders ON ladders.id = leases.ladder_id
  WHERE ladders.game = ANY(CAST(:games AS text[])) AND ladders.owners <> :people
    AND (NOT ladders.is_hosted OR :plays_hosted)
    AND until < {_NOW} - make_interval(secs => CASE
      WHEN ladders.name = ANY(CAST(:preferred AS text[])) THEN 0.0 ELSE :delay_s END)
  FOR UPDATE OF leases SKIP LOCKED)
RETURNING ladders.name, epoch
""")
_HELD: Final = text("""
SELECT ladders.name, epoch FROM leases JOIN ladders ON ladders.id = leases.ladder_id
WHERE holder = :holder AND ladders.name = ANY(CAST(:names AS text[])) FOR SHARE OF leases
""")
_OTHERS: Final = text(f"""
SELECT ladders.name, address, holder,
  CAST(:lease_s - EXTRACT(EPOCH FROM until - {_NOW}) AS float) AS lag_s
FROM leases JOIN ladders ON ladders.id = leases.ladder_id
WHERE holder <> :holder AND until > {_NOW} ORDER BY ladders.name
""")
_STAY: Final = text(f"""
INSERT INTO arenas (holder, address, until)
VALUES (:holder, :address, {_NOW} + make_interval(secs => :lease_s))
ON CONFLICT (holder) DO UPDATE SET until = EXCLUDED.until
""")
_FORGET: Final = text(f"DELETE FROM arenas WHERE until < {_NOW}")
_PRESENT: Final = text(f"""
SELECT address, holder, CAST(:lease_s - EXTRACT(EPOCH FROM until - {_NOW}) AS float) AS lag_s
FROM arenas WHERE holder <> :holder AND until > {_NOW} ORDER BY address
""")
_LEAVE: Final = text("DELETE FROM arenas WHERE holder = :holder")
_RELEASE: Final = text(f"UPDATE leases SET until = {_NOW} WHERE holder = :holder AND until > {_NOW}")


@dataclass(frozen=True, slots=True)
class Holder:
    """An arena that takes ladders.

    Attributes:
        name: Name of its process, which no other process ever has.
        address: Where bots dial it.
        preferred: Ladders that it takes as soon as they are free; others only when they have been free for `DELAY_S`.
            Empty: it takes every free ladder at once.
        games: Games whose ladders it can play.
        plays_hosted: Whether it deals to workers, so that it can have hosted ladders.
    """

    name: str
    address: str
    preferred: Collection[str]
    games: Collection[str]
    plays_hosted: bool = False


class LadderHolder(NamedTuple):
    """An arena, as the others know it.

    Attributes:
        address: Where bots dial it.
        name: Name of its process, as in `Holder`; only those who can read the database know it.
        lag_s: Seconds since it renewed its leases.
    """

    address: str
    name: str
    lag_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Leases:
    """The ladders of an arena, with their epochs.

    Attributes:
        epochs: Epoch by ladder.
        taken: Those ladders that the arena did not have before, or whose lease had run out.
    """

    epochs: Mapping[str, int]
    taken: Collection[str]


def tend(connection: Connection, holder: Holder, takes_more: bool = True) -> Leases:
    """Renew the leases of an arena, and take free ladders, unless `takes_more` is false."""
    connection.execute(_ADD, {"people": _PEOPLE})
    facts = {"holder": holder.name, "lease_s": LEASE_S}
    connection.execute(_STAY, {**facts, "address": holder.address})
    connection.execute(_FORGET)
    renewed = {row.name: row.epoch for row in connection.execute(_RENEW, facts)}
    parameters = {
        **facts,
        "people": _PEOPLE,
        "plays_hosted": holder.plays_hosted,
        "address": holder.address,
        "games": list(holder.games) if takes_more else [],
        "preferred": list(holder.preferred),
        "delay_s": DELAY_S if holder.preferred else 0.0,
    }
    taken = {row.name: row.epoch for row in connection.execute(_TAKE, parameters)}
    return Leases({**renewed, **taken}, tuple(taken))


def held(connection: Connection, holder: str, epochs: Mapping[str, int], ladders: Collection[str]) -> set[str]:
    """Return those of `ladders` that nobody has taken since the arena did, and keep it so until the transaction ends.

    A lease that has run out still counts, as long as no other arena has taken the ladder.
    """
    names = sorted(epochs.keys() & set(ladders))
    rows = connection.execute(_HELD, {"holder": holder, "names": names}).all() if names else []
    return {row.name for row in rows if epochs[row.name] == row.epoch}


def others(connection: Connection, holder: str) -> dict[str, LadderHolder]:
    """Return the arena of each ladder that another arena than `holder` has."""
    rows = connection.execute(_OTHERS, {"holder": holder, "lease_s": LEASE_S})
    return {row.name: LadderHolder(row.address, row.holder, row.lag_s) for row in rows}


def present(connection: Connection, holder: str) -> list[LadderHolder]:
    """Return the arenas other than `holder`, with and without ladders."""
    rows = connection.execute(_PRESENT, {"holder": holder, "lease_s": LEASE_S})
    return [LadderHolder(row.address, row.holder, row.lag_s) for row in rows]


def release(connection: Connection, holder: str) -> None:
    """End the leases of an arena that leaves, so that others can take its ladders at once."""
    connection.execute(_RELEASE, {"holder": holder})
    connection.execute(_LEAVE, {"holder": holder})
