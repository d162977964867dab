"""Calls that are ended at each of their moments: the server's end of a call, driven turn by turn of the event loop.

A moment is a turn of the loop, before or after all else that is due in it. Nothing here waits for a clock, so a call
takes the same turns each time, and a test that goes through all of them has seen every order there is.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn, Protocol

import grpc

__all__ = ["MOST", "Call", "Scene", "end_at_every_moment"]

MOST = 100  # turns; what waits for a clock is ended in the last of them
SETTLE = 200  # turns that whatever is left may take to its end


class Gone(grpc.aio.BaseError):
    """What gRPC raises where a call is over."""


class Call:
    """The server's end of a call, as `grpc.aio` has it; `say` is what the caller sends."""

    def __init__(self, *metadata: tuple[str, str]) -> None:
        self.metadata = metadata
        self.written: list[bytes] = []
        self.on_written: Callable[[bytes], None] = lambda message: None
        self.status: Any = None  # that it was aborted with
        self.is_over = False
        self._said: deque[Any] = deque()
        self._reading: asyncio.Future[Any] | None = None
        self._when_done: list[Callable[[Any], object]] = []

    # -- the caller's
    def say(self, message: Any) -> None:
        """One more message, or EOF."""
        self._said.append(message)
        if self._reading is not None and not self._reading.done():
            self._reading.set_result(None)

    # -- the server's
    async def read(self) -> Any:
        """The next message, or EOF; EOF as well where the call is over."""
        while not self._said:
            if self.is_over:
                return grpc.aio.EOF
            self._reading = asyncio.get_running_loop().create_future()
            await self._reading
        return self._said.popleft()

    async def write(self, message: bytes) -> None:
        """Takes a turn, as gRPC does."""
        if self.is_over:
            raise Gone
        await asyncio.sleep(0)
        self.written.append(message)
        self.on_written(message)

    async def abort_with_status(self, status: Any) -> NoReturn:
        """Takes a turn, too."""
        await asyncio.sleep(0)
        self.status = status
        raise grpc.aio.AbortError

    def add_done_callback(self, callback: Callable[[Any], object]) -> None:
        """To be called when the server is rid of the call."""
        self._when_done.append(callback)

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        """What came with it."""
        return self.metadata

    def peer(self) -> str:
        """Who calls."""
        return "ipv4:127.0.0.1:1"

    def run(self, answer: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """The task of the call, which gRPC would have made."""
        task = asyncio.get_running_loop().create_task(answer)
        task.add_done_callback(self._end)
        return task

    def _end(self, task: asyncio.Task[Any]) -> None:
        self.is_over = True
        self.say(grpc.aio.EOF)
        for callback in self._when_done:
            callback(self)
        problem = None if task.cancelled() else task.exception()
        if problem is not None and not isinstance(problem, grpc.aio.BaseError):
            raise problem


class Scene(Protocol):
    """Something that goes on, made anew for each moment at which it is ended."""

    def course(self) -> Coroutine[Any, Any, object]:
        """All of it."""

    def end(self) -> None:
        """End it now."""

    def check(self) -> None:
        """Nothing of it is left."""


async def end_at_every_moment(made: Callable[[], Scene], most: int = MOST) -> int:
    """End it in each of its turns, `most` at most; how many there were. No task and no timer is left of any."""
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
    """Whether it was over by then."""
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
    for _ in range(5):  # what is called when the last of them is done
        await asyncio.sleep(0)


def _left_behind() -> list[object]:
    """Tasks and timers of the loop that runs, but for our own task."""
    loop: Any = asyncio.get_running_loop()
    timers = [timer for timer in loop._scheduled if not timer.cancelled()]
    return [*(asyncio.all_tasks() - {asyncio.current_task()}), *timers]
