"""What a seat is worth now is what the rules would count, and says when hidden cards may change it."""

from __future__ import annotations

import pytest

from cutpurse.games import GAMES
from cutpurse.page.match_view.frames import frame, whole_view
from cutpurse.page.match_view.seat_worth import WORTH, Worth, leaders, seat_worth
from tests.engine.toy import Toy
from tests.properties.random_play import EVERY_GAME, RandomGame

MATCHES = 3  # of each game, with settings at random


@pytest.mark.parametrize("name", EVERY_GAME)
def test_at_the_end_each_seat_is_worth_its_score(name: str) -> None:
    rules = GAMES[name]
    for number in range(MATCHES):
        play = RandomGame(rules, rules.words.seats[number % len(rules.words.seats)], number)
        *_, game = play.play(play.begin())
        worths = [WORTH[name](whole_view(game), seat) for seat in range(game.n)]
        assert [worth.value for worth in worths] == game.scores(), play.name
        assert not any(worth.bound for worth in worths)


@pytest.mark.parametrize("name", EVERY_GAME)
def test_a_viewer_is_told_no_more_than_a_bound_of_what_it_cannot_see(name: str) -> None:
    play = RandomGame(GAMES[name], GAMES[name].usual_seats, 1)
    told = 0
    for game in play.play(play.begin()):
        whole = [WORTH[name](whole_view(game), seat) for seat in range(game.n)]
        for viewer in (None, 0):
            view = game.view(viewer)
            for seat, worth in enumerate(whole):
                seen = WORTH[name](view, seat)
                if not seen.bound:
                    assert seen == worth
                elif seen.bound == "at least":
                    assert seen.value <= worth.value
                else:
                    assert seen.value >= worth.value
                told += not seen.bound
    assert told > 20


@pytest.mark.parametrize("name", ["szmal", "stolen_treasure"])
def test_while_it_is_played_a_seat_is_worth_what_the_rules_would_count(name: str) -> None:
    play = RandomGame(GAMES[name], GAMES[name].usual_seats, 2)
    for game in play.play(play.begin()):
        assert [WORTH[name](whole_view(game), seat).value for seat in range(game.n)] == game.scores()


def test_packs_are_counted_before_the_game_is_over() -> None:
    play = RandomGame(GAMES["steal_and_plunder"], 4, 3)
    for game in play.play(play.begin()):
        if game.settings.changed().get("mode") is None:
            wanted = [game.money_of(seat) for seat in range(4)]  # type: ignore[attr-defined]  # of this game
            assert [WORTH["steal_and_plunder"](whole_view(game), seat).value for seat in range(4)] == wanted


def test_who_leads_is_alone_or_shares_the_lead_but_is_never_everybody() -> None:
    worths = [Worth(3, ""), Worth(5, ""), Worth(5, "")]
    assert leaders(worths) == {1, 2}
    assert leaders(worths[1:]) == frozenset()
    assert leaders([None, None]) == frozenset()


def test_a_game_without_a_function_has_no_worth() -> None:
    game = Toy.new(3)
    assert seat_worth(game.view(None), 0) is None
    assert not any(seat.is_leading for seat in frame(game.view(None), (), ["a", "b", "c"]).seats)


def test_counters_that_say_nothing_are_not_shown() -> None:
    game = GAMES["steal_and_plunder"].new(4)
    numbers = [number.name for seat in frame(game.view(None), (), list("abcd")).seats for number in seat.numbers]
    assert numbers == []
    series = GAMES["steal_and_plunder"].new(4, settings={"mode": "series"})
    series.total[2] = 50_000  # type: ignore[attr-defined]  # of this game
    seats = frame(series.view(None), (), list("abcd")).seats
    assert seats[2].worth == Worth(50_000, "$50,000")
    assert seats[2].numbers == ()  # its total is its worth
    assert [seat.is_leading for seat in seats] == [False, False, True, False]
