"""How far a bot is from perfect play, in a game that is small enough to be solved: `python -m benchmarks.oracle`.

The game is a match of Kuhn poker with two deals (`examples/kuhn_poker`): 2 players, 300 information sets. Its whole
tree is walked through the engine, and handed to OpenSpiel, whose counterfactual regret minimization (CFR+, Tammelin
2014) solves it. A bot's policy is how often it takes each option in each information set, over many decisions of its
own. Its exploitability is what the best answer to it wins more than against perfect play, in the mean of both seats. A
match is won (1), lost (-1) or tied (0).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random
from typing import Any, Final, cast

import pyspiel
from open_spiel.python.algorithms import cfr, exploitability
from open_spiel.python.policy import TabularPolicy

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # so that a script finds its neighbours
from benchmarks.machine import machine, machine_line
from cutpurse.bots.greedy_bot import GreedyBot
from cutpurse.bots.random_bot import RandomBot
from cutpurse.bots.search_bot import SearchBot
from cutpurse.engine.agenda import Option
from cutpurse.engine.chance import KEY_BYTES, Chance
from cutpurse.engine.events import Event
from cutpurse.engine.game import Game
from cutpurse.sdk.bot import MatchInfo
from cutpurse.sdk.decision import Decision
from cutpurse.sdk.views.base import GameView

__all__ = ["Tree", "exploitable", "kuhn_poker", "main", "policy_of", "solved"]

CHECKOUT: Final = Path(__file__).resolve().parent.parent
Payoff = Callable[[Game], float]  # of seat 0; seat 1 gets as much less
Heard = tuple[tuple[Event, ...], ...]  # by seat, all that it heard


class Undecided(Exception):
    """Chance is asked for a number below `n` that no script gives."""

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.n = n


class Outcomes(Chance):
    """Chance that follows a script, and stops the game where it ends."""

    __slots__ = ("left",)

    def __init__(self, script: Sequence[int]) -> None:
        super().__init__(bytes(KEY_BYTES))
        self.left = list(script)

    def below(self, n: int) -> int:
        if not self.left:
            raise Undecided(n)
        return self.left.pop(0)

    def shuffle(self, cards: list[int]) -> None:
        for i in range(len(cards) - 1, 0, -1):
            j = self.below(i + 1)
            cards[i], cards[j] = cards[j], cards[i]


class Tree:
    """The tree of a game of two, by Kuhn's definition: perfect recall, explicit chance.

    Attributes:
        text: The tree in the extensive form (EFG) that OpenSpiel loads.
        sets: For each information set a game in it, and its seat; they are numbered from 1 for each seat.
    """

    def __init__(self, begin: Callable[[Chance], Game], payoff: Payoff, is_over: Callable[[Game], bool]) -> None:
        """Walk through a game.

        Args:
            begin: Makes a game that is not started.
            payoff: What seat 0 gets at the end.
            is_over: Whether to end early.
        """
        self.payoff = payoff
        self.is_over = is_over
        self.sets: list[dict[tuple[Event, ...], tuple[int, Game]]] = [{}, {}]
        self.ends = 0
        self.lines = ['EFG 2 R "oracle" { "seat 0" "seat 1" } ""']

        def start(chance: Chance) -> Game:
            game = begin(chance)
            game.start(log=True)
            return game

        self._grow(_outcomes(start), ((), ()))
        self.text = "\n".join(self.lines) + "\n"

    def _grow(self, outcomes: Sequence[tuple[Fraction, Game]], heard: Heard) -> None:
        if len(outcomes) > 1:
            odds = " ".join(f'"{number}" {chance}' for number, (chance, _) in enumerate(outcomes))
            self.lines.append(f'c "" {len(self.lines)} "" {{ {odds} }} 0')
        for _, game in outcomes:
            more = [(*heard[seat], *(event.to(seat) for event in game.log or ())) for seat in (0, 1)]
            self._ask(game, (more[0], more[1]))

    def _ask(self, game: Game, heard: Heard) -> None:
        if not game.waiting() or self.is_over(game):
            self.ends += 1
            won = self.payoff(game)
            self.lines.append(f't "" {self.ends} "" {{ {won} {-won} }}')
            return
        seat = game.waiting()[0]
        options = game.options(seat)
        known = self.sets[seat]
        number = list(known).index(heard[seat]) + 1 if heard[seat] in known else len(known) + 1
        known.setdefault(heard[seat], (seat, game))
        names = " ".join(f'"{place}"' for place in range(len(options)))
        self.lines.append(f'p "" {seat + 1} {number} "{number}" {{ {names} }} 0')
        for option in options:
            self._grow(_outcomes(partial(_chosen, game, seat, option)), heard)


def _chosen(game: Game, seat: int, option: Option, chance: Chance) -> Game:
    copy = game.fork()
    copy.log, copy.chance = [], chance
    copy.choose(seat, option)
    return copy


def _outcomes(step: Callable[[Chance], Game]) -> list[tuple[Fraction, Game]]:
    """Return what chance can make of a step, with the probabilities."""
    found: list[tuple[Fraction, Game]] = []
    scripts: list[tuple[list[int], Fraction]] = [([], Fraction(1))]
    while scripts:
        script, odds = scripts.pop()
        try:
            found.append((odds, step(Outcomes(script))))
        except Undecided as asked:
            scripts += [([*script, number], odds / asked.n) for number in range(asked.n)]
    return found


def policy_of(tree: Tree, game: Any, make: Callable[[], Any], decisions: int) -> TabularPolicy:
    """Return how often a bot takes each option, by the information sets of a loaded tree.

    Args:
        tree: The tree.
        game: What OpenSpiel made of it.
        make: Makes the bot.
        decisions: Number of decisions of the bot in each information set, each with another seed.
    """
    policy = TabularPolicy(game)
    for seat, sets in enumerate(tree.sets):
        for number, (_, at) in enumerate(sets.values(), 1):
            counts = [0] * len(at.options(seat))
            for answer in _answers(make, at, seat, decisions):
                counts[answer] += 1
            row = policy.action_probability_array[policy.state_lookup[f"{seat}-{seat}-{number}-{number}"]]
            row[: len(counts)] = [count / decisions for count in counts]
    return policy


def _answers(make: Callable[[], Any], game: Game, seat: int, decisions: int) -> Iterator[int]:
    options = game.options(seat)
    for seed in range(decisions):
        view: GameView[Any] = GameView(game.view(seat), None, 0)
        bot = make()
        if hasattr(bot, "start"):
            bot.start(MatchInfo(game.words.game, seat, ("bot", "bot"), game.settings.changed(), Random(seed)))
        safe = partial(game.safe_option, seat, options)
        answer = bot.choose(view, Decision(0, game.question.name, options, safe, view))
        yield answer if isinstance(answer, int) else answer.index


def exploitable(game: Any, policy: Any) -> float:
    """Return what the best answers to a policy win more than against perfect play, in the mean of both seats."""
    return float(exploitability.nash_conv(game, policy)) / 2


def solved(game: Any, rounds: int) -> Any:
    """Return a nearly perfect policy."""
    solver = cfr.CFRPlusSolver(game)
    for _ in range(rounds):
        solver.evaluate_and_update_policy()
    return solver.average_policy()


def kuhn_poker(deals: int) -> Callable[[Chance], Game]:
    """Return what makes a game of the example, which is a package of its own."""
    file = CHECKOUT / "examples" / "kuhn_poker" / "kuhn_poker.py"
    spec = spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[file.stem] = module  # where its data class looks
    spec.loader.exec_module(module)
    settings = module.KuhnSettings(deals=deals)
    return lambda chance: cast("Game", module.KuhnPoker(2, settings, chance))


def _won(game: Game) -> float:
    places = game.places()
    return float(places[1] - places[0])


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, and print a table in Markdown."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.oracle", description="Distance from perfect play.")
    parser.add_argument("--decisions", type=int, default=100, help="of each bot in each information set")
    parser.add_argument("--rounds", type=int, default=300, help="of CFR+")
    given = parser.parse_args(argv)
    tree = Tree(kuhn_poker(deals=2), _won, lambda game: False)
    game = pyspiel.load_efg_game(tree.text)
    print(f"Kuhn poker, two deals: {sum(map(len, tree.sets))} information sets; {machine_line(machine())}\n")
    print("| policy | exploitability |\n|---|---:|")
    print(f"| CFR+, {given.rounds} rounds | {exploitable(game, solved(game, given.rounds)):.4f} |")
    makers: list[tuple[str, Callable[[], Any]]] = [("random", RandomBot), ("greedy", GreedyBot)]
    makers += [(f"search, {playouts} playouts", partial(SearchBot, playouts)) for playouts in (20, 100, 500)]
    for name, make in makers:
        print(f"| {name} | {exploitable(game, policy_of(tree, game, make, given.decisions)):.3f} |", flush=True)


if __name__ == "__main__":
    main()
