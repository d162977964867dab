"""A setting without an effect is refused where a match is set up, and each that is taken has one."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from cutpurse.engine.chance import Chance, match_key
from cutpurse.engine.errors import SettingsError
from cutpurse.engine.events import Event
from cutpurse.engine.game import Game
from cutpurse.engine.settings import SettingKind
from cutpurse.games import GAMES

MATCHES = 400  # in one of which a setting is to show at the latest
ALIKE = 4  # that are to be alike with a setting that has no effect
# What else must be set, or is set, so that a setting shows soon in random play.
SOON: dict[str, dict[str, object]] = {
    "tie_break_round": {"rounds": 1},
    "max_rounds": {"target": 5000},
}


def others(kind: SettingKind, default: str) -> Iterator[str]:
    """Values besides the default."""
    values = [*kind.values, *kind.names]
    if kind.keys:
        values.append(f"{kind.keys[0]}:950")
    if kind.least is not None:
        values += [str(kind.least), str(kind.most)]
    return (value for value in values if value != default)


def played(rules: type[Game], seats: int, settings: dict[str, object], number: int) -> list[Event]:
    """All events of a match at random, under settings that were written down."""
    chance = Random(number)
    game = rules(seats, rules.check(seats, settings), Chance(match_key("effect", number)))
    game.start(log=True)
    while waiting := game.waiting():
        options = game.options(waiting[0])
        game.choose(waiting[0], options[int(chance.random() * len(options))])
    return game.log or []


def is_refused(rules: type[Game], seats: int, settings: dict[str, object]) -> bool:
    try:
        rules.set_up(seats, settings)
    except SettingsError as problem:
        return "has no effect" in str(problem)
    return False


CASES = [
    pytest.param(name, seats, setting, id=f"{name}-{seats}-{setting}")
    for name, rules in GAMES.items()
    for setting in rules.settings_type.kinds()
    for seats in (rules.words.seats[0], rules.words.seats[1])
]


@pytest.mark.parametrize(("name", "seats", "setting"), CASES)
def test_a_setting_is_refused_if_and_only_if_it_changes_nothing(name: str, seats: int, setting: str) -> None:
    rules = GAMES[name]
    kind = rules.settings_type.kinds()[setting]
    known = set(rules.settings_type.kinds())
    besides: dict[str, object] = {k: v for k, v in SOON.get(setting, {}).items() if k in known}
    for value in others(kind, rules.settings_type().text(setting)):
        settings = {**besides, setting: value}
        try:
            rules.check(seats, settings)
        except SettingsError:  # not with so many players
            continue
        if is_refused(rules, seats, settings):
            for number in range(ALIKE):
                assert played(rules, seats, settings, number) == played(rules, seats, besides, number)
            if kind.only_with is None:
                continue
            other, needed = kind.only_with
            besides, settings = {**besides, other: needed}, {**settings, other: needed}
            if kind.only_seats and seats not in kind.only_seats:
                continue
            try:
                rules.set_up(seats, settings)
            except SettingsError as problem:
                assert f"setting {other} cannot be" in str(problem)  # noqa: PT017  # not with so many players
                continue
        is_upper_bound = setting in ("max_rounds", "max_games") and value == str(kind.most)
        if not is_upper_bound:  # which no match of random bots comes to
            differ = (
                played(rules, seats, settings, number) != played(rules, seats, besides, number)
                for number in range(MATCHES)
            )
            assert any(differ), f"{setting}={value} changed nothing in {MATCHES} matches"


@pytest.mark.parametrize(
    ("name", "seats", "settings", "text"),
    [
        ("greed", 4, {"two_player_pile": False}, "setting two_player_pile has no effect with 4 players, only with 2"),
        (
            "bag_o_loot",
            4,
            {"ditch_per_turn": "unlimited"},
            "setting ditch_per_turn has no effect unless advanced is true",
        ),
        ("steal_and_plunder", 4, {"max_games": 3}, "setting max_games has no effect unless mode is series"),
        ("steal_and_plunder", 3, {"removed_yellow": "copper_wire"}, "has no effect unless small_deck is true"),
    ],
)
def test_the_line_says_why_it_has_no_effect(name: str, seats: int, settings: dict[str, object], text: str) -> None:
    rules = GAMES[name]
    with pytest.raises(SettingsError, match=text):
        rules.set_up(seats, settings)
    with pytest.raises(SettingsError, match="leave it out"):
        rules.new(seats, settings=settings)
    assert rules.check(seats, settings).changed()  # a ladder or record from before keeps it


def test_a_default_that_is_named_is_never_refused() -> None:
    assert GAMES["greed"].set_up(4, {"two_player_pile": True}).changed() == {}
    assert GAMES["steal_and_plunder"].set_up(4, {"max_games": 15}).changed() == {}


def test_st_6_2_a_new_match_has_the_target_of_its_number_of_players() -> None:
    rules = GAMES["stolen_treasure"]
    targets = {seats: rules.set_up(seats, {}).text("target") for seats in rules.words.seats}
    assert targets == {2: "1500", 3: "1500", 4: "1500", 5: "1200", 6: "1000"}
    assert [rules.set_up(seats, {}).changed() for seats in (4, 6)] == [{}, {"target": "1000"}]
    assert rules.set_up(6, {"target": 1500}).changed() == {}
    assert rules.new(6).settings.text("target") == "1000"


def test_st_6_2_what_was_written_down_without_a_target_keeps_1500() -> None:
    rules = GAMES["stolen_treasure"]
    assert rules.check(6, {}).text("target") == "1500"
