"""Hands that an imagined state of Stolen Treasure may have, for `imagine` (ST-7.2).

The rules let everybody infer two things. A seat that has buried the target and has not won holds The Black Spot or
enough negative treasure. A match below the stake had the greatest sum that its hand could reach. Few random hands
agree with that, so the hands that must explain something are filled first.
"""

from __future__ import annotations

from typing import Final

from cutpurse.engine.chance import Chance
from cutpurse.engine.words import FACE_DOWN
from cutpurse.engine.zones import Zone
from cutpurse.games.stolen_treasure.cards import BLACK_SPOT, LAST_TREASURE, WAGER
from cutpurse.games.stolen_treasure.state import StolenTreasureState
from cutpurse.games.stolen_treasure.wager import MatchTheStake, StakeTreasure, least_match

__all__ = ["fill_hands", "hands_are_plausible"]

GUESSES: Final = 100  # random hands that are tried before the simplest explanation is taken


def hands_are_plausible(g: StolenTreasureState, without_a_win: list[int]) -> bool:
    """ST-7.2. Tell whether the hands agree with what the rules let everybody infer."""
    top = g.agenda[-1] if g.agenda else None
    if isinstance(top, MatchTheStake) and not top.options(g, top.seat):
        return False
    match = complete_match(g)
    if match is not None:
        seat, stake = match
        if g.value_of(g.stake[seat].cards) < least_match(g, seat, stake):
            return False
    return all(has_a_reason(g, seat) for seat in without_a_win)


def fill_hands(g: StolenTreasureState, without_a_win: list[int], unseen: list[int], chance: Chance) -> None:
    """ST-7.2. Fill the hands that must explain something, with cards taken out of `unseen`."""
    match = complete_match(g)
    if match is not None:
        seat, stake = match
        fill_after_a_match(g, seat, stake, unseen)
    top = g.agenda[-1] if g.agenda else None
    if isinstance(top, MatchTheStake):
        fill_during_a_match(g, top, without_a_win, unseen, chance)
    for seat in without_a_win:
        if not has_a_reason(g, seat):
            fill_with_a_reason(g, seat, unseen, chance)


def complete_match(g: StolenTreasureState) -> tuple[int, int] | None:
    """ST-3.24. Return the opponent in the present wager and the sum of the stake, once the match is complete."""
    wager = g.agenda[0].act() if g.agenda else None
    if wager is None or wager.verb != WAGER or isinstance(g.agenda[-1], StakeTreasure | MatchTheStake):
        return None
    assert wager.actor is not None
    assert wager.seat is not None
    if not g.stake[wager.seat].cards:
        return None
    return wager.seat, g.value_of(g.stake[wager.actor].cards)


def has_a_reason(g: StolenTreasureState, seat: int) -> bool:
    """ST-7.2. Tell whether a seat holds The Black Spot, or enough negative treasure, not to have won."""
    return g.has_the_spot(seat) or surplus(g, seat) < 0


def surplus(g: StolenTreasureState, seat: int) -> int:
    """ST-7.2. Return a seat's score above the target at the last check; its stake was in the hand then."""
    staked = sum([min(0, g.value[card]) for card in g.stake[seat].cards])
    return g.score(seat) + staked - g.settings.target


def fill_after_a_match(g: StolenTreasureState, seat: int, stake: int, unseen: list[int]) -> None:
    """ST-3.24. After a match below the stake, fill the hand with cards that could not have raised its sum."""
    laid = g.value_of(g.stake[seat].cards)
    if laid < stake:
        worse = [card for card in unseen if card <= LAST_TREASURE and g.value[card] <= min(0, laid)]
        fill(g.treasure_hand[seat], worse, unseen)


def fill_during_a_match(
    g: StolenTreasureState, match: MatchTheStake, without_a_win: list[int], unseen: list[int], chance: Chance
) -> None:
    """ST-3.24. Fill the hand of a seat that is laying a match, so that a legal set is within reach.

    The hand also explains why its holder has not won, if The Black Spot cannot.
    """
    seat = match.seat
    hand = g.treasure_hand[seat]
    cards = hand.cards
    treasure = [card for card in unseen if card <= LAST_TREASURE]
    may_hold_the_spot = BLACK_SPOT in unseen and FACE_DOWN in g.piracy_hand[seat].cards
    needs_a_reason = seat in without_a_win and not may_hold_the_spot
    for _ in range(GUESSES):
        chance.shuffle(treasure)
        drawn = treasure[: cards.count(FACE_DOWN)]
        hand.cards = sorted([*drawn, *[card for card in cards if card != FACE_DOWN]])
        possible = match.options(g, seat) and (not needs_a_reason or has_a_reason(g, seat))
        hand.cards = cards
        if possible:
            fill(hand, drawn, unseen)
            return


def fill_with_a_reason(g: StolenTreasureState, seat: int, unseen: list[int], chance: Chance) -> None:
    """ST-7.2. Draw hidden cards for a seat until they explain why it has not won."""
    hand, piracy_hand = g.treasure_hand[seat], g.piracy_hand[seat]
    treasure = [card for card in unseen if card <= LAST_TREASURE]
    hidden_treasure = hand.cards.count(FACE_DOWN)
    unseen_piracy = len(unseen) - len(treasure)
    hidden_piracy = piracy_hand.cards.count(FACE_DOWN) if BLACK_SPOT in unseen else 0
    too_much = surplus(g, seat)
    for _ in range(GUESSES):
        if hidden_piracy and chance.below(unseen_piracy) < hidden_piracy:
            break  # The Black Spot is in this hand
        chance.shuffle(treasure)
        if sum([min(0, g.value[card]) for card in treasure[:hidden_treasure]]) < -too_much:
            fill(hand, treasure, unseen)
            if hidden_piracy:  # without The Black Spot: a hand that has it was counted above
                fill(piracy_hand, [card for card in unseen if LAST_TREASURE < card != BLACK_SPOT], unseen)
            return
    if hidden_piracy:
        fill(piracy_hand, [BLACK_SPOT], unseen)
    else:
        fill(hand, sorted(treasure, key=lambda card: g.value[card]), unseen)


def fill(hand: Zone, cards: list[int], unseen: list[int]) -> None:
    """Put the first of these unseen cards in the hidden places of a hand, as far as both reach."""
    places = [place for place, card in enumerate(hand.cards) if card == FACE_DOWN]
    for place, card in zip(places, cards, strict=False):
        hand.cards[place] = card
        unseen.remove(card)
    hand.cards.sort()  # `since` does not go along: in a hidden hand it is 0 for every card
