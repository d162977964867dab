"""The cost of notes in CPU microseconds and bytes per answer: a server and two bots in one process, without a network.

    python -m benchmarks.note_cost [--rounds 7] [--seconds 1.0]

Both ends are the real ones: lobby, matches and links of the server, sessions and lanes of the SDK. So an answer here
includes everything but gRPC. The rows are measured in turn, round after round. A ratio is the median of the ratios
within each round.
"""

import argparse
import asyncio
import secrets
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median
from typing import Any, Final

from benchmarks.arena.server import Taken
from cutpurse.sdk.bot import BotMaker
from cutpurse.sdk.notes import prints_are_noted
from cutpurse.sdk.online.bot_pool import RemoteBots
from cutpurse.sdk.online.concurrency import ConcurrencyControl
from cutpurse.sdk.online.thinking import Thinker
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.limits import ServerLimits
from cutpurse.server.matches.lobby import Lobby
from cutpurse.server.streams.link import Link
from cutpurse.server.streams.sessions import Sessions
from cutpurse.v1 import arena_pb2
from cutpurse.wire import client_session as sdk_session
from cutpurse.wire.client_session import ClientSession

__all__ = ["main"]

TEXT: Final = "expects 4.125 points from the third option, 3.875 from others"
GAME: Final = "greed"
WITHOUT: Final = ("agenda",)  # the features of a bot without notes
LIMITS: Final = ServerLimits(envelopes_per_second=1_000_000, envelopes_at_once=1_000_000)


class Silent:
    """A bot that takes the first option."""

    reads_events = False

    def choose(self, view: object, decision: Any) -> int:
        return 0


class Notes(Silent):
    """A bot that attaches a note to each decision."""

    def choose(self, view: object, decision: Any) -> int:
        decision.note(TEXT)
        return 0


class Prints(Silent):
    """A bot that prints a line at each decision."""

    def choose(self, view: object, decision: Any) -> int:
        sys.stdout.write(TEXT + "\n")
        return 0


class Nothing:
    """A log and a stream that drop everything."""

    def info(self, event: str, **facts: Any) -> None:
        pass

    error = info

    def write(self, text: str) -> int:
        return len(text)


@dataclass
class Peer:
    """One bot, from the server's link to its own code."""

    link: Link
    session: ClientSession
    bots: RemoteBots
    answers: int = 0
    bytes: int = 0

    def turn(self, now: float) -> bool:
        """Carry one envelope each way; return whether there was any."""
        envelope = self.link.next_envelope(now)
        if envelope is None:
            return False
        self.link.written()
        for todo in self.session.receive(envelope, now):
            self.answers += type(todo) is sdk_session.Ask
            self.bots.do(todo)
        while (said := self.session.next_envelope()) is not None:
            self.bytes += len(said)
            self.link.receive(said, now)
        return True


@dataclass(frozen=True)
class Row:
    """A way to play."""

    name: str
    bot: type
    features: tuple[str, ...] = ("agenda", "notes")
    prints: bool = False


@dataclass
class Measured:
    """The result of one round of a row."""

    us: float  # CPU microseconds per answer, of both ends and the match together
    bytes: float  # bytes of envelopes from the bots per answer


ROWS: Final = (
    Row("a bot that does not know notes", Silent, WITHOUT),
    Row("a bot that could, and says nothing", Silent),
    Row(f"a note of {len(TEXT)} characters with each answer", Notes),
    Row(f"a printed line of {len(TEXT)} characters", Prints, prints=True),
)


async def play(row: Row, seconds: float) -> Measured:
    """Play with two bots of this row at four tables for `seconds` CPU seconds."""
    sdk: Any = sdk_session
    before = sdk.FEATURES
    sdk.FEATURES = row.features  # a bot's hello names its features
    log: Any = Nothing()
    ladders = [Ladder("it", GAME, 2)]
    lobby = Lobby(ladders, Taken(), entropy=secrets.token_bytes, utc=lambda: datetime.now(UTC), log=log)
    sessions = Sessions(lobby, LIMITS, "bench", secrets.token_bytes)
    try:
        peers = [_peer(name, row, sessions) for name in ("ann", "bob")]
        _go_on(lobby, peers, lambda: min(peer.answers for peer in peers) > 2_000)  # until the bots count as fast
        had = [(peer.answers, peer.bytes) for peer in peers]
        began = time.process_time()
        _go_on(lobby, peers, lambda: time.process_time() - began > seconds)
        spent = time.process_time() - began
    finally:
        sdk.FEATURES = before
    answers = sum(peer.answers - one[0] for peer, one in zip(peers, had, strict=True))
    size = sum(peer.bytes - one[1] for peer, one in zip(peers, had, strict=True))
    for peer in peers:
        peer.bots.thinker.close()
    return Measured(spent / answers * 1e6, size / answers)


def _peer(name: str, row: Row, sessions: Sessions) -> Peer:
    session = ClientSession(name, games=[GAME], max_tables=4, events=False)
    hello = arena_pb2.PlayRequest.FromString(session.opening())
    link = sessions.admit(hello, lambda: None, 0.0)

    def broken(problem: BaseException) -> None:
        raise problem

    bots = RemoteBots(
        BotMaker(name, row.bot),
        session,
        _Here(False, broken),
        ConcurrencyControl(4),
        lambda text: None,
        lambda match: None,
        lambda: None,
        sends_prints=row.prints,
    )
    return Peer(link, session, bots)


class _Here(Thinker):
    """A thinker that runs every turn in the event loop, as for a bot that has proven fast."""

    def in_event_loop(self, kind: Any) -> bool:
        return True


def _go_on(lobby: Lobby, peers: list[Peer], is_over: Callable[[], bool]) -> None:
    now = 0.0
    while not is_over():
        for _ in range(64):
            now += 0.001
            lobby.tick(now)
            for peer in peers:
                peer.turn(now)


def main(arguments: list[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.note_cost", description="what notes cost")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0, help="CPU seconds a row and round")
    given = parser.parse_args(arguments)
    rounds: list[list[Measured]] = []
    streams: Any = sys  # stdout needs only `write` here
    out, streams.stdout = sys.stdout, Nothing()
    try:
        with prints_are_noted():
            for _ in range(given.rounds):
                rounds.append([asyncio.run(play(row, given.seconds)) for row in ROWS])
    finally:
        sys.stdout = out
    lines = [f"{'CPU us an answer':<44}{'':>8}{'to the first':>14}{'bytes':>8}"]
    for index, row in enumerate(ROWS):
        us = median(one[index].us for one in rounds)
        ratio = median(one[index].us / one[0].us for one in rounds)
        size = median(one[index].bytes for one in rounds)
        lines.append(f"{row.name:<44}{us:>8.1f}{ratio:>14.3f}{size:>8.1f}")
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
