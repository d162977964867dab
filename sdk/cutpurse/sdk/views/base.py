"""What a bot sees: a view with names and types around the engine's numbers, wrapped only where it is read.

A game's own view is a subclass that names its piles and counters in the words of its rules. This module knows no game,
and nothing that the engine's `View` for that seat does not hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final, Generic, TypeVar

from cutpurse.engine.errors import UsageError
from cutpurse.engine.events import Event
from cutpurse.engine.history import PastTable, ZoneHistory
from cutpurse.engine.view import View
from cutpurse.engine.words import Words, ZoneKind
from cutpurse.engine.zones import TABLE
from cutpurse.sdk.cards import Card, card_of, cards_of
from cutpurse.sdk.views.acts import ActView, SeenEvent
from cutpurse.sdk.views.piles import Pile, pile_text

__all__ = ["GameView", "Player"]


class Player:
    """A seat and what lies before it."""

    __slots__ = ("_view", "seat")

    def __init__(self, seat: int, view: GameView[Any]) -> None:
        self.seat = seat
        self._view = view

    @property
    def words(self) -> Words:
        """The vocabulary of the game."""
        return self._view.words

    @property
    def view(self) -> GameView[Any]:
        """The view he belongs to."""
        return self._view

    @property
    def is_me(self) -> bool:
        """Whether this is your own seat."""
        return self.seat == self._view.seat

    def pile(self, name: str) -> Pile:
        """His pile of this kind.  Raises KeyError if there is none."""
        return self._view.find_pile(name, self.seat)

    def piles(self, name: str) -> list[Pile]:
        """All his piles of this kind, from the bottom or oldest."""
        return self._view.find_piles(name, self.seat)

    def all_piles(self) -> list[Pile]:
        """Everything that lies before him."""
        return [Pile(raw, self._view) for raw in self._view.raw.zones if raw.owner == self.seat]

    @property
    def counters(self) -> Mapping[str, int]:
        """His numbers, by name."""
        raw = self._view.raw
        kinds = self._view.words.seat_counters
        return {kind.name: values[self.seat] for kind, values in zip(kinds, raw.seat_counters, strict=True)}

    def counter(self, name: str) -> int:
        """One of his numbers.  Raises KeyError if there is none of this name."""
        return self._view.raw.seat_counters[_counter_places(self._view.words)[1][name]][self.seat]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Player) and self.seat == other.seat and self._view is other._view

    def __hash__(self) -> int:
        return hash(self.seat)

    def __repr__(self) -> str:
        piles = ", ".join(f"{pile.raw.kind.title} {pile_text(pile)}" for pile in self.all_piles())
        return f"<seat {self.seat}: {piles}>"


A = TypeVar("A", bound=Player)


class GameView(Generic[A]):
    """All that you may know at a decision. It never changes: keep it if you like."""

    __slots__ = ("_before", "_events", "_history", "_make", "_players", "_since", "raw")

    player_type: ClassVar[type[Player]] = Player
    raw: View

    def __init__(
        self,
        raw: View | Callable[[], View],
        events: Sequence[Event] | Callable[[], Sequence[Event]] | None = (),
        since: int = 0,
        before: View | Callable[[], View] | None = None,
    ) -> None:
        """`events` are as they were told to this viewer, or to everybody: faces he may not see are hidden here.

        None: they are not for a bot that does without. Both may be what makes them; it is called when they are first
        looked at. `before` is the view before the first of the events (or makes it), so that their sentences name
        owners as they were; the events of a match from its beginning need none.
        """
        if isinstance(raw, View):
            self.raw = raw
        else:
            self._make = raw  # `raw` stays empty, so that whoever looks comes to `__getattr__`
        self._events = events
        self._since = since
        self._before = before
        self._history: ZoneHistory | None = None
        self._players: tuple[A, ...] | None = None

    def __getattr__(self, name: str) -> Any:
        """Make `raw` when it is first asked for.  Raises AttributeError for all else."""
        if name != "raw":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        self.raw = self._make()
        return self.raw

    @property
    def words(self) -> Words:
        """The vocabulary of the game."""
        return self.raw.rules.words

    @property
    def game(self) -> str:
        """The name of the game."""
        return self.words.game

    @property
    def settings(self) -> Any:
        """The settings of the match, by name: `view.settings.mode`."""
        return self.raw.settings

    @property
    def seat(self) -> int | None:
        """Your seat; None for a spectator."""
        return self.raw.viewer

    @property
    def players(self) -> tuple[A, ...]:
        """Everybody, by seat."""
        if self._players is None:
            made: Any = tuple([self.player_type(seat, self) for seat in range(self.raw.seats)])
            self._players = made
        assert self._players is not None
        return self._players

    @property
    def me(self) -> A:
        """You.  Raises ValueError in the view of a spectator."""
        if self.raw.viewer is None:
            raise ValueError("a spectator has no seat")
        return self.players[self.raw.viewer]

    @property
    def opponents(self) -> tuple[A, ...]:
        """The others, clockwise from your left."""
        after = self.me.seat + 1
        return self.players[after:] + self.players[: after - 1]

    @property
    def pending(self) -> tuple[ActView, ...]:
        """What is under way, oldest first: a battle, a raid, a theft that can still be answered."""
        return tuple([ActView(act, self) for act in self.raw.pending])

    @property
    def events(self) -> tuple[SeenEvent, ...]:
        """What happened since your last decision, as you were told.

        Raises UsageError for a bot whose class says that it does not read them.
        """
        viewer = self.raw.seats if self.raw.viewer is None else self.raw.viewer
        events = self._raw_events()
        return tuple([SeenEvent(event.to(viewer), self, number) for number, event in enumerate(events, self._since)])

    def _raw_events(self) -> Sequence[Event]:
        if self._events is None:
            raise UsageError(
                "this bot has no view.events, for its class says `reads_events = False`: take that line out"
            )
        if callable(self._events):
            self._events = self._events()
        return self._events

    def table_at(self, number: int) -> PastTable:
        """Return kinds and owners of all zones at the event of this number, one of `events`."""
        if self._history is None:
            before = self._before() if callable(self._before) else self._before
            self._history = ZoneHistory.of_window(self.raw, self._raw_events(), self._since, before)
            self._before = None
        return self._history.at(number)

    @property
    def counters(self) -> Mapping[str, int]:
        """The numbers of the table, by name."""
        return {kind.name: value for kind, value in zip(self.words.table_counters, self.raw.counters, strict=True)}

    def counter(self, name: str) -> int:
        """Return a number of the table.  Raises KeyError if there is none of this name."""
        return self.raw.counters[_counter_places(self.words)[0][name]]

    @property
    def unseen(self) -> Counter[Card]:
        """How many copies of each card you have not located: they are face down, and you do not know where."""
        cards = cards_of(self.words)
        left = Counter(self.raw.rules.box(self.raw.seats, self.raw.settings))
        for zone in self.raw.zones:
            left.subtract(zone.cards)
            left.subtract(zone.known)
        return Counter({card: copies for number, copies in left.items() if copies > 0 and (card := cards[number])})

    def card(self, name: str) -> Card:
        """Return the card of this name.  Raises KeyError if the game has none."""
        return card_of(self.words, name)

    def pile(self, name: str) -> Pile:
        """Return the pile of this kind on the table.  Raises KeyError if there is none."""
        return self.find_pile(name, TABLE)

    def piles(self, name: str) -> list[Pile]:
        """All piles of this kind on the table."""
        return self.find_piles(name, TABLE)

    def all_piles(self) -> list[Pile]:
        """Everything that lies on the table, before nobody."""
        return [Pile(raw, self) for raw in self.raw.zones if raw.owner == TABLE]

    def pile_numbered(self, number: int) -> Pile | None:
        """Return the pile that options and events call by this number; None if it is gone."""
        zones = self.raw.zones
        if 0 < number <= len(zones) and zones[number - 1].number == number:
            return Pile(zones[number - 1], self)
        return next((Pile(raw, self) for raw in zones if raw.number == number), None)

    def find_pile(self, name: str, owner: int) -> Pile:
        """Return the pile of this kind before a seat, or (-1) on the table.  Raises KeyError if there is none."""
        place = _places(self.words).get(name)
        if place is None:
            raise KeyError(name)
        first, of_each = place
        if (of_each == 0) != (owner == TABLE):
            raise KeyError(name)
        return Pile(self.raw.zones[first + owner * of_each if of_each else first], self)

    def find_piles(self, name: str, owner: int) -> list[Pile]:
        """All piles of this kind before a seat, or (-1) on the table, from the bottom or oldest."""
        return [Pile(raw, self) for raw in self.raw.zones if raw.owner == owner and raw.kind.name == name]

    def __repr__(self) -> str:
        who = "a spectator" if self.seat is None else f"seat {self.seat}"
        return f"<{self.words.title} as {who} sees it>"


_fixed_places: Final[dict[str, dict[str, tuple[int, int]]]] = {}


def _places(words: Words) -> dict[str, tuple[int, int]]:
    """Where a view lists the fixed zones: by name the place of the first, and how many zones each seat has."""
    places = _fixed_places.get(words.game)
    if places is None:
        fixed: list[ZoneKind] = [kind for kind in words.zones if not kind.many]
        of_table = [kind.name for kind in fixed if not kind.per_seat]
        of_seat = [kind.name for kind in fixed if kind.per_seat]
        places = {name: (place, 0) for place, name in enumerate(of_table)}
        places |= {name: (place, len(of_seat)) for place, name in enumerate(of_seat, len(of_table))}
        _fixed_places[words.game] = places
    return places


_counters: Final[dict[str, tuple[dict[str, int], dict[str, int]]]] = {}


def _counter_places(words: Words) -> tuple[dict[str, int], dict[str, int]]:
    """Where a view lists the counters of the table and of the seats, by name."""
    places = _counters.get(words.game)
    if places is None:
        of_table, of_seat = (
            {counter.name: place for place, counter in enumerate(counters)}
            for counters in (words.table_counters, words.seat_counters)
        )
        places = _counters[words.game] = of_table, of_seat
    return places
