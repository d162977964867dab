"""Every game passes the suite of OpenSpiel, keeps what each player has heard, and draws states that fit it.

`pytest --update-playthroughs tests/learn/test_spiel.py` writes `spiel_playthroughs` anew.
"""

from __future__ import annotations

import copy
import hashlib
import pickle
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import generate_playthrough, ismcts, mcts
from open_spiel.python.algorithms.random_agent import RandomAgent

import cutpurse.learn.spiel
from cutpurse.engine.chance import match_key
from cutpurse.engine.errors import SettingsError, UnknownGame, UsageError
from cutpurse.engine.game import Game
from cutpurse.games import GAMES
from cutpurse.learn.rewards import by_place
from tests.builds import needs_pure
from tests.properties.random_play import EVERY_GAME, EVERY_TABLE

PLAYTHROUGHS = Path(__file__).parent / "spiel_playthroughs"
LONGEST_LINE = 100  # of a playthrough; longer ones are kept as their digest


def dealt(name: str, deal: int = 0, seats: int | None = None) -> Any:
    game = pyspiel.load_game(f"cutpurse_{name}", {"seats": seats or GAMES[name].usual_seats})
    state = game.new_initial_state()
    state.apply_action(deal)
    return state


def states(name: str, every: int, deal: int = 0, seats: int | None = None) -> Any:
    """Yield the states of a random match after every few answers, and its end."""
    state, random, number = dealt(name, deal, seats), Random(name), 0
    while not state.is_terminal():
        if number % every == 0:
            yield state
        state.apply_action(random.choice(state.legal_actions()))
        number += 1
    yield state


@pytest.mark.parametrize(("name", "seats"), EVERY_TABLE)
def test_openspiel_finds_no_fault(name: str, seats: int) -> None:
    game = pyspiel.load_game(f"cutpurse_{name}(seats={seats})")
    pyspiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False)
    rules = GAMES[name]
    assert game.num_players() == seats
    assert game.max_game_length() == rules.max_decisions(seats, rules.set_up(seats, {})) > 0
    assert not game.get_type().provides_information_state_tensor


@pytest.mark.parametrize("name", EVERY_GAME)
def test_a_playthrough_is_that_of_the_file(
    name: str, pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generate_playthrough, "_format_tensor", digest_of_tensor)  # else 16,000 numbers are written
    seats = GAMES[name].words.seats[0]
    found = "".join(
        [f"{line}\n" for line in map(shortened, played_through(f"cutpurse_{name}(seats={seats})").splitlines())]
    )
    file = PLAYTHROUGHS / f"{name}.txt"
    if pytestconfig.getoption("--update-playthroughs"):
        file.write_text(found, encoding="utf-8")
    assert found == file.read_text(encoding="utf-8")


def played_through(game: str) -> str:
    return str(generate_playthrough.playthrough(game, action_sequence=[], seed=1))


def digest_of_tensor(tensor: Any, name: str) -> list[str]:
    return [f"{name}: {tensor.size} numbers, sha256 {hashlib.sha256(tensor.tobytes()).hexdigest()[:16]}"]


def shortened(line: str) -> str:
    if len(line) <= LONGEST_LINE:
        return line
    return f"{line[:60]}... sha256 {hashlib.sha256(line.encode()).hexdigest()[:16]} of {len(line)} characters"


def test_a_deal_is_a_match_of_the_run() -> None:
    game = pyspiel.load_game("cutpurse_greed(seats=3,seed=7)")
    state = game.new_initial_state()
    assert state.is_chance_node()
    assert len(state.chance_outcomes()) == game.max_chance_outcomes() == cutpurse.learn.spiel.DEALS
    state.apply_action(12)
    assert state.match.game.chance.key == match_key(7, 12)


@pytest.mark.parametrize("name", EVERY_GAME)
def test_returns_are_by_place(name: str) -> None:
    *before, end = [copy.copy(state.returns()) for state in states(name, every=20)]
    (last,) = [state for state in states(name, every=100_000) if state.is_terminal()]
    assert all(returns == [0.0] * 4 for returns in before)
    assert end == [*by_place(last.match.game.places(), last.match.game.scores())]


@pytest.mark.parametrize("name", EVERY_GAME)
def test_a_clone_is_a_fork_and_goes_on_alike(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Game, "__reduce__", None)  # no save
    for state in states(name, every=40):
        clone = state.clone()
        before = [state.information_state_string(seat) for seat in range(4)]
        assert [clone.information_state_string(seat) for seat in range(4)] == before
        assert clone.history() == state.history()
        if not state.is_terminal():
            other = state.clone()
            clone.apply_action(clone.legal_actions()[-1])
            other.apply_action(other.legal_actions()[-1])
            assert str(clone) == str(other)
            assert [state.information_state_string(seat) for seat in range(4)] == before


@pytest.mark.parametrize("name", EVERY_GAME)
def test_a_player_cannot_tell_a_drawn_state_from_the_real_one(name: str) -> None:
    random, differ = Random(1), 0
    for state in states(name, every=60):
        for seat in range(4):
            drawn = state.resample_from_infostate(seat, random.random)
            assert drawn.information_state_string(seat) == state.information_state_string(seat)
            assert drawn.observation_tensor(seat) == state.observation_tensor(seat)
            assert drawn.current_player() == state.current_player()
            assert drawn.legal_actions(seat) == state.legal_actions(seat)
            assert drawn.history() == []
            differ += drawn.match.game.save()["zones"] != state.match.game.save()["zones"]
    assert differ > 4


def test_a_drawn_state_tells_nothing_of_what_others_have_heard() -> None:
    """A hand that seat 0 has never seen is not in what its owner has heard in a drawn state."""
    state = dealt("szmal")
    drawn = [state.resample_from_infostate(0, Random(number).random) for number in range(20)]
    real = state.information_state_string(1)
    told = {other.information_state_string(1) for other in drawn}
    assert len(told) == 20
    assert real not in told
    public = state.match.text(cutpurse.learn.remembered_match.SPECTATOR)
    assert all(text.startswith(public) for text in told)


def test_a_drawn_state_keeps_the_sealed_answer_of_its_player_and_draws_those_of_others() -> None:
    state = dealt("szmal")  # all pick a card at once
    state.apply_action(state.legal_actions()[3])
    sealed = state.match.game.answers[0]
    assert state.current_player() == 1
    mine = [state.resample_from_infostate(0, Random(number).random) for number in range(20)]
    theirs = [state.resample_from_infostate(1, Random(number).random) for number in range(20)]
    assert {drawn.match.game.answers[0] for drawn in mine} == {sealed}
    assert len({drawn.match.game.answers[0] for drawn in theirs}) > 5
    assert all(drawn.current_player() == 1 for drawn in mine + theirs)
    assert all("answer " in drawn.information_state_string(0) for drawn in mine + theirs)
    assert all("answer " not in drawn.information_state_string(1) for drawn in mine + theirs)


@pytest.mark.parametrize("name", EVERY_GAME)
def test_a_drawn_state_is_played_to_its_end(name: str) -> None:
    random = Random(2)
    for state in states(name, every=150):
        drawn = state.resample_from_infostate(0, random.random)
        while not drawn.is_terminal():
            drawn.apply_action(random.choice(drawn.legal_actions()))
        assert sum(drawn.returns()) == pytest.approx(0)


@pytest.mark.parametrize("name", EVERY_GAME)
def test_a_player_forgets_nothing(name: str) -> None:
    before = [""] * 4
    for state in states(name, every=30):
        now = [state.information_state_string(seat) for seat in range(4)]
        assert all(text.startswith(earlier) for text, earlier in zip(now, before, strict=True))
        before = now
    answers = [text.count("answer ") for text in before]
    assert sum(answers) == len(state.history()) - 1  # without the deal


def test_nobody_is_told_a_hidden_card() -> None:
    """The one card that seat 1 picks of twelve is seen by seat 1 alone."""
    state = dealt("szmal")
    texts = {}
    for number in range(2):
        other = state.clone()
        for seat in range(4):
            other.apply_action(other.legal_actions()[number if seat == 1 else 0])
        texts[number] = [other.information_state_string(seat) for seat in range(4)]
    assert [texts[0][seat] == texts[1][seat] for seat in (0, 3)] == [True, True]
    assert texts[0][1] != texts[1][1]


def test_a_state_survives_pickle() -> None:
    state = dealt("greed", 3)
    game, other = pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(state.get_game(), state))
    assert str(game) == str(state.get_game())
    assert other.information_state_string(2) == state.information_state_string(2)
    assert pickle.loads(pickle.dumps(state.match)).options == state.match.options


def test_structs_are_those_of_the_engine() -> None:
    state = dealt("greed")
    assert state.to_observation_struct(1).to_dict()["viewer"] == 1
    assert state.to_struct().to_dict()["game"] == "greed"
    action = state.legal_actions()[0]
    struct = state.action_to_struct(state.current_player(), action)
    assert struct.to_dict() == {"number": action, "text": state.action_to_string(action)}
    assert state.struct_to_actions(struct) == [action]


def test_a_search_of_openspiel_plays_by_drawn_states() -> None:
    state = dealt("greed", seats=2)
    chance = np.random.RandomState(1)
    bot = ismcts.ISMCTSBot(
        game=state.get_game(),
        evaluator=mcts.RandomRolloutEvaluator(1, chance),
        uct_c=1.0,
        max_simulations=5,
        random_state=chance,
    )
    for _ in range(2):
        policy = dict(bot.get_policy(state))
        assert set(policy) == set(state.legal_actions())
        assert sum(policy.values()) == pytest.approx(1)
        state.apply_action(bot.step(state))


def test_an_agent_of_openspiel_plays_in_its_environment() -> None:
    table = rl_environment.Environment("cutpurse_greed", seats=2)
    table.seed(1)
    agents = [RandomAgent(player, table.action_spec()["num_actions"]) for player in range(2)]
    step = table.reset()
    assert table.observation_spec()["info_state"] == (table.game.observation_tensor_size(),)
    while not step.last():
        player = step.observations["current_player"]
        step = table.step([agents[player].step(step).action])
    assert sum(step.rewards) == pytest.approx(0)


def test_what_cannot_be_loaded_is_refused_in_a_line() -> None:
    with pytest.raises(SettingsError, match=r"^Greed is for 2 to 5 players, not 9$"):
        pyspiel.load_game("cutpurse_greed(seats=9)")
    with pytest.raises(pyspiel.SpielError, match="Unknown parameter 'chairs'"):
        pyspiel.load_game("cutpurse_greed(chairs=4)")
    with pytest.raises(UnknownGame, match=r"no game is called 'gred' \(did you mean 'greed'\?\)"):
        cutpurse.learn.spiel.register("gred")


@needs_pure
def test_a_game_without_a_limit_of_its_decisions_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GAMES["greed"], "max_decisions", classmethod(Game.max_decisions.__func__))  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match=r"^OpenSpiel needs a limit of the decisions of greed: let it declare max_dec"):
        pyspiel.load_game("cutpurse_greed")
