"""A search that sees all hands: what it takes from the match that is played, and what it cannot know."""

from __future__ import annotations

import json

import pytest

from benchmarks.open_hands import SeeingBot, main
from cutpurse.engine.chance import Chance, match_key
from cutpurse.engine.match import Match
from cutpurse.engine.words import Visibility
from cutpurse.engine.zones import TABLE
from cutpurse.games import game_named


def test_hands_are_as_they_are_and_what_nobody_knows_is_not() -> None:
    match = Match(game_named("greed"), list("abcd"), match_key("open", 1), log=True)
    SeeingBot.match = match
    real, chance = match.game, Chance(bytes(32))
    worlds = [SeeingBot().imagined(real.view(0), chance) for _ in range(3)]
    orders = set()
    for world in worlds:
        for zone, seen in zip(real.fixed, world.fixed, strict=True):
            if zone.owner == TABLE and zone.kind.visibility is Visibility.NOBODY:
                assert sorted(seen.cards) == sorted(zone.cards)
                orders.add(tuple(seen.cards))
            else:
                assert seen.cards == zone.cards
    assert len(orders) == 3
    assert len({world.chance.below(10**9) for world in worlds} | {real.fork().chance.below(10**9)}) == 4


def test_the_command_prints_both_and_refuses_what_it_does_not_know(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUTPURSE_PLAYOUTS", "2")
    assert main(["--games", "greed", "--matches", "2", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["open_hands"]
    assert [(row["bot"], row["matches"]) for row in rows] == [("SearchBot", 2), ("SeeingBot", 2)]
    assert main(["--games", "chess"]) == 2
    assert "there are steal_and_plunder" in capsys.readouterr().err
