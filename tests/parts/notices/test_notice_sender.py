"""The sender delivers at least once and in order, waits longer after each failure, and gives up in the end."""

from __future__ import annotations

import io
import json
import random
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection

from cutpurse.leaderboard.errors import StoreError
from cutpurse.leaderboard.owner_registry import NewToken, create_tokens
from cutpurse.leaderboard.store import Store
from cutpurse.server.logs import logger
from cutpurse.server.parts.notices import outbox, receivers
from cutpurse.server.parts.notices import sender as senders
from cutpurse.server.parts.notices.address_rule import AddressRule, read_networks
from cutpurse.server.parts.notices.channels import Channels, DeliveryTerms
from cutpurse.server.parts.notices.errors import DeliveryFailed
from cutpurse.server.parts.notices.notice import test_of as notice_of
from cutpurse.server.parts.notices.outbox import Outcome, queue_notices
from cutpurse.server.parts.notices.receivers import WEBHOOK, NewReceiver, ReceiverEntry
from cutpurse.server.parts.notices.sender import GIVE_UP_S, MIN_FAILURES, Sender, wait_after
from tests.parts.notices.webhook_receiver import OK, Received, webhook_receiver

DAWN = datetime(2026, 11, 26, 6, tzinfo=UTC)
NO = b"HTTP/1.1 503 No\r\n\r\n"


class Clock:
    """A clock that goes when the test says so, and keeps the pauses of a sender."""

    def __init__(self) -> None:
        self.now = DAWN
        self.pauses: list[float] = []

    def __call__(self) -> datetime:
        return self.now

    def pass_s(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class Deliveries:
    """What arrived at each receiver; `fails` decides about each try."""

    def __init__(self) -> None:
        self.arrived: dict[int, list[str]] = {}
        self.tries = 0
        self.is_down = False

    def __call__(self, receiver: ReceiverEntry, event_id: str, body: str) -> None:
        self.tries += 1
        if self.is_down:
            raise DeliveryFailed("it answered 503")
        self.arrived.setdefault(receiver.id, []).append(event_id)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "league.db") as opened:
        opened.write(create_tokens, [NewToken("ann"), NewToken("bob"), NewToken("root", scopes=("admin",))], DAWN)
        yield opened


def listen(store: Store, owner: str = "ann", address: str = "https://ann.example", kind: str = WEBHOOK) -> int:
    return store.write(receivers.add_receiver, NewReceiver(owner, kind, address, b"key"), DAWN).id


def queue(store: Store, owner: str, count: int, first: int = 0) -> list[str]:
    """Queue that many notices for an owner, and return their IDs."""
    notices = [replace(notice_of(DAWN, first + number), owner=owner) for number in range(count)]
    store.write(lambda connection: queue_notices(connection, notices))
    return [notice.id for notice in notices]


def sender_of(store: Store, deliver: senders.Deliver, clock: Clock, log: io.StringIO | None = None) -> Sender:
    return Sender(
        store,
        deliver,
        logger(log or io.StringIO(), "debug"),
        clock,
        lambda: 1.0,
        run=lambda job: job(),
        pause=clock.pauses.append,
    )


def local_channels(clock: Clock) -> Channels:
    """Channels that may post to this machine."""
    return Channels(DeliveryTerms((WEBHOOK,)), AddressRule(read_networks(["127.0.0.1/32"])), clock)


def test_notices_arrive_in_order_and_few_at_each_look(store: Store) -> None:
    ann, bob = listen(store), listen(store, "bob")
    sent = {ann: queue(store, "ann", 25), bob: queue(store, "bob", 3)}
    deliveries, clock = Deliveries(), Clock()
    sender = sender_of(store, deliveries, clock)
    sender.look()
    assert {receiver: len(ids) for receiver, ids in deliveries.arrived.items()} == {ann: 10, bob: 3}
    for _ in range(3):
        sender.look()
    assert deliveries.arrived == sent
    assert (sender.delivered, sender.failed, sender.counts.waiting) == (28, 0, 0)


def test_a_pause_between_two_deliveries_leaves_the_event_loop_its_turn(store: Store) -> None:
    for owner in ("ann", "bob"):
        listen(store, owner)
        queue(store, owner, 10)
    clock = Clock()
    sender_of(store, Deliveries(), clock).look()
    assert len(clock.pauses) == 2 * 9
    assert sum(clock.pauses) / 2 < senders.LOOK_S, "a receiver is free again at the next look"


def test_mail_and_chat_get_one_at_each_look(store: Store) -> None:
    people = listen(store, address="mailto://ann.example", kind="mailto")
    queue(store, "ann", 3)
    deliveries = Deliveries()
    sender = sender_of(store, deliveries, Clock())
    for count in (1, 2, 3):
        sender.look()
        assert len(deliveries.arrived[people]) == count


def test_a_failing_receiver_is_tried_again_after_a_while_that_doubles(store: Store) -> None:
    ann, bob = listen(store), listen(store, "bob")
    queue(store, "ann", 2)
    deliveries, clock = Deliveries(), Clock()
    deliveries.is_down = True
    sender = sender_of(store, deliveries, clock)
    waits = []
    for _ in range(14):
        sender.look()
        sender.look()
        retry_at = store.run(receivers.receiver, ann).retry_at
        assert retry_at is not None
        waits.append((retry_at - clock.now).total_seconds())
        clock.now = retry_at - timedelta(seconds=0.001)
        before = deliveries.tries
        sender.look()
        assert deliveries.tries == before
        clock.now = retry_at
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600]
    queue(store, "bob", 1)
    deliveries.is_down = False
    sender.look()
    assert len(deliveries.arrived[bob]) == 1, "others do not wait for it"
    sender.look()
    entry = store.run(receivers.receiver, ann)
    assert (entry.failures, entry.problem, entry.waiting) == (0, "", 0)
    assert (sender.delivered, sender.failed) == (3, 14)


def test_waits_differ_by_chance_so_that_not_all_come_back_at_once() -> None:
    assert [wait_after(3, jitter) for jitter in (0.0, 0.5, 1.0)] == [2.0, 3.0, 4.0]
    assert wait_after(10_000, 1.0) == 3600.0


def test_a_receiver_that_fails_for_a_day_is_paused_and_a_test_wakes_it(store: Store) -> None:
    receiver = listen(store)
    (event_id,) = queue(store, "ann", 1)
    deliveries, clock, log = Deliveries(), Clock(), io.StringIO()
    deliveries.is_down = True
    sender = sender_of(store, deliveries, clock, log)
    while store.run(receivers.receiver, receiver).paused is None:
        assert clock.now - DAWN <= timedelta(seconds=GIVE_UP_S + 3_600)
        sender.look()
        sender.look()
        clock.now = store.run(receivers.receiver, receiver).retry_at or clock.now
    entry = store.run(receivers.receiver, receiver)
    assert entry.paused is not None
    assert entry.paused - DAWN >= timedelta(seconds=GIVE_UP_S)
    assert (entry.problem, sender.given_up) == ("it answered 503", 1)
    (line,) = [line for line in map(json.loads, log.getvalue().splitlines()) if line["event"] == "receiver paused"]
    assert (line["receiver"], line["owner"]) == (receiver, "ann")
    tries = deliveries.tries
    clock.pass_s(7 * 86_400)
    queue(store, "ann", 1, first=9)
    sender.look()
    assert (deliveries.tries, store.run(receivers.receiver, receiver).missed) == (tries, 1)
    deliveries.is_down = False
    store.write_uncached(outbox.settle, [Outcome(receiver, (), is_tested=True)], clock.now)
    sender.look()
    sender.look()
    assert deliveries.arrived == {receiver: [event_id]}


def test_a_server_that_was_down_for_a_day_gives_nobody_up_at_once(store: Store) -> None:
    receiver = listen(store)
    queue(store, "ann", 1)
    deliveries, clock = Deliveries(), Clock()
    deliveries.is_down = True
    sender = sender_of(store, deliveries, clock)
    for failures in range(1, MIN_FAILURES):
        sender.look()
        sender.look()
        entry = store.run(receivers.receiver, receiver)
        assert (entry.failures, entry.paused) == (failures, None)
        clock.pass_s(86_400)


def test_a_bug_in_a_delivery_is_logged_without_its_text_and_tried_again(store: Store) -> None:
    receiver, log = listen(store), io.StringIO()
    queue(store, "ann", 1)

    def broken(receiver: ReceiverEntry, event_id: str, body: str) -> None:
        raise ValueError("hidden")

    sender = sender_of(store, broken, Clock(), log)
    sender.look()
    sender.look()
    assert store.run(receivers.receiver, receiver).problem == "the server made a fault"
    assert "delivery broke" in log.getvalue()
    assert "hidden" not in log.getvalue()


def test_what_became_of_a_job_is_stored_once_the_store_can(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    receiver = listen(store)
    queue(store, "ann", 1)
    deliveries = Deliveries()
    sender = sender_of(store, deliveries, Clock())
    sender.look()
    with monkeypatch.context() as full:

        def fails(connection: Connection, outcomes: Sequence[Outcome], now: datetime) -> None:
            raise StoreError("disk full")

        full.setattr(senders, "settle", fails)
        with pytest.raises(StoreError):
            sender.look()
    assert store.run(receivers.receiver, receiver).waiting == 1
    sender.look()
    assert (
        store.run(receivers.receiver, receiver).waiting,
        store.run(receivers.receiver, receiver).delivered,
        deliveries.tries,
    ) == (0, 1, 1)


def test_a_sender_that_is_gone_leaves_what_it_did_not_settle_to_the_next(store: Store) -> None:
    receiver = listen(store)
    sent = queue(store, "ann", 1)
    deliveries, clock = Deliveries(), Clock()
    sender_of(store, deliveries, clock).look()  # it delivers, and is killed before it settles
    second = sender_of(store, deliveries, clock)
    second.look()
    assert deliveries.arrived == {receiver: sent}, "the claim holds"
    clock.pass_s(senders.CLAIM_S)
    second.look()
    assert deliveries.arrived == {receiver: sent * 2}, "again, with the same ID"


def until_all_is_delivered(store: Store, sender: Sender, clock: Clock, receiver: int) -> None:
    """Look, and let the clock go on to the next second, or to the next try."""
    while (entry := store.run(receivers.receiver, receiver)).waiting:
        sender.look()
        clock.now = max(clock.now + timedelta(seconds=1), entry.retry_at or clock.now)


def test_a_receiver_that_fails_every_other_time_loses_nothing(store: Store) -> None:
    """A real server on HTTP, which fails before or after it has taken a notice."""
    rng, taken = random.Random(7), list[str]()

    def answer(request: Received) -> bytes:
        fate = rng.randrange(4)
        if fate != 0:
            taken.append(request.headers["webhook-id"])
        return OK if fate > 1 else NO if rng.randrange(2) else b""

    clock = Clock()
    with webhook_receiver(answer) as running:
        receiver = listen(store, address=running.url)
        sent = queue(store, "ann", 20)
        sender = sender_of(store, local_channels(clock).deliver, clock)
        until_all_is_delivered(store, sender, clock, receiver)
    assert list(dict.fromkeys(taken)) == sent, "all of them, in order"
    assert sender.failed > 5
    assert len(taken) > len(sent), "some came twice, with the same ID"


@pytest.mark.full
@pytest.mark.parametrize("count", [2_000, pytest.param(10_000, marks=pytest.mark.soak)])
def test_a_receiver_that_is_down_half_of_the_time_loses_nothing(count: int, store: Store) -> None:
    """It is up for a minute and down for a minute, and one time in twenty it fails after it has taken a notice."""
    rng, taken, clock = random.Random(8), list[str](), Clock()

    def answer(request: Received) -> bytes:
        if (clock.now - DAWN).total_seconds() // 60 % 2:
            return NO
        taken.append(request.headers["webhook-id"])
        return OK if rng.randrange(20) else NO

    with webhook_receiver(answer) as running:
        receiver = listen(store, address=running.url)
        sent = [event_id for first in range(0, count, 500) for event_id in queue(store, "ann", 500, first)]
        sender = sender_of(store, local_channels(clock).deliver, clock)
        until_all_is_delivered(store, sender, clock, receiver)
    assert list(dict.fromkeys(taken)) == sent, "all of them, in order"
    assert len(taken) > len(sent)
    assert (store.run(receivers.receiver, receiver).delivered, store.run(receivers.receiver, receiver).missed) == (
        count,
        0,
    )
    assert clock.now - DAWN > timedelta(minutes=count // 400)


def test_threads_deliver_and_end(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(senders, "PAUSE_S", 0.001)
    with webhook_receiver() as running:
        receiver = listen(store, address=running.url)
        sender = Sender(store, local_channels(Clock()).deliver, logger(io.StringIO()), Clock(), random.random)
        sender.begin()
        sent = queue(store, "ann", 12)
        while store.run(receivers.receiver, receiver).waiting:
            sender.look()
            threading.Event().wait(0.01)
        sender.close()
        sender.close()
        for thread in threading.enumerate():
            if thread.name.startswith("notices"):
                thread.join(240)
                assert not thread.is_alive(), thread.name
    assert [request.headers["webhook-id"] for request in running.requests] == sent
    with suppress(StoreError):
        sender.look()
    assert sender.delivered == 12
