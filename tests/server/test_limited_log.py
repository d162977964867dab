"""Lines that callers bring about: a few a minute for each kind and address, and how many were left out."""

from __future__ import annotations

import io
import json
from typing import Any

from cutpurse.server.limited_log import ELSEWHERE, LINES, MAX_KINDS, WINDOW_S, LimitedLog
from cutpurse.server.logs import logger


class Written:
    """A log that can be read."""

    def __init__(self) -> None:
        self.said = io.StringIO()
        self.log = LimitedLog(logger(self.said))

    def lines(self) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.said.getvalue().splitlines()]
        self.said.seek(0)
        self.said.truncate()
        return [{name: line[name] for name in line if name not in ("level", "timestamp")} for line in lines]


def test_a_flood_is_a_few_lines_and_how_many_more_there_were() -> None:
    written = Written()
    for call in range(1_700 * 59):
        written.log.info(call / 1_700, "stream refused", "10.0.0.7", "TOKEN_INVALID", text="no")
    assert written.lines() == [{"event": "stream refused", "reason": "TOKEN_INVALID", "text": "no"}] * LINES
    written.log.report(WINDOW_S - 0.1)
    assert written.lines() == []
    written.log.report(WINDOW_S)
    assert written.lines() == [
        {
            "event": "lines left out",
            "of": "stream refused",
            "reason": "TOKEN_INVALID",
            "address": "10.0.0.7",
            "count": 1_700 * 59 - LINES,
        }
    ]


def test_a_kind_and_an_address_have_lines_of_their_own_and_new_ones_each_minute() -> None:
    written = Written()
    for now in (0.0, WINDOW_S, 2 * WINDOW_S):
        for _ in range(LINES):
            for address in ("10.0.0.7", "10.0.0.8"):
                for reason in ("TOKEN_INVALID", "SILENT"):
                    written.log.info(now, "stream refused", address, reason)
        assert len(written.lines()) == 4 * LINES


def test_a_flood_from_many_addresses_is_bounded_too_and_counted_as_one() -> None:
    written = Written()
    for number in range(10 * MAX_KINDS):
        written.log.info(0.0, "stream refused", f"10.0.{number // 256}.{number % 256}", "SILENT")
    assert len(written.lines()) == MAX_KINDS + LINES
    written.log.report(WINDOW_S)
    (told,) = written.lines()
    assert (told["address"], told["count"]) == (ELSEWHERE, 9 * MAX_KINDS - LINES)
