"""How a rule test is told: cards are laid, chance is scripted, seats answer in words, and the whole table is compared.

    story = Story(Greed, 3, {"hand": ["crook 3", "crook 5 5", "crook"], "deck": "1 2"}, chance=[1])
    story.begin(PlayACard(0))
    story.says(0, "play 3")
    assert story.table() == {...}

Cards are named as in the box, by words with spaces between; the last card of an ordered zone is its top. A card of a
zone with columns may carry their numbers: "silver_coin@4" or "22@2@5".
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
    """A game whose cards a test lays and whose chance it scripts; events are kept from `begin` on."""

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
        self.heard = 0  # events that the history has
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
        """Put named cards into a zone; in one of mixed visibility everybody, or `seers`, knows them."""
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
        """Let these steps be all of the agenda, and let everything happen that waits for nobody."""
        self.g.log = []
        self.history = ZoneHistory(self.g.words, self.g.n, self.g.zones())
        self.heard = 0
        self.g.agenda[:] = list(reversed(steps))
        self.g.settle()

    def offers(self, seat: int) -> list[str]:
        """What a seat may answer, in words."""
        assert seat in self.g.waiting(), f"seat {seat} is not asked; waiting: {self.g.waiting()}"
        return [option_text(self.g, option) for option in self.g.options(seat)]

    def option(self, seat: int, text: str) -> Option:
        """The option that reads like this."""
        offers = self.offers(seat)
        assert text in offers, f"seat {seat} is not offered {text!r} but {offers}"
        return self.g.options(seat)[offers.index(text)]

    def says(self, seat: int, text: str) -> None:
        """A seat answers with the option that reads like this."""
        self.g.choose(seat, self.option(seat, text))

    def all_pass(self) -> None:
        """Everybody who is asked something now passes, once."""
        for seat in self.g.waiting():
            self.says(seat, "pass")

    def safe(self, seat: int) -> str:
        """The published safe answer of a waiting seat, in words."""
        options = self.g.options(seat)
        safe = self.g.safe_option(seat, options)
        assert safe in options
        return option_text(self.g, safe)

    def question(self) -> str:
        """The name of the question that is open; empty when the game is over."""
        return self.g.question.name if self.g.agenda else ""

    def names(self, cards: Iterable[int]) -> str:
        """Cards by name, ? for one face down."""
        return " ".join("?" if card == FACE_DOWN else self.g.words.cards[card - 1].name for card in cards)

    def table(self) -> dict[str, str]:
        """Every card on the table, by zone: "hand 0", "deck", "pack 14 of 2"; empty zones are left out."""
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
        """Every counter of the table and the seats that is not zero."""
        words = self.g.words
        named = {c.name: getattr(self.g, c.name) for c in (*words.table_counters, *words.seat_counters)}
        return {name: value for name, value in named.items() if (any(value) if isinstance(value, list) else value)}

    def known(self, zone: Zone, viewer: int | None) -> tuple[str, str]:
        """What a viewer (None: the spectator) knows of a zone he may not see: certain and uncertain, by name."""
        view = self.g.view(viewer).zone(zone.number)
        return self.names(view.known), self.names(view.maybe)

    def seen(self, zone: Zone, viewer: int | None) -> str:
        """The cards of a zone as a viewer sees them."""
        return self.names(self.g.view(viewer).zone(zone.number).cards)

    def told(self, viewer: int | None, since: int = 0) -> list[str]:
        """Every event since the beginning (or since one number) as a viewer is told it, in words."""
        assert self.g.log is not None
        number = self.g.n if viewer is None else viewer
        self.history.add(self.g.log[self.heard :], self.heard)
        self.heard = len(self.g.log)
        events = enumerate(self.g.log[since:], since)
        return [event_text(self.history.at(place), event.to(number)) for place, event in events]
