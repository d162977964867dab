"""The dealer, which moves the cards and records events.

Cards move only through here; a zone says who sees them. So what a viewer sees, hears of and remembers is written once,
and no game contains a line of redaction. This module knows no rules and no names of zones; `Table` adds the names.
"""

from __future__ import annotations

from collections.abc import Iterable

from cutpurse.engine.agenda import Act
from cutpurse.engine.chance import Chance
from cutpurse.engine.clues import Clue
from cutpurse.engine.events import ALONE, Counted, Event, Happened, Moved, Shown, Shuffled
from cutpurse.engine.knowledge_log import ARRIVED, EXCHANGED, LEFT, LOOKED, MOVED_ALL, SEEN_OFF, UNCERTAIN, Note
from cutpurse.engine.native import mypyc_attr
from cutpurse.engine.zones import NO_VIEWS, Zone, bit

__all__ = ["Dealer"]


@mypyc_attr(allow_interpreted_subclasses=True)
class Dealer:
    """Moves cards between zones, draws from chance, and keeps the logs; the base of `Table`."""

    __slots__ = ("chance", "clues", "everyone", "inferring", "log", "notes", "remembering")

    def __init__(self, chance: Chance, everyone: int) -> None:
        """Deal for these viewers; `everyone` is the set of all."""
        self.chance = chance
        self.everyone = everyone
        self.remembering = everyone  # the viewers who remember hidden cards that they saw
        self.inferring = everyone  # those of them who also find out what follows; see `knowledge_level`
        self.log: list[Event] | None = None  # playouts do not pay for events
        self.notes: list[Note] = []  # the knowledge log; see `knowledge`
        self.clues: list[Clue] = []

    # -- cards move
    def enter(self, cards: Iterable[int], zone: Zone, shown: int = 0) -> None:
        """Bring cards out of the box into a zone; `shown` as for `move`."""
        entered = tuple(cards)
        if zone.plain and zone.ordered and not zone.remembers:
            zone.cards += entered
        else:
            for card in entered:
                zone.put(card, zone.sees | shown, None)
        zone.view_cache = NO_VIEWS
        if self.log is not None:
            self.log.append(Moved(0, zone.number, entered, (zone.sees | shown,) * len(entered)))

    def move(self, card: int, src: Zone, dst: Zone, shown: int = 0, columns: tuple[int, ...] | None = None) -> None:
        """Move a card of this face from one zone to another.

        Viewers who see either end see its face, and so do the viewers in `shown`. Without `columns` the card keeps its
        numbers if both zones have columns.
        """
        self.move_at(src.cards.index(card), src, dst, shown, columns)

    def move_at(self, place: int, src: Zone, dst: Zone, shown: int = 0, columns: tuple[int, ...] | None = None) -> int:
        """Move the card at this index, and return its face."""
        card = src.cards.pop(place)
        seers = src.sees | dst.sees | shown
        if src.plain:
            if src.tracked:
                self._note_left(src, dst, card, seers, self.everyone & ~src.sees, None)
        else:
            masks = tuple(src.masks) if src.tracked and src.masks is not None else None
            seers, columns = self._lift(place, src, dst, seers, columns)
            if src.tracked:
                saw = src.sees if masks is None else masks[place]
                self._note_left(src, dst, card, seers, self.everyone & ~saw, masks)
        dst.put(card, seers, columns)
        src.view_cache = dst.view_cache = NO_VIEWS
        if self.log is not None:
            self.log.append(Moved(src.number, dst.number, ALONE[card], ALONE[seers]))
        return card

    def _note_left(
        self, src: Zone, dst: Zone, card: int, seers: int, hidden: int, masks: tuple[int, ...] | None
    ) -> None:
        """Note for card knowledge that a card left a zone; it lies nowhere yet. `hidden` did not see it there."""
        hidden &= src.tracked
        size = len(src.cards) + 1
        if size == 1:
            src.tracked = 0
        if uncertain := hidden & ~seers & ~self.inferring:
            src.tracked &= ~uncertain
            self.notes.append((UNCERTAIN, src.number, uncertain))
            hidden ^= uncertain
        if not hidden:
            return
        if masks is None and size > 1 and not src.doubtful and not src.tracked & ~seers:
            self.notes.append((SEEN_OFF, src.number, card))
            return
        copies: tuple[int, ...] = ()
        if src.doubtful & hidden & seers and self.copies()[card] > 1:
            copies = self._copies_in_sight(card, src)
        target = dst.number if dst.remembers else 0
        if blind := hidden & ~seers:
            src.doubtful |= blind
            if target:
                dst.tracked |= blind
                dst.doubtful |= blind
        if size == 1:
            src.doubtful = 0
        self.notes.append((LEFT, src.number, target, card, seers, hidden, masks, size, copies))

    # `Table` has the zones and the box.
    def zone(self, number: int) -> Zone:
        """Look up a zone by its number.  Raises KeyError if there is none (any more)."""
        raise NotImplementedError  # `Table` has it

    def in_order(self) -> list[Zone]:
        """Return every zone, in the order of a view. The list is cached; do not change it."""
        raise NotImplementedError  # `Table` has it

    def copies(self) -> list[int]:
        """Return the number of copies of each card in the box, by its number."""
        raise NotImplementedError  # `Table` has it

    def _copies_in_sight(self, card: int, but: Zone) -> tuple[int, ...]:
        """Return who sees each copy of a card that lies anywhere but in one zone."""
        raise NotImplementedError  # `Table` has it

    def note_look(self, zone: Zone, masks: tuple[int, ...] | None, seers: int) -> None:
        """Note for card knowledge that these viewers see all cards of a zone; `masks` saw each of them before."""
        if seers := seers & zone.tracked:
            self.notes.append((LOOKED, zone.number, tuple(zone.cards), masks, seers, self._all_copies_in_sight(zone)))

    def _all_copies_in_sight(self, zone: Zone) -> tuple[tuple[int, ...], ...]:
        if not zone.doubtful:
            return ()
        copies = self.copies()
        return tuple([self._copies_in_sight(card, zone) if copies[card] > 1 else () for card in zone.cards])

    def _note_moved_all(self, src: Zone, dst: Zone, masks: tuple[int, ...] | None, seers: int) -> None:
        """Note for card knowledge that all of a zone goes to another, before it does."""
        copies = self._all_copies_in_sight(src)
        target = dst.number if dst.remembers else 0
        self.notes.append((MOVED_ALL, src.number, target, tuple(src.cards), masks, seers, copies))
        if target:
            dst.tracked |= src.tracked & ~seers
            dst.doubtful |= src.doubtful & ~seers
        src.tracked = src.doubtful = 0

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
        """Move the top card, and return its face.  Raises IndexError if there is none."""
        return self.move_at(-1, src, dst, shown, columns)

    def deal(self, src: Zone, dst: Zone, cards: int) -> None:
        """Move this many cards one by one from the top.  There must be enough."""
        if self.log is not None or not (src.plain and dst.plain) or src.tracked or not cards:
            for _ in range(cards):
                self.move_at(-1, src, dst)
            return
        dealt = src.cards[: -cards - 1 : -1]  # the same in one go: a game begins with this
        del src.cards[-cards:]
        dst.cards += dealt
        if not dst.ordered:
            dst.cards.sort()
        if dst.remembers and (learners := src.sees & ~dst.sees & self.remembering):
            dst.tracked |= learners
            self.notes.append((ARRIVED, dst.number, tuple(dealt), learners))
        src.view_cache = dst.view_cache = NO_VIEWS

    def move_random(self, src: Zone, dst: Zone, shown: int = 0, columns: tuple[int, ...] | None = None) -> int:
        """Move a card that chance picks, all equally likely, and return its face."""
        return self.move_at(self.chance.pick(src.cards), src, dst, shown, columns)

    def move_all(self, src: Zone, dst: Zone, shown: int = 0, columns: tuple[int, ...] | None = None) -> None:
        """Move all cards of a zone at once; what was known of them goes along."""
        if not src.cards:
            return
        if src.plain and dst.plain and not dst.cards and (dst.ordered or not src.ordered):
            seers = src.sees | dst.sees | shown
            if src.tracked:
                self._note_moved_all(src, dst, None, seers)
            dst.take_over(src, seers)
            src.view_cache = dst.view_cache = NO_VIEWS
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
        if src.tracked:
            self._note_moved_all(src, dst, None if src.masks is None else tuple(src.masks), seers)
        src.cards.clear()
        if src.masks is not None:
            src.masks.clear()
        for column in src.columns or ():
            column.clear()
        for card, mask, numbers in zip(cards, masks, values):  # noqa: B905  # slower
            dst.put(card, mask, numbers)
        src.view_cache = dst.view_cache = NO_VIEWS
        if self.log is not None:
            self.log.append(Moved(src.number, dst.number, tuple(cards), tuple(masks)))

    def exchange(self, first: Zone, other: Zone) -> None:
        """Two zones of one kind swap their cards and what is known of them; who saw them before goes on knowing."""
        before = first.sees, other.sees
        for name in ("cards", "masks", "columns", "tracked", "doubtful"):
            mine, theirs = getattr(first, name), getattr(other, name)
            setattr(first, name, theirs)
            setattr(other, name, mine)
        if first.tracked or other.tracked:
            self.notes.append((EXCHANGED, first.number, other.number))
        for zone, old_seers in ((first, before[1]), (other, before[0])):
            self.note_look(zone, None, zone.sees)
            zone.uncover(old_seers & ~zone.sees)
        if self.log is not None:
            for src, dst in ((other, first), (first, other)):
                seers = src.sees | dst.sees
                self.log.append(Moved(src.number, dst.number, tuple(dst.cards), (seers,) * len(dst.cards)))

    def shuffle(self, zone: Zone) -> None:
        """Shuffle a zone."""
        self.chance.shuffle(zone.cards)
        if self.log is not None:
            self.log.append(Shuffled(zone.number))

    def show(self, zone: Zone, seats: Iterable[int] | None = None) -> None:
        """Show these seats, or (None) everybody, what lies in a zone now."""
        seen_by = tuple(seats) if seats is not None else ()
        viewers = sum(bit(seat) for seat in seen_by) if seats is not None else self.everyone
        if self.log is not None:
            seers = zone.sees | viewers
            masks = tuple([seers | (zone.masks[i] if zone.masks else 0) for i in range(len(zone.cards))])
            self.log.append(Shown(zone.number, seen_by, tuple(zone.cards), masks))
        self.note_look(zone, None if zone.masks is None else tuple(zone.masks), viewers & ~zone.sees)
        zone.uncover(viewers)

    # -- events
    def count_zone(self, zone: Zone, counter: int, value: int) -> None:
        """Set a counter of a zone, by its position in the kind's list."""
        zone.counters[counter] = value
        zone.view_cache = NO_VIEWS
        if self.log is not None:
            self.log.append(Counted(zone.kind.counters[counter].name, value, None, zone.number))

    def count_card(self, zone: Zone, place: int, column: int, value: int) -> None:
        """Set a column of the card at this index of an open zone; its position in the order stays."""
        assert zone.columns is not None
        zone.columns[column][place] = value
        zone.view_cache = NO_VIEWS
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
        """Tell everybody of something that is no answer: a bust, a coin that fell. All see its cards."""
        if self.log is not None:
            self.log.append(Happened(Act(verb, cards, zone, seat, number, (), actor), ()))
