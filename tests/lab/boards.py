"""Played boards for tests."""

from __future__ import annotations

from cutpurse.lab.tournament.tournament_results import PlayedBoard, TournamentMatch

__all__ = ["board"]


def board(number: int, places: dict[int, int], score: int = 0, faults: dict[int, int] | None = None) -> PlayedBoard:
    """Create a board of one match, with places by bot."""
    match = TournamentMatch(tuple(places), tuple(places.values()), (score,) * len(places), ("normal",) * len(places))
    return PlayedBoard(number, tuple(places), (match,), faults or {})
