"""Cards in one place, who may see them, and what each viewer has learned of those he may not.

A viewer is a seat, or the spectator, who comes after the last seat and knows what everybody knows. A set of viewers is
a bit mask: bit v is viewer v. Inside the engine a card is the number of its face; where equal faces can differ, the
zone's columns tell them apart and move along. An unordered zone is always sorted, so that a place never tells when a
card came. Rules move cards through `Game` only; this module knows no rules.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import Final, NamedTuple

from cutpurse.engine.words import FACE_DOWN, Visibility, ZoneKind

__all__ = ["MOST_VIEWERS", "NONE_KEPT", "TABLE", "Zone", "ZoneView", "bit"]

TABLE = -1  # the owner of a zone that belongs to nobody
MOST_VIEWERS: Final = 10
_ALL, _OWNER, _MIXED = Visibility.ALL, Visibility.OWNER, Visibility.MIXED  # looked up for every zone of every game


def bit(viewer: int) -> int:
    """The set of viewers that holds just this one."""
    return 1 << viewer


class ZoneView(NamedTuple):
    """A zone as one viewer may see it. Never changes."""

    number: int
    kind: ZoneKind
    owner: int  # a seat, or TABLE
    size: int
    cards: tuple[int, ...]  # empty, or `size` long with FACE_DOWN for each card he may not see
    known: tuple[int, ...]  # faces that are certainly among those he may not see, sorted
    maybe: tuple[int, ...]  # faces that were among them when he last knew, sorted
    counters: tuple[int, ...]
    columns: tuple[tuple[int, ...], ...]  # by column, then by card; empty where the cards are


NONE_KEPT: Final[list[ZoneView | None]] = [None] * MOST_VIEWERS  # never written to


class Zone:
    """Cards in one place.

    `intel` has an entry (face, certain, maybe) for each card that somebody who may not see the zone has learned of:
    the viewers who know it lies here, and those for whom it may have left unseen.
    """

    __slots__ = (
        "cards",
        "columns",
        "counters",
        "intel",
        "kind",
        "masks",
        "number",
        "ordered",
        "owner",
        "kept",
        "plain",
        "remembers",
        "sees",
        "shared",
    )

    def __init__(self, number: int, kind: ZoneKind, owner: int, everyone: int) -> None:
        self.number = number
        self.owner = owner
        self.become(kind)
        self.sees = self.seers_for(owner, everyone)
        self.cards: list[int] = []
        self.masks: list[int] | None = [] if kind.visibility is _MIXED else None
        self.columns: list[list[int]] | None = [[] for _ in kind.columns] if kind.columns else None
        self.counters: list[int] = [0] * len(kind.counters)
        self.intel: list[tuple[int, int, int]] = []
        self.kept = NONE_KEPT  # by viewer, where it is made and nothing has changed

    def become(self, kind: ZoneKind) -> None:
        """Take over what is looked up at every move from the kind."""
        self.kind = kind
        self.ordered = kind.ordered
        self.remembers = kind.remembers
        self.shared = kind.visibility is _ALL  # all viewers have one picture
        self.plain = kind.visibility is not _MIXED and not kind.columns

    def seers_for(self, owner: int, everyone: int) -> int:
        """The viewers who see every face here if the zone belongs to `owner`."""
        visibility = self.kind.visibility
        if visibility is _ALL:
            return everyone
        return bit(owner) if visibility is _OWNER and owner >= 0 else 0

    def fork(self) -> Zone:
        """An independent copy."""
        z = _blank(Zone)
        z.number = self.number
        z.kind = self.kind
        z.owner = self.owner
        z.ordered = self.ordered
        z.remembers = self.remembers
        z.plain = self.plain
        z.shared = self.shared
        z.sees = self.sees
        z.cards = self.cards[:]
        z.masks = None if self.masks is None else self.masks[:]
        z.columns = None if self.columns is None else [column[:] for column in self.columns]
        z.counters = self.counters[:]
        z.intel = self.intel[:]
        z.kept = self.kept if self.shared else NONE_KEPT
        return z

    # -- cards come and go
    def put(self, card: int, seers: int, columns: tuple[int, ...] | None) -> None:
        """A card whose face `seers` know comes to lie here, on top or in its sorted place."""
        if self.plain:
            if self.ordered:
                self.cards.append(card)
            else:
                insort(self.cards, card)
        elif self.ordered:
            self.cards.append(card)
            if self.masks is not None:
                self.masks.append(seers)
            if self.columns is not None:
                for column, value in zip(self.columns, columns or (0,) * len(self.columns), strict=True):
                    column.append(value)
        else:
            assert self.columns is not None  # a kind of mixed visibility is ordered
            values = columns or (0,) * len(self.columns)
            cards = self.cards
            i = bisect_left(cards, card)
            while i < len(cards) and cards[i] == card and self.column_values(i) < values:
                i += 1
            cards.insert(i, card)
            for j, column in enumerate(self.columns):
                column.insert(i, values[j])
        if self.remembers and (learners := seers & ~self.sees):
            self.intel.append((card, learners, 0))

    def take_over(self, src: Zone, seers: int) -> None:
        """All that lies in `src` comes to lie here, where nothing did, with what was known of it; neither has columns.

        `seers` see every face: what they had learned gives way to that.
        """
        self.cards, src.cards = src.cards, []
        intel, src.intel, self.intel = src.intel, [], []
        if not self.remembers:
            return
        learners = seers & ~self.sees
        blind = ~(seers | self.sees)
        if not learners:
            self.intel = [(f, sure & blind, maybe & blind) for f, sure, maybe in intel if (sure | maybe) & blind]
            return
        new = self.cards[:]
        for face, sure, maybe in intel:
            if face in new:  # one entry tells of everybody who knows this card
                new.remove(face)
                self.intel.append((face, sure & blind | learners, maybe & blind))
            elif (sure | maybe) & blind:
                self.intel.append((face, sure & blind, maybe & blind))
        self.intel += [(face, learners, 0) for face in new]

    def column_values(self, place: int) -> tuple[int, ...]:
        """The numbers on the card at this place."""
        return tuple([column[place] for column in self.columns or ()])

    # -- what viewers learn and lose
    def forget(self, card: int, seers: int, everyone: int) -> None:
        """A card has left: `seers` saw which, the others saw only that one did.

        For who saw it one entry of that face goes, a certain one before an uncertain one; for the others all entries
        become uncertain. An empty zone holds no secrets.
        """
        if not self.cards:
            self.intel.clear()
            return
        if blind := everyone & ~(seers | self.sees):
            self.intel = [(face, sure & ~blind, maybe | (sure & blind)) for face, sure, maybe in self.intel]
        if card in [face for face, _, _ in self.intel]:
            self._strike_off(card, seers)

    def _strike_off(self, card: int, viewers: int) -> None:
        """For each of these viewers one entry of this face goes, a certain one before an uncertain one."""
        intel = self.intel
        left = viewers
        for i, (face, sure, maybe) in enumerate(intel):
            if face == card and (hit := sure & left):
                intel[i] = (face, sure ^ hit, maybe)
                left ^= hit
        if left:
            for i, (face, sure, maybe) in enumerate(intel):
                if face == card and (hit := maybe & left):
                    intel[i] = (face, sure, maybe ^ hit)
                    left ^= hit
        self.intel = [entry for entry in intel if entry[1] or entry[2]]

    def learn(self, viewers: int) -> None:
        """These viewers see all that lies here now; it replaces what they had learned."""
        viewers &= ~self.sees
        if self.masks is not None:
            self.masks = [mask | viewers for mask in self.masks]
        elif viewers:
            self.drop_intel(viewers)
            if self.remembers:
                self.intel += [(card, viewers, 0) for card in self.cards]
        self.kept = NONE_KEPT

    def drop_intel(self, viewers: int) -> None:
        """These viewers' entries go: they see the cards themselves, or know nothing any more."""
        rest = [(face, sure & ~viewers, maybe & ~viewers) for face, sure, maybe in self.intel]
        self.intel = [entry for entry in rest if entry[1] or entry[2]]

    def changed(self) -> None:
        """Something lies here otherwise, so pictures are to be made anew."""
        self.kept = NONE_KEPT

    # -- looking
    def picture(self, viewer: int) -> ZoneView:
        """The zone as this viewer may see it; kept until it changes."""
        cards = self.cards
        if self.shared:
            picture = self._picture(tuple(cards), (), ())
            self.kept = [picture] * MOST_VIEWERS
            return picture
        if self.kept is NONE_KEPT:
            self.kept = NONE_KEPT[:]
        if self.masks is not None:
            mine = 1 << viewer
            seen = [card if mask & mine else FACE_DOWN for card, mask in zip(cards, self.masks)]  # noqa: B905  # slower
            picture = self._picture(tuple(seen), (), ())
        elif self.sees >> viewer & 1:
            picture = self._picture(tuple(cards), (), ())
        elif self.intel:
            mine = 1 << viewer
            known = sorted([face for face, sure, _ in self.intel if sure & mine])
            maybe = sorted([face for face, _, unsure in self.intel if unsure & mine])
            picture = self._picture((), tuple(known), tuple(maybe))
        else:  # the backs, which look the same to all who do not see the faces
            picture = self._picture((), (), ())
            faces, self.kept = self.kept, [picture] * MOST_VIEWERS
            for seer in range(self.sees.bit_length()):
                if self.sees >> seer & 1:
                    self.kept[seer] = faces[seer]
            return picture
        self.kept[viewer] = picture
        return picture

    def _picture(self, cards: tuple[int, ...], known: tuple[int, ...], maybe: tuple[int, ...]) -> ZoneView:
        columns = tuple([tuple(column) for column in self.columns]) if cards and self.columns is not None else ()
        counters = tuple(self.counters) if self.counters else ()
        # tuple.__new__ takes half the time of ZoneView(...), and views are made of nothing else
        return _new_view(
            ZoneView,
            (self.number, self.kind, self.owner, len(self.cards), cards, known, maybe, counters, columns),
        )

    # -- saving
    def save(self) -> list[object]:
        """[number, kind, owner, cards, masks, columns, counters, intel], numbers only."""
        return [
            self.number,
            self.kind.number,
            self.owner,
            self.cards[:],
            self.masks and self.masks[:],
            self.columns and [column[:] for column in self.columns],
            self.counters[:],
            [list(entry) for entry in self.intel],
        ]


_blank = Zone.__new__
_new_view = tuple.__new__
