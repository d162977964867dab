"""The long run of the random games: a thousand a game and number of players, every check at every decision.

Each position is checked as it stands; then a fork of it and a loaded copy of its save take the same answer, and all
three must be in the same state. What one viewer may know is checked with a new viewer at each decision, in turn.
"""

from __future__ import annotations

import json
from collections import Counter

import pytest

from cutpurse.engine.chance import Chance
from cutpurse.engine.game import Game
from cutpurse.engine.imagine import imagine
from cutpurse.engine.words import FACE_DOWN
from cutpurse.games import GAMES
from tests.properties.random_play import EVERY_GAME, RandomGame, all_cards, answer_at_random
from tests.properties.test_random_games import DECISIONS_AT_MOST, counters_that_cannot_fall_below_zero

GAMES_EACH = 1000
AT_ONCE = 50  # games a case, so that the cases fill all cores
PLAYED_TO_THE_END = 0.005  # of the imagined states


CASES = [
    pytest.param(name, seats, first, id=f"{name}-{seats}-{first}")
    for first in range(0, GAMES_EACH, AT_ONCE)
    for name in EVERY_GAME
    for seats in GAMES[name].words.seats
]


def check_options(game: Game, who: object) -> None:
    waiting = game.waiting()
    assert waiting == sorted(set(waiting)), who
    for seat in waiting:
        options = game.options(seat)
        assert options, who
        assert len(set(options)) == len(options), who
        assert game.safe_option(seat, options) in options, who


def check_what_is_known(game: Game, viewer: int | None, who: object) -> None:
    for zone, picture in zip(game.zones(), game.view(viewer).zones, strict=True):
        assert (picture.number, picture.size) == (zone.number, len(zone.cards)), who
        if picture.cards:
            assert all(face in (FACE_DOWN, card) for face, card in zip(picture.cards, zone.cards, strict=True)), who
        elif picture.known:
            assert not Counter(picture.known) - Counter(zone.cards), f"{who}: {zone.kind.name} of {zone.owner}"
        assert zone.cards or not (picture.known or picture.maybe), who


def check_imagined(game: Game, viewer: int | None, box: list[int], rng: Chance, play: RandomGame) -> None:
    view = game.view(viewer)
    state = imagine(view, rng)
    again = state.view(viewer)
    assert (again.zones, again.counters, again.seat_counters, again.agenda) == (
        view.zones,
        view.counters,
        view.seat_counters,
        view.agenda,
    ), f"{play}, seen by {viewer}"
    assert all_cards(state) == box, f"{play}, seen by {viewer}"
    check_options(state, f"{play}, imagined by {viewer}")
    if play.random.random() < PLAYED_TO_THE_END:
        decisions = 0
        while state.waiting():
            decisions += 1
            assert decisions < DECISIONS_AT_MOST, play
            state.choose(*answer_at_random(state, play.random))
        assert all_cards(state) == box, play


def check_a_game(play: RandomGame) -> None:
    """Every check at every decision of one game."""
    seats = play.seats
    game = play.begin()
    box = sorted(game.box(seats, game.settings))
    rng = Chance(play.key)
    saved = game.save()
    while game.waiting():
        assert len(play.answers) < DECISIONS_AT_MOST, play
        assert all_cards(game) == box, play
        check_options(game, play)
        for counter, values in counters_that_cannot_fall_below_zero(game).items():
            assert min(values) >= 0, f"{play}: {counter} is {values}"
        viewers = [*range(seats), None]
        viewer = viewers[len(play.answers) % len(viewers)]
        check_what_is_known(game, viewer, play)
        check_imagined(game, viewer, box, rng, play)
        fork, loaded = game.fork(), type(game).load(json.loads(json.dumps(saved)))
        seat, option = answer_at_random(game, play.random)
        fork.choose(seat, option)
        loaded.choose(seat, option)
        assert game.save() == saved, f"{play}: a copy changed the original"
        game.choose(seat, option)
        play.answers.append((seat, option))
        saved = game.save()
        assert fork.save() == saved, f"{play}: the fork went on otherwise"
        assert loaded.save() == saved, f"{play}: the loaded save went on otherwise"
    assert all_cards(game) == box, play
    assert min(game.places()) == 1, play


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Let other runs than the long one collect one case, which they skip."""
    if "first" in metafunc.fixturenames:
        cases = CASES if metafunc.config.getoption("--soak") else CASES[:1]
        metafunc.parametrize(("name", "seats", "first"), cases)


@pytest.mark.soak
def test_a_thousand_games_with_every_check_at_every_decision(name: str, seats: int, first: int) -> None:
    for number in range(first, first + AT_ONCE):
        check_a_game(RandomGame(GAMES[name], seats, number))


# Matches of a stake for which no hand was imagined that could go on: what was laid is part of what explains no win.
@pytest.mark.parametrize(("name", "seats", "number"), [("stolen_treasure", 3, 990), ("stolen_treasure", 6, 121)])
def test_a_game_that_failed_once(name: str, seats: int, number: int) -> None:
    check_a_game(RandomGame(GAMES[name], seats, number))
