"""A message of other rules is refused in one clear line, whatever number in it is wrong."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from google.protobuf.message import DecodeError

from cutpurse.games import GAMES
from cutpurse.v1 import arena_pb2, game_pb2
from cutpurse.wire.decode import act_of, ask_of, event_of, options_of, view_of
from cutpurse.wire.encode import MatchEncoder
from tests.properties.random_play import EVERY_GAME, RandomGame

Spoil = Callable[[game_pb2.Observation], Any]


def spoil_clue(observation: game_pb2.Observation, **values: list[int]) -> None:
    """Add a clue of one spread."""
    observation.zones[0].size = max(observation.zones[0].size, 1)
    if observation.zones[0].cards:
        observation.zones[0].size = len(observation.zones[0].cards)
    observation.clues.add().possibilities.add().spreads.add(**values)


SPOILED: list[tuple[Spoil, str]] = [
    (lambda o: o.counters.append(1), "another number of counters"),
    (lambda o: o.sides[1].counters.append(1), "another number of counters"),
    (lambda o: o.sides.add(), "sides at a table of"),
    (lambda o: o.sides[1].ClearField("zones"), "other zones than lie on the table"),
    (lambda o: o.zones.add(zone=1, kind=1), "other zones than lie on the table"),
    (lambda o: setattr(o.zones[0], "zone", 9), "other zones than lie on the table"),
    (lambda o: setattr(o.zones[0], "kind", 99), "a zone of kind 99"),
    (lambda o: setattr(o.zones[0], "kind", 0), "a zone of kind 0"),
    (lambda o: o.zones[0].cards.extend([1] * (o.zones[0].size + 1)), "that shows"),
    (lambda o: o.zones[0].known.append(4000), "card 4000 where there are 1 to"),
    (lambda o: o.zones[0].maybe.append(4000), "card 4000 where there are 1 to"),
    (lambda o: o.zones[0].counters.append(3), "with 1 counters"),
    (lambda o: setattr(o.agenda[0], "step", 0), "step 0 where there are 1 to"),
    (lambda o: setattr(o.agenda[0], "step", 4000), "step 4000 where there are 1 to"),
    (lambda o: o.agenda[0].ClearField("numbers"), "with the numbers"),
    (lambda o: o.agenda[0].numbers.extend([1] * 9), "with the numbers"),
    (lambda o: o.clues.add(), "a clue without possibilities"),
    (lambda o: spoil_clue(o, cards=[4000], zones=[1], counts=[1]), "card 4000 where there are 1 to"),
    (lambda o: spoil_clue(o, cards=[1], zones=[999], counts=[1]), "a clue on"),
    (lambda o: spoil_clue(o, cards=[1], zones=[1]), "a clue on"),
    (lambda o: spoil_clue(o, zones=[1], counts=[1]), "a clue on 1 of 0 cards"),
    (lambda o: setattr(o, "viewer", 1), "another viewer than seat 0"),
    (lambda o: o.ClearField("viewer"), "another viewer than seat 0"),
]


@pytest.mark.parametrize("name", EVERY_GAME)
@pytest.mark.parametrize(("spoil", "found"), SPOILED)
def test_a_spoiled_observation_is_refused(name: str, spoil: Spoil, found: str) -> None:
    rules = GAMES[name]
    game = rules.new()
    message = game_pb2.Observation.FromString(
        MatchEncoder(rules, game.settings, game.n).observation(game.view(0), agenda=True)
    )
    spoil(message)
    with pytest.raises(ValueError, match=found) as refused:
        view_of(message, rules, game.settings, game.n, 0)
    assert str(refused.value).endswith(
        f": {name} as it is played here, rules version {rules.words.version}, has no such thing"
    )
    assert "\n" not in str(refused.value)


def test_columns_that_do_not_fit_are_refused() -> None:
    rules = GAMES["stolen_treasure"]
    game = rules.new(settings={"start_treasure": 2})
    message = game_pb2.Observation.FromString(
        MatchEncoder(rules, game.settings, game.n).observation(game.view(0), agenda=True)
    )
    hand = message.sides[0].zones[0]
    assert len(hand.columns) == 1
    for spoil in (
        lambda zone: zone.columns.add(column=2, values=[0] * zone.size),
        lambda zone: zone.columns[0].values.append(1),
        lambda zone: zone.ClearField("columns"),
        lambda zone: setattr(zone.columns[0], "column", 0),
    ):
        spoiled = game_pb2.Observation()
        spoiled.CopyFrom(message)
        spoil(spoiled.sides[0].zones[0])
        with pytest.raises(ValueError, match="with the columns"):
            view_of(spoiled, rules, game.settings, game.n, 0)


@pytest.mark.parametrize(
    ("event", "found"),
    [
        (game_pb2.Event(), "an event that tells nothing"),
        (game_pb2.Event(act=game_pb2.Act(verb=99)), "verb 99 where there are 1 to"),
        (game_pb2.Event(act=game_pb2.Act()), "verb 0 where there are 1 to"),
        (game_pb2.Event(act=game_pb2.Act(verb=1, seat=4)), "of seat None towards seat 4 at a table of 4"),
        (game_pb2.Event(act=game_pb2.Act(verb=1, actor=4)), "of seat 4 towards seat None"),
        (game_pb2.Event(moved=game_pb2.Moved(cards=[99])), "card 99 where there are 1 to"),
        (game_pb2.Event(shown=game_pb2.Shown(zone=1, seats=[7])), "seat 7 at a table of 4"),
        (game_pb2.Event(counted=game_pb2.Counted(counter=40)), "counter 40 where there are"),
        (game_pb2.Event(counted=game_pb2.Counted(counter=0, seat=9)), "seat 9 at a table of 4"),
        (game_pb2.Event(counted=game_pb2.Counted(counter=0, zone=1, place=0)), "counter 0 where there are"),
        (game_pb2.Event(placed=game_pb2.Placed(zone=1, kind=99)), "a zone of kind 99"),
        (game_pb2.Event(placed=game_pb2.Placed(zone=1, kind=1, seat=4)), "seat 4 at a table of 4"),
        (game_pb2.Event(asked=game_pb2.Asked(ask=0)), "question 0 where there are 1 to"),
        (game_pb2.Event(asked=game_pb2.Asked(ask=1, seats=[5])), "seat 5 at a table of 4"),
        (game_pb2.Event(scored=game_pb2.Scored(scores=[1, 2])), "2 scores at a table of 4"),
    ],
)
def test_a_spoiled_event_is_refused(event: game_pb2.Event, found: str) -> None:
    with pytest.raises(ValueError, match=found):
        event_of(event, GAMES["greed"], 4)


def test_a_decision_without_options_is_refused() -> None:
    with pytest.raises(ValueError, match="a decision without options"):
        options_of(arena_pb2.Decision(), GAMES["greed"], 4)
    with pytest.raises(ValueError, match="question 0"):
        ask_of(0, GAMES["greed"])


@pytest.mark.parametrize("name", EVERY_GAME)
def test_bytes_changed_on_the_way_are_read_or_refused_and_nothing_else(name: str) -> None:
    """Whatever comes, the only complaint is ValueError: for that a client has an answer."""
    rules = GAMES[name]
    play = RandomGame(rules, rules.usual_seats, 0)
    game = play.begin(log=True)
    dice = Random(name)
    for _ in zip(play.play(game), range(30), strict=False):
        pass
    assert game.log is not None
    encoder = MatchEncoder(rules, game.settings, game.n)

    def look(observation: game_pb2.Observation) -> None:
        view_of(observation, rules, game.settings, game.n, 0).to_bytes()
        for act in observation.pending:
            act_of(act, rules, game.n)

    def hear(decision: arena_pb2.Decision) -> None:
        for event in decision.events:
            event_of(event, rules, game.n)

    cases: list[tuple[Any, bytes, Callable[[Any], None]]] = [
        (game_pb2.Observation, encoder.observation(game.view(0), agenda=True), look),
        (arena_pb2.Decision, encoder.events(7, game.log, 0), hear),
    ]
    for message_type, body, use in cases:
        refused = read = 0
        for _ in range(1500):
            changed = bytearray(body)
            for _ in range(dice.randrange(1, 4)):
                changed[dice.randrange(len(changed))] = dice.randrange(256)
            try:
                message = message_type.FromString(bytes(changed))
            except DecodeError:
                continue
            try:
                use(message)
                read += 1
            except ValueError:
                refused += 1
        assert refused > 30
        assert read > 30
