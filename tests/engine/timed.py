"""A toy match with clocks, for transcripts."""

from __future__ import annotations

from cutpurse.engine.clocks import TimeControl, TimedMatch
from cutpurse.engine.match import Match
from tests.engine.toy import STAR, Toy

__all__ = ["HUGE", "KEY", "NO_BANK", "PASS", "YES", "toy"]

KEY = bytes(range(32))
NO_BANK = TimeControl(bank_ms=0)
YES, PASS = 0, 1  # options of the toy's decision whether to take a card
HUGE = 10**5000


def toy(
    control: TimeControl | None = None,
    rounds: int = 9,
    seats: int = 2,
    hold_polls: bool = False,
    stars: str = "",
    now: float = 0.0,
) -> TimedMatch:
    """Create a timed toy match; the seats in `stars` hold a star, as if they had drawn it."""
    match = Match(Toy, [f"bot {i}" for i in range(seats)], KEY, {"rounds": rounds}, log=True, hold_polls=hold_polls)
    for seat in map(int, stars):
        match.game.move(STAR, match.game.deck, match.game.hand[seat])  # type: ignore[attr-defined]  # a toy
    return TimedMatch(match, control or TimeControl(), now)
