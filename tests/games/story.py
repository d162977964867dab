"""Stories: rule tests that lay cards, script chance, answer in words, and compare the whole table.

    story = Story(Greed, 3, {"hand": ["crook 3", "crook 5 5", "crook"], "deck": "1 2"}, chance=[1])
    story.begin(PlayACard(0))
    story.says(0, "play 3")
    assert story.table() == {...}

Cards are named as in the box, separated by spaces; the last card of an ordered zone is its top. A card of a zone with
columns may have their numbers: "silver_coin@4" or "22@2@5".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Generic, TypeVar

from cutpurse.engine.agenda import Option, Step
from cutpurse.engine.chance import Script
from cutpurse.engine.game import Game
from cutpurse.engine.history import ZoneHistory
from cutpurse.engine.text import event_text, option_text
from cutpurse.engine.words import FACE_DOWN
from cutpurse.engine.zones import TABLE, Zone

__all__ = ["Story"]

G = TypeVar("G", bound=Game)


class Story(Generic[G]):
    """A game with cards laid and chance scripted by a test; events are stored from `begin` on."""

    def __init__(
        self,
        rules: type[G],
        seats: int,
        zones: Mapping[str, str | Sequence[str]],
        settings: Mapping[str, object] | None = None,
        chance: Iterable[int] = (),
        **counters: int | list[int],
    ) -> None:
        self.script = Script(chance)
        self.g = rules(seats, rules.check(seats, settings or {}), self.script)
        self.history = ZoneHistory(self.g.words, seats)
        self.heard = 0  # number of events in the history
        for name, cards in zones.items():
            zone = getattr(self.g, name)
            if isinstance(cards, str):
                self.lay(zone, cards)
            else:
                for one, own in zip(zone, cards, strict=True):
                    self.lay(one, own)
        for name, value in counters.items():
            assert hasattr(self.g, name), name
            setattr(self.g, name, value)

    def lay(self, zone: Zone, cards: str, seers: int | None = None) -> None:
        """Put named cards into a zone; if its visibility is mixed, `seers` know them, by default everybody."""
        for named in cards.split():
            name, *numbers = named.split("@")
            card = self.g.words.card_named(name)
            columns = tuple(int(number) for number in numbers) or None
            if zone.masks is not None:
                mask = self.g.everyone if seers is None else seers
            else:
                mask = zone.sees | (seers or 0)
            zone.put(card, mask, columns)
        zone.changed()

    def begin(self, *steps: Step) -> None:
        """Replace the agenda by these steps, and run up to the first decision."""
        self.g.log = []
        self.history = ZoneHistory(self.g.words, self.g.n, self.g.zones())
        self.heard = 0
        self.g.agenda[:] = list(reversed(steps))
        self.g.settle()

    def offers(self, seat: int) -> list[str]:
        """List the options of a seat in words."""
        assert seat in self.g.waiting(), f"seat {seat} is not asked; waiting: {self.g.waiting()}"
        return [option_text(self.g, option) for option in self.g.options(seat)]

    def option(self, seat: int, text: str) -> Option:
        """Return the option with this text."""
        offers = self.offers(seat)
        assert text in offers, f"seat {seat} is not offered {text!r} but {offers}"
        return self.g.options(seat)[offers.index(text)]

    def says(self, seat: int, text: str) -> None:
        """Let a seat answer with the option of this text."""
        self.g.choose(seat, self.option(seat, text))

    def all_pass(self) -> None:
        """Let every waiting seat pass once."""
        for seat in self.g.waiting():
            self.says(seat, "pass")

    def safe(self, seat: int) -> str:
        """Return the safe option of a waiting seat in words."""
        options = self.g.options(seat)
        safe = self.g.safe_option(seat, options)
        assert safe in options
        return option_text(self.g, safe)

    def question(self) -> str:
        """Return the name of the open decision; empty if the game is over."""
        return self.g.question.name if self.g.agenda else ""

    def names(self, cards: Iterable[int]) -> str:
        """Format cards by name, ? for a face-down card."""
        return " ".join("?" if card == FACE_DOWN else self.g.words.cards[card - 1].name for card in cards)

    def table(self) -> dict[str, str]:
        """Return all cards by zone, such as "hand 0", "deck" or "pack 14 of 2", without empty zones."""
        lying: dict[str, str] = {}
        for zone in self.g.zones():
            if not zone.cards:
                continue
            name = zone.kind.name
            if zone.kind.many:
                name += f" {zone.number} of {zone.owner}"
            elif zone.owner != TABLE:
                name += f" {zone.owner}"
            numbers = ["".join(f"@{number}" for number in zone.column_values(i)) for i in range(len(zone.cards))]
            lying[name] = " ".join(self.names([c]) + n for c, n in zip(zone.cards, numbers, strict=True))
        return lying

    def counters(self) -> dict[str, int | list[int]]:
        """Return every counter of the table and the seats that is not zero."""
        words = self.g.words
        named = {c.name: getattr(self.g, c.name) for c in (*words.table_counters, *words.seat_counters)}
        return {name: value for name, value in named.items() if (any(value) if isinstance(value, list) else value)}

    def known(self, zone: Zone, viewer: int | None) -> tuple[str, str]:
        """Return a viewer's knowledge of a hidden zone, certain and uncertain cards; viewer None is the spectator."""
        view = self.g.view(viewer).zone(zone.number)
        return self.names(view.known), self.names(view.maybe)

    def seen(self, zone: Zone, viewer: int | None) -> str:
        """Return the cards of a zone as a viewer sees them."""
        return self.names(self.g.view(viewer).zone(zone.number).cards)

    def told(self, viewer: int | None, since: int = 0) -> list[str]:
        """List all events since number `since` in words, redacted for a viewer."""
        assert self.g.log is not None
        number = self.g.n if viewer is None else viewer
        self.history.add(self.g.log[self.heard :], self.heard)
        self.heard = len(self.g.log)
        events = enumerate(self.g.log[since:], since)
        return [event_text(self.history.at(place), event.to(number)) for place, event in events]
