"""When a process that plays one match is followed by the next, and when its end is a failure; without any program."""

from __future__ import annotations

import errno
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from cutpurse.leaderboard.results import Identity
from cutpurse.server.parts.submissions import hosted_bots
from cutpurse.server.parts.submissions.hosted_bots import HEARING_S, LONGEST_WAIT_S, MOST_ENDS
from cutpurse.server.parts.submissions.submissions import TAKEN_OFF
from cutpurse.server.runners.port import ProgramSpec, RunnerError
from tests.parts.submissions.houses import MANIFEST, Entry, House, Process


def no_thread(_thread: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path, "sneak")


def test_who_has_played_and_heard_is_followed_by_another_at_once(house: House) -> None:
    (first,) = house.runner.processes
    match, token = house.match_of(first), first.task.environment["CUTPURSE_TOKEN"]
    match.begin()
    house.look(1.0)
    match.end()
    house.look(HEARING_S / 2)
    assert house.asked() == []  # it may not have heard of it
    match.hear()
    first.may_end.set()
    house.look()
    house.until_started(2)
    assert house.asked() == [1]
    second = house.runner.processes[1]
    assert second.task.environment["CUTPURSE_TOKEN"] != token
    assert not house.match_of(second).has_begun
    shown = house.passes.enter([("authorization", f"Bearer {token}")], "unix:", "play", house.now)
    assert shown.resident is None  # what let the first one in is good for nothing
    assert house.residents.talk(1) == "1 speaks\n2 speaks\n"


def test_who_never_hears_is_not_waited_for(house: House) -> None:
    (first,) = house.runner.processes
    house.match_of(first).begin()
    house.match_of(first).end()
    first.may_end.set()
    house.look()
    house.look(HEARING_S - 0.01)
    assert not first.is_asked
    house.look(0.02)
    house.until_started(2)


def test_who_does_not_want_to_end_keeps_nobody_else_waiting(tmp_path: Path) -> None:
    house = House(tmp_path, "stubborn", "sneak")
    stubborn, sneak = house.runner.processes
    for process in (stubborn, sneak):
        house.match_of(process).begin()
        house.match_of(process).hear()
    sneak.may_end.set()
    house.look()
    while len(house.runner.processes) == 2:
        house.look()
    assert stubborn.ended() is None
    stubborn.may_end.set()
    house.until_started(4)


def test_who_ends_by_himself_after_his_match_has_not_failed(house: House) -> None:
    for count in range(2 * MOST_ENDS):
        process = house.runner.processes[-1]
        house.match_of(process).begin()
        house.match_of(process).end()
        process.exit()
        house.look()
        assert len(house.runner.processes) == count + 2
    assert house.store.states == []


@pytest.mark.parametrize("has_begun", [False, True])
def test_who_ends_without_having_played_or_in_the_middle_has_failed(house: House, has_begun: bool) -> None:
    for count in range(MOST_ENDS):
        assert len(house.runner.processes) == count + 1
        process = house.runner.processes[-1]
        if has_begun:
            house.match_of(process).begin()
        process.exit()
        house.look()
        house.look(0.5)
        assert len(house.runner.processes) == count + 1  # not at once
        house.look(2.0**count)
    assert house.store.states == [(1, TAKEN_OFF)]
    assert house.withdrawn == [Identity("ann", "sneak", "1")]


def test_it_is_told_who_is_replaced_and_not_who_is_only_restarted(tmp_path: Path) -> None:
    house = House(tmp_path, "sneak", "other")
    for process in house.runner.processes:
        process.may_end.set()
    again = cast("Any", replace(Entry(2, "other"), digest=b"another"))
    house.residents.set([(again, MANIFEST)])
    house.look()
    assert house.withdrawn == [Identity("ann", "sneak", "1")]
    assert len(house.runner.processes) == 3


def test_what_the_newest_said_is_kept_of_those_who_run_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosted_bots, "MOST_TALKS", 2)
    house = House(tmp_path, "sneak")
    for number in range(2, 6):
        first = house.runner.processes[-1]
        first.task.talk.touch()
        first.task.talk.with_name(f"{first.task.talk.name}.before").touch()  # it said very much
        first.may_end.set()
        house.match_of(first).begin()
        house.match_of(first).hear()
        first.exit()
        house.look()  # another follows, and what the first said is what was said earlier
        house.runner.processes[-1].may_end.set()
        house.residents.set([(cast("Any", replace(Entry(number, "sneak"), digest=bytes([number]))), MANIFEST)])
        house.look()
    assert [number for number in range(1, 7) if house.residents.talk(number)] == [3, 4, 5]  # the last runs
    left = sorted(house.runner.processes[0].task.talk.parent.iterdir())
    assert [path.name for path in left] == ["3", "3.before", "4", "4.before"]


def test_who_is_paused_with_his_match_is_not_followed(house: House) -> None:
    (first,) = house.runner.processes
    house.match_of(first).begin()
    house.match_of(first).hear()
    house.paused.add(Identity("ann", "sneak", "1"))
    first.exit()
    house.look()
    house.look(1.0)
    assert len(house.runner.processes) == 1
    house.paused.clear()
    house.look()
    assert len(house.runner.processes) == 2


def test_one_that_ends_while_its_folder_cannot_be_removed_is_started_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as without:
        without.setattr(house.residents._storage, "no_arena", refuse)
        house.runner.processes[0].exit()
        house.look()
    house.look(later_s=1.0)
    assert len(house.runner.processes) == 2


def test_who_cannot_be_stopped_for_want_of_a_thread_is_not_taken_for_ended(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    (first,) = house.runner.processes
    match = house.match_of(first)
    match.begin()
    match.end()
    match.hear()
    with monkeypatch.context() as without:
        without.setattr(threading.Thread, "start", no_thread)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            house.look()
    first.may_end.set()
    house.look()
    house.until_started(2)
    assert house.asked() == [1]


def test_what_is_to_run_is_told_again_where_that_broke_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    house = House(tmp_path, "sneak")
    house.runner.processes[0].may_end.set()

    def refuse() -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    house.residents.set([(cast("Any", Entry(2, "thug")), MANIFEST)])
    with monkeypatch.context() as without:
        without.setattr(house.residents, "_forget", refuse)
        with pytest.raises(OSError, match="Too many open files"):
            house.look()
    house.look()
    assert house.asked() == [1]
    assert [process.task.name for process in house.runner.processes] == ["sneak:1", "sneak:1"]  # by the manifest
    assert [*house.residents._courses] == [2]


def test_all_are_ended_with_the_server_though_no_thread_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = House(tmp_path, "sneak", "thug")
    for process in house.runner.processes:
        process.may_end.set()
    monkeypatch.setattr(threading.Thread, "start", no_thread)
    house.residents.close()
    assert house.asked() == [1, 2]


def test_who_cannot_be_run_for_a_fault_of_the_servers_is_not_taken_off(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(task: ProgramSpec) -> Process:
        raise RunnerError("sneak:1 cannot be run here: the engine does not answer")

    with monkeypatch.context() as without:
        without.setattr(house.runner, "start", refuse)
        house.runner.processes[0].exit()
        for _ in range(2 * MOST_ENDS):
            house.look(later_s=LONGEST_WAIT_S)
    house.look(later_s=LONGEST_WAIT_S)
    assert house.store.states == []
    assert len(house.runner.processes) == 2
