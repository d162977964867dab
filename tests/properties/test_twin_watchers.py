"""Who watches learns nothing that is hidden: in twin worlds the stream of one viewer is the same, byte by byte.

Spectators are compared, and seats as their owners watch them. Both worlds go on together as in `twin_worlds`; at each
step a table with several watchers is put on either state, told what happened, and what goes to the one viewer is
compared.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from itertools import count
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest

from cutpurse.engine.agenda import Poll
from cutpurse.engine.events import Event
from cutpurse.engine.game import Game
from cutpurse.games import GAMES
from cutpurse.leaderboard.results import Identity
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.logs import logger
from cutpurse.server.matches.lobby import Lobby, OpenMatch
from cutpurse.server.matches.loop_hooks import LoopHooks
from cutpurse.server.watching.broadcast import Visitor, Watching
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.encode import MatchEncoder
from cutpurse.wire.phrase_cache import _BODY, PhraseCache
from tests.properties import twin_worlds
from tests.properties.random_play import EVERY_GAME, RandomGame
from tests.properties.twin_worlds import Findings, Leak, check_game
from tests.properties.who_sees_what import table_of

PAIRS, PAIRS_IN_SOAK = 30, 2_000  # for each game
STEPS = 6


@dataclass
class Stage:
    """A table that is in some state of a game, as far as watching looks at it; and the lobby that has it."""

    game: Game
    on_moved: list[Any] = field(default_factory=list)
    hooks: LoopHooks = field(default_factory=LoopHooks)
    name: str = "it"
    began: float = 0.0
    incident: None = None
    board_matches: int = 1

    def __post_init__(self) -> None:
        self.encoder = MatchEncoder(type(self.game), self.game.settings, self.game.n)
        self.match = SimpleNamespace(game=self.game)
        self.ladder = Ladder("it", self.game.words.game, self.game.n, self.game.settings.changed())

    def started(self, seat: int, number: int) -> bytes:
        return b""

    def ended(self, seat: int, number: int, told: int, wants_events: bool) -> None:
        """It is not."""

    def open_matches(self) -> list[OpenMatch]:
        seats = tuple(Identity("ann", f"bot{seat}", "1") for seat in range(self.game.n))
        return [OpenMatch(self, (), (), None, seats)]  # type: ignore[arg-type]  # no clock, no table

    def ladder_named(self, name: str) -> None:
        """It has other terms now: never."""


def sent(game: Game, viewer: int) -> list[bytes]:
    """What a viewer is told who begins to watch now, and then of all that is in the log; the others are told first."""
    events: list[Event] = game.log or []
    game.log = []
    stage = Stage(game)
    watching = Watching(cast(Lobby, stage), logger(io.StringIO(), "debug"), delay_s=0.0)
    moments = count(1)
    watching.begin(clock=lambda: float(next(moments)), due=lambda: None, incident_number=lambda: "1")
    visitor = Visitor("ann", "here", lambda ladder: True)
    watchers = {}
    for one in [*[seat for seat in range(game.n + 1) if seat != viewer], viewer]:
        asked = ladder_pb2.WatchMatchRequest(match="it", seat=None if one == game.n else one)
        watchers[one] = watching.watch(asked, visitor, lambda: None)
    game.log = events
    for hook in stage.on_moved:
        hook(stage)
    told = []
    while (message := watchers[viewer].take()) is not None:
        told.append(message)
    assert len(told) == 1 + bool(events)
    return told


class SentAlike:
    """In place of `twin_worlds.compare`."""

    def __init__(self) -> None:
        self.compared = self.spectators = self.moved = 0

    def __call__(self, one: Game, twin: Game, viewer: int) -> None:
        mine, theirs = sent(one, viewer), sent(twin, viewer)
        if mine != theirs:
            raise Leak(f"viewer {viewer} is sent {mine!r} in one world and {theirs!r} in the other")
        self.compared += 1
        self.spectators += viewer == one.n
        self.moved += len(mine) == 2


def compared(name: str, pairs: int, monkeypatch: pytest.MonkeyPatch) -> SentAlike:
    """Check so many pairs of a game, comparing what is sent.  Raises Leak."""
    alike = SentAlike()
    monkeypatch.setattr(twin_worlds, "compare", alike)
    findings = Findings()
    number = 0
    while findings.pairs < pairs:
        seats = Random(f"{name}/{number}").choice(list(GAMES[name].words.seats))
        play = RandomGame(GAMES[name], seats, number)
        number += 1
        check_game(play.begin(log=True), table_of(name), Random("watch/" + play.name), STEPS, 0.1, findings)
    return alike


@pytest.mark.parametrize("name", EVERY_GAME)
def test_twin_worlds_send_a_watcher_the_same_bytes(name: str, soak: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    alike = compared(name, PAIRS_IN_SOAK if soak else PAIRS, monkeypatch)
    assert alike.spectators > 0
    assert alike.moved > PAIRS


def test_a_face_too_many_in_an_event_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PhraseCache, "event", lambda self, event, viewer: _BODY[type(event)](self, event))
    with pytest.raises(Leak, match="is sent"):
        compared("greed", 400, monkeypatch)


@pytest.mark.parametrize("name", EVERY_GAME)
def test_an_answer_that_is_sealed_tells_no_watcher_anything(name: str) -> None:
    sealed = number = 0
    while sealed < 20 and number < 100:
        random = Random(f"{name}/{number}")
        game = RandomGame(GAMES[name], random.choice(list(GAMES[name].words.seats)), number).begin(log=True)
        number += 1
        while waiting := game.waiting():
            is_sealed = isinstance(game.question, Poll) and len(waiting) > 1
            told = len(game.log or ())
            seat = random.choice(waiting)
            game.choose(seat, random.choice(game.options(seat)))
            if is_sealed:
                sealed += 1
                assert len(game.log or ()) == told
    assert sealed >= 20 or not any(issubclass(step, Poll) for step in GAMES[name].steps().values())
