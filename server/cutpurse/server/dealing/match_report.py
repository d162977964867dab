"""What a worker hands back of a match: the result and its record, and the check of both by the server.

The server plays the record again from the deal that it promised. So a worker can report no other choices, bots, cards
or places than those of a possible match. What it measured (thinking times, usage, notes) cannot be checked. This
module knows no queue and no database.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from dataclasses import astuple
from datetime import datetime
from typing import Any, Final, NamedTuple

from cutpurse.engine.commitment import board_key
from cutpurse.engine.errors import RecordError, UnknownGame
from cutpurse.engine.match import EndCause, Match
from cutpurse.engine.record import read_record, verified
from cutpurse.games import game_named
from cutpurse.leaderboard.errors import InvalidEntry
from cutpurse.leaderboard.results import (
    DecisionFault,
    DecisionLog,
    DecisionUsage,
    FinishedMatch,
    FinishedSeat,
    SeatNote,
)
from cutpurse.server.dealing.match_task import MatchTask

__all__ = ["CheckedReport", "FalseReport", "check_report", "write_report"]

MAX_UNPACKED_BYTES: Final = 64 << 20
_LONGEST_WHY: Final = 500


class FalseReport(Exception):
    """The reason why a report is not that of the promised match, in one line."""


class CheckedReport(NamedTuple):
    """A report that may be stored.

    Args:
        result: The result.
        not_started: Index of the seat whose bot did not start, so that the match is void; None if all did.
        why: Why it did not start, for its owner.
    """

    result: FinishedMatch
    not_started: int | None = None
    why: str = ""


def write_report(result: FinishedMatch, not_started: int | None = None, why: str = "") -> bytes:
    """Pack a result with its record, for `check_report`."""
    fields = {
        "started": result.started.isoformat(),
        "finished": result.finished.isoformat(),
        "decisions": result.decisions,
        "is_void": result.is_void,
        "not_started": not_started,
        "why": why[:_LONGEST_WHY],
        "record": "" if result.is_void else result.record(),
        "seats": [_seat_to_json(seat) for seat in result.seats],
    }
    return zlib.compress(json.dumps(fields, separators=(",", ":")).encode())


def check_report(report: bytes, task: MatchTask, seed: bytes) -> CheckedReport:
    """Read a report, and play its record again from the promised deal.

    Args:
        report: What the worker handed back.
        task: The match that it was to play.
        seed: Seed of the promised deal.

    Raises:
        FalseReport: If it is not a report of this match.
    """
    try:
        fields = _unpacked(report)
        finished = datetime.fromisoformat(fields["finished"])
        if fields["is_void"]:
            return _void(fields, task, seed, finished)
        record = str(fields["record"])
        match = _replayed(record, task, seed)
        seats = tuple(
            _seat_from_json(task, match, number, seat)
            for number, seat in enumerate(_listed(fields["seats"], len(task.seats)))
        )
        result = FinishedMatch(
            match=task.match,
            ladder=task.ladder,
            rules=task.rules,
            deal=task.deal(seed),
            started=datetime.fromisoformat(fields["started"]),
            finished=finished,
            decisions=len(match.choices),
            seats=seats,
            make_record=lambda: record,
            reason=task.reason,
        )
        _compare("decisions", fields["decisions"], len(match.choices))
        result.check()
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, zlib.error) as problem:
        raise FalseReport(f"it cannot be read ({type(problem).__name__})") from None
    except InvalidEntry as problem:
        raise FalseReport(str(problem)) from None
    return CheckedReport(result)


def _unpacked(report: bytes) -> dict[str, Any]:
    unpacking = zlib.decompressobj()
    text = unpacking.decompress(report, MAX_UNPACKED_BYTES)
    if unpacking.unconsumed_tail:
        raise FalseReport(f"it has more than {MAX_UNPACKED_BYTES >> 20} MiB")
    fields = json.loads(text)
    if not isinstance(fields, dict):
        raise TypeError("a report is an object")
    return fields


def _void(fields: dict[str, Any], task: MatchTask, seed: bytes, finished: datetime) -> CheckedReport:
    not_started, why = fields["not_started"], str(fields["why"])[:_LONGEST_WHY]
    if not_started is not None and not (type(not_started) is int and 0 <= not_started < len(task.seats)):
        raise TypeError("a seat that did not start is a seat of the match")
    return CheckedReport(task.void(seed, finished), not_started, " ".join(why.split()))


def _replayed(line: str, task: MatchTask, seed: bytes) -> Match:
    """Play a record again.  Raises FalseReport if it is not of this match."""
    try:
        record = read_record(line)
        if (record.game, record.rules) != (task.game, task.rules):
            raise FalseReport(f"its record is of {record.game} {record.rules}, not of {task.game} {task.rules}")
        if record.seats != tuple(player.recorded for player in task.players):
            raise FalseReport("its record has other bots")
        if record.key != board_key(seed, task.params):
            raise FalseReport("its record has another deal")
        if record.settings != dict(task.settings):
            raise FalseReport("its record has other settings")
        match = verified(line, game_named(task.game)).match
    except (RecordError, UnknownGame) as problem:
        raise FalseReport(f"its record cannot be played: {problem}") from None
    if match.result().voided:
        raise FalseReport("its record is of a void match, and it has places")
    return match


def _listed(seats: Any, count: int) -> list[Any]:
    if not isinstance(seats, list) or len(seats) != count:
        raise TypeError("a report has an entry for each seat")
    return seats


def _compare(what: str, reported: object, replayed: object) -> None:
    if reported != replayed:
        raise FalseReport(f"it reports {what} {reported!r:.80}, and its record has {replayed!r:.80}")


# -- seats
def _seat_to_json(seat: FinishedSeat) -> dict[str, Any]:
    course = seat.course
    return {
        "place": seat.place,
        "score": seat.score,
        "end_cause": seat.end_cause,
        "faults": seat.faults,
        "thinking_ms": seat.thinking_ms,
        "course": None
        if course is None
        else [
            course.thinking_ms,
            [astuple(fault) for fault in course.faults],
            [
                [
                    usage.decision,
                    usage.input_tokens,
                    usage.output_tokens,
                    usage.cost_micros,
                    usage.model,
                    usage.fallback,
                ]
                for usage in course.usages
            ],
        ],
        "notes": [[note.decision, note.text] for note in seat.notes],
        "dropped_bytes": seat.dropped_bytes,
        "cpu_ms": seat.cpu_ms,
        "peak_bytes": seat.peak_bytes,
    }


def _seat_from_json(task: MatchTask, match: Match, number: int, fields: dict[str, Any]) -> FinishedSeat:
    result = match.result()
    faults = Counter(fault.seat for fault in match.faults)
    cause: EndCause = result.end_causes[number]
    for what, replayed in (
        ("place", result.places[number]),
        ("score", result.scores[number]),
        ("end_cause", cause.value),
        ("faults", faults[number]),
    ):
        _compare(f"{what} of seat {number}", fields[what], replayed)
    return FinishedSeat(
        player=task.seats[number].player,
        place=result.places[number],
        score=result.scores[number],
        end_cause=cause.value,
        faults=faults[number],
        thinking_ms=_number(fields["thinking_ms"]),
        course=_course(fields["course"]),
        notes=tuple(SeatNote(_number(decision), _text(text)) for decision, text in fields["notes"]),
        dropped_bytes=_number(fields["dropped_bytes"]),
        cpu_ms=None if fields["cpu_ms"] is None else _number(fields["cpu_ms"]),
        peak_bytes=None if fields["peak_bytes"] is None else _number(fields["peak_bytes"]),
    )


def _course(parts: Any) -> DecisionLog | None:
    if parts is None:
        return None
    thinking_ms, faults, usages = parts
    return DecisionLog(
        tuple(_number(ms) for ms in thinking_ms),
        tuple(
            DecisionFault(_number(decision), _number(at), _text(cause), _text(text))
            for decision, at, cause, text in faults
        ),
        tuple(DecisionUsage(*map(_number, usage[:4]), *map(_text, usage[4:])) for usage in usages),  # type: ignore[arg-type]  # four numbers and two texts
    )


def _number(value: object) -> int:
    if type(value) is not int or value < 0:
        raise TypeError("a count is a whole number")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str) or "\0" in value:
        raise TypeError("a text has no NUL character")
    return value
