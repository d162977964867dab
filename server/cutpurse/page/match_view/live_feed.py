"""Live matches for any number of spectators; each match is read, drawn and encoded once.

A thread reads the watch stream of a match, or of a ladder's matches in turn. A task draws the steps at a pace that
people can follow, faster if many wait, and sends the same text to every subscriber. A subscriber that falls behind is
dropped; its browser reconnects and gets the whole table. A watch without subscribers is closed after a while. If there
are too many watches, the visitor who alone keeps the most open loses one. This module knows no HTTP.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from cutpurse.engine.errors import CutpurseError
from cutpurse.engine.history import ZoneHistory
from cutpurse.engine.view import View
from cutpurse.page.language.languages import Language
from cutpurse.page.language.speaking import gettext, gettext_noop, language, speaking
from cutpurse.page.match_view.drawing import changes, lines_of, rendered
from cutpurse.page.match_view.event_text import EventLine
from cutpurse.page.match_view.frames import asked_of, frame, result_marks
from cutpurse.sdk.matches.watching import WatchBegin, Watched, WatchEnd, WatchUpdate, watched
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.errors import NotAuthorised, NotFound, ServerUnreachable

__all__ = ["Messages", "BrowserEvent", "LiveSubscriber", "WatchStream", "Watch", "Watches"]


class WatchStream(Protocol):
    """A watch stream of a league. `close` ends it from any thread, even while another thread waits for a message."""

    def __iter__(self) -> Iterator[ladder_pb2.WatchMatchResponse]: ...
    def close(self) -> None: ...


Messages: TypeAlias = Callable[[], WatchStream]

STEP_S: Final = 0.5  # for which a step is shown if none waits
HURRIES: Final = 12  # number of waiting steps at which each is shown half as long
MERGES: Final = 40  # number of waiting steps from which several are drawn as one
OVER_S: Final = 3.0  # for which the end of a match is shown before the next match
MOST_WAITING: Final = 1_000  # steps; then the thread stops reading
MOST_TOLD: Final = 14  # lines of the log
MOST_UNREAD: Final = 48  # unread events at which a subscriber is dropped
LINGER_S: Final = 10.0  # until a watch without subscribers is closed
MOST_WATCHES: Final = 60  # at once; a server allows 64 per address, including ones that were just closed
PAUSES_S: Final = (0.5, 1.0, 2.0, 5.0)  # between attempts to reconnect; the last one repeats
REFUSED: Final = gettext_noop("The arena does not let this page watch now; load it again in a while.")
NOT_LISTED: Final = gettext_noop("This ladder is not shown here any more.")
HIDDEN: Final = gettext_noop("The results of this ladder are hidden from now on.")
NOT_PLAYED: Final = gettext_noop("This match is not being played any more.")
OVER: Final = gettext_noop("The match is over.")
BROKEN: Final = gettext_noop("The page broke down over this match.")
MADE_ROOM: Final = gettext_noop(
    "Too many matches are looked at now, so this one is not shown any more; load it again in a while."
)
UNREACHED: Final = gettext_noop("The arena cannot be reached; the table is shown again as soon as it can.")


@dataclass(frozen=True, slots=True)
class BrowserEvent:
    """A server-sent event for a browser: its kind and its data."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class _Trouble:
    """The loss of the stream, which is retried, or its end."""

    text: str
    is_end: bool


class LiveSubscriber:
    """A browser that reads the events of a watch; `visitor` is the visitor it counts for."""

    def __init__(self, visitor: str = "") -> None:
        self.visitor: Final = visitor
        self._news: asyncio.Queue[BrowserEvent | None] = asyncio.Queue()

    def tell(self, news: BrowserEvent) -> bool:
        """Queue an event. Return False, without queueing it, if too many are unread."""
        if self._news.qsize() >= MOST_UNREAD:
            return False
        self._news.put_nowait(news)
        return True

    def let_go(self, at_once: bool) -> None:
        """End the subscription; with `at_once`, drop its unread events."""
        while at_once and not self._news.empty():
            self._news.get_nowait()
        self._news.put_nowait(None)

    async def read(self) -> AsyncIterator[BrowserEvent]:
        """Yield the events as they come, until the subscription ends."""
        while (news := await self._news.get()) is not None:
            yield news


class Watch:
    """The live feed of a match, or of a ladder's matches in turn, in the language of the first request for it.

    Its events are "whole" (all lines), "step" (changed lines), "status" (a sentence) and "over" (the end).
    """

    def __init__(self, messages: Messages, *, follows: bool, forget: Callable[[Watch], None], step_s: float) -> None:
        """Start reading and drawing on the running event loop.

        Args:
            messages: Opens the watch stream.
            follows: Whether it shows a ladder's matches in turn, without end.
            forget: Called when the watch ends and can take no more subscribers.
            step_s: Seconds for which a step is shown if none waits.
        """
        self._messages = messages
        self._follows = follows
        self._forget = forget
        self._step_s = step_s
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[Watched | _Trouble] = deque()
        self._arrived = asyncio.Event()
        self._room = threading.Semaphore(MOST_WAITING)
        self._stop = threading.Event()
        self._stream: WatchStream | None = None
        self._readers: set[LiveSubscriber] = set()
        self._linger: asyncio.TimerHandle | None = None  # set after the last subscriber has left
        self._picture = _Picture()
        self._lines: list[str] = []
        self._number = 0
        waiting = gettext("Waiting for the arena, which tells spectators a little later than the bots.")
        self._status = BrowserEvent("status", _status(waiting))
        # The thread first: if it can't start, no task is left behind.
        self._language = language()
        threading.Thread(target=self._read, name="live", daemon=True).start()
        self._showing = self._loop.create_task(self._show())
        self._showing.add_done_callback(self._shown)

    # -- subscribers
    def join(self, visitor: str = "") -> LiveSubscriber:
        """Add a subscriber, which gets the current table first and then each change."""
        reader = LiveSubscriber(visitor)
        self._readers.add(reader)
        self._stay()
        reader.tell(self._status)
        if self._lines:
            reader.tell(BrowserEvent("whole", _text({"number": self._number, "lines": self._lines})))
        return reader

    def leave(self, reader: LiveSubscriber) -> None:
        """Remove a subscriber. The watch ends a while after the last one has left."""
        self._readers.discard(reader)
        if not self._readers and not self._stop.is_set():
            self._stay()
            self._linger = self._loop.call_later(LINGER_S, self.end)

    def _stay(self) -> None:
        if self._linger is not None:
            self._linger.cancel()
            self._linger = None

    @property
    def readers(self) -> int:
        """Number of subscribers."""
        return len(self._readers)

    @property
    def kept_by(self) -> str | None:
        """The visitor of all subscribers, if they belong to only one."""
        visitors = {reader.visitor for reader in self._readers}
        return visitors.pop() if len(visitors) == 1 else None

    def end(self, text: str = "") -> None:
        """End the watch for good.

        Args:
            text: Reason to show in the browsers; empty for none.
        """
        if text:
            with speaking(self._language):  # another reader's request may end it
                self._say(gettext(text), is_trouble=True)
            self._tell(BrowserEvent("over", "{}"))
        self._forget(self)
        self.close()

    def close(self) -> None:
        """Close the stream and end all subscriptions; unread events are still delivered."""
        self._stop.set()
        if self._stream is not None:
            self._stream.close()
        self._stay()
        self._showing.cancel()
        for reader in self._readers:
            reader.let_go(at_once=False)
        self._readers.clear()

    def _tell(self, news: BrowserEvent) -> None:
        for reader in [one for one in self._readers if not one.tell(news)]:
            reader.let_go(at_once=True)
            self.leave(reader)

    # -- the thread that reads
    def _read(self) -> None:
        tries = 0
        while not self._stop.is_set():
            try:
                with self._opened() as stream:
                    for step in watched(stream):
                        tries = 0
                        if not self._hand(step):
                            return
                self._hand(_Trouble("", is_end=True))
                return
            except ServerUnreachable:
                if not self._hand(_Trouble(UNREACHED, is_end=False)):
                    return
                self._stop.wait(PAUSES_S[min(tries, len(PAUSES_S) - 1)])
                tries += 1
            except NotFound:
                text = NOT_LISTED if self._follows else NOT_PLAYED
                self._hand(_Trouble(text, is_end=True))
                return
            except NotAuthorised:
                self._hand(_Trouble(HIDDEN, is_end=True))
                return
            except CutpurseError:  # the server has too many watchers, or another protocol version
                self._hand(_Trouble(REFUSED, is_end=True))
                return
            except Exception:
                self._hand(_Trouble(BROKEN, is_end=True))
                raise  # so that the process logs it

    @contextmanager
    def _opened(self) -> Iterator[WatchStream]:
        """Open the stream, and close it after the block."""
        stream = self._stream = self._messages()
        try:
            if self._stop.is_set():  # `close` ran before the stream was open, so it did not close it
                stream.close()
            yield stream
        finally:
            stream.close()

    def _hand(self, step: Watched | _Trouble) -> bool:
        """Pass a step to the event loop; wait while too many steps wait there. Return False if the watch has ended."""
        while not self._room.acquire(timeout=1.0):
            if self._stop.is_set():
                return False
        try:
            self._loop.call_soon_threadsafe(self._add, step)
        except RuntimeError:  # the loop is closed
            return False
        return not self._stop.is_set()

    # -- the task that draws
    def _add(self, step: Watched | _Trouble) -> None:
        self._waiting.append(step)
        self._arrived.set()

    async def _show(self) -> None:
        while True:
            await self._arrived.wait()
            behind = len(self._waiting)
            stays_s = self._step_s / (1 + behind / HURRIES)
            step = self._take(1 + behind // MERGES)
            if isinstance(step, _Trouble):
                self._say(gettext(step.text or OVER), is_trouble=not step.is_end or bool(step.text))
                if step.is_end:
                    self._tell(BrowserEvent("over", "{}"))
                    self.end()
                    return
                continue
            if isinstance(step, WatchBegin):
                self._say(_began(step), is_trouble=False)
            self._draw(step, int(stays_s * 800))
            if isinstance(step, WatchEnd) and self._follows:
                self._say(gettext("The match is over; the next one is shown as soon as it begins."), is_trouble=False)
                stays_s = OVER_S * stays_s / self._step_s if self._step_s else 0.0
            await asyncio.sleep(stays_s)

    def _shown(self, task: asyncio.Task[None]) -> None:
        """End the watch, and report the error, if the drawing task has failed."""
        if task.cancelled() or (problem := task.exception()) is None:
            return
        self._loop.call_exception_handler({"message": "a live table broke down", "exception": problem, "task": task})
        self.end(BROKEN)

    def _take(self, most: int) -> Watched | _Trouble:
        """Return the next waiting step; merge up to `most` updates of a match into one."""
        step = self._waiting.popleft()
        taken = 1
        if isinstance(step, WatchBegin):  # skip matches that are finished already, up to the newest
            newest = max((place for place, one in enumerate(self._waiting) if isinstance(one, WatchBegin)), default=-1)
            for _ in range(newest + 1):
                step = self._waiting.popleft()
            taken += newest + 1
        if isinstance(step, WatchUpdate):
            events = list(step.events)
            while taken < most and self._waiting and isinstance(following := self._waiting[0], WatchUpdate):
                self._waiting.popleft()
                events += following.events
                step = WatchUpdate(following.table, following.at_ms, step.first_event, tuple(events), following.view)
                taken += 1
        self._room.release(taken)
        if not self._waiting:
            self._arrived.clear()
        return step

    def _draw(self, step: Watched, ms: int) -> None:
        lines = lines_of(self._picture.of(step, self._follows))
        change = changes(self._lines, lines)
        is_new = isinstance(step, WatchBegin) or not self._lines
        self._lines = lines
        self._number += 1
        if is_new:
            self._tell(BrowserEvent("whole", _text({"number": self._number, "lines": lines})))
        else:
            self._tell(BrowserEvent("step", _text({"number": self._number, "lines": change, "ms": ms})))

    def _say(self, text: str, *, is_trouble: bool) -> None:
        self._status = BrowserEvent("status", _status(text, is_trouble=is_trouble))
        self._tell(self._status)


class Watches:
    """The open watches of an app, by match or ladder."""

    def __init__(self, *, step_s: float = STEP_S) -> None:
        self.is_closed = False
        self._step_s = step_s
        self._watches: dict[tuple[str, str, Language], Watch] = {}

    def join(self, match: str, ladder: str, messages: Messages, visitor: str = "") -> tuple[Watch, LiveSubscriber]:
        """Add a subscriber to the watch of a match or ladder; start the watch if there is none.

        Args:
            match: ID of the match, or empty.
            ladder: Name of the ladder, or empty.
            messages: Opens the watch stream.
            visitor: Visitor of the subscriber, for a fair share of the watches.

        Returns:
            The watch and its new subscriber.
        """
        key = match, ladder, language()
        if key not in self._watches:
            self._make_room(visitor)

            def forget(watch: Watch) -> None:
                if self._watches.get(key) is watch:
                    del self._watches[key]

            self._watches[key] = Watch(messages, follows=bool(ladder), forget=forget, step_s=self._step_s)
        watch = self._watches[key]
        return watch, watch.join(visitor)

    def _make_room(self, visitor: str) -> None:
        """End one watch if there are MOST_WATCHES.

        Prefer one without subscribers, else take the oldest of the visitor who keeps the most alone. That visitor must
        keep at least two more than the new one. Otherwise no watch ends, and the server decides.
        """
        if len(self._watches) < MOST_WATCHES:
            return
        watches = list(self._watches.values())
        if left := [watch for watch in watches if not watch.readers]:
            left[0].end()
            return
        alone = Counter(keeper for watch in watches if (keeper := watch.kept_by) is not None)
        for keeper, count in alone.most_common(1):
            if count > alone[visitor] + 1:
                next(watch for watch in watches if watch.kept_by == keeper).end(MADE_ROOM)

    @property
    def readers(self) -> int:
        """Number of subscribers of all watches."""
        return sum(watch.readers for watch in self._watches.values())

    def close(self) -> None:
        """End all watches. Callers must not join any more."""
        self.is_closed = True
        for watch in list(self._watches.values()):
            watch.close()
        self._watches.clear()


class _Picture:
    """The drawing of a live match, with its state so far."""

    def __init__(self) -> None:
        self._began: WatchBegin | None = None
        self._view: View | None = None
        self._asked: tuple[int, ...] = ()
        self._history: ZoneHistory | None = None
        self._told: deque[EventLine] = deque(maxlen=MOST_TOLD)
        self._at_ms = 0

    def of(self, step: Watched, follows: bool) -> str:
        """Draw the table after a step, as HTML."""
        if isinstance(step, WatchBegin):
            self._began = step
            self._asked, self._at_ms, self._history = (), 0, None
            self._told.clear()
        began = self._began
        assert began is not None  # `watched` yields WatchBegin first
        events = () if isinstance(step, WatchBegin) else step.events
        if not isinstance(step, WatchEnd):
            self._view = step.view
        if isinstance(step, WatchUpdate):
            self._at_ms = step.at_ms
        view = self._view
        assert view is not None
        result = step.result if isinstance(step, WatchEnd) else None
        self._asked = () if result else asked_of(view, events, self._asked)
        first = 0 if isinstance(step, WatchBegin) else step.first_event
        if self._history is None:
            self._history = ZoneHistory(view.rules.words, view.seats, view.zones, first)
        self._history.add(events, first)
        made = frame(
            view,
            events,
            began.names,
            asked=self._asked,
            first_event=first,
            marks=result_marks(result),
            history=self._history,
        )
        self._told.extend(made.lines)
        return rendered(
            "live_moment.html",
            frame=made,
            told=list(self._told)[::-1],
            match=began.table.match,
            ladder=began.table.ladder,
            at_ms=self._at_ms,
            result=result,
            is_opened=isinstance(step, WatchEnd) and step.broken_promise is not None,
            broken_promise=step.broken_promise if isinstance(step, WatchEnd) else None,
            follows=follows,
        )


def _began(step: WatchBegin) -> str:
    match, ladder = step.table.match[:8], step.table.ladder
    text = gettext("Match %(match)s on %(ladder)s", match=match, ladder=ladder) if ladder else ""
    text = text or gettext("Match %(match)s", match=match)
    if not step.delay_ms:
        return text
    late = gettext("shown %(delay)s s later than to the bots", delay=f"{step.delay_ms / 1_000:g}")
    return f"{text}, {late}"


def _status(text: str, *, is_trouble: bool = False) -> str:
    return _text({"text": text, "trouble": is_trouble})


def _text(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
