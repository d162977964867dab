"""The environments pass the suites of their libraries in every game, and play the matches of `cutpurse play`."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, parallel_api_test, seed_test
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from cutpurse.engine.agenda import Option
from cutpurse.engine.errors import SettingsError, UnknownGame, UsageError
from cutpurse.learn import IllegalNumber
from cutpurse.learn.gym import Seat
from cutpurse.learn.opponents import OpponentFailed
from cutpurse.learn.pettingzoo import LearnersTable, env
from cutpurse.sdk.local import LocalMatch, play
from tests.properties.random_play import EVERY_GAME


class Lowest:
    """A bot that takes the option of the lowest number, by a space as a learner has it."""

    def choose(self, view: Any, decision: Any) -> Option:
        space = _space(view.game, view.raw.seats)
        raws = [option.raw for option in decision.options]
        numbers = space.option_numbers(view.raw, raws)
        return decision.options[numbers.index(min(numbers))]  # type: ignore[no-any-return]  # an option of the SDK


def _space(game: str, seats: int) -> Any:
    from cutpurse.learn import Space

    key = game, seats
    if key not in _SPACES:
        _SPACES[key] = Space(game, seats)
    return _SPACES[key]


_SPACES: dict[tuple[str, int], Any] = {}


class Crashes:
    def choose(self, view: object, decision: object) -> int:
        raise RuntimeError("no idea")


class Cheats:
    def choose(self, view: object, decision: object) -> int:
        return 99


@pytest.fixture
def quiet() -> Iterator[None]:
    """Ignore what the suites only remark: an observation that is a dict, and a gap between rewards."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def lowest(observation: dict[str, Any]) -> int:
    return int(observation["action_mask"].argmax())


def played(seat: Seat) -> tuple[float, int]:
    """Play a match with the lowest numbers.

    Returns:
        The reward, and the number of choices.
    """
    observation, _ = seat.reset()
    choices = 0
    while True:
        observation, reward, is_over, _, info = seat.step(lowest(observation))
        assert not info["illegal"]
        choices += 1
        if is_over:
            assert not observation["action_mask"].any()
            return reward, choices
        assert reward == 0


@pytest.mark.parametrize("name", EVERY_GAME)
def test_pettingzoo_finds_no_fault(name: str, quiet: None) -> None:
    api_test(env(name), num_cycles=200, verbose_progress=False)
    api_test(LearnersTable(name, opponents=["random"]), num_cycles=100, verbose_progress=False)
    seed_test(partial(env, name), num_cycles=30)
    parallel_api_test(turn_based_aec_to_parallel(LearnersTable(name)), num_cycles=50)


@pytest.mark.parametrize("name", EVERY_GAME)
def test_gymnasium_finds_no_fault(name: str, quiet: None) -> None:
    check_env(gymnasium.make(f"cutpurse/{name}-v1", others=["random"] * 3).unwrapped)
    made = gymnasium.make(f"cutpurse/{name}-v1", others=["random"] * 3)
    observation, info = made.reset(seed=3)
    assert info == {"seed": 3, "match": 0}
    assert observation in made.observation_space
    assert made.action_space.contains(np.int64(lowest(observation)))


@pytest.mark.parametrize("name", EVERY_GAME)
def test_a_seat_plays_the_matches_of_play(name: str) -> None:
    rows: list[LocalMatch] = []
    others: list[Any] = ["greedy", "random", Lowest]
    play(name, [Lowest, *others], matches=2, seed=7, on_match=rows.append)
    seat = Seat(name, others, seed=7)
    assert [played(seat)[0] for _ in rows] == pytest.approx([place_reward(row.places)[0] for row in rows])
    assert seat.table.game.places()[seat.table.seat_of(0)] == rows[1].places[0]
    assert list(rows[1].scores) == [seat.table.game.scores()[seat.table.seat_of(bot)] for bot in range(4)]


def place_reward(places: tuple[int, ...]) -> list[float]:
    shares = [
        sum(range(place, place + places.count(place))) / places.count(place) for place in places
    ]  # the mean of the places that they take up
    return [1 - 2 * (share - 1) / (len(places) - 1) for share in shares]


@pytest.mark.parametrize("name", EVERY_GAME)
def test_agents_play_the_matches_of_play(name: str) -> None:
    rows: list[LocalMatch] = []
    play(name, [Lowest, Lowest, Lowest, "greedy"], matches=1, seed=5, on_match=rows.append)
    table = LearnersTable(name, seats=4, opponents=["greedy"])
    table.reset(seed=5)
    for _ in table.agent_iter():
        observation, _, is_over, _, info = table.last()
        assert info == {"seed": 5, "match": 0}
        table.step(None if is_over else lowest(observation))
    assert [table.table.game.places()[table.table.seat_of(bot)] for bot in range(4)] == [*rows[0].places]


def test_an_agent_that_is_not_asked_sees_its_seat_and_an_empty_mask() -> None:
    table = LearnersTable("greed", seats=3)
    table.reset(seed=1)
    for agent in table.agents:
        seen = table.observe(agent)
        assert seen["action_mask"].any() == (agent == table.agent_selection)
        assert (seen["planes"] == table.space.observe(table.table.game.view(table._seat(agent)))[0]).all()


def test_the_answer_of_a_poll_is_seen_by_nobody_before_it_closes() -> None:
    table = LearnersTable("szmal", seats=4)  # all choose a card at once
    table.reset(seed=1)
    before = table.table.game.view(None).to_bytes()
    sealed = 0
    while table.table.game.waiting():
        seen = {agent: table.observe(agent) for agent in table.agents}
        table.step(lowest(table.observe(table.agent_selection)))
        if table.table.game.answers:
            sealed += 1
            assert table.table.game.view(None).to_bytes() == before
            for agent in table.agents:
                assert (table.observe(agent)["planes"] == seen[agent]["planes"]).all()
                assert (table.observe(agent)["numbers"] == seen[agent]["numbers"]).all()
        before = table.table.game.view(None).to_bytes()
        if sealed > 20:
            break
    assert sealed > 20


def test_the_masks_for_sb3_are_those_of_the_observation() -> None:
    seat = Seat("greed", others=["random"])
    observation, _ = seat.reset(seed=1)
    assert seat.action_masks().dtype == np.bool_
    assert seat.action_masks().tolist() == observation["action_mask"].astype(bool).tolist()


def test_a_run_goes_on_without_a_seed_and_begins_anew_with_one() -> None:
    seat = Seat("greed", others=["random"], seed="a run")
    infos = [seat.reset()[1], seat.reset()[1], seat.reset(seed=4)[1], seat.reset()[1]]
    assert [(info["seed"], info["match"]) for info in infos] == [("a run", 0), ("a run", 1), (4, 0), (4, 1)]
    assert Seat("greed", others=["random"]).run.seed != Seat("greed", others=["random"]).run.seed


def test_a_number_that_is_not_offered_is_the_first_option_for_a_seat() -> None:
    seat = Seat("greed", others=["random"] * 3)
    observation, _ = seat.reset(seed=1)
    assert seat.step(int((observation["action_mask"] == 0).argmax()))[4]["illegal"]
    other = Seat("greed", others=["random"] * 3)
    other.reset(seed=1)
    first = other.space.option_numbers(other.table.view, other.table.options)[0]
    assert not other.step(first)[4]["illegal"]
    assert other.table.view.to_bytes() == seat.table.view.to_bytes()


def test_a_number_that_is_not_offered_ends_the_match_of_agents(quiet: None) -> None:
    table = env("greed", seats=3)
    table.reset(seed=1)
    observation, *_ = table.last()
    loser = table.agent_selection
    table.step(int((observation["action_mask"] == 0).argmax()))
    assert table.terminations == dict.fromkeys(table.agents, True)
    assert table._cumulative_rewards[loser] == -1
    bare = LearnersTable("greed", seats=3)
    bare.reset(seed=1)
    with pytest.raises(IllegalNumber, match="is not offered now; there are:"):
        bare.step(int((observation["action_mask"] == 0).argmax()))


def test_a_table_is_rendered_as_text() -> None:
    table = LearnersTable("greed", seats=2, render_mode="ansi")
    table.reset(seed=1)
    lines = str(table.render()).splitlines()
    assert "seat 0 (learner_0)" in lines
    hands = [line for line in lines if line.startswith("  hand: ")]
    assert hands == ["  hand: 8 face down (among them Crook)"] * 2  # as a spectator sees it
    seat = gymnasium.make("cutpurse/greed-v1", others=["random"], render_mode="ansi")
    seat.reset(seed=1)
    own = seat.unwrapped.table.seat_of(0)  # type: ignore[attr-defined]  # of a Seat
    assert f"seat {own} (learner_0, you)" in str(seat.render()).splitlines()
    assert Seat("greed", ["random"]).render() is None


def test_a_seat_is_made_by_its_name_alone() -> None:
    """Gymnasium imports the module before the colon, and the other seats have `greedy`."""
    program = (
        "import gymnasium\n"
        "seat = gymnasium.make('cutpurse.learn.gym:cutpurse/greed-v1')\n"
        "seat.reset(seed=1)\n"
        "print(sorted(seat.unwrapped.table.names))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("['greedy', 'greedy', 'greedy', 'learner_0']\n", "")


def test_a_step_after_the_end_asks_for_a_reset() -> None:
    seat = Seat("greed", others=["random"])
    played(seat)
    with pytest.raises(UsageError, match=r"^the match is over: call reset\(\) before the next step$"):
        seat.step(0)


@pytest.mark.parametrize(
    ("make", "error", "line"),
    [
        (lambda: Seat("greed", render_mode="human"), UsageError, "render_mode is 'human'; it can be 'ansi', which "),
        (lambda: env("greed", render_mode="x"), UsageError, "render_mode is 'x'; it can be 'ansi', which gives text"),
        (lambda: Seat("greed", others=[]), UsageError, "nobody is in the other seats: give bots, such as others="),
        (lambda: Seat("gred", others=["random"]), UnknownGame, r"no game is called 'gred' \(did you mean 'greed'\?\)"),
        (lambda: Seat("greed", others=["gredy"]), UsageError, r"gredy.* \(did you mean 'greedy'\?\)"),
        (lambda: Seat("greed", others=["random"] * 8), SettingsError, "Greed is for 2 to 5 players, not 9"),
        (lambda: Seat("greed", others=["random"], reward="money"), UsageError, "no reward is called 'money'; there a"),
        (
            lambda: env("greed", 2, opponents=["random"] * 2),
            UsageError,
            "2 opponents leave no seat for a learner at",
        ),
        (lambda: env("greed", settings={"mood": 1}), SettingsError, "no setting is called 'mood'"),
    ],
)
def test_what_cannot_be_made_is_refused_in_a_line(make: Any, error: type[Exception], line: str) -> None:
    with pytest.raises(error, match=line) as refused:
        make()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("bot", "line"),
    [
        (Crashes, r"^opponent Crashes crashed: .*test_environments\.py:\d+: RuntimeError: no idea$"),
        (Cheats, r"^opponent Cheats, decision 0 of seat \d \(play_a_card\) has options 0-\d: .*; it answered 99$"),
    ],
)
def test_an_opponent_that_fails_ends_the_run(bot: Any, line: str) -> None:
    with pytest.raises(OpponentFailed, match=line):
        played(Seat("greed", others=[bot]))


def test_an_opponent_in_a_file_gets_its_events(tmp_path: Path) -> None:
    (tmp_path / "hears.py").write_text(
        "class Bot:\n"
        "    heard = 0\n"
        "    def event(self, event):\n"
        "        Bot.heard += 1\n"
        "    def choose(self, view, decision):\n"
        "        assert Bot.heard > 0\n"
        "        return decision.options[0]\n",
        encoding="utf-8",
    )
    assert played(Seat("greed", others=[str(tmp_path / "hears.py")], seed=1))[1] > 0
