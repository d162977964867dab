"""The worker that measures the peers, OpenSpiel and RLCard, in their own Python environment (`.peers/`).

It imports nothing of Cutpurse. Each peer plays at random in the cheapest way its Python interface allows. OpenSpiel's
chance outcomes are drawn by index (its examples use numpy.random.choice, which is four times slower). A decision
consists of listing the legal actions, choosing one at random, and applying it. Forced moves count as decisions, as they
do for both peers.
"""

import importlib.metadata
import random
from functools import partial

import pyspiel
import rlcard  # type: ignore[import-not-found]  # installed only in .peers/

from benchmarks.protocol import Measure, Sample, Stopwatch, serve

__all__ = ["main"]

OPEN_SPIEL_GAMES = ("hearts", "crazy_eights", "hanabi", "gin_rummy")
SEED = 1


def open_spiel_playouts(name: str, seconds: float) -> Sample:
    """Measure random playouts of one game without observations."""
    chance = random.random
    new_state = pyspiel.load_game(name).new_initial_state
    decisions = 0
    watch = Stopwatch(seconds)
    while True:
        state = new_state()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes = state.chance_outcomes()
                state.apply_action(outcomes[int(chance() * len(outcomes))][0])
            else:
                actions = state.legal_actions()
                state.apply_action(actions[int(chance() * len(actions))])
                decisions += 1
        state.returns()
        if watch.is_over():
            return watch.sample(decisions)


def open_spiel_playouts_with_a_look(name: str, seconds: float) -> Sample:
    """Measure random playouts in which each decision builds the information state string first."""
    chance = random.random
    new_state = pyspiel.load_game(name).new_initial_state
    decisions = 0
    watch = Stopwatch(seconds)
    while True:
        state = new_state()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes = state.chance_outcomes()
                state.apply_action(outcomes[int(chance() * len(outcomes))][0])
            else:
                state.information_state_string(state.current_player())
                actions = state.legal_actions()
                state.apply_action(actions[int(chance() * len(actions))])
                decisions += 1
        state.returns()
        if watch.is_over():
            return watch.sample(decisions)


def open_spiel_playouts_with_a_tensor(name: str, seconds: float) -> Sample:
    """Measure random playouts in which each decision makes the tensor of the player first, by the fastest way."""
    chance = random.random
    game = pyspiel.load_game(name)
    has_observation = game.get_type().provides_observation_tensor
    new_state = game.new_initial_state
    decisions = 0
    watch = Stopwatch(seconds)
    while True:
        state = new_state()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes = state.chance_outcomes()
                state.apply_action(outcomes[int(chance() * len(outcomes))][0])
            else:
                player = state.current_player()
                if has_observation:
                    state.observation_tensor(player)
                else:
                    state.information_state_tensor(player)
                actions = state.legal_actions()
                state.apply_action(actions[int(chance() * len(actions))])
                decisions += 1
        if watch.is_over():
            return watch.sample(decisions)


def rlcard_playouts(name: str, seconds: float, states: int = 1) -> Sample:
    """Measure random playouts in RLCard's environment, with `states` observations at each decision.

    The environment always makes one, so what one costs is the difference to two.
    """
    chance = random.random
    env = rlcard.make(name, config={"seed": SEED})
    decisions = 0
    watch = Stopwatch(seconds)
    while True:
        state, player = env.reset()
        while not env.is_over():
            for _ in range(states - 1):
                env.get_state(player)
            actions = list(state["legal_actions"])
            state, player = env.step(actions[int(chance() * len(actions))])
            decisions += 1
        env.get_payoffs()
        if watch.is_over():
            return watch.sample(decisions)


def prepare() -> tuple[dict[str, Measure], dict[str, str]]:
    random.seed(SEED)
    rows: dict[str, Measure] = {f"open_spiel/{name}": partial(open_spiel_playouts, name) for name in OPEN_SPIEL_GAMES}
    rows["open_spiel/hearts/string"] = partial(open_spiel_playouts_with_a_look, "hearts")
    for name in OPEN_SPIEL_GAMES:
        rows[f"open_spiel/{name}/tensor"] = partial(open_spiel_playouts_with_a_tensor, name)
    rows["rlcard/uno"] = partial(rlcard_playouts, "uno")
    rows["rlcard/uno/state"] = partial(rlcard_playouts, "uno", states=2)
    return rows, {name: importlib.metadata.version(name) for name in ("open-spiel", "rlcard", "numpy")}


def main() -> None:
    serve(prepare)


if __name__ == "__main__":
    main()
