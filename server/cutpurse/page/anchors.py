"""How strong a bot is, said by the built-in bots of the same ladder: "as strong as search".

The house bots are the same everywhere, so they are a measure that an author knows from home. This module knows no page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cutpurse.leaderboard.tokens import HOUSE
from cutpurse.page.language.speaking import gettext
from cutpurse.page.rating_display import better
from cutpurse.v1 import ladder_pb2

__all__ = ["anchors_of", "strength"]

_SURE: Final = 0.95


def anchors_of(rankings: Sequence[ladder_pb2.Ranking]) -> list[ladder_pb2.Ranking]:
    """List the placed house bots of a ranking, the weakest first."""
    anchors = [one for one in rankings if one.bot.owner == HOUSE and one.place and one.HasField("rating")]
    return sorted(anchors, key=lambda one: one.rating)


def strength(one: ladder_pb2.Ranking, anchors: Sequence[ladder_pb2.Ranking]) -> str:
    """Say how strong a placed bot is; empty for an anchor, without anchors, and for a bot without a place.

    A difference counts if it is real with 95 %. If a bot could be as strong as several anchors, the nearest is named.

    Args:
        one: The bot.
        anchors: What `anchors_of` returned.
    """
    if not anchors or not one.place or not one.HasField("rating") or one.bot.owner == HOUSE:
        return ""
    below = [anchor for anchor in anchors if better(one, anchor) >= _SURE]
    above = [anchor for anchor in anchors if better(anchor, one) >= _SURE]
    level = [anchor for anchor in anchors if anchor not in below and anchor not in above]
    if level:
        nearest = min(level, key=lambda anchor: abs(anchor.rating - one.rating))
        return gettext("as strong as %(bot)s", bot=nearest.bot.bot)
    if not above:
        return gettext("stronger than %(bot)s", bot=anchors[-1].bot.bot)
    if not below:
        return gettext("weaker than %(bot)s", bot=anchors[0].bot.bot)
    return gettext("between %(weaker)s and %(stronger)s", weaker=below[-1].bot.bot, stronger=above[0].bot.bot)
