"""What is drawn is what the viewer sees: every card once, and nothing that is hidden from them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import fields, is_dataclass, replace
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

import pytest

from cutpurse.engine.game import Game
from cutpurse.engine.match import Match
from cutpurse.engine.view import View
from cutpurse.engine.words import FACE_DOWN
from cutpurse.games import GAMES
from cutpurse.page.match_view.drawing import packed, rendered
from cutpurse.page.match_view.frames import Frame, asked_of, frame, whole_events, whole_view
from cutpurse.page.match_view.layouts import LAYOUTS, Layout
from cutpurse.page.match_view.picture import picture
from tests.engine.toy import Toy
from tests.page.drawings import Drawing, taken_apart
from tests.properties import twin_worlds
from tests.properties.random_play import EVERY_GAME, EVERY_TABLE, RandomGame
from tests.properties.twin_worlds import Findings, Leak, check_game
from tests.properties.who_sees_what import table_of

PAIRS = 12  # of each game

HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(2)>\u202eevil'


def drawing_of(view: View, made: Frame) -> Drawing:
    html = rendered("board.html", frame=made)
    assert "\n\n" not in html
    return taken_apart(html)


def check_cards(view: View, drawing: Drawing) -> None:
    """Every card of the view exactly once, those that are hidden face down, and nothing else."""
    cards = view.rules.words.cards
    for zone in view.zones:
        where = f"{zone.kind.name} {zone.number}"
        seen = Counter(cards[card - 1].name for card in zone.cards if card != FACE_DOWN)
        hidden = zone.size - seen.total()
        known = Counter(cards[card - 1].name for card in zone.known) if hidden else Counter[str]()
        assert drawing.faces[zone.number] == seen, where
        assert drawing.known[zone.number] == known, where
        assert drawing.backs[zone.number] == hidden - known.total(), where
    assert len(drawing.keys) == len(set(drawing.keys))


@pytest.mark.parametrize(("name", "seats"), EVERY_TABLE)
def test_every_card_that_is_seen_is_drawn_once_and_all_others_are_face_down(name: str, seats: int) -> None:
    looked_at = 0
    for number in range(2):
        play = RandomGame(GAMES[name], seats, number)
        random = Random(play.name)
        since = 0
        for game in play.play(play.begin(log=True)):
            log = game.log or []
            if random.random() < 0.04:
                events = log[since:]
                names = [f"bot {seat}" for seat in range(seats)]
                viewer = random.randrange(seats)
                for view, told in (
                    (game.view(None), [event.to(seats) for event in events]),
                    (game.view(viewer), [event.to(viewer) for event in events]),
                    (whole_view(game), whole_events(events)),
                ):
                    made = frame(view, told, names, asked=asked_of(view, told), public=game.view(None))
                    check_cards(view, drawing_of(view, made))
                    looked_at += 1
            since = len(log)
    assert looked_at >= 3


@pytest.mark.parametrize("name", EVERY_GAME)
def test_the_whole_view_opens_every_card_before_a_seat(name: str) -> None:
    play = RandomGame(GAMES[name], GAMES[name].usual_seats, 0)
    opened = 0
    for game in play.play(play.begin(log=True)):
        hidden = [
            zone
            for zone in game.view(None).zones
            if zone.owner >= 0 and zone.size and FACE_DOWN in (zone.cards or (0,))
        ]
        for zone in whole_view(game).zones:
            if zone.owner >= 0:
                assert len(zone.cards) == zone.size
                assert FACE_DOWN not in zone.cards
                assert list(zone.cards) == game.zone(zone.number).cards
        opened += bool(hidden)
    assert opened > 3


def everything(value: Any) -> str:
    """All that a frame holds, as text."""
    if is_dataclass(value):
        return " ".join(everything(getattr(value, one.name)) for one in fields(value))
    if isinstance(value, list | tuple):
        return " ".join(map(everything, value))
    return repr(value)


class DrawnAlike:
    """In place of `twin_worlds.compare`: a seat's and a spectator's drawing is the same in both worlds."""

    def __init__(self) -> None:
        self.compared = self.spectators = self.told = 0

    def __call__(self, one: Game, twin: Game, viewer: int) -> None:
        mine, theirs = self.drawn(one, viewer), self.drawn(twin, viewer)
        if mine != theirs:
            raise Leak(f"viewer {viewer} is shown\n{mine}\nin one world and\n{theirs}\nin the other")
        self.compared += 1
        self.spectators += viewer == one.n

    def drawn(self, game: Game, viewer: int) -> str:
        view = game.view(None if viewer == game.n else viewer)
        told = [event.to(viewer) for event in game.log or ()]
        self.told += bool(told)
        made = frame(view, told, ["a"] * game.n, asked=asked_of(view, told), public=game.view(None))
        return (
            everything(made)
            + rendered("board.html", frame=made)
            + picture(made)
            + rendered("told.html", told=made.lines, names=made.names, frame=made)
        )


@pytest.mark.parametrize("name", EVERY_GAME)
def test_the_drawings_of_twin_worlds_are_the_same_to_the_byte(
    name: str, soak: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    alike = DrawnAlike()
    monkeypatch.setattr(twin_worlds, "compare", alike)
    findings = Findings()
    number = 0
    rules = GAMES[name]
    while findings.pairs < (1_000 if soak else PAIRS):
        seats = rules.words.seats[number % len(rules.words.seats)]
        play = RandomGame(rules, seats, number)
        number += 1
        check_game(play.begin(log=True), table_of(name), Random("drawn/" + play.name), 4, 0.05, findings)
    assert alike.compared >= findings.pairs
    assert alike.spectators > 0
    assert alike.told > 0


def test_a_planted_leak_would_be_found() -> None:
    """The comparison is not vacuous: drawn with the hands open, twins differ."""
    play = RandomGame(GAMES["greed"], 3, 0)
    game = play.begin(log=True)
    twin = table_of("greed")(game, 0).redeal(game, Random(1))
    assert twin is not None
    DrawnAlike()(game.fork(), twin, 0)
    with pytest.raises(Leak):
        DrawnAlike()(game.fork(), twin, 1)
    names = ["a"] * 3
    assert rendered("board.html", frame=frame(whole_view(game), (), names)) != rendered(
        "board.html", frame=frame(whole_view(twin), (), names)
    )


def test_names_are_text_and_never_markup() -> None:
    game = GAMES["greed"].new(3)
    html = rendered("board.html", frame=frame(game.view(None), (), [HOSTILE, "b", "c"]))
    assert "<script" not in html
    assert "<img" not in html
    assert "\u202e" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "onerror" in taken_apart(html).text


def test_a_card_says_where_it_came_from_and_keeps_its_key() -> None:
    match = Match(GAMES["greed"], ["a", "b", "c"], bytes(32), log=True)
    decision = match.decision()
    assert decision is not None
    before = taken_apart(rendered("board.html", frame=frame(whole_view(match.game), (), match.seats)))
    since = len(match.game.log or ())
    hand, collection = match.game.hand[decision.seat].number, match.game.collection[decision.seat].number  # type: ignore[attr-defined]
    match.answer(decision.seat, decision.number, 0)
    events = whole_events((match.game.log or [])[since:])
    after = taken_apart(rendered("board.html", frame=frame(whole_view(match.game), events, match.seats)))
    card = decision.options[0].cards[0]
    assert after.came_from[f"z{collection}-{card}-0"] == hand
    stayed = [key for key in before.keys if key.startswith(f"z{hand}-") and not key.startswith(f"z{hand}-{card}-")]
    assert stayed
    assert set(stayed) <= set(after.keys)


@pytest.mark.parametrize("name", EVERY_GAME)
def test_hints_are_about_what_the_game_has(name: str) -> None:
    words, layout = GAMES[name].words, LAYOUTS[name]
    zones, verbs = {zone.name for zone in words.zones}, {verb.name for verb in words.verbs}
    usual = Layout()
    assert (layout.fans - usual.fans) | layout.stacks | layout.rows | layout.worth | set(layout.drawings) <= zones
    counters = {counter.name for zone in words.zones for counter in zone.counters}
    assert set(layout.icons) <= zones | counters
    assert layout.steals <= verbs
    assert layout.small | set(layout.shows) <= {column.name for zone in words.zones for column in zone.columns}
    assert {mark for marks in layout.shows.values() for mark in marks} <= set(layout.marks)
    assert set(layout.marks) <= {trait for card in words.cards for trait in card.traits}
    assert {one.name for one in words.table_counters} & set(layout.turns)
    keys = {card.name for card in words.cards} | {card.sort for card in words.cards}
    keys |= {f"{card.sort}:{card.value}" for card in words.cards}
    keys |= {f"special:{card.traits['special']}" for card in words.cards if "special" in card.traits}
    assert set(layout.tones) | set(layout.emblems) <= keys
    symbols = rendered("symbols.svg")
    for card in words.cards:
        for symbol in [layout.emblem(card), *layout.marks, *layout.icons.values()]:
            assert not symbol or f'id="e-{symbol}"' in symbols


def test_a_game_without_hints_is_drawn_too() -> None:
    match = Match(Toy, ["a", "b", "c"], bytes(32), log=True)
    for view in (match.game.view(None), match.game.view(1), whole_view(match.game)):
        check_cards(view, drawing_of(view, frame(view, (), match.seats)))


def test_frames_that_are_packed_can_be_unpacked() -> None:
    frames = [["a", "b", "c"], ["a", "x", "c"], ["a", "x", "c"], [], ["c", "a", "b", "c"]]
    pack: Any = packed(frames)
    before: list[int] = []
    for wanted, (same, left, *middle) in zip(frames, pack["frames"], strict=True):
        before = before[:same] + middle + before[len(before) - left :]
        assert [pack["lines"][place] for place in before] == wanted
    assert pack["lines"] == ["a", "b", "c", "x"]
    assert pack["frames"][2] == [3, 0]


def test_what_was_found_of_a_seat_is_drawn_beside_it() -> None:
    game = GAMES["greed"].new(2)
    made = frame(game.view(None), (), ["a", "b"])
    seats = [
        replace(one, marks=replace(one.marks, faults=2, thinking_ms=1_500, place=1, score=12)) for one in made.seats
    ]
    text = taken_apart(rendered("board.html", frame=replace(made, seats=tuple(seats)))).text
    assert "2 faults" in text
    assert "1.5 s" in text
    assert "1st" in text


def test_the_styles_of_tables_and_of_all_pages_are_about_different_things() -> None:
    """Both are on the page of a table: a class that both know would be drawn as neither means it."""
    folder = Path(str(files("cutpurse.page"))) / "static"
    known = []
    for names in (("table.css", "seat.css"), ("style.css",)):
        text = "".join([(folder / name).read_text(encoding="utf-8") for name in names])
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        known.append(set(re.findall(r"\.([a-z][\w-]*)", re.sub(r"\{[^{}]*\}", "{}", text))))
    assert len(known[0]) > 80
    assert known[0] & known[1] <= {"bad", "quiet", "ghost", "go"}  # buttons of all pages
