"""Nobody is sent what the rule sheet hides: in twin worlds the bytes for one viewer are the same."""

from __future__ import annotations

from random import Random

import pytest

from cutpurse.engine.game import Game
from cutpurse.games import GAMES
from cutpurse.wire.encode import MatchEncoder
from cutpurse.wire.phrase_cache import _BODY, PhraseCache
from tests.builds import needs_pure
from tests.properties import twin_worlds
from tests.properties.random_play import EVERY_TABLE, RandomGame
from tests.properties.twin_worlds import Findings, Leak, check_game
from tests.properties.who_sees_what import table_of
from tests.wire.round_trip import plant_bytes_kept_for_all

PAIRS, PAIRS_IN_SOAK = 15, 500  # for each number of players
STEPS = 6


class SentAlike:
    """In place of `twin_worlds.compare`: what a viewer is sent of both worlds, after the other viewers were served."""

    def __init__(self) -> None:
        self.compared = self.decisions = self.events = 0

    def __call__(self, one: Game, twin: Game, viewer: int) -> None:
        mine, theirs = self.sent(one, viewer), self.sent(twin, viewer)
        if mine != theirs:
            raise Leak(f"viewer {viewer} is sent {mine!r} in one world and {theirs!r} in the other")
        self.compared += 1

    def sent(self, game: Game, viewer: int) -> list[bytes]:
        encoder = MatchEncoder(type(game), game.settings, game.n)
        # The others first, so that bytes kept for them would be found here.
        for other in [*[seat for seat in range(game.n + 1) if seat != viewer], viewer]:
            found = self.sent_to(game, encoder, other)
        return found

    def sent_to(self, game: Game, encoder: MatchEncoder, viewer: int) -> list[bytes]:
        seat = None if viewer == game.n else viewer
        observation, events = encoder.observation_of(game, seat, agenda=True), game.log or []
        if observation != encoder.observation(game.view(seat), agenda=True):
            raise Leak(f"viewer {viewer} is not sent what is in his view")
        options = game.options(viewer) if viewer in game.waiting() else []
        if not options:  # whom nobody asks; or, in a twin, who could not be asked with the hand that he has there
            self.events += len(events)
            return [observation, encoder.events(3, events, viewer)]
        self.decisions += 1
        decision = encoder.decision(
            table=1,
            number=0,
            ask=game.question.name,
            options=options,
            observation=observation,
            events=encoder.events(7, events, viewer),
            first_event=0,
            base_left_ms=1000,
            bank_left_ms=10_000,
            safe_option=options.index(game.safe_option(viewer, options)),
        )
        return [decision]


def compared(name: str, seats: int, pairs: int, monkeypatch: pytest.MonkeyPatch) -> SentAlike:
    """Check so many pairs of a game, comparing what is sent.  Raises Leak."""
    sent = SentAlike()
    monkeypatch.setattr(twin_worlds, "compare", sent)
    findings = Findings()
    number = 0
    while findings.pairs < pairs:
        play = RandomGame(GAMES[name], seats, number)
        number += 1
        check_game(play.begin(log=True), table_of(name), Random("wire/" + play.name), STEPS, 0.1, findings)
    assert sent.compared >= findings.pairs + findings.steps * 0.9
    return sent


@pytest.mark.parametrize(("name", "seats"), EVERY_TABLE)
def test_twin_worlds_send_the_same_bytes(name: str, seats: int, soak: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = compared(name, seats, PAIRS_IN_SOAK if soak else PAIRS, monkeypatch)
    assert sent.decisions > 0
    assert sent.events > 0


def test_a_face_too_many_in_an_event_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PhraseCache, "event", lambda self, event, viewer: _BODY[type(event)](self, event))
    with pytest.raises(Leak, match="is sent"):
        compared("greed", GAMES["greed"].usual_seats, 400, monkeypatch)


@needs_pure
def test_bytes_kept_for_another_viewer_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    plant_bytes_kept_for_all(monkeypatch)
    with pytest.raises(Leak, match="is not sent what is in his view"):
        compared("greed", GAMES["greed"].usual_seats, 400, monkeypatch)
