"""The journal: what was said to be written is there after kill -9, and what was cut off is cut away."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cutpurse.engine.errors import UsageError
from cutpurse.lab.tournament.progress_log import Journal
from cutpurse.lab.tournament.tournament_results import PlayedBoard, TournamentMatch
from cutpurse.wire.errors import NotFound

PLAN = {"tournament": {"game": "greed", "seed": "0"}, "place": {"where": "here"}, "rounds": ["2 boards"]}


def board(number: int) -> PlayedBoard:
    match = TournamentMatch((1, 0), (1, 2), (9, -3), ("normal", "crashed"))
    return PlayedBoard(number, (0, 1), (match,), {0: 3})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "cup.journal"
    with Journal(path) as journal:
        journal.settle(PLAN)
        for number in range(3):
            journal.add(board(number))
        journal.ask(3, "abc")
        journal.ask(3, "def")
    return path


def test_all_that_was_written_is_read(path: Path) -> None:
    with Journal(path) as journal:
        assert journal.plan == PLAN
        assert journal.played == {number: board(number) for number in range(3)}
        assert journal.asked == {3: ["abc", "def"]}
        journal.settle(PLAN)


def test_wherever_it_was_cut_off_the_lines_before_count(path: Path) -> None:
    whole = path.read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == ord("\n")]
    for cut in range(ends[0], len(whole)):
        path.write_bytes(whole[:cut])
        with Journal(path) as journal:
            assert len(journal.played) + len(journal.asked.get(3, ())) == sum(end <= cut for end in ends) - 1
        assert path.read_bytes() == whole[: max(end for end in ends if end <= cut)]


def test_one_that_was_cut_off_in_its_plan_begins_anew(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:60])
    with Journal(path) as journal:
        assert journal.plan is None
        journal.settle(PLAN)


def test_to_look_at_one_changes_nothing_and_needs_no_lock(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5])
    before = path.read_bytes()
    with Journal(path, is_to_be_written=False) as looked_at, Journal(path):
        assert len(looked_at.played) == 3
    with Journal(path, is_to_be_written=False):
        pass
    path.write_bytes(before)
    with Journal(path, is_to_be_written=False):
        assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda lines: ["hello", *lines], "line 1: no journal of a tournament: ValueError no JSON"),
        (lambda lines: [lines[0].replace("greed", "szmal"), *lines[1:]], "line 1: .* the plan was altered"),
        (
            lambda lines: [lines[0].replace("tournament/1", "tournament/9"), *lines[1:]],
            "this version reads tournament/1",
        ),
        (lambda lines: [lines[0], "3"], "line 2: no journal of a tournament: AttributeError|TypeError"),
        (lambda lines: [lines[0], "{}"], "line 2: no journal of a tournament: KeyError"),
        (lambda lines: [lines[0], lines[1].replace("[1,2]", "[2,2]")], "line 2"),
        (lambda lines: [lines[0], lines[1].replace('"field":[0,1]', '"field":[0,2]')], "a match is not of its field"),
        (lambda lines: [lines[0], json.dumps(json.loads(lines[1]) | {"matches": []})], "board 0 has no match"),
        (lambda lines: [lines[0], lines[1].replace("[1,0]", '["1",0]')], "are no whole numbers"),
    ],
)
def test_what_is_no_journal_is_refused_in_a_line(path: Path, change, said: str) -> None:  # type: ignore[no-untyped-def]
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("".join(line + "\n" for line in change(lines)), encoding="utf-8")
    before = path.read_bytes()
    with pytest.raises(UsageError, match=said) as refused:
        Journal(path)
    assert "\n" not in str(refused.value)
    assert path.read_bytes() == before


def test_a_file_that_is_something_else_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.write_text("a line without an end", encoding="utf-8")
    with pytest.raises(UsageError, match="is no journal of a tournament"):
        Journal(path)
    assert path.read_text(encoding="utf-8") == "a line without an end"


def test_another_tournament_and_a_second_process_are_refused(path: Path, tmp_path: Path) -> None:
    with Journal(path) as journal:
        with pytest.raises(UsageError, match=r"is of another tournament: where, seed differ"):
            journal.settle({**PLAN, "tournament": {"game": "greed", "seed": "1"}, "place": {"where": "there"}})
        with pytest.raises(UsageError, match="is being run by another process"):
            Journal(path)
    with pytest.raises(NotFound, match="cannot be opened"):
        Journal(tmp_path / "no" / "folder")
