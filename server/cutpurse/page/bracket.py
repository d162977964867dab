"""A bracket as it is drawn: lanes of rounds side by side, in which each duel stands between those that lead to it.

Positions of a round to which no bot comes are None, so that all others stay at their height.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cutpurse.page.language.speaking import gettext, pgettext
from cutpurse.v1 import event_pb2

__all__ = ["DrawnLane", "DrawnRound", "lanes_of", "round_title"]

_LOSERS: Final = event_pb2.TOURNAMENT_LANE_LOSERS
_WINNERS: Final = event_pb2.TOURNAMENT_LANE_WINNERS
_FINAL: Final = event_pb2.TOURNAMENT_LANE_FINAL


@dataclass(frozen=True, slots=True)
class DrawnRound:
    """A round of a lane."""

    title: str  # its title within the lane
    duels: Sequence[event_pb2.TournamentDuel | None]  # its duels from top to bottom; None where no bot comes
    # "halves" if two neighbours lead to the same duel of the next round, "straight" if each leads to one, "nothing" in
    # the last round
    leads_to: str


@dataclass(frozen=True, slots=True)
class DrawnLane:
    """A part of the bracket with its title."""

    title: str
    rounds: Sequence[DrawnRound]


def lanes_of(shown: event_pb2.TournamentShown) -> list[DrawnLane]:
    """Return the lanes of a knock-out, from top to bottom."""
    size = 1
    while size < len(shown.standings):
        size *= 2
    lanes: dict[int, dict[int, list[event_pb2.TournamentDuel]]] = {}
    for duel in shown.duels:
        lanes.setdefault(duel.lane, {}).setdefault(duel.round, []).append(duel)
    return [_lane(lane, rounds, size) for lane, rounds in lanes.items()]


def round_title(lane: int, number: int, count: int) -> str:
    """Return the title of a round, counted from 1, in a lane of `count` rounds."""
    if lane == _FINAL:
        return gettext("Grand final") if number == 1 else gettext("Reset duel")
    if lane not in (_WINNERS, _LOSERS) and number >= count - 1:
        return gettext("Final") if number == count else gettext("Semi-finals")
    return gettext("Round %(number)s", number=number)


def _lane(lane: int, rounds: dict[int, list[event_pb2.TournamentDuel]], size: int) -> DrawnLane:
    titles: dict[int, str] = {
        _WINNERS: gettext("Winners' bracket"),
        _LOSERS: gettext("Losers' bracket"),
        _FINAL: pgettext("of a tournament", "The finals"),
    }
    count = max(rounds)
    drawn = []
    for number in range(1, count + 1):
        width = _width(lane, number, size)
        slots: list[event_pb2.TournamentDuel | None] = [None] * width
        for duel in rounds.get(number, ()):
            if duel.slot < width:
                slots[duel.slot] = duel
        following = _width(lane, number + 1, size)
        leads_to = "nothing" if number == count else "straight" if following == width else "halves"
        drawn.append(DrawnRound(round_title(lane, number, count), slots, leads_to))
    return DrawnLane(titles.get(lane, gettext("Bracket")), drawn)


def _width(lane: int, number: int, size: int) -> int:
    """Return the number of positions of a round, counted from 1."""
    if lane == _FINAL:
        return 1
    return max(1, size >> (2 + (number - 1) // 2 if lane == _LOSERS else number))
