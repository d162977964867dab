"""What each seat is worth now, by game: the score that it would have if everything were counted at this moment.

A function reads one viewer's view, so it knows no card that the viewer may not see. What is hidden makes the worth a
bound. This module knows no HTML.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cutpurse.engine.view import View
from cutpurse.engine.words import FACE_DOWN
from cutpurse.engine.zones import ZoneView
from cutpurse.page.language.speaking import gettext, gettext_noop, language, ngettext

__all__ = ["COUNTED_ZONES", "WORTH", "Worth", "goal_text", "leaders", "seat_worth"]

BAG_POINTS: Final = 10  # BL-5.4
MARKER_MONEY: Final = 10_000  # SZ-6.2
COUNTS: Final = (
    "",
    gettext_noop("one"),
    gettext_noop("two"),
    gettext_noop("three"),
    gettext_noop("four"),
    gettext_noop("five"),
    gettext_noop("six"),
    gettext_noop("seven"),
    gettext_noop("eight"),
    gettext_noop("nine"),
    gettext_noop("ten"),
)
NUMBERS: Final = (
    "",
    gettext_noop("ones"),
    gettext_noop("twos"),
    gettext_noop("threes"),
    gettext_noop("fours"),
    gettext_noop("fives"),
    gettext_noop("sixes"),
    gettext_noop("sevens"),
)


@dataclass(frozen=True, slots=True)
class Worth:
    """What a seat is worth."""

    value: int  # the number that decides who leads
    text: str  # the number with its unit, for people
    bound: str = ""  # "at least" or "at most" if hidden cards may change it; else empty
    words: str = ""  # what it is made of, in the words of the game, such as "six sixes"; empty if the number says it


def seat_worth(view: View, seat: int) -> Worth | None:
    """Return what a seat is worth as the viewer sees it; None for a game without a function."""
    function = WORTH.get(view.rules.words.game)
    return function(view, seat) if function else None


def leaders(worths: Sequence[Worth | None]) -> frozenset[int]:
    """Return the seats that are worth most; none if all are worth the same."""
    values = [worth.value for worth in worths if worth is not None]
    if len(values) < len(worths) or min(values) == max(values):
        return frozenset()
    return frozenset([seat for seat, value in enumerate(values) if value == max(values)])


def goal_text(view: View) -> str:
    """Say what wins the game, in a sentence; empty for a game without one."""
    game = view.rules.words.game
    if game == "greed" and _is_series(view):
        return gettext("Most points win.")
    return {
        "greed": gettext("Six of one number win."),
        "steal_and_plunder": gettext("Most money wins."),
        "stolen_treasure": gettext("Most buried points win."),
        "szmal": gettext("Most money wins; a marker is worth $10,000."),
        "bag_o_loot": gettext("Most points win: a bag is 10, a card in a set 1."),
    }.get(game, "")


# -- one function for each game
def _greed(view: View, seat: int) -> Worth:
    """GR-3.15, GR-5.2. Count the longest set; in a tournament the points."""
    if _is_series(view):
        points = view.seat_counter("points", seat)
        return Worth(points, _points(points))
    cards = view.rules.words.cards
    numbers = [cards[card - 1].traits["number"] for zone in view.of("collection", seat) for card in zone.cards]
    longest = max([numbers.count(number) for number in numbers], default=0)
    best = max([number for number in numbers if numbers.count(number) == longest], default=0)
    return Worth(longest, gettext("%(size)s of 6", size=longest), words=_set_words(longest, best))


def _set_words(size: int, number: int) -> str:
    """Name a set of Greed: "six sixes"."""
    if not 1 < size < len(COUNTS) or not 0 < number < len(NUMBERS):
        return ""
    return gettext("%(count)s %(numbers)s", count=gettext(COUNTS[size]), numbers=gettext(NUMBERS[number]))


def _steal_and_plunder(view: View, seat: int) -> Worth:
    """SP-5.2, SP-5.4. Add up the packs, taxed ones by half, and in a series the games before."""
    is_counted = _is_series(view) and not view.agenda
    packs = [zone for kind in ("pack", "plundered", "offshore") for zone in view.of(kind, seat)]
    taxed = view.of("taxed", seat)
    money = view.seat_counter("total", seat)
    if not is_counted:
        money += _value(view, packs) + _value(view, taxed) // 2
    is_hidden = not is_counted and any(map(_hides, packs + taxed))
    return Worth(money, f"${language().number(money)}", gettext("at least") if is_hidden else "")


def _stolen_treasure(view: View, seat: int) -> Worth:
    """ST-5.1, ST-3.8. Add negative treasure in the hand to the buried sum."""
    hands = view.of("treasure_hand", seat)
    values = view.rules.values(view.settings)
    points = view.seat_counter("buried_total", seat)
    points += sum([min(values[card], 0) for hand in hands for card in _seen(hand)])
    return Worth(points, _points(points), gettext("at most") if any(map(_hides, hands)) else "")


def _szmal(view: View, seat: int) -> Worth:
    """SZ-6.2. Count cash and the markers in play."""
    markers = sum([sum(column) for zone in view.of("holdings", seat) for column in zone.columns[:1]])
    money = view.seat_counter("cash", seat) + MARKER_MONEY * markers
    return Worth(money, f"${language().number(money)}")


def _bag_o_loot(view: View, seat: int) -> Worth:
    """BL-5.4, BL-5.5, BL-5.6. Add the bags and open sets of this round, less the fines, to the rounds before."""
    points = view.seat_counter("total", seat)
    if view.agenda:
        bags = [zone for kind in ("bag", "bag_open", "bluff_bag") for zone in view.of(kind, seat)]
        points += BAG_POINTS * len(bags) + sum([zone.size for zone in view.of("set", seat)])
        points -= view.seat_counter("fine", seat)
    return Worth(points, _points(points))


WORTH: Final[Mapping[str, Callable[[View, int], Worth]]] = {
    "greed": _greed,
    "steal_and_plunder": _steal_and_plunder,
    "stolen_treasure": _stolen_treasure,
    "szmal": _szmal,
    "bag_o_loot": _bag_o_loot,
}

COUNTED_ZONES: Final[Mapping[str, frozenset[str]]] = {  # zones of a seat whose cards these functions count
    "greed": frozenset({"collection"}),
    "steal_and_plunder": frozenset({"pack", "plundered", "offshore", "taxed"}),
    "stolen_treasure": frozenset({"treasure_hand", "buried"}),
    "szmal": frozenset({"holdings"}),
    "bag_o_loot": frozenset({"bag", "bag_open", "bluff_bag", "set"}),
}


# -- cards
def _is_series(view: View) -> bool:
    return "mode" in view.settings.changed()


def _seen(zone: ZoneView) -> list[int]:
    """List the cards that the viewer sees or knows to be there."""
    return [card for card in (*zone.cards, *zone.known) if card != FACE_DOWN]


def _hides(zone: ZoneView) -> bool:
    return len(_seen(zone)) < zone.size


def _value(view: View, zones: Iterable[ZoneView]) -> int:
    values = view.rules.values(view.settings)
    return sum([values[card] for zone in zones for card in _seen(zone)])


def _points(points: int) -> str:
    return ngettext("%(num)s point", "%(num)s points", points)
