"""The drawings of a person's table, shared by all who look at it: each state is drawn at most once, on a thread.

A listener gets each step in order, or the newest if it fell behind. This module knows no match and no HTTP.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from starlette.concurrency import run_in_threadpool

from cutpurse.page.language.languages import Language
from cutpurse.page.language.speaking import speaking
from cutpurse.page.match_view.drawing import lines_of

__all__ = ["MAX_LISTENERS", "MAX_STEPS", "Drawing", "Listener", "Listeners", "SharedDrawing"]

MAX_LISTENERS: Final = 4  # windows of a browser; a new one ends the oldest
MAX_STEPS: Final = 64  # that a listener may be behind


class Drawing:
    """A state of the table, which is drawn but for its clock once somebody looks."""

    def __init__(self, number: int, status: str, language: Language, draw: Callable[[], str]) -> None:
        """Set up a state.

        Args:
            number: Number of the step that it belongs to.
            status: Where the match is, in a sentence.
            language: Language of the drawing.
            draw: Draws the state, on any thread.
        """
        self.number = number
        self.status = status
        self._language = language
        self._draw = draw
        self._task: asyncio.Task[list[str]] | None = None

    async def lines(self) -> list[str]:
        """Return the lines of HTML."""
        if self._task is None:
            with speaking(self._language):  # the task inherits it
                self._task = asyncio.create_task(run_in_threadpool(self._drawn))
        return await asyncio.shield(self._task)  # another one who looks may need it

    def _drawn(self) -> list[str]:
        return lines_of(self._draw())


class SharedDrawing:
    """The present state of the table, and the steps that led to it. Use it on one event loop only."""

    def __init__(self, spoken: Language, drawer: Callable[[], tuple[str, Callable[[], str]]]) -> None:
        """Set up the first state.

        Args:
            spoken: Language of the drawing.
            drawer: Returns the status, and a function that draws the present state on any thread.
        """
        self.step = 0  # number of the newest step
        self._language = spoken
        self._drawer = drawer
        self._present: Drawing | None = None  # once somebody looks
        self._steps: deque[Drawing] = deque(maxlen=MAX_STEPS)

    def change(self) -> None:
        """Note that the table is in another state, which is no step: the next one may follow at once."""
        self._present = None

    def add(self, *, is_heard: bool) -> None:
        """Note that the table is in another state, which listeners are sent; without any it alone is remembered."""
        self.step += 1
        self._present = None
        if not is_heard:
            self._steps.clear()
        self._steps.append(self.present)

    @property
    def present(self) -> Drawing:
        """The state of the table now."""
        if self._present is None:
            with speaking(self._language):
                status, draw = self._drawer()
            self._present = Drawing(self.step, status, self._language, draw)
        return self._present

    def after(self, step: int) -> Sequence[Drawing]:
        """Return the steps after one, in order; if some of them are forgotten, only the newest state."""
        if step >= self.step:
            return []
        steps = [drawing for drawing in self._steps if drawing.number > step]
        return steps if len(steps) == self.step - step else [self.present]


class Listener:
    """A stream of a browser, which reads what is new when it is woken."""

    def __init__(self) -> None:
        self.is_ended = False
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """Let the listener read."""
        self._woken.set()

    def end(self) -> None:
        """End the stream."""
        self.is_ended = True
        self.wake()

    async def wait(self) -> None:
        """Wait until there is something to read, or the end."""
        await self._woken.wait()
        self._woken.clear()


class Listeners:
    """The streams that show a table, at most MAX_LISTENERS."""

    def __init__(self) -> None:
        self._listeners: dict[Listener, None] = {}  # the oldest first

    def __bool__(self) -> bool:
        return bool(self._listeners)

    def __contains__(self, listener: Listener) -> bool:
        return listener in self._listeners

    def add(self, listener: Listener) -> None:
        """Add a stream, and end the oldest if there are too many."""
        if len(self._listeners) >= MAX_LISTENERS:
            oldest = next(iter(self._listeners))
            self.remove(oldest)
            oldest.end()
        self._listeners[listener] = None

    def remove(self, listener: Listener) -> None:
        """Remove a stream, if it is here."""
        self._listeners.pop(listener, None)

    def wake(self) -> None:
        """Let all streams read."""
        for listener in self._listeners:
            listener.wake()

    def end(self) -> None:
        """End all streams."""
        for listener in self._listeners:
            listener.end()
