"""The sender: takes notices from the outbox, delivers them, and stores what became of them.

    sender = Sender(store, channels.deliver, log, utc, jitter=random.random)
    sender.begin()    # deliver on threads of its own
    sender.look()     # again and again
    sender.close()    # before the store

No match ever waits for it: notices are in the outbox already, and every claim and every outcome is one short
transaction. A thread pauses between two deliveries, so that the event loop soon has its turn. Each receiver is served
by one thread at a time, so its notices arrive in order; the next one is not sent before the last one has arrived. After
a failure the receiver is left alone for a while that doubles. A receiver that has failed for `GIVE_UP_S` is paused.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from queue import Empty, SimpleQueue
from typing import Final

from cutpurse.leaderboard.errors import LeaderboardError
from cutpurse.leaderboard.store import Store
from cutpurse.server.logs import Logger, traceback_locations
from cutpurse.server.parts.notices.errors import DeliveryFailed
from cutpurse.server.parts.notices.outbox import (
    LONGEST_WAIT_S,
    Claim,
    Outcome,
    Waiting,
    claim_due,
    settle,
)
from cutpurse.server.parts.notices.receivers import WEBHOOK, ReceiverCounts, ReceiverEntry, count_receivers

__all__ = ["GIVE_UP_S", "LOOK_S", "Deliver", "Sender", "wait_after"]

LOOK_S: Final = 1.0  # seconds between looks into the outbox, so a receiver gets `MOST_EACH` notices per second
MOST_EACH: Final = 10  # notices to a webhook at each look
MOST_TO_PEOPLE: Final = 1  # notices to mail or chat at each look
WORKERS: Final = 4  # deliveries at once
PAUSE_S: Final = 0.08  # between two deliveries of a job, whose nine pauses are shorter than the time between looks
JOB_S: Final = 30.0  # after this time a job begins no further delivery
CLAIM_S: Final = 120.0  # longer than any job: after it, another sender may try
FIRST_WAIT_S: Final = 1.0  # seconds after the first failure; doubled each time, up to LONGEST_WAIT_S
GIVE_UP_S: Final = 24 * 3_600.0
MIN_FAILURES: Final = 10  # failures before a receiver is given up, since the server may have been down for a day

Deliver = Callable[[ReceiverEntry, str, str], None]


class Sender:
    """The sender of one server.

    Attributes:
        counts: Receivers and waiting notices, as of the last look.
        delivered: Delivered notices.
        failed: Failed deliveries.
        given_up: Receivers that were paused.
    """

    def __init__(
        self,
        store: Store,
        deliver: Deliver,
        log: Logger,
        utc: Callable[[], datetime],
        jitter: Callable[[], float],
        run: Callable[[Callable[[], None]], None] | None = None,
        pause: Callable[[float], object] | None = None,
    ) -> None:
        """Set up without a thread.

        Args:
            store: Where notices wait.
            deliver: Delivers a body with its ID to a receiver; may raise DeliveryFailed.
            log: The server's log.
            utc: Returns the time of day.
            jitter: Returns random numbers from 0 to 1.
            run: Runs a job, now or later. Default: on threads of this sender.
            pause: Waits for seconds. Default: at most until this sender is closed.
        """
        self.counts = ReceiverCounts(0, 0, 0)
        self.delivered = self.failed = self.given_up = 0
        self._store = store
        self._deliver = deliver
        self._log = log
        self._utc = utc
        self._jitter = jitter
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._run = run or self._jobs.put
        self._done: SimpleQueue[Outcome] = SimpleQueue()
        self._unsettled: list[Outcome] = []
        self._busy = 0
        self._closing = threading.Event()
        self._pause = pause or self._closing.wait
        self._looking = threading.Lock()  # a look that was given up may still go on at the end

    def begin(self) -> None:
        """Deliver from now on, on threads."""
        for number in range(WORKERS):
            threading.Thread(target=self._work, name=f"notices {number}", daemon=True).start()

    def close(self) -> None:
        """Stop sending. A delivery that is under way is left alone, and may be repeated by the next server."""
        self._closing.set()
        for _ in range(WORKERS):
            self._jobs.put(lambda: None)  # wakes a thread that waits
        try:
            with self._looking:
                self._settle()
        except LeaderboardError as problem:  # the claims run out, and the next server sends them again
            self._log.warning("notices not settled", text=str(problem))

    def look(self) -> None:
        """Store what became of finished jobs, and begin new ones.

        An error only costs time, since nothing leaves the outbox before it has arrived.

        Raises:
            StoreError: If the database does not answer.
        """
        with self._looking:
            self._settle()
            self._begin_jobs()

    def _begin_jobs(self) -> None:
        self.counts = self._store.run(count_receivers)
        free = WORKERS - self._busy
        if not self.counts.waiting or free <= 0:
            return
        now = self._utc()
        until = now + timedelta(seconds=CLAIM_S)
        for claim in claim_due(self._store, now, until, free, MOST_EACH):
            self._busy += 1
            self._run(partial(self._serve, claim))

    def _settle(self) -> None:
        """Store finished jobs; they stay unsettled if that fails."""
        try:
            while True:
                outcome = self._done.get_nowait()
                self._unsettled.append(outcome)
                self._busy -= 1
                self.delivered += len(outcome.delivered)
                self.failed += bool(outcome.problem)
                self.given_up += outcome.is_given_up
        except Empty:
            pass
        if self._unsettled:
            self._store.write_uncached(settle, self._unsettled, self._utc())
            self._unsettled = []

    # -- threads
    def _work(self) -> None:
        while not self._closing.is_set():
            self._jobs.get()()

    def _serve(self, claim: Claim) -> None:
        """Deliver the notices of a claim until one fails, and hand over the outcome."""
        receiver, began = claim.receiver, self._utc()
        most = MOST_EACH if receiver.kind == WEBHOOK else MOST_TO_PEOPLE
        delivered: list[Waiting] = []
        problem = ""
        for number, notice in enumerate(claim.notices[:most]):
            if number:
                self._pause(PAUSE_S)
            if self._closing.is_set() or (self._utc() - began).total_seconds() > JOB_S:
                break
            try:
                self._deliver(receiver, notice.event_id, notice.body)
            except DeliveryFailed as failure:
                problem = str(failure)
                break
            except Exception as failure:
                facts = {"error": type(failure).__name__, "places": traceback_locations(failure)}
                self._log.error("delivery broke", receiver=receiver.id, **facts)
                problem = "the server made a fault"
                break
            delivered.append(notice)
        self._done.put(self._outcome(receiver, delivered, problem))

    def _outcome(self, receiver: ReceiverEntry, delivered: list[Waiting], problem: str) -> Outcome:
        if not problem:
            return Outcome(receiver.id, delivered)
        now = self._utc()
        failures = 1 if delivered else receiver.failures + 1
        since = now if delivered else receiver.failing_since or now
        is_given_up = failures >= MIN_FAILURES and (now - since).total_seconds() >= GIVE_UP_S
        if is_given_up:
            self._log.warning("receiver paused", receiver=receiver.id, owner=receiver.owner, text=problem)
        retry_at = now + timedelta(seconds=wait_after(failures, self._jitter()))
        return Outcome(receiver.id, delivered, problem, retry_at, is_given_up)


def wait_after(failures: int, jitter: float) -> float:
    """Return the seconds until the next try.

    Args:
        failures: Failed deliveries since the last successful one, at least 1.
        jitter: From 0 to 1; so receivers that failed together are not tried together.
    """
    longest: float = min(FIRST_WAIT_S * 2.0 ** min(failures - 1, 30), LONGEST_WAIT_S)
    return longest * (0.5 + 0.5 * jitter)
