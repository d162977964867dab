"""What can be seen of an arena from inside while it plays: how long answers take, and how much goes over its streams.

To look costs a little of each decision, so the bench counts decisions first and looks afterwards. Only methods whose
meaning is written down are looked at: `TimedMatch` says when a decision is handed over and answered, `Link` what is
read and sent.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from cutpurse.engine.clocks import OutcomeKind, TimedMatch
from cutpurse.server.streams.link import Link

__all__ = ["Seen", "watching"]


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
    open_since: dict[tuple[TimedMatch, int, int], float] = {}
    handed_over, answer = TimedMatch.handed_over, TimedMatch.answer
    next_envelope, receive = Link.next_envelope, Link.receive

    def watched_handed_over(self: TimedMatch, seat: int, number: int, now: float) -> Any:
        open_since.setdefault((self, seat, number), now)
        return handed_over(self, seat, number, now)

    def watched_answer(self: TimedMatch, seat: int, number: int, option: int | None, now: float) -> Any:
        outcome = answer(self, seat, number, option, now)
        since = open_since.pop((self, seat, number), None)
        if since is not None and outcome.kind is OutcomeKind.ACCEPTED:
            seen.took.append(now - since)
        return outcome

    def watched_next_envelope(self: Link, now: float) -> Any:
        envelope = next_envelope(self, now)
        if envelope is not None:
            seen.sent_bytes += len(envelope)
        return envelope

    def watched_receive(self: Link, envelope: bytes, now: float) -> Any:
        seen.read_bytes += len(envelope)
        return receive(self, envelope, now)

    with (
        patch.object(TimedMatch, "handed_over", watched_handed_over),
        patch.object(TimedMatch, "answer", watched_answer),
        patch.object(Link, "next_envelope", watched_next_envelope),
        patch.object(Link, "receive", watched_receive),
    ):
        yield seen
