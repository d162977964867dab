"""The rules of seasons: places in a division, who goes up and down, and when the matches of a season are enough.

* Places follow the ranking of the division's ladder. Equal ratings share a place. Bots without a rated match are last.
* After a season the last `down` bots of a division change places with the best ones of the next division. A bot that
  has left keeps its place, and is in no division afterwards.
* Free places in a division are filled: first by the best of the bots that would go down, then from the next division.
* The lowest division takes all others, newcomers too.

This module knows no match, no database and no clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from cutpurse.leaderboard.events import EventEntry
from cutpurse.leaderboard.queries import Ranking
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.seasons import SeasonBot, first_of_table
from cutpurse.leaderboard.tokens import HOUSE
from cutpurse.leaderboard.tournaments import TournamentBoardEntry
from cutpurse.server.ladder_config import DivisionMembers
from cutpurse.server.matches.roster import side_of
from cutpurse.server.parts.events.season_plan import SeasonPlan
from cutpurse.server.parts.events.tournament_rules import winner_of

__all__ = [
    "can_fill_match",
    "champion_of",
    "has_played_out",
    "members_of",
    "next_divisions",
    "season_table",
    "unknown_bots",
]


def season_table(
    plan: SeasonPlan, bots: Sequence[SeasonBot], rankings: Sequence[Sequence[Ranking]], *, is_last: bool = False
) -> list[SeasonBot]:
    """Return the bots of a season by division and place, and where each would go if the season ended now.

    Args:
        plan: The plan.
        bots: All bots of the season.
        rankings: The ranking of the ladder of each division.
        is_last: Whether no season follows, so that nobody goes anywhere.
    """
    table: list[SeasonBot] = []
    for division, ranking in enumerate(rankings, 1):
        groups: dict[tuple[str, str], tuple[int, Ranking]] = {}
        group, last = 0, None
        for number, entry in enumerate(ranking):
            equal = (entry.is_placed, entry.rating, 0 if entry.rating is not None else entry.matches)
            if equal != last:
                group, last = number, equal
            groups[entry.owner, entry.bot] = group, entry
        ordered = sorted(
            ((groups.get(bot.key, (len(ranking), None)), bot) for bot in bots if bot.division == division),
            key=lambda seated: (seated[0][0], seated[1].seed),
        )
        for (group, ranked), bot in ordered:
            place = 1 + sum(other < group for (other, _), _ in ordered)
            version, rating, matches = (
                (None, None, 0) if ranked is None else (ranked.version, ranked.rating, ranked.matches)
            )
            table.append(replace(bot, place=place, version=version, rating=rating, matches=matches, next_division=None))
    if is_last:
        return table
    goes = {key: division for division, members in enumerate(next_divisions(plan, table), 1) for key in members}
    return [replace(bot, next_division=goes.get(bot.key, 0)) for bot in table]


def next_divisions(plan: SeasonPlan, table: Sequence[SeasonBot]) -> list[list[tuple[str, str]]]:
    """Return the bots of the next season by division and seed, as owner and name.

    Args:
        plan: The plan.
        table: The bots of the season, by division and place.
    """
    count = len(plan.divisions)
    stay = [[bot.key for bot in table if bot.division == number and not bot.has_left] for number in range(1, count + 1)]
    crossing = [0]  # bots that go up into each division, and as many down out of it; none goes up into the first
    for upper, lower in zip(range(count - 1), range(1, count), strict=True):
        room = len(stay[upper]) - (crossing[upper] if upper else 1)  # the first of all stays in any case
        crossing.append(max(0, min(plan.divisions[upper].down, room, len(stay[lower]))))
    crossing.append(0)
    new: list[list[tuple[str, str]]] = []
    for number, members in enumerate(stay):
        up, down = crossing[number], crossing[number + 1]
        from_above = stay[number - 1][len(stay[number - 1]) - up :] if up else []
        from_below = stay[number + 1][:down] if down else []
        new.append([*from_above, *members[up : len(members) - down], *from_below])
    for number, division in enumerate(plan.divisions[:-1]):
        while len(new[number]) < division.size and (source := next(filter(None, new[number + 1 :]), None)):
            new[number].append(source.pop(0))
    return new


def unknown_bots(bots: Sequence[SeasonBot], rankings: Sequence[Sequence[Ranking]]) -> list[tuple[str, str]]:
    """List the bots in the ranking of the lowest division that are in none, as owner and name."""
    known = {bot.key for bot in bots}
    found = [(entry.owner, entry.bot) for entry in rankings[-1] if entry.owner != HOUSE]
    return [key for key in dict.fromkeys(found) if key not in known]


def champion_of(
    table: Sequence[SeasonBot], final: EventEntry | None, boards: Sequence[TournamentBoardEntry]
) -> Identity | None:
    """Return the bot that won a season: the winner of its final, or the first of its table; None if nobody played.

    Args:
        table: The final table of the season.
        final: Its final, which is over; None if there was none.
        boards: The boards of the final.
    """
    if final is not None and (winner := winner_of(final, boards)) is not None:
        return winner
    first = first_of_table(table)
    return None if first is None else Identity(*first.key, first.version or "")


def can_fill_match(plan: SeasonPlan, bots: Iterable[tuple[str, str]]) -> bool:
    """Return whether these bots of a division, each as owner and name, can fill a match with house bots."""
    sides = {side_of(Identity(*bot, "")) for bot in bots}
    return bool(sides) and len(sides) + len(plan.ladder.terms.house) >= plan.ladder.seats


def has_played_out(plan: SeasonPlan, bots: Sequence[SeasonBot], matches: Mapping[tuple[str, str], int]) -> bool:
    """Return whether each bot has played the matches after which the season ends.

    Bots that came late or have left don't count, nor do divisions that are too small to play.

    Args:
        plan: The plan.
        bots: All bots of the season.
        matches: Number of rated matches of each bot, by owner and name.
    """
    if not plan.matches:
        return False
    awaited: list[SeasonBot] = []
    for number in range(1, len(plan.divisions) + 1):
        members = [bot for bot in bots if bot.division == number]
        if can_fill_match(plan, [bot.key for bot in members if not bot.has_left]):
            awaited += [bot for bot in members if not bot.is_late and not bot.has_left]
    return bool(awaited) and all(matches.get(bot.key, 0) >= plan.matches for bot in awaited)


def members_of(plan: SeasonPlan, bots: Sequence[SeasonBot], division: int, *, is_waiting: bool) -> DivisionMembers:
    """Return the bots that the ladder of a division admits; the lowest one admits newcomers, too."""
    own = frozenset(bot.key for bot in bots if bot.division == division)
    others = frozenset(bot.key for bot in bots if bot.division != division)
    return DivisionMembers(own, others if division == len(plan.divisions) else None, is_waiting)
