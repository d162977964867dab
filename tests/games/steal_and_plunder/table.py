"""A table of Steal & Plunder for stories: hands, and packs before the seats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cutpurse.engine.words import ZoneKind
from cutpurse.engine.zones import bit
from cutpurse.games.steal_and_plunder.cards import LOCKED, OFFSHORE, PACK, PLUNDERED, TAXED
from cutpurse.games.steal_and_plunder.rules import BeginATurn, StealAndPlunder
from tests.games.story import Story

__all__ = ["Table", "money"]


def money(thousands: int) -> int:
    """Rand, from the "50k" of the sheet."""
    return thousands * 1000


class Table(Story[StealAndPlunder]):
    """Hands by seat, and stacks by seat as "!wire wire | gold? wire": packs from the bottom to the top, the uppermost
    card last, ! before the locked pack and ? behind a card that only its holder knows. Whoever has a pack is locked in.
    Packs are numbered from `first` on, all stacks first.
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
        """A pack as described above."""
        zone = self.g.make(kind, seat)
        zone.counters[LOCKED] = int(cards.startswith("!"))
        for card in cards.removeprefix("!").split():
            self.lay(zone, card.rstrip("?"), bit(seat) if card.endswith("?") else self.g.everyone)
        self.g.locked_in[seat] = 1

    def turn_of(self, seat: int) -> None:
        """Let this seat's turn begin."""
        self.begin(BeginATurn(seat))

    def stack(self, seat: int) -> list[str]:
        """The packs of a stack from the bottom, by name."""
        return [self.names(pack.cards) for pack in self.g.pack[seat]]

    def seen_by_all(self, seat: int) -> list[str]:
        """The packs of a stack from the bottom, as the spectator sees them."""
        return [self.names(view.cards) for view in self.g.view(None).of("pack", seat)]

    def knowers(self, zone_number: int, place: int = 0) -> list[int]:
        """The seats that know a card of a pack."""
        return [seat for seat in range(self.g.n) if self.g.view(seat).zone(zone_number).cards[place]]
