"""The last answers of a league, for pages while its server does not answer.

A server that hangs or restarts must not take its page down. After waiting for a second, a page gets the last known
answer and says how old it is. While the server is away, one caller per second tries it, and no other caller waits.
All methods are thread-safe. This module knows no page and no question.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final, TypeVar

from google.protobuf.message import Message

from cutpurse.engine.errors import CutpurseError
from cutpurse.page.language.speaking import gettext
from cutpurse.wire.errors import ServerUnreachable

__all__ = ["LastKnown"]

WAIT_S: Final = 1.0  # for a new answer to a question with a known one
RETRY_S: Final = 1.0  # between two calls to a server that is away
MAX_BYTES: Final = 32 * 1024 * 1024  # of all known answers together

Answer = TypeVar("Answer", bound=Message)
Told = TypeVar("Told")


class LastKnown:
    """The last answer to each question, and whether the server answers now."""

    def __init__(self, clock: Callable[[], float], now_ms: Callable[[], int], wait_s: float = WAIT_S) -> None:
        """Create an empty store of answers.

        Args:
            clock: Returns monotonic seconds.
            now_ms: Returns milliseconds since 1970.
            wait_s: Seconds to wait for a new answer to a question with a known one.
        """
        self._clock, self._now_ms, self._wait_s = clock, now_ms, wait_s
        # Serialized, so that MAX_BYTES bounds the memory; the most recent answer comes last.
        self._known: OrderedDict[object, tuple[type[Message], bytes]] = OrderedDict()
        self._bytes = 0
        self._answered_ms = now_ms()
        self._is_away = False
        self._retry_at = 0.0
        self._lock = threading.Lock()

    @property
    def away_since_ms(self) -> int:
        """Timestamp of the last answer, in milliseconds since 1970, if the server does not answer now; else 0."""
        return self._answered_ms if self._is_away else 0

    def call(self, ask: Callable[[], Told]) -> Told:
        """Call `ask`, which asks the server, and note whether the server answers. Its errors are raised."""
        try:
            answer = ask()
        except ServerUnreachable:
            self._lost()
            raise
        except CutpurseError:  # the server answers, with a refusal
            self._found()
            raise
        self._found()
        return answer

    def get(self, question: object, ask: Callable[[], Answer], *, falls_back: bool) -> Answer:
        """Return the server's answer to a question, or the last known one if the server does not answer.

        Args:
            question: Key of the question.
            ask: Asks the server, by way of `call`.
            falls_back: Whether the last known answer may be returned.

        Raises:
            ServerUnreachable: If the server is away, and there is no known answer or it may not be returned.
        """
        known = self._known.get(question) if falls_back else None
        try:
            self.check()
            answer = ask() if known is None else self._waited(ask)
        except (ServerUnreachable, TimeoutError):
            if known is None:
                raise
            kind, text = known
            return kind.FromString(text)  # type: ignore[return-value]  # of the same question
        except CutpurseError:  # refused from now on, so the known answer must not be shown later
            self._forget(question)
            raise
        if falls_back:
            self._keep(question, answer)
        return answer

    def check(self) -> None:
        """Allow one call per second to a server that is away.

        Raises:
            ServerUnreachable: If another caller tried less than a second ago.
        """
        with self._lock:
            now = self._clock()
            if self._is_away and now < self._retry_at:
                raise ServerUnreachable(gettext("the server does not answer"))
            self._retry_at = now + RETRY_S

    def _waited(self, ask: Callable[[], Answer]) -> Answer:
        """Call `ask` on a new daemon thread, which does not delay the end of the process.

        Raises:
            TimeoutError: If there is no answer in time.
        """
        future: Future[Answer] = Future()

        def run() -> None:
            try:
                future.set_result(ask())
            except BaseException as problem:
                future.set_exception(problem)

        threading.Thread(target=run, name="asking", daemon=True).start()
        try:
            return future.result(self._wait_s)
        except TimeoutError:
            self._lost()
            raise

    def _lost(self) -> None:
        with self._lock:
            self._is_away = True
            self._retry_at = self._clock() + RETRY_S

    def _found(self) -> None:
        with self._lock:
            self._is_away = False
            self._answered_ms = self._now_ms()

    def _forget(self, question: object) -> None:
        with self._lock:
            self._drop(question)

    def _drop(self, question: object) -> None:
        if (known := self._known.pop(question, None)) is not None:
            self._bytes -= len(known[1])

    def _keep(self, question: object, answer: Message) -> None:
        text = answer.SerializeToString()
        with self._lock:
            self._drop(question)
            self._known[question] = type(answer), text
            self._bytes += len(text)
            while self._bytes > MAX_BYTES:
                self._bytes -= len(self._known.popitem(last=False)[1][1])
