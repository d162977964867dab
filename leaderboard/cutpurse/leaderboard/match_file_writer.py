"""A match that is over as a file that anybody can check without this server: its head on a line, then its record.

The head is what the leaderboard knows of the match: who sat where and how it ended, what was promised of the deal
before its first card, and what opens the promise. `docs/leaderboard.md` tells every field. Like the record it is JSON
without spaces, its keys sorted, but for the schema, which comes first, and the digest, which comes last: SHA-256 of all
before `,"digest":`, as hex. This module knows no database and reads no file.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

from cutpurse.leaderboard.queries import MatchEntry, SeatEntry

__all__ = ["SCHEMA", "match_file"]

SCHEMA: Final = "match/1"


def match_file(entry: MatchEntry, record: str | None) -> str:
    """Write the lines of a match, each with its end; `record` is the line that replays it, None if it has none.

    Raises ValueError if what was promised of the deal is no text.
    """
    line = None if record is None else record.rstrip("\r\n")
    head: dict[str, Any] = {
        "board": entry.board,
        "commitment": entry.deal.commitment.hex(),
        "decisions": entry.decisions,
        "finished": _moment(entry.finished),
        "game": entry.game,
        "ladder": entry.ladder,
        "match": entry.match,
        "params": entry.deal.params.decode(),
        "rated_number": entry.sequence,
        "reason": entry.reason,
        "record": None if line is None else sha256(line.encode()).hexdigest(),
        "requested_by": entry.requested_by,
        "rules": entry.rules,
        "seats": [_seat(seat) for seat in entry.seats],
        "seed": entry.deal.seed.hex(),
        "settings": dict(entry.settings),
        "started": _moment(entry.started),
        "void_cause": entry.void_cause,
    }
    lines = [_closed(head), *([] if line is None else [line])]
    return "".join([one + "\n" for one in lines])


def _closed(body: dict[str, Any]) -> str:
    """Write the line of an object, with its schema and its digest."""
    text = f'{{"schema":"{SCHEMA}",' + json.dumps(body, separators=(",", ":"), sort_keys=True)[1:-1]
    return f'{text},"digest":"{sha256(text.encode()).hexdigest()}"}}'


def _seat(seat: SeatEntry) -> dict[str, Any]:
    return {
        "bot": seat.bot,
        "end_cause": seat.end_cause,
        "faults": seat.faults,
        "owner": seat.owner,
        "place": seat.place,
        "score": seat.score,
        "thinking_ms": seat.thinking_ms,
        "version": seat.version,
    }


def _moment(moment: datetime) -> str:
    """In UTC, to the microsecond: 2026-11-21T19:30:00.000000Z."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
