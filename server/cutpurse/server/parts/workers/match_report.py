"""What a worker hands back of a match: the result and its record, and the check of both by the server.

A report is a stranger's bytes, and this module is the only one that reads them. The server plays the record again from
the deal that it promised. So a worker can report no other choices, bots, cards or places than those of a possible
match. What it measured (times, usage, notes) cannot be checked, so it is held to the bounds that the server sets for
its own matches:

* a report that lies about the match, or has a number that no match has, is refused, and the match is void;
* a text from a bot is made storable and cut, never refused: else a bot could void its matches by a NUL in a note;
* times are moved between announcement and arrival, never refused: the clock of a worker may be wrong.

This module knows no queue and no database.
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
from cutpurse.engine.record import read_record, verified, write_record
from cutpurse.games import game_named
from cutpurse.leaderboard.errors import InvalidEntry
from cutpurse.leaderboard.results import (
    DecisionFault,
    DecisionLog,
    DecisionUsage,
    FinishedMatch,
    FinishedSeat,
)
from cutpurse.leaderboard.rows import storable
from cutpurse.server.limits import ServerLimits
from cutpurse.server.matches.seat_notes import SeatNotes
from cutpurse.server.parts.workers.match_task import MatchTask
from cutpurse.wire.text import printable
from cutpurse.wire.usage import FALLBACKS, clean_model, usage_problem

__all__ = ["CheckedReport", "FalseReport", "check_report", "write_report"]

MAX_UNPACKED_BYTES: Final = 8 << 20  # as objects, JSON takes up to twenty times its bytes
_LONGEST_WHY: Final = 500
_LONGEST_FAULT: Final = 2_000  # characters that explain a fault
_MOST: Final = 2**32 - 1  # decisions and milliseconds, as the protocol has them
_MOST_BYTES: Final = 2**48


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


def check_report(report: bytes, task: MatchTask, seed: bytes, now: datetime) -> CheckedReport:
    """Read a report, and play its record again from the promised deal.

    Args:
        report: What the worker handed back.
        task: The match that it was to play.
        seed: Seed of the promised deal.
        now: The time of day.

    Raises:
        FalseReport: If it is not a report of this match, whatever its bytes are.
    """
    try:
        return _checked(_unpacked(report), task, seed, now)
    except FalseReport:
        raise
    except InvalidEntry as problem:
        raise FalseReport(printable(str(problem))) from None
    except Exception as problem:  # a stranger's bytes may break any code that reads them
        raise FalseReport(f"it cannot be read ({type(problem).__name__})") from None


def _checked(fields: dict[str, Any], task: MatchTask, seed: bytes, now: datetime) -> CheckedReport:
    finished = _between(task.started, fields["finished"], now)
    if _flag(fields["is_void"]):
        return _void(fields, task, seed, finished)
    match = _replayed(fields["record"], task, seed)
    _compare("decisions", fields["decisions"], len(match.choices))
    seats = _listed(fields["seats"], len(task.seats))
    record = write_record(match)  # not the worker's own text, which may have more around it
    result = FinishedMatch(
        match=task.match,
        ladder=task.ladder,
        rules=task.rules,
        deal=task.deal(seed),
        started=_between(task.started, fields["started"], finished),
        finished=finished,
        decisions=len(match.choices),
        seats=tuple(_seat_from_json(task, match, number, seat) for number, seat in enumerate(seats)),
        make_record=lambda: record,
        reason=task.reason,
    )
    result.check()
    return CheckedReport(result)


def _between(first: datetime, reported: str, last: datetime) -> datetime:
    """Return the reported time, or the end of the period that is next to it."""
    return max(first, min(datetime.fromisoformat(reported), last))


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
    not_started = fields["not_started"]
    if not_started is not None:
        _number(not_started, len(task.seats) - 1)
    return CheckedReport(task.void(seed, finished), not_started, printable(_text(fields["why"]), _LONGEST_WHY))


def _replayed(line: str, task: MatchTask, seed: bytes) -> Match:
    """Play a record again.  Raises FalseReport if it is not of this match."""
    try:
        record = read_record(line)
        if (record.game, record.rules) != (task.game, task.rules):
            other = printable(f"{record.game} {record.rules}", 80)
            raise FalseReport(f"its record is of {other}, not of {task.game} {task.rules}")
        if record.seats != tuple(player.recorded for player in task.players):
            raise FalseReport("its record has other bots")
        if record.key != board_key(seed, task.params):
            raise FalseReport("its record has another deal")
        if record.settings != dict(task.settings):
            raise FalseReport("its record has other settings")
        match = verified(line, game_named(task.game)).match
    except (RecordError, UnknownGame) as problem:
        raise FalseReport(f"its record cannot be played: {printable(str(problem))}") from None
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
    notes = SeatNotes(ServerLimits().note_bytes)
    for decision, text in fields["notes"]:
        notes.take(_number(decision), storable(_text(text)))
    return FinishedSeat(
        player=task.seats[number].player,
        place=result.places[number],
        score=result.scores[number],
        end_cause=cause.value,
        faults=faults[number],
        thinking_ms=_number(fields["thinking_ms"]),
        course=_course(fields["course"], match.asked(number)),
        notes=notes.kept(),
        dropped_bytes=_number(fields["dropped_bytes"], _MOST_BYTES) + notes.dropped_bytes,
        cpu_ms=None if fields["cpu_ms"] is None else _number(fields["cpu_ms"]),
        peak_bytes=None if fields["peak_bytes"] is None else _number(fields["peak_bytes"], _MOST_BYTES),
    )


def _course(parts: Any, decisions: int) -> DecisionLog | None:
    """Read the log of a seat that had this number of decisions; there is no entry for another one."""
    if parts is None:
        return None
    thinking_ms, faults, usages = parts
    return DecisionLog(
        tuple(_number(ms) for ms in thinking_ms[:decisions]),
        tuple(
            DecisionFault(_number(decision), _number(at), EndCause(cause).value, storable(_text(text))[:_LONGEST_FAULT])
            for decision, at, cause, text in faults[:decisions]
        ),
        tuple(_usage(*usage, decisions=decisions) for usage in usages[:decisions]),
    )


def _usage(
    decision: Any, input_tokens: Any, output_tokens: Any, cost_micros: Any, model: Any, fallback: Any, *, decisions: int
) -> DecisionUsage:
    if problem := usage_problem(input_tokens, output_tokens, cost_micros):
        raise FalseReport(problem)
    if fallback not in FALLBACKS:
        raise ValueError("a usage has a fallback of the protocol")
    return DecisionUsage(
        _number(decision, decisions), input_tokens, output_tokens, cost_micros, clean_model(_text(model)), fallback
    )


def _number(value: object, most: int = _MOST) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise TypeError("a count is a whole number of a bounded size")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError("a flag is true or false")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is a text")
    return value
