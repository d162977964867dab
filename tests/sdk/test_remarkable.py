"""What makes a match worth looking at, by its result and by its record."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from cutpurse.cli.commands.match_best import best_matches, remark_text
from cutpurse.sdk.local import play
from cutpurse.sdk.matches.match_file import read_matches
from cutpurse.sdk.matches.record_league import answer_about, record_league
from cutpurse.sdk.matches.remark import OF_RECORD, Remark, RemarkKind
from cutpurse.sdk.matches.remarkable import ranked, record_remarks, result_remark
from cutpurse.v1 import ladder_pb2


def match_of(
    places: Sequence[int], scores: Sequence[int], skills: Sequence[float] = (), game: str = "greed", void: str = ""
) -> ladder_pb2.MatchShown:
    seats = [ladder_pb2.MatchSeat(place=place, score=score) for place, score in zip(places, scores, strict=True)]
    for seat, mu in zip(seats, skills, strict=False):
        seat.before.CopyFrom(ladder_pb2.SkillShown(mu=mu, sigma=1.0))
    return ladder_pb2.MatchShown(game=game, decisions=9, seats=seats, void_cause=void)


def test_an_upset_is_a_win_that_was_unlikely() -> None:
    upset = result_remark(RemarkKind.UPSET, match_of([2, 1, 3], [3, 6, 1], [32.0, 20.0, 25.0]))
    assert upset is not None
    assert 0.02 < upset.value < 0.04  # 12 points behind, of a spread of 6.06
    for match in (
        match_of([1, 2], [6, 3], [32.0, 20.0]),  # the better one won
        match_of([1, 2], [6, 3]),  # not rated
        match_of([1, 1], [6, 6], [20.0, 32.0]),  # won together
        match_of([2, 1], [3, 6], [32.0, 20.0], void="void_server"),
    ):
        assert result_remark(RemarkKind.UPSET, match) is None


def test_the_closest_end_is_compared_within_its_game() -> None:
    matches = [
        match_of([1, 2], [6, 2]),
        match_of([2, 1], [10_000, 90_000], game="szmal"),
        match_of([2, 1], [70_000, 90_000], game="szmal"),
        match_of([1, 1], [5, 5]),
    ]
    pairs = [(match, remark) for match in matches if (remark := result_remark(RemarkKind.CLOSE, match))]
    assert [remark.value for _, remark in ranked(pairs)] == [0, 20_000, 4, 80_000]


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("records") / "run.jsonl"
    play("bag_o_loot", ["greedy", "random", "random"], matches=12, record=file, seed="look once")
    return file


def test_the_command_lists_the_greatest_first(records: Path) -> None:
    content = records.read_bytes()
    remarks: dict[RemarkKind, list[Remark]] = {kind: [] for kind in RemarkKind}
    for number, (filed, line) in enumerate(zip(read_matches(content), content.splitlines(True), strict=True), 1):
        for kind, remark in record_remarks(answer_about(number, filed), line).items():
            remarks[kind].append(remark)
    assert len(remarks[RemarkKind.STEAL]) > 3
    league = record_league(records)
    for kind in OF_RECORD:
        page, of_match = best_matches(league, ladder_pb2.ListMatchesRequest(), kind)
        values = [of_match[match.match].value for match in page.matches]
        assert values == sorted([remark.value for remark in remarks[kind]], reverse=True)
    page, of_match = best_matches(league, ladder_pb2.ListMatchesRequest(limit=1), RemarkKind.STEAL)
    (match,) = page.matches
    largest = max(remark.value for remark in remarks[RemarkKind.STEAL])
    assert remark_text(of_match[match.match]).startswith(f"steal of {int(largest)} cards (--at ")
