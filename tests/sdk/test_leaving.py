"""Bots of one process share the signals that end it, and give them back."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from cutpurse.sdk.online.graceful_leave import leave_on_signal


class Bot:
    """A client as far as it can be told to leave."""

    def __init__(self) -> None:
        self.open_matches = 0
        self.left = asyncio.Event()

    def leave(self) -> None:
        self.left.set()


@pytest.fixture(autouse=True)
def _heard() -> Iterator[None]:
    """Have each signal do what it usually does, however the tests were started: `nohup` ignores SIGHUP."""
    usual: dict[int, Any] = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
        signal.SIGHUP: signal.SIG_DFL,
    }
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_all_are_told_and_the_signal_is_what_it_was(number: signal.Signals) -> None:
    heard: list[int] = []
    before = signal.signal(number, lambda number, _: heard.append(number))
    ann: Any = Bot()
    bob: Any = Bot()
    try:
        mine = signal.getsignal(number)
        with ExitStack() as anns, ExitStack() as bobs:
            anns.enter_context(leave_on_signal(ann))
            bobs.enter_context(leave_on_signal(bob))
            os.kill(os.getpid(), number)
            await asyncio.gather(ann.left.wait(), bob.left.wait())
            assert heard == []
            os.kill(os.getpid(), number)
            assert heard == [number], "the second is no longer theirs"
            anns.close()  # the first to come is the first to go
        assert signal.getsignal(number) is mine
    finally:
        signal.signal(number, before)


async def test_a_terminal_that_is_closed_tells_to_leave_and_is_heard_once() -> None:
    ended: list[int] = []
    before = signal.signal(signal.SIGHUP, lambda number, _: ended.append(number))
    ann: Any = Bot()
    try:
        with leave_on_signal(ann):
            signal.raise_signal(signal.SIGHUP)  # by its shell
            signal.raise_signal(signal.SIGHUP)  # by the system
            await ann.left.wait()
        assert ended == []
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # nohup
        with leave_on_signal(ann):
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_after_that_of_a_closed_terminal_is_the_second(number: signal.Signals) -> None:
    heard: list[int] = []
    before = signal.signal(number, lambda number, _: heard.append(number))
    ann: Any = Bot()
    try:
        with leave_on_signal(ann):
            signal.raise_signal(signal.SIGHUP)
            await ann.left.wait()
            assert heard == []
            signal.raise_signal(number)
            assert heard == [number]
    finally:
        signal.signal(number, before)


async def test_who_stays_is_still_told_after_another_has_gone() -> None:
    ann: Any = Bot()
    bob: Any = Bot()
    before = signal.getsignal(signal.SIGINT)
    with ExitStack() as bobs:
        with leave_on_signal(ann):
            bobs.enter_context(leave_on_signal(bob))
        os.kill(os.getpid(), signal.SIGINT)
        await bob.left.wait()
        assert not ann.left.is_set()
    assert signal.getsignal(signal.SIGINT) is before


async def test_a_signal_that_comes_to_another_thread_is_heard_at_once() -> None:
    """Nothing else wakes the loop, which is left alone for a moment so that it waits."""
    ann: Any = Bot()
    stranger = threading.Timer(0.1, signal.raise_signal, [signal.SIGTERM])
    with leave_on_signal(ann):
        stranger.start()
        began = time.monotonic()
        await asyncio.wait_for(ann.left.wait(), 240)
        assert time.monotonic() - began < 200, "it was heard when the loop woke for another reason"
    stranger.join()
    assert signal.set_wakeup_fd(-1) == -1
