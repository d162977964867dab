"""Solve the end of a duel of Szmal by OpenSpiel's CFR, over states that the player cannot tell apart."""

import random

import numpy as np
from open_spiel.python.algorithms.external_sampling_mccfr import ExternalSamplingSolver

from cutpurse.learn.spiel import SpielState, load


class Imagined:
    """A game that begins in the middle of another: hidden cards are drawn anew each time."""

    def __init__(self, state: SpielState, seed: int) -> None:
        self.state, self.chance = state, random.Random(seed)
        self.num_players, self.get_type = state.get_game().num_players, state.get_game().get_type

    def new_initial_state(self) -> SpielState:
        return self.state.resample_from_infostate(self.state.current_player(), self.chance.random)


def late_state(decisions: int, seed: int) -> SpielState:
    """Play a duel at random, and return the state before its last decisions."""
    state, chance = load("cutpurse_szmal(seats=2)").new_initial_state(), random.Random(seed)
    states: list[SpielState] = []
    state.apply_action(seed)  # one of 4,096 deals
    while not state.is_terminal():
        states.append(state.clone())
        state.apply_action(chance.choice(state.legal_actions()))
    return states[-decisions]


np.random.seed(1)
state = late_state(decisions=6, seed=2)
solver = ExternalSamplingSolver(Imagined(state, seed=1))
for _ in range(100):
    solver.iteration()
for action, share in solver.average_policy().action_probabilities(state).items():
    print(f"{share:.2f} {state.action_to_string(action)}")
