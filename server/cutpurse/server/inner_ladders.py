"""Inner ladders, on which only people on the page and house bots play, in matches that are requested and not rated.

No list, error or completion names inner ladders and their bots, unless they are asked for. The part `people` makes
them; a server without it leaves them alone.
"""

from __future__ import annotations

from cutpurse.leaderboard.results import LadderTerms
from cutpurse.leaderboard.tokens import HOUSE, PEOPLE
from cutpurse.wire.person_names import people_bot

__all__ = ["is_inner", "is_inner_bot"]


def is_inner(terms: LadderTerms) -> bool:
    """Return whether a ladder with these terms is inner."""
    return terms.owners == (PEOPLE,)


def is_inner_bot(owner: str, bot: str) -> bool:
    """Return whether a bot plays on inner ladders only: a person on the page, or a house bot for people."""
    return owner == PEOPLE or (owner == HOUSE and bot.startswith(people_bot("")))
