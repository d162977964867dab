"""What must be true as long as the server runs, each by the name of the exception that says it is not.

These stay on in production. Of a match they are looked at before anybody is told how it ended, and one that breaks them
is void by the server's fault; a stream or a session that does is ended; a result that is not settled is told to nobody.
The log gets an incident number and the name of what is broken, which is the type of the exception, and nobody gets a
card. That of the ledger is with the results, `StoreCorrupt`. This module knows no table and no stream.
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
    """What lies on the table is not what was in the box."""


class PlacesWrong(Exception):
    """Places and scores are not one for each seat, or places are not those of the cards with failed seats last."""


class FaultsWrong(Exception):
    """A seat has more faults than it may have, or its end cause says taken over and its faults do not, or reversed."""


class DecisionsUncounted(Exception):
    """A seat was left a choice more often than it has choices in the record, so an answer is lost."""


class SeatTaken(Exception):
    """A session sits on two seats of a match, or two streams speak for one session."""


class SeedEarly(Exception):
    """A match that counts was to be told, and its seed with it, before the store has its result."""


class QueueOverflow(Exception):
    """More waits than may wait."""


class ReasonUnknown(Exception):
    """A call was to end, or trouble to be told, for a reason that the protocol does not have."""


def check_seats(players: Sequence[object]) -> None:
    """Everybody sits at a table once.  Raises SeatTaken."""
    if len({id(player) for player in players}) < len(players):
        raise SeatTaken


def check_settled(is_void: bool, stored: Future[Any]) -> None:
    """Check that a result was stored before it is sent; a void match needs no result.  Raises SeedEarly."""
    if is_void:
        return
    if not stored.done() or stored.cancelled() or stored.exception() is not None:
        raise SeedEarly


def check_queue_limit(count: int, most: int) -> None:
    """Check that no more waits than may.  Raises QueueOverflow."""
    if count > most:
        raise QueueOverflow


def check_ended(match: Match, result: MatchResult) -> None:
    """Check a match.  Raises the exception named after what is broken; a void match has nothing to check."""
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
