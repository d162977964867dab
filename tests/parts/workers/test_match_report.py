"""A report is stored only if its record is that of the promised match; otherwise it says in one line what is wrong."""

import json
import zlib
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutpurse.engine.commitment import board_key, commitment
from cutpurse.engine.match import Match
from cutpurse.engine.record import write_record
from cutpurse.games import game_named
from cutpurse.leaderboard.results import (
    DecisionFault,
    DecisionLog,
    DecisionUsage,
    FinishedMatch,
    FinishedSeat,
    Identity,
    SeatNote,
)
from cutpurse.server.parts.workers.match_report import FalseReport, check_report, write_report
from cutpurse.server.parts.workers.match_task import MatchTask, TaskSeat

NOW = datetime(2026, 11, 26, 12, 30, 1, 250_000, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)
SEED, PARAMS = b"s" * 32, b'{"board":"b1","game":"greed"}'
ANN, BOB = Identity("ann", "sneak", "1"), Identity("bob", "thief", "2")
RULES = game_named("greed")
TASK = MatchTask(
    "m1",
    "cloud",
    "greed",
    RULES.words.version,
    {"max_rounds": "20"},
    {"base_ms": 1_000, "bank_ms": 10_000, "grace_ms": 150, "poll_floor_ms": 25},
    "b1",
    commitment(SEED, PARAMS),
    PARAMS,
    NOW,
    "nearest in skill",
    (TaskSeat(ANN, "ab" * 32), TaskSeat(BOB)),
)


def played(seed: bytes = SEED, players: tuple[Identity, Identity] = (ANN, BOB), last: bool = False) -> Match:
    """A match in which each bot chooses its first option, or its last."""
    names = [player.recorded for player in players]
    match = Match(RULES, names, board_key(seed, PARAMS), TASK.settings, log=True, ask_all=True)
    while not match.over:
        decision = match.decisions()[0]
        match.answer(decision.seat, decision.number, len(decision.options) - 1 if last else 0)
    return match


def finished(match: Match) -> FinishedMatch:
    result = match.result()
    seats = tuple(
        FinishedSeat(player, place, score, cause.value, 0, 70 + seat, *logs(seat), 3, 40, 2**31)
        for seat, (player, place, score, cause) in enumerate(
            zip(TASK.players, result.places, result.scores, result.end_causes, strict=True)
        )
    )
    return FinishedMatch(
        "m1",
        "cloud",
        TASK.rules,
        TASK.deal(SEED),
        NOW,
        NOW,
        len(match.choices),
        seats,
        lambda: write_record(match),
        reason=TASK.reason,
    )


def logs(seat: int) -> tuple[DecisionLog | None, tuple[SeatNote, ...]]:
    if seat:
        return None, ()
    log = DecisionLog((7, 8), (DecisionFault(1, 0, "timeout", "late"),), (DecisionUsage(1, 2, 3, 4, "m", "outage"),))
    return log, (SeatNote(1, "ża"),)


REPORT = write_report(finished(played()))


def with_seat(**values: object) -> bytes:
    """The report with other values in its first seat."""
    return changed(lambda fields: fields["seats"][0].update(values), REPORT)


def with_log(part: int, entries: object) -> bytes:
    """The report with another part of the decision log of its first seat."""
    return changed(lambda fields: fields["seats"][0]["course"].__setitem__(part, entries), REPORT)


def changed(change: Callable[[dict[str, Any]], object], report: bytes) -> bytes:
    fields = json.loads(zlib.decompress(report))
    change(fields)
    return zlib.compress(json.dumps(fields).encode())


def test_a_task_is_read_as_it_was_written() -> None:
    assert MatchTask.from_json(TASK.to_json()) == TASK
    assert b"s" * 32 not in TASK.to_json().encode()


def test_a_report_is_read_as_it_was_written() -> None:
    result = finished(played())
    checked = check_report(write_report(result), TASK, SEED, LATER)
    assert replace(checked.result, make_record=result.make_record) == result
    assert checked.result.record() == result.record()


def test_a_void_report_says_which_bot_did_not_start() -> None:
    checked = check_report(write_report(TASK.void(SEED, NOW), 1, "it ended: exit code 1\n!"), TASK, SEED, LATER)
    assert checked.result == TASK.void(SEED, NOW)
    assert (checked.not_started, checked.why) == (1, "it ended: exit code 1 !")


@pytest.mark.parametrize(
    ("report", "why"),
    [
        (write_report(finished(played(seed=b"t" * 32))), "its record has another deal"),
        (write_report(finished(played(players=(BOB, ANN)))), "its record has other bots"),
        (
            changed(lambda fields: fields["seats"][0].update(place=9), write_report(finished(played()))),
            r"it reports place of seat 0 9, and its record has \d",
        ),
        (
            changed(lambda fields: fields["seats"][1].update(score=999), write_report(finished(played()))),
            r"it reports score of seat 1 999, and its record has \d+",
        ),
        (
            changed(lambda fields: fields["seats"][1].update(end_cause="TIMEOUTS"), write_report(finished(played()))),
            "it reports end_cause of seat 1 'TIMEOUTS', and its record has 'normal'",
        ),
        (
            changed(lambda fields: fields.update(decisions=1), write_report(finished(played()))),
            "it reports decisions 1, and its record has",
        ),
        (
            changed(
                lambda fields: fields.update(record=fields["record"][:-9] + '"}'), write_report(finished(played()))
            ),
            "its record cannot be played: ",
        ),
        (
            changed(
                lambda fields: fields.update(record=write_record(played(last=True))), write_report(finished(played()))
            ),
            "it reports ",
        ),
        (changed(lambda fields: fields.pop("seats"), write_report(finished(played()))), "it cannot be read"),
        (changed(lambda fields: fields["seats"].pop(), write_report(finished(played()))), "it cannot be read"),
        (
            changed(lambda fields: fields["seats"][0].update(thinking_ms=-1), write_report(finished(played()))),
            "it cannot be read",
        ),
        (write_report(TASK.void(SEED, NOW), 7), "it cannot be read"),
        (write_report(TASK.void(SEED, NOW), -1), "it cannot be read"),
        (b"", "it cannot be read"),
        (b"{}", "it cannot be read"),
        (zlib.compress(b"[" * 100_000), "it cannot be read"),
        (zlib.compress(bytes(9 << 20)), "it has more than 8 MiB"),
        (zlib.compress(b'{"is_void":' + b"9" * 5_000 + b"}"), "it cannot be read"),
    ],
)
def test_a_false_report_is_refused_in_one_line(report: bytes, why: str) -> None:
    with pytest.raises(FalseReport, match=why) as refused:
        check_report(report, TASK, SEED, LATER)
    assert "\n" not in str(refused.value)


def test_a_record_of_other_rules_or_settings_is_refused() -> None:
    report = write_report(finished(played()))
    for task, why in (
        (replace(TASK, rules="0"), "its record is of greed .*, not of greed 0"),
        (replace(TASK, settings={"max_rounds": "30"}), "its record has other settings"),
    ):
        with pytest.raises(FalseReport, match=why):
            check_report(report, task, SEED, LATER)


@pytest.mark.parametrize(
    "report",
    [
        with_seat(thinking_ms=2**32),
        with_seat(thinking_ms=True),
        with_seat(cpu_ms=1e300),
        with_seat(peak_bytes=2**70),
        with_seat(dropped_bytes="1"),
        with_seat(notes=[[-1, "x"]]),
        with_seat(notes=[[2**32, "x"]]),
        with_seat(notes=[[1, None]]),
        with_seat(notes={"a": 1}),
        with_seat(course=[[], []]),
        with_log(0, [2**32]),
        with_log(1, [[1, 0, "no cause", ""]]),
        with_log(1, [[2**40, 0, "timeout", ""]]),
        with_log(2, [[1, 10**10, 0, 0, "", ""]]),
        with_log(2, [[1, 0, 0, 0, "", "no fallback"]]),
        with_log(2, [[2**31, 0, 0, 0, "", ""]]),
        changed(lambda fields: fields.update(is_void=1), REPORT),
        changed(lambda fields: fields.update(record=7), REPORT),
        changed(lambda fields: fields.update(record="\ud800"), REPORT),
        changed(lambda fields: fields.update(started="2026-11-26T12:30:01"), REPORT),
        changed(lambda fields: fields.update(finished="soon"), REPORT),
        changed(lambda fields: fields.update(seats=[[]] * 2), REPORT),
    ],
)
def test_what_no_match_has_is_refused(report: bytes) -> None:
    with pytest.raises(FalseReport):
        check_report(report, TASK, SEED, LATER)


@pytest.mark.parametrize("text", ["a\0b", "a\ud800b"])
def test_a_text_that_postgresql_cannot_store_costs_no_match(text: str) -> None:
    """Else a bot that is losing would void its match by such a character in a note."""
    report = with_seat(notes=[[1, text]], course=[[], [[1, 0, "timeout", text]], [[1, 0, 0, 0, text, ""]]])
    seat = check_report(report, TASK, SEED, LATER).result.seats[0]
    assert seat.course is not None
    assert [note.text for note in seat.notes] == [seat.course.faults[0].text] == ["a\ufffdb"]
    assert seat.course.usages[0].model == "a?b"
    void = changed(lambda fields: fields.update(why=f"{text}\n!"), write_report(TASK.void(SEED, NOW), 0))
    assert check_report(void, TASK, SEED, LATER).why == "a b !"


def test_notes_and_logs_have_the_bounds_of_the_server() -> None:
    report = changed(
        lambda fields: fields["seats"][0].update(
            notes=[[1, "x" * 10_000]] * 100, course=[[1] * 9_000, [[1, 0, "timeout", "y" * 3_000]] * 500, []]
        ),
        REPORT,
    )
    match = played()
    seat = check_report(report, TASK, SEED, LATER).result.seats[0]
    assert sum(len(note.text) for note in seat.notes) == 16_384
    assert seat.dropped_bytes == 3 + 100 * 10_000 - 16_384
    assert seat.course is not None
    assert len(seat.course.thinking_ms) == len(seat.course.faults) == match.asked(0)
    assert len(seat.course.faults[0].text) == 2_000


def test_only_the_record_itself_is_stored() -> None:
    report = changed(lambda fields: fields.update(record=fields["record"] + "\n" * 1_000), REPORT)
    assert check_report(report, TASK, SEED, LATER).result.record() == write_record(played())


@pytest.mark.parametrize(
    ("started", "finished", "stored"),
    [
        ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", (NOW, LATER)),
        ("9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", (NOW, NOW)),
        ("9999-12-31T23:59:59-14:00", "9999-12-31T23:59:59-14:00", (LATER, LATER)),
        ("2026-11-26T13:31:00+01:00", "2026-11-26T12:32:00+00:00", (NOW.replace(minute=31, second=0), None)),
    ],
)
def test_times_lie_between_announcement_and_arrival(
    started: str, finished: str, stored: tuple[datetime, datetime | None]
) -> None:
    report = changed(lambda fields: fields.update(started=started, finished=finished), REPORT)
    result = check_report(report, TASK, SEED, LATER).result
    if stored[1] is None:
        assert result.finished == datetime(2026, 11, 26, 12, 32, tzinfo=UTC)
        assert NOW < result.started < result.finished
    else:
        assert (result.started, result.finished) == stored
    void = changed(lambda fields: fields.update(finished=finished), write_report(TASK.void(SEED, NOW)))
    assert NOW <= check_report(void, TASK, SEED, LATER).result.finished <= LATER


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda values: st.lists(values, max_size=4) | st.dictionaries(st.text(), values, max_size=4),
    max_leaves=8,
)
PATHS: list[tuple[str | int, ...]] = [
    *[(name,) for name in json.loads(zlib.decompress(REPORT))],
    *[("seats", 0, name) for name in json.loads(zlib.decompress(REPORT))["seats"][0]],
    *[("seats", 0, "course", part) for part in range(3)],
    *[("seats", 0, "course", 2, 0, part) for part in range(6)],
    *[("seats", 0, "notes", 0, part) for part in range(2)],
]


@given(path=st.sampled_from(PATHS), value=JSON)
def test_any_value_anywhere_is_refused_or_can_be_stored(path: tuple[str | int, ...], value: object) -> None:
    def change(fields: Any) -> None:
        for name in path[:-1]:
            fields = fields[name]
        fields[path[-1]] = value

    try:
        checked = check_report(changed(change, REPORT), TASK, SEED, LATER)
    except FalseReport:
        return
    checked.result.check()
    texts = [checked.why, checked.result.record()]
    for seat in checked.result.seats:
        texts += [note.text for note in seat.notes]
        if seat.course is not None:
            texts += [fault.text for fault in seat.course.faults] + [usage.model for usage in seat.course.usages]
    assert not any("\0" in text for text in texts)
    "".join(texts).encode()
    assert NOW <= checked.result.started <= checked.result.finished <= LATER


@given(st.binary(max_size=200) | st.binary(max_size=200).map(zlib.compress))
def test_any_bytes_are_refused(report: bytes) -> None:
    with pytest.raises(FalseReport):
        check_report(report, TASK, SEED, LATER)
