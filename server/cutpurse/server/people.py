"""People who play on the page: their owner, their ladders, and the house bots that play with them.

People play requested matches, which are not rated, on ladders of their own with a gentle clock. House bots in processes
of their own sit at these tables, so that people take no table from the other ladders. A rated ladder may admit people
too, who then play as their owners; its clock must be one that people can live with. This module knows no process, no
ladder of a database and no page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cutpurse.engine.clocks import TimeControl
from cutpurse.games import GAMES
from cutpurse.leaderboard.comparisons import PLAIN
from cutpurse.leaderboard.tokens import PEOPLE

__all__ = [
    "CLOCK",
    "MAX_PEOPLE",
    "MIN_BASE_MS",
    "PEOPLE",
    "VOUCHER_KEY",
    "built_in_bot",
    "is_people_ladder",
    "people_bot",
    "people_ladder",
    "person_bot",
    "seat_counts",
    "why_no_people",
]

MAX_PEOPLE: Final = 128  # at once; measured by benchmarks/page_load.py with 100
CLOCK: Final = TimeControl(base_ms=90_000, bank_ms=900_000, grace_ms=1_000)

MIN_BASE_MS: Final = 20_000  # per decision on a rated ladder with people: to read the table and choose
VOUCHER_KEY: Final = "cutpurse-person"  # metadata: the page's token, beside that of the owner who plays in person

_PREFIX: Final = "people."


def people_ladder(game: str, seats: int) -> str:
    """Return the name of the ladder whose rules people play by at a table of this size: "people.greed.3"."""
    return f"{_PREFIX}{game}.{seats}"


def is_people_ladder(name: str) -> bool:
    """Return whether a ladder of this name is for people."""
    return name.startswith(_PREFIX)


def people_bot(bot: str) -> str:
    """Return the name under which a built-in bot plays with people: "people.greedy"."""
    return f"{_PREFIX}{bot}"


def built_in_bot(name: str) -> str:
    """Return the built-in bot that plays with people under this name."""
    return name.removeprefix(_PREFIX)


def person_bot(slot: int) -> str:
    """Return the name under which the person in a slot plays, counted from 0: "person-1"."""
    return f"person-{slot + 1}"


def seat_counts(game: str, house: Sequence[str]) -> list[int]:
    """List the table sizes at which one person can play a game with these house bots, each of them once."""
    return [seats for seats in GAMES[game].words.seats if 2 <= seats <= len(house) + 1]


def why_no_people(clock: TimeControl, boards: str, is_hosted: bool) -> str:
    """Explain why a ladder with this clock and these boards cannot admit people; return "" if it can.

    A person remembers cards and talks to friends, so nobody may meet the same cards twice or at two tables.
    """
    if is_hosted:
        return "its matches are played by workers, and people play on the page"
    if boards != PLAIN:
        return f"its boards are of kind {boards}, and people play plain ones, where no deal is seen twice"
    if clock.base_ms < MIN_BASE_MS:
        return f"base_ms is {clock.base_ms:,}, and people need at least {MIN_BASE_MS:,} for each decision"
    return ""
