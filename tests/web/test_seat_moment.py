"""A person is shown what follows from what the seat is sent, in the sentences of a person at a terminal."""

from __future__ import annotations

from hashlib import sha256
from html import unescape
from random import Random

import pytest

from cutpurse.engine.game import Game
from cutpurse.engine.history import ZoneHistory
from cutpurse.games import GAMES
from cutpurse.sdk.playing.positions import decision_for
from cutpurse.server.web.match_view.drawing import drawn
from cutpurse.server.web.match_view.frames import frame
from cutpurse.server.web.seat.moment import SeatPicture
from cutpurse.v1 import arena_pb2
from cutpurse.wire.client_session import ClientTable, table_of
from cutpurse.wire.decode import TableInfo
from cutpurse.wire.encode import MatchEncoder
from cutpurse.wire.local_match import match_started
from tests.properties import twin_worlds
from tests.properties.random_play import EVERY_GAME, RandomGame
from tests.properties.twin_worlds import Findings, Leak, check_game
from tests.properties.who_sees_what import table_of as hidden_of
from tests.web.people import decision_of, options_of, with_names
from tests.wire.test_asked import WiredMatch

CLOCK_MS = (90_000, 900_000)
HOSTILE = "<script>alert(1)</script>"


def table_at(name: str, info: TableInfo, names: tuple[str, ...]) -> ClientTable:
    return table_of(match_started(name, info.settings, names, info.seat, "m" * 32))


def picture_of(name: str, info: TableInfo) -> SeatPicture:
    names = tuple(f"bot{seat}" for seat in range(info.seats))
    return SeatPicture(table_at(name, info, names), names)


@pytest.mark.parametrize("name", EVERY_GAME)
def test_the_question_and_the_options_are_those_of_a_person_at_a_terminal(name: str) -> None:
    wired = WiredMatch(name)
    chance = Random(name)
    pictures: dict[int, SeatPicture] = {}
    shown = 0
    while shown < 20 and wired.match.decision() is not None:
        _, decision, message, info = wired.put()
        picture = pictures.setdefault(info.seat, picture_of(name, info))
        picture.ask(message)
        if decision.count > 1:
            html = picture.html(message.decision, CLOCK_MS)
            names = [f"bot{seat}" for seat in range(info.seats)]
            assert options_of(html) == [with_names(option.text, names) for option in decision.options]
            assert decision.text in unescape(html)
            assert f"/rules/{name}#{decision.rule}" in html
            assert decision_of(html) == message.decision
            picture.answered()
            assert options_of(picture.html(0, (0, 0))) == []
            shown += 1
        wired.match.answer(info.seat, decision.number, chance.randrange(decision.count))
    assert shown == 20


@pytest.mark.parametrize("name", EVERY_GAME)
def test_a_moment_has_everything_since_the_last_answer(name: str) -> None:
    """Decisions with one option are not shown, and what happened before them is shown with the next one."""
    wired = WiredMatch(name)
    chance = Random(name)
    pictures: dict[int, SeatPicture] = {}
    since: dict[int, int] = {}
    for _ in range(30):
        asked = wired.match.decision()
        if asked is None:
            break
        _, decision, message, info = wired.put()
        picture = pictures.setdefault(info.seat, picture_of(name, info))
        picture.ask(message)
        if decision.count > 1:
            view, _ = decision_for(wired.match, asked, since.get(info.seat, 0))
            first = since.get(info.seat, 0)
            names = [f"bot{seat}" for seat in range(info.seats)]
            events = [event.raw for event in view.events]
            history = ZoneHistory(view.words, info.seats)
            history.add([event.to(info.seat) for event in wired.match.game.log or ()], 0)
            expected = frame(view.raw, events, names, asked=(info.seat,), first_event=first, history=history)
            html = picture.html(message.decision, CLOCK_MS)
            assert drawn(expected) in html
            picture.answered()
            since[info.seat] = len(wired.match.game.log or ())
        wired.match.answer(info.seat, decision.number, chance.randrange(decision.count))
    assert since


class ShownAlike:
    """In place of `twin_worlds.compare`: what a person in the viewer's seat is shown of both worlds, by its hash."""

    def __init__(self) -> None:
        self.compared = self.asked = 0

    def __call__(self, one: Game, twin: Game, viewer: int) -> None:
        if viewer == one.n:  # the spectator, who has no seat
            return
        if self.shown(one, viewer) != self.shown(twin, viewer):
            raise Leak(f"seat {viewer} is shown something else in the other world")
        self.compared += 1

    def shown(self, game: Game, seat: int) -> str:
        """Return the hash of the picture of what the seat is sent."""
        options = game.options(seat) if seat in game.waiting() else []
        if len(options) < 2:
            return ""
        self.asked += 1
        encoder = MatchEncoder(type(game), game.settings, game.n)
        body = encoder.decision(
            table=1,
            number=0,
            ask=game.question.name,
            options=options,
            observation=encoder.observation_of(game, seat, agenda=True),
            events=encoder.events(7, game.log or [], seat),
            first_event=0,
            base_left_ms=CLOCK_MS[0],
            bank_left_ms=CLOCK_MS[1],
            safe_option=options.index(game.safe_option(seat, options)),
        )
        picture = picture_of(type(game).words.game, TableInfo(type(game), game.settings, game.n, seat))
        picture.ask(arena_pb2.Decision.FromString(body))
        return sha256(picture.html(1, CLOCK_MS).encode()).hexdigest()


@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", EVERY_GAME)
def test_a_person_is_shown_the_same_in_twin_worlds(name: str, soak: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    alike = ShownAlike()
    monkeypatch.setattr(twin_worlds, "compare", alike)
    findings = Findings()
    number = 0
    rules = GAMES[name]
    while findings.pairs < (1_000 if soak else 6) or alike.asked < 4:
        play = RandomGame(rules, rules.usual_seats, number)
        number += 1
        check_game(play.begin(log=True), hidden_of(name), Random("seat/" + play.name), 4, 0.05, findings)
    assert alike.compared > 0


def test_names_are_text_and_never_markup() -> None:
    _, _, message, info = WiredMatch("greed").put()
    names = (HOSTILE,) * info.seats
    picture = SeatPicture(table_at("greed", info, names), names)
    picture.ask(message)
    html = picture.html(1, CLOCK_MS, note=HOSTILE)
    assert HOSTILE not in html
    assert html.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= info.seats
