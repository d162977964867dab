"""Whether a bot can play by the rules of a ladder now, and why not.

Tournaments, seasons and version tests ask here, when they are planned or started and while they are played. This module
knows no match and no clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.tokens import HOUSE
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.ladder_terms import may_play
from cutpurse.server.matches.roster import PairableBot

__all__ = ["AWAY", "why_not_ready"]

AWAY: Final = "is away"


def why_not_ready(
    bot: Identity,
    ladder: Ladder,
    here: Mapping[Identity, PairableBot],
    is_paused: Callable[[Identity], bool],
    *,
    is_requested: bool = False,
) -> str:
    """Return why a bot cannot play on a ladder now, as what follows its name: "is away"; empty if it can.

    Args:
        bot: The bot.
        ladder: The ladder.
        here: Online bots.
        is_paused: Returns whether a version is paused.
        is_requested: Whether others request its matches, which it can decline.
    """
    player = here.get(bot)
    if is_paused(bot):
        return "is paused"
    if player is None:
        return AWAY
    if not player.plays(ladder.game, ladder.name) or not (bot.owner == HOUSE or may_play(ladder, bot)):
        return f"does not play on {ladder.name}"
    if ladder.boards == "rotation" and not player.forgets:
        return "may remember cards, and so plays no rotations"
    if is_requested and player.declines_requests:
        return "declines matches that others request"
    return ""
