"""The check of round trips: messages are encoded, decoded, and compared with the original."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from cutpurse.engine.events import Event
from cutpurse.engine.game import Game
from cutpurse.engine.zones import ZoneView
from cutpurse.games import GAMES
from cutpurse.v1 import arena_pb2, game_pb2
from cutpurse.wire.catalogue import catalogue_of
from cutpurse.wire.decode import act_of, ask_of, event_of, options_of, view_of
from cutpurse.wire.encode import MatchEncoder
from tests.properties.random_play import RandomGame
from tests.wire.slow_encoder import SlowEncoder, slow_act

__all__ = ["RoundTrip", "as_told", "check_game", "plant_bytes_kept_for_all", "viewers"]


def viewers(game: Game) -> list[int | None]:
    """List every seat, and the spectator."""
    return [*range(game.n), None]


def as_told(event: Event, viewer: int) -> Event:
    """Return an event redacted for a viewer, without the masks of other viewers."""
    told = event.to(viewer)
    return told._replace(masks=()) if hasattr(told, "masks") else told  # type: ignore[call-arg]  # see the line


class RoundTrip:
    """One logged match: its encoder, and the events sent to every viewer so far."""

    def __init__(self, game: Game) -> None:
        self.rules = type(game)
        self.encoder = MatchEncoder(self.rules, game.settings, game.n)
        self.slow = SlowEncoder(game, catalogue_of(self.rules, game.n, game.settings.changed()))
        self.heard = 0
        self.told = dict.fromkeys(viewers(game), 0)
        self.decisions = 0

    def check(self, game: Game, viewer: int | None, who: object) -> None:
        """Check that everything sent to this viewer now is decoded unchanged."""
        assert game.log is not None
        for number, event in enumerate(game.log[self.heard :], self.heard):
            self.slow.hear(number, event)
        self.heard = len(game.log)
        self.check_observation(game, viewer, who)
        self.check_events(game, viewer, who)
        if viewer is not None and viewer in game.waiting():
            self.check_decision(game, viewer, who)
        self.told[viewer] = len(game.log)

    def check_observation(self, game: Game, viewer: int | None, who: object) -> None:
        view = game.view(viewer)
        body = self.encoder.observation(view, agenda=True)
        assert self.encoder.observation_of(game, viewer, agenda=True) == body, who
        message = game_pb2.Observation.FromString(body)
        assert message == self.slow.observation(view, agenda=True), who
        assert message.SerializeToString() == body, who
        back = view_of(message, self.rules, game.settings, game.n, viewer)
        assert back == view, who
        assert back.to_bytes() == view.to_bytes(), who
        assert tuple([act_of(act, self.rules, game.n) for act in message.pending]) == view.pending, who
        message.ClearField("agenda")
        message.ClearField("clues")
        assert game_pb2.Observation.FromString(self.encoder.observation(view, agenda=False)) == message, who

    def check_events(self, game: Game, viewer: int | None, who: object) -> None:
        assert game.log is not None
        since = self.told[viewer]
        events = game.log[since:]
        told_to = game.n if viewer is None else viewer
        message = arena_pb2.Decision.FromString(self.encoder.events(7, events, told_to))
        expected = [self.slow.event(number, event, told_to) for number, event in enumerate(events, since)]
        assert list(message.events) == expected, who
        assert [event_of(event, self.rules, game.n) for event in message.events] == [
            as_told(event, told_to) for event in events
        ], who
        for event in events[-2:]:
            alone = self.encoder.phrases.event(event, told_to)
            assert alone == message.events[events.index(event)].SerializeToString(), who

    def check_decision(self, game: Game, seat: int, who: object) -> None:
        assert game.log is not None
        since, view, options = self.told[seat], game.view(seat), game.options(seat)
        safe = options.index(game.safe_option(seat, options))
        self.decisions += 1
        body = self.encoder.decision(
            table=self.decisions,
            number=self.decisions * 3,
            ask=game.question.name,
            options=options,
            observation=self.encoder.observation_of(game, seat, agenda=True),
            events=self.encoder.events(7, game.log[since:], seat),
            first_event=since,
            base_left_ms=1000 - self.decisions % 1000,
            bank_left_ms=self.decisions * 17 % 10_000,
            safe_option=safe,
        )
        message = arena_pb2.Decision.FromString(body)
        expected = arena_pb2.Decision(
            table=self.decisions,
            decision=self.decisions * 3 + 1,
            ask=message.ask,
            options=[slow_act(option) for option in options],
            observation=self.slow.observation(view, agenda=True),
            first_event=since,
            events=[self.slow.event(n, event, seat) for n, event in enumerate(game.log[since:], since)],
            base_left_ms=1000 - self.decisions % 1000,
            bank_left_ms=self.decisions * 17 % 10_000,
            safe_option=safe,
        )
        assert message == expected, who
        assert message.SerializeToString() == body, who
        assert ask_of(message.ask, self.rules) == game.question.name, who
        assert self.slow.catalogue.asks[message.ask - 1].name == game.question.name, who
        assert options_of(message, self.rules, game.n) == options, who


def plant_bytes_kept_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plant a fault: the cached bytes of a zone serve every viewer, not only those with the same view of it."""
    as_written = MatchEncoder._find_or_encode

    def find_or_encode(self: MatchEncoder, zone: ZoneView, index: int) -> bytes:
        for views, encoded in self._zones:
            if index < len(views) and (views[index].number, views[index].size) == (zone.number, zone.size):
                return encoded[index]
        return as_written(self, zone, index)

    monkeypatch.setattr(MatchEncoder, "_find_or_encode", find_or_encode)


def check_game(name: str, seats: int, number: int, share: float, most: int | None = None) -> int:
    """Play a random game to its end and check a share of its positions for every viewer; return their number.

    With `most`, it checks at most that many positions and the end, which has all remaining events.
    """
    play = RandomGame(GAMES[name], seats, number)
    game = play.begin(log=True)
    trip = RoundTrip(game)
    dice = Random("wire/" + play.name)
    checked = 0
    for position in _with_the_end(play.play(game), game):
        if not position.waiting() or (checked != most and dice.random() < share):
            for viewer in viewers(position):
                trip.check(position, viewer, f"{play}, seen by {viewer}")
            checked += 1
    assert trip.told == {viewer: len(game.log or ()) for viewer in viewers(game)}, play
    return checked


def _with_the_end(positions: Iterator[Game], game: Game) -> Iterator[Game]:
    yield from positions
    yield game
