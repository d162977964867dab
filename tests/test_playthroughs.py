"""One seeded match of every game, with all that every seat and the spectator were told, kept as text.

Whatever changes in a game, or in how it is told, shows here as lines that differ. The files are read in review and
renewed by `pytest tests/test_playthroughs.py --update-playthroughs`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from cutpurse.engine.chance import Chance, match_key
from cutpurse.engine.events import Event
from cutpurse.engine.game import Game
from cutpurse.engine.history import PastTable, ZoneHistory
from cutpurse.engine.text import act_text, cards_text, event_text, option_text, zone_text
from cutpurse.engine.view import View
from cutpurse.games import GAMES
from tests.roots import CHECKOUT

FOLDER: Final = CHECKOUT / "tests" / "playthroughs"
RENEW: Final = "pytest tests/test_playthroughs.py --update-playthroughs"
BYTES_AT_MOST: Final = 200_000  # a longer match is told up to here
VIEWS_EVERY: Final = 25  # decisions


def playthrough(name: str) -> str:
    """The match of this game, told whole or up to so many bytes."""
    lines: list[str] = []
    size = 0
    for line in tell(GAMES[name]):
        lines.append(line)
        size += len(line.encode()) + 1
        if size > BYTES_AT_MOST:
            lines.append("... and so on")
            break
    return "\n".join(lines) + "\n"


def tell(rules: type[Game]) -> Iterator[str]:
    seats = rules.usual_seats
    key = match_key(f"playthrough/{rules.words.game}", 0)
    game = rules(seats, rules.check(seats, {}), Chance(key))
    answers = Chance(match_key(f"playthrough/{rules.words.game}", 1))
    settings = ", ".join(f"{setting}={game.settings.text(setting)}" for setting in rules.settings_type.kinds())
    yield f"{rules.words.title}, rules version {rules.words.version}, {seats} seats, key {key.hex()}"
    yield f"settings: {settings or 'none'}"
    game.start(log=True)
    decisions = told = 0
    history = ZoneHistory(rules.words, seats)
    while True:
        assert game.log is not None
        history.add(game.log[told:], told)
        for event in game.log[told:]:
            yield from tell_event(history.at(told), game.n, told, event)
            told += 1
        waiting = game.waiting()
        if not waiting or decisions % VIEWS_EVERY == 0:
            for viewer in [*range(seats), None]:
                yield from tell_view(game.view(viewer))
        if not waiting:
            break
        for seat in waiting:
            options = game.options(seat)
            option = options[answers.below(len(options))]
            safe = game.safe_option(seat, options)
            yield f"decision {decisions}: {game.question.name} ({game.question.first_rule()}), seat {seat}"
            view = game.view(seat)
            for offered in options:
                mark = (">" if offered == option else " ") + ("*" if offered == safe else " ")
                yield f"  {mark} {option_text(view, offered)}"
            decisions += 1
            game.choose(seat, option)
    yield f"scores {game.scores()}, places {game.places()}"


def tell_event(table: PastTable, seats: int, number: int, event: Event) -> Iterator[str]:
    """One line for all who were told the same."""
    told: dict[str, list[str]] = {}
    for viewer in range(seats + 1):
        who = str(viewer) if viewer < seats else "spectator"
        told.setdefault(event_text(table, event.to(viewer)), []).append(who)
    for text, viewers in told.items():
        yield f"{number} {'all' if len(viewers) > seats else ' '.join(viewers)}: {text}"


def tell_view(view: View) -> Iterator[str]:
    words = view.rules.words
    yield f"-- view of {'the spectator' if view.viewer is None else f'seat {view.viewer}'}"
    for counter, value in zip(words.table_counters, view.counters, strict=True):
        if value:
            yield f"   {counter.name} {value}"
    for counter, values in zip(words.seat_counters, view.seat_counters, strict=True):
        if any(values):
            yield f"   {counter.name} {' '.join(map(str, values))}"
    for zone in view.zones:
        if zone.size:
            shown = cards_text(words, zone.cards) if any(zone.cards) else f"{zone.size} face down"
            known = f"; knows {cards_text(words, zone.known)}" if zone.known else ""
            maybe = f"; maybe {cards_text(words, zone.maybe)}" if zone.maybe else ""
            numbers = "".join(f"; {list(column)}" for column in (zone.counters, *zone.columns) if any(column))
            yield f"   {zone_text(view, zone.number)}: {shown}{known}{maybe}{numbers}"
    for act in view.pending:
        yield f"   under way: {act_text(view, act)}"


@pytest.mark.parametrize("name", GAMES)
def test_the_match_is_told_as_it_was(name: str, request: pytest.FixtureRequest) -> None:
    file = FOLDER / f"{name}.txt"
    text = playthrough(name)
    if request.config.getoption("--update-playthroughs"):
        file.write_text(text, encoding="utf-8")
        return
    if not file.exists():
        pytest.fail(f"{name} has no playthrough: make one with `{RENEW}` and read it")
    was = file.read_text(encoding="utf-8").splitlines()
    now = text.splitlines()
    for number, (one, other) in enumerate(zip(was, now, strict=False), 1):
        assert one == other, f"{file.name} differs from line {number} on; if that is right: {RENEW}"
    assert len(was) == len(now), f"{file.name} has {len(was)} lines, the match {len(now)}; if that is right: {RENEW}"


def test_every_playthrough_belongs_to_a_game() -> None:
    assert {file.stem for file in FOLDER.glob("*.txt")} <= set(GAMES)


@pytest.mark.parametrize("name", GAMES)
def test_a_playthrough_shows_what_is_hidden_as_hidden(name: str) -> None:
    text = playthrough(name)
    assert "face down" in text
    assert "spectator: " in text, "somebody was told more than the spectator"
