"""Cards in one place, who may see them, and what each viewer has learned of the hidden ones.

A viewer is a seat, or the spectator, who comes after the last seat and knows what everybody knows. A set of viewers is
a bit mask: bit v is viewer v. Inside the engine a card is the number of its face; where equal faces can differ, the
zone's columns tell them apart and move along. An unordered zone is always sorted, so that a place never tells when a
card came. Rules move cards through `Game` only; this module knows no rules.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import Any, Final, final

from cutpurse.engine.clues import Clue
from cutpurse.engine.events import ALONE
from cutpurse.engine.knowledge_log import ARRIVED, Note, Run
from cutpurse.engine.native import mypyc_attr
from cutpurse.engine.values import PlainValue
from cutpurse.engine.words import FACE_DOWN, MOST_SEATS, Visibility, ZoneKind

__all__ = ["MOST_VIEWERS", "NO_FACE_DOWN_VIEWS", "NO_VIEWS", "TABLE", "Zone", "ZoneView", "bit", "copies_of"]

TABLE = -1  # the owner of a zone that belongs to nobody
MOST_VIEWERS: Final = MOST_SEATS + 1
_ALL, _OWNER, _MIXED = Visibility.ALL, Visibility.OWNER, Visibility.MIXED  # looked up for every zone of every game


def bit(viewer: int) -> int:
    """Return the set of viewers that holds just this one."""
    return 1 << viewer


def _members(viewers: int) -> list[int]:
    """List the viewers in a set of them."""
    return [viewer for viewer in range(MOST_VIEWERS) if viewers >> viewer & 1]


# By set.
_MEMBERS: Final = [_members(viewers) for viewers in range(1 << MOST_VIEWERS)]


@mypyc_attr(acyclic=True)
@final
class ZoneView(PlainValue):
    """A zone as one viewer may see it. Never changes."""

    __slots__ = ("cached_row", "cards", "columns", "counters", "kind", "known", "maybe", "number", "owner", "size")

    def __init__(
        self,
        number: int,
        kind: ZoneKind,
        owner: int,
        size: int,
        cards: tuple[int, ...],
        known: tuple[int, ...],
        maybe: tuple[int, ...],
        counters: tuple[int, ...],
        columns: tuple[tuple[int, ...], ...],
    ) -> None:
        self.number = number
        self.kind = kind
        self.owner = owner  # a seat, or TABLE
        self.size = size
        self.cards = cards  # empty, or `size` long with FACE_DOWN for each card that is hidden
        self.known = known  # faces that are certainly among those the viewer may not see, sorted
        self.maybe = maybe  # faces that may be among them and lie in one of several zones otherwise, sorted
        self.counters = counters
        self.columns = columns  # by column, then by card; empty where the cards are
        self.cached_row: tuple[object, bytes] | None = None  # for arrays: who made bytes of it, and the bytes

    def values(self) -> tuple[Any, ...]:
        return (
            self.number,
            self.kind,
            self.owner,
            self.size,
            self.cards,
            self.known,
            self.maybe,
            self.counters,
            self.columns,
        )

    def showing(self, cards: tuple[int, ...], columns: tuple[tuple[int, ...], ...]) -> ZoneView:
        """Return this zone with other cards; nothing but their faces is known."""
        return ZoneView(self.number, self.kind, self.owner, self.size, cards, (), (), self.counters, columns)


_ViewCache = list[ZoneView | None]  # by viewer
NO_VIEWS: Final[_ViewCache] = [None] * MOST_VIEWERS  # never written to

_FaceDownViews = dict[int, _ViewCache]  # by the number of cards, for the viewers who see no face
NO_FACE_DOWN_VIEWS: Final[_FaceDownViews] = {}  # never written to
# Those of zones that every game of a kind has.
_SHARED_FACE_DOWN_VIEWS: Final[dict[tuple[int, ZoneKind, int], _FaceDownViews]] = {}


@mypyc_attr(acyclic=True)
class Zone:
    """Cards in one place.

    `runs` and `clues` are what viewers who may not see the zone know of it, once the log `notes` is worked off; see
    `knowledge`. `tracked` are the viewers who may know something of hidden cards here, `doubtful` those who may have
    clues, so that the log is spared what nobody learns from.

    `view_cache` holds the view of each viewer who has looked since the zone last changed for that viewer. So as long as
    a viewer's view is the same object, nothing has changed for that viewer.
    """

    __slots__ = (
        "cards",
        "clues",
        "columns",
        "counters",
        "doubtful",
        "everyone",
        "face_down_views",
        "kind",
        "masks",
        "notes",
        "number",
        "ordered",
        "owner",
        "plain",
        "remembering",
        "remembers",
        "runs",
        "sees",
        "shared",
        "tracked",
        "view_cache",
    )
    number: int
    kind: ZoneKind
    owner: int
    everyone: int
    remembering: int
    notes: list[Note]
    ordered: bool
    remembers: bool
    plain: bool
    shared: bool
    sees: int
    cards: list[int]
    masks: list[int] | None
    columns: list[list[int]] | None
    counters: list[int]
    runs: tuple[Run, ...]
    clues: tuple[Clue, ...]
    tracked: int
    doubtful: int
    view_cache: _ViewCache
    face_down_views: _FaceDownViews

    def __init__(
        self,
        number: int,
        kind: ZoneKind,
        owner: int,
        everyone: int,
        remembering: int,
        notes: list[Note],
        like: Zone | None = None,
    ) -> None:
        """Make an empty zone, or a copy of `like`; viewers and `notes`, the knowledge log, are those of the table."""
        self.number = number
        self.owner = owner
        self.everyone = everyone
        self.remembering = remembering
        self.notes = notes
        if like is None:
            self.become(kind)
            self.sees = self.seers_for(owner, everyone)
            self.cards = []
            self.masks = [] if kind.visibility is _MIXED else None
            self.columns = [[] for _ in kind.columns] if kind.columns else None
            self.counters = [0] * len(kind.counters)
            self.runs = self.clues = ()
            self.tracked = self.doubtful = 0
            self.view_cache = NO_VIEWS
            return
        self.kind = kind
        self.ordered = like.ordered
        self.remembers = like.remembers
        self.plain = like.plain
        self.shared = like.shared
        self.sees = like.sees
        self.cards = like.cards[:]
        self.masks = None if like.masks is None else like.masks[:]
        self.columns = None if like.columns is None else [column[:] for column in like.columns]
        self.counters = like.counters[:]
        self.runs = like.runs
        self.clues = like.clues
        self.tracked = like.tracked
        self.doubtful = like.doubtful
        self.view_cache = like.view_cache if like.shared else NO_VIEWS
        self.face_down_views = like.face_down_views

    def become(self, kind: ZoneKind) -> None:
        """Take over what is looked up at every move from the kind."""
        self.kind = kind
        self.face_down_views = NO_FACE_DOWN_VIEWS
        self.ordered = kind.ordered
        self.remembers = kind.remembers
        self.shared = kind.visibility is _ALL  # all viewers have one view
        self.plain = kind.visibility is not _MIXED and not kind.columns

    def seers_for(self, owner: int, everyone: int) -> int:
        """Return the viewers who see every face here if the zone belongs to `owner`."""
        visibility = self.kind.visibility
        if visibility is _ALL:
            return everyone
        return bit(owner) if visibility is _OWNER and owner >= 0 else 0

    # -- cards come and go
    def put(self, card: int, seers: int, columns: tuple[int, ...] | None) -> None:
        """Add a card whose face `seers` know, on top or at its sorted index."""
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
            self._put_in_order(card, columns)
        if self.remembers and self.masks is None and (learners := seers & ~self.sees & self.remembering):
            self.tracked |= learners
            self.notes.append((ARRIVED, self.number, ALONE[card], learners))

    def _put_in_order(self, card: int, values: tuple[int, ...] | None) -> None:
        """Add a card at its sorted index, among its copies by the numbers on them."""
        assert self.columns is not None  # a kind of mixed visibility is ordered
        cards = self.cards
        i = bisect_left(cards, card)
        if len(self.columns) == 1:  # the same as below, in half the time
            column, value = self.columns[0], values[0] if values else 0
            while i < len(cards) and cards[i] == card and column[i] < value:
                i += 1
            column.insert(i, value)
        else:
            values = values or (0,) * len(self.columns)
            while i < len(cards) and cards[i] == card and self.column_values(i) < values:
                i += 1
            for column, value in zip(self.columns, values, strict=True):
                column.insert(i, value)
        cards.insert(i, card)

    def take_over(self, src: Zone, seers: int) -> None:
        """Take all that lies in `src`, where nothing did; neither has columns. `seers` see every face."""
        self.cards, src.cards = src.cards, []
        if self.remembers and (learners := seers & ~self.sees & self.remembering):
            self.tracked |= learners
            self.notes.append((ARRIVED, self.number, tuple(self.cards), learners))

    def column_values(self, place: int) -> tuple[int, ...]:
        """Return the numbers on the card at this index."""
        return tuple([column[place] for column in self.columns or ()])

    # -- what viewers know
    def forget(self) -> None:
        """Drop what anybody knows of this zone: a new deal begins."""
        self.runs = self.clues = ()
        self.tracked = self.doubtful = 0

    def uncover(self, viewers: int) -> None:
        """Let these viewers see all that lies here now, and know it as long as it stays."""
        if self.masks is not None:
            self.masks = [mask | viewers for mask in self.masks]
        elif self.remembers and (learners := viewers & ~self.sees & self.remembering) and self.cards:
            self.tracked |= learners
            self.notes.append((ARRIVED, self.number, tuple(self.cards), learners))
        self.view_cache = NO_VIEWS

    def known_by(self, viewer: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the faces that certainly lie here and those that may, both sorted; the log must be worked off."""
        known: tuple[int, ...] = ()
        maybe: tuple[int, ...] = ()
        for faces, viewers in self.runs:
            if viewers >> viewer & 1:
                known += faces
        for clue in self.clues:
            if clue.viewers >> viewer & 1:
                certain, possible = clue.bounds(self.number)
                known += certain
                maybe += possible
        if len(known) > 1:
            known = tuple(sorted(known))
        if len(maybe) > 1:
            maybe = tuple(sorted(maybe))
        return known, maybe

    def changed(self) -> None:
        """Drop all cached views."""
        self.view_cache = NO_VIEWS

    def changed_for(self, viewers: int) -> None:
        """Drop the cached views of these viewers, who know something else of this zone now."""
        if self.view_cache is not NO_VIEWS:
            views = [*self.view_cache]
            for viewer in _MEMBERS[viewers]:
                views[viewer] = None
            self.view_cache = views

    # -- looking
    def make_view(self, viewer: int) -> ZoneView:
        """Make the view of this viewer, and cache it for all viewers who see and know the same."""
        cards = self.cards
        if not cards and not self.counters:
            return self._cache_for_all(self._get_face_down_views(0), viewer)
        if self.sees >> viewer & 1:
            view = self._view(tuple(cards))
            if self.shared:
                self.view_cache = [view] * MOST_VIEWERS
                return view
            return self._cache_for(viewer, view)
        if self.masks is not None:
            return self._partly_visible_view(viewer)
        if self.runs or self.clues:
            return self._view_with_knowledge(viewer)
        if self.counters:
            return self._cache_for_non_viewers([self._view(())] * MOST_VIEWERS, viewer)
        return self._cache_for_non_viewers(self._get_face_down_views(len(cards)), viewer)

    def _partly_visible_view(self, viewer: int) -> ZoneView:
        """Make a view of cards that this viewer sees in part; cached for all who see the same of them."""
        mine = 1 << viewer
        seen, alike = [], self.everyone
        for card, mask in zip(self.cards, self.masks or ()):  # noqa: B905  # slower
            if mask & mine:
                seen.append(card)
                alike &= mask
            else:
                seen.append(FACE_DOWN)
                alike &= ~mask
        if self.runs or self.clues:
            known, maybe = self.known_by(viewer)
            return self._cache_for(viewer, self._view(tuple(seen), known, maybe))
        view = self._view(tuple(seen))
        views = [*self.view_cache]
        for other in _MEMBERS[alike]:
            views[other] = view
        self.view_cache = views
        return view

    def _view_with_knowledge(self, viewer: int) -> ZoneView:
        """Make a view of face-down cards, with what this viewer knows of them.

        It is cached for all who do not see the faces if they know the same, as after a card was shown to everybody.
        """
        known, maybe = self.known_by(viewer)
        others = self.everyone & ~self.sees
        alike = not self.clues
        for _, viewers in self.runs:
            if viewers != others:
                alike = False
        view = self._view((), known, maybe)
        if alike:
            return self._cache_for_non_viewers([view] * MOST_VIEWERS, viewer)
        return self._cache_for(viewer, view)

    def _cache_for(self, viewer: int, view: ZoneView) -> ZoneView:
        """Cache the view of one viewer."""
        if self.view_cache is NO_VIEWS:
            self.view_cache = [*NO_VIEWS]
        self.view_cache[viewer] = view
        return view

    def _cache_for_non_viewers(self, views: _ViewCache, viewer: int) -> ZoneView:
        """Cache these views for all who do not see the faces, and return that of `viewer`, one of them."""
        if self.sees:
            views, owner = [*views], self.owner
            views[owner] = self.view_cache[owner]
        return self._cache_for_all(views, viewer)

    def _cache_for_all(self, views: _ViewCache, viewer: int) -> ZoneView:
        """Cache these views, and return that of `viewer`."""
        self.view_cache = views
        view = views[viewer]
        assert view is not None
        return view

    def _get_face_down_views(self, size: int) -> _ViewCache:
        """Return the views of this many face-down cards, for all zones like this one without counters."""
        if self.face_down_views is NO_FACE_DOWN_VIEWS:
            zone = (self.number, self.kind, self.owner)
            self.face_down_views = {} if self.kind.many else _SHARED_FACE_DOWN_VIEWS.setdefault(zone, {})
        views = self.face_down_views.get(size)
        if views is None:
            views = self.face_down_views[size] = [self._view(())] * MOST_VIEWERS
        return views

    def _view(self, seen: tuple[int, ...], known: tuple[int, ...] = (), maybe: tuple[int, ...] = ()) -> ZoneView:
        columns: tuple[tuple[int, ...], ...] = ()
        if self.columns is not None and seen:
            columns = tuple([tuple(column) for column in self.columns])
        counters = tuple(self.counters) if self.counters else ()
        return ZoneView(self.number, self.kind, self.owner, len(self.cards), seen, known, maybe, counters, columns)

    # -- saving
    def save(self) -> list[object]:
        """Return [number, kind, owner, cards, masks, columns, counters, runs] as numbers; apply the log first."""
        return [
            self.number,
            self.kind.number,
            self.owner,
            self.cards[:],
            self.masks and self.masks[:],
            self.columns and [column[:] for column in self.columns],
            self.counters[:],
            [[list(faces), viewers] for faces, viewers in self.runs],
        ]


def copies_of(zones: list[Zone], notes: list[Note]) -> list[Zone]:
    """Copy zones for a table with the log `notes`: a copy of the log of these zones."""
    return [Zone(zone.number, zone.kind, zone.owner, zone.everyone, zone.remembering, notes, zone) for zone in zones]
