"""What is encoded comes back as it was: every game, every number of players, every viewer, random positions."""

from __future__ import annotations

from typing import Any

import pytest

from cutpurse.games import GAMES
from cutpurse.v1 import game_pb2
from cutpurse.wire import encode, phrase_cache
from cutpurse.wire.encode import MatchEncoder
from tests.properties.random_play import EVERY_GAME, EVERY_TABLE, RandomGame
from tests.wire.round_trip import RoundTrip, check_game, viewers

SHARE, MOST = 0.05, 6  # of the positions of a game, and how many of them
GAMES_EACH, GAMES_IN_SOAK = 2, 100
ALL_OF_THEM = 5  # of so many games of the long run, one is checked at every decision


@pytest.mark.parametrize(("name", "seats"), EVERY_TABLE)
def test_everything_sent_comes_back_as_it_was(name: str, seats: int, soak: bool) -> None:
    checked = 0
    for number in range(GAMES_IN_SOAK if soak else GAMES_EACH):
        share, most = (1.0, None) if soak and number % ALL_OF_THEM == 0 else (SHARE, MOST)
        checked += check_game(name, seats, number, share, most)
    assert checked >= GAMES_EACH * 2


@pytest.mark.parametrize("name", EVERY_GAME)
def test_what_is_forgotten_is_encoded_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for hardly anything, objects come and go all the time, and their identities are used again."""
    monkeypatch.setattr(encode, "MOST_KEPT", 3)
    monkeypatch.setattr(phrase_cache, "MOST_KEPT", 3)
    assert check_game(name, GAMES[name].words.seats[-1], 1, 0.1, 10) > 2


@pytest.mark.parametrize("name", EVERY_GAME)
def test_numbers_that_are_in_no_table_are_told_too(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of long matches and large zones are: here all but the smallest."""
    monkeypatch.setattr(encode, "LOW", 2)
    assert check_game(name, GAMES[name].words.seats[-1], 2, 0.1, 10) > 2


@pytest.mark.parametrize("name", EVERY_GAME)
def test_only_what_changed_is_encoded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    as_written = encode.zone_body

    def zone_body(zone: Any) -> bytes:
        made.append(zone)
        return as_written(zone)

    monkeypatch.setattr(encode, "zone_body", zone_body)
    rules = GAMES[name]
    play = RandomGame(rules, rules.usual_seats, 0)
    game = play.begin(log=True)
    encoder = MatchEncoder(rules, game.settings, game.n)
    changed = 0
    for position, _ in zip(play.play(game), range(60), strict=False):
        for viewer in viewers(position):
            encoder.observation_of(position, viewer, agenda=True)
        of_this_move = len(made)
        made.clear()
        for viewer in viewers(position):
            encoder.observation_of(position, viewer, agenda=True)
        assert made == []
        if play.answers:
            pictures = len({id(zone) for viewer in viewers(position) for zone in position.view(viewer).zones})
            assert of_this_move < pictures or of_this_move == 0, "everything is new after one answer"
            changed += of_this_move
    assert changed > 0


def test_agenda_and_viewer_are_there_when_they_should() -> None:
    game = RandomGame(GAMES["greed"], 3, 0).begin(log=True)
    encoder = RoundTrip(game).encoder
    plain = game_pb2.Observation.FromString(encoder.observation(game.view(0), agenda=False))
    assert (plain.HasField("viewer"), plain.viewer, len(plain.agenda)) == (True, 0, 0)
    full = game_pb2.Observation.FromString(encoder.observation(game.view(None), agenda=True))
    assert (full.HasField("viewer"), len(full.agenda)) == (False, len(game.agenda))
    assert [zone.size for zone in full.sides[1].zones] == [len(game.fixed[i].cards) for i in (5, 6)]
