"""Invariants of a running server, each named by the exception that reports its violation.

The checks run in production, too. A match is checked before its end is reported; a match that breaks an invariant is
void by the server's fault. A stream or session that breaks one is ended. An unsettled result is never reported. The log
gets an incident number and the type of the exception, and no card leaves the server. The ledger's invariant is the
leaderboard's `LedgerCorrupt`. This module knows no match in play and no stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from cutpurse.engine.match import FAULTS, EndCause, Match, MatchResult

__all__ = [
    "CardsLost",
    "DecisionsUncounted",
    "FaultsWrong",
    "PlacesWrong",
    "QueueOverflow",
    "ReasonUnknown",
    "SeatTaken",
    "SeedEarly",
    "check_ended",
    "check_seats",
    "check_settled",
    "check_queue_limit",
]


class CardsLost(Exception):
    """The cards of a game are no longer those of its box."""


class PlacesWrong(Exception):
    """Places or scores do not match the seats, or places do not follow from the cards with failed seats last."""


class FaultsWrong(Exception):
    """A seat has too many faults, or its end cause and its faults disagree about a takeover."""


class DecisionsUncounted(Exception):
    """A seat had a choice more often than the record has choices of it, so an answer is lost."""


class SeatTaken(Exception):
    """A session has two seats in a match, or two streams use one session."""


class SeedEarly(Exception):
    """The end of a match that counts, and its seed, would be reported before the result is stored."""


class QueueOverflow(Exception):
    """A queue exceeds its limit."""


class ReasonUnknown(Exception):
    """A reason for an error that the protocol does not have."""


def check_seats(players: Sequence[object]) -> None:
    """Check that no session sits in two seats.

    Raises:
        SeatTaken: If one does.
    """
    if len({id(player) for player in players}) < len(players):
        raise SeatTaken


def check_settled(is_void: bool, stored: Future[Any]) -> None:
    """Check that a result is stored before it is reported; a void match needs no stored result.

    Raises:
        SeedEarly: If it is not stored.
    """
    if is_void:
        return
    if not stored.done() or stored.cancelled() or stored.exception() is not None:
        raise SeedEarly


def check_queue_limit(count: int, most: int) -> None:
    """Check the length of a queue.

    Raises:
        QueueOverflow: If it exceeds `most`.
    """
    if count > most:
        raise QueueOverflow


def check_ended(match: Match, result: MatchResult) -> None:
    """Check a finished match; a void match has nothing to check.

    Raises:
        CardsLost: If cards are missing or extra.
        PlacesWrong: If places or scores are wrong.
        FaultsWrong: If faults and end causes disagree.
        DecisionsUncounted: If an answer is lost.
    """
    if result.voided:
        return
    game = match.game
    there: list[int] = []
    for zone in game.zones():
        there += zone.cards
    if sorted(there) != sorted(game.box(game.n, game.settings)):
        raise CardsLost
    if not len(result.scores) == len(result.places) == game.n:
        raise PlacesWrong
    chosen_by = [chosen.seat for chosen in match.choices]
    for seat, cause in enumerate(result.end_causes):
        faults = [fault.cause for fault in match.faults if fault.seat == seat]
        is_taken_over = (
            len(faults) == FAULTS
            or EndCause.DISCONNECTED in faults
            or any(taken.seat == seat for taken in match.taken_over)
        )
        if len(faults) > FAULTS or is_taken_over is not cause.is_taken_over:
            raise FaultsWrong
        if match.asked(seat) - match.lone_asked[seat] > chosen_by.count(seat):
            raise DecisionsUncounted
    card_places = game.places()
    playing = [seat for seat in range(game.n) if not result.end_causes[seat].is_taken_over]
    for seat, place in enumerate(result.places):
        ahead = len(playing)
        if seat in playing:
            ahead = sum(card_places[other] < card_places[seat] for other in playing)
        if place != 1 + ahead:
            raise PlacesWrong
