"""Which bots of a plan cannot play now.

Plans of tournaments, seasons and version tests use it alike. This module knows no database.
"""

from __future__ import annotations

from collections.abc import Iterable

from cutpurse.leaderboard.results import Identity
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.league.messages import bot_name
from cutpurse.server.league.presence import Presence
from cutpurse.v1 import event_pb2

__all__ = ["absent_bots", "left_out"]


def absent_bots(
    bots: Iterable[Identity], ladder: Ladder, presence: Presence, *, is_requested: bool = False
) -> list[event_pb2.AbsentBot]:
    """List those of these bots that cannot play on a ladder now, and why; see `why_not_ready`."""
    found = ((bot, presence.why_not_ready(bot, ladder, is_requested)) for bot in bots)
    return [event_pb2.AbsentBot(bot=bot_name(*bot), why=why) for bot, why in found if why]


def left_out(owner: str, bot: str, version: str = "") -> event_pb2.AbsentBot:
    """Return a paused bot that a ranking would have seeded."""
    return event_pb2.AbsentBot(bot=bot_name(owner, bot, version), why="is paused and left out", is_left_out=True)
