"""Bots that mean harm, for a place: the files that a hostile author submits, and how each must end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["BOTS", "NEIGHBOUR", "SECRET", "HostileBot"]

SECRET: Final = "what-only-the-neighbour-may-read"
# A bot that means well, with a file that others would like to have.
NEIGHBOUR: Final = {"model.txt": SECRET}

# Each has a seat in a match when it begins, so that its opponent has something to lose.
_AT_THE_START: Final = """
import os, random, socket, sys, threading, time
from cutpurse.sdk.run import run

PATH = os.environ["CUTPURSE_SERVER"].removeprefix("unix:")

def dialled():
    one = socket.socket(socket.AF_UNIX)
    one.connect(PATH)
    return one

{harm}

class Bot:
    has_begun = False

    def start(self, match):
        if not Bot.has_begun:
            Bot.has_begun = True
            print("it begins", flush=True)
            {how}

    def choose(self, view, decision):
        {answer}
        return decision.options[0]

raise SystemExit(run(Bot, "greed", quiet=True))
"""


def _beside(harm: str) -> str:
    """Return a bot that plays on while a thread does harm."""
    how = "threading.Thread(target=harm, daemon=True).start()"
    return _AT_THE_START.format(harm=harm.strip(), how=how, answer="pass")


def _at_once(harm: str) -> str:
    """Return a bot that does harm in its first match, before it plays."""
    return _AT_THE_START.format(harm=harm.strip(), how="harm()", answer="pass")


# Bytes that are no HTTP/2 frames, on as many connections as it can have.
_WRONG_BYTES: Final = """
def harm():
    chance, count, held = random.Random(34), 0, []
    while True:
        try:
            one = dialled()
            held = [*held[-40:], one]
            if count % 2:
                one.sendall(b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n" + bytes(3) + b"\\4" + bytes(5))
            for _ in range(8):
                kind, size = chance.randrange(12), chance.randrange(200)
                head = size.to_bytes(3, "big") + bytes([kind, chance.randrange(64)])
                one.sendall(head + chance.randrange(9).to_bytes(4, "big") + chance.randbytes(size))
        except OSError:
            pass
        count += 1
        time.sleep(0.02)
"""

# Envelopes in any order, before and after Hello, as fast as the arena reads them; now and then one of 8 MiB.
_ANY_ORDER: Final = """
import grpc
from cutpurse.v1 import arena_pb2, arena_pb2_grpc

def envelopes(chance):
    if chance.random() < 0.3:
        yield arena_pb2.PlayRequest(hello=arena_pb2.Hello(protocol_major=1, bot="x" * (8 << 20)))
    hello = arena_pb2.Hello(protocol_major=1, bot="any-order", version="1")
    while True:
        table, decision, option = chance.randrange(9), chance.randrange(99), chance.randrange(2**31)
        yield arena_pb2.PlayRequest(
            received=chance.randrange(99),
            hello=hello if chance.random() < 0.2 else None,
            answers=[arena_pb2.Answer(table=table, decision=decision, option=option)],
            leaving=chance.random() < 0.01,
        )

def harm():
    chance = random.Random(34)
    while True:
        with grpc.insecure_channel(os.environ["CUTPURSE_SERVER"]) as channel:
            try:
                for _ in arena_pb2_grpc.ArenaServiceStub(channel).Play(envelopes(chance), timeout=1.0):
                    pass
            except grpc.RpcError:
                pass
        time.sleep(0.05)
"""

_FORKS: Final = """
def harm():
    while True:
        try:
            if os.fork() == 0:
                time.sleep(600)
        except OSError:
            time.sleep(0.01)
"""

_ENDS: Final = """
def harm():
    os._exit(7)
"""

# It kills all it may, takes away the socket that leads to its place, and puts another in its stead. Then it dials more
# often than its relay accepts at once, but ends within seconds: after three faulted matches it would be paused first.
_KILLS_ITS_RELAY: Final = """
import signal

def tries(what, attempt):
    try:
        attempt()
        print(what, "done", flush=True)
    except OSError as problem:
        print(what, problem.strerror, flush=True)

def harm():
    for pid in [1, os.getppid(), *[int(name) for name in os.listdir("/proc") if name.isdigit()]]:
        if pid != os.getpid():
            tries("kill", lambda: os.kill(pid, signal.SIGKILL))
    one = socket.socket(socket.AF_UNIX)
    tries("unlink", lambda: os.unlink(PATH))
    tries("bind", lambda: one.bind(PATH))
    tries("chmod", lambda: os.chmod(PATH, 0))
    tries("move", lambda: os.rename(PATH, PATH + "2"))
    for _ in range(24):
        try:
            dialled().shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
    os._exit(7)
"""

_FILLS: Final = """
def harm():
    for where in ("/tmp", "/dev/shm", os.getcwd(), os.path.dirname(PATH)):
        try:
            with open(where + "/full", "wb") as file:
                while True:
                    file.write(bytes(1 << 20))
        except (OSError, MemoryError):
            pass
    while True:
        print("\\x1b[2J" * 1000)
"""

# Files of the server, of the place and of the bot beside it, by every way that there is.
_READS: Final = """
WANTED = ("model.txt", "environ", "league.db", "test.db", "key.pem")

def harm():
    found, roots = [], [f"/proc/{pid}/root" for pid in os.listdir("/proc") if pid.isdigit()]
    for root in ("/bot", "/run", "/tmp", "/home", "/root", "/var", os.getcwd() + "/..", "/proc/1/cwd", *roots):
        for folder, folders, files in os.walk(root):
            folders[:] = [name for name in folders if name not in ("usr", "proc", "lib", "lib64", "sys", "etc")]
            found += [os.path.join(folder, name) for name in files if name in WANTED]
    found += [f"/proc/{pid}/environ" for pid in os.listdir("/proc") if pid.isdigit()]
    read = []
    for file in found:
        try:
            with open(file, "rb") as opened:
                read.append(opened.read(100_000))
        except OSError:
            pass
    own = os.environ["CUTPURSE_TOKEN"].encode()
    foreign = [one for one in read if b"neighbour" in one or b"cutp_" in one.replace(own, b"")]
    print(foreign, "is all that it found", flush=True)
"""


@dataclass(frozen=True, slots=True)
class HostileBot:
    """A hostile bot.

    Attributes:
        source: Its program.
        is_faulted: Whether it must be faulted; None if it depends on what its harm does to itself.
        ends: What the server's log must say about its end; empty if it does not end by itself.
        says: Text in its output that shows that it does its harm.
    """

    source: str
    is_faulted: bool | None = False
    ends: str = ""
    says: str = "it begins"


BOTS: Final[dict[str, HostileBot]] = {
    "wrong-bytes": HostileBot(_beside(_WRONG_BYTES), None),
    "any-order": HostileBot(_beside(_ANY_ORDER), None),
    "silent": HostileBot(_AT_THE_START.format(harm="", how="pass", answer="time.sleep(600)"), True),
    "forks": HostileBot(_beside(_FORKS), None, ends="it wanted more than its 64 processes and threads"),
    "ends": HostileBot(_at_once(_ENDS), True, ends="it ended by itself, with exit code 7"),
    "kills-its-relay": HostileBot(
        _at_once(_KILLS_ITS_RELAY), True, ends="it ended by itself, with exit code 7", says="move "
    ),
    "fills": HostileBot(_beside(_FILLS), None, says="[2J"),
    "reads": HostileBot(_beside(_READS), says="is all that it found"),
}
