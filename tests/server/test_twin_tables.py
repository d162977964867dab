"""Two tables that differ only in what a seat may not see send that seat the same bytes, and treat it alike.

A game is played at random; now and then the cards that are hidden from one seat are dealt anew (see
`tests.properties`), and a table is put on either state. Whether the seat is asked, what it is sent, what becomes of
every sort of answer, and when it is told must be the same at both.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from cutpurse.engine.clocks import TimedMatch
from cutpurse.engine.game import Game
from cutpurse.games import GAMES
from cutpurse.leaderboard.results import LadderTerms
from cutpurse.leaderboard.tokens import NOBODY
from cutpurse.server.ladder_config import Ladder
from tests.properties.random_play import RandomGame
from tests.properties.who_sees_what import table_of
from tests.server.small_world import BotThere, World

# Two that may be corrected: after a third the game goes on, and may bring to light what was hidden.
WRONG: list[tuple[int, int | None]] = [(0, None), (0, 10**20), (1, 0), (-1, 0), (10**20, 0), (1, None)]


class Silent(BotThere):
    """Looks and does not answer; what it was told, and when."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.was_ready: list[float] = []

    def ready(self, seat: Any) -> None:
        self.was_ready.append(self.world.now)
        super().ready(seat)


def seat_at(
    game: Game, name: str, viewer: int, monkeypatch: pytest.MonkeyPatch, *, people: bool = False
) -> tuple[World, Silent, Any]:
    """A table that begins in this state of a game, and the bot, or with `people` the person, on the viewer's seat."""

    def start(fresh: Game, log: bool = False) -> None:
        fresh.copy_from(game)
        fresh.chance = game.chance.fork()
        fresh.agenda[:] = game.agenda[:]
        fresh.log = list(game.log or ())

    with monkeypatch.context() as patched:
        patched.setattr(type(game), "start", start)
        terms = LadderTerms(admits_people=people)
        world = World([Ladder("it", name, game.n, game.settings.changed(), terms=terms)])
        named = [("person", f"owner{at}") if people else (f"bot{at}", NOBODY) for at in range(game.n)]
        bots = [Silent(world, bot, 1, agenda=True, owner=owner) for bot, owner in named]
        for bot in bots:
            world.lobby.enter(bot)
        world.lobby.tick(world.now)
    for bot in bots:
        (seat,) = bot.sat.values()
        if seat.seat == viewer:  # type: ignore[attr-defined]  # the concrete seat
            return world, bot, seat
    raise AssertionError("nobody sits there")


def probe(world: World, bot: Silent, seat: Any) -> list[object]:
    """All that a seat can learn at this moment, by looking and by trying."""
    found: list[object] = [seat.has_decision(), seat.started(), seat.decision(world.now), seat.ended()]
    found += [seat.answer(number, option, world.now) for number, option in WRONG]
    found += [seat.decision(world.now + 0.5), seat.give_up(3, "no such decision", world.now), bot.was_ready]
    found += [seat.answer(0, 0, world.now), seat.answer(0, 1, world.now)]
    return found


@pytest.mark.parametrize("name", list(GAMES))
def test_a_seat_is_sent_the_same_bytes_in_twin_worlds(name: str, soak: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = 1_000 if soak else 25
    pairs = asked = number = 0
    while pairs < wanted:
        random = Random(f"{name}/{number}")
        game = RandomGame(GAMES[name], random.choice(list(GAMES[name].words.seats)), number).begin(log=True)
        number += 1
        assert game.log is not None
        knowing = [table_of(name)(game, seat) for seat in range(game.n)]
        while waiting := game.waiting():
            for event in game.log[knowing[0].heard :]:
                for table in knowing:
                    table.hear(event)
            if not game.answers and random.random() < 0.05:
                viewer = random.randrange(game.n)
                twin = knowing[viewer].redeal(game, random)
                if twin is not None:
                    twin.log = game.log
                    mine = probe(*seat_at(game, name, viewer, monkeypatch))
                    theirs = probe(*seat_at(twin, name, viewer, monkeypatch))
                    assert mine == theirs
                    pairs += 1
                    asked += mine[0] is True
            seat = random.choice(waiting)
            game.choose(seat, random.choice(game.options(seat)))
    assert asked >= pairs * 0.1  # the seat was asked in so many, and looked on in the others


def test_a_leak_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def leaky(timed: TimedMatch, seat: int, now: float) -> tuple[int, int]:
        order = [card for zone in timed.match.game.zones() for card in zone.cards]
        return sum(place * card for place, card in enumerate(order)), 0

    game = RandomGame(GAMES["greed"], 3, 1).begin(log=True)
    (viewer,) = game.waiting()
    knowing = table_of("greed")(game, viewer)
    for event in game.log or ():
        knowing.hear(event)
    twin = knowing.redeal(game, Random(1))
    assert twin is not None
    twin.log = game.log
    assert probe(*seat_at(game, "greed", viewer, monkeypatch)) == probe(*seat_at(twin, "greed", viewer, monkeypatch))
    monkeypatch.setattr(TimedMatch, "time_left", leaky)
    assert probe(*seat_at(game, "greed", viewer, monkeypatch)) != probe(*seat_at(twin, "greed", viewer, monkeypatch))
