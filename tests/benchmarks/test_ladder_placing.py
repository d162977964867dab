"""How soon a newcomer is placed: that the measure of it plays a ladder until it is."""

import pytest

from benchmarks.ladder import placing as program
from benchmarks.ladder.accuracy import kendall, shown_order
from benchmarks.ladder.placing import newcomer
from cutpurse.leaderboard.estimates.estimated import Estimated
from cutpurse.leaderboard.placing import ENOUGH_BOARDS, MIN_BOARDS
from cutpurse.server.ladder_config import NUMBERS


def test_a_newcomer_of_any_game_is_placed_after_four_to_thirty_matches() -> None:
    for game, settings in NUMBERS.items():
        found = newcomer(settings, 6, 1.0, game)
        assert MIN_BOARDS <= found.matches <= ENOUGH_BOARDS
        assert found == newcomer(settings, 6, 1.0, game)


def test_bots_that_are_closer_are_placed_sooner() -> None:
    settings = NUMBERS["greed"]
    near = [newcomer(settings, 6, 0.3, f"near {run}").matches for run in range(4)]
    far = [newcomer(settings, 6, 1.5, f"far {run}").matches for run in range(4)]
    assert sum(near) < sum(far)


def test_the_program_prints_a_row_for_each_game_and_spread(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "SETTLED", 10)
    assert program.main(["--bots", "4", "--runs", "1"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[-2 * len(NUMBERS) :]]
    assert [row[0] for row in rows] == [game for game in NUMBERS for _ in program.SPREADS]
    assert all(MIN_BOARDS <= int(row[4]) <= ENOUGH_BOARDS for row in rows)


def test_the_order_of_a_ladder_has_placed_bots_first() -> None:
    found = {
        1: Estimated(20.0, 19.0, 21.0, 1, 2),
        2: Estimated(30.0, 10.0, 50.0, 0, 0),
        3: Estimated(25.0, 24.0, 26.0, 1, 2),
        4: Estimated(40.0, 39.0, 41.0, 0, 0),
    }
    boards = {1: 10, 2: 29, 3: 10, 4: MIN_BOARDS - 1, 5: 0}
    order = shown_order([1, 2, 3, 4, 5], found, boards, 4.0)
    assert kendall([4, 2, 5, 3, 1], order) == 1.0
