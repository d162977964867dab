"""Who sees what in Bag-O-Loot, by section 8 of its rule sheet."""

from __future__ import annotations

from typing import Any

from cutpurse.engine.agenda import Act
from cutpurse.engine.events import Event, Happened, Moved, Placed, Shown
from cutpurse.engine.words import FACE_DOWN
from cutpurse.engine.zones import Zone
from tests.properties.who_sees_what import WhoSeesWhat

__all__ = ["BagOLootTable"]

FIFTH = 4  # index of the fifth card in a bag


class BagOLootTable(WhoSeesWhat):
    """The table of Bag-O-Loot: hands, the draw pile and, in advanced play, the fifth card of a bag are hidden.

    A closed bag is not visible, but all five cards were public when it was made, so none of them is ever re-dealt.
    """

    OPEN = frozenset({"ditched", "set", "bag_open"})
    OWN = frozenset({"hand"})
    FORGOTTEN = frozenset({"draw_pile", "bag", "bluff_bag"})
    CARD_BY_CARD = frozenset({"bluff_bag", "middle"})
    DEALT_FIRST = frozenset({"draw_pile"})

    def __init__(self, game: Any, viewer: int) -> None:
        super().__init__(game, viewer)
        verb = game.words.verb_named
        self.make_bag, self.snitch, self.challenge = verb("bag"), verb("snitch"), verb("challenge")
        self.bluff, self.genuine = verb("bluff"), verb("genuine")
        self.looter = game.words.card_named("looter")
        self.act: Act | None = None
        self.verdicts: dict[int, int] = {}

    def hear_act(self, act: Act) -> None:
        if act.verb in (self.bluff, self.genuine):
            self.verdicts = {**self.verdicts, act.zone: act.verb}
        else:
            self.act = act

    def is_told(self, act: Act, place: int) -> bool:
        """Hide the fifth card in advanced play, where it is laid face down."""
        return not (act.verb == self.make_bag and self.settings.advanced) or self.viewer == act.actor

    def is_shown(self, event: Moved, place: int) -> bool:
        """Show the coin of a snitch, and the looter that it brings."""
        return not self.settings.advanced and (
            self.kind(event.to_zone) == "middle" or self.kind(event.from_zone) == "bag"
        )

    def looks(self, event: Shown) -> bool:
        """Show the fifth card only to the challenger, and all bags at the end of a round."""
        if self.kind(event.zone) == "middle":
            return self.act is not None and self.act.verb == self.challenge and self.viewer == self.act.actor
        return self.kind(event.zone) == "bluff_bag"

    def is_turned_over(self, event: Placed) -> bool:
        """Turn a set that becomes a bag face down, also for its owner, unless bags stay visible."""
        return len(self.real[event.zone]) == FIFTH and self.settings.bag_faces == "hidden"

    def hidden_places(self, zone: Zone) -> list[int]:
        places = super().hidden_places(zone)
        if zone.kind.name == "bag":
            return []
        return [place for place in places if place == FIFTH] if zone.kind.name == "bluff_bag" else places

    def may_lie(self, zone: Zone, place: int, card: int) -> bool:
        """Respect the announced result of a challenge."""
        verdict = self.verdicts.get(zone.number) if zone.kind.name == "bluff_bag" else None
        is_genuine = bool(zone.counters) and card in (zone.counters[0], self.looter)
        return verdict is None or is_genuine == (verdict == self.genuine)

    def may_differ(self, one: Event, other: Event) -> bool:
        """Allow a difference after a challenge, which reveals whether the fifth card was a bluff."""
        if isinstance(one, Happened) and isinstance(other, Happened):
            return {one.act.verb, other.act.verb} == {self.bluff, self.genuine}
        return super().may_differ(one, other)

    def faces(self, zone: Zone) -> list[int]:
        shown = super().faces(zone)
        assert zone.kind.name != "bag" or not any(shown), FACE_DOWN
        return shown
