"""Options, pending acts and events, with names around the engine's numbers.

This module knows no game. Hidden cards are None, as in the engine's own events for that viewer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cutpurse.engine import agenda
from cutpurse.engine.events import Event, Happened, Moved, Placed
from cutpurse.engine.text import act_text, event_text, option_text
from cutpurse.engine.zones import TABLE
from cutpurse.sdk.cards import Card, cards_of

if TYPE_CHECKING:
    from cutpurse.sdk.views.base import GameView
    from cutpurse.sdk.views.piles import Pile

__all__ = ["ActView", "Option", "SeenEvent"]


class ActView:
    """An act that is pending, offered or done: a verb and its objects."""

    __slots__ = ("_event", "_view", "raw")

    def __init__(self, act: agenda.Act, view: GameView[Any], event: int | None = None) -> None:
        """Wrap an act.  `event` is the number of the event that reports it; None for a pending act or an option."""
        self.raw = act
        self._view = view
        self._event = event

    @property
    def _table(self) -> Any:
        """The table to look zones up in: as at the time of the act, or as it is now."""
        return self._view.raw if self._event is None else self._view.table_at(self._event)

    @property
    def verb(self) -> str:
        """The verb's name: "raid"."""
        return self._view.words.verbs[self.raw.verb - 1].name

    @property
    def cards(self) -> tuple[Card | None, ...]:
        """The cards used in the act; None for each card that is hidden from you."""
        cards = cards_of(self._view.words)
        return tuple([cards[number] for number in self.raw.cards])

    @property
    def card(self) -> Card | None:
        """The first of its cards, or None if it has none or the card is hidden from you."""
        return cards_of(self._view.words)[self.raw.cards[0]] if self.raw.cards else None

    @property
    def seat(self) -> int | None:
        """The seat that the act is aimed at."""
        return self.raw.seat

    @property
    def player(self) -> Any:
        """The player that the act is aimed at, of the game view's player class; None if there is none."""
        return None if self.raw.seat is None else self._view.players[self.raw.seat]

    @property
    def actor(self) -> int | None:
        """The seat that acts; None for the rules, and in an option, where you act."""
        return self.raw.actor

    @property
    def number(self) -> int:
        """An amount, where the verb has one."""
        return self.raw.number

    @property
    def zone(self) -> Pile | None:
        """The pile that the act is aimed at, as it is now; None if there is none, or it no longer exists."""
        return self._view.pile_numbered(self.raw.zone)

    @property
    def owner(self) -> int | None:
        """The owner of that pile at the time of the act; None if there is no pile, or it was on the table."""
        try:
            owner: int = self._table.zone(self.raw.zone).owner
        except KeyError:
            return None
        return None if owner == TABLE else owner

    @property
    def places(self) -> tuple[int, ...]:
        """Indexes in the pile of the copies that are meant, where equal cards can differ."""
        return self.raw.places

    @property
    def text(self) -> str:
        """A sentence: "seat 1 raids the hand of seat 2"."""
        return act_text(self._table, self.raw)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ActView) and self.raw == other.raw

    def __hash__(self) -> int:
        return hash(self.raw)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.text!r}>"


class Option(ActView):
    """One of the answers to a decision. Return it, or its `index`, from `choose`."""

    __slots__ = ("index",)

    def __init__(self, act: agenda.Option, view: GameView[Any], index: int) -> None:
        self.raw = act
        self._view = view
        self._event = None
        self.index = index  # among the options of its decision

    @property
    def text(self) -> str:
        """The option as it is offered: "raid the hand of seat 2"."""
        return option_text(self._view.raw, self.raw)

    @property
    def is_pass(self) -> bool:
        """Whether the option means to do nothing."""
        return self.raw.verb == agenda.PASS.verb


class SeenEvent:
    """An event, as you may see it. What does not apply to its `kind` is None or empty."""

    __slots__ = ("_event", "_view", "number")

    def __init__(self, event: Event, view: GameView[Any], number: int) -> None:
        self._event = event
        self._view = view
        self.number = number  # counts the events of the match, from 0, the same for all viewers

    def _field(self, name: str) -> Any:
        return getattr(self._event, name, None)

    @property
    def raw(self) -> Event:
        """The engine's event, with the cards that you may see."""
        return self._event

    @property
    def kind(self) -> str:
        """The kind of event: happened, moved, shown, shuffled, counted, placed, asked or scored."""
        return type(self._event).__name__.lower()

    @property
    def text(self) -> str:
        """A sentence, with owners as they were then: "Gold Bar: from hand of seat 2 to hand of seat 0"."""
        return event_text(self._view.table_at(self.number), self._event)

    @property
    def act(self) -> ActView | None:
        """The act of a seat or of the rules (happened)."""
        return ActView(self._event.act, self._view, self.number) if isinstance(self._event, Happened) else None

    @property
    def cards(self) -> tuple[Card | None, ...]:
        """The cards that were played, moved or shown; None for each card that is hidden from you."""
        numbers = self._event.act.cards if isinstance(self._event, Happened) else self._field("cards") or ()
        cards = cards_of(self._view.words)
        return tuple([cards[number] for number in numbers])

    @property
    def source(self) -> Pile | None:
        """The pile that cards came from, as it is now (moved); None for the box or a pile that no longer exists."""
        return self._view.pile_numbered(self._event.from_zone) if isinstance(self._event, Moved) else None

    @property
    def target(self) -> Pile | None:
        """The pile that cards went to, as it is now (moved); None for a pile that no longer exists."""
        return self._view.pile_numbered(self._event.to_zone) if isinstance(self._event, Moved) else None

    @property
    def zone(self) -> Pile | None:
        """The pile that was shown, shuffled, placed or counted, as it is now; None if it no longer exists."""
        number = self._field("zone")
        return None if number is None else self._view.pile_numbered(number)

    @property
    def seat(self) -> int | None:
        """The seat whose counter changed (counted), or the owner of the pile (placed)."""
        return self._field("seat")  # type: ignore[no-any-return]  # fields of that name are seats

    @property
    def seats(self) -> tuple[int, ...]:
        """The seats that were asked, or that saw the cards; empty for all."""
        return self._field("seats") or ()

    @property
    def question(self) -> str | None:
        """The name of the question that was asked."""
        return self._field("ask")  # type: ignore[no-any-return]  # a name

    @property
    def counter(self) -> str | None:
        """The name of the counter that changed (counted)."""
        return self._field("counter")  # type: ignore[no-any-return]  # a name

    @property
    def value(self) -> int | None:
        """The new value of the counter (counted)."""
        return self._field("value")  # type: ignore[no-any-return]  # a number

    @property
    def zone_kind(self) -> str | None:
        """The kind of pile that it became (placed); None if it no longer exists."""
        if not isinstance(self._event, Placed) or self._event.kind == 0:
            return None
        return self._view.words.zones[self._event.kind - 1].name

    @property
    def scores(self) -> tuple[int, ...]:
        """The scores by seat (scored)."""
        return self._field("scores") or ()

    def __repr__(self) -> str:
        return f"<SeenEvent {self.number}: {self.text!r}>"
