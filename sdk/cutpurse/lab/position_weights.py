"""The weights of the numbers of `position_features`, fitted to matches between greedy bots at four seats.

`python -m benchmarks.luck_weights` in the checkout fits them anew.

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
        ("open pack, if an opponent is stronger in a battle for it", -0.196, 0.000),
        ("best open pack of others, with Steal or Plunder", 0.308, 0.000),
        ("distance of the turn", 0.455, 0.000),
        ("Wilds that a Wealth card goes with", 0.971, 0.000),
        ("Plunder", 0.252, 0.000),
        ("open pack, for each card in hand that defends it", 0.060, 0.000),
        ("pairs in hand", 0.198, 0.000),
        ("best open pack of others that Wealth in hand matches", 0.128, 0.000),
        ("packs, with Flee the Country", 0.101, 0.000),
        ("best open pack of others, with a Wild", 0.059, 0.000),
    ),
    "stolen_treasure": (
        ("score, as a part of the target", 2.136, 0.315),
        ("its square", 1.387, -0.269),
        ("treasure in hand and staked", 2.560, 0.262),
        ("negative treasure in hand", -2.010, -0.510),
        ("best treasure in hand", -0.077, -0.520),
        ("whether treasure and score reach the target", 0.054, -0.010),
        ("good treasure cards in hand", -0.087, -0.167),
        ("distance of the turn", -0.468, -0.112),
    ),
    "szmal": (
        ("cash", 0.507, 3.009),
        ("markers", -7.297, 9.048),
        ("Thugs", 4.049, -6.832),
        ("cards in hand", 1.155, -1.619),
    ),
    "greed": (
        ("longest set of four or more", 0.206, 0.000),
        ("longest set of five or more", 0.322, 0.000),
        ("cards in hand for a longest set of three", 0.059, 0.000),
        ("whether set and hand together have six of a number", 0.193, 0.000),
        ("cards collected", 1.192, 0.000),
        ("cards in hand", 0.473, 0.000),
        ("distance of the turn", -0.287, 0.000),
        ("chance to draw the number of a set of four or more from others", 0.103, 0.000),
    ),
    "bag_o_loot": (
        ("cards in hand", -0.470, 0.000),
        ("looters in hand", 0.188, 0.038),
        ("pairs in hand", -0.006, 0.004),
        ("cards of others' sets that a coin in hand steals", -0.149, 0.600),
        ("own sets that a coin in hand builds", 0.010, -0.266),
        ("distance of the turn", 0.095, 0.000),
    ),
}
