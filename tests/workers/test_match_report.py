"""A report is stored only if its record is that of the promised match; otherwise it says in one line what is wrong."""

import json
import zlib
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

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
from cutpurse.server.dealing.match_report import FalseReport, check_report, write_report
from cutpurse.server.dealing.match_task import MatchTask, TaskSeat

NOW = datetime(2026, 11, 26, 12, 30, 1, 250_000, tzinfo=UTC)
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
    log = DecisionLog((7, 8), (DecisionFault(1, 0, "TIMEOUT", "late"),), (DecisionUsage(1, 2, 3, 4, "m", "outage"),))
    return log, (SeatNote(1, "ża"),)


def changed(change: Callable[[dict[str, Any]], object], report: bytes) -> bytes:
    fields = json.loads(zlib.decompress(report))
    change(fields)
    return zlib.compress(json.dumps(fields).encode())


def test_a_task_is_read_as_it_was_written() -> None:
    assert MatchTask.from_json(TASK.to_json()) == TASK
    assert b"s" * 32 not in TASK.to_json().encode()


def test_a_report_is_read_as_it_was_written() -> None:
    result = finished(played())
    checked = check_report(write_report(result), TASK, SEED)
    assert replace(checked.result, make_record=result.make_record) == result
    assert checked.result.record() == result.record()


def test_a_void_report_says_which_bot_did_not_start() -> None:
    checked = check_report(write_report(TASK.void(SEED, NOW), 1, "it ended: exit code 1\n!"), TASK, SEED)
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
        (b"", "it cannot be read"),
        (b"{}", "it cannot be read"),
        (zlib.compress(b"[" * 100_000), "it cannot be read"),
        (zlib.compress(bytes(65 << 20)), "it has more than 64 MiB"),
    ],
)
def test_a_false_report_is_refused_in_one_line(report: bytes, why: str) -> None:
    with pytest.raises(FalseReport, match=why) as refused:
        check_report(report, TASK, SEED)
    assert "\n" not in str(refused.value)


def test_a_record_of_other_rules_or_settings_is_refused() -> None:
    report = write_report(finished(played()))
    for task, why in (
        (replace(TASK, rules="0"), "its record is of greed .*, not of greed 0"),
        (replace(TASK, settings={"max_rounds": "30"}), "its record has other settings"),
    ):
        with pytest.raises(FalseReport, match=why):
            check_report(report, task, SEED)
