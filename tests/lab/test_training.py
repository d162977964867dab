"""Short trainings: the same seed gives the same net, also when a run is stopped and goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutpurse.games import GAMES
from cutpurse.learn.choice_table import ChoiceTable, TableRules
from cutpurse.learn.net import Net, load_net
from tests.looking import until
from tests.sdk.bot_files import ILLEGAL, bot_file
from tests.typed import run

torch = pytest.importorskip("torch", reason="torch is not installed: pip install '.[train]'")

from cutpurse.cli.commands import train as command  # noqa: E402
from cutpurse.lab.training import ppo  # noqa: E402
from cutpurse.lab.training.ppo import Experience, Minibatch, Training, TrainingPlan  # noqa: E402
from cutpurse.lab.training.run import CURVE, NET, STATE, TrainingRun  # noqa: E402
from tests.learn.positions import positions  # noqa: E402

TINY = TrainingPlan("greed", seats=3, seed=5, round_decisions=64, watch_rounds=2)
WORDS = ["greed", "--seats", "3", "--seed", "5", "--round-decisions", "64", "--watch-rounds", "2", "--out"]


def train(*words: str) -> tuple[int, str]:
    """Run the command in this process, and return its exit code and what it wrote to stderr."""
    done = run("train", *words)
    return done.exit_code, done.stderr


def changed(more: str) -> list[str]:
    """Return `WORDS` with other values; `more` is the name of a game, or options and their values."""
    if not more.startswith("--"):
        return [more, *WORDS[1:]]
    words = WORDS[:]
    for option, value in zip(more.split()[::2], more.split()[1::2], strict=True):
        if option in words and option != "--set":
            words[words.index(option) + 1] = value
        else:
            words[-1:-1] = option, value
    return words


def weights(net: Net) -> dict[str, list[float]]:
    return {name: weight.tolist() for name, weight in net.weights.items()}


def curve(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of the curve, without the time that they took."""
    lines = [json.loads(line) for line in (folder / CURVE).read_text(encoding="utf-8").splitlines()]
    assert all(line.pop("seconds") >= 0 for line in lines)  # rounded: a fast round takes 0.0
    return lines


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training of five rounds that was never stopped."""
    folder = tmp_path_factory.mktemp("whole")
    assert train(*WORDS, str(folder), "--rounds", "5")[0] == 0
    return folder


def test_a_training_watches_then_improves_and_leaves_a_net_and_its_curve(whole: Path) -> None:
    lines = curve(whole)
    assert [(line["round"], line["phase"]) for line in lines] == [
        *((1, "watch"), (2, "watch"), (3, "improve"), (4, "improve"), (5, "improve"))
    ]
    assert all(line["value_error"] > 0 for line in lines)
    assert all(0.5 < line["as_teacher"] < 1 for line in lines[2:])
    assert all(0 <= line["first_places"] <= 1 and line["first_places_of"] > 0 for line in lines[2:])
    assert all(1 <= line["mean_place"] <= 3 for line in lines[2:])
    assert all(a["decisions"] + 64 <= b["decisions"] for a, b in pairwise(lines))
    net = load_net(whole / NET)
    minutes = net.training.pop("minutes")
    assert 0 <= minutes < 10
    assert net.training == json.loads(json.dumps(asdict(TINY))) | {
        "rounds": 5,
        "matches": lines[-1]["matches"],
        "decisions": lines[-1]["decisions"],
    }
    assert sorted(path.name for path in whole.iterdir()) == [CURVE, NET, STATE]


def test_the_same_seed_gives_the_same_net_and_another_seed_another(whole: Path, tmp_path: Path) -> None:
    again, other = Training(TINY), Training(TrainingPlan("greed", seats=3, seed=6, round_decisions=64, watch_rounds=2))
    for training in (again, other):
        for _ in range(5):
            training.learn_a_round()
    assert weights(again.net()) == weights(load_net(whole / NET))
    assert weights(other.net()) != weights(again.net())


@pytest.mark.parametrize("rounds", [1, 2, 4])  # within copying, between the two, with a past version
def test_a_run_that_was_stopped_goes_on_to_the_same_net(rounds: int, whole: Path, tmp_path: Path) -> None:
    assert train(*WORDS, str(tmp_path), "--rounds", str(rounds))[0] == 0
    exit_code, text = train(*WORDS, str(tmp_path), "--rounds", "5")
    said = text.splitlines()
    assert exit_code == 0
    assert said[0].startswith(f"going on after round {rounds} and 0.")
    assert len(said) == 1 + 5 - rounds + 1
    assert weights(load_net(tmp_path / NET)) == weights(load_net(whole / NET))
    assert curve(tmp_path) == curve(whole)


def test_after_kill_9_it_goes_on_from_the_last_state(whole: Path, tmp_path: Path) -> None:
    arguments = [sys.executable, "-m", "cutpurse.cli", "train", *WORDS, str(tmp_path), "--rounds", "100000"]
    state = tmp_path / STATE

    def is_saved(rounds: int) -> bool:
        return state.exists() and torch.load(state, weights_only=True)["training"]["round"] >= rounds

    for rounds in (1, 3):
        process = subprocess.Popen(arguments, stderr=subprocess.DEVNULL)
        until(partial(is_saved, rounds), f"round {rounds} is saved")
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    done = torch.load(state, weights_only=True)["training"]["round"]
    run = TrainingRun(tmp_path, TINY)
    assert run.training.round == done
    assert [line["round"] for line in curve(tmp_path)] == list(range(1, done + 1))
    straight = Training(TINY)
    for _ in range(done):
        straight.learn_a_round()
    assert weights(run.training.net()) == weights(straight.net())
    assert run.learn_a_round() == straight.learn_a_round()


def test_a_line_of_the_curve_that_was_torn_or_has_no_state_is_removed(whole: Path, tmp_path: Path) -> None:
    run = TrainingRun(tmp_path, TINY)
    run.learn_a_round()
    before = (tmp_path / CURVE).read_bytes()
    (tmp_path / CURVE).write_bytes(before + b'{"round": 2}\n{"rou')
    TrainingRun(tmp_path, TINY)
    assert (tmp_path / CURVE).read_bytes() == before


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("--seed 6", "seed 5, not 6"),
        ("--seats 4", "seats 3, not 4"),
        ("szmal", "game greed, not szmal"),
        ("--teacher random", "teacher greedy, not random"),
        ("--others random,first_option", "others none, not random first_option"),
        ("--set specials=none --set max_rounds=20", "settings none, not specials=none,max_rounds=20"),
    ],
)
def test_a_folder_of_another_run_is_refused(more: str, said: str, whole: Path) -> None:
    before = {path: path.read_bytes() for path in whole.iterdir()}
    assert train(*changed(more), str(whole)) == (
        2,
        f"cutpurse: {whole / STATE} is of a run with {said}: give the same to go on, or another folder\n",
    )
    assert {path: path.read_bytes() for path in whole.iterdir()} == before


def test_a_damaged_state_is_refused(whole: Path, tmp_path: Path) -> None:
    content = (whole / STATE).read_bytes()
    for damaged in (b"", content[:1000], content[: len(content) // 2], b"\x80\x04N."):
        (tmp_path / STATE).write_bytes(damaged)
        exit_code, line = train(*WORDS, str(tmp_path))
        assert (exit_code, line.count("\n")) == (2, 1)
        assert line.startswith(f"cutpurse: {tmp_path / STATE} is damaged (")


def test_a_state_of_another_numbering_is_refused(whole: Path, tmp_path: Path) -> None:
    state = torch.load(whole / STATE, weights_only=True)
    state["training"]["stamp"]["numbering"] = "other"
    torch.save(state, tmp_path / STATE)
    exit_code, text = train(*WORDS, str(tmp_path))
    assert exit_code == 2
    assert text.startswith("cutpurse: made with numbering 'other', here it is ")


def test_a_training_that_is_done_says_so(whole: Path) -> None:
    exit_code, text = train(*WORDS, str(whole), "--rounds", "5")
    first, last = text.splitlines()
    assert exit_code == 0
    assert first.startswith("going on after round 5 ")
    assert last.startswith(f"{whole / NET}: ")


def test_minutes_count_earlier_sessions(whole: Path) -> None:
    exit_code, text = train(*WORDS, str(whole), "--minutes", "0.0001")
    assert (exit_code, text.count("\n")) == (0, 2)


def test_an_interrupt_is_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "_learn", interrupted)
    assert train(*WORDS, str(tmp_path)) == (130, "interrupted; the same command goes on after the last round\n")


def test_a_teacher_that_fails_is_a_line(tmp_path: Path) -> None:
    teacher = bot_file(tmp_path, ILLEGAL)
    exit_code, line = train(*WORDS, str(tmp_path / "out"), "--teacher", str(teacher))
    assert (exit_code, line.count("\n")) == (3, 1)
    assert line.startswith(f"cutpurse: opponent {teacher}, decision 0 of seat ")


@pytest.mark.parametrize(("game", "seats"), [*((game, 4) for game in GAMES), ("greed", 2)])
def test_every_game_is_learned(game: str, seats: int) -> None:
    training = Training(TrainingPlan(game, seats, round_decisions=70, watch_rounds=1))
    phases = [training.learn_a_round().phase for _ in range(2)]
    assert phases == ["watch", "improve"]
    (position,) = positions(game, seats, 1)
    ratings = training.net().rate(position.view, position.options, 0)
    assert ratings.shape == (len(position.options),)
    assert np.isfinite(ratings).all()


# -- the parts
def test_the_model_rates_as_the_net_that_numpy_plays() -> None:
    training = Training(TINY)
    net = training.net()
    with torch.no_grad():
        for parameter in training.model.parameters():
            parameter.copy_(parameter.half().float())
        training.model.view.weight.copy_(torch.from_numpy(net.weights["view"].T))  # rounded further
    seen = list(positions("greed", 3, 30))
    read: list[Any] = [(net.inputs.read_view(one.view), net.inputs.read_options(one.view, one.options)) for one in seen]
    batch = Minibatch([Experience(view, options, 0, len(options) - 1) for view, options in read])
    with torch.inference_mode():
        log_probabilities, _ = training.model(batch)
    for each, learned in zip(seen, np.split(log_probabilities.numpy(), batch.first[1:-1]), strict=True):
        played = net.rate(each.view, each.options, len(each.options) - 1)
        assert np.exp(learned).sum() == pytest.approx(1, abs=1e-5)
        assert learned - learned.max() == pytest.approx(played - played.max(), abs=1e-4)
        assert learned.argmax() == played.argmax()


def test_what_came_of_choices_is_credited_as_in_the_paper() -> None:
    values, reward = [0.2, 0.5, 0.1], 1.0
    story = [Experience(np.zeros(1, np.float16), np.zeros((1, 1), np.float16), 0, 0, value=value) for value in values]
    ppo._credit(story, reward)
    deltas = [values[1] - values[0], values[2] - values[1], reward - values[2]]
    expected = [sum(ppo.TRACE ** (later - now) * deltas[later] for later in range(now, 3)) for now in range(3)]
    assert [choice.advantage for choice in story] == pytest.approx(expected)
    assert [choice.reward for choice in story] == pytest.approx([v + a for v, a in zip(values, expected, strict=True)])


def test_packs_are_read_as_their_sum() -> None:
    training = Training(TrainingPlan("steal_and_plunder", seats=4, seed=1, round_decisions=200))
    space, read = training.space, training.inputs.view.index
    assert not space.is_summed[read[read < space.planes]].any()
    assert (read >= space.planes + space.numbers).any()


def test_matches_have_the_settings_of_the_plan() -> None:
    decisions = []
    for settings in ({}, {"rounds": "1"}):
        plan = TrainingPlan("bag_o_loot", seats=4, seed=1, round_decisions=1, watch_rounds=1, settings=settings)
        report = Training(plan).learn_a_round()
        assert report.matches > 1  # the first ones are looked at only
        decisions.append(report.decisions)
    assert decisions[1] < decisions[0] / 2


def test_a_net_meets_other_bots_in_the_seats_of_its_teacher() -> None:
    met: list[tuple[str, ...]] = []

    class Spied(Training):
        def _draw(self, past: Sequence[TableRules], chance: np.random.Generator) -> tuple[ChoiceTable, str]:
            table, against = super()._draw(past, chance)
            met.append((against, *(maker.name for maker in table.parameters.makers)))
            return table, against

    training = Spied(replace(TINY, others=("random", "first_option"), round_decisions=300, watch_rounds=0))
    report = training.learn_a_round()
    assert {one for one in met if one[0] == "teacher"} == {("teacher", "greedy", "greedy")}
    assert {name for against, *names in met if against == "others" for name in names} == {
        *("first_option", "greedy", "random")
    }
    assert report.first_places_of == sum(one[0] == "teacher" for one in met)


def test_rewards_by_score_differ_about_as_much_as_first_places() -> None:
    plan = TrainingPlan("bag_o_loot", seats=4, seed=1, reward="score", settings={"rounds": 1}, round_decisions=300)
    training = Training(plan)
    first = training.learn_a_round()
    assert training.unit > 10
    assert 0.1 < first.value_error < 0.5  # 0.16 is that of a net that expects nothing
    gone_on = Training(plan, training.state)
    assert gone_on.unit == training.unit
    assert gone_on.learn_a_round() == training.learn_a_round()


def test_a_lead_says_how_often_the_teacher_is_followed_at_first() -> None:
    followed = []
    for lead in (0.0, 3.0, 6.0):
        training = Training(TrainingPlan("szmal", seats=4, seed=1, round_decisions=200, watch_rounds=1, lead=lead))
        training.learn_a_round()
        followed.append(training.learn_a_round().as_teacher or 0)
    assert followed[0] < 0.6 < followed[1] < followed[2]


def test_a_weight_of_entropy_keeps_a_net_undecided() -> None:
    entropies = []
    for entropy in (0.0, 1.0):
        plan = TrainingPlan("greed", seats=3, seed=1, round_decisions=200, watch_rounds=1, entropy=entropy)
        training = Training(plan)
        reports = [training.learn_a_round() for _ in range(6)]
        entropies.append(reports[-1].entropy or 0)
    assert entropies[1] > 1.2 * entropies[0]


def test_a_run_that_begins_as_a_net_learns_only_values_by_watching(whole: Path) -> None:
    net = load_net(whole / NET)
    training = Training(replace(TINY, reward="place", start=net.digest()), start=net)
    errors = [training.learn_a_round().value_error for _ in range(2)]
    assert errors[1] != errors[0]
    assert weights(training.net()) == weights(net)
    training.learn_a_round()
    improved = training.net()
    assert weights(improved) != weights(net)
    assert (improved.training["reward"], improved.training["before"]) == ("place", net.training)


def test_a_run_that_began_as_a_net_goes_on_as_if_never_stopped(whole: Path, tmp_path: Path) -> None:
    words = [*WORDS, str(tmp_path / "own"), "--start", str(whole / NET), "--reward", "first+place"]
    for rounds in ("1", "2", "4"):
        assert train(*words, "--rounds", rounds)[0] == 0
    words[words.index(str(tmp_path / "own"))] = str(tmp_path / "other")
    assert train(*words, "--rounds", "4")[0] == 0
    assert weights(load_net(tmp_path / "own" / NET)) == weights(load_net(tmp_path / "other" / NET))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("szmal", "the game 'greed': its own is 'szmal'"),
        ("--seats 4", "the number of seats 3: its own is 4"),
        ("--teacher random", "the teacher 'greedy': its own is 'random'"),
    ],
)
def test_a_net_of_another_plan_is_no_beginning(more: str, said: str, whole: Path, tmp_path: Path) -> None:
    exit_code, text = train(*changed(more), str(tmp_path / "own"), "--start", str(whole / NET))
    assert (exit_code, text) == (2, f"cutpurse: the run cannot begin as a net with {said}\n")
    assert not (tmp_path / "own").exists()


def test_watching_learns_who_wins() -> None:
    training = Training(TrainingPlan("greed", seats=3, seed=1, round_decisions=600, watch_rounds=6))
    errors = [training.learn_a_round().value_error for _ in range(6)]
    assert errors[-1] < 0.9 * errors[0]


def test_a_net_begins_with_the_choices_of_its_teacher() -> None:
    net = Training(TrainingPlan("szmal", seats=4, seed=1, round_decisions=200)).net()
    for position in positions("szmal", 4, 30):
        for advised in range(len(position.options)):
            assert net.rate(position.view, position.options, advised).argmax() == advised
