"""What can be known is known: views and imagined worlds against the independent reasoner, at random moments."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from cutpurse.engine.chance import Chance, match_key
from cutpurse.engine.game import Game
from cutpurse.engine.imagine import imagine
from cutpurse.games import GAMES
from tests.properties.random_play import EVERY_GAME, RandomGame
from tests.properties.who_sees_what import WhoSeesWhat, table_of

MOMENTS = 24  # for each game
MOMENTS_IN_SOAK = 1000
WORLDS = 200
SHARE, DOUBTFUL_SHARE = 0.01, 0.1  # of the answers there is a moment before, and of those before which somebody doubts


def check_view(game: Game, table: WhoSeesWhat, where: str) -> None:
    """The view shows each certain card as known, and no other."""
    view = game.view(None if table.viewer == game.n else table.viewer)
    for zone in view.zones:
        assert zone.known == table.reasoner.certain(zone.number), f"{where}: {zone.kind.name} of {zone.owner}"


def check_worlds(game: Game, table: WhoSeesWhat, worlds: int, where: str) -> None:
    """Every imagined world is one of those that the reasoner finds possible."""
    view, rng = game.view(None if table.viewer == game.n else table.viewer), Chance(match_key(where, 0))
    for _ in range(worlds):
        state = imagine(view, rng)
        assert table.reasoner.agrees(table.hidden_in(state)), where


@pytest.mark.parametrize("name", EVERY_GAME)
def test_what_can_be_proved_is_known(name: str, soak: bool) -> None:
    wanted = MOMENTS_IN_SOAK if soak else MOMENTS
    table_of_viewer, dice, found = table_of(name), Random("reasoner/" + name), Counter[str]()
    number = 0
    while found["moments"] < wanted:
        seats = GAMES[name].words.seats
        play = RandomGame(GAMES[name], seats[number % len(seats)], number)
        number += 1
        game = play.begin(log=True)
        tables = [table_of_viewer(game, viewer) for viewer in range(game.n + 1)]
        for position in play.play(game):
            assert position.log is not None
            for event in position.log[tables[0].heard :]:
                for table in tables:
                    table.hear(event)
            doubtful = [table for table in tables if table.reasoner.parts]
            share = DOUBTFUL_SHARE if doubtful else SHARE
            if position.answers or dice.random() > share or found["moments"] == wanted:
                continue
            table = dice.choice(doubtful or tables)
            if table.reasoner.lost:
                found["lost"] += 1
                continue
            found["moments"] += 1
            found["doubts"] += bool(table.reasoner.parts)
            found["certain"] += any(faces.total() for faces in table.reasoner.sure.values())
            check_view(position, table, f"{play}, seen by {table.viewer}")
            check_worlds(position, table, WORLDS, f"{play}, seen by {table.viewer}")
    assert found["lost"] <= 2 * found["moments"], found  # in Bag-O-Loot random bots forfeit cards all the time
    if name != "greed":  # where every card leaves a hand openly
        assert found["doubts"] >= found["moments"] // 4, found
