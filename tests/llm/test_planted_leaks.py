"""A leak in the text of a decision is found, or the comparison of twin worlds would show nothing."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from cutpurse.engine.events import Event
from cutpurse.engine.game import Game
from cutpurse.engine.text import event_text
from cutpurse.engine.view import View
from cutpurse.games import GAMES
from tests.llm.twins import Look, check_twins, text, text_of
from tests.properties.random_play import EVERY_GAME
from tests.properties.twin_worlds import Leak

PAIRS = 400


def leaking_table(game: Game, seat: int, events: Sequence[Event], before: View | None) -> str:
    return text_of(game, (seat + 1) % game.n, seat, (), None)


def leaking_options(game: Game, seat: int, events: Sequence[Event], before: View | None) -> str:
    return text_of(game, seat, (seat + 1) % game.n, (), None)


def leaking_events(game: Game, seat: int, events: Sequence[Event], before: View | None) -> str:
    return text(game, seat, events, before) + "".join([event_text(game, event) for event in events])


@pytest.mark.parametrize("look", [leaking_table, leaking_options, leaking_events])
@pytest.mark.parametrize("name", EVERY_GAME)
def test_a_planted_leak_is_found(name: str, look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Leak, match="reads other words in its twin world"):
        check_twins(name, GAMES[name].usual_seats, PAIRS, look, monkeypatch)
