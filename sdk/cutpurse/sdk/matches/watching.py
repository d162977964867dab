"""A watched match of a server: messages of WatchMatch in; views, events and the result out.

This module knows no network and no terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from cutpurse.engine.events import Event
from cutpurse.engine.match import MatchResult
from cutpurse.engine.view import View
from cutpurse.v1 import arena_pb2, game_pb2, ladder_pb2
from cutpurse.wire.client_table import ClientTable, result_of, table_of
from cutpurse.wire.deal_check import broken_promise
from cutpurse.wire.decode import event_of, view_of
from cutpurse.wire.errors import ServerRefused
from cutpurse.wire.text import printable

__all__ = ["WatchBegin", "WatchReader", "WatchUpdate", "WatchEnd", "Watched", "watched"]


@dataclass(frozen=True, slots=True)
class WatchBegin:
    """The beginning of a watched match.

    Attributes:
        names: Bot and version in each seat.
        delay_ms: How much later than the bots a spectator gets the updates.
    """

    table: ClientTable
    names: tuple[str, ...]
    seat: int | None
    delay_ms: int
    view: View


@dataclass(frozen=True, slots=True)
class WatchUpdate:
    """One or more `events`, the first with number `first_event`, and the view after them."""

    table: ClientTable
    at_ms: int
    first_event: int
    events: tuple[Event, ...]
    view: View


@dataclass(frozen=True, slots=True)
class WatchEnd:
    """The end of a watched match.

    Attributes:
        broken_promise: What is wrong with the commitment to the deal; empty if it holds, None if it was not opened.
    """

    table: ClientTable
    first_event: int
    events: tuple[Event, ...]
    result: MatchResult
    rated: bool
    seed: bytes
    params: bytes
    broken_promise: str | None


Watched: TypeAlias = WatchBegin | WatchUpdate | WatchEnd


class WatchReader:
    """Reads the messages of one watch call in order."""

    def __init__(self, seat: int | None = None) -> None:
        """Begin before the first message.

        Args:
            seat: Seat whose view was requested; None for the spectator's view.
        """
        self._seat = seat
        self._table: ClientTable | None = None

    def read(self, message: ladder_pb2.WatchMatchResponse) -> Watched | None:
        """Decode the next message; return None for one that says nothing.

        Raises:
            ServerRefused: If the message makes no sense, as from a server with other rules.
        """
        try:
            return self._read(message)
        except ValueError as problem:
            raise ServerRefused(str(problem)) from None

    def _read(self, message: ladder_pb2.WatchMatchResponse) -> Watched | None:
        what, seat = message.WhichOneof("what"), self._seat
        if what == "started":
            table = self._table = table_of(message.started.match)
            names = tuple(map(_shown_name, table.names, message.started.match.seats))
            view = _view(message.started.observation, table, seat)
            return WatchBegin(table, names, seat, message.started.delay_ms, view)
        if self._table is None:
            raise ServerRefused("the server tells of a match that has not begun")
        if what == "moved":
            moved = message.moved
            events = _events(moved.events, self._table)
            view = _view(moved.observation, self._table, seat)
            return WatchUpdate(self._table, moved.at_ms, moved.first_event, events, view)
        if what == "ended":
            table, self._table = self._table, None
            return _over(table, message)
        return None


def watched(messages: Iterable[ladder_pb2.WatchMatchResponse], seat: int | None = None) -> Iterator[Watched]:
    """Yield the updates of the watched matches.

    Args:
        messages: Messages of a watch call.
        seat: Seat whose view was requested; None for the spectator's view.

    Raises:
        ServerRefused: If a message makes no sense, as from a server with other rules.
    """
    reader = WatchReader(seat)
    for message in messages:
        if (update := reader.read(message)) is not None:
            yield update


def _shown_name(name: str, seat: arena_pb2.SeatTaken) -> str:
    """Return the name as in records, "ann/sneak 1.0", since two versions of a bot may play in a match."""
    return printable(f"{name} {seat.version}", 200)


def _view(observation: game_pb2.Observation, table: ClientTable, seat: int | None) -> View:
    info = table.info
    return view_of(observation, info.rules, info.settings, info.seats, seat)


def _events(events: Iterable[game_pb2.Event], table: ClientTable) -> tuple[Event, ...]:
    return tuple(map(partial(event_of, rules=table.info.rules, seats=table.info.seats), events))


def _over(table: ClientTable, message: ladder_pb2.WatchMatchResponse) -> WatchEnd:
    ended = message.ended.match
    opening = ended.opening
    return WatchEnd(
        table,
        ended.first_event,
        _events(ended.events, table),
        result_of(table, ended),
        ended.rated,
        opening.seed,
        opening.params,
        broken_promise(table, opening) if ended.HasField("opening") else None,
    )
