"""Settings are parsed strictly: what a game does not have is refused with what it has."""

import pytest

from cutpurse.engine.errors import SettingsError, UnknownGame
from cutpurse.games import GAMES, game_named
from tests.engine.toy import Toy, ToySettings


def test_what_is_not_named_keeps_its_default() -> None:
    assert ToySettings.parse({}, 2) == ToySettings("short", True, 3, ())
    assert ToySettings().changed() == {}


def test_values_are_text_or_plain() -> None:
    as_text = {"length": "long", "loud": "false", "rounds": "5", "prices": "sun:4,moon:-2"}
    settings = ToySettings.parse(as_text, 2)
    assert settings == ToySettings("long", False, 5, (("moon", -2), ("sun", 4)))
    assert ToySettings.parse({"length": "long", "loud": False, "rounds": 5, "prices": "moon:-2,sun:4"}, 2) == settings
    assert settings.changed() == {"length": "long", "loud": "false", "rounds": "5", "prices": "moon:-2,sun:4"}
    assert ToySettings.parse(settings.changed(), 2) == settings


def test_a_word_may_stand_for_a_number() -> None:
    settings = ToySettings.parse({"rounds": "endless"}, 2)
    assert settings.rounds == -1
    assert settings.text("rounds") == "endless"
    assert ToySettings.parse(settings.changed(), 2) == settings


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("size", "3", "no setting is called 'size'; there are: length, loud, rounds, prices"),
        ("length", "medium", "setting length cannot be 'medium'; it can be: short, long"),
        ("loud", "yes", "setting loud cannot be 'yes'; it can be: true, false"),
        ("rounds", "4", "setting rounds cannot be '4'; it can be: endless, 1 to 9 in steps of 2"),
        ("rounds", "11", "setting rounds cannot be '11'"),
        ("rounds", "-1", "setting rounds cannot be '-1'"),
        ("rounds", "3.0", "setting rounds cannot be '3.0'"),
        ("rounds", "٣", "setting rounds cannot be '٣'"),
        ("rounds", "", "setting rounds cannot be ''"),
        ("prices", "star:3", "setting prices cannot be 'star:3'; it can be: NAME:NUMBER,... with the names sun, moon"),
        ("prices", "sun:3,sun:4", "setting prices cannot be 'sun:3,sun:4'"),
        ("prices", "sun", "setting prices cannot be 'sun'"),
        ("prices", "sun:", "setting prices cannot be 'sun:'"),
    ],
)
def test_what_the_game_does_not_have_is_refused(name: str, value: str, message: str) -> None:
    with pytest.raises(SettingsError) as refused:
        ToySettings.parse({name: value}, 2)
    assert str(refused.value).startswith(message)


def test_settings_that_do_not_fit_the_players_are_refused() -> None:
    ToySettings.parse({"length": "long"}, 3)
    with pytest.raises(SettingsError, match="too many for a long game"):
        ToySettings.parse({"length": "long"}, 4)


@pytest.mark.parametrize("seats", [0, 1, 5])
def test_a_number_of_players_the_game_is_not_for_is_refused(seats: int) -> None:
    with pytest.raises(SettingsError, match=f"Toy is for 2 to 4 players, not {seats}"):
        Toy.new(seats)


def test_an_unknown_game_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(UnknownGame, match=r"no game is called 'chess'; there are: .*greed"):
        game_named("chess")


@pytest.mark.parametrize("name", GAMES)
def test_every_setting_says_what_it_is_and_can_be_written_and_read(name: str) -> None:
    rules = GAMES[name]
    assert game_named(name) is rules
    usual = rules.settings_type()
    for setting, kind in rules.settings_type.kinds().items():
        assert kind.text, setting
        assert kind.rule.startswith(rules.words.prefix + "-"), setting
        written = usual.text(setting)
        assert rules.settings_type.parse({setting: written}, rules.usual_seats) == usual, setting
        values = [*kind.values, *kind.names, *(str(n) for n in (kind.least, kind.most) if n is not None)]
        for value in values:
            try:
                parsed = rules.settings_type.parse({setting: value}, rules.words.seats[-1])
            except SettingsError:  # not with so many players
                continue
            again = rules.settings_type.parse({setting: parsed.text(setting)}, rules.words.seats[-1])
            assert again == parsed, setting
            assert parsed.changed() == ({} if parsed == usual else {setting: parsed.text(setting)})
