"""A decision from the wire is the decision that a bot is asked here, and nothing is decoded before it looks."""

from __future__ import annotations

import copy
import math
import random
from typing import Any

import pytest

from cutpurse.bots.greedy_bot import GreedyBot
from cutpurse.engine.chance import match_key
from cutpurse.engine.match import Match
from cutpurse.games import GAMES
from cutpurse.sdk.bot import MatchInfo
from cutpurse.sdk.decision import Decision, option_of
from cutpurse.sdk.online import question_types
from cutpurse.sdk.online.question_types import asked, time_left
from cutpurse.sdk.playing.positions import decision_for
from cutpurse.sdk.views.base import GameView
from cutpurse.v1 import arena_pb2
from cutpurse.wire import decode
from cutpurse.wire.decode import TableInfo
from cutpurse.wire.encode import MatchEncoder
from tests.properties.random_play import EVERY_GAME


class WiredMatch:
    """A match whose decisions can be had as they are put here and as they come over the wire."""

    def __init__(self, name: str, number: int = 0) -> None:
        self.rules = GAMES[name]
        seats = self.rules.usual_seats
        self.match = Match(self.rules, ["bot"] * seats, match_key("asked", number), log=True)
        self.encoder = MatchEncoder(self.rules, self.match.game.settings, seats)
        self.told = [0] * seats

    def put(self) -> tuple[GameView[Any], Decision, arena_pb2.Decision, TableInfo]:
        """The open decision of the lowest seat: its view and itself, its message, and the table it is put at."""
        match, game = self.match, self.match.game
        open_one = match.decision()
        assert open_one is not None
        assert game.log is not None
        seat = open_one.seat
        since, self.told[seat] = self.told[seat], len(game.log)
        view, decision = decision_for(match, open_one, since)
        message = arena_pb2.Decision.FromString(
            self.encoder.decision(
                table=1,
                number=open_one.number,
                ask=open_one.ask,
                options=open_one.options,
                observation=self.encoder.observation_of(game, seat, agenda=True),
                events=self.encoder.events(7, game.log[since:], seat),
                first_event=since,
                base_left_ms=1000,
                bank_left_ms=10_000,
                safe_option=open_one.options.index(game.safe_option(seat, open_one.options)),
            )
        )
        return view, decision, message, TableInfo(self.rules, game.settings, game.n, seat)


@pytest.mark.parametrize("name", EVERY_GAME)
def test_a_bot_chooses_over_the_wire_as_it_does_here(name: str) -> None:
    wired = WiredMatch(name)
    match = wired.match
    here, there = ([GreedyBot() for _ in match.seats] for _ in range(2))
    for bots in (here, there):
        for seat, bot in enumerate(bots):
            if (start := getattr(bot, "start", None)) is not None:
                start(MatchInfo(name, seat, match.seats, {}, random.Random(seat)))
    decisions = 0
    while match.decision() is not None:
        view, decision, message, table = wired.put()
        far_view, far = asked(message, table)
        assert type(far_view) is type(view)
        assert (far.number, far.ask, far.count) == (decision.number, decision.ask, decision.count)
        assert (far.text, far.rule, far.safe.index) == (decision.text, decision.rule, decision.safe.index)
        assert [option.text for option in far.options] == [option.text for option in decision.options]
        assert far_view.raw == view.raw
        if decisions % 10 == 0:
            assert [(told.number, told.text) for told in far_view.events] == [
                (told.number, told.text) for told in view.events
            ]
            assert far_view.unseen == view.unseen
        answer: Any = option_of(here[table.seat].choose(view, decision))
        assert option_of(there[table.seat].choose(far_view, far)) == answer
        match.answer(table.seat, decision.number, answer)
        decisions += 1
    assert decisions > 20


@pytest.mark.parametrize("name", EVERY_GAME)
def test_nothing_is_decoded_before_the_bot_looks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _, decision, message, table = WiredMatch(name).put()
    decoded: list[str] = []

    def watch(module: Any, what: str) -> None:
        as_written = getattr(module, what)

        def watched(*arguments: Any) -> Any:
            decoded.append(what)
            return as_written(*arguments)

        monkeypatch.setattr(module, what, watched)

    for module, what in ((question_types, "view_of"), (question_types, "options_of"), (decode, "event_of")):
        watch(module, what)
    view, far = asked(message, table)
    assert (far.number, far.ask) == (0, decision.ask)
    assert decoded == []  # all that a bot needs which always answers with 0
    assert far.count == len(message.options)
    assert decoded == ["options_of"]
    assert len(far.options) == far.count
    assert decoded == ["options_of"]
    assert view.players
    assert view.raw is view.raw
    assert decoded == ["options_of", "view_of"]
    first, again = view.events, view.events
    assert [told.number for told in first] == [told.number for told in again] == [*range(len(message.events))]
    assert decoded == ["options_of", "view_of"] + ["event_of"] * len(message.events)


def test_a_view_says_what_it_does_not_have() -> None:
    _, _, message, table = WiredMatch("greed").put()
    for _ in range(2):
        view, _ = asked(message, table)
        with pytest.raises(AttributeError, match="'GreedView' object has no attribute 'hnad'"):
            view.hnad  # noqa: B018  # it is the looking that fails
        assert not hasattr(view, "_nothing")
        assert copy.copy(view).raw == view.raw


def test_a_wrong_question_is_found_at_once_and_all_else_when_the_bot_looks() -> None:
    _, _, message, table = WiredMatch("greed").put()
    message.ask = 99
    with pytest.raises(ValueError, match="question 99 where there are 1 to "):
        asked(message, table)
    message.ask = 1
    message.observation.zones[0].kind = 77
    message.options[0].verb = 55
    message.safe_option = 1000
    view, far = asked(message, table)
    with pytest.raises(ValueError, match="a zone of kind 77"):
        view.players  # noqa: B018
    with pytest.raises(ValueError, match="verb 55 where there are 1 to "):
        far.options  # noqa: B018
    message.options[0].verb = 1
    with pytest.raises(ValueError, match="the safe option is 1000 of"):
        far.safe  # noqa: B018


# -- the clock
@pytest.mark.parametrize(
    ("passed_s", "base_s", "bank_s"),
    [
        (0.0, 0.5, 2.0),
        (0.25, 0.25, 2.0),
        (0.5, 0.0, 2.0),
        (1.0, -0.5, 1.5),  # the bank pays for what is more than the base
        (2.5, -2.0, 0.0),
        (9.0, -8.5, 0.0),
    ],
)
def test_first_the_base_runs_out_and_then_the_bank(passed_s: float, base_s: float, bank_s: float) -> None:
    message = arena_pb2.Decision(base_left_ms=500, bank_left_ms=2_000)
    assert time_left(message, passed_s) == pytest.approx((base_s, bank_s))


def test_no_clock_runs_in_local_play() -> None:
    _, decision, _, _ = WiredMatch("greed").put()
    assert (decision.base_left_s, decision.bank_left_s) == (math.inf, math.inf)
