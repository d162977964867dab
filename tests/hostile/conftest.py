"""An arena for each file of tests, attacked by one test after another, and looked at after each.

Honest bots play there all the while, which takes a quarter of a core: it is not to go on beside all other tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.hostile.arena import Besieged
from tests.hostile.peer import Caller, Peer

__all__ = ["Attack", "arena", "besieged"]


@pytest.fixture(scope="module")
def besieged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Besieged]:
    """An arena on which honest bots play."""
    arena = Besieged(tmp_path_factory.mktemp("besieged"))
    try:
        arena.warm_up()
        yield arena
    finally:
        arena.close()


class Attack:
    """What a test does to the arena: connections that are closed, and looked through, when it is over."""

    def __init__(self, besieged: Besieged) -> None:
        self.on = besieged
        self.address = besieged.address
        self.before = besieged.look()
        self.peers: list[Peer] = []

    def connect(self, handbook: bool = True) -> Peer:
        """A connection; handbook: begun as HTTP/2 wants it."""
        self.peers.append(peer := Peer(self.address, handbook))
        return peer

    def call(self, *settings: tuple[int, int]) -> Caller:
        """A connection with a call of Play."""
        self.peers.append(caller := Caller(self.address, *settings))
        return caller

    def bot(self, name: str, **hello: object) -> Caller:
        """A bot that was let in."""
        caller = self.call()
        caller.hello(name, **hello)
        welcome = caller.next()
        assert welcome is not None, caller.ended
        assert welcome.HasField("welcome")
        return caller


@pytest.fixture
def arena(besieged: Besieged) -> Iterator[Attack]:
    """The arena to attack; when the test is over, it must be unharmed."""
    attack = Attack(besieged)
    try:
        yield attack
    finally:
        for peer in attack.peers:
            peer.close()
    besieged.unharmed(attack.before, attack.peers)


@pytest.fixture
def lone_arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Besieged]]:
    """Arenas of a test's own, with limits of its own."""
    started: list[Besieged] = []

    def start(**limits: object) -> Besieged:
        started.append(Besieged(tmp_path_factory.mktemp("lone"), **limits))  # type: ignore[arg-type]
        started[-1].warm_up()
        return started[-1]

    yield start
    for one in started:
        one.close()
