"""Every sentence about an event names owners and zones as they were when it happened, for all who read it."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from cutpurse.cli.commands.match_replay import _rows
from cutpurse.engine.chance import Chance, match_key
from cutpurse.engine.events import Event, Happened, Placed
from cutpurse.engine.game import Game
from cutpurse.engine.history import ZoneHistory
from cutpurse.engine.match import Match
from cutpurse.engine.record import read_record, write_record
from cutpurse.engine.text import act_text, event_text
from cutpurse.games import GAMES
from cutpurse.sdk.bot import BotMaker
from cutpurse.sdk.playing.seating import play_match, view_for
from tests.builds import needs_pure
from tests.properties.random_play import EVERY_GAME, RandomGame

GAMES_EACH = 6


class Spoken(list[Event]):
    """A log that puts each event into words at once, before anything else happens."""

    def __init__(self, game: Game) -> None:
        super().__init__()
        self.game = game
        self.texts: list[str] = []

    def append(self, event: Event) -> None:
        super().append(event)
        self.texts.append(event_text(self.game, event))


def begun(played: RandomGame) -> tuple[Game, Spoken]:
    game = played.rules(played.seats, played.rules.check(played.seats, played.settings), Chance(played.key))
    log = Spoken(game)
    game.log = log
    game.start()
    return game, log


@needs_pure  # compiled code appends to a list without calling `Spoken.append`
@pytest.mark.parametrize("name", EVERY_GAME)
def test_a_sentence_is_the_one_that_was_true_when_it_happened(name: str) -> None:
    rules = GAMES[name]
    for number in range(GAMES_EACH):
        played = RandomGame(rules, rules.words.seats[number % len(rules.words.seats)], number)
        game, log = begun(played)
        for _ in played.play(game):
            pass
        history = ZoneHistory(rules.words, played.seats)
        history.add(log, 0)
        for place, (event, text) in enumerate(zip(log, log.texts, strict=True)):
            if not (isinstance(event, Placed) and event.kind == 0):  # a zone that is gone has no owner in the game
                assert event_text(history.at(place), event) == text, f"event {place} of {played}"


@pytest.mark.parametrize("name", EVERY_GAME)
def test_an_act_reads_after_it_as_it_would_have_read_before_it(name: str) -> None:
    """The sentence of each answer, made of the position in which it was given."""
    rules = GAMES[name]
    acts = 0
    for number in range(GAMES_EACH):
        played = RandomGame(rules, rules.words.seats[number % len(rules.words.seats)], number)
        game = played.begin(log=True)
        before: list[tuple[int, str]] = []  # by answer: the number of its event, its sentence before it was given
        while seats := game.waiting():
            assert game.log is not None
            seat = played.random.choice(seats)
            option = played.random.choice(game.options(seat))
            told, text = len(game.log), act_text(game, option.by(seat))
            game.choose(seat, option)
            event = game.log[told] if told < len(game.log) else None
            if isinstance(event, Happened) and event.act == option.by(seat):
                before.append((told, text))
        history = ZoneHistory(rules.words, played.seats)
        history.add(game.log or (), 0)
        for place, text in before:
            assert event_text(history.at(place), (game.log or [])[place]) == text, f"event {place} of {played}"
        acts += len(before)
    assert acts > 30


@pytest.mark.parametrize("name", EVERY_GAME)
def test_bots_spectators_and_replays_read_the_same_sentence(name: str) -> None:
    rules = GAMES[name]
    random = Random(name)
    heard: dict[int, dict[int, str]] = {}  # by seat and number of the event
    watched: dict[int, str] = {}

    class Reader:
        def start(self, match: Any) -> None:
            self.heard = heard[match.seat] = {}

        def event(self, event: Any) -> None:
            self.heard[event.number] = event.text
            if event.act is not None:
                assert event.act.text == event.text

        def choose(self, view: Any, decision: Any) -> int:
            return random.randrange(decision.count)

    match = Match(rules, ["reader"] * rules.usual_seats, match_key(name, 0), log=True)
    told, before = 0, None

    def watch(match: Match) -> None:
        nonlocal told, before
        view = view_for(match, None, told, before)
        watched.update({event.number: event.text for event in view.events})
        told, before = len(match.game.log or ()), view.raw

    _, failed, _ = play_match(match, [BotMaker("reader", Reader)] * rules.usual_seats, watch)
    assert not failed
    log = match.game.log or []
    history = ZoneHistory(rules.words, match.game.n)
    history.add(log, 0)
    for viewer in range(match.game.n + 1):
        wanted = {number: event_text(history.at(number), event.to(viewer)) for number, event in enumerate(log)}
        seat = viewer if viewer < match.game.n else None
        assert (watched if seat is None else heard[seat]) == wanted
        rows = _rows(read_record(write_record(match)), seat)
        assert {row["number"]: row["text"] for row in rows if "number" in row} == wanted
