"""The whole check of a bot: starts its program, runs all scenarios, and ends it.

This module knows no command line.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

from cutpurse.check.findings import CheckStatus, Failed, Finding, Late, MachineBusy, Warned
from cutpurse.check.scenarios import SCENARIOS, WITH_OTHER, Scenario, Visit, whole_match
from cutpurse.process.own_time import OwnTime
from cutpurse.v1 import arena_pb2

__all__ = ["check_program"]

SCENARIO_S: Final = 60.0  # longest own time of a scenario
NEVER: Final = "not tried: it has not answered a single decision, and all others begin with one"


async def check_program(
    visit: Visit,
    *,
    on_finding: Callable[[Finding], None] = lambda finding: None,
    on_hello: Callable[[arena_pb2.Hello], None] = lambda hello: None,
    more: Sequence[tuple[str, Scenario]] = (),
) -> list[Finding]:
    """Run every scenario with a program that `visit` starts, on a host that listens.

    Without a second host, scenarios of several servers are left out.

    Args:
        visit: The program and its host.
        on_finding: Called with each finding.
        on_hello: Called with the bot's Hello.
        more: Scenarios to run before the last one, which ends the program.

    Raises:
        MachineBusy: If the machine was too busy for a scenario, twice.
    """
    findings: list[Finding] = []
    host = visit.host

    def report(finding: Finding) -> None:
        findings.append(finding)
        on_finding(finding)

    try:
        for name, scenario in (*SCENARIOS[:-1], *more, SCENARIOS[-1]):
            if scenario in WITH_OTHER and visit.other is None:
                continue
            report(await _carried_out(name, scenario, visit))
            if name == SCENARIOS[0][0]:
                if host.guest is None:
                    break
                on_hello(host.guest.hello)
                for game in visit.plays(host.guest):
                    report(await _carried_out(f"{game}, a match", partial(_whole, game), visit))
                    if findings[-1].verdict is CheckStatus.FAILED and not visit.answered:
                        break
                if not visit.answered and any(earlier.verdict is CheckStatus.FAILED for earlier in findings[1:]):
                    report(Finding("all others", CheckStatus.FAILED, NEVER))
                    break
        if visit.raised_in_end:
            report(Finding("end of a match", CheckStatus.FAILED, f"its method `end` raised: {visit.raised_in_end}"))
    finally:
        if visit.child is not None:
            await asyncio.to_thread(visit.child.stop)
    return findings


async def _whole(game: str, visit: Visit) -> str:
    return await whole_match(visit, game)


async def _carried_out(name: str, scenario: Scenario, visit: Visit) -> Finding:
    """Run a scenario; once more, if it was too slow while the machine was busy."""
    for is_last in (False, True):
        began = visit.own_time.mark()
        try:
            return await _finding_of(name, scenario, visit)
        except Failed as problem:
            is_late, busy = isinstance(problem, Late), visit.own_time.why_busy(began)
            is_tried_again = is_late and not is_last and visit.own_time.was_busy(began)
            await visit.restart()
            if is_tried_again:
                continue
            if not (is_late and busy):
                return Finding(name, CheckStatus.FAILED, str(problem))
            raise MachineBusy(f"{busy}, so the bot was too slow at {name}: check it again later") from None
    raise AssertionError("the last round returns or raises")


async def _finding_of(name: str, scenario: Scenario, visit: Visit) -> Finding:
    trouble_before = len(visit.host.guest.trouble) if visit.host.guest else 0
    guest = visit.host.guest
    try:
        seen = await _within(SCENARIO_S, scenario(visit), visit.own_time)
    except Warned as problem:
        return Finding(name, CheckStatus.WARNED, str(problem))
    if guest is not None and len(guest.trouble) > trouble_before:
        return Finding(name, CheckStatus.WARNED, f"{seen}; but {guest.trouble[trouble_before]}")
    return Finding(name, CheckStatus.PASSED, seen)


async def _within(seconds: float, work: Awaitable[str], own_time: OwnTime) -> str:
    """Await something that may take this much own time.  Raises Late if it takes more."""
    task = asyncio.ensure_future(work)
    try:
        for pause_s in own_time.pauses(seconds):
            if (await asyncio.wait({task}, timeout=pause_s))[0]:
                return task.result()
    finally:
        task.cancel()
    raise Late(f"it was not over in {seconds:g} s")
