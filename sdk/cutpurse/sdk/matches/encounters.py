"""Head-to-head results of a league as the statistics of circles read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from cutpurse.leaderboard.statistics.circles import Encounter
from cutpurse.v1 import ladder_pb2

__all__ = ["encounters"]


def encounters(
    bots: Sequence[ladder_pb2.BotName], opponents: Callable[[ladder_pb2.BotName], Iterable[ladder_pb2.Opponent]]
) -> list[Encounter]:
    """Return the results of each pair of these bots that met, each bot by its place in `bots`.

    Args:
        bots: Different bots; their versions count together.
        opponents: Returns the opponents of a bot on the ladder.
    """
    index = {(bot.owner, bot.bot): at for at, bot in enumerate(bots)}
    pairs: dict[tuple[int, int], Encounter] = {}
    for (owner, name), at in index.items():
        for met in opponents(ladder_pb2.BotName(owner=owner, bot=name)):
            other = index.get((met.bot.owner, met.bot.bot), at)
            if other != at and met.matches and (other, at) not in pairs:
                pairs[at, other] = Encounter(at, other, met.matches, met.ahead, met.level)
    return list(pairs.values())
