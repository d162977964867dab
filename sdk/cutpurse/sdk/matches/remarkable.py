"""What makes a match worth looking at: an upset, a close end, a comeback, or a large steal.

An upset and a close end follow from a match as it is listed: from the pairing skills before it, and from its scores.
A comeback and a steal are in its record, which is played again in some hundredths of a second. This module knows no
page and no server.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import hypot
from statistics import NormalDist
from typing import Final

from cutpurse.games.awards import AwardKind, Awards, AwardUnit
from cutpurse.sdk.matches.award_matches import award_match
from cutpurse.sdk.matches.remark import Remark, RemarkKind
from cutpurse.v1 import ladder_pb2

__all__ = ["ranked", "record_remarks", "result_remark"]

_BETA: Final = 25 / 6  # spread of one performance, as in the skills of a ladder
_UPSET: Final = 1 / 3  # chance of the winner below which a result is an upset
_COMEBACK: Final = 1 / 3  # share of a match after which the winner was still last
_STEAL: Final = 2  # cards; one is stolen all the time
_AWARDS: Final = {AwardKind.COMEBACK: RemarkKind.COMEBACK, AwardKind.STEAL: RemarkKind.STEAL}


def result_remark(kind: RemarkKind, match: ladder_pb2.MatchShown) -> Remark | None:
    """Return an upset or a close end of a listed match; None if it is none."""
    seats = sorted((seat for seat in match.seats if seat.place), key=lambda seat: seat.place)
    if match.void_cause or not match.decisions or len(seats) < 2:
        return None
    if kind is RemarkKind.CLOSE:
        return Remark(kind, abs(seats[0].score - seats[1].score))
    chances = [
        _chance(winner.before, other.before)
        for winner in seats
        for other in seats
        if winner.place == 1 < other.place and winner.HasField("before") and other.HasField("before")
    ]
    return Remark(kind, min(chances)) if chances and min(chances) < _UPSET else None


def record_remarks(answer: ladder_pb2.GetMatchResponse, content: bytes) -> Mapping[RemarkKind, Remark]:
    """Return the comeback and the largest steal of a match, if it has any.

    Args:
        answer: The match.
        content: Its match file; empty if there is none.
    """
    if answer.match.void_cause:
        return {}
    awards = Awards()
    awards.add(award_match(answer, content, with_house=True))
    remarks = {
        _AWARDS[award.kind]: Remark(_AWARDS[award.kind], award.value, award.at, award.unit is AwardUnit.MONEY)
        for award in awards.best()
        if award.kind in _AWARDS
    }
    least = {RemarkKind.COMEBACK: _COMEBACK, RemarkKind.STEAL: _STEAL}
    return {kind: remark for kind, remark in remarks.items() if remark.value >= least[kind]}


def ranked(
    remarks: Iterable[tuple[ladder_pb2.MatchShown, Remark]],
) -> list[tuple[ladder_pb2.MatchShown, Remark]]:
    """Sort matches with a remark of one kind: the greatest first, steals and margins as compared within their game."""
    pairs = list(remarks)
    largest: dict[str, float] = {}
    for listed, remark in pairs:
        largest[listed.game] = max(largest.get(listed.game, 0.0), remark.value)

    def size(pair: tuple[ladder_pb2.MatchShown, Remark]) -> float:
        listed, remark = pair
        share = remark.value / (largest[listed.game] or 1)
        match remark.kind:
            case RemarkKind.UPSET:
                return remark.value
            case RemarkKind.CLOSE:
                return share
            case RemarkKind.COMEBACK:
                return -remark.value
            case RemarkKind.STEAL:
                return -share

    return sorted(pairs, key=lambda pair: (size(pair), -pair[0].number))


def _chance(skill: ladder_pb2.SkillShown, other: ladder_pb2.SkillShown) -> float:
    """Return the probability that a player of one skill is ahead of one of another."""
    spread = hypot(_BETA, _BETA, skill.sigma, other.sigma)
    return NormalDist(0, spread).cdf(skill.mu - other.mu)
