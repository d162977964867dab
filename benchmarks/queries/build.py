"""The builder of a leaderboard with a million matches in a minute, by direct SQL inserts.

There are three ladders of four seats. `wide` has 1,000 bots and 60 % of the matches. `narrow` has 64 of these bots and
the other matches except one in a thousand, which `rare` has, with the same 64 bots. Each bot has three versions, one
after the other. Places, faults (one seat in 100) and void matches (one in 200) come from a hash of the match number, so
each build is the same. Ratings and estimates are invented, which readers cannot notice. Counts (matches, first places,
opponents) are right.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from cutpurse.leaderboard.decision_logs import pack_courses, pack_notes
from cutpurse.leaderboard.ladders import NewLadder, ensure_ladder
from cutpurse.leaderboard.ratings import TrueSkill
from cutpurse.leaderboard.results import DecisionLog, SeatNote
from cutpurse.leaderboard.store import Store

__all__ = ["LADDERS", "VERSIONS_EACH", "build", "size_of"]

SEATS: Final = 4
VERSIONS_EACH: Final = 3
LADDERS: Final = {"wide": 1_000, "narrow": 64, "rare": 64}  # bots
RECORD_BYTES: Final = 600  # compressed; records of real matches have 1,000 to 3,000
DAWN: Final = datetime(2026, 1, 1, tzinfo=UTC)
SECONDS: Final = 20  # from one match to the next

# In match n of a ladder with b bots, seat s has bot (hash(n) + s * stride) mod b, with its newest version at that time.
# The score is drawn, and the place follows from the scores.
_STATEMENTS: Final = (
    "CREATE TEMP TABLE plan (number INTEGER PRIMARY KEY, hash INTEGER, ladder INTEGER, bots INTEGER, sequence INTEGER)",
    """
    INSERT INTO plan
    WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < :matches)
    SELECT n, (n * 2654435761) & 4294967295,
      CASE WHEN n % 1000 = 0 THEN 3 WHEN n % 10 < 6 THEN 1 ELSE 2 END,
      CASE WHEN n % 1000 <> 0 AND n % 10 < 6 THEN 1000 ELSE 64 END, NULL
    FROM counted
    """,
    """
    UPDATE plan SET sequence = counted.place
    FROM (SELECT number, row_number() OVER (PARTITION BY ladder ORDER BY number) AS place FROM plan
          WHERE number % 200 <> 7) AS counted
    WHERE counted.number = plan.number
    """,
    """
    INSERT INTO boards (id, ladder_id, sequence, epoch, commitment, seed, params, matches, is_sealed)
    SELECT printf('b%08x%08x', hash, number), ladder, sequence, CASE WHEN sequence IS NULL THEN NULL ELSE 1 END,
      zeroblob(32), zeroblob(32), zeroblob(80), 1, 0 FROM plan ORDER BY number
    """,
    """
    INSERT INTO matches (number, id, board_id, ladder_id, rules, started, finished, decisions, void_cause, is_rated,
      requested_by, reason, is_faulted, record)
    SELECT number, printf('%08x%08x', hash, number), printf('b%08x%08x', hash, number), ladder, '1',
      datetime(:dawn + number * :seconds - 9, 'unixepoch') || '.000000',
      datetime(:dawn + number * :seconds, 'unixepoch') || '.000000',
      100, CASE WHEN sequence IS NULL THEN 'void_server' END, 1, '', 'fewest matches', hash % 25 = 3, :record
    FROM plan ORDER BY number
    """,
    """
    INSERT INTO seats (match_number, seat, ladder_id, version_id, place, score, end_cause, faults, thinking_ms)
    WITH
    chairs (seat) AS (VALUES (0), (1), (2), (3)),
    drawn AS (
      SELECT number, ladder, sequence, seat, hash % 25 = 3 AND seat = hash % 4 AS faults,
        ((hash + seat * (1 + hash % (bots / 4 - 1))) % bots) * :versions
          + number * :versions / (:matches + 1) + 1 AS version,
        (hash >> (3 * seat)) % 8 AS score
      FROM plan CROSS JOIN chairs
    )
    SELECT number, seat, ladder, version,
      CASE WHEN sequence IS NOT NULL THEN rank() OVER (PARTITION BY number ORDER BY score DESC) END,
      CASE WHEN sequence IS NOT NULL THEN score END, 'normal', faults, 900
    FROM drawn ORDER BY number, seat
    """,
    """
    INSERT INTO rating_changes (ladder_id, sequence, version_id, mu_before, sigma_before, mu_after, sigma_after)
    SELECT ladder, sequence, version_id, 20 + version_id % 97 / 10.0, 1.5, 20 + version_id % 89 / 10.0, 1.4
    FROM plan JOIN seats ON match_number = number WHERE sequence IS NOT NULL ORDER BY number
    """,
    """
    INSERT INTO ratings (ladder_id, version_id, mu, sigma, matches, wins, faulted, sequence, form)
    SELECT ladder, version_id, 20 + version_id % 89 / 10.0, 1.4, count(*), sum(place = 1), sum(faults > 0),
      max(sequence), x'01020304040302010102'
    FROM plan JOIN seats ON match_number = number WHERE sequence IS NOT NULL GROUP BY ladder, version_id
    """,
    """
    INSERT INTO estimates (ladder_id, version_id, mu, low, high, best, worst, sequence, made)
    SELECT ladder_id, version_id, mu, mu - 2, mu + 2, 1 + version_id % 60, 4 + version_id % 60, sequence,
      datetime(:dawn, 'unixepoch') || '.000000' FROM ratings
    """,
    """
    INSERT INTO opponents (ladder_id, bot_id, other_id, matches, ahead, level)
    SELECT one.ladder_id,
      (one.version_id - 1) / :versions + 1 AS mine, (other.version_id - 1) / :versions + 1 AS theirs,
      count(*), sum(one.place < other.place), sum(one.place = other.place)
    FROM seats AS one JOIN seats AS other ON other.match_number = one.match_number AND mine < theirs
    WHERE one.place IS NOT NULL GROUP BY 1, 2, 3
    """,
    "INSERT INTO courses SELECT number, :courses FROM plan",
    "INSERT INTO notes SELECT number, 0, 0, :notes FROM plan WHERE number % 10 = 0",
    "DROP TABLE plan",
)


def build(path: Path, matches: int, say: Callable[[str], None]) -> None:
    """Create the leaderboard at a new path."""
    bots = max(LADDERS.values())
    with Store(path) as store:
        for ladder in LADDERS:
            store.write(
                ensure_ladder, NewLadder(ladder, game="greed", seats=SEATS, rating=TrueSkill(draw_probability=0.05))
            )
    values = {
        "matches": matches,
        "versions": VERSIONS_EACH,
        "dawn": int(DAWN.timestamp()),
        "seconds": SECONDS,
        "record": bytes(RECORD_BYTES),
        "courses": pack_courses([DecisionLog(tuple(range(25)), ())] * SEATS),
        "notes": pack_notes([SeatNote(decision, "a plan of forty characters, more or less") for decision in range(20)]),
    }
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        for pragma in ("synchronous=OFF", "journal_mode=MEMORY", "foreign_keys=OFF", "cache_size=-1000000"):
            file.execute(f"PRAGMA {pragma}")
        file.execute("BEGIN")
        file.executemany("INSERT INTO owners VALUES (?, ?)", [(n, f"owner{n}") for n in range(1, bots + 1)])
        file.executemany(
            "INSERT INTO bots (id, owner_id, name) VALUES (?, ?, ?)", [(n, n, f"bot{n}") for n in range(1, bots + 1)]
        )
        file.executemany(
            "INSERT INTO versions (id, bot_id, label, parent_id) VALUES (?, ?, ?, ?)",
            [
                (bot * VERSIONS_EACH + n + 1, bot + 1, f"{n}.0", bot * VERSIONS_EACH + n if n else None)
                for bot in range(bots)
                for n in range(VERSIONS_EACH)
            ],
        )
        indices = file.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
        ).fetchall()
        for name, _ in indices:
            file.execute(f"DROP INDEX {name}")
        for number, statement in enumerate(_STATEMENTS, 1):
            say(f"queries: building, {number} of {len(_STATEMENTS) + 1}")
            file.execute(statement, {name: value for name, value in values.items() if f":{name}" in statement})
        say(f"queries: building, {len(_STATEMENTS) + 1} of {len(_STATEMENTS) + 1}")
        for _, made in indices:
            file.execute(made)
        file.execute("COMMIT")
        file.execute("PRAGMA journal_mode=WAL")


def size_of(path: Path) -> int:
    """Return the size of the file in bytes."""
    return path.stat().st_size
