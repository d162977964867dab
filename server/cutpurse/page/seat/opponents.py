"""The opponents that a person is offered: house bots by strength, and bots of the league whose owners allow it.

This module knows no request and no seat.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cutpurse.engine.errors import CutpurseError
from cutpurse.page.language.speaking import gettext, gettext_noop
from cutpurse.page.league_client import Asking
from cutpurse.v1 import ladder_pb2

__all__ = ["STRENGTHS", "HouseOpponent", "LeagueOpponent", "beginners", "house_opponents", "league_opponents"]

# Built-in bots with what they do, the weakest first.
STRENGTHS: Final = (
    ("random", gettext_noop("easy"), gettext_noop("plays by chance")),
    ("greedy", gettext_noop("medium"), gettext_noop("takes what is best at the moment")),
    ("search", gettext_noop("hard"), gettext_noop("thinks ahead")),
    ("expert", gettext_noop("very hard"), gettext_noop("was trained, and thinks ahead")),
)
ORDER: Final = tuple(name for name, *_ in STRENGTHS)
MOST_BEGINNERS: Final = 2


@dataclass(frozen=True, slots=True)
class HouseOpponent:
    """A house bot as an opponent."""

    name: str  # its name
    level: str  # how strong it is, in a word; empty if that is not known
    text: str  # how it plays; empty likewise
    is_chosen: bool  # whether it is chosen unless the person chooses


def house_opponents(house: Sequence[str], chosen: Sequence[str]) -> list[HouseOpponent]:
    """List house bots, the weakest first, and those of unknown strength last."""
    words = {name: (gettext(level), gettext(text)) for name, level, text in STRENGTHS}
    return [HouseOpponent(bot, *words.get(bot, ("", "")), bot in chosen) for bot in _by_strength(house)]


def beginners(house: Sequence[str], counts: Sequence[int]) -> list[str]:
    """Return the opponents of a newcomer: the two weakest, or as many as the table sizes `counts` need."""
    if not counts:
        return []
    least, most = counts[0] - 1, counts[-1] - 1
    return _by_strength(house)[: max(least, min(most, MOST_BEGINNERS))]


def _by_strength(house: Sequence[str]) -> list[str]:
    return sorted(house, key=lambda bot: ORDER.index(bot) if bot in ORDER else len(ORDER))


@dataclass(frozen=True, slots=True)
class LeagueOpponent:
    """A bot of the league as an opponent."""

    name: str  # owner and name, such as "ann/sneak"
    bot: ladder_pb2.BotName  # owner and name, for its address
    ranking: ladder_pb2.Ranking | None  # its ranking on the ladder where it was rated most; None if it is not rated
    is_chosen: bool  # whether it is chosen unless the person chooses


def league_opponents(ask: Asking, game: str, chosen: Sequence[str] = ()) -> list[LeagueOpponent]:
    """List the bots of the league that people may pick now for a game, the best first and the chosen ones on top.

    Empty if the league does not answer.
    """
    try:
        ladders = {row.defined.name: row.has_hidden_results for row in ask.ladders() if row.defined.game == game}
        bots = {_named(bot.bot): bot for bot in ask.bots() if bot.takes_people and {*ladders} & {*bot.ladders}}
        rated_on = {name for bot in bots.values() for name in bot.ladders if ladders.get(name) is False}
        rankings = [ranking for ladder in sorted(rated_on) for ranking in ask.rankings(ladder)]
    except CutpurseError:
        return []
    best: dict[str, ladder_pb2.Ranking] = {}
    for ranking in sorted(rankings, key=lambda ranking: ranking.matches):
        best[_named(ranking.bot)] = ranking
    offers = [LeagueOpponent(name, bot.bot, best.get(name), name in chosen) for name, bot in bots.items()]
    return sorted(offers, key=lambda bot: (not bot.is_chosen, -bot.ranking.rating if bot.ranking else 0.0, bot.name))


def _named(bot: ladder_pb2.BotName) -> str:
    return f"{bot.owner}/{bot.bot}"
