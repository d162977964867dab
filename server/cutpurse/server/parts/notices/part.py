"""The part `notices` of a server: it sends notices to receivers, which their owners manage."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator, Sequence
from typing import Final

from cutpurse.server.hosting.part import Core, Figure, Part, Service
from cutpurse.server.parts.notices.address_rule import AddressRule
from cutpurse.server.parts.notices.channels import Channels, DeliveryTerms
from cutpurse.server.parts.notices.notify_service import NOTIFY, NotifyService
from cutpurse.server.parts.notices.outbox import release_claims
from cutpurse.server.parts.notices.own_networks import own_networks
from cutpurse.server.parts.notices.receivers import ReceiverCounts
from cutpurse.server.parts.notices.sender import LOOK_S, Sender

__all__ = ["Notices", "WithoutTokens", "figures"]

NO_RECEIVERS: Final = ReceiverCounts(0, 0, 0)


class Notices(Part):
    """Sends the notices that wait, and serves the calls about receivers."""

    def __init__(self, terms: DeliveryTerms, core: Core) -> None:
        """Set up; `begin` and `run` send."""
        self._terms, self._core = terms, core
        self._channels = Channels(terms, AddressRule(terms.networks, own_networks), core.utc)
        self._has_released = False
        self.sender = Sender(core.store, self._channels.deliver, core.log, core.utc, random.random)

    def services(self) -> Sequence[Service]:
        """Return the service of receivers."""
        core = self._core
        service = NotifyService(
            core.store,
            self._channels,
            core.entrance,
            core.log,
            core.utc,
            incident_number=core.incident_number,
            acts=core.acts,
        )
        return [Service(NOTIFY, service.handler())]

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start the threads that deliver."""
        self.sender.begin()

    async def run(self) -> None:
        """Look into the outbox, again and again."""
        if not self._has_released and self._core.store.is_alone:
            await asyncio.to_thread(self._core.store.write_uncached, release_claims)
        self._has_released = True  # later, this server has claims of its own
        while True:
            await asyncio.sleep(LOOK_S)
            await asyncio.to_thread(self.sender.look)

    def close(self) -> None:
        """Stop sending."""
        self.sender.close()

    def figures(self) -> Iterator[Figure]:
        """Yield the figures as of the sender's last look."""
        sender = self.sender
        return figures(sender.counts, sender.delivered, sender.failed, sender.given_up)

    def status(self) -> Sequence[str]:
        """Return how many receivers there are, and what waits for them."""
        counts = self.sender.counts
        return [f"receivers of notices: {counts.receivers}, paused {counts.paused}; {counts.waiting} notices wait"]

    def greeting(self) -> Sequence[str]:
        """Return the line that names the kinds of receivers of this server."""
        return [f"notices are sent to receivers: {', '.join(self._terms.kinds)}"]


class WithoutTokens(Part):
    """Notices of a server without tokens, which sends none."""

    def figures(self) -> Iterator[Figure]:
        """Yield figures that are 0."""
        return figures()

    def greeting(self) -> Sequence[str]:
        """Return the line that says why this server sends no notices."""
        return ["no notices are sent: receivers have owners, and there is no token yet"]


def figures(
    counts: ReceiverCounts = NO_RECEIVERS, delivered: int = 0, failed: int = 0, given_up: int = 0
) -> Iterator[Figure]:
    """Yield the figures of notices."""
    yield Figure("notices_waiting", "Notices that wait to be delivered", counts.waiting)
    yield Figure("notices_delivered", "Delivered notices", delivered, only_grows=True)
    yield Figure("notices_failed", "Failed deliveries of notices, which are tried again", failed, only_grows=True)
    states = {"working": counts.receivers - counts.paused, "paused": counts.paused}
    yield Figure("receivers", "Receivers of notices", states, "state")
    text = "Receivers that were paused because deliveries kept failing"
    yield Figure("receivers_given_up", text, given_up, only_grows=True)
