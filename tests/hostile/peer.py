"""The attacker's connection: a socket that can send broken HTTP/2, and stores everything it receives.

`Peer` is a connection, and `Caller` is one with a call of Play, which by default reads and acknowledges like a bot. All
waits have a limit. The end of the connection is never an error, because the tests check it.
"""

from __future__ import annotations

import select
import socket
import time
from types import TracebackType
from typing import Self

from cutpurse.v1 import arena_pb2
from tests.hostile import frames
from tests.hostile.frames import Frame

__all__ = ["Caller", "Peer", "PATIENCE_S"]

PATIENCE_S = 240.0  # maximum wait for an answer on a busy machine


class Peer:
    """A connection to the arena; `received` has all received bytes."""

    def __init__(self, address: str, handbook: bool = True) -> None:
        """Connect; with `handbook`, begin with a correct HTTP/2 preface."""
        host, _, port = address.rpartition(":")
        self.received = bytearray()
        self.is_closed = False  # by the arena
        self._socket = socket.create_connection((host, int(port)), PATIENCE_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._split = 0  # number of bytes of `received` that were returned as frames
        if handbook:
            self.send(frames.PREFACE + frames.settings())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection at once, with a reset if the arena is still sending."""
        self._socket.close()

    def send(self, data: bytes) -> bool:
        """Send as much as the arena reads in time; return False if it has closed the connection."""
        until = time.monotonic() + PATIENCE_S
        left = memoryview(data)
        self._socket.setblocking(False)
        while left and not self.is_closed and time.monotonic() < until:
            try:
                left = left[self._socket.send(left) :]
            except BlockingIOError:
                self._take(0.01)  # the arena may wait for us to read
            except OSError:
                self.is_closed = True
        return not self.is_closed

    def listen(self, for_s: float) -> bool:
        """Read for `for_s` seconds, at least once; return False if the arena has closed the connection."""
        until = time.monotonic() + for_s
        while not self.is_closed:
            left = until - time.monotonic()
            if not self._take(max(0.0, left)) or left <= 0:
                break
        return not self.is_closed

    def hangs_up(self, within_s: float = PATIENCE_S) -> bool:
        """Read, and return whether the arena closes the connection within this time."""
        return not self.listen(within_s)

    def finish(self, within_s: float) -> None:
        """Close our side, read the arena's answers, and close the connection, so that all that was sent is read."""
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        self.listen(within_s)
        self.close()

    def _take(self, within_s: float) -> bool:
        """Read once; return False if nothing came, or the end."""
        readable, _, _ = select.select([self._socket], [], [], within_s)
        if not readable:
            return False
        try:
            data = self._socket.recv(1 << 16)
        except OSError:
            data = b""
        self.is_closed = not data
        self.received += data
        return bool(data)

    def acknowledge(self) -> None:
        """Wait for the arena's settings, and acknowledge them, which activates its limits for headers."""
        self.await_frame(frames.SETTINGS)
        self.send(frames.frame(frames.SETTINGS, frames.ACK))

    def frames(self) -> list[Frame]:
        """Return the complete frames received since the last call."""
        found, rest = frames.split(bytes(self.received[self._split :]))
        self._split = len(self.received) - len(rest)
        return found

    def await_frame(self, kind: int, stream: int | None = None, within_s: float = PATIENCE_S) -> Frame | None:
        """Wait for the next frame of a kind; return None if it does not come."""
        until = time.monotonic() + within_s
        while True:
            for one in self.frames():
                if one.kind == kind and stream in (None, one.stream):
                    return one
            if self.is_closed or time.monotonic() > until:
                return None
            self._take(0.05)


class Caller(Peer):
    """A connection with one call of Play.

    Attributes:
        mine: Secrets that may be in `received`: its own, and revealed seeds of deals.
    """

    stream = 1

    def __init__(self, address: str, *pairs: tuple[int, int], token: str = "") -> None:
        """Connect and open the call, with HTTP/2 settings `pairs` and a bearer token, if any."""
        more = [("authorization", f"Bearer {token}")] if token else []
        super().__init__(address, handbook=False)
        self.mine: list[bytes] = []
        self.had = 0  # number of the last envelope read
        self.ended: str | None = None  # raw trailers of the call
        self._data = b""
        self.send(frames.PREFACE + frames.settings(*pairs) + frames.request(self.stream, frames.call(more=more)))

    def say(self, envelope: arena_pb2.PlayRequest | bytes) -> bool:
        """Send an envelope; return False if the arena has closed the connection."""
        body = envelope if isinstance(envelope, bytes) else envelope.SerializeToString()
        return self.send(frames.frame(frames.DATA, 0, self.stream, frames.message(body)))

    def hello(self, name: str, **fields: object) -> None:
        """Send Hello for the ladder `rough`."""
        rough = [arena_pb2.GameWanted(game="greed", ladders=["rough"])]
        told: dict[str, object] = {"protocol_major": 1, "bot": name, "max_tables": 1, "games": rough, **fields}
        self.say(arena_pb2.PlayRequest(hello=arena_pb2.Hello(**told)))  # type: ignore[arg-type]

    def envelopes(self, within_s: float) -> list[arena_pb2.PlayResponse]:
        """Read until there is at least one envelope; acknowledge only at the level of HTTP/2."""
        until = time.monotonic() + within_s
        found: list[arena_pb2.PlayResponse] = []
        while not found and self.ended is None and not self.is_closed:
            if not self._take(max(0.0, until - time.monotonic())) and time.monotonic() >= until:
                break
            for one in self.frames():
                self._handle(one)
            found = self._parsed()
        return found

    def next(self, within_s: float = PATIENCE_S) -> arena_pb2.PlayResponse | None:
        """Return the next envelope, acknowledged; None if none comes."""
        for envelope in self.envelopes(within_s):  # the arena sends the next once this one is acknowledged
            self.say(arena_pb2.PlayRequest(received=self.had))
            return envelope
        return None

    def ends(self, within_s: float = PATIENCE_S) -> str:
        """Read and acknowledge until the call has ended; return its trailers, or "" if it goes on or broke off."""
        until = time.monotonic() + within_s
        while self.ended is None and not self.is_closed and time.monotonic() < until:
            self.next(0.2)
        return self.ended or ""

    def decision(self, within_s: float = PATIENCE_S) -> arena_pb2.Decision | None:
        """Return the next decision, acknowledging everything before."""
        until = time.monotonic() + within_s
        while self.ended is None and not self.is_closed and time.monotonic() < until:
            envelope = self.next(0.2)
            if envelope is not None and envelope.decisions:
                return envelope.decisions[0]
        return None

    def close(self) -> None:
        for one in self.frames():  # unread frames: their secrets must be checked too
            self._data += one.payload if one.kind == frames.DATA else b""
        self._parsed()
        super().close()

    def _handle(self, one: Frame) -> None:
        if one.kind == frames.DATA and one.payload:
            self._data += one.payload
            more = len(one.payload).to_bytes(4)
            self.send(frames.frame(frames.WINDOW_UPDATE, 0, 0, more))
            self.send(frames.frame(frames.WINDOW_UPDATE, 0, self.stream, more))
        elif one.kind == frames.SETTINGS and not one.flags & frames.ACK:
            self.send(frames.frame(frames.SETTINGS, frames.ACK))
        elif one.kind == frames.PING and not one.flags & frames.ACK:
            self.send(frames.frame(frames.PING, frames.ACK, 0, one.payload))
        elif one.kind == frames.HEADERS and one.flags & frames.END_STREAM:
            self.ended = one.payload.decode("latin-1")
        elif one.kind == frames.RST_STREAM:
            self.ended = self.ended or f"RST_STREAM {int.from_bytes(one.payload)}"

    def _parsed(self) -> list[arena_pb2.PlayResponse]:
        found = []
        while len(self._data) >= 5 and len(self._data) >= 5 + int.from_bytes(self._data[1:5]):
            size = int.from_bytes(self._data[1:5])
            body, self._data = self._data[5 : 5 + size], self._data[5 + size :]
            envelope = arena_pb2.PlayResponse.FromString(body)
            self.had = envelope.envelope
            if envelope.HasField("welcome"):
                self.mine.append(envelope.welcome.resume_secret)
            self.mine += [end.opening.seed for end in envelope.ends]
            found.append(envelope)
        return found
