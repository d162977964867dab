"""The last events of a match and one row a zone: what they say, and that they are there in every environment."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from cutpurse.engine.errors import UsageError
from cutpurse.engine.events import Asked, Happened
from cutpurse.games import GAMES
from cutpurse.learn import Space
from cutpurse.learn.gym import Seat
from cutpurse.learn.pettingzoo import LearnersTable
from tests.learn.positions import positions
from tests.properties.random_play import EVERY_GAME, EVERY_TABLE, RandomGame

LENGTH = 12


@pytest.mark.parametrize(("name", "seats"), EVERY_TABLE)
def test_a_trail_that_goes_on_is_one_made_anew(name: str, seats: int) -> None:
    space = Space(name, seats, history=LENGTH)
    play = RandomGame(GAMES[name], seats, 1)
    trail = space.trail()
    for step, game in enumerate(play.play(play.begin(log=True))):
        trail.add(game.log or ())
        if step % 20 == 0:
            anew = space.trail()
            anew.add(game.log or ())
            for seat in range(seats):
                found = space.events(trail, seat)
                assert found.shape == (LENGTH, 10)
                assert (found == space.events(anew, seat)).all()
        if step == 200:
            return


def test_events_are_rows_as_each_seat_heard_them() -> None:
    """Seat 1 plays an open card of two players, and the next seat is asked."""
    space = Space("greed", 2, history=4)
    game = GAMES["greed"].new(2, settings={"first_seat": 1})
    game.log = []
    option = game.options(1)[0]
    game.choose(1, option)
    trail = space.trail()
    trail.add(game.log)
    parts = [span.part for span in space.layout() if span.array == "history"]
    for viewer in (0, 1):
        nothing, played, moved, asked = [
            dict(zip(parts, row, strict=True)) for row in space.events(trail, viewer).tolist()
        ]
        me = 1 if viewer == 1 else 2
        assert set(nothing.values()) == {0}
        assert isinstance(game.log[0], Happened)
        assert (played["kind"], played["what"], played["actor"], played["card"]) == (
            1,
            option.verb,
            me,
            option.cards[0],
        )
        hand, collection = (space.rules.words.zones[moved[part] - 1].name for part in ("from zone", "zone"))
        assert (hand, moved["from owner"], collection, moved["owner"]) == ("hand", me, "collection", me)
        assert (moved["card"], moved["number"]) == (option.cards[0], 1)
        assert isinstance(game.log[2], Asked)
        assert (asked["seat"], asked["number"]) == (me, 1)


def test_a_hidden_card_is_a_zero_for_those_who_do_not_see_it() -> None:
    space = Space("szmal", 4, history=40)
    game = GAMES["szmal"].new(4)
    game.log = []
    for seat in range(4):
        game.choose(seat, game.options(seat)[2])
    trail = space.trail()
    trail.add(game.log)
    card = [span.part for span in space.layout() if span.array == "history"].index("card")
    seen = [int((space.events(trail, seat)[:, card] > 0).sum()) for seat in range(4)]
    assert seen[0] > 0
    rows = space.events(trail, 0).tolist()
    among_others = [row for row in rows if row[0] == 2 and row[6] > 1 and row[8] > 1]
    assert among_others
    assert all(row[card] == 0 for row in among_others)


@pytest.mark.parametrize(("name", "seats"), EVERY_TABLE)
def test_every_zone_is_a_row_with_what_its_block_has(name: str, seats: int) -> None:
    space, most = Space(name, seats, rows=True), 0
    spans = {span.part: span.slice for span in space.layout() if span.array == "rows"}
    for position in positions(name, seats, 150):
        view = position.view
        rows, mask = space.zone_rows(view)
        count = len(view.zones)
        most = max(most, count)
        assert mask.tolist() == [1] * count + [0] * (len(rows) - count)
        assert not rows[count:].any()
        by_zone: dict[tuple[int, int], list[Any]] = {}
        for row in rows[:count]:
            kind, owner = int(row[spans["kind"]][0]), int(row[spans["owner"]][0])
            seat = -1 if owner == 0 else (owner - 1 + position.seat) % seats
            by_zone.setdefault((kind, seat), []).append(row)
        for zone in view.zones:
            row = by_zone[zone.kind.number, zone.owner].pop(0)
            assert row[spans["size"]][0] == min(zone.size, 255)
            assert row[spans["seen"]].sum() == len([card for card in zone.cards if card])
            assert row[spans["known"]].sum() in (0, len(zone.known))
            for place, value in enumerate(zone.counters, 1):
                assert row[spans[f"counter {place}"]][0] == min(max(value, 0), 255)
    assert most <= space.rows[0]


def test_the_first_rows_are_the_table_then_the_own_zones() -> None:
    (position,) = positions("stolen_treasure", 3, 1)
    space = Space("stolen_treasure", 3, rows=True)
    rows, _ = space.zone_rows(position.view)
    owners = rows[:, 1].tolist()
    assert owners == sorted(owners)
    assert owners[0] == 0


@pytest.mark.parametrize("name", EVERY_GAME)
def test_environments_observe_events_and_rows(name: str) -> None:
    others = ["random"] * (GAMES[name].usual_seats - 1)
    seat = Seat(name, others, history=LENGTH, rows=True, seed=1)
    observation, _ = seat.reset()
    assert sorted(observation) == ["action_mask", "history", "numbers", "row_mask", "rows"]
    for _ in range(10):
        assert observation in seat.observation_space
        expected = seat.space.trail()
        expected.add(seat.table.game.log or ())
        mine = seat.table.seat_of(0)
        assert (observation["history"] == seat.space.events(expected, mine)).all()
        assert (observation["rows"] == seat.space.zone_rows(seat.table.view)[0]).all()
        observation, _, is_over, _, _ = seat.step(int(observation["action_mask"].argmax()))
        if is_over:
            observation, _ = seat.reset()
    assert observation["history"].any()
    table = LearnersTable(name, history=LENGTH, rows=True)
    table.reset(seed=1)
    assert {agent: np.shape(table.observe(agent)["history"]) for agent in table.agents} == dict.fromkeys(
        table.agents, (LENGTH, 10)
    )


@pytest.mark.filterwarnings("ignore")  # as in test_environments.py
def test_gymnasium_finds_no_fault_in_events_and_rows() -> None:
    check_env(Seat("greed", ["random"], history=3, rows=True), skip_render_check=True)


def test_events_and_rows_change_the_arrangement_and_not_the_numbering() -> None:
    plain = Space("greed", 4)
    arrangements = {
        space.arrangement for space in (plain, Space("greed", 4, 8), Space("greed", 4, 9), Space("greed", 4, rows=True))
    }
    assert len(arrangements) == 4
    assert Space("greed", 4, 8).numbering == plain.numbering


def test_what_was_not_asked_for_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^this space has no rows: make Space\('greed', seats=4, rows=True\)$"):
        Space("greed", 4).zone_rows(GAMES["greed"].new().view(0))
    with pytest.raises(UsageError, match=r"^-1 events cannot be in an observation; 0 leaves them out$"):
        Space("greed", 4, history=-1)
