"""Equal bots come out equal: beside a weak bot no table calls one of three equal ones better, but for chance."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from itertools import permutations
from multiprocessing import get_context
from pathlib import Path
from typing import Final

import pytest

from cutpurse.games import GAMES
from cutpurse.sdk.tournament.seats import Seats
from tests.sdk.tournament.equal_bots import TurningCircle, equal_bots, is_apart, play_boards, standings_of
from tests.sdk.tournament.test_tournament_command import boards_of, run, write

DEALS: Final = 60


def apart(game: str, number: int) -> bool:
    """Return whether the table of tournament `number` of a game calls equal bots apart."""
    tournament = equal_bots(game, number, "plain", DEALS)
    return is_apart(standings_of(tournament, play_boards(tournament, Seats("plain", tournament.seed))))


@pytest.mark.parametrize("game", GAMES)
def test_equal_bots_are_not_told_apart(game: str) -> None:
    """At 5 of 100 tables two or more of six have a probability of 3 %; the seeds are fixed."""
    assert sum(apart(game, number) for number in range(6)) <= 1


@pytest.mark.soak
@pytest.mark.timeout(7_200)
@pytest.mark.parametrize("game", GAMES)
def test_equal_bots_are_told_apart_in_at_most_5_of_100_tournaments(game: str) -> None:
    with get_context("spawn").Pool(2) as processes:
        told_apart = sum(processes.map(partial(apart, game), range(200), chunksize=5))
    assert told_apart <= 10


@pytest.mark.parametrize("names", [("r1", "r2", "r3"), ("r3", "r2", "r1")], ids="-".join)
@pytest.mark.parametrize(("boards", "deals"), [("plain", 240), ("rotation", 60)])
def test_the_place_in_the_list_decides_nothing(names: tuple[str, ...], boards: str, deals: int, tmp_path: Path) -> None:
    """Bag-O-Loot, where a weak neighbour is worth most: the last of the list had half as much again as the first."""
    equals = ", ".join(f'{{name="{name}", bot="random"}}' for name in names)
    text = f'game = "bag_o_loot"\nseats = 4\nboards = "{boards}"\nbots = ["first_option", {equals}]\ndeals = {deals}\n'
    done = run("run", write(tmp_path, text), "--json")
    assert done.exit_code == 0
    rows = [row for row in json.loads(done.stdout)["table"] if row["bot"] != "first_option"]
    assert len(rows) == 3
    for one, other in permutations(rows, 2):
        assert one["low"] <= other["high"]
        assert one["best"] <= other["worst"]
    matches = [match["bots"] for board in boards_of(tmp_path / "cup.toml.journal") for match in board["matches"]]
    left = Counter((seats[seat - 1], bot) for seats in matches for seat, bot in enumerate(seats))
    assert max(abs(left[pair] - 80) for pair in permutations(range(4), 2)) <= 3  # of 240 matches


@pytest.mark.parametrize(("boards", "deals"), [("plain", 240), ("rotation", 150)])
def test_with_the_turning_circle_of_old_the_place_in_the_list_decides(boards: str, deals: int) -> None:
    """The planted fault: the tests above would see it."""
    tournament = equal_bots("bag_o_loot", 0, boards, deals)
    assert is_apart(standings_of(tournament, play_boards(tournament, TurningCircle(boards, tournament.seed))))
