"""Mail and chat through the library apprise, for the kinds of addresses that the host allows.

apprise opens its own connections, so `address_rule` does not apply: the host decides by the kind. The library is an
extra, imported only where such a kind is allowed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cutpurse.server.parts.notices.errors import DeliveryFailed, UnsuitableAddress

if TYPE_CHECKING:
    from apprise.plugins import NotifyBase

__all__ = ["check_apprise_address", "is_apprise_kind", "send_by_apprise"]

CONNECT_S: Final = 5.0
READ_S: Final = 10.0


def is_apprise_kind(scheme: str) -> bool:
    """Return whether apprise knows addresses that begin with this scheme."""
    from apprise.manager_plugins import NotificationManager

    return scheme in NotificationManager()  # type: ignore[no-untyped-call]  # no types of it


def check_apprise_address(address: str) -> None:
    """Check the form of an address.  Raises UnsuitableAddress."""
    _plugin(address)


def send_by_apprise(address: str, title: str, text: str) -> None:
    """Send a text.  Raises DeliveryFailed."""
    try:
        plugin = _plugin(address)
    except UnsuitableAddress as problem:
        raise DeliveryFailed(str(problem)) from None
    plugin.socket_connect_timeout, plugin.socket_read_timeout = CONNECT_S, READ_S  # whatever the address says
    try:
        is_sent = plugin.notify(body=text, title=title)
    except Exception:  # a plugin may raise anything, and its text may have the password
        is_sent = False
    if not is_sent:
        raise DeliveryFailed("the service did not accept it")


def _plugin(address: str) -> NotifyBase:
    from apprise import Apprise, AppriseAsset

    asset = AppriseAsset(app_id="Cutpurse", app_desc="Cutpurse", async_mode=False, plugin_paths=[])
    plugin = Apprise.instantiate(address, asset=asset, suppress_exceptions=True)
    if plugin is None:
        raise UnsuitableAddress("apprise cannot read this address; see its documentation for the form")
    return plugin
