"""The targets of the fuzzer: a real arena over sockets, or the server's own sessions and links in this process.

A target takes cases one after another, and `check` raises Harmed if one of them did harm. The check of an arena is that
of every attack (`arena.py`). The links are checked after each envelope: no exception, only valid messages as answers,
and the match of two honest bots continues undisturbed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from google.protobuf.message import DecodeError

from cutpurse.server.errors import CallRefused, call_status
from cutpurse.server.limits import ServerLimits
from cutpurse.server.matches.lobby import Lobby
from cutpurse.server.streams.link import Link
from cutpurse.server.streams.sessions import Sessions
from cutpurse.v1 import arena_pb2
from tests.hostile.arena import Besieged, Harmed
from tests.hostile.child import LADDERS
from tests.hostile.peer import Caller, Peer
from tests.hostile.witness import NAMES
from tests.server.small_world import Log, entropy_of
from tests.server.stores import Taken

__all__ = ["ArenaTarget", "LinksTarget", "Target", "target_for"]

READS_S = 0.25  # maximum time to read the arena's answers after closing our side
WHILE = 30  # hundredths of a second, enough for honest bots to decide something
MOST_SESSIONS = 200  # maximum sessions of fuzzed bots, which have few names


class Target(Protocol):
    """A target of cases."""

    def send(self, pieces: Sequence[bytes]) -> None:
        """Send a case.  Raises Harmed if harm is visible at once."""

    def check(self) -> None:
        """Check the target.  Raises Harmed if any case since the last check did harm."""

    def close(self) -> None:
        """Close the target."""


class ArenaTarget:
    """An arena in its own process; each case is a connection to it."""

    def __init__(self, level: str) -> None:
        self._level = level
        self._folder = tempfile.TemporaryDirectory(prefix="fuzz-")
        self._arena = Besieged(Path(self._folder.name))
        self._arena.warm_up()
        self._before = self._arena.look()
        self._peers: list[Peer] = []

    def send(self, pieces: Sequence[bytes]) -> None:
        peer = self._talk(pieces) if self._level == "calls" else self._write(pieces)
        peer.finish(READS_S)
        self._peers.append(peer)

    def _write(self, pieces: Sequence[bytes]) -> Peer:
        peer = Peer(self._arena.address, handbook=False)
        peer.send(b"".join(pieces))
        return peer

    def _talk(self, pieces: Sequence[bytes]) -> Peer:
        caller = Caller(self._arena.address)
        for piece in pieces:
            if not caller.say(piece):
                break
            caller.envelopes(0.0)
        return caller

    def check(self) -> None:
        peers, self._peers = self._peers, []
        self._arena.unharmed(self._before, peers)

    def close(self) -> None:
        try:
            self._arena.close()
        finally:
            self._folder.cleanup()


class _Honest:
    """A bot that takes the first option, and raises Harmed for anything unexpected."""

    def __init__(self, sessions: Sessions, name: str, now: float) -> None:
        steady = arena_pb2.GameWanted(game="greed", ladders=["steady"])
        hello = arena_pb2.Hello(protocol_major=1, bot=name, max_tables=1, games=[steady])
        self.link = sessions.admit(arena_pb2.PlayRequest(hello=hello), lambda: None, now)
        self.decisions = 0

    def plays(self, now: float) -> None:
        """Read the next envelope, if any, and answer its decisions."""
        if self.link.closed is not None:
            raise Harmed(f"the stream of an honest bot was ended: {self.link.closed.text}")
        envelope = self.link.next_envelope(now)
        if envelope is None:
            return
        self.link.written()
        told = arena_pb2.PlayResponse.FromString(envelope)
        normal = all(seat.end_cause == arena_pb2.END_CAUSE_NORMAL for end in told.ends for seat in end.seats)
        if told.refusals or told.problems or not normal:
            raise Harmed(f"an honest bot was told: {told.refusals} {told.problems} {told.ends}")
        answers = [arena_pb2.Answer(table=one.table, decision=one.decision, option=0) for one in told.decisions]
        self.decisions += len(answers)
        self.link.receive(arena_pb2.PlayRequest(received=told.envelope, answers=answers).SerializeToString(), now)


class LinksTarget:
    """The server's sessions, links and lobby without I/O, in simulated time."""

    def __init__(self) -> None:
        self.now = 0.0
        self._log = Log()
        entropy = entropy_of("fuzz")
        utc = datetime(2026, 1, 1, tzinfo=UTC)
        self._lobby = Lobby(LADDERS, Taken(), entropy=entropy, utc=lambda: utc, log=self._log)
        self._sessions = Sessions(self._lobby, ServerLimits(), "fuzz", entropy)
        self._honest = [_Honest(self._sessions, name, self.now) for name in NAMES]
        self._made = 0  # decisions of the honest bots at the last check

    def send(self, pieces: Sequence[bytes]) -> None:
        self.now += 0.01
        link = self._enters(pieces[0]) if pieces else None
        for piece in pieces[1:]:
            if link is None or link.closed is not None:
                break
            link.receive(piece, self.now)
            self._lobby.tick(self.now)
            self._hears(link)
        if link is not None:
            self._sessions.lost(link, self.now)
        self._sessions.tick(self.now)
        self._lobby.tick(self.now)
        for bot in self._honest:
            bot.plays(self.now)

    def _enters(self, piece: bytes) -> Link | None:
        try:
            request = arena_pb2.PlayRequest.FromString(piece)
        except DecodeError:
            return None
        if any(request.hello.bot == name for name in NAMES):
            return None  # without tokens, a connection with the same bot name takes over
        try:
            link = self._sessions.admit(request, lambda: None, self.now)
        except CallRefused as refused:
            how = refused.ending
            _is_legible(how.text)
            if call_status(how.reason, "").code != how.code:
                raise Harmed(f"{how} is not in the table of reasons") from None
            return None
        self._lobby.tick(self.now)
        self._hears(link)
        return link

    def _hears(self, link: Link) -> None:
        envelope = link.next_envelope(self.now)
        if envelope is None:
            return
        link.written()
        told = arena_pb2.PlayResponse.FromString(envelope)
        for text in [refusal.text for refusal in told.refusals] + [problem.text for problem in told.problems]:
            _is_legible(text)

    def check(self) -> None:
        for _ in range(WHILE):
            self.send([])
        made = sum(bot.decisions for bot in self._honest)
        if made == self._made:
            raise Harmed("the honest bots are stuck")
        self._made = made
        if self._log.errors():
            raise Harmed(f"the log tells of a fault: {self._log.errors()[:3]}")
        if len(self._sessions) > MOST_SESSIONS:
            raise Harmed(f"{len(self._sessions)} sessions are held")
        self._log.lines.clear()

    def close(self) -> None:
        pass


def _is_legible(text: str) -> None:
    if not text.isprintable():
        raise Harmed(f"a bot is told {text!r}")


def target_for(level: str) -> Target:
    """Create a target for cases of a level."""
    return LinksTarget() if level == "links" else ArenaTarget(level)
