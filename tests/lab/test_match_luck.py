"""The luck of one match, as its page shows it."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from cutpurse.engine.match import EndCause, Match
from cutpurse.engine.record import Record, read_record, write_record
from cutpurse.games import game_named
from cutpurse.lab import match_luck
from cutpurse.lab.luck import total_luck
from cutpurse.lab.match_luck import events_of_one_match, luck_of_one_match
from cutpurse.sdk.local import play
from cutpurse.sdk.matches.match_file import read_matches


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("records") / "mine.jsonl"
    play("greed", ["greedy", "random"], seed=2, record=file)
    return file


@pytest.fixture(scope="module")
def record(file: Path) -> Record:
    return next(read_matches(file.read_bytes())).record()


def test_the_luckiest_draws_are_the_greatest_gifts_in_order_of_the_match(record: Record) -> None:
    events = events_of_one_match(record)
    found = luck_of_one_match(record)
    assert found is not None
    assert list(found.by_seat) == pytest.approx(total_luck(events, 2))
    gifts = sorted([max(event.luck) for event in events], reverse=True)[:3]
    assert sorted([draw.luck for draw in found.luckiest], reverse=True) == gifts
    assert [draw.choices_after for draw in found.luckiest] == sorted(draw.choices_after for draw in found.luckiest)
    by_choices = {event.choices_after: event for event in events}
    for draw in found.luckiest:
        assert by_choices[draw.choices_after].luck[draw.seat] == draw.luck


def test_choices_after_an_event_are_those_up_to_the_next_question(record: Record) -> None:
    events = events_of_one_match(record)
    assert (events[0].choices, events[0].choices_after) == (0, 0)
    for event in events[1:]:
        assert 0 <= event.choices_after - event.choices <= 2
        if event.choices_after > event.choices:
            assert record.choices[event.choices_after - 1][0] == event.seat


def test_the_process_reads_a_match_file_and_prints_its_luck(
    file: Path, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "nice", lambda step: step)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(file.read_bytes())))
    printed = io.StringIO()
    monkeypatch.setattr(sys, "stdout", printed)
    match_luck.main()
    found = luck_of_one_match(record)
    assert found is not None
    assert json.loads(printed.getvalue())["by_seat"] == list(found.by_seat)


def test_a_void_match_and_a_game_without_value_function_have_none(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = Match(game_named("greed"), ["a", "b"], bytes(32), log=True)
    match.void(EndCause.VOID_SERVER)
    assert luck_of_one_match(read_record(write_record(match))) is None
    monkeypatch.setattr(match_luck, "FEATURES", {})
    assert luck_of_one_match(record) is None
