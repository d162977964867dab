"""A second encoder of the messages, with protobuf's own objects, written from the comments of the .proto files.

It caches nothing, tracks the kinds of zones by their events, and shares no code with the encoder. Only the catalogue
gives it the numbers of names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cutpurse.engine.agenda import Act, Step
from cutpurse.engine.clues import Possibility
from cutpurse.engine.events import Asked, Counted, Event, Happened, Moved, Placed, Scored, Shown, Shuffled
from cutpurse.engine.game import Game
from cutpurse.engine.view import View
from cutpurse.engine.zones import ZoneView
from cutpurse.v1 import game_pb2

__all__ = ["SlowEncoder", "slow_act"]


def slow_act(act: Act) -> game_pb2.Act:
    message = game_pb2.Act(verb=act.verb, zone=act.zone, cards=act.cards, places=act.places, number=act.number)
    if act.actor is not None:
        message.actor = act.actor
    if act.seat is not None:
        message.seat = act.seat
    return message


def number_of(name: str, named: Sequence[Any]) -> int:
    """Return the number, from 1, of a name in a list of the catalogue."""
    return [one.name for one in named].index(name) + 1


def slow_zone(zone: ZoneView) -> game_pb2.Zone:
    return game_pb2.Zone(
        zone=zone.number,
        kind=zone.kind.number,
        size=zone.size,
        cards=zone.cards,
        known=zone.known,
        maybe=zone.maybe,
        counters=zone.counters,
        columns=[game_pb2.Column(column=n, values=values) for n, values in enumerate(zone.columns, 1)],
    )


def slow_clue(possibilities: tuple[Possibility, ...]) -> game_pb2.Clue:
    clue = game_pb2.Clue()
    for possibility in possibilities:
        spreads = clue.possibilities.add().spreads
        for spread in possibility:
            zones, counts = zip(*spread.places, strict=True)
            spreads.add(cards=spread.faces, unknown=spread.unknown, zones=zones, counts=counts)
    return clue


class SlowEncoder:
    """The encoder of one match; `hear` must get all events in order."""

    def __init__(self, game: Game, catalogue: game_pb2.Catalogue) -> None:
        self.catalogue = catalogue
        self.seats = game.n
        self.kinds = {zone.number: zone.kind.number for zone in game.fixed}
        self.counted: dict[int, int] = {}  # index of the counter of a Counted event, by its number

    def hear(self, number: int, event: Event) -> None:
        if isinstance(event, Placed):
            self.kinds[event.zone] = event.kind
        elif isinstance(event, Counted):
            if event.seat is not None:
                names = self.catalogue.seat_counters
            elif event.zone is None:
                names = self.catalogue.table_counters
            else:
                kind = self.catalogue.zone_kinds[self.kinds[event.zone] - 1]
                if event.place is not None:
                    self.counted[number] = number_of(event.counter, kind.columns)
                    return
                names = kind.counters
            self.counted[number] = number_of(event.counter, names) - 1

    def event(self, number: int, event: Event, viewer: int) -> game_pb2.Event:
        told: Any = event.to(viewer)
        match told:
            case Happened():
                return game_pb2.Event(act=slow_act(told.act))
            case Moved():
                return game_pb2.Event(
                    moved=game_pb2.Moved(from_zone=told.from_zone, to_zone=told.to_zone, cards=told.cards)
                )
            case Shown():
                return game_pb2.Event(shown=game_pb2.Shown(zone=told.zone, seats=told.seats, cards=told.cards))
            case Shuffled():
                return game_pb2.Event(shuffled=game_pb2.Shuffled(zone=told.zone))
            case Counted():
                counted = game_pb2.Counted(counter=self.counted[number], zone=told.zone or 0, value=told.value)
                if told.seat is not None:
                    counted.seat = told.seat
                if told.place is not None:
                    counted.place = told.place
                return game_pb2.Event(counted=counted)
            case Placed():
                placed = game_pb2.Placed(zone=told.zone, kind=told.kind)
                if told.seat >= 0:
                    placed.seat = told.seat
                return game_pb2.Event(placed=placed)
            case Asked():
                asked = game_pb2.Asked(ask=number_of(told.ask, self.catalogue.asks), seats=told.seats)
                return game_pb2.Event(asked=asked)
            case Scored():
                return game_pb2.Event(scored=game_pb2.Scored(over=told.over, scores=told.scores))
        raise AssertionError(f"no message is known for {event}")

    def step(self, step: Step) -> game_pb2.StepLeft:
        name, *fields = step.save()
        number = number_of(str(name), self.catalogue.steps)
        numbers: list[int] = []
        for called, value in zip(self.catalogue.steps[number - 1].numbers, fields, strict=True):
            if called.endswith("..."):
                assert isinstance(value, list)
                numbers += [len(value), *value]
            else:
                assert isinstance(value, int)
                numbers.append(int(value))
        return game_pb2.StepLeft(step=number, numbers=numbers)

    def observation(self, view: View, agenda: bool) -> game_pb2.Observation:
        message = game_pb2.Observation(
            counters=view.counters,
            zones=[slow_zone(zone) for zone in view.zones if zone.owner == -1],
            sides=[
                game_pb2.Side(
                    counters=[values[seat] for values in view.seat_counters],
                    zones=[slow_zone(zone) for zone in view.zones if zone.owner == seat],
                )
                for seat in range(self.seats)
            ],
            pending=[slow_act(act) for act in view.pending],
            agenda=[self.step(step) for step in view.agenda] if agenda else [],
            clues=[slow_clue(possibilities) for possibilities in view.clues] if agenda else [],
        )
        if view.viewer is not None:
            message.viewer = view.viewer
        return message
