"""What is counted is what happened: in whole matches in virtual time, and on a stream without I/O."""

from __future__ import annotations

from collections import Counter

from cutpurse.engine.clocks import OutcomeKind, TimeControl
from cutpurse.server.counts import Counts, Histogram
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.limits import ServerLimits
from cutpurse.server.streams.sessions import Sessions
from cutpurse.v1 import arena_pb2
from tests.server.small_world import Manner, World
from tests.server.stores import match_of
from tests.server.toys import OPTIONS, ToyLobby, ToySeat

QUICK = TimeControl(base_ms=100, bank_ms=500, grace_ms=20, handover_ms=50)


def test_a_value_is_counted_in_the_first_bound_that_holds_it() -> None:
    tally = Histogram((1.0, 2.0))
    for value in (0.5, 1.0, 1.5, 2.0, 7.0):
        tally.add(value)
    assert tally.counts == [2, 2, 1]
    assert tally.total == 12.0


def test_matches_faults_and_thinking_are_those_of_the_results() -> None:
    world = World([Ladder("it", "greed", 3, control=QUICK, matches_wanted=4)])
    world.bot("slow", manner=Manner(never=0.1))
    world.bot("wrong", manner=Manner(illegal=0.3, gives_up=0.1))
    world.bot("right")
    world.run(lambda: world.lobby.is_complete and all(len(bot.done) == 4 for bot in world.bots))
    counts, results = world.lobby.counts, list(world.store.kept.values())
    assert counts.matches_started == counts.matches_finished == {"it": 4}
    assert counts.matches_void == {}
    assert counts.faults == Counter(fault.cause.value for result in results for fault in match_of(result).faults)
    assert counts.faults["timeout"] > 0
    assert counts.faults["crashed"] > 0
    assert counts.storing == counts.not_stored == counts.incidents == 0
    assert sum(counts.thinking.counts) == sum(match_of(result).asked(seat) for result in results for seat in range(3))
    thought = sum(one.thinking_ms for result in results for one in result.seats) / 1_000
    assert abs(counts.thinking.total - thought) < 0.001 * 12  # seats; of each, whole milliseconds are stored


def test_a_match_that_waits_for_the_store_and_one_that_it_did_not_take() -> None:
    world = World([Ladder("it", "greed", 3, matches_wanted=1)])
    world.store.takes_s = 5.0
    world.store.is_broken = True
    for name in "abc":
        world.bot(name)
    counts = world.lobby.counts
    world.run(lambda: world.store.offered == 1)
    assert counts.storing == 1
    world.run(lambda: counts.not_stored == 1)
    assert (counts.storing, counts.incidents) == (0, 1)
    assert counts.matches_void == {"it": 1}
    assert counts.matches_finished == {}


class Stream:
    """One stream of a bot of its own."""

    def __init__(self, counts: Counts, sessions: Sessions, name: str = "ann", **hello: object) -> None:
        said = arena_pb2.Hello(**{"protocol_major": 1, "bot": name, **hello})  # type: ignore[arg-type]
        self.link = sessions.admit(arena_pb2.PlayRequest(hello=said), lambda: None, 0.0)
        self.read = 0

    def take(self) -> arena_pb2.PlayResponse:
        """The next envelope."""
        envelope = self.link.next_envelope(0.0)
        assert envelope is not None
        self.link.written()
        self.read += 1
        return arena_pb2.PlayResponse.FromString(envelope)

    def say(self, *answers: tuple[int, int, int], **fields: object) -> None:
        """Acknowledge, and answer with (table, decision, option)."""
        said = [arena_pb2.Answer(table=table, decision=asked, option=option) for table, asked, option in answers]
        request = arena_pb2.PlayRequest(received=self.read, answers=said, **fields)  # type: ignore[arg-type]
        self.link.receive(request.SerializeToString(), 0.0)


def test_answers_envelopes_and_problems_of_a_stream() -> None:
    counts = Counts()
    sessions = Sessions(ToyLobby(), ServerLimits(), "test", bytes, counts)
    stream = Stream(counts, sessions)
    assert (counts.connected, counts.sessions_opened, counts.envelopes_in) == (1, 1, 1)
    seat = ToySeat(stream.link.session, asks_itself=True).sit()
    stream.take()
    stream.say((seat.number, 1, OPTIONS))
    assert counts.refused == {OutcomeKind.ILLEGAL.value: 1}
    stream.say((seat.number, 1, 0), (seat.number, 1, 0), (9, 1, 0))
    assert counts.accepted == 1
    assert counts.refused == {"illegal": 1, "already_decided": 1, "unknown_decision": 1}
    stream.take()
    stream.say(give_ups=[arena_pb2.GiveUp(table=seat.number, decision=2)])
    assert counts.accepted == 2
    stream.link.receive(b"\xff", 0.0)
    assert counts.problems == {"BAD_MESSAGE": 1}
    assert (counts.envelopes_in, counts.envelopes_out) == (5, 2)


def test_a_session_is_connected_as_long_as_it_has_a_stream() -> None:
    counts = Counts()
    sessions = Sessions(ToyLobby(), ServerLimits(), "test", lambda size: bytes([1]) * size, counts)
    first = Stream(counts, sessions)
    welcome = first.take().welcome
    resume = arena_pb2.Resume(session=welcome.session, secret=welcome.resume_secret)
    second = Stream(counts, sessions, resume=resume)
    assert first.link.closed is not None
    assert (counts.connected, counts.sessions_opened, counts.sessions_resumed) == (1, 1, 1)
    sessions.lost(first.link, 0.0)
    assert counts.connected == 1 == sessions.connected
    sessions.lost(second.link, 0.0)
    sessions.lost(second.link, 0.0)
    assert counts.connected == 0 == sessions.connected
