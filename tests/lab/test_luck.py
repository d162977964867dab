"""Luck-adjusted points: their mean is that of the points, whatever the value function says, and they vary less."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Sequence

import pytest

from cutpurse.engine.chance import Chance, match_key
from cutpurse.engine.game import Game
from cutpurse.engine.match import EndCause, Match
from cutpurse.engine.record import read_record, write_record
from cutpurse.games import GAMES, game_named
from cutpurse.lab import luck
from cutpurse.lab.luck import (
    LuckEvent,
    adjusted_points,
    luck_events,
    luck_events_of_record,
    luckiest,
    total_luck,
)
from cutpurse.lab.position_values import expected_points
from cutpurse.leaderboard.statistics.place_points import place_points
from cutpurse.sdk.bot import bot_makers
from cutpurse.sdk.playing.seating import play_match

SEED = "luck/1"
FAST_MATCHES = 40
SOAK_MATCHES = 10_000
MOST_ERRORS = 3.5  # standard errors from 0; of ten fair cases one lies beyond 2 in 40 of 100 runs
SEATS = {"steal_and_plunder": 3}  # two where the game allows it
SETTINGS: dict[str, dict[str, object]] = {"bag_o_loot": {"rounds": 1}}


def played(game: str, number: int, bot: str = "random", seats: int | None = None) -> Match:
    rules = game_named(game)
    makers = bot_makers([bot] * (seats or SEATS.get(game, 2)))
    names = [maker.name for maker in makers]
    match = Match(rules, names, match_key(SEED, number), SETTINGS.get(game), log=True)
    play_match(match, makers)
    return match


def played_by_numbers(game: str, number: int) -> Match:
    """Play a match of random answers without bots and their views, in a tenth of the time."""
    seats = SEATS.get(game, 2)
    draw = Chance(match_key("answers", number))
    match = Match(game_named(game), ["random"] * seats, match_key(SEED, number), SETTINGS.get(game))
    while (decision := match.decision()) is not None:
        match.answer(decision.seat, decision.number, draw.below(len(decision.options)))
    return match


def wrong(game: Game) -> list[float]:
    """Value a position by nonsense: loves crowded zones of the last seat, and the cards that nobody may see."""
    hidden = sum(zone.cards[-1] * zone.number for zone in game.fixed if zone.cards)
    return [(hidden % 97) * 0.02 * (seat + 1) for seat in range(game.n)]


def z_score(values: Sequence[float]) -> float:
    """Return how many standard errors the mean lies from 0."""
    mean = math.fsum(values) / len(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return mean / math.sqrt(variance / len(values))


def luck_by_two_values(game: str, matches: int) -> tuple[list[float], list[float]]:
    """Return the luck of seat 0 in each match, by the value function of the project and by the wrong one.

    Both value the same redraws, so each match is played once and played again once: to `luck_events`, the numbers of
    the wrong one are those of further seats.
    """

    def both(position: Game) -> list[float]:
        return [*expected_points(position), *wrong(position)]

    found: tuple[list[float], list[float]] = [], []
    for number in range(matches):
        match = played_by_numbers(game, number)
        seats = len(match.seats)
        luck = total_luck(luck_events(match, both, redraws=2), 2 * seats)
        found[0].append(luck[0])
        found[1].append(luck[seats])
    return found


@pytest.mark.parametrize("game", GAMES)
def test_the_mean_stays_whatever_the_value_function(game: str, soak: bool) -> None:
    by_value = luck_by_two_values(game, SOAK_MATCHES if soak else FAST_MATCHES)
    of_expected, of_wrong = [z_score(luck) for luck in by_value]
    sys.stdout.write(f"{game}: z = {of_expected:+.2f}, wrong value function {of_wrong:+.2f}\n")  # see pytest -rP
    assert abs(of_expected) < MOST_ERRORS
    assert abs(of_wrong) < MOST_ERRORS


def test_adjusted_points_are_the_points_without_the_luck() -> None:
    match = played("greed", 3)
    events = luck_events(match, wrong)
    expected = [
        points - luck for points, luck in zip(place_points(match.result().places), total_luck(events, 2), strict=True)
    ]
    assert adjusted_points(match.result(), events) == expected


def test_leaving_bad_luck_out_would_be_found() -> None:
    gifts = []
    for number in range(FAST_MATCHES):
        events = luck_events(played("stolen_treasure", number), expected_points, redraws=2)
        gifts.append(sum(event.luck[0] for event in events if event.luck[0] > 0))
    assert z_score(gifts) > MOST_ERRORS


def test_a_pile_shuffled_anew_has_every_order_equally_often() -> None:
    source = Chance(bytes(32))
    orders: Counter[tuple[int, ...]] = Counter()
    for _ in range(600):
        for stratum in luck._strata(source, 4):
            cards = [2, 1, 1, 3]
            luck._shuffle_anew(cards, stratum, source)
            orders[tuple(cards)] += 1
    assert len(orders) == 12
    expected = 2400 / 12
    assert sum((count - expected) ** 2 / expected for count in orders.values()) < 31.3  # 99.9 % of chi2 with 11


def test_every_redraw_takes_another_stratum_of_the_top_card() -> None:
    source = Chance(bytes(32))
    tops = []
    for stratum in luck._strata(source, 5):
        cards = [5, 4, 3, 2, 1]
        luck._shuffle_anew(cards, stratum, source)
        tops.append(cards[-1])
    assert sorted(tops) == [1, 2, 3, 4, 5]


def test_an_empty_pile_stays_empty() -> None:
    cards: list[int] = []
    luck._shuffle_anew(cards, 0.5, Chance(bytes(32)))
    assert cards == []


def test_the_deal_comes_first_and_only_chance_makes_events() -> None:
    match = played("szmal", 0)
    events = luck_events(match, expected_points)
    assert (events[0].choices, events[0].seat, events[0].option) == (0, None, None)
    # Szmal draws after the deal for few cards only.
    assert 1 <= len(events) < len(match.choices) / 4
    for event in events[1:]:
        assert match.choices[event.choices].option is not None


@pytest.mark.parametrize("game", GAMES)
def test_a_record_has_the_luck_of_its_match(game: str) -> None:
    match = played(game, 1)
    record = read_record(write_record(match))
    events = luck_events(match, expected_points, redraws=1)
    assert luck_events_of_record(record, game_named(game), expected_points, redraws=1) == events
    assert luck_events(match, expected_points, redraws=1) == events


def test_faults_and_a_taken_over_seat_are_played_again() -> None:
    match = Match(game_named("greed"), ["a", "b", "c"], bytes(32), log=True)
    for _ in range(5):
        decision = match.decision()
        assert decision is not None
        match.answer(decision.seat, decision.number, 0)
    match.take_over(1, EndCause.CRASHED, "gone")
    while (decision := match.decision()) is not None:
        match.answer(decision.seat, decision.number, len(decision.options) - 1)
    events = luck_events(match, lambda game: [0.0] * game.n if game.waiting() else place_points(game.places()))
    assert {event.choices for event in events} <= set(range(len(match.choices) + 1))
    assert match.result().places[1] == 3


def test_the_luck_of_all_seats_adds_up_to_nothing() -> None:
    match = played("greed", 2, seats=4)
    events = luck_events(match, expected_points, redraws=3)
    assert math.fsum(total_luck(events, 4)) == pytest.approx(0, abs=1e-9)
    assert math.fsum(adjusted_points(match.result(), events)) == pytest.approx(2)


def test_a_void_match_has_no_luck() -> None:
    match = Match(game_named("greed"), ["a", "b"], bytes(32), log=True)
    match.void(EndCause.VOID_SERVER)
    with pytest.raises(ValueError, match="void match"):
        luck_events(match, expected_points)


def test_no_redraws_are_refused() -> None:
    with pytest.raises(ValueError, match="needs at least 1"):
        luck_events(played("greed", 0), expected_points, redraws=0)


def test_luckiest_lists_the_greatest_gifts_of_a_seat() -> None:
    lucks = [(0.1, -0.1), (-0.3, 0.3), (0.2, -0.2), (0.0, 0.0), (0.05, -0.05)]
    events = [LuckEvent(number, number, None, None, each) for number, each in enumerate(lucks)]
    assert [event.choices for event in luckiest(events, 0)] == [2, 0, 4]
    assert [event.choices for event in luckiest(events, 1)] == [1]
