"""What can be seen of an arena from inside while it plays: how long answers take, and how much goes over its streams.

To look costs a little of each decision, so the bench counts decisions first and looks afterwards. Looked at are the
envelopes that a `Link` reads and sends, and what stands in them.
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
    """Its methods can be replaced; in the compiled build those of `Link` itself cannot."""


def to_be_watched() -> None:
    """From now on links are such that `watching` sees what they do."""
    there: Any = sessions_module
    there.Link = _Link


@dataclass
class Seen:
    """Of the time in which somebody looked."""

    took: list[float] = field(default_factory=list)  # from a decision's hand-over to its answer, seconds
    sent_bytes: int = 0  # of envelopes to bots
    read_bytes: int = 0  # of those from bots


@contextmanager
def watching() -> Iterator[Seen]:
    """Look for the length of the block."""
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
