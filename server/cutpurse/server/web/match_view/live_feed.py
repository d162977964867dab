"""Matches that are being played, for any number of spectators: each is read, drawn and told once.

A thread reads what the league tells of a match, or of a ladder's matches one after the other; a task draws it at a pace
that people can follow (faster the more waits) and hands the same text to every reader. A reader who does not keep up is
let go: his browser comes again, and is given the whole table. Of matches that nobody looks at any more, and where too
many are followed of those that one visitor keeps for himself, the stream is closed. This module knows no HTTP.
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
from cutpurse.engine.match import EndCause, MatchResult
from cutpurse.engine.view import View
from cutpurse.sdk.errors import NotFound, ServerUnreachable
from cutpurse.sdk.watching import WatchBegin, Watched, WatchEnd, WatchUpdate, watched
from cutpurse.server.web.match_view.drawing import changes, lines_of, rendered
from cutpurse.server.web.match_view.event_text import EventLine
from cutpurse.server.web.match_view.frames import SeatMarks, asked_of, frame
from cutpurse.v1 import ladder_pb2

__all__ = ["Messages", "BrowserEvent", "LiveSubscriber", "WatchStream", "Watch", "Watches"]


class WatchStream(Protocol):
    """What a league tells of a match; `close` ends it from any thread, also while another waits for what comes."""

    def __iter__(self) -> Iterator[ladder_pb2.WatchMatchResponse]: ...
    def close(self) -> None: ...


Messages: TypeAlias = Callable[[], WatchStream]

STEP_S: Final = 0.5  # that a moment stays, if nothing waits
HURRIES: Final = 12  # moments that wait when each stays half as long
MERGES: Final = 40  # of so many that wait, several are drawn as one
OVER_S: Final = 3.0  # that the end of a match stays before the next is shown
MOST_WAITING: Final = 1_000  # moments; then the league has to wait
MOST_TOLD: Final = 14  # lines of what has happened
MOST_UNREAD: Final = 48  # pieces of news that one reader leaves lying
LINGER_S: Final = 10.0  # that a match is followed without a reader
MOST_WATCHES: Final = 60  # without making room; a server tells an address 64, just closed ones among them
PAUSES_S: Final = (0.5, 1.0, 2.0, 5.0)  # between attempts to go on; the last again and again
REFUSED: Final = "The arena does not let this page watch now; load it again in a while."
NOT_PLAYED: Final = "This match is not being played any more."
BROKEN: Final = "The page broke down over this match."
MADE_ROOM: Final = "Too many matches are looked at now, so this one is not shown any more; load it again in a while."
UNREACHED: Final = "The arena cannot be reached; the table is shown again as soon as it can."


@dataclass(frozen=True, slots=True)
class BrowserEvent:
    """A piece of news for a browser: the kind of its event, and its text."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class _Trouble:
    """The stream was lost (it is tried again), or has ended for good."""

    text: str
    is_end: bool


class LiveSubscriber:
    """One who reads the news of a watch, until it is over or he is let go.  visitor: by whom he is counted."""

    def __init__(self, visitor: str = "") -> None:
        self.visitor: Final = visitor
        self._news: asyncio.Queue[BrowserEvent | None] = asyncio.Queue()

    def tell(self, news: BrowserEvent) -> bool:
        """Whether he keeps up."""
        if self._news.qsize() >= MOST_UNREAD:
            return False
        self._news.put_nowait(news)
        return True

    def let_go(self, at_once: bool) -> None:
        """He is told nothing more; at once: nor what he has not read."""
        while at_once and not self._news.empty():
            self._news.get_nowait()
        self._news.put_nowait(None)

    async def read(self) -> AsyncIterator[BrowserEvent]:
        """Yield what the subscriber is sent, as it comes."""
        while (news := await self._news.get()) is not None:
            yield news


class Watch:
    """A match, or those of a ladder, as they are played."""

    def __init__(self, messages: Messages, *, follows: bool, forget: Callable[[Watch], None], step_s: float) -> None:
        """Begins at once, on the event loop that runs.

        follows: one match after the other, for ever; forget: called when this is no longer good for readers.
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
        self._linger: asyncio.TimerHandle | None = None  # once the last reader has gone
        self._picture = _Picture()
        self._lines: list[str] = []
        self._number = 0
        self._status = BrowserEvent(
            "status", _status("Waiting for the arena, which tells spectators a little later than the bots.")
        )
        # First, for where there can be no thread nothing is to be left.
        threading.Thread(target=self._read, name="live", daemon=True).start()
        self._showing = self._loop.create_task(self._show())
        self._showing.add_done_callback(self._shown)

    # -- readers
    def join(self, visitor: str = "") -> LiveSubscriber:
        """One more; he is told how the table looks now, and then what changes."""
        reader = LiveSubscriber(visitor)
        self._readers.add(reader)
        self._stay()
        reader.tell(self._status)
        if self._lines:
            reader.tell(BrowserEvent("whole", _text({"number": self._number, "lines": self._lines})))
        return reader

    def leave(self, reader: LiveSubscriber) -> None:
        """He has gone."""
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
        """How many there are."""
        return len(self._readers)

    @property
    def kept_by(self) -> str | None:
        """The visitor who looks at it alone, in however many windows."""
        visitors = {reader.visitor for reader in self._readers}
        return visitors.pop() if len(visitors) == 1 else None

    def end(self, text: str = "") -> None:
        """End the watch.  text: what its readers see."""
        if text:
            self._say(text, is_trouble=True)
            self._tell(BrowserEvent("over", "{}"))
        self._forget(self)
        self.close()

    def close(self) -> None:
        """Nothing more is told."""
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
                text = "This ladder is not shown here any more." if self._follows else NOT_PLAYED
                self._hand(_Trouble(text, is_end=True))
                return
            except CutpurseError:  # it has enough who watch, or speaks another version
                self._hand(_Trouble(REFUSED, is_end=True))
                return
            except Exception:
                self._hand(_Trouble(BROKEN, is_end=True))
                raise  # the log of the process has it

    @contextmanager
    def _opened(self) -> Iterator[WatchStream]:
        """Yield the stream for as long as it is read, or until `close`."""
        stream = self._stream = self._messages()
        try:
            if self._stop.is_set():  # so it was closed before it was there
                stream.close()
            yield stream
        finally:
            stream.close()

    def _hand(self, step: Watched | _Trouble) -> bool:
        """Hand a step to the event loop, and wait while too many lie there; whether somebody still wants them."""
        while not self._room.acquire(timeout=1.0):
            if self._stop.is_set():
                return False
        try:
            self._loop.call_soon_threadsafe(self._add, step)
        except RuntimeError:  # the loop is closed
            return False
        return not self._stop.is_set()

    # -- the task that shows
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
                self._say(step.text or "The match is over.", is_trouble=not step.is_end or bool(step.text))
                if step.is_end:
                    self._tell(BrowserEvent("over", "{}"))
                    self.end()
                    return
                continue
            if isinstance(step, WatchBegin):
                self._say(_began(step), is_trouble=False)
            self._draw(step, int(stays_s * 800))
            if isinstance(step, WatchEnd) and self._follows:
                self._say("The match is over; the next one is shown as soon as it begins.", is_trouble=False)
                stays_s = OVER_S * stays_s / self._step_s if self._step_s else 0.0
            await asyncio.sleep(stays_s)

    def _shown(self, task: asyncio.Task[None]) -> None:
        """Note that the task has ended, in order or by an error."""
        if task.cancelled() or (problem := task.exception()) is None:
            return
        self._loop.call_exception_handler({"message": "a live table broke down", "exception": problem, "task": task})
        self.end(BROKEN)

    def _take(self, most: int) -> Watched | _Trouble:
        """Return the next waiting step, or several moves of a match as one."""
        step = self._waiting.popleft()
        taken = 1
        if isinstance(step, WatchBegin):  # of matches that are over already only the newest is shown
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
    """What is followed now, by match or ladder."""

    def __init__(self, *, step_s: float = STEP_S) -> None:
        self.is_closed = False
        self._step_s = step_s
        self._watches: dict[tuple[str, str], Watch] = {}

    def join(self, match: str, ladder: str, messages: Messages, visitor: str = "") -> tuple[Watch, LiveSubscriber]:
        """Return the watch of a match or ladder, begun if there is none, and a new reader of it.

        visitor: who he is, as far as that can be told; who looks at most makes room where there is none.
        """
        key = match, ladder
        if key not in self._watches:
            self._make_room(visitor)

            def forget(watch: Watch) -> None:
                if self._watches.get(key) is watch:
                    del self._watches[key]

            self._watches[key] = Watch(messages, follows=bool(ladder), forget=forget, step_s=self._step_s)
        watch = self._watches[key]
        return watch, watch.join(visitor)

    def _make_room(self, visitor: str) -> None:
        """Let go of one, where many are followed: one that nobody looks at, else the oldest of whoever has most alone.

        As far as he still has more than the new visitor; where nobody has, the server says whether there is room.
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
        """How many read."""
        return sum(watch.readers for watch in self._watches.values())

    def close(self) -> None:
        """Nothing is followed any more, and nobody may join."""
        self.is_closed = True
        for watch in list(self._watches.values()):
            watch.close()
        self._watches.clear()


class _Picture:
    """A match as it is drawn: what was told of it so far."""

    def __init__(self) -> None:
        self._began: WatchBegin | None = None
        self._view: View | None = None
        self._asked: tuple[int, ...] = ()
        self._history: ZoneHistory | None = None
        self._told: deque[EventLine] = deque(maxlen=MOST_TOLD)
        self._at_ms = 0

    def of(self, step: Watched, follows: bool) -> str:
        """Draw the table after this step."""
        if isinstance(step, WatchBegin):
            self._began = step
            self._asked, self._at_ms, self._history = (), 0, None
            self._told.clear()
        began = self._began
        assert began is not None  # `watched` tells of nothing before
        events = () if isinstance(step, WatchBegin) else step.events
        if not isinstance(step, WatchEnd):
            self._view = step.view.raw
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
            marks=_marks(result),
            history=self._history,
        )
        self._told.extend(made.told)
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


def _marks(result: MatchResult | None) -> dict[int, SeatMarks]:
    if result is None:
        return {}
    return {
        seat: SeatMarks(
            place=result.places[seat] if result.places else None,
            score=result.scores[seat] if result.scores else None,
            end_cause="" if cause is EndCause.NORMAL else cause.value.replace("_", " "),
        )
        for seat, cause in enumerate(result.end_causes)
    }


def _began(step: WatchBegin) -> str:
    where = f" on {step.table.ladder}" if step.table.ladder else ""
    late = f", told {step.delay_ms / 1_000:g} s later than the bots" if step.delay_ms else ""
    return f"Match {step.table.match[:8]}{where}{late}"


def _status(text: str, *, is_trouble: bool = False) -> str:
    return _text({"text": text, "trouble": is_trouble})


def _text(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
