"""The ladders on which people play: requested matches, which are not rated, with a gentle clock."""

from __future__ import annotations

from collections.abc import Sequence

from cutpurse.engine.clocks import PEOPLE_CLOCK
from cutpurse.games import GAMES
from cutpurse.leaderboard.results import LadderTerms
from cutpurse.leaderboard.tokens import PEOPLE
from cutpurse.server.ladder_config import NUMBERS, Ladder
from cutpurse.wire.person_names import people_bot, people_ladder, seat_counts

__all__ = ["people_ladders"]


def people_ladders(house: Sequence[str], games: Sequence[str] = ()) -> list[Ladder]:
    """Return the ladders on which people play these games with these house bots; by default all games."""
    terms = LadderTerms(owners=(PEOPLE,), house=tuple(people_bot(bot) for bot in house))
    return [
        Ladder(
            people_ladder(game, seats),
            game,
            seats,
            GAMES[game].set_up(seats, {}).changed(),
            PEOPLE_CLOCK,
            NUMBERS[game],
            terms=terms,
        )
        for game in games or GAMES
        if game in NUMBERS
        for seats in seat_counts(game, house)
    ]
