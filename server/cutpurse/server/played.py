"""Which ladders a server plays: those of its database; and where there is none yet, one for each game.

This module knows no lobby and no command line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime

from cutpurse.engine.errors import UsageError
from cutpurse.games import GAMES
from cutpurse.leaderboard.queries import LadderEntry
from cutpurse.leaderboard.results import LadderTerms
from cutpurse.leaderboard.store import Store
from cutpurse.server.ladders import Ladder, default_ladders, ladder_of

__all__ = ["played"]


def played(store: Store, now: datetime, games: Sequence[str] = (), house: Sequence[str] = ()) -> list[Ladder]:
    """The ladders to be played, by name; those that had to be made are stored.

    games: only ladders of these, and a game of which there is none gets one; without them a database that has no
    ladder at all gets one for each game. house: house bots of the ladders that are named after their game and name no
    house bot themselves. Raises StoreError, and UsageError for a ladder that this version cannot play.
    """
    there = store.ladders()
    wanted = games or ((*GAMES,) if not there else ())
    missing = set(wanted) - {entry.game for entry in there}
    for ladder in default_ladders():
        if ladder.game in missing:
            _make(store, ladder, now)
    if house:
        _let_in(store, house)
    return [_ladder_of(entry) for entry in store.ladders() if not games or entry.game in games]


def _make(store: Store, ladder: Ladder, now: datetime) -> None:
    store.create_ladder(
        ladder.name,
        game=ladder.game,
        seats=ladder.seats,
        rating=ladder.rating,
        settings=ladder.settings,
        clock=asdict(ladder.control),
        terms=LadderTerms(),
        created=now,
    )


def _let_in(store: Store, house: Sequence[str]) -> None:
    for entry in store.ladders():
        if entry.name == entry.game and not entry.terms.house:
            store.change_ladder(entry.name, replace(entry.terms, house=tuple(house)))


def _ladder_of(entry: LadderEntry) -> Ladder:
    try:
        return ladder_of(entry)
    except (TypeError, UsageError) as problem:
        raise UsageError(f"ladder {entry.name} cannot be played by this version: {problem}") from None
