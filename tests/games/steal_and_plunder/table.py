"""Positions of Steal & Plunder for stories: hands, and packs in front of the seats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cutpurse.engine.words import ZoneKind
from cutpurse.engine.zones import bit
from cutpurse.games.steal_and_plunder.cards import LOCKED, OFFSHORE, PACK, PLUNDERED, TAXED
from cutpurse.games.steal_and_plunder.rules import BeginATurn, StealAndPlunder
from tests.games.story import Story

__all__ = ["Table", "money"]


def money(thousands: int) -> int:
    """Convert thousands, such as "50k" in the sheet, to Rand."""
    return thousands * 1000


class Table(Story[StealAndPlunder]):
    """A position with hands and stacks by seat.

    A stack is written "!wire wire | gold? wire": packs from the bottom to the top, and in a pack the top card last. `!`
    is before the locked pack, and `?` after a card that only its holder knows. A seat with a pack is locked in. Packs
    are numbered from `first` on, stacks first.
    """

    def __init__(
        self,
        hands: Sequence[str],
        stacks: Sequence[str] = (),
        *,
        plundered: Sequence[str] = (),
        offshore: Sequence[str] = (),
        taxed: Sequence[str] = (),
        deck: str = "",
        discard: str = "",
        settings: Mapping[str, object] | None = None,
        chance: Iterable[int] = (),
        **counters: int | list[int],
    ) -> None:
        zones = {"hand": hands, "deck": deck, "discard": discard}
        super().__init__(StealAndPlunder, len(hands), zones, settings, chance)
        self.first = self.g.made + 1
        self.g.round = self.g.start_token = self.g.reload_token = 1
        for kind, sides in ((PACK, stacks), (PLUNDERED, plundered), (OFFSHORE, offshore), (TAXED, taxed)):
            for seat, side in enumerate(sides):
                for pack in side.split("|"):
                    if pack.strip():
                        self.lay_pack(kind, seat, pack.strip())
        for name, value in counters.items():
            assert hasattr(self.g, name), name
            setattr(self.g, name, value)

    def lay_pack(self, kind: ZoneKind, seat: int, cards: str) -> None:
        """Create a pack, written as in the class's docstring."""
        zone = self.g.make(kind, seat)
        zone.counters[LOCKED] = int(cards.startswith("!"))
        for card in cards.removeprefix("!").split():
            self.lay(zone, card.rstrip("?"), bit(seat) if card.endswith("?") else self.g.everyone)
        self.g.locked_in[seat] = 1

    def turn_of(self, seat: int) -> None:
        """Begin the turn of a seat."""
        self.begin(BeginATurn(seat))

    def stack(self, seat: int) -> list[str]:
        """List the packs of a stack from the bottom, with card names."""
        return [self.names(pack.cards) for pack in self.g.pack[seat]]

    def seen_by_all(self, seat: int) -> list[str]:
        """List the packs of a stack from the bottom, as the spectator sees them."""
        return [self.names(view.cards) for view in self.g.view(None).of("pack", seat)]

    def knowers(self, zone_number: int, place: int = 0) -> list[int]:
        """Return the seats that know a card of a pack."""
        return [seat for seat in range(self.g.n) if self.g.view(seat).zone(zone_number).cards[place]]
