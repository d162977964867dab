"""The check of twin worlds finds leaks: each test here plants one into the real games and must see it caught.

Without these nothing would show that the check can fail at all.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from cutpurse.engine import events, knowledge
from cutpurse.engine.agenda import Option, Poll
from cutpurse.engine.events import Moved
from cutpurse.engine.game import Game
from cutpurse.engine.zones import Zone, bit
from cutpurse.games import GAMES
from cutpurse.games.greed import rules as greed
from tests.builds import needs_pure
from tests.properties.random_play import EVERY_GAME, RandomGame
from tests.properties.twin_worlds import Findings, Leak, check_game
from tests.properties.who_sees_what import table_of

pytestmark = needs_pure

PAIRS = 400
PAIRS_OF_A_RARE_POLL = 2_000  # the challenge of Bag-O-Loot comes at the end of a turn, and tells once in 330 pairs
HANDS = ("hand", "piracy_hand")  # in Stolen Treasure a hand is two zones, and its treasure mostly came openly


def leak_in(name: str, seats: int | None = None, pairs: int = PAIRS) -> str:
    """What the check finds in a game, and an error if it finds nothing in so many pairs."""
    findings = Findings()
    rules = GAMES[name]
    number = 0
    while findings.pairs < pairs:
        play = RandomGame(rules, seats or max(rules.usual_seats, rules.words.seats[0]), number)
        number += 1
        try:
            check_game(play.begin(log=True), table_of(name), Random(play.name), 8, 0.2, findings)
        except Leak as leak:
            return str(leak)
    pytest.fail(f"the leak planted in {name} was not found in {findings}")


def an_odd_hand(game: Game, seat: int) -> bool:
    """Something that only the owner of this hand may know."""
    hands: list[Zone] = next(getattr(game, name) for name in HANDS if hasattr(game, name))
    return sum(hands[seat].cards) % 2 == 1


@pytest.mark.parametrize("name", EVERY_GAME)
def test_a_hand_that_everybody_sees_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    as_written = Zone.seers_for

    def seers_for(zone: Zone, owner: int, everyone: int) -> int:
        return everyone if zone.kind.name in HANDS else as_written(zone, owner, everyone)

    monkeypatch.setattr(Zone, "seers_for", seers_for)
    assert leak_in(name)


def test_a_hand_that_the_left_neighbour_sees_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    as_written = Zone.seers_for

    def seers_for(zone: Zone, owner: int, everyone: int) -> int:
        sees = as_written(zone, owner, everyone)
        return sees | bit(0) if zone.kind.name in HANDS and owner == 1 else sees

    monkeypatch.setattr(Zone, "seers_for", seers_for)
    assert leak_in("stolen_treasure")


def test_an_event_with_a_face_too_many_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Moved, "to", lambda moved, viewer: moved)
    assert "is told" in leak_in("stolen_treasure")


def test_a_face_shown_to_the_spectator_alone_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    seats = GAMES["stolen_treasure"].usual_seats
    as_written = events._visible_cards

    def faces(cards: tuple[int, ...], masks: tuple[int, ...], viewer: int) -> tuple[int, ...]:
        return cards if viewer == seats else as_written(cards, masks, viewer)

    monkeypatch.setattr(events, "_visible_cards", faces)
    assert f"viewer {seats} is told" in leak_in("stolen_treasure", seats)


@pytest.mark.parametrize("name", EVERY_GAME)
def test_options_that_depend_on_a_hidden_hand_are_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    as_written = Game.options

    def options(game: Game, seat: int) -> list[Option]:
        offered = as_written(game, seat)
        return [*offered, offered[0]] if an_odd_hand(game, game.next_seat(seat)) else offered

    monkeypatch.setattr(Game, "options", options)
    assert "has different options" in leak_in(name)


def test_options_in_an_order_that_depends_on_a_hidden_hand_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    as_written = Game.options

    def options(game: Game, seat: int) -> list[Option]:
        offered = as_written(game, seat)
        return offered[::-1] if an_odd_hand(game, game.next_seat(seat)) else offered

    monkeypatch.setattr(Game, "options", options)
    assert "has different options" in leak_in("stolen_treasure")


def test_a_safe_option_that_depends_on_a_hidden_hand_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def safe_option(game: Game, seat: int, options: list[Option]) -> Option:
        return options[-1 if an_odd_hand(game, game.next_seat(seat)) else 0]

    monkeypatch.setattr(Game, "safe_option", safe_option)
    assert "has different safe options" in leak_in("stolen_treasure")


POLLS = [
    ("stolen_treasure", "AnyYarr"),
    ("bag_o_loot", "ChallengeTheBag"),
    ("szmal", "PickACard"),
    ("szmal", "ChooseACard"),
]


@pytest.mark.parametrize(("name", "poll_name"), POLLS)
def test_a_poll_that_asks_only_who_holds_a_card_is_found(
    name: str, poll_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    poll: Any = GAMES[name].steps()[poll_name]
    all_seats, with_all_answers = poll.seats, poll.closed

    def seats(step: Poll, game: Game) -> list[int]:
        asked: list[int] = all_seats(step, game)
        return [seat for seat in asked if an_odd_hand(game, seat)] or asked

    def closed(step: Poll, game: Game, answers: dict[int, Option]) -> None:
        for seat in all_seats(step, game):
            answers.setdefault(seat, step.options(game, seat)[0])
        with_all_answers(step, game, answers)

    monkeypatch.setattr(poll, "seats", seats)
    monkeypatch.setattr(poll, "closed", closed)
    assert "asked" in leak_in(name, pairs=PAIRS_OF_A_RARE_POLL).lower()


def test_greed_asking_who_can_only_if_a_hidden_hand_allows_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(step: greed.TakeATurn, g: greed.Greed) -> None:
        g.turns += 1
        g.then(greed.ChooseAVictim(step.seat))
        if an_odd_hand(g, step.seat):
            g.then(greed.PlayACard(step.seat))

    monkeypatch.setattr(greed.TakeATurn, "run", run)
    assert "in one world and of" in leak_in("greed")


def test_greed_counting_hidden_cards_aloud_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(step: greed.RefillTheVictim, g: greed.Greed) -> None:
        g.count("points", sum(g.hand[step.seat].cards), step.seat)

    monkeypatch.setattr(greed.RefillTheVictim, "run", run)
    assert "Counted" in leak_in("greed")


def test_a_card_remembered_after_it_left_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knowledge, "_strike", lambda zone, card, seers: seers)
    monkeypatch.setattr(knowledge, "_slip", lambda *note: None)
    assert "by the sheet" in leak_in("stolen_treasure")


def test_a_card_forgotten_that_never_left_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knowledge, "_add", lambda zone, cards, viewers: None)
    assert "by the sheet" in leak_in("stolen_treasure")


@pytest.mark.parametrize("name", ["bag_o_loot", "stolen_treasure"])
def test_a_clue_that_ends_with_the_move_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knowledge, "_install", lambda table, clue: None)
    assert "by the sheet" in leak_in(name)


def test_greed_a_look_that_is_not_the_lookers_alone_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    as_written = Game.show

    def show(game: Game, zone: Zone, seats: Any = None) -> None:
        as_written(game, zone, [*seats, game.next_seat(seats[0])])

    monkeypatch.setattr(Game, "show", show)
    assert leak_in("greed")
