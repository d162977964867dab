"""The fixtures of hostile tests: one arena per test file, which each test attacks and then checks.

Honest bots play on it all the time and use a quarter of a core, so it does not live longer than its file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.hostile.arena import Besieged
from tests.hostile.peer import Caller, Peer

__all__ = ["Attack", "arena", "besieged"]


@pytest.fixture(scope="module")
def besieged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Besieged]:
    """Run an arena with honest bots."""
    arena = Besieged(tmp_path_factory.mktemp("besieged"))
    try:
        arena.warm_up()
        yield arena
    finally:
        arena.close()


class Attack:
    """The attack of a test: its connections, which are closed and checked at the end."""

    def __init__(self, besieged: Besieged) -> None:
        self.on = besieged
        self.address = besieged.address
        self.before = besieged.look()
        self.peers: list[Peer] = []

    def connect(self, handbook: bool = True) -> Peer:
        """Open a connection; with `handbook`, with a correct HTTP/2 preface."""
        self.peers.append(peer := Peer(self.address, handbook))
        return peer

    def call(self, *settings: tuple[int, int]) -> Caller:
        """Open a connection with a call of Play."""
        self.peers.append(caller := Caller(self.address, *settings))
        return caller

    def bot(self, name: str, **hello: object) -> Caller:
        """Connect a bot, and wait for its Welcome."""
        caller = self.call()
        caller.hello(name, **hello)
        welcome = caller.next()
        assert welcome is not None, caller.ended
        assert welcome.HasField("welcome")
        return caller


@pytest.fixture
def arena(besieged: Besieged) -> Iterator[Attack]:
    """Yield the arena to attack; after the test, check that it is unharmed."""
    attack = Attack(besieged)
    try:
        yield attack
    finally:
        for peer in attack.peers:
            peer.close()
    besieged.unharmed(attack.before, attack.peers)


@pytest.fixture
def lone_arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Besieged]]:
    """Return a function that starts an arena for one test, with its own limits."""
    started: list[Besieged] = []

    def start(**limits: object) -> Besieged:
        started.append(Besieged(tmp_path_factory.mktemp("lone"), **limits))  # type: ignore[arg-type]
        started[-1].warm_up()
        return started[-1]

    yield start
    for one in started:
        one.close()
