"""A person is shown what follows from what the seat is sent, in the sentences of a person at a terminal."""

from __future__ import annotations

import re
from dataclasses import replace
from hashlib import sha256
from html import unescape
from random import Random

import pytest

from cutpurse.check.local_match import match_started
from cutpurse.engine.game import Game
from cutpurse.engine.history import ZoneHistory
from cutpurse.games import GAMES
from cutpurse.page.language.second_person import addressed
from cutpurse.page.match_view.drawing import rendered
from cutpurse.page.match_view.frames import frame
from cutpurse.page.seat.choices import split_hands
from cutpurse.page.seat.moment import SeatPicture, with_clock
from cutpurse.sdk.matches.watching import WatchReader, WatchUpdate
from cutpurse.sdk.playing.positions import decision_for
from cutpurse.v1 import arena_pb2
from cutpurse.v1.ladder_pb2 import WatchMatchResponse, WatchMoved
from cutpurse.wire.client_table import table_of
from cutpurse.wire.decode import TableInfo, read_decision
from cutpurse.wire.encode import MatchEncoder
from cutpurse.wire.wire_format import field
from tests.page.people import decision_of, options_of, with_names
from tests.properties import twin_worlds
from tests.properties.random_play import EVERY_GAME, RandomGame
from tests.properties.twin_worlds import Findings, Leak, check_game
from tests.properties.who_sees_what import table_of as hidden_of
from tests.wire.test_asked import WiredMatch

CLOCK_S = (90, 900)
HOSTILE = "<script>alert(1)</script>"


def picture_at(name: str, info: TableInfo, names: tuple[str, ...]) -> SeatPicture:
    return SeatPicture(GAMES[name].words, info.seat, names, "m" * 32)


def picture_of(name: str, info: TableInfo) -> SeatPicture:
    return picture_at(name, info, tuple(f"bot{seat}" for seat in range(info.seats)))


def html_of(picture: SeatPicture, number: int, clock_s: tuple[float, float] = CLOCK_S, note: str = "") -> str:
    return with_clock(picture.drawing(number, note)(), *clock_s)


@pytest.mark.parametrize("name", EVERY_GAME)
def test_the_question_and_the_options_are_those_of_a_person_at_a_terminal(name: str) -> None:
    wired = WiredMatch(name)
    chance = Random(name)
    pictures: dict[int, SeatPicture] = {}
    shown = 0
    while shown < 20 and wired.match.decision() is not None:
        _, decision, message, info = wired.put()
        picture = pictures.setdefault(info.seat, picture_of(name, info))
        picture.ask(*read_decision(message, info))
        if decision.count > 1:
            html = html_of(picture, message.decision)
            names = [f"bot{seat}" for seat in range(info.seats)]
            said = [addressed(option.text, info.seat, wired.rules.words) for option in decision.options]
            assert options_of(html) == [with_names(text, names) for text in said]
            assert decision.text in unescape(html)
            assert f"/rules/{name}#{decision.rule}" in html
            assert decision_of(html) == message.decision
            picture.answered()
            assert options_of(html_of(picture, 0, (0.0, 0.0))) == []
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
        picture.ask(*read_decision(message, info))
        if decision.count > 1:
            view, _ = decision_for(wired.match, asked, since.get(info.seat, 0))
            first = since.get(info.seat, 0)
            names = [f"bot{seat}" for seat in range(info.seats)]
            events = [event.raw for event in view.events]
            history = ZoneHistory(view.words, info.seats)
            history.add([event.to(info.seat) for event in wired.match.game.log or ()], 0)
            expected = frame(view.raw, events, names, asked=(info.seat,), first_event=first, history=history)
            html = html_of(picture, message.decision)
            hands, board = split_hands(view.raw, expected)
            pending = tuple([addressed(text, info.seat, wired.rules.words) for text in board.pending])
            assert rendered("seat_board.html", frame=replace(board, pending=pending)).strip() in html
            assert all(f'data-key="{card.key}"' in html for hand in hands for card in hand.cards)
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
        if self.shown(one, viewer) != self.shown(twin, viewer) or self.seen(one, viewer) != self.seen(twin, viewer):
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
            base_left_ms=CLOCK_S[0],
            bank_left_ms=CLOCK_S[1],
            safe_option=options.index(game.safe_option(seat, options)),
        )
        info = TableInfo(type(game), game.settings, game.n, seat)
        picture = picture_of(type(game).words.game, info)
        picture.ask(*read_decision(arena_pb2.Decision.FromString(body), info))
        return sha256(html_of(picture, 1).encode()).hexdigest()

    def seen(self, game: Game, seat: int) -> tuple[str, str]:
        """Return who is thinking, and the hash of the picture of what the watch of the seat is sent."""
        encoder = MatchEncoder(type(game), game.settings, game.n)
        body = encoder.events(WatchMoved.EVENTS_FIELD_NUMBER, game.log or [], seat)
        body += field(WatchMoved.OBSERVATION_FIELD_NUMBER, encoder.observation_of(game, seat, agenda=True))
        info = TableInfo(type(game), game.settings, game.n, seat)
        names = ("bot",) * game.n
        table = table_of(match_started(type(game).words.game, info.settings, names, seat, "m" * 32))
        reader = WatchReader(seat)
        reader._table = table
        update = reader.read(WatchMatchResponse(moved=WatchMoved.FromString(body)))
        assert isinstance(update, WatchUpdate)
        picture = picture_at(table.game, info, names)
        picture.update(update.view, update.events, update.first_event)
        return picture.thinking(), sha256(html_of(picture, 0).encode()).hexdigest()


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
    picture = picture_at("greed", info, names)
    picture.ask(*read_decision(message, info))
    html = html_of(picture, 1, note=HOSTILE)
    assert HOSTILE not in html
    assert html.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= info.seats


@pytest.mark.parametrize("name", EVERY_GAME)
def test_every_option_is_in_the_list_once_and_its_parts_are_on_the_table(name: str) -> None:
    wired = WiredMatch(name, 3)
    chance = Random(name)
    for _ in range(60):
        if wired.match.decision() is None:
            break
        _, decision, message, info = wired.put()
        picture = picture_of(name, info)
        picture.ask(*read_decision(message, info))
        html = html_of(picture, message.decision)
        if decision.count > 1:
            found = re.findall(
                r'name="option" value="(\d+)" data-verb="([^"]+)" data-count="\d+" data-parts="([^"]*)"', html
            )
            assert sorted(int(index) for index, _, _ in found) == list(range(decision.count))
            tokens = {token for _, _, parts in found for token in re.split(r"[,|]", parts) if token}
            for token in tokens:
                kind, _, which = token.partition(":")
                attribute = {"k": "key", "z": "zone", "s": "seat"}[kind]
                assert f'data-{attribute}="{which}"' in html, token
            for index, _, parts in found:  # a card that is played is one of the hand
                act = decision.options[int(index)]
                assert bool(parts) or not (act.cards or act.zone), act.text
        wired.match.answer(info.seat, decision.number, chance.randrange(decision.count))
