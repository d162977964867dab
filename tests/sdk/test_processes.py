"""What several processes share."""

from __future__ import annotations

import os
import signal

import pytest

from cutpurse.sdk.processes import _interrupts_held


def test_an_interrupt_while_processes_are_started_is_put_off_and_not_lost() -> None:
    reached = []

    def start() -> None:
        with _interrupts_held():
            os.kill(os.getpid(), signal.SIGINT)
            reached.append("the end of the block")

    with pytest.raises(KeyboardInterrupt):
        start()
    assert reached == ["the end of the block"]
