"""A bot like a program in another language: it uses the messages of the protocol, and nothing of our SDK.

usage: raw_bot.py [FAULT]: it takes the first option, and FAULT is a kind of misbehaviour. It prints its process ID on
stderr.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import time
from pathlib import Path

import grpc
from google.protobuf.unknown_fields import UnknownFieldSet

from cutpurse.v1 import arena_pb2, arena_pb2_grpc, game_pb2, game_pb2_grpc

FAULT = sys.argv[1] if len(sys.argv) > 1 else ""


class Bot:
    """One session, through any number of streams."""

    def __init__(self, channel: grpc.Channel) -> None:
        self.arena = arena_pb2_grpc.ArenaServiceStub(channel)
        self.games = game_pb2_grpc.GameServiceStub(channel)
        self.session = arena_pb2.Resume()
        self.drain_s: float | None = None
        self.lowest = 0  # the current table, with the fault of one table at a time
        self.answered = 0
        self.leaving = False
        self.dropped = False
        self.out: queue.Queue[arena_pb2.PlayRequest | None] = queue.Queue()

    def leave(self, *_: object) -> None:
        """Finish the open matches and leave, as the handler of SIGTERM."""
        self.leaving = True
        self.out.put(arena_pb2.PlayRequest(received=self.received, leaving=True))

    def stream(self) -> str:
        """Run one stream, and return the reason of its end."""
        self.out = queue.Queue()
        self.received = 0
        hello = arena_pb2.Hello(
            protocol_major=1,
            sdk="none",
            bot="Bad Name" if FAULT == "bad-name" else "raw",
            games=[arena_pb2.GameWanted(game=game, rules_version="1") for game in sys.argv[2:]],
            max_tables=8,
            events=True,
            features=["nonces"] if FAULT.endswith(("nonce", "nonces")) else [],
        )
        if self.session.session and FAULT != "no-resume":
            hello.resume.CopyFrom(self.session)
        self.out.put(arena_pb2.PlayRequest(hello=hello))
        try:
            for envelope in self.arena.Play(iter(self.out.get, None)):
                self.take(envelope)
                if FAULT == "drops" and self.answered == 5 and not self.dropped:
                    self.dropped = True
                    return "dropped"
        except grpc.RpcError as problem:
            return "RESUME_EXPIRED" if "RESUME_EXPIRED" in str(problem.trailing_metadata()) else f"{problem.code()}"
        finally:
            self.out.put(None)
        return "OK"

    def take(self, envelope: arena_pb2.PlayResponse) -> None:
        """Process an envelope, and answer it with one."""
        self.received = envelope.envelope
        if envelope.HasField("welcome"):
            self.session.session = envelope.welcome.session
            self.session.secret = envelope.welcome.resume_secret
            for there in envelope.welcome.elsewhere:
                is_of_the_league = there.address.rpartition(":")[0].endswith(".league.example")
                if FAULT == "trusts-anybody" or (FAULT == "trusts-an-end" and is_of_the_league):
                    self.dial_too(there.address)
        if envelope.HasField("drain"):
            self.drain_s = envelope.drain.reconnect_after_ms / 1000
        if FAULT == "strict" and (len(UnknownFieldSet(envelope)) or envelope.problems):
            sys.exit("a field that I do not know")
        for started in envelope.starts:
            asked = game_pb2.GetGameRequest(game=started.game, seats=len(started.seats), settings=started.settings)
            assert self.games.GetGame(asked).catalogue.digest == started.catalogue_digest
            if started.nonce_ms and FAULT != "no-nonce":
                self.add_nonce(started.table)
        for refusal in envelope.refusals:
            self.refused(refusal)
        for decision in envelope.decisions:
            self.decide(decision)
        only_heartbeat = not (envelope.welcome.session or envelope.starts or envelope.decisions or envelope.ends)
        only_heartbeat &= not (envelope.accepted or envelope.refusals or envelope.HasField("drain"))
        if not (FAULT == "no-heartbeat" and only_heartbeat):
            self.out.put(arena_pb2.PlayRequest(received=envelope.envelope))

    def add_nonce(self, table: int) -> None:
        """Send a nonce, changed by the fault."""
        nonce = arena_pb2.Nonce(table=table, nonce=os.urandom(31 if FAULT == "short-nonce" else 32))
        nonces = [nonce] * (2 if FAULT == "two-nonces" else 1)
        self.out.put(arena_pb2.PlayRequest(received=self.received, nonces=nonces))

    def dial_too(self, address: str) -> None:
        """Say Hello at another server, whatever its name."""
        hello = arena_pb2.Hello(protocol_major=1, bot="raw")
        call = arena_pb2_grpc.ArenaServiceStub(grpc.insecure_channel(address)).Play(
            iter([arena_pb2.PlayRequest(hello=hello)])
        )
        next(call, None)  # the server may end the stream without a word

    def refused(self, refusal: arena_pb2.Refusal) -> None:
        """Answer again, if that is possible."""
        if FAULT == "exits-when-late" and refusal.reason == arena_pb2.REFUSAL_REASON_TOO_LATE:
            sys.exit("too late, says the server")
        if FAULT == "exits-when-refused" and not refusal.corrections_left:
            sys.exit("that was the last of it")
        if refusal.corrections_left and FAULT != "never-corrects":
            self.answer(refusal.table, refusal.decision, refusal.options_count if FAULT == "illegal" else 0)

    def decide(self, decision: arena_pb2.Decision) -> None:
        """Answer with the first option, changed by the fault."""
        option = 0
        if FAULT == "illegal":
            option = len(decision.options)
        elif FAULT == "first-table-only" and decision.table > 1:
            return
        elif FAULT == "one-at-a-time":
            self.lowest = self.lowest or decision.table
            if decision.table != self.lowest and decision.decision < 3:
                return
        elif (FAULT == "stops-at-drain" and self.drain_s is not None) or (
            FAULT == "silent-at-5" and self.answered == 5
        ):
            return
        elif FAULT == "exits-at-5" and self.answered == 5:
            sys.exit("no more of this")
        elif FAULT in ("gives-up", "gives-up-the-match") and self.answered == 5:
            self.answered += 1
            give_up = arena_pb2.GiveUp(
                table=decision.table,
                decision=decision.decision,
                reason="no\nplan",
                whole_match=FAULT == "gives-up-the-match",
            )
            self.out.put(arena_pb2.PlayRequest(received=self.received, give_ups=[give_up]))
            return
        elif FAULT == "acknowledges-late":
            time.sleep(0.1)
        self.answer(decision.table, decision.decision, option)

    def answer(self, table: int, decision: int, option: int) -> None:
        """Send an answer."""
        self.answered += 1
        answer = arena_pb2.Answer(table=table, decision=decision, option=option)
        self.out.put(arena_pb2.PlayRequest(received=self.received, answers=[answer]))


def main() -> None:
    """Play until the server is gone, or has announced that it will not return."""
    sys.stderr.write(f"pid {os.getpid()}\n")
    if FAULT == "quits":
        sys.exit("no license\nfound")
    if FAULT in ("silent", "stubborn"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if FAULT == "stubborn":
        child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
        sys.stderr.write(f"pid {child.pid}\n")
    if FAULT == "leaves-a-process":  # in its own session, so a SIGTERM to the bot's process group does not reach it
        subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"], start_new_session=True)
    if FAULT == "silent":
        signal.pause()
    channel = grpc.insecure_channel(os.environ["CUTPURSE_SERVER"])
    bot = Bot(channel)
    if FAULT != "stubborn":
        signal.signal(signal.SIGTERM, bot.leave)
    tries = 0
    while tries < 5 and not bot.leaving:
        ended = bot.stream()
        if ended == "RESUME_EXPIRED":
            if FAULT == "no-anew":
                signal.pause()
            bot.session = arena_pb2.Resume()
        if FAULT != "hasty":
            time.sleep(0.2 if bot.drain_s is None else bot.drain_s)
        bot.drain_s = None
        tries = tries + 1 if ended == f"{grpc.StatusCode.UNAVAILABLE}" else 0
        if not Path(os.environ["CUTPURSE_SERVER"].removeprefix("unix:")).exists():
            return


if __name__ == "__main__":
    main()
