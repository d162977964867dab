"""Which ladders a server plays: those of its database; and where there is none yet, one for each game.

This module knows no lobby and no command line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from cutpurse.engine.clocks import TimeControl
from cutpurse.engine.errors import UsageError
from cutpurse.games import GAMES
from cutpurse.leaderboard.queries import LadderEntry
from cutpurse.leaderboard.ratings import TrueSkill
from cutpurse.leaderboard.store import Store
from cutpurse.server.ladders import Ladder, default_ladders

__all__ = ["played"]


def played(store: Store, games: Sequence[str] = ()) -> list[Ladder]:
    """The ladders to be played, by name; those that had to be made are stored.

    games: only ladders of these, and a game of which there is none gets one; without them a database that has no
    ladder at all gets one for each game. Raises StoreError, and UsageError for a ladder that this version cannot play.
    """
    there = store.ladders()
    wanted = games or ((*GAMES,) if not there else ())
    missing = set(wanted) - {entry.game for entry in there}
    for ladder in default_ladders():
        if ladder.game in missing:
            _make(store, ladder)
    return [_ladder_of(entry) for entry in store.ladders() if not games or entry.game in games]


def _make(store: Store, ladder: Ladder) -> None:
    store.ensure_ladder(
        ladder.name,
        game=ladder.game,
        seats=ladder.seats,
        rating=TrueSkill(draw_probability=ladder.ties),
        settings=ladder.settings,
        clock=asdict(ladder.control),
    )


def _ladder_of(entry: LadderEntry) -> Ladder:
    try:
        control = TimeControl(**entry.clock)
        return Ladder(entry.name, entry.game, entry.seats, entry.settings, control, entry.rating.draw_probability)
    except (TypeError, UsageError) as problem:
        raise UsageError(f"ladder {entry.name} cannot be played by this version: {problem}") from None
