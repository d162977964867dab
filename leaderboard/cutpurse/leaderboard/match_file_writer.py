"""The writer of match files, which anybody can verify without this server.

A match file is a head on the first line, then the record. The head contains what the leaderboard knows of a finished
match: the seats and their results, the commitment to the deal, and its opening. `docs/reference/match_file.md`
describes every field. Like the record, the head is JSON without spaces and with sorted keys. Two keys are exceptions:
`schema` comes first, and `digest` last. The digest is the SHA-256 of everything before `,"digest":`, as hex. This
module knows no database and reads no file.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

from cutpurse.leaderboard.queries import MatchEntry, SeatEntry

__all__ = ["SCHEMAS", "match_file"]

SCHEMAS: Final = ("match/1", "match/2")  # of a deal without nonces, and with nonces


def match_file(entry: MatchEntry, record: str | None) -> str:
    """Format the lines of a match file.

    Args:
        entry: The match.
        record: The line that replays the match, None if it has no record.

    Returns:
        One or two lines, each with its newline.

    Raises:
        ValueError: If the parameters of the deal are not UTF-8 text.
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
    if entry.deal.nonces is not None:
        head["nonces"] = [nonce.hex() for nonce in entry.deal.by_seat]
        head["nonces_match"] = entry.deal.nonces.match
    schema = SCHEMAS["nonces" in head]
    lines = [_closed(head, schema), *([] if line is None else [line])]
    return "".join([text + "\n" for text in lines])


def _closed(body: dict[str, Any], schema: str) -> str:
    """Format the line of an object, with its schema and its digest."""
    text = f'{{"schema":"{schema}",' + json.dumps(body, separators=(",", ":"), sort_keys=True)[1:-1]
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
        **({} if seat.memory is None else {"memory": seat.memory.hex()}),
    }


def _moment(moment: datetime) -> str:
    """Format a timestamp in UTC, to the microsecond: 2026-11-21T19:30:00.000000Z."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
