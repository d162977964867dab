"""What the bench makes of the arena's samples, and how it shows them: all without time, process or socket."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import machine
from benchmarks.arena import arena_bench
from benchmarks.arena.report import crowd_lines, rate_lines
from benchmarks.arena.summary import (
    BARE,
    IN_TURN,
    Aim,
    Crowd,
    RateRow,
    RateSample,
    Round,
    Storm,
    Turnarounds,
    nearest_rank,
    rate_aims,
    turnarounds,
)
from benchmarks.arena.throughput import rows
from benchmarks.bench import main, parser
from benchmarks.machine import MachineTime

ONE, MANY, RATED = RateRow("first_option", 1), RateRow("first_option", 64), RateRow("first_option", 64, is_rated=True)


def sample(rate: float) -> RateSample:
    """Two seconds at so many decisions a second, of which the server's CPU took one and the bots' half a second."""
    return RateSample(round(2 * rate), 2.0, 1.0, 0.5, p50_ms=0.25, p99_ms=1.5, envelopes_sent=round(rate))


def one_round(speed: float, bare: float = 5_000) -> Round:
    """A machine of this speed: 0.8 of bare with one table, 4 times bare with 64, half of that with a store."""
    rates = {BARE: bare, IN_TURN: 2_500, ONE.name: 4_000, MANY.name: 20_000, RATED.name: 10_000}
    return {row: sample(rate * speed) for row, rate in rates.items()}


@pytest.mark.parametrize(
    ("percent", "value"), [(0, 1), (1, 1), (50, 50), (50.5, 51), (99, 99), (99.1, 100), (99.9, 100), (100, 100)]
)
def test_a_percentile_is_the_least_value_that_enough_do_not_exceed(percent: float, value: float) -> None:
    assert nearest_rank([float(number) for number in range(100, 0, -1)], percent) == value


def test_a_percentile_of_one_value_is_that_value_and_of_none_there_is_none() -> None:
    assert nearest_rank([7.0], 99.9) == 7.0
    with pytest.raises(ValueError, match="percentile of nothing"):
        nearest_rank([], 50)


def test_a_sample_is_counted_by_the_wall_and_costs_are_of_a_decision() -> None:
    found = sample(1_000)
    assert (found.rate, found.server_us, found.bots_us, found.gathered) == (1_000, 500, 250, 2)
    nothing = RateSample(0, 2.0, 1.0, 0.5, 0.0, 0.0)
    assert (nothing.rate, nothing.gathered) == (0, 0)


def test_time_that_went_elsewhere_is_what_was_neither_idle_nor_ours() -> None:
    before, after = MachineTime(all=1_000.0, busy=600.0), MachineTime(all=1_004.0, busy=603.0)
    assert before.elsewhere(after, ours=2.0) == 0.25
    assert before.elsewhere(after, ours=3.5) == 0.0  # clocks tick a hundred times a second
    assert before.elsewhere(before, ours=0.0) == 0.0


def test_what_the_host_stole_counts_as_busy_and_what_waited_for_a_disk_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "STAT", tmp_path / "stat")
    assert MachineTime.now() is None
    hertz = os.sysconf("SC_CLK_TCK")
    seconds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]  # user nice system idle iowait irq softirq steal guest guest_nice
    told = " ".join(str(value * hertz) for value in seconds)
    (tmp_path / "stat").write_text(f"cpu  {told}\ncpu0 {told}\n", encoding="ascii")
    assert MachineTime.now() == MachineTime(all=255.0, busy=231.0)


def test_a_row_shows_its_worst_round_where_the_system_tells() -> None:
    rounds = [{name: replace(one, elsewhere=share) for name, one in one_round(1.0).items()} for share in (0.02, 0.3)]
    shown = rate_lines(rounds, [ONE])
    assert [line.split()[-2:] for line in shown[1:4]] == [["30", "%"]] * 3
    assert [line.split()[-1] for line in rate_lines([one_round(1.0)], [ONE])[:4]] == ["elsewhere", "-", "-", "-"]


def test_ratios_are_taken_within_each_round_before_the_median() -> None:
    # The medians of the rates, 5,000 and 20,000, would make a ratio of 4 that is that of no round.
    rounds = [one_round(1.0, bare=20_000), one_round(0.1), one_round(4.0, bare=2_000)]
    found = {aim.what: aim.value for aim in rate_aims(rounds, [ONE, MANY, RATED])}
    assert found == {
        "first_option, 1 table, to bare": pytest.approx(0.8),
        "first_option, 64 tables, to bare": pytest.approx(4.0),
        "first_option, 1 table, to bare in turn": pytest.approx(1.6),
        "first_option, 64 tables, stored and rated, to the same without": pytest.approx(0.5),
    }


def test_targets_are_for_the_first_option_at_certain_tables() -> None:
    other, eight = RateRow("greedy", 64), RateRow("first_option", 8)
    rounds: list[Round] = [{**one_round(1.0), other.name: sample(50_000), eight.name: sample(50_000)}]
    found = {aim.what: (aim.target, aim.verdict) for aim in rate_aims(rounds, [ONE, eight, MANY, other])}
    assert found == {
        "first_option, 1 table, to bare": (0.7, "met"),
        "first_option, 8 tables, to bare": (None, ""),
        "first_option, 64 tables, to bare": (5.0, "missed"),
        "greedy, 64 tables, to bare": (None, ""),
        "first_option, 1 table, to bare in turn": (None, ""),
    }


def test_what_is_stored_and_rated_needs_the_same_row_without() -> None:
    assert rate_aims([one_round(1.0)], [RATED]) == []


def test_an_aim_is_met_when_just_reached_from_either_side() -> None:
    assert [Aim("", value, 0.6).verdict for value in (0.6, 0.59, None)] == ["met", "missed", "not measured"]
    assert [Aim("", value, 30.0, at_most=True).verdict for value in (30.0, 30.1)] == ["met", "missed"]


def test_rows_are_every_bot_at_every_number_and_the_first_also_stored() -> None:
    assert [row.name for row in rows(["first_option", "greedy"], [1, 64], [64, 256])] == [
        "first_option, 1 table",
        "first_option, 64 tables",
        "greedy, 1 table",
        "greedy, 64 tables",
        "first_option, 64 tables, stored and rated",
    ]


def test_an_answer_and_the_question_that_follows_it_are_put_together_whoever_saw_them() -> None:
    answered = [("a", 1.0), ("a", 3.0), ("b", 1.5)]
    asked = [("a", 3.5), ("b", 1.25), ("a", 1.25), ("b", 2.0)]
    found = turnarounds(answered, asked)
    assert sorted(found.took) == [0.25, 0.5, 0.5]
    assert found.odd == 0
    assert found.ms(50) == 500


def test_the_thinking_in_between_and_what_has_no_other_end_is_not_counted() -> None:
    assert turnarounds([("a", 5.0)], [("a", 1.0)]).took == []
    assert turnarounds([("a", 5.0)], []).took == []


def test_moments_that_do_not_fit_together_are_left_out_and_told() -> None:
    found = turnarounds([("a", 1.0), ("a", 2.0)], [("a", 2.5), ("a", 3.0)])
    assert (found.took, found.odd) == ([0.5], 2)


def test_a_share_of_bots_is_back_when_so_many_of_all_are() -> None:
    storm = Storm(bots=4, away_s=1.0, back_s=[3.0, 1.0, 2.0], gave_up=0)
    assert [storm.share_back(percent) for percent in (25, 50, 75, 76, 100)] == [1.0, 2.0, 3.0, None, None]


def many(gave_up: int = 0) -> Crowd:
    hundred = [number / 1_000 for number in range(1, 101)]
    return Crowd(
        bots=1_000,
        bytes_a_bot=46_000,
        connects_a_second=1_234.5,
        server_cpu_ms_a_connect=0.5,
        decisions_a_second=990,
        server_load=0.25,
        bare_decisions_a_second=1_000,
        bare_load=0.2,
        faults=0,
        arena=Turnarounds([2 * took for took in hundred]),
        bare=Turnarounds(hundred),
        storm=Storm(1_000, 1.5, [1.0] * 990 + [2.0] * (10 - gave_up), gave_up),
    )


def test_bots_that_never_come_back_are_told() -> None:
    told = crowd_lines(many(gave_up=3))
    assert "100 % after -" in told[6]
    assert told[7] == "3 bots were refused for good"


def test_the_document_is_json_with_every_sample_and_aim() -> None:
    plan = arena_bench.plan(parser().parse_args(["--tables", "1,64"]), rounds=1, seconds=2.0)
    found = arena_bench.ArenaFigures(plan, [ONE, MANY, RATED], (410, 11), [one_round(1.0)], [0.5], many())
    told = json.loads(json.dumps(arena_bench.document(found)))
    assert told["rounds"][0][MANY.name]["decisions_per_s"] == 20_000
    assert [aim["verdict"] for aim in told["aims"]] == ["met", "missed", "", "missed"]
    assert told["crowd"]["arena"] == {"count": 100, "odd": 0, "p50_ms": 100, "p99_ms": 198, "p99.9_ms": 200}
    assert [aim["verdict"] for aim in told["crowd"]["aims"]] == ["missed", "met"]


@pytest.mark.parametrize(
    ("wrong", "argument"),
    [
        (["--tables", "0"], "--tables"),
        (["--tables", "1,many"], "--tables"),
        (["--rated", "2000"], "--rated"),
        (["--crowd", "3"], "--crowd"),
        (["--crowd", "5000"], "--crowd"),
        (["--only", "server"], "--only"),
        (["--bots", "first_option,nobody"], "--bots"),
        (["--folder", "/there/is/no/such/folder"], "--folder"),
    ],
)
def test_what_cannot_be_measured_is_a_usage_error(
    wrong: list[str], argument: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(wrong)
    assert stopped.value.code == 2
    assert f"argument {argument}" in capsys.readouterr().err
