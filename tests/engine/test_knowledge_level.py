"""What viewers know of hidden cards goes by their level, and nothing else does."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from random import Random

import pytest

from cutpurse.engine.errors import UsageError
from cutpurse.engine.game import Game
from cutpurse.engine.knowledge_level import LEVELS, viewers_at
from cutpurse.games import GAMES
from tests.properties.random_play import EVERY_GAME, answer_at_random

DECISIONS = 150
# Of the views at `seen` and at `none` in a game of random answers; they change when a rule or the form of a view does.
DIGESTS = {
    "bag_o_loot": "ca04fca07c3bc08d",
    "greed": "c1ac179bcedc3d85",
    "steal_and_plunder": "8224641a48b2bd8e",
    "stolen_treasure": "274daa1289ba244f",
    "szmal": "9400c65772d1c0a3",
}


def play(games: list[Game], random: Random) -> bool:
    """Answer the same in all games; return whether they go on."""
    seat, option = answer_at_random(games[0], random)
    assert [game.options(seat) for game in games] == [games[0].options(seat)] * len(games)
    for game in games:
        game.choose(seat, option)
    return bool(games[0].waiting())


@pytest.mark.parametrize("name", EVERY_GAME)
def test_a_lower_level_knows_less_and_the_game_is_the_same(name: str) -> None:
    games = [GAMES[name].new(knowledge=level) for level in LEVELS]
    for game in games:
        game.log = []
    random, digest = Random(name), sha256()
    for _ in range(DECISIONS):
        for viewer in (*range(games[0].n), None):
            proof, seen, none = [game.view(viewer) for game in games]
            digest.update(seen.to_bytes() + none.to_bytes())
            assert (seen.clues, none.clues) == ((), ())
            for sure, remembered, nothing in zip(proof.zones, seen.zones, none.zones, strict=True):
                assert not Counter(remembered.known) - Counter(sure.known)
                assert (remembered.maybe, nothing.known, nothing.maybe) == ((), (), ())
                assert sure.cards == remembered.cards == nothing.cards
        if not play(games, random):
            break
    assert games[0].log == games[1].log == games[2].log
    assert digest.hexdigest()[:16] == DIGESTS[name]


@pytest.mark.parametrize("name", EVERY_GAME)
def test_each_viewer_has_a_level_of_its_own_which_forks_and_saved_games_keep(name: str) -> None:
    rules = GAMES[name]
    levels = [LEVELS[seat % 3] for seat in range(rules.usual_seats + 1)]
    mixed = rules.new(knowledge=levels)
    whole = {level: rules.new(knowledge=level) for level in LEVELS}
    random = Random(name)
    for decision in range(DECISIONS):
        for viewer, level in enumerate(levels):
            seat = None if viewer == mixed.n else viewer
            assert mixed.view(seat).to_bytes() == whole[level].view(seat).to_bytes()
        if decision % 10 == 0:
            mixed = mixed.fork() if decision % 20 else rules.load(mixed.save())
        if not play([mixed, *whole.values()], random):
            break


def test_viewers_by_level() -> None:
    assert viewers_at("proof", 3) == (0b111, 0b111)
    assert viewers_at(["seen", "none", "proof"], 3) == (0b101, 0b100)


@pytest.mark.parametrize(
    ("levels", "line"),
    [
        ("all", "knowledge is proof, seen or none, not 'all'"),
        (["proof", "seen"], "knowledge has 2 levels for 5 viewers: give one for each, the spectator last"),
    ],
)
def test_levels_that_cannot_be_are_a_line(levels: str | list[str], line: str) -> None:
    with pytest.raises(UsageError, match=line):
        GAMES["greed"].new(seats=4, knowledge=levels)
