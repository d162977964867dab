"""Sample results to store: matches of four seats, with places, ties, faults and records drawn from a seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from cutpurse.leaderboard.ladders import NewLadder, ensure_ladder
from cutpurse.leaderboard.owner_registry import ensure_version
from cutpurse.leaderboard.queries import BotEntry, Ranking, SeatEntry
from cutpurse.leaderboard.ratings import TrueSkill
from cutpurse.leaderboard.results import Deal, FinishedMatch, FinishedSeat, Identity
from cutpurse.leaderboard.store import Store

__all__ = ["LADDER", "PLAYERS", "RATING", "add_version", "places_of", "player_of", "prepare", "random_result", "result"]

LADDER = "greed-main"
RATING = TrueSkill(draw_probability=0.05)
PLAYERS = [Identity(f"owner {n % 5}", f"bot {n}", "1.0") for n in range(12)]  # their versions have the IDs 1 to 12
DAWN = datetime(2026, 11, 21, 6, 0, tzinfo=UTC)
DEAL = Deal("b", commitment=b"c" * 32, seed=b"s" * 32, params=b'{"board":"b"}')


def prepare(store: Store) -> list[Identity]:
    """Create the ladder and twelve bots, and return their versions."""
    store.write(ensure_ladder, NewLadder(LADDER, game="greed", seats=4, rating=RATING))
    return [add_version(store, *player) for player in PLAYERS]


def add_version(store: Store, owner: str, bot: str, version: str) -> Identity:
    """Create a version that has not played yet, and return it."""
    store.write(ensure_version, owner, bot, version)
    return Identity(owner, bot, version)


def player_of(entry: BotEntry | Ranking | SeatEntry) -> Identity:
    """Return the version that a stored entry is of."""
    return Identity(entry.owner, entry.bot, entry.version)


def places_of(scores: list[int]) -> list[int]:
    """Compute places from scores: 1 plus the number of higher scores; ties share a place."""
    return [1 + sum(other > score for other in scores) for score in scores]


def result(
    match: str,
    players: Sequence[Identity],
    scores: list[int] | None = None,
    *,
    board: str | None = None,
    record: str | None = None,
    **other: object,
) -> FinishedMatch:
    """Create a result of these versions by seat, best first unless scores are given."""
    scores = list(range(len(players), 0, -1)) if scores is None else scores
    seats = tuple(
        FinishedSeat(player, place, score, "normal")
        for player, place, score in zip(players, places_of(scores), scores, strict=True)
    )
    line = f'{{"match":"{match}"}}' if record is None else record
    fields: dict[str, object] = {
        "ladder": LADDER,
        "rules": "1",
        "deal": DEAL._replace(board=f"board of {match}" if board is None else board),
        "started": DAWN,
        "finished": DAWN + timedelta(seconds=3),
        "decisions": 100,
        "seats": seats,
        "make_record": lambda: line,
    }
    return FinishedMatch(match, **{**fields, **other})  # type: ignore[arg-type]  # fields by name


def random_result(number: int, players: Sequence[Identity]) -> FinishedMatch:
    """Create a result that depends only on `number`: four versions, some ties and faults, one in twenty is void."""
    rng = random.Random(number)
    seated = rng.sample(players, 4)
    scores = [rng.randint(0, 6) for _ in seated]
    seats: tuple[FinishedSeat, ...]
    if rng.random() < 0.05:
        seats = tuple(FinishedSeat(player, None, None, "void_server") for player in seated)
        return result(f"m{number}", seated, seats=seats, void_cause="void_server", record="")
    seats = tuple(
        FinishedSeat(player, place, score, "normal", faults=int(rng.random() < 0.1), thinking_ms=rng.randint(1, 9999))
        for player, place, score in zip(seated, places_of(scores), scores, strict=True)
    )
    return result(f"m{number}", seated, seats=seats, record="x" * rng.randint(1, 9999))
