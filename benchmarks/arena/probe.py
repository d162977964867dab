"""The probe in a running arena: the latency of answers, and the bytes on its streams.

Probing slows each decision a little, so the bench counts decisions first and probes afterwards. The probe reads the
envelopes that a `Link` receives and sends.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from cutpurse.server.streams import sessions as sessions_module
from cutpurse.server.streams.link import Link
from cutpurse.server.streams.server_session import ServerSession
from cutpurse.v1 import arena_pb2

__all__ = ["Seen", "to_be_watched", "watching"]


class _Link(Link):
    """A link with replaceable methods; in the compiled build those of `Link` itself cannot be replaced."""


def to_be_watched() -> None:
    """Make all new links observable by `watching`."""
    there: Any = sessions_module
    there.Link = _Link


@dataclass
class Seen:
    """The observations of one probe."""

    took: list[float] = field(default_factory=list)  # seconds from passing a decision to the stream to its answer
    sent_bytes: int = 0  # bytes of envelopes to bots
    read_bytes: int = 0  # bytes of envelopes from bots


@contextmanager
def watching() -> Iterator[Seen]:
    """Probe for the length of the block."""
    seen = Seen()
    open_since: dict[tuple[ServerSession, int, int], float] = {}

    def next_envelope(self: Link, now: float) -> Any:
        envelope = Link.next_envelope(self, now)
        if envelope is not None:
            seen.sent_bytes += len(envelope)
            for decision in arena_pb2.PlayResponse.FromString(envelope).decisions:
                open_since.setdefault((self.session, decision.table, decision.decision), now)
        return envelope

    def receive(self: Link, envelope: bytes, now: float) -> Any:
        seen.read_bytes += len(envelope)
        for answer in arena_pb2.PlayRequest.FromString(envelope).answers:
            since = open_since.pop((self.session, answer.table, answer.decision), None)
            if since is not None:
                seen.took.append(now - since)
        return Link.receive(self, envelope, now)

    with patch.object(_Link, "next_envelope", next_envelope), patch.object(_Link, "receive", receive):
        yield seen
