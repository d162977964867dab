"""The positions with which the stories of Stolen Treasure begin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cutpurse.games.stolen_treasure.rules import StolenTreasure, TakeAnAction
from tests.games.story import Story

__all__ = ["Tale", "begin", "lay", "lying", "nobody_answers", "wager"]

Tale = Story[StolenTreasure]
PILES = ("treasure_pile_1", "treasure_pile_2", "piracy_pile")
ANSWERS = ("any_yarr", "divert_or_suffer", "any_parley")


def lay(
    treasure: Sequence[str] = (),
    piracy: Sequence[str] = (),
    buried: Sequence[str] = (),
    *,
    seats: int = 3,
    settings: Mapping[str, object] | None = None,
    chance: Iterable[int] = (),
    piles: tuple[str, str, str] = ("diamond", "emerald", "plunder"),
    discards: tuple[str, str] = ("", ""),
    **counters: int | list[int],
) -> Tale:
    """Create a position in turn 9 with hands and buried cards of the first seats, and no step on the agenda."""
    zones: dict[str, str | Sequence[str]] = dict(zip(PILES, piles, strict=True))
    zones |= {"treasure_discards": discards[0], "piracy_discards": discards[1]}
    for name, of_seats in (("treasure_hand", treasure), ("piracy_hand", piracy), ("buried", buried)):
        zones[name] = [*of_seats, *[""] * (seats - len(of_seats))]
    given: dict[str, int | list[int]] = {"turn": 9, "actions_left": 2, **counters}
    story = Story(StolenTreasure, seats, zones, settings, chance, **given)
    g = story.g
    g.buried_total = [g.value_of(zone.cards) for zone in g.buried]
    return story


def begin(story: Tale, *answers: str, seat: int = 0) -> Tale:
    """Begin the turn of a seat, and give its answers."""
    story.begin(TakeAnAction(seat))
    for answer in answers:
        story.says(seat, answer)
    return story


def nobody_answers(story: Tale) -> Tale:
    """Let all seats pass on Yarr!, Pirate's Code and Parley until another decision."""
    while story.question() in ANSWERS:
        story.all_pass()
    return story


def wager(story: Tale, seat: int, opponent: int, *stake: str) -> Tale:
    """Let a seat stake cards, named as in options, against an opponent."""
    begin(story, f"wager against seat {opponent}", *[f"stake {card}" for card in stake], seat=seat)
    if story.question() == "stake_treasure":
        story.says(seat, "lay no more")
    return story


def lying(story: Tale) -> dict[str, str]:
    """Return every card on the table, except the piles."""
    return {zone: cards for zone, cards in story.table().items() if zone not in PILES}
