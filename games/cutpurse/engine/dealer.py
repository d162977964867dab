"""The dealer: whoever moves the cards, and tells of it.

Cards move only through here; a zone says who sees them. So what a viewer is shown, told and remembers is written once,
and no game contains a line of redaction. This module knows no rules and no names of zones; `Table` adds the names.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable

from cutpurse.engine.agenda import Act
from cutpurse.engine.chance import Chance
from cutpurse.engine.events import ALONE, Counted, Event, Happened, Moved, Shown, Shuffled
from cutpurse.engine.intel import Entry
from cutpurse.engine.zones import NONE_KEPT, Zone, bit

__all__ = ["Dealer"]

_new = tuple.__new__  # takes half the time of an event's own


class Dealer:
    """Moves cards between zones, draws from chance, and keeps the log; the base of `Table`."""

    __slots__ = ("chance", "everyone", "log")

    def __init__(self, chance: Chance, everyone: int) -> None:
        """`everyone` is the set of all viewers."""
        self.chance = chance
        self.everyone = everyone
        self.log: list[Event] | None = None  # playouts do not pay for events

    # -- cards move
    def enter(self, cards: Iterable[int], zone: Zone, shown: int = 0) -> None:
        """Cards come out of the box into a zone; `shown` as for `move`."""
        entered = tuple(cards)
        if zone.plain and zone.ordered and not zone.remembers:
            zone.cards += entered
        else:
            for card in entered:
                zone.put(card, zone.sees | shown, None)
        zone.kept = NONE_KEPT
        if self.log is not None:
            self.log.append(Moved(0, zone.number, entered, (zone.sees | shown,) * len(entered)))

    def move(self, card: int, src: Zone, dst: Zone, shown: int = 0, columns: tuple[int, ...] | None = None) -> None:
        """A card of this face goes from one zone to another.

        Whoever sees either end sees its face, and so do the viewers in `shown`. Without `columns` the card keeps its
        numbers if both zones have columns.
        """
        if not (src.plain and dst.plain):
            self.move_at(src.cards.index(card), src, dst, shown, columns)
            return
        src.cards.remove(card)  # `move_at`, written out: nearly every move is of this sort
        if dst.ordered:
            dst.cards.append(card)
        else:
            insort(dst.cards, card)
        seers = src.sees | dst.sees | shown
        if src.runs or src.journal:
            src.forget(card, seers)
        if dst.remembers and (learners := seers & ~dst.sees):
            dst.journal.append((card, learners, 0))
        src.kept = dst.kept = NONE_KEPT
        if self.log is not None:
            self.log.append(_new(Moved, (src.number, dst.number, ALONE[card], ALONE[seers])))

    def move_at(self, place: int, src: Zone, dst: Zone, shown: int = 0, columns: tuple[int, ...] | None = None) -> int:
        """The card at this place goes; its face."""
        card = src.cards.pop(place)
        seers = src.sees | dst.sees | shown
        if not src.plain:
            seers, columns = self._lift(place, src, dst, seers, columns)
        if src.runs or src.journal:
            src.forget(card, seers)
        if not dst.plain:
            dst.put(card, seers, columns)
        else:  # `put`, written out: nearly every move ends here
            if dst.ordered:
                dst.cards.append(card)
            else:
                insort(dst.cards, card)
            if dst.remembers and (learners := seers & ~dst.sees):
                dst.journal.append((card, learners, 0))
        src.kept = dst.kept = NONE_KEPT
        if self.log is not None:
            self.log.append(_new(Moved, (src.number, dst.number, ALONE[card], ALONE[seers])))
        return card

    def _lift(
        self, place: int, src: Zone, dst: Zone, seers: int, columns: tuple[int, ...] | None
    ) -> tuple[int, tuple[int, ...] | None]:
        """Take what lies on a card along with it: who has seen it, and its numbers."""
        if src.masks is not None:
            seers |= src.masks.pop(place)
        if src.columns is not None:
            own: tuple[int, ...] = ()
            for column in src.columns:
                own += (column.pop(place),)
            if columns is None and dst.columns is not None:
                columns = own
        return seers, columns

    def move_top(self, src: Zone, dst: Zone, shown: int = 0, columns: tuple[int, ...] | None = None) -> int:
        """The top card goes; its face.  Raises IndexError if there is none."""
        return self.move_at(-1, src, dst, shown, columns)

    def deal(self, src: Zone, dst: Zone, cards: int) -> None:
        """So many cards go one after the other, each the top one.  There must be as many."""
        if self.log is not None or not (src.plain and dst.plain) or src.runs or src.journal or not cards:
            for _ in range(cards):
                self.move_at(-1, src, dst)
            return
        dealt = src.cards[: -cards - 1 : -1]  # the same in one go: a game begins with this
        del src.cards[-cards:]
        dst.cards += dealt
        if not dst.ordered:
            dst.cards.sort()
        if dst.remembers and (learners := src.sees & ~dst.sees):
            dst.journal += [(card, learners, 0) for card in dealt]
        src.kept = dst.kept = NONE_KEPT

    def move_random(self, src: Zone, dst: Zone, shown: int = 0, columns: tuple[int, ...] | None = None) -> int:
        """A card goes that chance picks, all equally likely; its face."""
        return self.move_at(self.chance.pick(src.cards), src, dst, shown, columns)

    def move_all(self, src: Zone, dst: Zone, shown: int = 0, columns: tuple[int, ...] | None = None) -> None:
        """All cards go at once, and what was known of them goes along."""
        if not src.cards:
            return
        if src.plain and dst.plain and not dst.cards and (dst.ordered or not src.ordered):
            seers = src.sees | dst.sees | shown
            dst.take_over(src, seers)
            src.kept = dst.kept = NONE_KEPT
            if self.log is not None:
                went = tuple(dst.cards)
                self.log.append(Moved(src.number, dst.number, went, (seers,) * len(went)))
        else:
            self._move_one_by_one(src, dst, shown, columns)

    def _move_one_by_one(self, src: Zone, dst: Zone, shown: int, columns: tuple[int, ...] | None) -> None:
        cards, seers = src.cards[:], src.sees | dst.sees | shown
        masks = [seers | mask for mask in src.masks] if src.masks else [seers] * len(cards)
        values: list[tuple[int, ...] | None] = [columns] * len(cards)
        if columns is None and src.columns and dst.columns:
            values = [*zip(*src.columns, strict=True)]
        intel: list[Entry] = []
        if dst.remembers and (src.runs or src.journal):
            src.drop_intel(dst.sees | shown)
            intel = src.intel
        src.runs, src.journal = (), []
        src.cards.clear()
        if src.masks is not None:
            src.masks.clear()
        for column in src.columns or ():
            column.clear()
        for card, mask, numbers in zip(cards, masks, values):  # noqa: B905  # slower
            dst.put(card, mask, numbers)
        if dst.remembers:
            dst.journal += intel
        src.kept = dst.kept = NONE_KEPT
        if self.log is not None:
            self.log.append(Moved(src.number, dst.number, tuple(cards), tuple(masks)))

    def exchange(self, one: Zone, other: Zone) -> None:
        """Two zones of one kind swap their cards and what is known of them; who saw them before goes on knowing."""
        before = one.sees, other.sees
        for name in ("cards", "masks", "columns", "intel"):
            mine, theirs = getattr(one, name), getattr(other, name)
            setattr(one, name, theirs)
            setattr(other, name, mine)
        for zone, old_seers in ((one, before[1]), (other, before[0])):
            zone.drop_intel(zone.sees)
            if zone.remembers and (lost := old_seers & ~zone.sees):
                zone.journal += [(card, lost, 0) for card in zone.cards]
            zone.kept = NONE_KEPT
        if self.log is not None:
            for src, dst in ((other, one), (one, other)):
                seers = src.sees | dst.sees
                self.log.append(Moved(src.number, dst.number, tuple(dst.cards), (seers,) * len(dst.cards)))

    def shuffle(self, zone: Zone) -> None:
        """The order of a zone is lost."""
        self.chance.shuffle(zone.cards)
        if self.log is not None:
            self.log.append(Shuffled(zone.number))

    def show(self, zone: Zone, seats: Iterable[int] | None = None) -> None:
        """These seats, or (None) everybody, see what lies in a zone now."""
        seen_by = tuple(seats) if seats is not None else ()
        viewers = sum(bit(seat) for seat in seen_by) if seats is not None else self.everyone
        if self.log is not None:
            seers = zone.sees | viewers
            masks = tuple([seers | (zone.masks[i] if zone.masks else 0) for i in range(len(zone.cards))])
            self.log.append(Shown(zone.number, seen_by, tuple(zone.cards), masks))
        zone.learn(viewers)

    # -- what is told
    def count_zone(self, zone: Zone, counter: int, value: int) -> None:
        """A counter of a zone (by its position in the kind's list) has a new value."""
        zone.counters[counter] = value
        zone.kept = NONE_KEPT
        if self.log is not None:
            self.log.append(Counted(zone.kind.counters[counter].name, value, None, zone.number))

    def count_card(self, zone: Zone, place: int, column: int, value: int) -> None:
        """A column of the card at this place of an open zone has a new value; its place in the order stays."""
        assert zone.columns is not None
        zone.columns[column][place] = value
        zone.kept = NONE_KEPT
        if self.log is not None:
            self.log.append(Counted(zone.kind.columns[column].name, value, None, zone.number, place))

    def tell(
        self,
        verb: int,
        cards: tuple[int, ...] = (),
        *,
        zone: int = 0,
        seat: int | None = None,
        number: int = 0,
        actor: int | None = None,
    ) -> None:
        """Something happened that is no answer: a bust, a coin that fell. All see its cards."""
        if self.log is not None:
            self.log.append(Happened(Act(verb, cards, zone, seat, number, (), actor), ()))
