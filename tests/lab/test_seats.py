"""Who sits where in a tournament: everybody in each seat, and left of each bot they meet, as often as is due."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import pytest

from cutpurse.engine.seating import neighbours
from cutpurse.lab.journal_file import digest_of
from cutpurse.lab.tournament.seats import Seats
from cutpurse.leaderboard.formats.pairings import Field, gauntlet, round_robin
from tests.cli.test_local_tournament import GREED, boards_of, run, write

FOUR = (
    'game = "greed"\nseats = 4\ndeals = 5\nbots = ["random", "greedy", "first_option", {name = "b", bot = "random"}]\n'
)


def excess(matches: Sequence[Field]) -> tuple[float, float]:
    """Return how far a bot's matches in a seat, and left of a bot it met, are from what is due, at most."""
    met: Counter[tuple[int, int]] = Counter()
    left: Counter[tuple[int, int]] = Counter()
    sat: Counter[tuple[int, int]] = Counter()
    seats = len(matches[0])
    for match in matches:
        met.update(permutations(match, 2))
        left.update(neighbours(match))
        sat.update((bot, seat) for seat, bot in enumerate(match))
    played = Counter(bot for match in matches for bot in match)
    return (
        max(abs(sat[bot, seat] - played[bot] / seats) for bot in played for seat in range(seats)),
        max(abs(left[pair] - met[pair] / (seats - 1)) for pair in met),
    )


@pytest.mark.parametrize("boards", ["plain", "rotation"])
@pytest.mark.parametrize(
    "fields",
    [
        [(0, 1, 2, 3)] * 60,
        round_robin(range(7), 4, 20),
        [field for field in round_robin(range(5), 3, 3) for _ in range(7)],
        gauntlet(0, range(1, 10), 4, 20),
        round_robin(range(9), 6, 30),
        round_robin(range(3), 2, 30),
    ],
    ids=["one field", "seven bots", "deals", "gauntlet", "six seats", "two seats"],
)
def test_everybody_who_meets_sits_as_often_as_is_due(boards: str, fields: list[Field]) -> None:
    seats = Seats(boards, "cup")
    matches: list[Field] = []
    for field in fields:
        board = seats.next(field)
        assert all(sorted(match) == sorted(field) for match in board)
        assert len(board) == (len(field) if boards == "rotation" else 1)
        matches += board
        if boards == "rotation":
            for column in zip(*board, strict=True):
                assert sorted(column) == sorted(field)  # every bot in every seat once
        of_seats, of_neighbours = excess(matches)
        assert of_seats <= (0 if boards == "rotation" else 2)
        assert of_neighbours <= 3


def test_the_seats_follow_from_the_fields_and_the_seed() -> None:
    fields = round_robin(range(6), 4, 4)
    drawn = []
    for seed in ("0", "0", "1"):
        seats = Seats("plain", seed)
        drawn.append([seats.next(field) for field in fields])
    assert drawn[0] == drawn[1] != drawn[2]


def test_a_tournament_that_was_broken_off_goes_on_with_the_same_seats(tmp_path: Path) -> None:
    file, journal = write(tmp_path, FOUR + 'boards = "plain"'), tmp_path / "cup.toml.journal"
    assert run("run", file).exit_code == 0
    whole = boards_of(journal)
    lines = journal.read_text(encoding="utf-8").splitlines(keepends=True)
    journal.write_text("".join(lines[:3]), encoding="utf-8")
    assert run("run", file).exit_code == 0
    assert boards_of(journal) == whole
    assert len({tuple(match["bots"]) for board in whole for match in board["matches"]}) > 3


def test_a_journal_with_other_seats_is_refused(tmp_path: Path) -> None:
    file, journal = write(tmp_path, FOUR), tmp_path / "cup.toml.journal"
    assert run("run", file).exit_code == 0
    plan, first, *others = journal.read_text(encoding="utf-8").splitlines()
    board = json.loads(first)
    board["matches"][0]["bots"] = board["matches"][0]["bots"][::-1]
    journal.write_text("\n".join([plan, json.dumps(board), *others, ""]), encoding="utf-8")
    refused = run("run", file)
    assert refused.exit_code == 2
    assert "the bots of board 0 sat in" in refused.stderr
    assert "the journal was altered" in refused.stderr


@pytest.mark.parametrize("command", ["run", "show"])
def test_a_journal_from_before_neighbours_varied_is_refused_by_name(tmp_path: Path, command: str) -> None:
    """Its seats turned by one from board to board, so what is left to play would not fit what was played."""
    file, journal = write(tmp_path, GREED), tmp_path / "cup.toml.journal"
    assert run("run", file).exit_code == 0
    plan, *boards = journal.read_text(encoding="utf-8").splitlines()
    settled = json.loads(plan)["plan"]
    del settled["seating"]
    line = {"schema": "tournament/1", "digest": digest_of(settled), "plan": settled}
    journal.write_text("\n".join([json.dumps(line), *boards, ""]), encoding="utf-8")
    refused = run(command, file)
    assert refused.exit_code == 2
    assert "is of another tournament: seating differ; name another journal with --journal" in refused.stderr
