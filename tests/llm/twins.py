"""The harness for worlds that a seat cannot tell apart: what a model would read of each is compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pytest

from cutpurse.engine.events import Event
from cutpurse.engine.game import Game
from cutpurse.engine.view import View
from cutpurse.games import GAMES
from cutpurse.llm.decision_text import card_lines, decision_text
from cutpurse.sdk.decision import Decision
from cutpurse.sdk.views import VIEWS
from tests.properties import twin_worlds
from tests.properties.random_play import RandomGame
from tests.properties.twin_worlds import Findings, Leak, check_game
from tests.properties.who_sees_what import table_of

__all__ = ["STEPS", "Look", "check_twins", "text"]

STEPS = 6  # that a pair goes on for
SHARE = 0.3  # of the decisions of a match have a twin

Look = Callable[[Game, int, Sequence[Event], "View | None"], str]


def text(game: Game, seat: int, events: Sequence[Event], before: View | None) -> str:
    """Return what a model in this seat reads: the events since `before`, the table, the question and the cards."""
    return text_of(game, seat, seat, events, before)


def text_of(game: Game, seat: int, asked: int, events: Sequence[Event], before: View | None) -> str:
    """Return the text of the decision of `asked`, or of one without options, with the view of `seat`."""
    view: Any = VIEWS[game.words.game](game.view(seat), events, 0, before)
    is_asked = asked in game.waiting()
    options = game.options(asked) if is_asked else []
    decision = Decision(0, "", options, lambda: game.safe_option(asked, options), view)
    if not game.waiting():
        return "over"
    return decision_text(view, decision, ["a"] * game.n) + card_lines(view, decision)


def check_twins(
    name: str, seats: int, pairs: int, look: Look, monkeypatch: pytest.MonkeyPatch, steps: int = STEPS
) -> Findings:
    """Compare the texts of this many pairs of worlds, with the events of each step.  Raises Leak."""
    findings, number = Findings(), 0
    compare, go_on = twin_worlds.compare, twin_worlds.go_on
    before: list[View] = []  # the viewer's view before the step; equal in both worlds

    def compared(one: Game, twin: Game, viewer: int) -> None:
        compare(one, twin, viewer)
        if viewer == one.n:
            return
        since = before[0] if before else None
        texts = [look(game, viewer, (game.log or ()) if before else (), since) for game in (one, twin)]
        if texts[0] != texts[1]:
            raise Leak(f"viewer {viewer} reads other words in its twin world:\n{texts[0]}\n{texts[1]}")

    def went_on(one: Game, twin: Game, table: Any, table_of_twin: Any, random: Random) -> Any:
        if table.viewer != one.n:
            before[:] = [one.view(table.viewer)]
        try:
            return go_on(one, twin, table, table_of_twin, random)
        finally:
            before.clear()

    monkeypatch.setattr(twin_worlds, "compare", compared)
    monkeypatch.setattr(twin_worlds, "go_on", went_on)
    while findings.pairs < pairs:
        play = RandomGame(GAMES[name], seats, number)
        number += 1
        check_game(play.begin(log=True), table_of(name), Random("llm/" + play.name), steps, SHARE, findings)
    return findings
