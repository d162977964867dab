"""The limits that a server sets to its callers: time, tables, sizes and rates, most of them announced in Welcome.

This module knows no stream and no clock; other modules enforce the limits.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ServerLimits", "TokenBucket"]


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """The limits of a server; the defaults are those of `cutpurse serve`."""

    hello_s: float = 3.0  # from the call to its first envelope
    # maximum between envelopes to a bot; without an acknowledgement for twice that, its stream ends
    heartbeat_ms: int = 15_000
    accepted_ms: int = 250  # maximum that a bare "accepted" waits for something that needs an answer
    resume_window_ms: int = 30_000  # after its stream was lost, a session can be resumed
    usual_tables: int = 4  # for a bot that requests no number
    most_tables: int = 64
    house_tables: int = 128  # for a house bot, which may play with as many people as the page seats
    most_bytes: int = 65_536  # maximum bytes of an envelope from a bot; gRPC itself rejects larger ones
    note_bytes: int = 16_384  # maximum bytes of notes stored of a bot's match
    envelope_bytes: int = 524_288  # beyond this, what is ready waits for the next envelope to the bot
    envelopes_per_second: int = 200  # unrequested envelopes and refused answers; see `TokenBucket`
    envelopes_at_once: int = 400  # burst of those
    most_unread: int = 1_024  # refusals that a bot has not acknowledged
    strikes: int = 3  # bad messages after which a stream ends
    most_streams: int = 4_096  # of all bots; a stream that hangs counts until gRPC has finished it
    most_calls: int = 8_192  # of all kinds: streams, also those that gRPC has not finished, and short calls
    message_s: float = 3.0  # from the start of a unary call to the end of its message
    # calls whose message has not come, of up to `most_bytes` each; beyond that the oldest is cut off
    most_unsent: int = 512
    streams_per_connection: int = 16
    streams_per_owner: int = 256  # with tokens of one owner; includes streams that hang or have not sent Hello
    most_sessions: int = 16_384  # includes sessions without a stream
    sessions_per_owner: int = 64  # sixty owners together have fewer than `most_streams`
    most_watchers: int = 256  # of all matches; a call that hangs counts until gRPC has finished it
    watchers_per_address: int = 64  # a class of sixty behind one address may watch the same match
    watcher_bytes: int = 2_097_152  # maximum unread bytes of a spectator: some thousand updates of a match
    handshake_s: float = 5.0  # from a connection to its first HTTP/2 frames
    idle_s: float = 60.0  # maximum for a connection without a call
    keepalive_s: float = 20.0  # without data from the peer, before a ping is sent
    keepalive_timeout_s: float = 10.0  # to answer the ping
    connection_age_s: float = 1_800.0  # after this time a connection is ended, and its bots resume
    connection_age_grace_s: float = 30.0


class TokenBucket:
    """A rate limiter with a burst: a bucket of permissions, filled at a steady rate.

    What the server itself requested is free, so that it never slows a fast bot: `allow` adds permissions for the
    expected answers.
    """

    __slots__ = ("_left", "_most", "_rate", "_then")

    def __init__(self, per_second: float, at_once: float, now: float) -> None:
        self._rate = per_second
        self._most = self._left = at_once
        self._then = now

    def allow(self, count: int) -> None:
        """Add permissions for `count` expected messages, beyond the rate."""
        self._left += count

    def take(self, now: float, count: int = 1) -> float:
        """Use `count` permissions.

        Returns:
            Seconds for which nothing more should be read, nearly always 0.0.
        """
        if now > self._then:
            if self._left < self._most:
                self._left = min(self._most, self._left + (now - self._then) * self._rate)
            self._then = now
        self._left -= count
        return self.wait_s

    @property
    def wait_s(self) -> float:
        """Seconds for which nothing more should be read."""
        return -self._left / self._rate if self._left < 0 else 0.0
