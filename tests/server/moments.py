"""Tests of calls that end at every possible turn of the event loop: a fake server side of a call, driven by turns.

A call can end before or after everything else in a turn. Nothing here waits for a clock, so a call takes the same turns
each time, and a test that tries all of them covers every order.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn, Protocol

import grpc

__all__ = ["MOST", "Call", "Scene", "end_at_every_moment"]

MOST = 100  # maximum turns; a call that waits for a clock is ended in the last one
SETTLE = 200  # maximum turns until the rest has ended


class Gone(grpc.aio.BaseError):
    """The error that gRPC raises if a call is over."""


class Call:
    """A fake of the server's end of a call in `grpc.aio`; the caller sends by `say`."""

    def __init__(self, *metadata: tuple[str, str]) -> None:
        self.metadata = metadata
        self.written: list[bytes] = []
        self.on_written: Callable[[bytes], None] = lambda message: None
        self.status: Any = None  # status of the abort
        self.is_over = False
        self._said: deque[Any] = deque()
        self._reading: asyncio.Future[Any] | None = None

    # -- the caller's
    def say(self, message: Any) -> None:
        """Send a message, or EOF."""
        self._said.append(message)
        if self._reading is not None and not self._reading.done():
            self._reading.set_result(None)

    # -- the server's
    async def read(self) -> Any:
        """Return the next message, or EOF, also if the call is over."""
        while not self._said:
            if self.is_over:
                return grpc.aio.EOF
            self._reading = asyncio.get_running_loop().create_future()
            await self._reading
        return self._said.popleft()

    async def write(self, message: bytes) -> None:
        """Write a message; it takes a turn, as in gRPC."""
        if self.is_over:
            raise Gone
        await asyncio.sleep(0)
        self.written.append(message)
        self.on_written(message)

    async def abort_with_status(self, status: Any) -> NoReturn:
        """Abort the call; it takes a turn, too."""
        await asyncio.sleep(0)
        self.status = status
        raise grpc.aio.AbortError

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        """Return the metadata of the call."""
        return self.metadata

    def peer(self) -> str:
        """Return the address of the caller."""
        return "ipv4:127.0.0.1:1"

    def run(self, answer: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Create the task of the call, as gRPC does."""
        task = asyncio.get_running_loop().create_task(answer)
        task.add_done_callback(self._end)
        return task

    def _end(self, task: asyncio.Task[Any]) -> None:
        self.is_over = True
        self.say(grpc.aio.EOF)
        problem = None if task.cancelled() else task.exception()
        if problem is not None and not isinstance(problem, grpc.aio.BaseError):
            raise problem


class Scene(Protocol):
    """An activity that is ended early; each trial uses a new instance."""

    def course(self) -> Coroutine[Any, Any, object]:
        """Return the whole activity."""

    def end(self) -> None:
        """End the activity now."""

    def check(self) -> None:
        """Check that nothing of the activity is left."""


async def end_at_every_moment(made: Callable[[], Scene], most: int = MOST) -> int:
    """End an activity in each of its turns, at most `most`, and check that no task and no timer is left.

    Returns:
        The number of turns.
    """
    for moment in range(most):
        were_over = []
        for is_first in (True, False):
            scene = made()
            were_over.append(await _ended(scene, moment, is_first))
            try:
                scene.check()
                await _settle()
                assert _left_behind() == []
            except AssertionError as problem:
                problem.add_note(f"ended {'before' if is_first else 'after'} all else of turn {moment}")
                raise
        if all(were_over):
            return moment
    return most


async def _ended(scene: Scene, moment: int, is_first: bool) -> bool:
    """End the activity in one turn; return whether it was over by then."""
    loop = asyncio.get_running_loop()
    reached, left = loop.create_future(), moment

    def turn() -> None:
        nonlocal left
        if left and not task.done():
            left -= 1
            loop.call_soon(turn)
            return
        try:
            if not task.done():
                scene.end()
            reached.set_result(task.done())
        except Exception as problem:
            reached.set_exception(problem)

    if is_first:
        loop.call_soon(turn)
    task: asyncio.Task[object] = loop.create_task(scene.course())
    if not is_first:
        loop.call_soon(turn)
    was_over = await reached
    await task
    await _settle()
    return bool(was_over)


async def _settle() -> None:
    turns = 0
    while _left_behind() and turns < SETTLE:
        turns += 1
        await asyncio.sleep(0)
    for _ in range(5):  # for the callbacks of the last task
        await asyncio.sleep(0)


def _left_behind() -> list[object]:
    """List the tasks and timers of the running loop, except our own task."""
    loop: Any = asyncio.get_running_loop()
    timers = [timer for timer in loop._scheduled if not timer.cancelled()]
    return [*(asyncio.all_tasks() - {asyncio.current_task()}), *timers]
