"""The yardstick: scores by hand, the same score twice, altered results, and agents that cannot be measured."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest

from cutpurse.engine.errors import BotFault, RecordError, UsageError
from cutpurse.lab.journal_file import digest_of
from cutpurse.lab.yardstick.run import MeasurePlan, measure, verify
from cutpurse.lab.yardstick.score import Score, mean_score, score_of
from cutpurse.lab.yardstick.yardstick_set import check_opponents, load_set, set_names
from cutpurse.sdk.playing.digest import RunDigest, result_digest
from tests.roots import CHECKOUT

SETS = {"hearth-1": "c2fbb2c01828392c2f25bc3ad05b1117e1802f7bff40b69b723f1f7221ef6ffc"}
SMALL = ("szmal/2", "greed/2")  # boards that take milliseconds
NET = CHECKOUT / "sample_bots/cutpurse/bots/nets/szmal-4.npz"
WORSE = """
from cutpurse.bots.greedy_bot import GreedyBot

class Bot:
    def start(self, match):
        self.chance, self.greedy = match.chance, GreedyBot()

    def choose(self, view, decision):
        is_wrong = self.chance.random() < 0.1
        return decision.options[0] if is_wrong else self.greedy.choose(view, decision)
"""


def plan(bot: str | Path, *games: str, **changes: Any) -> MeasurePlan:
    return MeasurePlan(str(bot), "hearth-1", games=games or SMALL, **changes)


def bot_file(folder: Path, code: str) -> Path:
    file = folder / "a_bot.py"
    file.write_text(code)
    return file


# -- scores
def test_a_score_is_the_share_of_the_gain_between_both_ends() -> None:
    """Gains of 0.2 and 0.5 where the better end has 0.4 and 0.8 more than the worse: (0.2 + 0.5) / (0.4 + 0.8)."""
    groups = {"a": [(0.3, 0.0, 0.3), (0.3, 0.2, 0.7)], "b": [(0.5, 0.1, 0.9), (0.7, 0.1, 0.9)]}
    score = score_of(groups)
    assert score.score == pytest.approx(100 * 0.7 / 1.2)
    residuals = [(0.3 - 0.3 * 7 / 12, 0.1 - 0.5 * 7 / 12), (0.4 - 0.8 * 7 / 12, 0.6 - 0.8 * 7 / 12)]
    variances = [(first - second) ** 2 / 2 / 2 for first, second in residuals]
    assert score.error == pytest.approx(100 * sum(variances) ** 0.5 / 1.2)


def test_the_ends_of_the_scale_have_their_scores_without_an_error() -> None:
    chance = Random(1)
    ends = [(chance.random() / 2, chance.random() + 0.4) for _ in range(20)]
    assert score_of({"a": [(zero, zero, hundred) for zero, hundred in ends]}) == Score(0.0, 0.0)
    best = score_of({"a": [(hundred, zero, hundred) for zero, hundred in ends]})
    assert (best.score, best.error) == pytest.approx((100.0, 0.0))


def test_luck_that_all_three_had_changes_neither_a_score_nor_its_interval() -> None:
    chance = Random(2)
    boards = [(chance.random(), chance.random() / 4, 0.5 + chance.random() / 2) for _ in range(30)]
    lucky = [
        (a + luck, b + luck, c + luck) for (a, b, c), luck in zip(boards, map(chance.gauss, [0] * 30), strict=False)
    ]
    before, after = score_of({"a": boards}), score_of({"a": lucky})
    assert (before.score, before.error) == pytest.approx((after.score, after.error))


def test_an_interval_holds_the_true_score_as_often_as_it_says() -> None:
    """Agents of a true score of 50 on 24 boards of two kinds: 95 % of 400 intervals hold it, give or take."""
    chance, held = Random(3), 0
    for _ in range(400):
        groups = {
            name: [(chance.gauss(mean / 2, 0.4), chance.gauss(0, 0.1), chance.gauss(mean, 0.3)) for _ in range(24)]
            for name, mean in (("a", 0.5), ("b", 0.8))
        }
        low, high = score_of(groups).interval
        held += low <= 50 <= high
    assert 0.92 <= held / 400 <= 0.98


def test_a_mean_score_has_the_error_of_independent_parts() -> None:
    assert mean_score([Score(20.0, 3.0), Score(60.0, 4.0)]) == Score(40.0, 2.5)


@pytest.mark.parametrize(
    ("boards", "problem"),
    [
        ([(0.1, 0.0, 1.0)], "a has 1 boards; an interval needs"),
        ([(0.1, 0.5, 0.5)] * 4, "the ends of the scale are equal on a"),
    ],
)
def test_a_scale_without_a_length_or_a_spread_is_refused(
    boards: list[tuple[float, float, float]], problem: str
) -> None:
    with pytest.raises(UsageError, match=problem):
        score_of({"a": boards})


# -- sets
def test_a_set_never_changes() -> None:
    """Other boards, opponents or ends make another set: `python -m scripts.yardstick_set`."""
    assert {name: load_set(name).digest for name in set_names()} == SETS


@pytest.mark.parametrize("name", SETS)
def test_a_set_has_five_games_and_several_numbers_of_seats(name: str) -> None:
    of = load_set(name)
    assert len(of.games) == 5
    assert len({group.seats for group in of.groups}) > 2
    assert {len(points) for points in (*of.zero, *of.hundred)} == {of.full}
    assert of.quick < of.full


def test_opponents_that_play_otherwise_are_refused_in_one_line() -> None:
    of = load_set("hearth-1")
    check_opponents(of)
    with pytest.raises(UsageError, match=r"the opponents of hearth-1 \(greedy\) play szmal/2 otherwise here; install"):
        check_opponents(replace(of, probes=(*of.probes[:2], "0" * 16)))
    older = replace(of, groups=(replace(of.groups[0], rules="0"), *of.groups[1:]))
    with pytest.raises(UsageError, match="hearth-1 has greed by the rules 0, here they are "):
        check_opponents(older)


# -- measurements
def test_the_same_agent_has_the_same_score_twice_on_every_build(tmp_path: Path) -> None:
    """The digest stands for every answer of every board, so CI compares both builds of the engine by it."""
    first = measure(plan("greedy"))
    again = measure(plan("greedy", jobs=2), tmp_path / "again")
    assert (first.digest, first.games) == (again.digest, again.games)
    assert first.digest == "897f835d7153de906ef6d31f92cc1f26678b2701a50db33b6c2807377fb4c220"


def test_the_order_of_the_agents_is_that_of_their_strength(tmp_path: Path) -> None:
    worse = bot_file(tmp_path, WORSE)
    scores = [measure(plan(bot)).games for bot in ("random", worse, "greedy")]
    for game in ("szmal", "greed"):
        random, middle, greedy = (of_games[game] for of_games in scores)
        assert (random.score, random.error) == (0.0, 0.0)
        assert 0 < middle.score < greedy.score
        assert greedy.interval[0] > 0


def test_a_part_of_the_games_has_no_score_in_all() -> None:
    measured = measure(plan("random", "szmal/2"))
    assert (measured.score, [*measured.games]) == (None, ["szmal"])
    assert measured.each == load_set("hearth-1").quick


def test_a_net_is_measured_in_its_game_alone() -> None:
    measured = measure(MeasurePlan(str(NET), games=("szmal/4",)))
    assert measured.games["szmal"].score > 0
    assert len(measured.agent["code"]) == 16


def test_a_quick_run_goes_on_as_a_full_one(tmp_path: Path) -> None:
    quick = measure(plan("greedy", "szmal/2"), tmp_path / "journal")
    lines = (tmp_path / "journal").read_text().splitlines(keepends=True)
    (tmp_path / "journal").write_text("".join(lines[:5]) + lines[5][:20])  # the run was killed while it wrote
    assert measure(plan("greedy", "szmal/2"), tmp_path / "journal").digest == quick.digest
    full = measure(plan("greedy", "szmal/2", is_full=True), tmp_path / "journal")
    assert full == measure(plan("greedy", "szmal/2", is_full=True))


def test_a_journal_of_another_agent_is_refused(tmp_path: Path) -> None:
    measure(plan("greedy", "szmal/2"), tmp_path / "journal")
    with pytest.raises(UsageError, match=r"journal is of another yardstick: bot differ; name another journal"):
        measure(plan("random", "szmal/2"), tmp_path / "journal")


# -- agents that cannot be measured
def test_an_agent_that_cannot_play_a_game_is_named_with_it(tmp_path: Path) -> None:
    bot = bot_file(tmp_path, "class Bot:\n    def choose(self, view, decision):\n        return view.no_such_thing\n")
    problem = r"a_bot.py cannot play Szmal with 2 seats, so it has no score: bot .*AttributeError.*; --games measures"
    with pytest.raises(BotFault, match=problem):
        measure(plan(bot, "szmal/2"))


def test_an_agent_that_fails_later_has_no_score(tmp_path: Path) -> None:
    code = """
class Bot:
    made = 0
    def __init__(self):
        type(self).made += 1
    def choose(self, view, decision):
        return decision.options[0] if self.made < 4 else 99
"""
    with pytest.raises(BotFault, match=r"a_bot.py failed on board 32 \(szmal/2\), so it has no score: bot .* answered"):
        measure(plan(bot_file(tmp_path, code), "szmal/2"))


def test_a_single_fault_is_counted_and_measured(tmp_path: Path) -> None:
    code = WORSE.replace("is_wrong =", "1 / (decision.number != 3)\n        is_wrong =")
    measured = measure(plan(bot_file(tmp_path, code), "szmal/2"))
    assert measured.faults == len(measured.boards)
    assert "ZeroDivisionError" in measured.failure


def test_an_agent_that_is_too_slow_ends_after_a_board_of_each_kind(tmp_path: Path) -> None:
    """A board takes a minute by this clock."""
    clock, boards = map((60.0).__mul__, count()), len(SMALL) * load_set("hearth-1").quick
    problem = rf"random is too slow: {boards} boards would take about {boards} min, and the budget is 10 min"
    with pytest.raises(BotFault, match=problem):
        measure(plan("random", max_s=600.0), tmp_path / "journal", clock=lambda: next(clock))
    assert len((tmp_path / "journal").read_text().splitlines()) == 1 + len(SMALL)


# -- results
def test_a_result_is_verified_by_playing_a_sample_again(tmp_path: Path) -> None:
    worse = bot_file(tmp_path, WORSE)
    measured = measure(plan(worse, "szmal/2"), tmp_path / "journal")
    verified, numbers = verify(tmp_path / "journal", sample=5, bot=str(worse))
    assert (verified, len(numbers)) == (measured, 5)
    moved = tmp_path / "moved.py"
    moved.write_text(worse.read_text())
    assert verify(tmp_path / "journal", sample=0, bot=str(moved), jobs=2)[1] == tuple(sorted(measured.boards))


def test_an_agent_that_was_edited_cannot_verify_its_result(tmp_path: Path) -> None:
    worse = bot_file(tmp_path, WORSE)
    measure(plan(worse, "szmal/2"), tmp_path / "journal")
    worse.write_text(WORSE.replace("0.1", "0.2"))
    with pytest.raises(UsageError, match=r"is of another agent than .*: code differ"):
        verify(tmp_path / "journal", bot=str(worse))


def test_a_file_does_not_choose_what_runs_here(tmp_path: Path) -> None:
    mark = tmp_path / "it_ran"
    worse = bot_file(tmp_path, f"open({str(mark)!r}, 'w').close()\n{WORSE}")
    measure(plan(worse, "szmal/2"), tmp_path / "journal")
    mark.unlink()
    with pytest.raises(UsageError, match=r"a file must not choose what runs here: .* give it with --agent"):
        verify(tmp_path / "journal")
    assert not mark.exists()


@pytest.fixture
def lines(tmp_path: Path) -> list[dict[str, Any]]:
    """The lines of a result, for a test to alter."""
    measure(plan("greedy", "szmal/2"), tmp_path / "journal")
    return [json.loads(line) for line in (tmp_path / "journal").read_text().splitlines()]


def rewrite(folder: Path, lines: list[dict[str, Any]]) -> Path:
    file = folder / "altered"
    file.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    return file


def forge(folder: Path, lines: list[dict[str, Any]]) -> Path:
    """Write a result with digests that fit."""
    lines[0]["digest"] = digest_of(lines[0]["plan"])
    digest = RunDigest(lines[0]["digest"])
    for line in lines[1:]:
        board = {name: value for name, value in line.items() if name not in ("board", "digest")}
        digest.add(result_digest([line["board"], board]))
        line["digest"] = digest.hex()
    return rewrite(folder, lines)


def test_points_that_were_altered_break_the_chain(tmp_path: Path, lines: list[dict[str, Any]]) -> None:
    lines[7]["points"] += 0.25
    with pytest.raises(RecordError, match=r"altered was altered at board 62: its digest does not fit"):
        verify(rewrite(tmp_path, lines))


def test_another_agent_in_the_plan_breaks_the_chain(tmp_path: Path, lines: list[dict[str, Any]]) -> None:
    lines[0]["plan"]["agent"]["bot"] = "random"
    with pytest.raises(RecordError, match="the plan was altered"):
        verify(rewrite(tmp_path, lines))
    lines[0]["digest"] = digest_of(lines[0]["plan"])
    with pytest.raises(RecordError, match="altered was altered at board 2: its digest does not fit"):
        verify(rewrite(tmp_path, lines))


def test_a_forged_chain_is_found_by_playing(tmp_path: Path, lines: list[dict[str, Any]]) -> None:
    for line in lines[1:]:
        line["points"] += 0.25
    with pytest.raises(RecordError, match=r"board \d+ \(szmal/2\) is not what greedy plays: .* in the file and "):
        verify(forge(tmp_path, lines), sample=1)


def test_a_result_without_all_boards_or_of_another_set_is_refused(tmp_path: Path, lines: list[dict[str, Any]]) -> None:
    with pytest.raises(RecordError, match=r"altered is incomplete, \d+ boards of \d+ are missing: the same command"):
        verify(rewrite(tmp_path, lines[:7]))
    with pytest.raises(RecordError, match="altered has no boards yet"):
        verify(rewrite(tmp_path, lines[:1]))
    lines[0]["plan"]["set"] = "hearth-9"
    with pytest.raises(UsageError, match="there is no set 'hearth-9' in this installation; it has: hearth-1"):
        verify(forge(tmp_path, lines))


@pytest.mark.parametrize(
    ("line", "name", "value", "problem"),
    [
        (0, "plan", [], "line 1: this is no plan of a yardstick"),
        (0, "agent", "greedy", "line 1: this is no plan of a yardstick"),
        (0, "groups", [["szmal/2"]], "line 1: this is no plan of a yardstick"),
        (0, "groups", [], r"has a board \d+ that its plan lacks"),
        (3, "points", "1", "line 4: no journal of a yardstick: TypeError points is '1'"),
        (3, "points", True, "line 4: no journal of a yardstick: TypeError points is True"),
        (3, "faults", None, "line 4: no journal of a yardstick: TypeError faults is None"),
        (3, "board", 10**9, "has a board 1000000000 that its plan lacks"),
        (3, "board", "3", "has a board 3 that its plan lacks"),
        (3, "board", [3], "line 4: no journal of a yardstick: TypeError unhashable type: 'list'"),
        (3, "worth", 1, r"line 4: no journal of a yardstick: TypeError .* unexpected keyword argument 'worth'"),
    ],
)
def test_a_forged_result_of_another_form_is_refused(
    tmp_path: Path, lines: list[dict[str, Any]], line: int, name: str, value: object, problem: str
) -> None:
    place = lines[line] if line or name == "plan" else lines[0]["plan"]
    place[name] = value
    with pytest.raises(RecordError, match=problem):
        verify(forge(tmp_path, lines))


def test_a_file_of_something_else_is_no_result(tmp_path: Path) -> None:
    (tmp_path / "poem").write_text("roses are red\n")
    with pytest.raises(RecordError, match="poem, line 1: no journal of a yardstick"):
        verify(tmp_path / "poem")
