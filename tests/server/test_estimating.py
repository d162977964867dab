"""A server has its ladders estimated by a process of its own, and loses nothing by whatever that does."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.estimates import printed as estimates_printed
from cutpurse.leaderboard.estimates.result_matrix import Grown, ladder_results
from cutpurse.leaderboard.store import Store
from cutpurse.server.hosting.children import Children
from cutpurse.server.hosting.estimating import (
    EVERY_S,
    FIRST,
    LONGEST_WAIT_S,
    NAME,
    NICE,
    PATIENCE_S,
    REST,
    Estimating,
    is_due,
)
from cutpurse.server.logs import logger
from tests.leaderboard.sample_results import LADDER, prepare, result

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


class Programs:
    """A program that ends, and has printed, what the test says."""

    def __init__(self) -> None:
        self.started: list[tuple[str, tuple[str, ...], int]] = []
        self.over: dict[str, int] = {}
        self.printed = ""
        self.fails = False
        self.stopped = 0

    def start(
        self, name: str, command: Sequence[str], environment: Mapping[str, str] | None = None, nice: int = 0
    ) -> int:
        if self.fails:
            raise OSError(12, "no memory")
        self.started.append((name, tuple(command), nice))
        return 1

    def ended(self) -> dict[str, int]:
        return dict(self.over)

    def said(self, name: str) -> str:
        return self.printed

    def stop(self) -> None:
        self.stopped += 1
        self.over = {}

    def end(self, printed: str, code: int = 0) -> None:
        self.printed, self.over = printed, {NAME: code}


class World:
    """A ladder of twelve bots and its estimating."""

    def __init__(self, path: Path) -> None:
        self.store = Store(path)
        self.versions = prepare(self.store)
        self.programs, self.said = Programs(), io.StringIO()
        self.estimating = Estimating(self.store, logger(self.said), lambda folder: self.programs, lambda: NOW)
        self.played = 0

    def play(self, boards: int) -> None:
        futures = []
        for _ in range(boards):
            at = self.played % 9
            futures.append(self.store.submit(result(f"m{self.played}", self.versions[at : at + 4])))
            self.played += 1
        for future in futures:
            future.result()

    @property
    def estimated(self) -> int:
        return max(row.estimated for row in self.store.run(queries.rankings, LADDER))

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.said.getvalue().splitlines()]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path / "league.db")
    with made.estimating:
        yield made
    made.store.close()


# -- when
@pytest.mark.parametrize(
    ("boards", "estimated", "due"),
    [
        (0, 0, False),
        (9, 0, False),
        (10, 0, True),
        (10, 10, False),
        (11, 10, True),
        (104, 100, False),
        (105, 100, True),
        (100_049, 100_000, False),
        (100_050, 100_000, True),
    ],
)
def test_a_ladder_is_due_after_a_twentieth_of_it_or_fifty_boards(boards: int, estimated: int, due: bool) -> None:
    assert FIRST == 10
    assert is_due(Grown("l", boards, estimated), NOW) is due
    assert is_due(Grown("l", boards, estimated, NOW + timedelta(seconds=1)), NOW) is due


@pytest.mark.parametrize(("boards", "estimated", "due"), [(0, 0, False), (4, 0, True), (101, 100, True), (9, 9, False)])
def test_a_frozen_ladder_is_due_until_all_its_boards_are_estimated(boards: int, estimated: int, due: bool) -> None:
    assert is_due(Grown("l", boards, estimated, NOW), NOW) is due


def test_it_is_asked_for_when_the_ladder_has_grown_and_not_more_often_than_it_may(world: World) -> None:
    world.play(FIRST - 1)
    world.estimating.look(0.0)
    assert world.programs.started == []
    world.play(1)
    world.estimating.look(5.0)
    world.estimating.look(10.0)
    ((name, command, nice),) = world.programs.started
    assert (name, nice) == (NAME, NICE)
    assert command[1:] == ("-P", "-m", "cutpurse.leaderboard.estimates.printed", world.store.database.address, LADDER)
    world.programs.end(world.store.run(ladder_results, LADDER).estimates().to_json() + "\n")
    world.estimating.look(10.0)
    assert world.estimated == FIRST
    world.play(60)
    world.estimating.look(5.0 + EVERY_S - 0.1)
    assert len(world.programs.started) == 1
    world.estimating.look(5.0 + EVERY_S)
    assert len(world.programs.started) == 2


def test_after_a_long_one_there_is_a_longer_rest(world: World) -> None:
    world.play(FIRST)
    world.estimating.look(0.0)
    world.programs.end(world.store.run(ladder_results, LADDER).estimates().to_json())
    world.estimating.look(100.0)
    world.play(60)
    world.estimating.look(100.0 + REST * 100.0 - 1)
    assert len(world.programs.started) == 1
    world.estimating.look(100.0 + REST * 100.0)
    assert len(world.programs.started) == 2


# -- what can go wrong
def test_whatever_it_prints_costs_no_more_than_a_line_in_the_log(world: World) -> None:
    world.play(FIRST)
    good = world.store.run(ladder_results, LADDER).estimates().to_json()
    stranger = good.replace(f'"{LADDER}"', '"another"')
    later = good.replace(f'"boards":{FIRST}', '"boards":99')
    now = 0.0
    for printed, code, why in (
        ("Segmentation fault", 0, "Expecting value: line 1 column 1 (char 0)"),
        ("", 0, "these are not the ladders that were asked for"),
        (good + "\n" + good, 0, "these are not the ladders that were asked for"),
        (stranger, 0, "these are not the ladders that were asked for"),
        (later, 0, f"estimates of {LADDER} are from 99 boards; it has {FIRST}, and some from 0"),
        (good, 1, "it ended"),
        (good, -9, "it ended"),
    ):
        before = len(world.programs.started)
        world.estimating.look(now)
        assert len(world.programs.started) == before + 1
        world.programs.end(printed, code)
        world.estimating.look(now + 1)
        assert world.events[-1]["event"] == "no estimates"
        assert world.events[-1]["why"] == why
        now += 1 + world.events[-1]["again_in_s"]
    assert world.estimated == 0
    assert [event["again_in_s"] for event in world.events] == [60, 120, 240, 480, 960, 1920, LONGEST_WAIT_S]
    world.estimating.look(now)
    world.programs.end(good)
    world.estimating.look(now + 1)
    assert world.estimated == FIRST


def test_one_that_hangs_is_ended(world: World) -> None:
    world.play(FIRST)
    world.estimating.look(0.0)
    world.estimating.look(PATIENCE_S)
    assert world.programs.stopped == 0
    world.estimating.look(PATIENCE_S + 1)
    assert world.programs.stopped == 1
    assert world.events[-1]["why"] == "it took too long"
    world.estimating.look(PATIENCE_S + 2)
    assert len(world.programs.started) == 1


def test_one_that_cannot_be_started_is_tried_again(world: World) -> None:
    world.play(FIRST)
    world.programs.fails = True
    world.estimating.look(0.0)
    assert world.events[-1]["why"] == "no memory"
    world.programs.fails = False
    world.estimating.look(59.0)
    assert world.programs.started == []
    world.estimating.look(60.0)
    assert len(world.programs.started) == 1


# -- the real thing
@pytest.mark.full
def test_a_real_process_estimates_the_ladder_of_a_store_that_is_open(tmp_path: Path) -> None:
    with Store(tmp_path / "league.db") as store:
        versions = prepare(store)
        for number in range(12):
            store.submit(result(f"m{number}", versions[number % 8 : number % 8 + 4])).result()
        made: list[tuple[Children, Path]] = []

        def processes(folder: Path) -> Children:
            made.append((Children(folder), folder))
            return made[-1][0]

        said = io.StringIO()
        with Estimating(store, logger(said), processes, lambda: NOW) as estimating:
            assert made == []
            estimating.look(0.0)
            ((children, folder),) = made
            assert folder.stat().st_mode & 0o777 == 0o700
            (pid,) = children.pids.values()
            assert os.getpriority(os.PRIO_PROCESS, pid) == min(19, os.getpriority(os.PRIO_PROCESS, 0) + NICE)
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
            estimating.look(1.0)
            assert not folder.exists()
        wanted = store.run(ladder_results, LADDER).estimates().found
        found = {row.version_id: row for row in store.run(queries.rankings, LADDER)}
    assert said.getvalue() == ""
    assert found.keys() == wanted.keys()
    for version, its in wanted.items():
        assert (found[version].low, found[version].best, found[version].estimated) == (its.low, its.best, 12)


def test_what_it_prints_for_a_ladder_that_is_not_there_is_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store(tmp_path / "league.db") as store:
        prepare(store)
    assert estimates_printed.main([str(tmp_path / "league.db"), "nowhere"]) == 1
    assert capsys.readouterr() == ("", "there is no ladder 'nowhere'\n")


def test_a_server_does_not_load_numpy() -> None:
    """Only the process that estimates loads it: numpy and scipy take 50 MB of memory."""
    load = "import sys, cutpurse.server.commands.serve, cutpurse.server.hosting.arena, cutpurse.page.app"
    subprocess.run([sys.executable, "-c", f"{load}; sys.exit('numpy' in sys.modules)"], check=True)
