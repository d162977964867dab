"""The round trips find faults: each test here plants one and must see it caught."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cutpurse.engine.agenda import Act
from cutpurse.engine.view import View
from cutpurse.games import GAMES
from cutpurse.wire import decode, phrase_cache
from cutpurse.wire.encode import MatchEncoder
from cutpurse.wire.numbering import Numbering, numbering_of
from cutpurse.wire.phrase_cache import _BODY, PhraseCache
from tests.builds import needs_pure
from tests.properties.random_play import EVERY_GAME, RandomGame
from tests.wire.round_trip import RoundTrip, check_game, plant_bytes_kept_for_all

pytestmark = needs_pure


def is_found_in(name: str, games: int = 6) -> bool:
    """Whether the round trips of a few games fail."""
    for number in range(games):
        try:
            check_game(name, GAMES[name].usual_seats, number, 0.3, 20)
        except (AssertionError, ValueError, IndexError):
            return True
    return False


@pytest.mark.parametrize("name", EVERY_GAME)
def test_nothing_is_found_where_nothing_is_planted(name: str) -> None:
    assert not is_found_in(name)


def counted_backwards(view: View) -> View:
    rules, settings, seats, viewer, counters, *others = view.values()
    return View(rules, settings, seats, viewer, counters[::-1], *others)


def test_counters_of_the_table_in_another_order_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    as_written = MatchEncoder.observation
    monkeypatch.setattr(
        MatchEncoder,
        "observation",
        lambda self, view, agenda: as_written(self, counted_backwards(view), agenda),
    )
    assert is_found_in("szmal")


def test_a_counter_of_another_place_in_an_event_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    as_written = Numbering.counters

    def counters(self: Numbering, *about: Any) -> list[Any]:
        found = list(as_written(self, *about))
        return [*found[1:], *found[:1]] if len(found) > 1 else found * 2

    monkeypatch.setattr(Numbering, "counters", counters)
    assert is_found_in("szmal", games=30)  # in Greed numbers change at the end of a tournament's game only


def test_the_picture_of_another_viewer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes kept for everybody, so that who looks second is shown what the first may see."""
    plant_bytes_kept_for_all(monkeypatch)
    assert is_found_in("szmal")


def test_a_hidden_face_in_an_event_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PhraseCache, "event", lambda self, event, viewer: _BODY[type(event)](self, event))
    assert is_found_in("szmal")


def test_an_event_kept_for_all_that_only_one_may_see_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    as_written = PhraseCache._made
    monkeypatch.setattr(PhraseCache, "_made", lambda self, event: as_written(self, event)[:1] * (self.seats + 1))
    assert is_found_in("szmal")


def test_a_forgotten_event_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    as_written = MatchEncoder.events
    monkeypatch.setattr(
        MatchEncoder, "events", lambda self, number, events, viewer: as_written(self, number, events[1:], viewer)
    )
    assert is_found_in("szmal")


@pytest.mark.parametrize("name", EVERY_GAME)
@pytest.mark.parametrize("planted", [{"seat": None}, {"zone": 0}, {"cards": ()}, {"number": 7}, {"places": (0,)}])
def test_a_lost_or_wrong_field_of_an_option_is_found(
    name: str, planted: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    as_written = phrase_cache.act_body
    used: list[Act] = []

    def act_body(act: Act) -> bytes:
        wrong = Act(**{name: getattr(act, name) for name in Act.__slots__} | planted)
        used.extend([act] if wrong != act else [])
        return as_written(wrong)

    monkeypatch.setattr(phrase_cache, "act_body", act_body)
    found = is_found_in(name)
    assert found == bool(used)
    assert found or next(iter(planted)) in ("zone", "seat")  # not every game has options about a zone or a seat


def test_a_zone_before_the_wrong_seat_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The decoder puts what lies before a seat before its neighbour."""
    as_written = decode._zone
    monkeypatch.setattr(
        decode, "_zone", lambda zone, owner, words: as_written(zone, owner if owner < 0 else (owner + 1) % 2, words)
    )
    assert is_found_in("szmal")


@pytest.mark.parametrize("name", EVERY_GAME)
def test_a_flag_that_comes_back_as_a_number_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """True and 1 are equal, so only the bytes of the view tell them apart."""
    rules = GAMES[name]
    numbering = numbering_of(rules)
    for step, fields in zip(numbering.steps, numbering.step_fields, strict=True):
        if not any(field.shape is bool for field in fields):
            continue
        game = RandomGame(rules, rules.usual_seats, 0).begin(log=True)
        game.agenda.insert(0, step(*[field.shape(1) for field in fields]))
        RoundTrip(game).check(game, 0, step)
        as_numbers = tuple([tuple([field._replace(shape=int) for field in each]) for each in numbering.step_fields])
        spoiled = replace(numbering, step_fields=as_numbers)
        with monkeypatch.context() as planted:
            planted.setattr(decode, "numbering_of", lambda _, spoiled=spoiled: spoiled)
            with pytest.raises(AssertionError):
                RoundTrip(game).check(game, 0, step)
