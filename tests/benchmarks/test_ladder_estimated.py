"""Whether estimates hold: that the measure of it plays ladders whose truth it knows, and counts right."""

import json
from dataclasses import replace

import pytest

from benchmarks.ladder import estimated as program
from benchmarks.ladder.estimated import Case, looks_of, measured
from benchmarks.ladder.synthetic_bots import Nature

SMALL = Case(Nature(bots=8), games=(10, 40))


@pytest.mark.parametrize(
    "case",
    [SMALL, replace(SMALL, boards="rotation"), Case(Nature(bots=16), "duplicate", games=(20, 40))],
    ids=["plain", "rotation", "duplicate"],
)
def test_everybody_has_played_so_many_games_at_a_look(case: Case) -> None:
    for look in looks_of(case, "games"):
        each = {"plain": 1, "rotation": 4, "duplicate": 1}[case.boards]
        seats = sum(len(who) for who, _ in look.results) * each
        assert look.games * case.nature.bots <= seats < (look.games + 4) * case.nature.bots
        assert look.ranked == list(range(case.nature.bots))
    assert list(looks_of(case, "games")) == list(looks_of(case, "games"))


def test_versions_follow_each_other_and_the_newest_is_ranked() -> None:
    *_, last = looks_of(replace(SMALL, versions=4), "versions")
    assert last.ranked == [*range(24, 32)]
    assert last.parents == {player: player - 8 for player in range(8, 32)}
    assert set(last.truth) == set(range(32))


def test_truth_moves_where_bots_drift() -> None:
    first, last = looks_of(replace(SMALL, nature=Nature(bots=8, drift=0.5)), "drift")
    assert first.truth != last.truth


def test_what_is_measured_is_a_share_of_bots() -> None:
    found = measured(SMALL, "shares", 2)
    assert list(found) == [10, 40]
    for one in found.values():
        assert all(8 * share == pytest.approx(round(8 * share)) for share in [*one.skills, *one.placed])
        assert len(one.places) == sum(share > 0 for share in one.placed)
        assert all(0 <= share <= 1 for share in one.places)
    assert sum(found[40].width) < sum(found[10].width)


def test_the_program_prints_a_row_for_each_look(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(program.CASES, "four bots", Case(Nature(4), games=(5, 10)))
    assert program.main(["--cases", "four bots", "--runs", "1"]) == 0
    assert [line.split()[:3] for line in capsys.readouterr().out.splitlines()[-2:]] == [
        ["four", "bots", "5"],
        ["four", "bots", "10"],
    ]
    assert program.main(["--cases", "four bots", "--runs", "1", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["cases"]["four bots"]) == ["5", "10"]


def test_speed_is_a_row_for_each_size(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "SIZES", (8, 12))
    assert program.main(["--speed", "50"]) == 0
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines()[-2:]] == [["8", "50"], ["12", "50"]]
