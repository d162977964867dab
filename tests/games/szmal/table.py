"""Stories of Szmal. A card is its number; 54=24 is card 54 as a copy of 24; 8@3 is card 8 with three markers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cutpurse.engine.agenda import Option
from cutpurse.engine.text import option_text
from cutpurse.engine.zones import TABLE, Zone
from cutpurse.games.szmal.cards import COUNTS_AS, MARKERS, WORDS, column
from cutpurse.games.szmal.playing import Resolve
from cutpurse.games.szmal.rules import (
    BOX,
    CarryOutEachTurn,
    CountUp,
    EndTheTurn,
    PlayExtraCards,
    SufferDelayedLosses,
    Szmal,
)
from tests.games.story import Story

__all__ = ["Gang"]

ROUND = 6  # default round of a story
EARLIER = 3  # the round in which cards in a Territory were played
ZONES = [kind.name for kind in WORDS.zones]


class Gang(Story[Szmal]):
    """A position in round 6 with Territories played in round 3; keywords name zones and counters."""

    def __init__(self, seats: int = 2, chance: Iterable[int] = (), **named: Any) -> None:
        zones = {name: cards for name, cards in named.items() if name in ZONES}
        counters = {name: value for name, value in named.items() if name not in ZONES}
        super().__init__(Szmal, seats, zones, chance=chance, **{"round": ROUND, **counters})

    def lay(self, zone: Zone, cards: str, seers: int | None = None) -> None:
        written = []
        for place, told in enumerate(cards.split()):
            card, _, markers = told.partition("@")
            card, _, copied = card.partition("=")
            name = BOX[int(card)].name()
            if zone.kind.name == "thugs":
                name += f"@{copied or card}@{EARLIER}@{place}@0@0"
            elif zone.kind.name == "holdings":
                name += f"@{markers or 0}@{EARLIER}"
            elif zone.kind.name == "kept":
                name += f"@{markers or ROUND}"
            written.append(name)
        super().lay(zone, " ".join(written), seers)

    def names(self, cards: Iterable[int]) -> str:
        return " ".join(str(card) if card else "?" for card in cards)

    def table(self) -> dict[str, str]:
        lying: dict[str, str] = {}
        for zone in self.g.zones():
            told = [str(card) for card in zone.cards]
            if zone.kind.name == "thugs":
                numbers = column(zone, COUNTS_AS)
                told = [card if card == str(n) else f"{card}={n}" for card, n in zip(told, numbers, strict=True)]
            elif zone.kind.name == "holdings":
                told = [f"{card}@{n}" for card, n in zip(told, column(zone, MARKERS), strict=True)]
            if told:
                lying[zone.kind.name + ("" if zone.owner == TABLE else f" {zone.owner}")] = " ".join(told)
        return lying

    def told_by_number(self, option: Option) -> str:
        text = option_text(self.g, option)
        for card in option.cards:
            text = text.replace(BOX[card].title, str(card))
        return text

    def offers(self, seat: int) -> list[str]:
        assert seat in self.g.waiting(), f"seat {seat} is not asked; waiting: {self.g.waiting()}"
        return [self.told_by_number(option) for option in self.g.options(seat)]

    def safe(self, seat: int) -> str:
        options = self.g.options(seat)
        safe = self.g.safe_option(seat, options)
        assert safe in options
        return self.told_by_number(safe)

    # -- actions
    def plays(self, *played: tuple[int, int]) -> Gang:
        """Resolve revealed cards in the given order of (seat, card)."""
        for seat, card in played:
            self.lay(self.g.resolving[seat], str(card))
        self.begin(*[Resolve(seat, card) for seat, card in played])
        return self

    def extra_cards(self) -> Gang:
        """Begin the extra plays of this turn."""
        self.begin(PlayExtraCards(TABLE))
        return self

    def each_turn(self) -> Gang:
        """Begin the each-turn abilities."""
        self.begin(CarryOutEachTurn(TABLE))
        return self

    def losses(self) -> Gang:
        """Begin the delayed losses of this turn."""
        self.begin(SufferDelayedLosses(TABLE))
        return self

    def ends_turn(self) -> Gang:
        """End the turn, up to the next pick."""
        self.begin(EndTheTurn(TABLE))
        return self

    def counts_up(self) -> Gang:
        """End the game."""
        self.begin(CountUp(TABLE))
        return self
