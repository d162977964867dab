"""The measurement of the search for pairs, in small."""

from __future__ import annotations

import json

import pytest

from benchmarks.collusion.__main__ import count_alarms, main, plant


def test_the_command_counts_alarms_and_finds_pacts(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--games", "", "--ladders", "2", "--pacts", "1", "--bots", "12", "--each", "150", "--seed", "3"]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["planted"] == []
    assert (found["alarms"]["ladders"], found["alarms"]["alarms"]) == (2, 0)
    assert found["alarms"]["tests"] > 300
    (pact,) = found["pacts"]
    assert pact["together"] > 20
    assert 0 < pact["found"] <= 150
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2].endswith("0 of 2 name a pair")
    assert lines[-1].endswith(f"{pact['together']} ({pact['found']})")


def test_an_unknown_game_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--games", "chess"])
    assert "no game 'chess' here" in capsys.readouterr().err


def test_a_ladder_without_a_planted_pair_has_nothing_to_find() -> None:
    played = plant("greed", "honest", 25, "in small")
    assert (played.found, played.by_places, played.others) == (None, None, 0)


def test_no_ladder_gives_no_alarm() -> None:
    assert count_alarms(0, 12, 100, 1).alarms == 0
