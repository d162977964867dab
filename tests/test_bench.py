"""What the bench makes of its samples; and that its worker still fits the engine."""

import json
import os
import re
import sys
from pathlib import Path

import pytest

from benchmarks import rungs
from benchmarks.bench import main, parser
from benchmarks.engine_bench import EngineFigures, missed_gate
from benchmarks.protocol import Sample, Worker, WorkerFailed
from benchmarks.report import Ratio, Round, costs, median_rate, rates, ratios
from benchmarks.rows_bench import RowFigures
from benchmarks.rows_bench import costs as row_costs
from benchmarks.rows_bench import lines as row_lines
from cutpurse.games import GAMES
from tests.builds import is_compiled


def sample(per_cpu_s: float, free: float | None = None, cpu_s: float = 2.0) -> Sample:
    """A sample of this rate; the wall took thrice as long, which no figure may show."""
    return Sample(round(per_cpu_s * cpu_s), None if free is None else round(free * cpu_s), cpu_s, 3 * cpu_s)


def one_round(speed: float, hearts: float = 400_000) -> dict[str, Sample]:
    """Two games, `greed` at 100,000 and `szmal` at 400,000 decisions, half of them free, on a machine of this speed."""
    rows: dict[str, Sample] = {}
    for game, every in (("greed", 100_000), ("szmal", 400_000)):
        rows[f"cutpurse/{game}"] = sample(every * speed, every / 2 * speed)
        rows[f"cutpurse/{game}/view"] = sample(every / 2 * speed, every / 4 * speed)
        rows[f"cutpurse/{game}/seen"] = sample(every * 0.8 * speed, every / 4 * speed)
        rows[f"cutpurse/{game}/inside"] = sample(every * 1.25 * speed)
        for cost, calls in (("fork", 200_000), ("save", 100_000), ("load", 50_000)):
            rows[f"cutpurse/{game}/{cost}"] = sample(calls * speed)
    rows["open_spiel/hearts"] = sample(hearts * speed)
    rows["open_spiel/hearts/string"] = sample(250_000 * speed)
    rows["open_spiel/gin_rummy"] = sample(50_000 * speed)
    rows["rlcard/uno"] = sample(80_000 * speed)
    return rows


BUILD = "compiled" if is_compiled else "cutpurse"
ROUNDS: list[Round] = [one_round(1.0), one_round(0.25), one_round(2.0)]
GAMES_OF_THE_ROUNDS = ["greed", "szmal"]


def test_a_kind_of_row_costs_what_playouts_take_longer_with_it() -> None:
    rounds = [
        {
            "cutpurse/greed/bare": sample(100_000 * speed),
            "cutpurse/greed/seen": sample(50_000 * speed),
            "cutpurse/greed/proof": sample(25_000 * speed),
            "cutpurse/greed/planes": sample(20_000 * speed),
            "open_spiel/hearts": sample(200_000 * speed),
            "open_spiel/hearts/string": sample(100_000 * speed),
        }
        for speed in (1.0, 0.5, 2.0)
    ]
    figures = RowFigures(rounds, 2.0, [0.0] * 3, ["greed"], {})
    (by_kind,) = row_costs(figures).values()
    assert {kind: value and round(value, 3) for kind, value in by_kind.items()} == {
        "view, none": None,
        "view, seen": 10,
        "view, proof": 30,
        "planes": 10,
        "numbers": None,
        "mask": None,
        "16 events": None,
    }
    text = "\n".join(row_lines(figures))
    assert re.search(r"OpenSpiel hearts, information state string +5\.0\n", text)
    assert re.search(r"RLCard uno, state +not here", text)


def without_peers(rounds: list[Round]) -> list[Round]:
    return [{row: each for row, each in one.items() if row.startswith("cutpurse/")} for one in rounds]


def with_compiled(rounds: list[Round], faster: float) -> list[Round]:
    """The same rounds, where our compiled build was measured too, so much faster."""
    return [
        {
            **one,
            **{
                row.replace("cutpurse/", "compiled/"): sample(each.done / each.cpu_s * faster)
                for row, each in one.items()
                if row.startswith("cutpurse/")
            },
        }
        for one in rounds
    ]


def by_what(found: list[Ratio]) -> dict[str, tuple[float | None, str]]:
    return {ratio.what: (ratio.value and round(ratio.value, 6), ratio.verdict) for ratio in found}


def test_a_rate_is_the_median_over_the_rounds_by_cpu_seconds() -> None:
    assert median_rate(ROUNDS, "open_spiel/hearts") == 400_000
    assert median_rate([one_round(3.0), one_round(1.0)], "open_spiel/hearts") == 800_000


def test_forced_decisions_count_for_the_ratios_on_both_sides() -> None:
    assert by_what(ratios(ROUNDS, GAMES_OF_THE_ROUNDS, all_games=2)) == {
        "ours (2 of 2 games), to OpenSpiel hearts": (0.5, "met"),
        "ours (2 of 2 games) with its own loop, to OpenSpiel hearts": (0.625, ""),
        "our slowest (greed), to OpenSpiel gin_rummy": (2.0, "met"),
        "ours (2 of 2 games) with a view, to hearts with its string": (0.4, "met"),
        "ours (2 of 2 games) with a view of what was seen, to hearts with its string": (0.64, ""),
        "ours (2 of 2 games) with a view, to OpenSpiel hearts": (0.25, ""),
        "ours (2 of 2 games), to RLCard uno (with its observation)": (2.5, "missed"),
        "ours (2 of 2 games) with a view, to RLCard uno": (1.25, ""),
    }


def test_a_ratio_is_taken_within_each_round_before_the_median() -> None:
    # The medians of the rates are 200,000 and 800,000: their ratio, 0.25, is that of no round.
    drifting: list[Round] = [one_round(1.0, hearts=1_000_000), one_round(0.1), one_round(4.0, hearts=200_000)]
    assert ratios(drifting, GAMES_OF_THE_ROUNDS, all_games=2)[0].value == pytest.approx(0.5)


def test_a_target_is_met_when_just_reached() -> None:
    assert [Ratio("", value, 0.4).verdict for value in (0.4, 0.3999, None)] == ["met", "missed", "not measured"]
    assert Ratio("", 5.0, None).verdict == ""


def test_a_part_of_the_games_is_not_held_to_the_targets() -> None:
    found = ratios(ROUNDS, ["szmal"], all_games=2)
    assert found[0].what == "ours (1 of 2 games), to OpenSpiel hearts"
    assert found[0].value == pytest.approx(1.0)
    assert {ratio.target for ratio in found} == {None}
    assert {ratio.verdict for ratio in found} == {""}


def test_without_peers_our_own_rows_stand_alone() -> None:
    alone = without_peers(ROUNDS)
    assert {ratio.verdict for ratio in ratios(alone, GAMES_OF_THE_ROUNDS, all_games=2)} == {"not measured"}
    assert rates(alone, GAMES_OF_THE_ROUNDS) == [
        ("greed", 100_000, 50_000),
        ("greed, its own loop", 125_000, None),
        ("greed, a view each time", 50_000, 25_000),
        ("greed, a view of what was seen each time", 80_000, 25_000),
        ("szmal", 400_000, 200_000),
        ("szmal, its own loop", 500_000, None),
        ("szmal, a view each time", 200_000, 100_000),
        ("szmal, a view of what was seen each time", 320_000, 100_000),
    ]


def test_costs_are_microseconds_of_one_call() -> None:
    assert costs(ROUNDS, ["greed"]) == [("greed", [5.0, 10.0, 20.0])]


def test_a_compiled_build_has_rows_ratios_and_targets_of_its_own() -> None:
    rounds = with_compiled(ROUNDS, 2.0)
    found = by_what(ratios(rounds, GAMES_OF_THE_ROUNDS, all_games=2))
    assert found["ours (2 of 2 games), to OpenSpiel hearts"] == (0.5, "met")
    assert found["ours, compiled (2 of 2 games), to OpenSpiel hearts"] == (1.0, "missed")
    assert found["ours, compiled (2 of 2 games) with its own loop, to OpenSpiel hearts"] == (1.25, "met")
    assert found["our slowest, compiled (greed), to OpenSpiel gin_rummy"] == (4.0, "")
    assert found["ours, compiled to pure"] == (2.0, "met")
    of_games = {name: every for name, every, _ in rates(rounds, GAMES_OF_THE_ROUNDS)}
    assert (of_games["szmal"], of_games["szmal, compiled"]) == (400_000, 800_000)
    assert of_games["szmal, compiled, a view each time"] == 400_000
    assert dict(costs(rounds, GAMES_OF_THE_ROUNDS))["greed, compiled"] == pytest.approx([2.5, 5.0, 10.0])
    assert not [what for what in by_what(ratios(ROUNDS, GAMES_OF_THE_ROUNDS, all_games=2)) if "compiled" in what]


def figures(rounds: list[Round], games: list[str]) -> EngineFigures:
    return EngineFigures(rounds, seconds=1.0, load=[0.0], games=games, all_games=2, versions={})


def test_a_compiled_build_below_the_gate_is_found_in_all_games_only() -> None:
    slow = with_compiled(ROUNDS, 1.79)
    missed = missed_gate(figures(slow, GAMES_OF_THE_ROUNDS))
    assert missed is not None
    assert missed.value == pytest.approx(1.79)
    assert missed_gate(figures(slow, ["szmal"])) is None
    assert missed_gate(figures(with_compiled(ROUNDS, 1.8), GAMES_OF_THE_ROUNDS)) is None
    assert missed_gate(figures(ROUNDS, GAMES_OF_THE_ROUNDS)) is None


@pytest.mark.parametrize("wrong", [["--rounds", "0"], ["--seconds", "0"], ["--seconds", "nan"], ["--rounds", "two"]])
def test_what_cannot_be_measured_is_a_usage_error(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        parser().parse_args(wrong)
    assert stopped.value.code == 2
    assert f"argument {wrong[0]}" in capsys.readouterr().err


def test_an_unknown_game_is_a_usage_error_that_names_the_known(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--games", "whist", "--no-peers"])
    assert stopped.value.code == 2
    assert f"no game is called 'whist'; there are: {', '.join(GAMES)}" in capsys.readouterr().err


def test_the_worker_measures_every_game() -> None:
    with Worker(Path(sys.executable), "benchmarks.engine") as worker:
        for game in GAMES:
            bare, looked = (worker.measure(f"{BUILD}/{game}{how}", 0.001) for how in ("", "/view"))
            for each in (bare, looked):
                assert each.free is not None
                assert 0 < each.free <= each.done
                assert each.cpu_s >= 0.001
            for cost in ("fork", "save", "load"):
                calls = worker.measure(f"{BUILD}/{game}/{cost}", 0.001)
                assert calls.free is None
                assert calls.done % 64 == 0
                assert calls.done > 0


def test_a_worker_that_does_not_come_up_is_told_of(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(WorkerFailed, match=r"benchmarks\.nothing ended at start"):
        Worker(Path(sys.executable), "benchmarks.nothing")
    assert "No module named benchmarks.nothing" in capfd.readouterr().err


def test_ratings_are_measured_beside_the_package_and_a_ledger_is_computed_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--only", "ratings", "--rounds", "1", "--matches", "2000", "--folder", str(tmp_path)]
    assert main([*options, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["engine"] is found["queries"] is None
    assert found["versions"]["trueskill"]
    figures = found["ratings"]
    assert figures["matches"] == 1990  # one in 200 is void
    assert [row["what"] for row in figures["rows"]] == [
        *(f"rate, {seats} seats" for seats in (2, 4, 8)),
        "recompute, 4 seats",
    ]
    assert all(row["package_us"] > row["ours_us"] > 0 and row["ratio"] > 1 for row in figures["rows"])
    assert list(tmp_path.iterdir()) == []


def test_the_rungs_are_measured_in_small(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rungs, "RUNGS", "random,greedy")
    monkeypatch.setattr(rungs, "GAMES", {"greed": ("greed", {})})
    monkeypatch.delenv(rungs.PLAYOUTS, raising=False)
    assert main(["--only", "rungs", "--rung-matches", "24", "--json"]) == 0
    (rung,) = json.loads(capsys.readouterr().out)["rungs"]
    assert (rung["bot"], rung["below"], rung["matches"]) == ("greedy", "random", 24)
    assert rung["first_places"] > 0.5
    assert rungs.PLAYOUTS not in os.environ
    assert main(["--only", "rungs", "--rung-matches", "4"]) == 0
    assert "greedy against random" in capsys.readouterr().out
