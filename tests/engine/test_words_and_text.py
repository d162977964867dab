"""The vocabulary of every game is whole, and every option, act and event reads as a sentence."""

from __future__ import annotations

import doctest
import inspect
import re
from importlib import import_module
from random import Random

import pytest

from cutpurse.engine.agenda import Act, Choice, Poll, Question
from cutpurse.engine.events import Asked, Counted, Happened, Moved, Placed, Scored, Shown, Shuffled
from cutpurse.engine.text import act_text, cards_text, event_text, option_text, zone_text
from cutpurse.engine.words import FACE_DOWN
from cutpurse.games import GAMES
from tests.builds import needs_pure
from tests.engine.toy import MOON, PACK, STAR, SUN, TAKE, WORDS, YES, empty_table
from tests.properties.random_play import RandomGame
from tests.roots import modules

ENGINE = [module.name for module in modules() if module.name.startswith("cutpurse.engine.")]


@pytest.mark.parametrize("name", ENGINE)
def test_the_examples_of_the_engine_run(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0


@needs_pure
def test_there_are_examples() -> None:
    assert sum(doctest.testmod(import_module(name)).attempted for name in ENGINE) >= 5


def test_cards_are_told_with_how_many_of_each() -> None:
    assert cards_text(WORDS, [SUN, MOON, SUN, FACE_DOWN, FACE_DOWN]) == "2 x Sun, Moon, 2 x card face down"
    assert cards_text(WORDS, []) == "nothing"


def test_a_zone_is_told_by_title_owner_and_number() -> None:
    toy = empty_table()
    pack = toy.make(PACK, 2)
    assert zone_text(toy, 0) == "the box"
    assert zone_text(toy, toy.deck.number) == "deck"
    assert zone_text(toy.view(1), toy.hand[1].number) == "hand of seat 1"
    assert zone_text(toy, pack.number) == f"pack {pack.number} of seat 2"
    assert zone_text(toy, 77) == "zone 77, which is gone"


def test_options_and_acts_are_sentences() -> None:
    toy = empty_table()
    assert option_text(toy, Act(TAKE)) == "take a card"
    assert option_text(toy, Act(YES, (STAR,), places=(2,))) == "show Star (place 2)"
    assert act_text(toy, Act(YES, (STAR,), actor=1)) == "seat 1 shows Star"
    assert act_text(toy.view(), Act(TAKE)) == "the table takes a card"


def test_every_event_is_a_sentence() -> None:
    toy = empty_table()
    hand, deck = toy.hand[0].number, toy.deck.number
    assert [
        event_text(toy, event)
        for event in (
            Happened(Act(TAKE, actor=2)),
            Moved(deck, hand, (SUN, FACE_DOWN)),
            Moved(0, deck, (SUN, SUN)),
            Shown(hand, (1, 2), (STAR,)),
            Shown(hand, (), (STAR,)),
            Shuffled(deck),
            Counted("cash", 12_000, 1),
            Counted("markers", 2, None, hand),
            Counted("rounds", 2),
            Placed(9, PACK.number, 1),
            Placed(9, 0, 1),
            Asked("window", (0, 1)),
            Scored(False, (1, 2000)),
            Scored(True, (1, 2)),
        )
    ] == [
        "seat 2 takes a card",
        "Sun, card face down: from deck to hand of seat 0",
        "2 x Sun: from the box to deck",
        "seat 1, seat 2 sees hand of seat 0: Star",
        "everybody sees hand of seat 0: Star",
        "deck is shuffled",
        "cash of seat 1: 12,000",
        "markers of hand of seat 0: 2",
        "rounds is 2",
        "pack 9 lies before seat 1",
        "purse of seat 2 is gone",
        "asked window: seat 0, seat 1",
        "counted up: 1, 2,000",
        "the end: 1, 2",
    ]


@pytest.mark.parametrize("name", GAMES)
def test_the_words_of_a_game_are_whole(name: str) -> None:
    words = GAMES[name].words
    assert words.game == name
    titles = [card.title for card in words.cards]
    assert len(set(titles)) == len(titles)
    for names in (
        [card.name for card in words.cards],
        [verb.name for verb in words.verbs],
        [kind.name for kind in words.zones],
        [counter.name for counter in (*words.table_counters, *words.seat_counters)],
    ):
        assert len(set(names)) == len(names), "a name is used twice"
        assert all(re.fullmatch(r"[a-z0-9_]+", name) for name in names), names
    assert words.verbs[0].name == "pass"
    for verb in words.verbs[1:]:
        assert verb.rule.startswith(words.prefix + "-"), f"{verb.name} names no rule"


@pytest.mark.parametrize("name", GAMES)
def test_every_step_opens_with_its_rule_and_every_question_is_put_in_words(name: str) -> None:
    rules = GAMES[name]
    assert rules.steps()
    for step in rules.steps().values():
        numbers = step.rule.split(", ")
        assert all(re.fullmatch(rf"{rules.words.prefix}-[\w.-]*\w", number) for number in numbers), (
            f"{step.__name__} cites no rule"
        )
        assert step.paragraph.strip().endswith("."), f"{step.__name__} does not say what happens"
        assert ["seat", *step.fields] == [*inspect.signature(step).parameters], f"{step.__name__} holds something else"
        if issubclass(step, Question):
            assert step.text, f"{step.__name__} asks nothing"
            assert bool(step.safe_paragraph) == (step.safe is not Question.safe), step.__name__
            carries_out = step.closed is not Poll.closed if issubclass(step, Poll) else False
            assert carries_out or (issubclass(step, Choice) and step.chosen is not Choice.chosen), step.__name__


@pytest.mark.parametrize("name", GAMES)
def test_whatever_is_offered_or_told_can_be_read(name: str) -> None:
    rules = GAMES[name]
    play = RandomGame(rules, rules.usual_seats, 1)
    game = play.begin(log=True)
    random = Random(name)
    for position in play.play(game):
        for seat in position.waiting():
            options = position.options(seat)
            view = position.view(seat)
            texts = [option_text(view, option) for option in options]
            assert len(set(texts)) == len(texts), f"{play}: two options read alike: {sorted(texts)}"
            assert not any(brace in text for text in texts for brace in "{}")
        for act in position.view(None).pending:
            assert act_text(position.view(None), act)
    for event in game.log or ():
        assert event_text(game, event.to(random.randrange(game.n + 1)))
