"""How people play on the page of a server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["PeopleSettings"]


@dataclass(frozen=True, slots=True)
class PeopleSettings:
    """How people play.

    Attributes:
        people: Number of people who may play at once.
        house: House bots that play with them.
        games: Games that they play; empty for all.
        of_one_address: Number of those from one address; 0 means half.
    """

    people: int
    house: Sequence[str]
    games: Sequence[str] = ()
    of_one_address: int = 0
