"""Honest ladders of synthetic bots, for the rate of false alarms: playing a hundred ladders of 64 bots is too dear.

Strengths are normal, and so is the luck of a match. Opponents are near, and a few far away, as on a server. Each bot
aims at others by habits of its own: it likes strong or weak opponents, prefers its left neighbour or not, and is liked
as a target or not. In each match it also has whims, so that its aims there are alike. Nobody deals with anybody.
"""

from __future__ import annotations

import numpy as np

from cutpurse.lab.pairs.aims import Aim
from cutpurse.lab.pairs.played_table import PairedVersion, PlayedTable
from cutpurse.leaderboard.statistics.place_points import place_points

__all__ = ["pact_players", "simulated_tables"]

SEATS = 4
LUCK = 2.0  # standard deviation in a match; that of strengths is 1
NEAR = 0.7  # half of the opponents are sought within this distance
BUSY = 0.5  # share of the bots that cannot be chosen, as they play or have played more than others
AIMS = 3.0  # of a bot in a match, on average
HABIT = 0.4  # standard deviation of each habit, in log-odds
WHIM = 0.7  # standard deviation, by match


def simulated_tables(bots: int, matches_each: int, seed: int, pact: bool = False) -> list[PlayedTable]:
    """Simulate a ladder.

    Args:
        bots: Number of bots.
        matches_each: Matches of each bot, on average.
        seed: Repeats the ladder.
        pact: Let `pact_players` never aim at each other.
    """
    rng = np.random.default_rng(seed)
    strengths = np.sort(rng.normal(size=bots))
    liked, likes_strong, likes_left = (rng.normal(size=bots) * HABIT for _ in range(3))
    players = [_player(number) for number in range(bots)]
    partners = {players.index(player) for player in pact_players(bots)} if pact else set()
    tables = []
    for _ in range(bots * matches_each // SEATS):
        seated = _seated(rng, strengths)
        performances = strengths[seated] + rng.normal(size=SEATS) * LUCK
        places = (performances[None, :] > performances[:, None]).sum(axis=1) + 1
        aims = []
        for seat, bot in enumerate(seated):
            others = [other for other in range(SEATS) if other != seat]
            if bot in partners:
                others = [other for other in others if seated[other] not in partners]
            targets = [seated[other] for other in others]
            odds = liked[targets] + likes_strong[bot] * strengths[targets] + rng.normal(size=len(others)) * WHIM
            odds[0] += likes_left[bot] if others[0] == (seat + 1) % SEATS else 0.0
            weights = np.exp(odds)
            count = int(rng.poisson(AIMS))
            times = dict(zip(others, rng.multinomial(count, weights / weights.sum()).tolist(), strict=True))
            share = 1 / (SEATS - 1)
            for other in range(SEATS):
                if count and other != seat:
                    aims.append(Aim("aim", seat, other, times.get(other, 0), count, count * share))
        tables.append(PlayedTable(tuple(players[bot] for bot in seated), place_points(places.tolist()), aims))
    return tables


def pact_players(bots: int) -> tuple[PairedVersion, PairedVersion]:
    """Return the two players of a pact: neighbours in the middle of the ranking."""
    return _player(bots // 2 - 1), _player(bots // 2)


def _player(number: int) -> PairedVersion:
    return PairedVersion(f"owner{number}", f"bot{number}", "1")


def _seated(rng: np.random.Generator, strengths: np.ndarray) -> list[int]:
    """Draw the bots of a table."""
    first = int(rng.integers(len(strengths)))
    seated = [first]
    while len(seated) < SEATS:
        target = strengths[first] + NEAR * rng.standard_cauchy()
        near = np.abs(strengths - target + rng.normal(size=len(strengths)) * 1e-3)
        near[rng.random(len(strengths)) < BUSY] = np.inf
        near[seated] = np.inf
        seated.append(int(near.argmin()))
    return [seated[at] for at in rng.permutation(SEATS)]
