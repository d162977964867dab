"""What the supervisor of bots does with a bot whose machine is lost, and with one for which there is no room."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from cutpurse.server.parts.submissions.hosted_bots import MOST_ENDS
from cutpurse.server.parts.submissions.submissions import TAKEN_OFF
from cutpurse.server.runners.port import Cause, ExitStatus, NoRoom, ProgramSpec, ResourceUse
from tests.parts.submissions.houses import MANIFEST, Entry, House, Process

LATER_S: Final = 61.0  # longer than any wait before a restart


def end(process: Process, cause: Cause) -> None:
    process.how = ExitStatus(cause, None, ResourceUse(0.0, 0), f"it is {cause}")


def test_a_bot_whose_machines_are_lost_is_started_again_each_time(tmp_path: Path) -> None:
    house = House(tmp_path, "sneak")
    for count in range(1, 2 * MOST_ENDS):
        house.until_started(count)
        end(house.runner.processes[-1], "lost")
        house.look()
        house.look(LATER_S)
    assert (house.store.states, house.withdrawn) == ([], [])


def test_a_bot_that_may_be_the_reason_is_taken_off_at_once(tmp_path: Path) -> None:
    house = House(tmp_path, "sneak")
    end(house.runner.processes[-1], "deadly")
    house.look()
    house.look(LATER_S)
    assert house.store.states == [(1, TAKEN_OFF)]
    assert [identity.bot for identity in house.withdrawn] == ["sneak"]
    assert len(house.runner.processes) == 1
    assert house.sockets[0].is_closed


def test_a_bot_for_which_there_is_no_room_is_tried_each_second_and_noted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[str] = []

    def start(task: ProgramSpec) -> Process:
        tries.append(task.name)
        raise NoRoom("no place attends")

    house = House(tmp_path)
    wanted: Any = [(Entry(1, "sneak"), MANIFEST)]
    with monkeypatch.context() as patch:
        patch.setattr(house.runner, "start", start)
        house.residents.set(wanted)
        house.look()
        for _ in range(20):
            house.look(1.0)
    assert len(tries) == 21
    assert house.log.getvalue().count("resident waits") == 1
    house.look(1.0)
    assert len(house.runner.processes) == 1
