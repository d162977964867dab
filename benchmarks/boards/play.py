"""Matches of the real games between bots of different strength, in this process; deterministic for a seed.

A board is one deal, played once per seat, so that each bot has each seat once. Bots remember nothing from match to
match. So the board counts as a rotation board. It also counts as a duplicate board of bots with equal strength from
match to match, because each bot has the same seat in only one match.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Final, NamedTuple

from benchmarks.boards.players import bot_of
from cutpurse.engine.chance import match_key
from cutpurse.engine.match import Match
from cutpurse.games import GAMES
from cutpurse.leaderboard.parameter_fit import RankedMatch
from cutpurse.sdk.playing.seating import play_match

__all__ = ["COMPANIES", "Board", "boards", "outcomes", "points_of"]

COMPANIES: Final = {
    "wide": (0.0, 0.25, 0.5, 0.75, 1.0),
    "near": (0.8, 0.85, 0.9, 0.95, 1.0),
    "search": (0.9, 1.0, 4.0, 6.0, 8.0),
}  # strengths, as in `players`; each board leaves out one of them, in turn


class Board(NamedTuple):
    """The result of a board: points[match][bot] and seats[match][bot]; bots[i] is the strength of bot i."""

    bots: tuple[float, ...]
    seats: tuple[tuple[int, ...], ...]
    points: tuple[tuple[float, ...], ...]


def boards(game: str, company: str, count: int, seed: str) -> Iterator[Board]:
    """Play `count` boards.  Points are the share of opponents that ended behind; ties count half."""
    strengths = COMPANIES[company]
    order = Random(f"{seed}/{game}/{company}/order")
    for number in range(count):
        out = number % len(strengths)
        bots = [one for at, one in enumerate(strengths) if at != out]
        order.shuffle(bots)
        seats, points = [], []
        for turn in range(len(bots)):
            seat_of = [(at + turn) % len(bots) for at in range(len(bots))]
            seated = [bots[seat_of.index(seat)] for seat in range(len(bots))]
            places = _places(game, f"{seed}/board/{number}", seated, f"{seed}/{company}/{number}/{turn}")
            by_seat = points_of(places)
            seats.append(tuple(seat_of))
            points.append(tuple(by_seat[seat] for seat in seat_of))
        yield Board(tuple(bots), tuple(seats), tuple(points))


def outcomes(game: str, bots: Sequence[float], count: int, seed: str) -> Iterator[RankedMatch]:
    """Play `count` plain matches of randomly drawn bots, each with its own deal."""
    order = Random(f"{seed}/{game}/order")
    for number in range(count):
        players = order.sample(range(len(bots)), GAMES[game].usual_seats)
        seated = [bots[player] for player in players]
        places = _places(game, f"{seed}/match/{number}", seated, f"{seed}/{number}")
        yield RankedMatch(tuple(players), places)


def points_of(places: Sequence[int]) -> list[float]:
    """Compute the share of opponents that ended behind each bot; ties count half."""
    return [
        (sum(other > place for other in places) + (places.count(place) - 1) / 2) / (len(places) - 1) for place in places
    ]


def _places(game: str, deal: str, seated: Sequence[float], luck: str) -> tuple[int, ...]:
    """Play a match; return the places by seat.  Raises ValueError if a bot fails, as safe options must not count."""
    makers = [bot_of(strength, f"{game}/{luck}/{seat}") for seat, strength in enumerate(seated)]
    names = [f"bot {seat}" for seat in range(len(seated))]
    match = Match(GAMES[game], names, match_key(deal, 0), {}, log=True)
    result, failed, _ = play_match(match, makers)
    if failed:
        raise ValueError(f"{game}: {failed[0]}")
    return result.places
