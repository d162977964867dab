"""Names of people's seats that the page and its server share: ladders, bots, and the persons themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cutpurse.games import GAMES

__all__ = ["VOUCHER_KEY", "built_in_bot", "people_bot", "people_ladder", "person_bot", "seat_counts"]

VOUCHER_KEY: Final = "cutpurse-person"  # metadata: the page's token, beside that of the owner who plays in person

_PREFIX: Final = "people."


def people_ladder(game: str, seats: int) -> str:
    """Return the name of the ladder whose rules people play by at a table of this size: "people.greed.3"."""
    return f"{_PREFIX}{game}.{seats}"


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
