"""The errors of deliveries; each text is for the owner of the receiver, and quotes nothing that was answered.

DeliveryFailed         it did not arrive now; a later try may succeed
`-- AddressRefused     this server does not connect there
UnsuitableAddress      it is no address of a receiver here
"""

from __future__ import annotations

__all__ = ["AddressRefused", "DeliveryFailed", "UnsuitableAddress"]


class DeliveryFailed(Exception):
    """A notice that did not arrive, or perhaps did."""


class AddressRefused(DeliveryFailed):
    """An address in a network that the server does not post to."""


class UnsuitableAddress(Exception):
    """A text that is no address of a receiver, or of a kind that the host does not allow."""
