"""What a bot may ask of the server: time, tables, sizes and rates, most of it told in Welcome.

This module knows no stream and no clock; whoever counts does so by these numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ServerLimits", "TokenBucket"]


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """The limits of a server; the defaults are those of `cutpurse serve`."""

    hello_s: float = 3.0  # from the call to its first envelope
    heartbeat_ms: int = 15_000  # between envelopes to a bot, at most; twice that without an acknowledgement is silence
    accepted_ms: int = 250  # that a bare "accepted" may wait for something that needs an answer
    resume_window_ms: int = 30_000  # after a lost stream
    usual_tables: int = 4  # for a bot that names no number
    most_tables: int = 64
    most_bytes: int = 65_536  # of an envelope from a bot; gRPC itself refuses more
    note_bytes: int = 16_384  # of notes that are kept of a bot's match
    envelope_bytes: int = 524_288  # after so many, what is ready waits for the next envelope to the bot
    envelopes_per_second: int = 200  # that nobody asked for, and answers that are refused; see `Paced`
    envelopes_at_once: int = 400  # of those
    most_unread: int = 1_024  # refusals that a bot has not taken
    strikes: int = 3  # bad messages that end a stream
    most_streams: int = 4_096  # at once, all bots together; one that hangs counts until gRPC is rid of it
    most_calls: int = 8_192  # at once, of every kind: streams, those that gRPC is not rid of yet, and all short calls
    message_s: float = 3.0  # from a call that takes one message to the end of that message
    most_unsent: int = 512  # calls whose message has not come, of up to `most_bytes` each; then the oldest is cut off
    streams_per_connection: int = 16
    streams_per_owner: int = 256  # at once, by his tokens; those that hang and those that have not said Hello count
    most_sessions: int = 16_384  # also those whose streams were lost
    sessions_per_owner: int = 64  # of these; sixty owners have fewer together than there may be streams
    most_watchers: int = 256  # at once, of all matches; one whose call hangs counts until gRPC is rid of it
    watchers_per_address: int = 64  # a class of sixty behind one address may watch the same final
    watcher_bytes: int = 2_097_152  # that a watcher has not read: some thousand moments of a match
    handshake_s: float = 5.0  # from a connection to the first frames of HTTP/2 on it
    idle_s: float = 60.0  # that a connection may be without a call
    keepalive_s: float = 20.0  # without a word from the peer, after which it is asked whether it is there
    keepalive_timeout_s: float = 10.0  # for its answer
    connection_age_s: float = 1_800.0  # then a connection is ended, and its bots resume
    connection_age_grace_s: float = 30.0


class TokenBucket:
    """A bucket of leave to send, filled at a steady rate: how long must one who takes from it wait?

    What the server itself asked for is free, so a fast bot is never slowed: `allow` puts in what a question will cost.
    """

    __slots__ = ("_left", "_most", "_rate", "_then")

    def __init__(self, per_second: float, at_once: float, now: float) -> None:
        self._rate = per_second
        self._most = self._left = at_once
        self._then = now

    def allow(self, count: int) -> None:
        """So many more are expected, beyond the rate."""
        self._left += count

    def take(self, now: float, count: int = 1) -> float:
        """Take one, or more.  Returns for how many seconds the next should not be read; 0.0 nearly always."""
        if now > self._then:
            if self._left < self._most:
                self._left = min(self._most, self._left + (now - self._then) * self._rate)
            self._then = now
        self._left -= count
        return self.wait_s

    @property
    def wait_s(self) -> float:
        """For how many seconds the next should not be read."""
        return -self._left / self._rate if self._left < 0 else 0.0
