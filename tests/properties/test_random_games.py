"""What holds in every position of every game, whatever is played: seeded random games at every number of players.

Checks that cost more than a move are made at a few of the decisions. The long run plays more games.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from cutpurse.engine.agenda import Act
from cutpurse.engine.chance import Chance
from cutpurse.engine.events import Happened, Scored
from cutpurse.engine.game import Game
from cutpurse.engine.imagine import imagine
from cutpurse.engine.match import Match
from cutpurse.engine.record import verify, write_record
from cutpurse.engine.words import FACE_DOWN, PASS_VERB, Unit
from cutpurse.games import GAMES
from tests.properties.random_play import EVERY_TABLE, RandomGame, all_cards, answer_at_random, canonical

GAMES_EACH = 20
GAMES_IN_SOAK = 300
TENTH = 0.1
AHEAD = 12  # decisions that copies are played on beside the original
DEALS = {"greed": "game", "steal_and_plunder": "game", "bag_o_loot": "round"}  # the counter of what may be several
SEALED = {"stolen_treasure": {"nullify", "surrender"}, "szmal": {"pick"}, "bag_o_loot": {"challenge"}}  # may not count
DECISIONS_AT_MOST = 200_000  # far above the longest game of any sheet: what does not end is found


def games(name: str, seats: int, soak: bool) -> list[RandomGame]:
    return [RandomGame(GAMES[name], seats, i) for i in range(GAMES_IN_SOAK if soak else GAMES_EACH)]


def sampled(play: RandomGame, game: Game, most: int = 15) -> Iterator[Game]:
    """The positions of a game where a costly check is made: a tenth of them, at most so many a game."""
    random = Random("sample/" + play.name)
    seen = 0
    for position in play.play(game):
        if seen < most and random.random() < TENTH:
            seen += 1
            yield position


def viewers(game: Game) -> list[int | None]:
    return [*range(game.n), None]


def leaves(value: Any) -> Iterator[Any]:
    """What a tuple of tuples holds."""
    if isinstance(value, Act):
        value = value.values()
    if isinstance(value, tuple):
        for part in value:
            yield from leaves(part)
    else:
        yield value


@pytest.mark.parametrize("name", list(GAMES))
def test_events_hold_plain_numbers(name: str) -> None:
    """Events that are equal are written alike: True would equal 1, and is another word of JSON."""
    kinds: Counter[str] = Counter()
    for number in range(10):
        play = RandomGame(GAMES[name], GAMES[name].usual_seats, number)
        game = play.begin(log=True)
        for _ in play.play(game):
            pass
        for event in game.log or ():
            kinds[type(event).__name__] += 1
            found = {type(leaf) for leaf in leaves(event[1:] if isinstance(event, Scored) else event)}
            assert found <= {int, str, type(None)}, event
            assert not isinstance(event, Scored) or type(event.over) is bool, event
    assert {"Happened", "Moved", "Asked"} <= set(kinds)


@pytest.mark.parametrize(("name", "seats"), EVERY_TABLE)
def test_each_deal_is_counted_up_once_and_the_last_ends_the_game(name: str, seats: int) -> None:
    for number in range(10):
        play = RandomGame(GAMES[name], seats, number)
        game = play.begin(log=True)
        for _ in play.play(game):
            pass
        assert game.log is not None
        counted = [event for event in game.log if isinstance(event, Scored)]
        deals = max(1, getattr(game, DEALS[name])) if name in DEALS else 1
        assert [event.over for event in counted] == [False] * (deals - 1) + [True], play
        assert game.log[-1] == Scored(True, tuple(game.scores())), play


@pytest.mark.parametrize(("name", "seats"), EVERY_TABLE)
def test_what_is_chosen_is_told_once(name: str, seats: int) -> None:
    """But for passing, and for what several choose at once and of which not all counts."""
    names = {verb.number: verb.name for verb in GAMES[name].words.verbs if verb.number != PASS_VERB}
    for number in range(10):
        play = RandomGame(GAMES[name], seats, number)
        game = play.begin(log=True)
        for _ in play.play(game):
            pass
        chosen = Counter(names[option.verb] for _, option in play.answers if option.verb != PASS_VERB)
        told = Counter(names.get(event.act.verb) for event in game.log or () if isinstance(event, Happened))
        for verb, times in chosen.items():
            if verb in SEALED.get(name, ()):
                assert told[verb] <= times, (play, verb)
            else:
                assert told[verb] == times, (play, verb)


def counters_that_cannot_fall_below_zero(game: Game) -> dict[str, list[int]]:
    """Counters by name, but for points: a score may be negative."""
    words = game.words
    values: dict[str, list[int]] = {}
    for counter in words.table_counters:
        if counter.unit is not Unit.POINTS:
            values[counter.name] = [getattr(game, counter.name)]
    for counter in words.seat_counters:
        if counter.unit is not Unit.POINTS:
            values[counter.name] = getattr(game, counter.name)
    for zone in game.zones():
        for counter, value in zip(zone.kind.counters, zone.counters, strict=False):
            if counter.unit is not Unit.POINTS:
                values.setdefault(f"{zone.kind.name}.{counter.name}", []).append(value)
    return values


@pytest.mark.parametrize(("name", "seats"), EVERY_TABLE)
def test_no_card_is_lost_and_whoever_waits_can_answer(name: str, seats: int, soak: bool) -> None:
    for play in games(name, seats, soak):
        game = play.begin()
        box = sorted(game.box(seats, game.settings))
        for position in play.play(game):
            assert len(play.answers) < DECISIONS_AT_MOST, play
            assert all_cards(position) == box, play
            waiting = position.waiting()
            assert waiting == sorted(set(waiting)), play
            for seat in waiting:
                options = position.options(seat)
                assert options, play
                assert len(set(options)) == len(options), f"{play}: an option is offered twice"
                assert position.safe_option(seat, options) in options, play
            for counter, values in counters_that_cannot_fall_below_zero(position).items():
                assert min(values) >= 0, f"{play}: {counter} is {values}"
        assert play.answers, play
        assert all_cards(game) == box, play
        assert game.waiting() == [], play
        assert len(game.scores()) == len(game.places()) == seats, play
        assert min(game.places()) == 1, play


def goes_on(game: Game, decisions: int, seed: str) -> list[Any]:
    """All that a game shows while it is played on at random: events, views and, last, its whole state."""
    random = Random(seed)
    shown: list[Any] = []
    game.log = []
    for _ in range(decisions):
        if not game.waiting():
            break
        seat, option = answer_at_random(game, random)
        game.choose(seat, option)
        shown.append(game.view(random.choice(viewers(game))).to_bytes())
    shown += [game.view(viewer).to_bytes() for viewer in viewers(game)]
    return [*shown, game.log, canonical(game.save())]


@pytest.mark.parametrize(("name", "seats"), EVERY_TABLE)
def test_a_fork_and_a_loaded_save_go_on_alike_and_leave_the_original_alone(name: str, seats: int, soak: bool) -> None:
    positions = 0
    for play in games(name, seats, soak)[::3]:
        for position in sampled(play, play.begin(), most=5):
            positions += 1
            saved = canonical(position.save())
            views = [position.view(viewer).to_bytes() for viewer in viewers(position)]
            loaded = type(position).load(json.loads(saved))
            assert canonical(loaded.save()) == saved, play
            assert [loaded.view(viewer).to_bytes() for viewer in viewers(loaded)] == views, play
            of_fork = goes_on(position.fork(), AHEAD, str(positions))
            of_loaded = goes_on(loaded, AHEAD, str(positions))
            assert of_fork == of_loaded, play
            assert canonical(position.save()) == saved, f"{play}: a fork changed the original"
            assert [position.view(viewer).to_bytes() for viewer in viewers(position)] == views, play
    assert positions >= GAMES_EACH // 3


@pytest.mark.parametrize(("name", "seats"), EVERY_TABLE)
def test_the_same_key_and_answers_give_the_same_events(name: str, seats: int, soak: bool) -> None:
    for play in games(name, seats, soak)[::5]:
        first = play.begin(log=True)
        for _ in play.play(first):
            pass
        again = play.begin(log=True)
        for seat, option in play.answers:
            again.choose(seat, option)
        assert again.log == first.log, play
        assert canonical(again.save()) == canonical(first.save()), play
        for event in first.log or ():
            everybody = [event.to(viewer) for viewer in range(seats + 1)]
            assert {type(told) for told in everybody} == {type(event)}, play


@pytest.mark.parametrize(("name", "seats"), EVERY_TABLE)
def test_the_record_of_a_match_is_verified(name: str, seats: int, soak: bool) -> None:
    for play in games(name, seats, soak)[::10]:
        match = Match(play.rules, [f"bot {i}" for i in range(seats)], play.key, play.settings, log=True)
        while decisions := match.decisions():
            decision = play.random.choice(decisions)
            if play.random.random() < 0.01:
                match.give_up(decision.seat, decision.number, "as it happens")
            else:
                match.answer(decision.seat, decision.number, play.random.choice(decision.options))
        line = write_record(match)
        assert len(verify(line, play.rules)) == 4, play


@pytest.mark.parametrize(("name", "seats"), EVERY_TABLE)
def test_an_imagined_state_fits_the_view_it_came_from(name: str, seats: int, soak: bool) -> None:
    finished = 0
    for play in games(name, seats, soak)[::2]:
        rng = Chance(play.key)
        for position in sampled(play, play.begin(), most=4):
            box = sorted(position.box(seats, position.settings))
            for viewer in viewers(position):
                view = position.view(viewer)
                state = imagine(view, rng)
                assert state.view(viewer).to_bytes() == view.to_bytes(), f"{play}, seen by {viewer}"
                assert all_cards(state) == box, f"{play}, seen by {viewer}"
                assert state.waiting(), f"{play}, seen by {viewer}"
                assert all(state.options(seat) for seat in state.waiting()), f"{play}, seen by {viewer}"
            random = Random(f"{play.name}/{len(play.answers)}")
            if random.random() < TENTH:
                state = imagine(position.view(random.choice(viewers(position))), rng)
                decisions = 0
                while state.waiting():
                    decisions += 1
                    assert decisions < DECISIONS_AT_MOST, play
                    state.choose(*answer_at_random(state, random))
                assert all_cards(state) == box, play
                finished += 1
    assert finished > 0


@pytest.mark.parametrize(("name", "seats"), EVERY_TABLE)
def test_what_a_viewer_knows_of_hidden_cards_is_true(name: str, seats: int, soak: bool) -> None:
    for play in games(name, seats, soak)[::3]:
        for position in sampled(play, play.begin()):
            for viewer in viewers(position):
                for zone, picture in zip(position.zones(), position.view(viewer).zones, strict=True):
                    who = f"{play}, seen by {viewer}: {zone.kind.name} of {zone.owner}"
                    assert picture.number == zone.number, who
                    assert picture.size == len(zone.cards), who
                    assert len(picture.cards) in (0, picture.size), who
                    shown = list(picture.cards) or [FACE_DOWN] * picture.size
                    assert all(face in (FACE_DOWN, card) for face, card in zip(shown, zone.cards, strict=True)), who
                    hidden = [card for face, card in zip(shown, zone.cards, strict=True) if face == FACE_DOWN]
                    assert not Counter(picture.known) - Counter(hidden), f"{who} {picture.known} in {hidden}"
                    assert not (hidden == [] and picture.maybe), f"{who}: nothing is hidden, and {picture.maybe} may be"
