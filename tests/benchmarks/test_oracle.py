"""The oracle: what it says of Kuhn poker is what the paper says."""

from __future__ import annotations

from typing import Any

import pyspiel
import pytest
from open_spiel.python.algorithms import expected_game_score

from benchmarks.oracle import Tree, exploitable, kuhn_poker, policy_of, solved
from cutpurse.bots.greedy_bot import GreedyBot
from cutpurse.bots.search_bot import SearchBot
from cutpurse.engine.game import Game

ROUNDS = 60


def chips_of_the_first_deal(game: Any) -> float:
    return float(game.chips[0] - 4)  # of two for each deal


def second_deal(game: Any) -> bool:
    return bool(game.deals == 2)


def places(game: Game) -> float:
    first, second = game.places()
    return float(second - first)


@pytest.fixture(scope="module")
def match() -> tuple[Tree, Any]:
    """A match of two deals, as the engine plays it and as OpenSpiel has it."""
    tree = Tree(kuhn_poker(2), places, lambda game: False)
    return tree, pyspiel.load_efg_game(tree.text)


def test_a_deal_has_twelve_information_sets_and_costs_the_first_player_an_eighteenth_of_a_chip() -> None:
    tree = Tree(kuhn_poker(2), chips_of_the_first_deal, second_deal)
    assert [len(sets) for sets in tree.sets] == [6, 6]
    game = pyspiel.load_efg_game(tree.text)
    perfect = solved(game, 400)
    first, second = expected_game_score.policy_value(game.new_initial_state(), [perfect, perfect])
    assert first == pytest.approx(-1 / 18, abs=2e-3)
    assert second == -first
    assert 0 <= exploitable(game, perfect) < 5e-3


def test_a_match_of_two_deals_is_fair_and_is_solved(match: tuple[Tree, Any]) -> None:
    _, game = match
    perfect = solved(game, ROUNDS)
    values = expected_game_score.policy_value(game.new_initial_state(), [perfect, perfect])
    assert values[0] == pytest.approx(0, abs=0.02)
    assert 0 <= exploitable(game, perfect) < 0.01


def test_who_always_checks_and_folds_loses_every_match(match: tuple[Tree, Any]) -> None:
    tree, game = match
    assert exploitable(game, policy_of(tree, game, GreedyBot, 1)) == pytest.approx(1.0)


def test_search_is_nearer_to_perfect_play_than_chance(match: tuple[Tree, Any]) -> None:
    tree, game = match
    by_chance = exploitable(game, policy_of(tree, game, Uniform, 2))
    found = exploitable(game, policy_of(tree, game, lambda: SearchBot(20), 10))
    assert by_chance > 0.35
    assert found < by_chance / 1.5


class Uniform:
    """Takes each of two options as often as the other."""

    turn = 0

    def choose(self, view: object, decision: Any) -> int:
        Uniform.turn += 1
        return Uniform.turn % int(decision.count)
