"""Hostile clients that never stop; each kind is a process with its own loopback address.

    CUTPURSE_TOKEN=... python -m tests.hostile.attackers KIND SERVER PAGE SEED

SERVER and PAGE are host:port; the token lets a bot play. A process runs until it is killed. It prints its number of
actions so far, one number per line.
"""

from __future__ import annotations

import os
import resource
import selectors
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Final

import grpc

from cutpurse.v1 import arena_pb2, ladder_pb2, ladder_pb2_grpc
from tests.hostile import frames
from tests.hostile.cases import case
from tests.hostile.frames import call, frame, message, request
from tests.hostile.peer import Caller, Peer

__all__ = ["KINDS", "SUBMITTED", "SUBMITTED_FILES", "TELLS_S", "Target"]

TELLS_S: Final = 1.0  # between two lines on stdout
REFUSED_A_SECOND: Final = 1_700
REFUSED_CONNECTIONS: Final = 16
HALF_CONNECTIONS: Final = 700
HALF_CALLS: Final = 16  # per connection
HALF_A_ROUND: Final = 20  # connections opened between two polls
REQUESTS_A_SECOND: Final = 100
DOWNLOADS: Final = 40
STREAMS: Final = 1_100  # more than the page's limit for all readers
STREAMS_A_ROUND: Final = 20
ROUND_S: Final = 0.05
CASES_A_SECOND: Final = 20
PERSON: Final = "127.0.0."  # with the number of the kind, so that each has its own address
LIST_LOGS: Final = "/cutpurse.v1.LadderService/ListLogs"  # needs a token, as Play does
HELLO: Final = arena_pb2.PlayRequest(hello=arena_pb2.Hello(protocol_major=1, bot="refused")).SerializeToString()
LIST_LADDERS: Final = "/cutpurse.v1.LadderService/ListLadders"  # needs no token

# A submitted bot: it plays, and from its first match on its other processes connect without limit. Together they have
# 700 connections and make 1,700 calls per second.
SUBMITTED: Final = """
import os, subprocess, sys
from cutpurse.sdk.run import run

class Bot:
    has_begun = False

    def start(self, match):
        if os.environ.get("CUTPURSE_TOKEN") and not Bot.has_begun:
            Bot.has_begun = True
            for _ in range(4):
                subprocess.Popen([sys.executable, "dials.py"])

    def choose(self, view, decision):
        return decision.options[0]

if __name__ == "__main__":
    raise SystemExit(run(Bot, "greed"))
"""
SUBMITTED_FILES: Final = {
    "dials.py": r"""
import os, socket, time

HELD, CALLS_A_SECOND, ROUND_S = 175, 425, 0.1
PATH = os.environ["CUTPURSE_SERVER"].removeprefix("unix:")
WORDS = {":method": "POST", ":scheme": "http", ":path": "/cutpurse.v1.ArenaService/Play", ":authority": "x"}
WORDS |= {"content-type": "application/grpc", "te": "trailers"}
BLOCK = b"".join(b"\0" + bytes([len(n)]) + n.encode() + bytes([len(v)]) + v.encode() for n, v in WORDS.items())

def call(stream):
    number = stream.to_bytes(4, "big")
    headers = len(BLOCK).to_bytes(3, "big") + b"\1\4" + number + BLOCK
    return headers + b"\0\0\5\0\1" + number + bytes(5)

def dialled():
    one = socket.socket(socket.AF_UNIX)
    one.setblocking(False)
    try:
        one.connect(PATH)
        one.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\4" + bytes(5))
    except OSError:
        one.close()
        return None
    return one

def is_open(one):
    try:
        return bool(one.recv(65536))
    except BlockingIOError:
        return True
    except OSError:
        return False

held, streams = [], {}
while True:
    while len(held) < HELD and (one := dialled()):
        held.append(one)
        streams[one] = 1
    for one in held[:]:
        if not is_open(one):
            held.remove(one)
            del streams[one]
            one.close()
    for count in range(int(CALLS_A_SECOND * ROUND_S) if held else 0):
        one = held[count % len(held)]
        try:
            one.send(call(streams[one]))
            streams[one] += 2
        except OSError:
            pass
    time.sleep(ROUND_S)
"""
}


@dataclass(frozen=True, slots=True)
class Target:
    """The attacked server and page, and the attacker's address."""

    server: str
    page: str
    token: str
    seed: int
    source: str

    def connect(self, address: str) -> socket.socket:
        """Open a connection from the attacker's own address.  Raises OSError."""
        host, _, port = address.rpartition(":")
        return socket.create_connection((host, int(port)), 5.0, (self.source, 0))


def refused(target: Target) -> Iterator[int]:
    """Make calls without a token, at a steady rate, on a few permanent connections."""
    held: list[tuple[socket.socket, Iterator[int]]] = []
    began, made = time.monotonic(), 0
    while True:
        due = int((time.monotonic() - began) * REFUSED_A_SECOND) - made
        due = min(due, REFUSED_A_SECOND)  # calls missed for more than a second are dropped
        for number in range(due):
            if len(held) < REFUSED_CONNECTIONS:
                try:
                    held.append(_opened(target))
                except OSError:  # nobody takes it
                    break
            sender, streams = held[number % len(held)]
            stream = next(streams)
            path = (LIST_LOGS, frames.PLAY)[stream // 2 % 2]
            body = frame(frames.DATA, frames.END_STREAM, stream, message(HELLO if path == frames.PLAY else b""))
            if not _sent(sender, request(stream, call(path)) + body):
                held.remove((sender, streams))
                sender.close()
        for sender, streams in [*held]:
            if not _drained(sender):
                held.remove((sender, streams))
                sender.close()
        made = max(made + due, int((time.monotonic() - began) * REFUSED_A_SECOND) - REFUSED_A_SECOND)
        yield due
        _pause(ROUND_S)


def half_sent(target: Target) -> Iterator[int]:
    """Hold many connections with calls that sent half a message; reopen a connection that ends."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    beginnings = b"".join(
        request(stream, call(LIST_LADDERS)) + frame(frames.DATA, 0, stream, message(bytes(10), size=1_000))
        for stream in range(1, 2 * HALF_CALLS, 2)
    )
    ready = selectors.EpollSelector()
    while True:
        opened = 0
        while opened < HALF_A_ROUND and len(ready.get_map()) < HALF_CONNECTIONS:
            try:
                sender, _ = _opened(target)
            except OSError:  # nobody takes it
                break
            opened += 1
            _sent(sender, beginnings)
            ready.register(sender, selectors.EVENT_READ)
        for key, _ in ready.select(ROUND_S):
            assert isinstance(key.fileobj, socket.socket)
            if not _drained(key.fileobj):
                ready.unregister(key.fileobj)
                key.fileobj.close()
        yield HALF_CALLS * opened


def match_requests(target: Target) -> Iterator[int]:
    """Request matches with bots of other owners, far more than can be played."""
    asked = ladder_pb2.RequestMatchRequest(
        ladder="steady",
        bots=[ladder_pb2.BotName(owner=owner, bot=f"steady_{owner}") for owner in ("ann", "bob")],
    )
    metadata = (("authorization", f"Bearer {target.token}"),)
    with grpc.insecure_channel(target.server) as channel:
        ladders = ladder_pb2_grpc.LadderServiceStub(channel)
        while True:
            began = time.monotonic()
            try:
                ladders.RequestMatch(asked, metadata=metadata, timeout=10)
            except grpc.RpcError:  # a refused request counts too
                pass
            yield 1
            _pause(max(0.0, 1 / REQUESTS_A_SECOND - (time.monotonic() - began)))


def downloads(target: Target) -> Iterator[int]:
    """Download all matches of a ladder, as many times at once as the students of a class."""
    done = count()
    asked = f"GET /ladders/archive/matches.csv HTTP/1.1\r\nHost: {target.page}\r\nConnection: close\r\n\r\n".encode()

    def download() -> None:
        while True:
            try:
                with target.connect(target.page) as sender:
                    sender.settimeout(60.0)
                    sender.sendall(asked)
                    while sender.recv(1 << 16):
                        pass
                next(done)
            except OSError:
                _pause(ROUND_S)

    for _ in range(DOWNLOADS):
        threading.Thread(target=download, daemon=True).start()
    before = 0
    while True:
        _pause(TELLS_S)
        after = int(repr(done)[6:-1])
        yield after - before
        before = after


def streams(target: Target) -> Iterator[int]:
    """Open more event streams of the page than its limit, and read only every second one."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    paths = ("/events/home", "/events/live?ladder=steady")
    numbers = count()
    ready = selectors.EpollSelector()
    unread: list[socket.socket] = []
    while True:
        opened = 0
        while opened < STREAMS_A_ROUND and len(ready.get_map()) + len(unread) < STREAMS:
            number = next(numbers)
            try:
                sender = target.connect(target.page)
                sender.sendall(f"GET {paths[number // 2 % 2]} HTTP/1.1\r\nHost: {target.page}\r\n\r\n".encode())
            except OSError:  # nobody takes it
                break
            opened += 1
            sender.setblocking(False)
            if number % 2:
                unread.append(sender)
            else:
                ready.register(sender, selectors.EVENT_READ)
        for key, _ in ready.select(ROUND_S):
            assert isinstance(key.fileobj, socket.socket)
            if not _is_read(key.fileobj):
                ready.unregister(key.fileobj)
                key.fileobj.close()
        if len(unread) > STREAMS // 2:  # the page has ended the oldest of these already
            unread.pop(0).close()
        yield opened
        _pause(ROUND_S)


def fuzzed(target: Target) -> Iterator[int]:
    """Send cases of the fuzzer: wrong frames, and wrong envelopes in correct calls."""
    for number in count():
        for level in ("frames", "calls"):
            pieces = case(level, target.seed, number)
            try:
                peer = Peer(target.server, handbook=False) if level == "frames" else Caller(target.server)
            except OSError:
                continue
            if isinstance(peer, Caller):
                for piece in pieces:
                    if not peer.say(piece):
                        break
                    peer.envelopes(0.0)
            else:
                peer.send(b"".join(pieces))
            peer.finish(0.02)
            yield 1
        _pause(2 / CASES_A_SECOND)


def deaf(target: Target) -> Iterator[int]:
    """Connect bots and spectators that never read; close them after a while, and repeat."""
    watched = ladder_pb2.WatchMatchRequest(ladder="steady").SerializeToString()
    for number in count():
        held: list[Peer] = []
        try:
            for name in range(8):
                held.append(caller := Caller(target.server, (4, 0), token=target.token))
                caller.hello(f"deaf_{number % 10}_{name}")
            for _ in range(4):
                held.append(peer := Peer(target.server, handbook=False))
                peer.send(frames.PREFACE + frames.settings((4, 0)))
                for stream in range(1, 33, 2):
                    body = frame(frames.DATA, frames.END_STREAM, stream, message(watched))
                    peer.send(request(stream, call("/cutpurse.v1.LadderService/WatchMatch")) + body)
            until = time.monotonic() + 20.0
            while time.monotonic() < until:
                for peer in held:
                    peer.listen(ROUND_S)
                yield 0
        except OSError:
            _pause(ROUND_S)
        for peer in held:
            peer.close()
        yield len(held)


def looping(target: Target) -> Iterator[int]:
    """Connect as a bot under ever new names, and leave at once."""
    for number in count():
        try:
            with Caller(target.server, token=target.token) as bot:
                bot.hello(f"name_{number % 1_000}")
                bot.next(1.0)
        except OSError:
            pass
        yield 1
        _pause(ROUND_S)


def mute(target: Target) -> Iterator[int]:
    """Join matches, and answer nothing."""
    while True:
        bots: list[Caller] = []
        try:
            for number in range(4):
                bots.append(bot := Caller(target.server, token=target.token))
                bot.hello(f"mute_{number}")
            while not all(bot.ended or bot.is_closed for bot in bots):
                yield sum(bot.next(0.1) is not None for bot in bots)
        except OSError:
            pass
        for bot in bots:
            bot.close()
        _pause(1.0)
        yield 0


KINDS: Final[dict[str, Callable[[Target], Iterator[int]]]] = {
    "refused": refused,
    "half": half_sent,
    "requests": match_requests,
    "downloads": downloads,
    "streams": streams,
    "fuzz": fuzzed,
    "deaf": deaf,
    "loop": looping,
    "mute": mute,
}


def _opened(target: Target) -> tuple[socket.socket, Iterator[int]]:
    """Open a connection with an HTTP/2 preface; return it with an iterator of stream numbers."""
    sender = target.connect(target.server)
    sender.sendall(frames.PREFACE + frames.settings())
    sender.setblocking(False)
    return sender, count(1, 2)


def _sent(sender: socket.socket, data: bytes) -> bool:
    """Send data; return False if the connection is over, or is full."""
    try:
        return sender.send(data) == len(data)
    except OSError:
        return False


def _is_read(sender: socket.socket) -> bool:
    """Read what an event stream has; return False if it is over, or was refused."""
    try:
        while data := sender.recv(1 << 16):
            if data.startswith(b"HTTP/1.1 503"):
                return False
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


def _drained(sender: socket.socket) -> bool:
    """Read what there is, and answer pings and settings; return False if the connection is over."""
    try:
        while data := sender.recv(1 << 16):
            for one in frames.split(data)[0]:
                if one.kind == frames.PING and not one.flags & frames.ACK:
                    _sent(sender, frame(frames.PING, frames.ACK, 0, one.payload))
                elif one.kind == frames.SETTINGS and not one.flags & frames.ACK:
                    _sent(sender, frame(frames.SETTINGS, frames.ACK))
                elif one.kind == frames.GOAWAY:
                    return False
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


def _pause(seconds: float) -> None:
    """Keep the pace of an attack."""
    threading.Event().wait(seconds)


def main(kind: str, server: str, page: str, seed: str) -> None:
    """Run an attacker until it is killed."""
    source = f"{PERSON}{10 + list(KINDS).index(kind)}"
    done, told_at = 0, time.monotonic()
    for more in KINDS[kind](Target(server, page, os.environ["CUTPURSE_TOKEN"], int(seed), source)):
        done += more
        if time.monotonic() - told_at >= TELLS_S:
            told_at = time.monotonic()
            sys.stdout.write(f"{done}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
