"""The ways out of a server: webhooks, and the kinds of apprise that its host allows.

channels = Channels(DeliveryTerms(kinds=("webhook", "mailto")), rule, utc)
channels.kind_of("https://example.org/hook")     # "webhook", or UnsuitableAddress
channels.deliver(receiver, event_id, body)       # or DeliveryFailed
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from cutpurse.server.parts.notices.address_rule import AddressRule, Network
from cutpurse.server.parts.notices.apprise_channel import check_apprise_address, send_by_apprise
from cutpurse.server.parts.notices.errors import DeliveryFailed, UnsuitableAddress
from cutpurse.server.parts.notices.receivers import WEBHOOK, ReceiverEntry
from cutpurse.server.parts.notices.signature import signed_headers
from cutpurse.server.parts.notices.webhook import post, webhook_address

__all__ = ["WEBHOOK", "Channels", "DeliveryTerms", "shown_address"]

_HTTP: Final = ("http", "https")


@dataclass(frozen=True, slots=True)
class DeliveryTerms:
    """What a host allows.

    Attributes:
        kinds: Kinds of receivers: "webhook", and schemes of apprise.
        networks: Networks that webhooks may be in although they are not public.
        page_url: Where the page is reached from outside; empty if it is not, then notices have no links.
    """

    kinds: Sequence[str]
    networks: Sequence[Network] = ()
    page_url: str = ""


class Channels:
    """Checks addresses of receivers, and delivers notices to them. Thread-safe; every method may wait for networks."""

    def __init__(
        self,
        terms: DeliveryTerms,
        rule: AddressRule,
        utc: Callable[[], datetime],
        trust: ssl.SSLContext | None = None,
    ) -> None:
        """Set up.

        Args:
            terms: What the host allows.
            rule: Where webhooks may be.
            utc: Returns the time of day.
            trust: Checks certificates of webhooks. Default: the system's authorities.
        """
        self._terms = terms
        self._rule = rule
        self._utc = utc
        self._given_trust = trust

    @cached_property
    def _trust(self) -> ssl.SSLContext:
        return self._given_trust or ssl.create_default_context()  # reads hundreds of certificates

    def kind_of(self, address: str) -> str:
        """Check the address of a new receiver, and return its kind.

        Raises:
            UnsuitableAddress: If it has no such form, or a kind that is not allowed.
            DeliveryFailed: If its host cannot be resolved; an AddressRefused if it may not be connected to.
        """
        scheme = address.partition("://")[0].lower()
        kind = WEBHOOK if scheme in _HTTP else scheme
        if kind not in self._terms.kinds:
            raise UnsuitableAddress(f"this server sends to: {', '.join(self._terms.kinds)}; ask its host for others")
        if kind == WEBHOOK:
            webhook = webhook_address(address)
            self._rule.addresses(webhook.host, webhook.port)
        else:
            check_apprise_address(address)
        return kind

    def deliver(self, receiver: ReceiverEntry, event_id: str, body: str) -> None:
        """Deliver a notice.

        Args:
            receiver: The receiver.
            event_id: ID of the notice.
            body: Its body, as it is stored.

        Raises:
            DeliveryFailed: If it did not arrive.
        """
        if receiver.kind not in self._terms.kinds:
            raise DeliveryFailed(f"this server does not send to {receiver.kind} any more")
        content: dict[str, Any] = json.loads(body)
        content["link"] = f"{self._terms.page_url.rstrip('/')}{content['link']}" if self._terms.page_url else None
        if receiver.kind != WEBHOOK:
            title = f"Cutpurse: {content['event'].replace('_', ' ')}"
            send_by_apprise(receiver.address, title, "\n".join(filter(None, (content["text"], content["link"]))))
            return
        sent = json.dumps(content, separators=(",", ":")).encode()
        headers = signed_headers(receiver.secret, event_id, int(self._utc().timestamp()), sent)
        try:
            webhook = webhook_address(receiver.address)
        except UnsuitableAddress as problem:
            raise DeliveryFailed(str(problem)) from None
        post(webhook, self._rule, headers, sent, self._trust)


def shown_address(kind: str, address: str) -> str:
    """Return an address without what may be secret in it."""
    if kind != WEBHOOK:
        return f"{kind}://..."
    scheme, _, rest = address.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.partition('?')[0]}{'/...' if slash and path else '/'}"
