"""What a version test has found so far, from the boards that were played for it.

Everything here follows from stored results, so it is the same after a restart. This module knows no database and no
caller.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from math import ceil
from typing import NamedTuple

from cutpurse.leaderboard.events import EventEntry
from cutpurse.leaderboard.results import NORMAL, Identity
from cutpurse.leaderboard.statistics.place_points import board_difference, place_points
from cutpurse.leaderboard.statistics.sprt import Design, Sprt, State
from cutpurse.leaderboard.version_tests import ComparedBoard, ComparedMatch, VersionTestEntry
from cutpurse.server.league.messages import bot_name
from cutpurse.server.matches.version_tests import VersionTest, state_after
from cutpurse.v1 import event_pb2

__all__ = ["design_of", "plan_text", "running_test", "version_test_shown"]


@dataclass(slots=True)
class _OpponentSums:
    """The results against an opponent, added up over boards."""

    boards: int = 0
    new_ahead: float = 0.0
    old_ahead: float = 0.0
    gain: float = 0.0


@dataclass(slots=True)
class _TestFindings:
    """What the boards of a test say."""

    state: State
    taken_over: tuple[int, int] = (0, 0)  # boards of the new and of the old version
    opponents: dict[tuple[str, str], _OpponentSums] = field(default_factory=lambda: defaultdict(_OpponentSums))


class _BoardPair(NamedTuple):
    """A board: its match with the new version and that with the old one, and the seat in which they differ."""

    new: ComparedMatch
    old: ComparedMatch
    seat: int


def plan_text(ladder: str, new: Identity, old: Identity, design: Design) -> str:
    """Return the plan of a test as JSON."""
    facts = {"ladder": ladder, "new": new, "old": old, **asdict(design)}
    return json.dumps(facts, separators=(",", ":"), sort_keys=True)


def design_of(plan: str) -> Design:
    """Return the design in the plan of a test."""
    facts = json.loads(plan)
    return Design(**{field.name: facts[field.name] for field in fields(Design)})


def running_test(entry: VersionTestEntry, boards: Sequence[ComparedBoard]) -> VersionTest:
    """Return a stored test as it goes on."""
    return VersionTest(entry.event.id, entry.ladder, entry.new, entry.old, _found(entry, boards).state)


def version_test_shown(entry: VersionTestEntry, boards: Sequence[ComparedBoard]) -> event_pb2.VersionTestShown:
    """Encode a test with its boards that count, in the order of their ends."""
    found = _found(entry, boards)
    state, result = found.state, Sprt(found.state).result()
    low, high = result.interval
    left = 0 if entry.event.ended is not None else _boards_left(state)
    opponents = sorted(found.opponents.items(), key=lambda item: (-item[1].boards, item[0]))
    return event_pb2.VersionTestShown(
        new=bot_name(*entry.new),
        old=bot_name(*entry.old),
        reason=_reason(entry.event, result.reason),
        boards=result.boards,
        differing=result.differing,
        max_boards=state.design.max_boards,
        gain=result.gain,
        low=low,
        high=high,
        boards_left=left,
        left_ms=round(left * _pace_ms(entry.event.created, boards)),
        new_taken_over=found.taken_over[0],
        old_taken_over=found.taken_over[1],
        opponents=[
            event_pb2.TestOpponent(
                bot=bot_name(*bot),
                boards=met.boards,
                new_ahead=met.new_ahead / met.boards,
                old_ahead=met.old_ahead / met.boards,
                gain=met.gain / met.boards,
            )
            for bot, met in opponents
        ],
    )


def _reason(entry: EventEntry, reason: str) -> str:
    """Return the result so far in one sentence; a test that runs or was stopped is not called undecided."""
    if entry.outcome in ("better", "not better", "undecided"):
        return reason
    word = "stopped" if entry.ended is not None else "so far"
    _, _, rest = reason.partition(": ")
    return f"{word}: {rest.removeprefix('neither a gain nor its absence is certain enough: ')}"


def _found(entry: VersionTestEntry, boards: Sequence[ComparedBoard]) -> _TestFindings:
    found = _TestFindings(State(design_of(entry.event.plan)))
    new_taken_over = old_taken_over = 0
    for new, old, seat in _compared(entry, boards):
        difference = board_difference([_points(new)[seat]], [_points(old)[seat]])
        found.state = state_after(found.state, [difference])
        new_taken_over += new.end_causes[seat] != NORMAL
        old_taken_over += old.end_causes[seat] != NORMAL
        for at, player in enumerate(new.players):
            if at != seat:
                met = found.opponents[player.owner, player.bot]
                met.boards += 1
                met.new_ahead += _ahead(new, seat, at)
                met.old_ahead += _ahead(old, seat, at)
                met.gain += difference
    found.taken_over = new_taken_over, old_taken_over
    return found


def _compared(entry: VersionTestEntry, boards: Sequence[ComparedBoard]) -> Iterator[_BoardPair]:
    for board in boards:
        new, old = _with(entry.new, board), _with(entry.old, board)
        yield _BoardPair(new, old, new.players.index(entry.new))


def _with(version: Identity, board: ComparedBoard) -> ComparedMatch:
    return next(match for match in board.matches if version in match.players)


def _points(match: ComparedMatch) -> Sequence[float]:
    return place_points([place or 0 for place in match.places])


def _ahead(match: ComparedMatch, seat: int, other: int) -> float:
    """Return 1 if a seat was ahead of another one, and a half for a tie."""
    mine, theirs = match.places[seat] or 0, match.places[other] or 0
    return 0.5 if mine == theirs else float(mine < theirs)


def _boards_left(state: State) -> int:
    """Estimate how many boards a test still needs, if the evidence grows as it did; 0 if that is not known."""
    if not state.boards or state.verdict is not None:
        return 0
    design, left = state.design, state.design.max_boards - state.boards
    for evidence, bound in (
        (state.evidence_for, design.bound_for),
        (state.evidence_against, design.bound_against),
    ):
        if evidence > 0:
            left = min(left, ceil(state.boards * (bound - evidence) / evidence))
    return max(left, design.min_boards - state.boards, 1)


def _pace_ms(created: datetime, boards: Sequence[ComparedBoard]) -> float:
    """Return the milliseconds that a board took, on average since the start of the test."""
    if not boards:
        return 0.0
    last = max(match.finished for match in boards[-1].matches)
    return max(0.0, (last - created).total_seconds()) * 1_000 / len(boards)
