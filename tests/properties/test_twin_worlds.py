"""Nobody gets what the rule sheet hides: twin worlds of every game at every number of players."""

from __future__ import annotations

from random import Random

import pytest

from cutpurse.engine.knowledge_level import LEVELS
from cutpurse.games import GAMES
from tests.properties.random_play import EVERY_GAME, EVERY_TABLE, RandomGame
from tests.properties.twin_worlds import Findings, check_game
from tests.properties.who_sees_what import table_of

PAIRS = 40  # for each number of players
PAIRS_IN_SOAK = 10_000  # for each game
STEPS = 10


@pytest.mark.parametrize("name", EVERY_GAME)
def test_every_game_has_a_table_of_who_sees_what(name: str) -> None:
    table = table_of(name)
    kinds = {kind.name for kind in GAMES[name].words.zones}
    stated = table.OPEN | table.OWN | table.FORGOTTEN
    assert stated <= kinds, f"{table.__name__} speaks of zones that {name} does not have: {sorted(stated - kinds)}"


def test_a_game_without_a_table_fails_and_says_what_to_write() -> None:
    with pytest.raises(pytest.fail.Exception, match=r"write tests/properties/hidden_patience\.py"):
        table_of("patience")


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("name", "seats"), EVERY_TABLE)
def test_twin_worlds_look_and_go_on_alike(name: str, seats: int, level: str, soak: bool) -> None:
    wanted = PAIRS_IN_SOAK // len(GAMES[name].words.seats) if soak else PAIRS
    findings = Findings()
    number = 0
    while findings.pairs < wanted:
        play = RandomGame(GAMES[name], seats, number)
        number += 1
        chance = Random("twin/" + play.name)
        check_game(play.begin(True, level), table_of(name, level), chance, STEPS, 0.1, findings)
    # Not vacuous: many places have a twin that differs, and pairs go on together for a while. The more a viewer can
    # prove, the fewer twins there are.
    assert findings.pairs >= findings.places * 0.3, findings
    assert findings.long >= findings.pairs * 0.25, findings
    assert findings.steps >= findings.pairs * 2, findings
