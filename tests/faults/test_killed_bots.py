"""A bot's process is killed and started again: its tables are played on without it, and it gets new ones at once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from random import Random
from threading import Event

from cutpurse.engine.clocks import TimeControl
from tests.faults.processes import Server, herd, server
from tests.looking import until

MORTALS = ("abel", "icarus", "ophelia")
CLOCK = TimeControl()
# All of its bank, and then three decisions that nobody fetches.
DEAD_S = (CLOCK.bank_ms + 3 * (CLOCK.base_ms + CLOCK.grace_ms + CLOCK.handover_ms)) / 1_000
BUSY_S = 120.0  # for all that the others do in that match, on a machine that has other work too


@contextmanager
def mortal(name: str, address: str) -> Iterator[subprocess.Popen[bytes]]:
    """`cutpurse bot run`; killed in the end."""
    command = [sys.executable, "-m", "cutpurse.cli", "bot", "run", "random", "--name", name, "--server", address]
    with subprocess.Popen([*command, "--tables", "1"], stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


def matches_of(host: Server, name: str) -> list[str]:
    """The matches that began with it."""
    return [line["match"] for line in host.events("match started") if f"{name} 1" in line["bots"]]


def moment(host: Server, event: str, match: str) -> float:
    """When something happened to a match, by the server's log."""
    (line,) = [line for line in host.events(event) if line.get("match") == match]
    return datetime.fromisoformat(line["timestamp"]).timestamp()


def test_bots_that_are_killed_and_come_back(tmp_path: Path) -> None:
    chance = Random(7)
    with server(tmp_path, "--game", "greed") as host, ExitStack() as stack:
        others = stack.enter_context(herd(tmp_path, host.address, [f"bot{one}" for one in range(9)], 2))
        dead: dict[str, str] = {}
        for name in MORTALS:
            process = stack.enter_context(mortal(name, host.address))
            until(lambda name=name: bool(matches_of(host, name)), f"{name} sits at a table")  # type: ignore[misc]
            if dead:  # the first is killed as its match begins, so that it is missed there for certain
                Event().wait(chance.uniform(0.0, 0.5))
            until(lambda name=name: bool(_open(host, name)), f"{name} is at a table")  # type: ignore[misc]
            process.kill()
            process.wait()
            if still := _open(host, name):
                dead[name] = still[-1]
        before = {name: len(matches_of(host, name)) for name in MORTALS}
        for name in MORTALS:
            stack.enter_context(mortal(name, host.address))
        for name in dead:
            until(lambda name=name: len(matches_of(host, name)) > before[name], f"{name} plays again")  # type: ignore[misc]
        until(lambda: not host.open_matches() & set(dead.values()), "the old tables are over")
        until(
            lambda: (
                {seat for seat in others.begun() if seat[1] in dead.values()}
                <= {(bot, match) for bot, match, *_ in others.heard()}
            ),
            "the others have heard of their ends",
        )
        ended = {line["match"]: line for line in host.events("match ended")}
        began = {line["match"]: line["bots"] for line in host.events("match started")}
        assert dead, "all of them were killed between two matches"
        missed = 0
        for name, match in dead.items():
            alive = {bot.partition(" ")[0] for bot in began[match]} - set(MORTALS)
            causes = dict(zip(began[match], ended[match]["end_causes"], strict=True))
            is_missed = host.faults()[match, name] > 0  # it was asked once more
            assert causes.pop(f"{name} 1") == ("disconnected" if is_missed else "normal")
            missed += is_missed
            assert {causes[f"{bot} 1"] for bot in alive} <= {"normal"}
            assert {host.faults()[match, bot] for bot in alive} <= {0}
            lasted_s = moment(host, "match ended", match) - moment(host, "match started", match)
            assert lasted_s < DEAD_S * sum(f"{one} 1" in began[match] for one in MORTALS) + BUSY_S
            assert host.stored()[match] is None, "the match counts"
            assert [one[1] for one in others.heard()].count(match) == len(alive)
        assert missed, "none of them was asked once more"


def _open(host: Server, name: str) -> list[str]:
    return [match for match in matches_of(host, name) if match in host.open_matches()]
