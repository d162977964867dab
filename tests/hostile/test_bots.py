"""Bots that were let in and mean no good: frozen, deaf, slow, in a loop, many, or under the name of another."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from cutpurse.v1 import arena_pb2
from tests.hostile import frames
from tests.hostile.arena import Besieged, Harmed
from tests.hostile.conftest import Attack
from tests.hostile.peer import Caller, Peer
from tests.hostile.witness import NAMES
from tests.looking import until
from tests.roots import CHECKOUT

FROZEN = """
import sys
from tests.hostile.peer import Caller
bot = Caller(sys.argv[1])
bot.hello("frozen")
print(bot.next().welcome.bot, flush=True)
while True:
    bot.next(60)
"""


def test_bots_that_never_read(arena: Attack) -> None:
    """They answer blindly, so that the arena goes on sending, until its write hangs."""
    deaf = [arena.call() for _ in range(12)]
    for number, bot in enumerate(deaf):
        bot.hello(f"deaf_{number}")
    for count in range(1, 200):
        for bot in deaf:
            bot.say(arena_pb2.PlayRequest(received=0, answers=[arena_pb2.Answer(table=1, decision=count, option=0)]))
    arena.on.honest(arena.before.decisions + 60)
    assert arena.on.status()["peak_kib"] < arena.before.status["rss_kib"] + 16 * 1024


def test_bots_that_never_answer(arena: Attack) -> None:
    mute = [arena.bot(f"mute_{number}") for number in range(6)]
    ends = 0
    while ends < 2:
        for bot in mute:
            envelope = bot.next(0.1)
            ends += len(envelope.ends) if envelope is not None else 0
    assert {seat["cause"] for seat in arena.on.results() if seat["bot"].startswith("mute_")} <= {"timeout"}


def test_a_bot_that_answers_a_byte_at_a_time(arena: Attack) -> None:
    slow, other = arena.bot("slow"), arena.bot("slow_too")
    asked = slow.decision() or other.decision()
    assert asked is not None
    answer = arena_pb2.Answer(table=asked.table, decision=asked.decision, option=0)
    body = arena_pb2.PlayRequest(received=slow.had, answers=[answer]).SerializeToString()
    late = False
    for sign in b"\x00" + len(body).to_bytes(4) + body:
        slow.send(b"\x00\x00\x01\x00\x00\x00\x00\x00\x01" + bytes([sign]))
        for envelope in (*slow.envelopes(0.08), *other.envelopes(0.01)):
            late |= bool(envelope.decisions or envelope.ends)
    arena.on.honest(arena.before.decisions + 20)


def test_a_frozen_process_is_noticed_while_it_is_frozen(arena: Attack) -> None:
    command = [sys.executable, "-c", FROZEN, arena.address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=CHECKOUT) as frozen:
        try:
            assert frozen.stdout is not None
            assert frozen.stdout.readline() == b"frozen\n"
            assert "frozen" in arena.on.sessions()
            os.kill(frozen.pid, signal.SIGSTOP)
            arena.on.settle({**arena.before.status, "tasks": arena.before.status["tasks"] + 3, "fds": 400})
        finally:
            frozen.kill()


def test_the_newest_of_many_under_one_name_has_the_session(arena: Attack) -> None:
    twins = [arena.call() for _ in range(40)]
    for twin in twins:
        twin.hello("twin")
    told = [twin.next() for twin in twins]
    assert all(welcome is None or welcome.HasField("welcome") for welcome in told)
    held = arena.on.sessions()["twin"]
    (winner,) = [twin for twin in twins if bytes.fromhex(held["secret"]) in twin.mine]
    losers = [twin for twin in twins if twin is not winner]
    assert all("a newer stream of this bot took over" in loser.ends() for loser in losers)
    assert winner.ended is None


def test_a_bot_in_a_loop(arena: Attack) -> None:
    for _ in range(300):
        with Caller(arena.address) as bot:
            bot.hello("looping")
            assert bot.next() is not None
    assert arena.on.status()["sessions"] <= arena.before.status["sessions"] + 1


def test_a_thousand_names(arena: Attack) -> None:
    """Sessions that nobody comes back to are given up after the window."""
    for number in range(1_000):
        with Caller(arena.address) as bot:
            bot.hello(f"name_{number}", games=[], max_tables=1)
            bot.say(arena_pb2.PlayRequest(max_tables=0))


def test_secrets_are_not_to_be_guessed(arena: Attack) -> None:
    """Whatever is tried, the answer is the same as for a session that never was, and the session stays where it is."""
    name = NAMES[0]
    held = arena.on.sessions()[name]
    right = bytes.fromhex(held["secret"])
    near = [right[:-1], right + b"\x00", right[::-1], right[:31] + bytes([right[31] ^ 1]), held["secret"].encode()]
    tries = [(held["id"], wrong) for wrong in (b"", bytes(32), *near)]
    told = set()
    for session, secret in [*tries, ("0" * 32, bytes(32)), ("", b""), (held["id"].upper(), right)]:
        caller = arena.call()
        caller.hello(name, resume=arena_pb2.Resume(session=session, secret=secret))
        ended = caller.ends()
        told.add(ended[ended.index("grpc-message") : ended.index("grpc-status-details-bin")])
    assert len(told) == 1
    assert "there is no such session to resume (any more)" in told.pop()
    assert arena.on.sessions()[name] == held


def test_a_stolen_secret_is_of_no_use_under_another_name(arena: Attack) -> None:
    victim = arena.bot("victim")
    held = arena.on.sessions()["victim"]
    thief = arena.call()
    thief.hello("thief", resume=arena_pb2.Resume(session=held["id"], secret=bytes.fromhex(held["secret"])))
    assert "say Hello by that name" in thief.ends()
    assert arena.on.sessions()["victim"] == held
    assert victim.ended is None


def test_answers_at_tables_of_others_change_nothing(arena: Attack) -> None:
    bot = arena.bot("seer")
    for table in range(2, 40):
        bot.say(arena_pb2.PlayRequest(answers=[arena_pb2.Answer(table=table, decision=1, option=0)]))
    texts = set()
    for _ in range(200):
        envelope = bot.next(0.05)
        if envelope is None:
            break
        texts |= {refusal.text.partition(":")[2] for refusal in envelope.refusals}
    assert texts == {" there is no such decision in this session (yet)"}


# -- all there is of something, taken
def test_when_all_connections_are_taken_honest_bots_come_in_once_the_idle_are_gone(
    lone_arena: Callable[..., Besieged],
) -> None:
    arena = lone_arena(most_streams=24)
    before = arena.look()
    taken = [Caller(arena.address) for _ in range(60)]
    arena.honest(before.decisions + 5)
    arena.settle({**before.status, "tasks": before.status["tasks"] + 3, "fds": before.status["fds"] + 2})
    arena.unharmed(before, taken)
    for bot in taken:
        bot.close()


def test_when_all_descriptors_are_taken_matches_go_on_and_are_stored(lone_arena: Callable[..., Besieged]) -> None:
    arena = lone_arena(files=80)
    before = arena.look()
    taken = []
    for _ in range(300):
        try:
            taken.append(Peer(arena.address))
        except OSError:  # nobody answers any more
            break
    seen = matches = arena.honest().get("matches", 0)
    decisions = before.decisions
    while seen <= matches and decisions < before.decisions + 2_000:
        decisions += 20
        seen = arena.honest(decisions).get("matches", 0)
    assert seen > matches
    for bot in taken:
        bot.close()
    arena.unharmed(before, taken)


def test_calls_that_take_all_the_room_keep_nobody_from_playing(lone_arena: Callable[..., Besieged]) -> None:
    """Watching health and asking reflection for ever: newcomers wait while that lasts, who plays goes on."""
    arena = lone_arena(most_calls=16)
    before = arena.look()
    peers = []
    for path in ("/grpc.health.v1.Health/Watch", "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"):
        peers.append(peer := Peer(arena.address))
        peer.acknowledge()
        for stream in range(1, 33, 2):
            peer.send(frames.request(stream, frames.call(path)))
            if "Watch" in path:
                peer.send(frames.frame(frames.DATA, frames.END_STREAM, stream, frames.message(b"")))
    with pytest.raises(Harmed, match="Concurrent RPC limit exceeded"):
        until(lambda: arena.welcome_s() < 0.0, "the arena has read what the peers sent")
    arena.honest(before.decisions + 20)
    for peer in peers:
        peer.close()
    arena.settle({**before.status, "fds": before.status["fds"] + 2})
    with contextlib.suppress(Harmed):  # gRPC judges a call by how many there were when it began to wait for it
        arena.welcome_s()
    arena.unharmed(before, peers)


def test_a_stream_that_nobody_reads_is_ended_by_the_age_of_its_connection(lone_arena: Callable[..., Besieged]) -> None:
    arena = lone_arena(honest=False, connection_age_s=2.0, connection_age_grace_s=0.3)
    before = arena.look()
    with Caller(arena.address, (4, 0)) as deaf:
        deaf.hello("deaf")
        while deaf.ended is None and not deaf.is_closed:
            deaf.envelopes(0.1)  # answers pings, and gives no window
        arena.settle({name: count + 3 for name, count in before.status.items()} | {"streams": 0})
