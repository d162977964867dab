"""Sample results to store: matches of four seats, with places, ties, faults and records drawn from a seed."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

from cutpurse.leaderboard.ratings import TrueSkill
from cutpurse.leaderboard.results import CompletedMatch, DealCommitment, SeatResult
from cutpurse.leaderboard.store import Store

__all__ = ["LADDER", "RATING", "VERSIONS", "places_of", "prepare", "random_result", "result"]

LADDER = "greed-main"
RATING = TrueSkill(draw_probability=0.05)
VERSIONS = 12
DAWN = datetime(2026, 11, 21, 6, 0, tzinfo=UTC)
DEAL = DealCommitment(commitment=b"c" * 32, seed=b"s" * 32, params=b'{"board":"b"}')


def prepare(store: Store) -> list[int]:
    """Create the ladder and twelve bots, and return the IDs of their versions."""
    store.ensure_ladder(LADDER, game="greed", seats=4, rating=RATING)
    return [store.ensure_version(f"owner {n % 5}", f"bot {n}", "1.0") for n in range(VERSIONS)]


def places_of(scores: list[int]) -> list[int]:
    """Compute places from scores: 1 plus the number of higher scores; ties share a place."""
    return [1 + sum(other > score for other in scores) for score in scores]


def result(match: str, versions: list[int], scores: list[int] | None = None, **other: object) -> CompletedMatch:
    """Create a result of these versions by seat, best first unless scores are given."""
    scores = list(range(len(versions), 0, -1)) if scores is None else scores
    seats = tuple(
        SeatResult(version, place, score, "normal")
        for version, place, score in zip(versions, places_of(scores), scores, strict=True)
    )
    fields: dict[str, object] = {
        "board": f"board of {match}",
        "ladder": LADDER,
        "rules": "1",
        "started": DAWN,
        "finished": DAWN + timedelta(seconds=3),
        "decisions": 100,
        "seats": seats,
        "deal": DEAL,
        "record": f'{{"match":"{match}"}}',
    }
    return CompletedMatch(match, **{**fields, **other})  # type: ignore[arg-type]  # fields by name


def random_result(number: int, versions: list[int]) -> CompletedMatch:
    """Create a result that depends only on `number`: four versions, some ties and faults, one in twenty is void."""
    rng = random.Random(number)
    seated = rng.sample(versions, 4)
    scores = [rng.randint(0, 6) for _ in seated]
    seats: tuple[SeatResult, ...]
    if rng.random() < 0.05:
        seats = tuple(SeatResult(version, None, None, "void_server") for version in seated)
        return result(f"m{number}", seated, seats=seats, void_cause="void_server", record=None)
    seats = tuple(
        SeatResult(version, place, score, "normal", faults=int(rng.random() < 0.1), thinking_ms=rng.randint(1, 9999))
        for version, place, score in zip(seated, places_of(scores), scores, strict=True)
    )
    return result(f"m{number}", seated, seats=seats, record="x" * rng.randint(1, 9999))
