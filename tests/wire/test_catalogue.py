"""The catalogue says everything that a game's words, steps and settings say."""

from __future__ import annotations

import os
import subprocess
import sys
from hashlib import sha256

import pytest

from cutpurse.engine.agenda import Poll, Question
from cutpurse.engine.errors import SettingsError
from cutpurse.engine.text import option_text
from cutpurse.games import GAMES
from cutpurse.games.rule_book import rules_markdown
from cutpurse.v1 import game_pb2
from cutpurse.wire.catalogue import catalogue_of, settings_on_the_wire, summary_of
from cutpurse.wire.encode import MatchEncoder
from tests.properties.random_play import EVERY_GAME, EVERY_TABLE, RandomGame

DIGESTS = """
from cutpurse.games import GAMES
from cutpurse.wire.catalogue import catalogue_of
print(*[catalogue_of(rules, seats).digest for rules in GAMES.values() for seats in rules.words.seats])
"""


@pytest.mark.parametrize("name", EVERY_GAME)
def test_every_word_of_the_game_is_in_it(name: str) -> None:
    rules = GAMES[name]
    words = rules.words
    catalogue = catalogue_of(rules)
    assert catalogue.game == summary_of(rules)
    assert (catalogue.game.game, catalogue.game.title, catalogue.game.rules_version) == (
        name,
        words.title,
        words.version,
    )
    assert range(catalogue.game.min_seats, catalogue.game.max_seats + 1) == words.seats
    assert [(c.name, c.title, c.text, c.sort, c.value, dict(c.traits)) for c in catalogue.cards] == [
        (card.name, card.title, card.text, card.sort, card.value, dict(card.traits)) for card in words.cards
    ]
    assert [(verb.name, verb.text, verb.option_text, verb.rule) for verb in catalogue.verbs] == [
        (verb.name, verb.text, verb.option_text, verb.rule) for verb in words.verbs
    ]
    assert [verb.number for verb in words.verbs] == [*range(1, len(catalogue.verbs) + 1)]
    for told, kind in zip(catalogue.zone_kinds, words.zones, strict=True):
        assert (told.name, told.title, told.text) == (kind.name, kind.title, kind.text)
        assert game_pb2.Visibility.Name(told.visibility) == f"VISIBILITY_{kind.visibility.name}"
        assert (told.ordered, told.many, told.per_seat) == (kind.ordered, kind.many, kind.per_seat)
    for list_told, counters in [
        (catalogue.table_counters, words.table_counters),
        (catalogue.seat_counters, words.seat_counters),
        *[(told.counters, kind.counters) for told, kind in zip(catalogue.zone_kinds, words.zones, strict=True)],
        *[(told.columns, kind.columns) for told, kind in zip(catalogue.zone_kinds, words.zones, strict=True)],
    ]:
        assert [(one.name, one.text, game_pb2.Unit.Name(one.unit)) for one in list_told] == [
            (one.name, one.text, f"UNIT_{one.unit.name}") for one in counters
        ]
    assert catalogue.rules == rules_markdown(rules)


@pytest.mark.parametrize("name", EVERY_GAME)
def test_every_step_and_question_of_the_game_is_in_it(name: str) -> None:
    rules = GAMES[name]
    catalogue = catalogue_of(rules)
    steps = rules.steps()
    assert sorted(step.name for step in catalogue.steps) == sorted(steps)
    questions = {step.name: step for step in steps.values() if issubclass(step, Question)}
    assert sorted(ask.name for ask in catalogue.asks) == sorted(questions)
    for ask in catalogue.asks:
        question = questions[ask.name]
        assert (ask.text, ask.rule, ask.sealed) == (question.text, question.first_rule(), issubclass(question, Poll))
    for step in catalogue.steps:
        assert step.rule.startswith(rules.words.prefix + "-")
        assert step.rule == steps[step.name].rule.split(", ")[0]
        assert [number.removesuffix("...") for number in step.numbers] == ["seat", *steps[step.name].fields]


@pytest.mark.parametrize(("name", "seats"), EVERY_TABLE)
def test_copies_are_those_of_the_table(name: str, seats: int) -> None:
    rules = GAMES[name]
    box = rules.box(seats, rules.check(seats, {}))
    copies = [card.copies for card in catalogue_of(rules, seats).cards]
    assert copies == [box.count(number) for number in range(1, len(rules.words.cards) + 1)]
    assert sum(copies) == len(box)


@pytest.mark.parametrize("name", EVERY_GAME)
def test_settings_are_told_with_what_they_are_set_to(name: str) -> None:
    rules = GAMES[name]
    kinds = rules.settings_type.kinds()
    plain = {kind.name: kind for kind in catalogue_of(rules).settings}
    assert list(plain) == list(kinds)
    for setting, told in plain.items():
        kind = kinds[setting]
        assert (told.text, told.rule, told.allowed) == (kind.text, kind.rule, kind.allowed())
        assert told.value == told.default_value
        assert list(told.values) == [*kind.values, *kind.names]
        assert (told.min if told.HasField("min") else None) == kind.least
        assert (told.max if told.HasField("max") else None) == kind.most
        rules.check(rules.usual_seats, {setting: told.default_value})  # what is told can be said


def test_settings_change_what_they_should() -> None:
    greed, treasure, plunder = GAMES["greed"], GAMES["stolen_treasure"], GAMES["steal_and_plunder"]
    none = catalogue_of(greed, 4, {"specials": "none"})
    assert {card.copies for card in none.cards if card.traits["special"]} == {0}
    assert next(kind.value for kind in none.settings if kind.name == "specials") == "none"
    priced = catalogue_of(treasure, 4, {"values": "ruby:310"})
    value = {card.name: card.value for card in priced.cards}
    printed = {card.name: card.value for card in catalogue_of(treasure, 4).cards}
    assert value == printed | {"ruby": 310}
    assert priced.rules == catalogue_of(treasure, 4).rules
    small = catalogue_of(plunder, 3, {"small_deck": True})
    assert sum(card.copies for card in small.cards) == 85
    digests = [
        catalogue.digest
        for catalogue in (
            *[catalogue_of(greed, 4), none, catalogue_of(greed, 3)],
            *[priced, catalogue_of(treasure, 4), small, catalogue_of(plunder, 3)],
        )
    ]
    assert len(set(digests)) == len(digests)
    assert all(len(digest) == 64 for digest in digests)


def test_one_question_has_one_catalogue_however_it_is_put() -> None:
    rules = GAMES["greed"]
    one = catalogue_of(rules, 4, {"specials": "rich", "max_rounds": 60, "first_seat": "2"})
    other = catalogue_of(rules, None, {"first_seat": 2, "specials": "rich"})
    assert one is other
    settings = rules.check(4, {"first_seat": 2, "specials": "rich"})
    assert MatchEncoder(rules, settings, 4).digest == one.digest
    asked_for = {setting.name: setting.value for setting in settings_on_the_wire(settings)}
    assert asked_for == {"specials": "rich", "first_seat": "2"}
    assert catalogue_of(rules, 4, asked_for) is one


def test_what_the_game_does_not_have_is_refused_with_what_it_has() -> None:
    with pytest.raises(SettingsError, match="for 2 to 5 players, not 9"):
        catalogue_of(GAMES["greed"], 9)
    with pytest.raises(SettingsError, match="standard, none, rich"):
        catalogue_of(GAMES["greed"], 4, {"specials": "all"})


def test_the_digest_is_that_of_the_catalogue_without_it() -> None:
    copy = game_pb2.Catalogue()
    copy.CopyFrom(catalogue_of(GAMES["szmal"]))
    digest, copy.digest = copy.digest, ""
    assert sha256(copy.SerializeToString(deterministic=True)).hexdigest() == digest


def test_two_processes_agree_on_the_digests() -> None:
    told = []
    for seed in ("0", "4711"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        run = subprocess.run(
            [sys.executable, "-c", DIGESTS], capture_output=True, text=True, check=True, env=environment
        )
        told.append(run.stdout.split())
    here = [catalogue_of(rules, seats).digest for rules in GAMES.values() for seats in rules.words.seats]
    assert told == [here, here]


@pytest.mark.parametrize("name", EVERY_GAME)
def test_an_option_can_be_told_by_the_catalogue_alone(name: str) -> None:
    """As a program without our code would print it: the sentence of the verb with the titles of the cards."""
    rules = GAMES[name]
    catalogue = catalogue_of(rules)
    play = RandomGame(rules, rules.usual_seats, 0)
    told = 0
    for game, _ in zip(play.play(play.begin()), range(40), strict=False):
        for option in game.options(game.waiting()[0]):
            if option.zone == 0 and len(option.cards) <= 1 and not option.places:
                sentence = catalogue.verbs[option.verb - 1].option_text.format(
                    cards="".join(catalogue.cards[card - 1].title for card in option.cards),
                    seat=f"seat {option.seat}",
                    number=f"{option.number:,}",
                )
                assert sentence == option_text(game, option)
                told += 1
    assert told > 10
