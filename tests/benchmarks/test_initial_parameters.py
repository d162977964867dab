"""The parameters of a new ladder, fitted in small: judged by other play, and the same again."""

import pytest

from benchmarks.initial_parameters import fit_to, main, outcomes


def test_numbers_are_fitted_to_play_and_judged_by_other_play() -> None:
    fitted = fit_to("greed", 100, "fit")
    assert fitted.found.beta > 25 / 6
    assert fitted.fitted < fitted.library
    assert fitted.as_begun < fitted.library
    first, again = (list(outcomes("greed", [0.0, 0.3, 0.6, 0.9, 1.0], 5, "one")) for _ in range(2))
    assert first == again
    assert all(len(set(outcome.players)) == 4 for outcome in first)


def test_the_program_prints_a_row_for_each_game(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--games", "greed", "--matches", "20"]) == 0
    row = capsys.readouterr().out.splitlines()[-1].split()
    assert (row[0], row[1]) == ("greed", "20")
    assert float(row[2]) > 0


def test_an_unknown_game_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--games", "whist"])
    assert ended.value.code == 2
    assert "no whist; there are steal_and_plunder" in capsys.readouterr().err
