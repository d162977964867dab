"""The part `notices` as the server finds it: its settings, and how it is opened."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from cutpurse.engine.errors import UsageError
from cutpurse.server.hosting.configuration import Value
from cutpurse.server.hosting.part import PartKind
from cutpurse.server.settings import Setting, grouped
from cutpurse.wire.errors import needs

if TYPE_CHECKING:
    from cutpurse.leaderboard.write_hooks import WriteHooks
    from cutpurse.server.hosting.part import Core, Figure, Part
    from cutpurse.server.parts.notices.channels import DeliveryTerms

__all__ = ["NOTICES"]

SETTINGS: Final = grouped(
    "Notices",
    Setting(
        "notify", "list", (), "KIND", "Send notices: webhook, or a kind of apprise such as mailto (repeatable).", "none"
    ),
    Setting(
        "notify_networks",
        "list",
        (),
        "NETWORK",
        "Network such as 10.1.0.0/16 that webhooks may be in (repeatable).",
        "the public internet",
    ),
    Setting("page_url", "text", "", "URL", "Where people reach the page, for links in notices.", "no links"),
)


def _read(values: Mapping[str, Value]) -> DeliveryTerms | None:
    """Return the receivers that notices are sent to; None if none are sent.

    Raises:
        UsageError: If a kind is unknown, or a network or the address of the page has the wrong form.
    """
    from cutpurse.server.parts.notices.address_rule import read_networks
    from cutpurse.server.parts.notices.channels import WEBHOOK, DeliveryTerms

    kinds, networks, page_url = (values[name] for name in ("notify", "notify_networks", "page_url"))
    if not kinds.value:
        for setting in (networks, page_url):
            if setting.value:
                raise UsageError(f"{setting.where}: it is for notices; add --notify KIND")
        return None
    if others := [kind for kind in kinds.value if kind != WEBHOOK]:
        with needs("notify"):
            import apprise  # noqa: F401  # imported here, and not while bots play
        from cutpurse.server.parts.notices.apprise_channel import is_apprise_kind

        for kind in others:
            if kind in ("http", "https") or not is_apprise_kind(kind):
                raise UsageError(f"{kinds.where} {kind!r:.80}: it is webhook, or a kind of apprise such as mailto")
    if page_url.value and not re.fullmatch(r"https?://[^\s?#]+", page_url.value, re.ASCII):
        raise UsageError(f"{page_url.where} {page_url.value!r:.100}: it is an address such as https://league.example")
    try:
        return DeliveryTerms(tuple(kinds.value), read_networks(networks.value), page_url.value)
    except ValueError as problem:
        raise UsageError(f"{networks.where}: {problem}; a network is written as 10.1.0.0/16") from None


def _open(terms: DeliveryTerms, core: Core) -> Part:
    from cutpurse.server.parts.notices.part import Notices, WithoutTokens

    return Notices(terms, core) if core.asks_for_tokens else WithoutTokens()


def _listen(hooks: WriteHooks) -> None:
    from cutpurse.server.parts.notices.sources import listen

    listen(hooks)


def _figures_when_off() -> Iterable[Figure]:
    from cutpurse.server.parts.notices.part import figures

    return figures()


NOTICES: Final = PartKind(
    name="notices",
    settings=SETTINGS,
    read=_read,
    open=_open,
    listen=_listen,
    figures_when_off=_figures_when_off,
)
