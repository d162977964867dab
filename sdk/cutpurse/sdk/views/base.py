"""The view of a bot: names and types around the engine's numbers, created only when they are read.

Each game's view is a subclass that names its piles and counters in the words of its rules. This module knows no game,
and nothing beyond the engine's `View` for that seat.
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
from cutpurse.sdk.views.habit import Habit
from cutpurse.sdk.views.piles import Pile, pile_text

__all__ = ["GameView", "Player"]


class Player:
    """A seat and its piles and counters."""

    __slots__ = ("_view", "seat")

    def __init__(self, seat: int, view: GameView[Any]) -> None:
        self.seat = seat  # counted from 0
        self._view = view

    @property
    def words(self) -> Words:
        """The vocabulary of the game."""
        return self._view.words

    @property
    def view(self) -> GameView[Any]:
        """The view that this player belongs to."""
        return self._view

    @property
    def is_me(self) -> bool:
        """Whether this is your own seat."""
        return self.seat == self._view.seat

    def pile(self, name: str) -> Pile:
        """Return the player's pile of this kind.  Raises KeyError if there is none."""
        return self._view.find_pile(name, self.seat)

    def piles(self, name: str) -> list[Pile]:
        """Return all the player's piles of this kind, from the bottom or oldest."""
        return self._view.find_piles(name, self.seat)

    def all_piles(self) -> list[Pile]:
        """Return all the player's piles."""
        return [Pile(raw, self._view) for raw in self._view.raw.zones if raw.owner == self.seat]

    @property
    def counters(self) -> Mapping[str, int]:
        """The player's counters by name."""
        raw = self._view.raw
        kinds = self._view.words.seat_counters
        return {kind.name: values[self.seat] for kind, values in zip(kinds, raw.seat_counters, strict=True)}

    def counter(self, name: str) -> int:
        """Return one of the player's counters.  Raises KeyError if there is none of this name."""
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
    """All that you may know at a decision. It never changes, so you can store it."""

    __slots__ = ("_before", "_events", "_history", "_make", "_players", "_since", "raw")

    player_type: ClassVar[type[Player]] = Player
    habits: ClassVar[tuple[Habit, ...]] = ()  # what `cutpurse bot style` counts
    raw: View

    def __init__(
        self,
        raw: View | Callable[[], View],
        events: Sequence[Event] | Callable[[], Sequence[Event]] | None = (),
        since: int = 0,
        before: View | Callable[[], View] | None = None,
    ) -> None:
        """Create a view; functions given for values are called when the values are first read.

        Args:
            raw: The engine's view.
            events: Events since the last decision, redacted for this viewer or complete: hidden cards are removed here.
                None for a bot without events.
            since: Number of the first of the events.
            before: The view before the first of the events, so that event texts name the owners of that time. Not
                needed for events from the beginning of a match.
        """
        if isinstance(raw, View):
            self.raw = raw
        else:
            self._make = raw  # `raw` stays unset, so that reading it calls `__getattr__`
        self._events = events
        self._since = since
        self._before = before
        self._history: ZoneHistory | None = None
        self._players: tuple[A, ...] | None = None

    def __getattr__(self, name: str) -> Any:
        """Create `raw` when it is first read.  Raises AttributeError for other names."""
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
        """All players, by seat."""
        if self._players is None:
            made: Any = tuple([self.player_type(seat, self) for seat in range(self.raw.seats)])
            self._players = made
        assert self._players is not None
        return self._players

    @property
    def me(self) -> A:
        """Your own player.  Raises ValueError in the view of a spectator."""
        if self.raw.viewer is None:
            raise ValueError("a spectator has no seat")
        return self.players[self.raw.viewer]

    @property
    def opponents(self) -> tuple[A, ...]:
        """The other players, clockwise from your left."""
        after = self.me.seat + 1
        return self.players[after:] + self.players[: after - 1]

    @property
    def pending(self) -> tuple[ActView, ...]:
        """The acts in progress, oldest first: a battle, a raid, a theft that can still be answered."""
        return tuple([ActView(act, self) for act in self.raw.pending])

    @property
    def events(self) -> tuple[SeenEvent, ...]:
        """The events since your last decision, as you may see them.

        Raises UsageError for a bot whose class has `reads_events = False`.
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
        """Return kinds and owners of all zones at the event with this number, one of `events`."""
        if self._history is None:
            before = self._before() if callable(self._before) else self._before
            self._history = ZoneHistory.of_window(self.raw, self._raw_events(), self._since, before)
            self._before = None
        return self._history.at(number)

    @property
    def counters(self) -> Mapping[str, int]:
        """The counters of the table, by name."""
        return {kind.name: value for kind, value in zip(self.words.table_counters, self.raw.counters, strict=True)}

    def counter(self, name: str) -> int:
        """Return a counter of the table.  Raises KeyError if there is none of this name."""
        return self.raw.counters[_counter_places(self.words)[0][name]]

    @property
    def unseen(self) -> Counter[Card]:
        """The number of copies of each card that you have not located."""
        cards = cards_of(self.words)
        box = Counter(self.raw.rules.box(self.raw.seats, self.raw.settings))
        located = Counter([number for zone in self.raw.zones for number in (*zone.cards, *zone.known)])
        left = [(cards[number], copies - located.get(number, 0)) for number, copies in box.items()]
        return Counter({card: copies for card, copies in left if copies > 0 and card})

    def card(self, name: str) -> Card:
        """Return the card with this name.  Raises KeyError if the game has none."""
        return card_of(self.words, name)

    def pile(self, name: str) -> Pile:
        """Return the pile of this kind on the table.  Raises KeyError if there is none."""
        return self.find_pile(name, TABLE)

    def piles(self, name: str) -> list[Pile]:
        """Return all piles of this kind on the table."""
        return self.find_piles(name, TABLE)

    def all_piles(self) -> list[Pile]:
        """Return all piles on the table, without those of seats."""
        return [Pile(raw, self) for raw in self.raw.zones if raw.owner == TABLE]

    def pile_numbered(self, number: int) -> Pile | None:
        """Return the pile with this number, as in options and events; None if it no longer exists."""
        zones = self.raw.zones
        if 0 < number <= len(zones) and zones[number - 1].number == number:
            return Pile(zones[number - 1], self)
        return next((Pile(raw, self) for raw in zones if raw.number == number), None)

    def find_pile(self, name: str, owner: int) -> Pile:
        """Return a seat's pile of this kind; owner -1 is the table.  Raises KeyError if there is none."""
        place = _places(self.words).get(name)
        if place is None:
            raise KeyError(name)
        first, of_each = place
        if (of_each == 0) != (owner == TABLE):
            raise KeyError(name)
        return Pile(self.raw.zones[first + owner * of_each if of_each else first], self)

    def find_piles(self, name: str, owner: int) -> list[Pile]:
        """Return all of a seat's piles of this kind, from the bottom or oldest; owner -1 is the table."""
        return [Pile(raw, self) for raw in self.raw.zones if raw.owner == owner and raw.kind.name == name]

    def __repr__(self) -> str:
        who = "a spectator" if self.seat is None else f"seat {self.seat}"
        return f"<{self.words.title} as {who} sees it>"


_fixed_places: Final[dict[str, dict[str, tuple[int, int]]]] = {}


def _places(words: Words) -> dict[str, tuple[int, int]]:
    """Return the positions of the fixed zones in a view: by name, the index of the first, and the zones per seat."""
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
    """Return the indexes of the table's and the seats' counters in a view, by name."""
    places = _counters.get(words.game)
    if places is None:
        of_table, of_seat = (
            {counter.name: place for place, counter in enumerate(counters)}
            for counters in (words.table_counters, words.seat_counters)
        )
        places = _counters[words.game] = of_table, of_seat
    return places
