"""Card knowledge: what each viewer can prove about cards that they do not see, brought up to date by a log of moves.

What a viewer knows has two forms. A *run* belongs to one zone: these faces certainly lie there. A *clue* ties several
zones together (see `clues`).

Far more cards move than anybody asks about. So the dealer only writes notes into the `knowledge_log`, and `catch_up`
works them off, in their order, before somebody looks. This module knows no rules and no views.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Final

from cutpurse.engine.clues import Clue, Possibility, Spread, count_card, count_in
from cutpurse.engine.dealer import Dealer
from cutpurse.engine.knowledge_log import ARRIVED, EXCHANGED, LEFT, LOOKED, MOVED_ALL, SEEN_OFF, UNCERTAIN, Run
from cutpurse.engine.possibilities import (
    combine,
    possible_after_leaving,
    renumber,
    simplify,
    sort_possibilities,
    spread_after_move,
)
from cutpurse.engine.zones import Zone

__all__ = ["catch_up"]

MANY_POSSIBILITIES: Final = 8  # of one clue; from then on two are joined into a weaker one where that is possible


# -- the log
def catch_up(table: Dealer) -> None:
    """Work the knowledge log off."""
    notes = table.notes
    everyone = table.everyone
    for note in notes:
        code = note[0]
        if code == ARRIVED:
            _, number, cards, viewers = note
            _add(table.zone(number), cards, viewers)  # type: ignore[arg-type]  # a note is a plain tuple: see above
        elif code == SEEN_OFF:
            _, number, card = note
            zone = table.zone(number)  # type: ignore[arg-type]
            if zone.runs:
                _strike(zone, card, everyone)  # type: ignore[arg-type]
        elif code == LEFT:
            _, number, target, *rest = note
            _left(table, table.zone(number), target, *rest)  # type: ignore[arg-type]
        elif code == MOVED_ALL:
            _, number, target, cards, masks, seers, copies = note
            zone = table.zone(number)  # type: ignore[arg-type]
            _look(table, zone, cards, masks, seers, copies)  # type: ignore[arg-type]
            _rename(table, zone, target)  # type: ignore[arg-type]
        elif code == LOOKED:
            _, number, *rest = note
            _look(table, table.zone(number), *rest)  # type: ignore[arg-type]
        elif code == UNCERTAIN:
            _, number, viewers = note
            _forget(table.zone(number), viewers)  # type: ignore[arg-type]
        elif code == EXCHANGED:
            _exchange(table, table.zone(note[1]), table.zone(note[2]))  # type: ignore[arg-type]
        else:
            _rename(table, table.zone(note[1]), 0)  # type: ignore[arg-type]
    notes.clear()


def _left(
    table: Dealer,
    src: Zone,
    target: int,
    card: int,
    seers: int,
    hidden: int,
    masks: tuple[int, ...] | None,
    size: int,
    copies: tuple[int, ...],
) -> None:
    """Note that a card left a zone; some viewers it was hidden from see its face, the others only that one left."""
    seeing = hidden & seers
    if seeing and src.runs:
        seeing = _strike(src, card, seeing)
    if seeing and src.clues and (seeing := seeing & _clue_knowers(src)):
        for _, viewers in _groups(src, seeing):
            here = size if masks is None else _hidden_among(masks, viewers)
            _take(table, src, card, here, viewers, copies)
    blind = hidden & ~seers
    if blind and (blind := blind & _knowers(src)):
        for sure, viewers in _groups(src, blind):
            here = size if masks is None else _hidden_among(masks, viewers)
            _slip(table, src, target, here, viewers, sure)


def _look(
    table: Dealer,
    zone: Zone,
    cards: tuple[int, ...],
    masks: tuple[int, ...] | None,
    seers: int,
    copies: tuple[tuple[int, ...], ...],
) -> None:
    """Replace what these viewers knew of a zone by its cards, which they see now, and settle their clues."""
    for viewer in _members(seers & _clue_knowers(zone)):
        mine = 1 << viewer
        seen = list(_sure(zone, viewer))
        known = Counter(seen)
        _drop_runs(zone, mine)
        hidden = [i for i in range(len(cards)) if masks is None or not masks[i] & mine]
        if not seen and _settled_at_once(table, zone, [cards[i] for i in hidden], mine):
            continue
        left = len(hidden) - len(seen)
        for i in hidden:
            card = cards[i]
            if known[card]:
                known[card] -= 1
            elif zone.clues:
                in_sight = copies[i] if copies else ()
                _take(table, zone, card, left, mine, in_sight + (mine,) * seen.count(card))
                left -= 1
                seen.append(card)
    if zone.runs:
        _drop_runs(zone, seers)
        zone.changed_for(seers)


def _settled_at_once(table: Dealer, zone: Zone, cards: list[int], viewers: int) -> bool:
    """Settle the clues on a zone whose cards are all of one spread, as a pile that comes back; whether it was so."""
    clues = _clues_of(zone, viewers)
    if len(clues) != 1 or len(clues[0].possibilities) != 1:
        return False
    ((spread,),) = clues[0].possibilities
    counts = dict(spread.places)
    if spread.unknown or counts.pop(zone.number) != len(cards):
        return False
    faces = list(spread.faces)
    for card in cards:
        if card not in faces:
            return False
        faces.remove(card)
    _remove(table, clues[0], viewers)
    _learn(table, viewers, [(Spread(tuple(faces), 0, tuple(counts.items())),)])
    return True


def _rename(table: Dealer, src: Zone, target: int) -> None:
    """Note that all of a zone went to another; the viewers know of it there what they knew here."""
    if src.runs:
        if target:
            dst = table.zone(target)
            for faces, viewers in src.runs:
                _add(dst, faces, viewers)
        src.runs = ()
        src.changed()
    number = src.number
    for clue in src.clues:
        _remove(table, clue, clue.viewers)
        numbers = {number: target}
        renamed = [tuple([renumber(spread, numbers) for spread in each]) for each in clue.possibilities]
        if target and target not in clue.zones:  # then it is as simple as before
            _install(table, Clue(clue.viewers, sort_possibilities(renamed)))
        else:
            _learn(table, clue.viewers, renamed)


def _exchange(table: Dealer, first: Zone, other: Zone) -> None:
    """Two zones swapped their cards, and what is known of them went along."""
    first.runs, other.runs = other.runs, first.runs
    first.changed()
    other.changed()
    numbers = {first.number: other.number, other.number: first.number}
    for clue in [clue for clue in table.clues if first.number in clue.zones or other.number in clue.zones]:
        _remove(table, clue, clue.viewers)
        swapped = [tuple([renumber(spread, numbers) for spread in each]) for each in clue.possibilities]
        _install(table, Clue(clue.viewers, sort_possibilities(swapped)))


# -- what follows when a card left a zone
def _slip(table: Dealer, src: Zone, dst: int, size: int, viewers: int, sure: tuple[int, ...]) -> None:
    """Note that a card of a zone went to another zone, and that these viewers don't see which.

    Either it belongs to one of the spreads that reach into the zone, or to the rest of the zone: the faces that are
    certainly there and the cards that the viewers know nothing of. From now on that rest is a spread, too.
    """
    number = src.number
    clues = _clues_of(src, viewers)
    combined = combine(clues)
    for clue in clues:
        _remove(table, clue, viewers)
    _drop_runs(src, viewers)
    if combined is None:
        return
    possibilities: list[Possibility] = []
    for possibility in combined:
        rest = size - count_in(possibility, number)
        if rest < len(sure):
            continue
        own = (Spread(sure, rest - len(sure), ((number, rest),)),) if rest else ()
        if own:
            possibilities.append((*possibility, spread_after_move(own[0], number, dst)))
        for i, spread in enumerate(possibility):
            if spread.count(number):
                others = possibility[:i] + possibility[i + 1 :]
                possibilities.append((*others, *own, spread_after_move(spread, number, dst)))
    _learn(table, viewers, possibilities)


def _take(table: Dealer, src: Zone, card: int, size: int, viewers: int, copies: tuple[int, ...]) -> None:
    """Note that these viewers saw a card leave a zone without having been certain that it lay there.

    It belongs to one of the spreads that reach into the zone, or it is one that the viewers knew nothing of; the latter
    only if the box has another copy of it.
    """
    affected, others = _clues_affected(table, src, card, viewers)
    if not affected:
        return
    combined = combine(affected)
    possibilities: list[Possibility] = []
    if combined is not None:
        spare = 0
        if table.copies()[card] > min([count_card(possibility, card) for possibility in combined]):
            groups = _by_spare_copies(table, card, viewers, affected, copies)
            if len(groups) > 1:  # one who sees more copies than another knows more now
                for group in groups.values():
                    _take(table, src, card, size, group, copies)
                return
            (spare,) = groups
        unsure = size - others - len(_sure(src, _members(viewers)[0]))
        for possibility in combined:
            another = spare > count_card(possibility, card)
            rest = unsure - count_in(possibility, src.number)
            possibilities += possible_after_leaving(
                possibility, src.number, card, another, rest > 0, len(combined) >= MANY_POSSIBILITIES
            )
    if possibilities != combined:
        for clue in affected:
            _remove(table, clue, viewers)
        _learn(table, viewers, possibilities)


def _clues_affected(table: Dealer, src: Zone, card: int, viewers: int) -> tuple[list[Clue], int]:
    """Find the clues that change when a card of this face leaves a zone.

    Those that it may belong to, and those that don't say how many cards they lay there: one card fewer may be too few.

    Returns:
        These clues, and how many cards all other clues lay in the zone, whatever is true.
    """
    affected: list[Clue] = []
    others = 0
    for clue in src.clues:
        if clue.viewers & viewers:
            count = clue.count(src.number)
            if count is None or clue.has(src.number, card):
                affected.append(clue)
            else:
                others += count
    if table.copies()[card] == 1:  # then it cannot be any other card
        for clue in affected:
            if clue.holds(card):
                return [clue], others
    return affected, others


def _by_spare_copies(
    table: Dealer, card: int, viewers: int, clues: list[Clue], copies: tuple[int, ...]
) -> dict[int, int]:
    """Gather viewers who have these clues by their number of spare copies of a card."""
    groups: dict[int, int] = {}
    for viewer in _members(viewers):
        spare = _spare_copies(table, card, viewer, clues, copies)
        groups[spare] = groups.get(spare, 0) | 1 << viewer
    return groups


def _spare_copies(table: Dealer, card: int, viewer: int, clues: list[Clue], copies: tuple[int, ...]) -> int:
    """Count the copies of a card that this viewer neither sees nor knows of, but for the spreads of these clues."""
    spare = table.copies()[card]
    for mask in copies:
        spare -= mask >> viewer & 1
    for zone in table.in_order():
        for faces, viewers in zone.runs:
            if viewers >> viewer & 1:
                spare -= faces.count(card)
    for clue in table.clues:
        if clue.viewers >> viewer & 1 and clue not in clues:
            spare -= min([count_card(possibility, card) for possibility in clue.possibilities])
    return spare


def _hidden_among(masks: tuple[int, ...], viewers: int) -> int:
    """Count the cards that are hidden from these viewers, who see the same."""
    return sum([not mask & viewers for mask in masks])


# -- clues of a table
def _learn(table: Dealer, viewers: int, possibilities: Iterable[Possibility]) -> None:
    """Let these viewers know that one of these possibilities is true."""
    certain, clues = simplify(possibilities)
    for number, cards in certain.items():
        zone = table.zone(number)
        _add(zone, cards, viewers)
        zone.changed_for(viewers)
    for clue in clues:
        _install(table, Clue(viewers, clue))


def _install(table: Dealer, clue: Clue) -> None:
    table.clues.append(clue)
    for number in clue.zones:
        zone = table.zone(number)
        zone.clues = (*zone.clues, clue)
        zone.changed_for(clue.viewers)


def _remove(table: Dealer, clue: Clue, viewers: int) -> None:
    """Let these viewers lose a clue; the others keep it."""
    table.clues.remove(clue)
    rest = clue.viewers & ~viewers
    kept = Clue(rest, clue.possibilities) if rest else None
    if kept is not None:
        table.clues.append(kept)
    for number in clue.zones:
        zone = table.zone(number)
        others = tuple([other for other in zone.clues if other is not clue])
        zone.clues = others if kept is None else (*others, kept)
        zone.changed_for(viewers)


def _clues_of(zone: Zone, viewers: int) -> list[Clue]:
    """Return the clues that viewers who know the same have on a zone."""
    return [clue for clue in zone.clues if clue.viewers & viewers]


def _clue_knowers(zone: Zone) -> int:
    known = 0
    for clue in zone.clues:
        known |= clue.viewers
    return known


# -- runs of a zone, and who knows what
def _add(zone: Zone, cards: tuple[int, ...], viewers: int) -> None:
    """Let these viewers know that these cards lie in a zone."""
    runs = zone.runs
    if runs and runs[-1][1] == viewers:
        zone.runs = (*runs[:-1], (runs[-1][0] + cards, viewers))
    else:
        zone.runs = (*runs, (cards, viewers))


def _strike(zone: Zone, card: int, seers: int) -> int:
    """Take a card of this face off what these viewers know of a zone.

    Returns:
        The viewers who did not know of one.
    """
    runs: list[Run] = []
    for faces, viewers in zone.runs:
        hit = viewers & seers
        if hit and card in faces:
            seers ^= hit
            i = faces.index(card)
            if i:
                runs.append((faces[:i], viewers))
            if viewers ^ hit:
                runs.append(((card,), viewers ^ hit))
            if i + 1 < len(faces):
                runs.append((faces[i + 1 :], viewers))
        else:
            runs.append((faces, viewers))
    zone.runs = tuple(runs)
    return seers


def _sure(zone: Zone, viewer: int) -> tuple[int, ...]:
    """Return the faces that a viewer knows to lie in a zone."""
    known_faces: tuple[int, ...] = ()
    for faces, viewers in zone.runs:
        if viewers >> viewer & 1:
            known_faces += faces
    return known_faces


def _drop_runs(zone: Zone, viewers: int) -> None:
    """Take everything that these viewers know of this zone alone off it."""
    zone.runs = tuple([(faces, known & ~viewers) for faces, known in zone.runs if known & ~viewers])


def _forget(zone: Zone, viewers: int) -> None:
    """Let these viewers, who have no clues, forget what lies in a zone."""
    if zone.runs:
        _drop_runs(zone, viewers)
        zone.changed_for(viewers)


def _knowers(zone: Zone) -> int:
    """Return the viewers who know something of a zone."""
    known = 0
    for _, viewers in zone.runs:
        known |= viewers
    for clue in zone.clues:
        known |= clue.viewers
    return known


def _groups(zone: Zone, viewers: int) -> list[tuple[tuple[int, ...], int]]:
    """Gather viewers who know the same of a zone, and the faces that they know to lie there."""
    members = _members(viewers)
    if len(members) == 1:
        return [(tuple(sorted(_sure(zone, members[0]))), viewers)]
    groups: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
    for viewer in members:
        positions = tuple([i for i, clue in enumerate(zone.clues) if clue.viewers >> viewer & 1])
        key = tuple(sorted(_sure(zone, viewer))), positions
        groups[key] = groups.get(key, 0) | 1 << viewer
    return [(sure, group) for (sure, _), group in groups.items()]


@cache
def _members(viewers: int) -> list[int]:
    """Return the viewers of a set; the list is not to be changed."""
    members = []
    viewer = 0
    while viewers >> viewer:
        if viewers >> viewer & 1:
            members.append(viewer)
        viewer += 1
    return members
