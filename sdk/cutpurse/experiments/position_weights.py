"""The weights of the numbers of `position_features`, fitted to matches between greedy bots at four seats.

Each line has a name, the weight at the beginning of a match, and what is added to it by the end. The strength of a seat
is the sum of its weighted numbers; two seats meet by the logistic function of the difference of their strengths.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["WEIGHTS", "Weight"]

Weight = tuple[str, float, float]

WEIGHTS: Final[Mapping[str, tuple[Weight, ...]]] = {
    "steal_and_plunder": (
        ("open pack, if an opponent is stronger in a battle for it", -0.189, 0.0),
        ("best open pack of others, with Steal or Plunder", 0.298, 0.0),
        ("distance of the turn", 0.509, 0.0),
        ("Wilds that a Wealth card goes with", 1.035, 0.0),
        ("Plunder", 0.303, 0.0),
        ("open pack, for each card in hand that defends it", 0.270, 0.0),
        ("pairs in hand", 0.255, 0.0),
        ("best open pack of others that Wealth in hand matches", 0.118, 0.0),
        ("packs, with Flee the Country", 0.136, 0.0),
        ("best open pack of others, with a Wild", 0.076, 0.0),
    ),
    "stolen_treasure": (
        ("score, as a part of the target", 3.717, 3.757),
        ("its square", -3.020, 4.412),
        ("treasure in hand and staked", 2.574, 3.076),
        ("negative treasure in hand", -4.390, -1.114),
        ("best treasure in hand", -0.761, 2.061),
        ("whether treasure and score reach the target", 1.935, -2.016),
        ("good treasure cards in hand", 0.030, -0.783),
        ("distance of the turn", -0.209, 0.034),
    ),
    "szmal": (
        ("cash", -3.064, 8.985),
        ("markers", -2.700, 8.948),
        ("Thugs", 1.520, -0.169),
        ("cards in hand", -0.263, 1.259),
    ),
    "greed": (
        ("longest set of four or more", 0.328, 0.0),
        ("longest set of five or more", 0.463, 0.0),
        ("cards in hand for a longest set of three", 0.074, 0.0),
        ("whether set and hand together have six of a number", 0.235, 0.0),
        ("cards collected", 0.860, 0.0),
        ("cards in hand", 0.757, 0.0),
        ("distance of the turn", 0.970, 0.0),
        ("chance to draw the number of a set of four or more from others", 0.206, 0.0),
    ),
    "bag_o_loot": (
        ("points and bags", 0.596, 1.388),
        ("own sets of three", -0.087, 0.519),
        ("own sets of four", 0.078, 1.101),
        ("cards in hand", -0.234, -0.264),
        ("looters in hand", 0.245, 0.333),
        ("pairs in hand", 0.002, 0.013),
        ("cards of others' sets that a coin in hand steals", -0.009, 0.084),
        ("own sets that a coin in hand builds", 0.256, 0.450),
        ("sets of four that a coin in hand bags", 0.211, 0.361),
        ("distance of the turn", -0.036, -0.162),
    ),
}
