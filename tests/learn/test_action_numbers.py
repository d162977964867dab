"""Every option has a number of its own, which means the same in every position."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from cutpurse.engine.agenda import Option
from cutpurse.engine.errors import UsageError
from cutpurse.engine.view import View
from cutpurse.engine.words import FACE_DOWN, Visibility, Words
from cutpurse.games import GAMES
from cutpurse.learn import IllegalNumber, Space
from cutpurse.learn.action_numbers import ActionNumbers
from tests.engine.toy import Toy
from tests.learn.positions import Position, positions
from tests.properties.random_play import EVERY_GAME, EVERY_TABLE

DECISIONS = 200
DECISIONS_IN_SOAK = 100_000  # for each game and way to play


def meaning(view: View, option: Option) -> tuple[object, ...]:
    """Describe an option as the seat sees it, without ranks among equal things."""
    assert view.viewer is not None
    seat = None if option.seat is None else (option.seat - view.viewer) % view.seats
    if not option.zone:
        return option.verb, option.cards, seat
    zone = view.zone(option.zone)
    owner = zone.owner if zone.owner < 0 else (zone.owner - view.viewer) % view.seats
    number = () if zone.kind.visibility is Visibility.NOBODY else zone.counters
    return option.verb, option.cards, seat, zone.kind.name, owner, number


def faults(space: Space, position: Position, meanings: dict[int, tuple[object, ...]]) -> Iterator[str]:
    """Yield what is wrong with the numbers of a decision."""
    view, options = position.view, position.options
    numbers = space.option_numbers(view, options)
    if len(set(numbers)) != len(numbers):
        yield f"two of {options} share a number: {numbers}"
    if not 0 <= min(numbers) <= max(numbers) < space.actions:
        yield f"of {numbers} some are not below {space.actions}"
    if [int(number) for number in space.mask(view, options).nonzero()[0]] != sorted(numbers):
        yield f"the mask is not {sorted(numbers)}"
    for number, option in zip(numbers, options, strict=True):
        if space.option(view, options, number) is not option or space.number(view, option) != number:
            yield f"{option} does not come back from {number}"
        known = meanings.setdefault(number, meaning(view, option))
        if known != meaning(view, option):
            yield f"{number} means {known} and {meaning(view, option)}"


@pytest.mark.parametrize("greedy", [False, True], ids=["random", "greedy"])
@pytest.mark.parametrize(("name", "seats"), EVERY_TABLE)
def test_every_option_has_one_number_and_every_number_one_meaning(
    name: str, seats: int, greedy: bool, soak: bool
) -> None:
    space, meanings = Space(name, seats), dict[int, tuple[object, ...]]()
    count = DECISIONS_IN_SOAK // len(GAMES[name].words.seats) if soak else DECISIONS
    found = [fault for position in positions(name, seats, count, greedy) for fault in faults(space, position, meanings)]
    assert found == []
    assert len(meanings) > 20


def test_equal_cards_of_another_age_are_different_options() -> None:
    space, aged = Space("stolen_treasure", 4), 0
    for position in positions("stolen_treasure", 4, 600):
        copies = [option for option in position.options if option.places]
        faces = [(option.verb, option.cards, option.seat) for option in copies]
        if len(set(faces)) < len(faces):
            aged += 1
            rows = space.features(position.view, copies)
            assert len({tuple(row) for row in rows.tolist()}) == len(rows)
    assert aged > 0


@pytest.mark.parametrize("name", EVERY_GAME)
def test_rows_of_different_options_differ(name: str) -> None:
    seats = GAMES[name].usual_seats
    space = Space(name, seats)
    for position in positions(name, seats, 100):
        rows = space.features(position.view, position.options)
        assert rows.shape == (len(position.options), space.option_features)
        verbs = rows[:, : len(GAMES[name].words.verbs)]
        assert [*verbs.argmax(axis=1) + 1] == [option.verb for option in position.options]
        cards = [
            span for span in space.layout() if (span.array, span.what, span.part) == ("features", "option", "cards")
        ]
        for row, option in zip(rows, position.options, strict=True):
            assert row[cards[0].slice].sum() == len([card for card in option.cards if card != FACE_DOWN])


def test_a_number_that_is_not_offered_is_refused_with_what_is() -> None:
    space = Space("greed", 4)
    position = next(positions("greed", 4, 1))
    numbers = space.option_numbers(position.view, position.options)
    other = next(number for number in range(space.actions) if number not in numbers)
    with pytest.raises(IllegalNumber, match=f"^number {other} is not offered now; there are: {numbers[0]} '"):
        space.option(position.view, position.options, other)
    for beyond in (-1, space.actions):
        with pytest.raises(ValueError, match=f"^{beyond} is no number of greed with 4 seats, which has 0 to 192$"):
            space.option(position.view, position.options, beyond)


def test_a_game_that_does_not_declare_its_numbers_is_told_how(monkeypatch: pytest.MonkeyPatch) -> None:
    words = GAMES["greed"].words
    monkeypatch.setattr(words, "shapes", {})
    line = "verb trade names {number}, and its values are not declared; beside the verb say WORDS.shape(TRADE, numbers="
    with pytest.raises(UsageError, match=re.escape(line)):
        Space("greed", 4)


def test_an_option_beyond_what_is_declared_has_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    words = GAMES["greed"].words
    trade = words.verb_named("trade")
    space = Space("greed", 4)
    view = GAMES["greed"].new(4).view(0)
    assert space.number(view, Option(trade, number=7)) != space.number(view, Option(trade, number=6))
    with pytest.raises(UsageError, match=r"^an option of greed has no number: \(\d+, \(\), 0, None, 8, \(\), None\)$"):
        space.number(view, Option(trade, number=8))


def test_words_without_shapes_do_where_the_sentences_say_all() -> None:
    assert isinstance(Toy.words, Words)
    assert Toy.words.shapes == {}
    assert ActionNumbers(Toy, 3).size > 1
