"""A stream as its rules tell it, without I/O: what the bot sends, what the server sends, and how it ends."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st

from cutpurse.server.errors import Ending, Refused
from cutpurse.server.limits import Limits
from cutpurse.server.link import Link
from cutpurse.server.owners import ANYBODY, Grant
from cutpurse.server.session import Session
from cutpurse.server.sessions import Sessions
from cutpurse.v1 import arena_pb2
from tests.server.toys import OPTIONS, SECRET, ToyLobby, ToySeat

_CODES = {
    "OK": 0,
    "INVALID_ARGUMENT": 3,
    "NOT_FOUND": 5,
    "FAILED_PRECONDITION": 9,
    "ABORTED": 10,
    "UNAVAILABLE": 14,
    "UNAUTHENTICATED": 16,
}
SERVER = "cutpurse test"


class House:
    """A server without streams: its sessions, and a clock that stands where it is put."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.lobby = ToyLobby()
        self.limits = limits or Limits()
        counter = itertools.count(1)
        self.bad: set[str] = set()  # tokens that count no more
        self.sessions = Sessions(
            self.lobby,
            self.limits,
            SERVER,
            entropy=lambda size: next(counter).to_bytes(size),
            is_good=lambda token: token not in self.bad,
        )
        self.now = 100.0

    def dial(self, bot: str = "ann", grant: Grant = ANYBODY, **hello: object) -> Peer:
        """A bot says Hello and is let in."""
        return Peer(self, bot, hello, grant)

    def refusal(self, **hello: object) -> Ending:
        """How a Hello is refused."""
        with pytest.raises(Refused) as refused:
            self.dial(**hello)  # type: ignore[arg-type]
        return refused.value.ending


class Peer:
    """A bot at its end of one stream. It acknowledges nothing by itself."""

    def __init__(self, house: House, bot: str, hello: dict[str, object], grant: Grant) -> None:
        self.house = house
        self.wakes = 0
        said = arena_pb2.Hello(**{"protocol_major": 1, "bot": bot, **hello})  # type: ignore[arg-type]
        self.link: Link = house.sessions.admit(arena_pb2.PlayRequest(hello=said), self._wake, house.now, grant)
        self.session = self.link.session
        self.received = 0

    def _wake(self) -> None:
        self.wakes += 1

    def read(self) -> arena_pb2.PlayResponse | None:
        """The next envelope, if there is one."""
        envelope = self.link.next_envelope(self.house.now)
        if envelope is None:
            return None
        self.link.written()
        response = arena_pb2.PlayResponse.FromString(envelope)
        assert response.envelope == self.received + 1
        self.received = response.envelope
        return response

    def expect(self, *lines: str) -> None:
        """The next envelope, told in lines; none: there is no envelope."""
        response = self.read()
        assert ([] if response is None else told(response)) == list(lines)
        assert (response is None) == (not lines)

    def say(self, *, received: int | None = None, **fields: object) -> float:
        """Send an envelope, which acknowledges what was read unless told otherwise."""
        request = arena_pb2.PlayRequest(received=self.received if received is None else received, **fields)  # type: ignore[arg-type]
        return self.link.receive(request.SerializeToString(), self.house.now)

    def answer(self, *answers: tuple[int, int, int | None], received: int | None = None) -> None:
        """Answer decisions: table, decision, option."""
        self.say(answers=[arena_pb2.Answer(table=t, decision=d, option=o) for t, d, o in answers], received=received)

    def welcomed(self) -> Peer:
        """Read Welcome and acknowledge it."""
        response = self.read()
        assert response is not None
        assert response.HasField("welcome")
        self.say()
        return self

    def tables(self, count: int) -> list[ToySeat]:
        """So many tables, started, acknowledged, and asking nothing yet."""
        seats = [ToySeat(self.session).sit() for _ in range(count)]
        self.expect(*(f"start {seat.number}" for seat in seats))
        self.say()
        return seats

    def ended(self) -> tuple[str, str]:
        """Code and reason of the stream's end."""
        closed = self.link.closed
        assert closed is not None
        assert self.link.next_envelope(self.house.now) is None
        return next(name for name, code in _CODES.items() if code == closed.code), closed.reason


def told(response: arena_pb2.PlayResponse) -> list[str]:
    """What an envelope holds, a line an item; an empty one is a heartbeat."""
    lines = ["welcome"] if response.HasField("welcome") else []
    lines += [f"accepted {table}" for table in response.accepted]
    for refusal in response.refusals:
        name = arena_pb2.RefusalReason.Name(refusal.reason).removeprefix("REFUSAL_REASON_")
        lines.append(f"refused {refusal.table}#{refusal.decision} {name} {refusal.corrections_left}")
    lines += [f"start {start.table}" for start in response.starts]
    lines += [f"ask {asked.table}#{asked.decision}" for asked in response.decisions]
    lines += [f"end {ended.table}" for ended in response.ends]
    lines += ["drain"] if response.HasField("drain") else []
    for problem in response.problems:
        name = arena_pb2.ErrorReason.Name(problem.reason).removeprefix("ERROR_REASON_")
        lines.append(f"problem {name} {problem.strikes_left}")
    return lines or ["heartbeat"]


@pytest.fixture
def house() -> House:
    return House()


# -- coming in
def test_hello_is_answered_by_welcome_with_every_limit(house: House) -> None:
    peer = house.dial(max_tables=7, features=["agenda", "telepathy"], protocol_minor=9, version="2.1-b", sdk="x" * 99)
    response = peer.read()
    assert response is not None
    assert response == arena_pb2.PlayResponse(
        envelope=1,
        welcome=arena_pb2.Welcome(
            session=peer.session.id,
            resume_secret=peer.session.secret,
            protocol_minor=0,
            resumed=False,
            resume_window_ms=30_000,
            max_tables=7,
            most_tables=64,
            max_bytes=65_536,
            max_envelopes_per_second=200,
            heartbeat_ms=15_000,
            server=SERVER,
            bot="ann",
            version="2.1-b",
            features=["agenda"],
            owner="local",
        ),
    )
    assert peer.session.wants_agenda
    assert peer.session.introduction.sdk == "x" * 80
    assert house.lobby.told == ["enter ann"]


def test_a_bot_that_names_little_gets_the_usual(house: House) -> None:
    peer = house.dial().welcomed()
    session = peer.session
    assert (session.identity.version, session.free_tables, session.wants_events, session.wants_agenda) == (
        "1",
        4,
        False,
        False,
    )
    assert session.plays("greed", "greed")
    assert session.plays("szmal", "szmal")


def test_a_bot_is_paired_on_what_it_wants(house: House) -> None:
    wanted = [arena_pb2.GameWanted(game="greed", ladders=["greed-fast"])]
    session = house.dial(games=wanted).session
    assert not session.plays("greed", "greed")
    assert session.plays("greed", "greed-fast")
    assert not session.plays("szmal", "szmal")


@pytest.mark.parametrize(
    ("hello", "code", "reason", "text"),
    [
        ({"protocol_major": 2}, "FAILED_PRECONDITION", "PROTOCOL_VERSION", "version 1.0 of the protocol, the bot 2.0"),
        ({"protocol_major": 0}, "FAILED_PRECONDITION", "PROTOCOL_VERSION", "the bot 0.0"),
        ({"bot": ""}, "FAILED_PRECONDITION", "HELLO", "Hello.bot is ''; it can be 1 to 32 of a-z"),
        ({"bot": "Ann"}, "FAILED_PRECONDITION", "HELLO", "'Ann'"),
        ({"bot": "-ann"}, "FAILED_PRECONDITION", "HELLO", "the first a letter or digit"),
        ({"bot": "a" * 33}, "FAILED_PRECONDITION", "HELLO", "a" * 33),
        ({"bot": "ann\n\x1b[2J"}, "FAILED_PRECONDITION", "HELLO", "'ann??[2J'"),
        ({"version": "1 2"}, "FAILED_PRECONDITION", "HELLO", "Hello.version is '1 2'"),
        (
            {"games": [arena_pb2.GameWanted(game="chess\x00")]},
            "NOT_FOUND",
            "NOT_FOUND",
            "no game is called 'chess?' here; there are: greed, szmal",
        ),
        (
            {"games": [arena_pb2.GameWanted(game="greed", rules_version="0")]},
            "FAILED_PRECONDITION",
            "RULES_VERSION",
            "the bot was written for '0'",
        ),
        (
            {"games": [arena_pb2.GameWanted(game="greed", ladders=["gold"])]},
            "NOT_FOUND",
            "NOT_FOUND",
            "no ladder of greed is called 'gold'; there are: greed, greed-fast",
        ),
        (
            {"games": [arena_pb2.GameWanted(game="greed")] * 2},
            "FAILED_PRECONDITION",
            "HELLO",
            "names greed twice",
        ),
        (
            {"resume": arena_pb2.Resume(session="no such", secret=b"x")},
            "NOT_FOUND",
            "RESUME_EXPIRED",
            "say Hello without resume",
        ),
    ],
)
def test_a_wrong_hello_is_refused_with_what_was_possible(
    house: House, hello: dict[str, object], code: str, reason: str, text: str
) -> None:
    refusal = house.refusal(**hello)
    assert (refusal.code, refusal.reason) == (_CODES[code], reason)
    assert text in refusal.text
    assert refusal.text.isprintable()
    assert len(house.sessions) == 0
    assert house.lobby.told == []


def test_there_are_only_so_many_sessions_and_those_that_were_lost_count() -> None:
    house = House(Limits(most_sessions=2))
    _lose(house.dial("ann").welcomed())
    house.dial("bob")
    refusal = house.refusal(bot="cid")
    assert (refusal.reason, refusal.retry_s) == ("STREAMS", 5.0)
    house.dial("bob", version="1")  # who is there already takes no place
    house.now += 31.0
    house.sessions.tick(house.now)
    house.dial("cid")


def test_the_first_envelope_must_be_hello(house: House) -> None:
    with pytest.raises(Refused) as refused:
        house.sessions.admit(arena_pb2.PlayRequest(received=0), lambda: None, house.now)
    assert refused.value.ending.reason == "HELLO"


# -- gathering
def test_a_lone_decision_goes_at_once(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    peer.expect()
    wakes = peer.wakes
    seat.ask()
    assert peer.wakes == wakes + 1
    peer.expect("ask 1#1")
    assert seat.handed_over == [house.now]


def test_nobody_is_woken_for_what_must_wait_for_an_acknowledgement(house: House) -> None:
    peer = house.dial().welcomed()
    seats = peer.tables(3)
    seats[0].ask()
    peer.expect("ask 1#1")
    wakes = peer.wakes
    seats[1].ask()
    seats[2].ask()
    assert peer.wakes == wakes
    peer.say()
    assert peer.wakes > wakes
    peer.expect("ask 2#1", "ask 3#1")


def test_what_is_ready_at_once_goes_in_one_envelope(house: House) -> None:
    peer = house.dial().welcomed()
    seats = peer.tables(4)
    for seat in (seats[2], seats[0], seats[3]):
        seat.ask()
    peer.expect("ask 3#1", "ask 1#1", "ask 4#1")


def test_a_start_and_its_first_decision_go_together(house: House) -> None:
    peer = house.dial().welcomed()
    ToySeat(peer.session, asks_itself=True).sit()
    peer.expect("start 1", "ask 1#1")


def test_nothing_goes_while_an_envelope_is_unacknowledged_and_then_all_that_gathered(house: House) -> None:
    peer = house.dial().welcomed()
    first, second, third = peer.tables(3)
    first.ask()
    peer.expect("ask 1#1")
    second.ask()
    house.now += 0.5
    third.ask()
    peer.expect()
    house.now += 0.2
    peer.say()
    peer.expect("ask 2#1", "ask 3#1")
    # It is handed over when it is sent, not when it was put.
    assert second.handed_over == third.handed_over == [100.7]


def test_an_old_acknowledgement_is_none(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    seat.ask()
    peer.expect("ask 1#1")
    peer.answer((1, 1, 0), received=peer.received - 1)
    seat.ask()
    peer.expect()
    peer.say()
    peer.expect("accepted 1", "ask 1#2")


def test_accepted_answers_go_with_the_next_decision_or_after_a_while_alone(house: House) -> None:
    peer = house.dial().welcomed()
    first, second = peer.tables(2)
    first.ask()
    second.ask()
    peer.expect("ask 1#1", "ask 2#1")
    peer.answer((1, 1, 0))
    peer.expect()
    first.ask()
    peer.expect("accepted 1", "ask 1#2")
    peer.answer((2, 1, 2))
    assert peer.link.next_event_at() == pytest.approx(house.now + 0.25)
    house.now += 0.25
    peer.expect("accepted 2")


def test_a_decision_that_was_decided_before_it_was_sent_is_not_sent(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    seat.ask()
    seat.is_open = False  # as when its time is over
    peer.expect()


def test_a_very_full_envelope_leaves_the_rest_for_the_next() -> None:
    house = House(Limits(envelope_bytes=1_000))
    peer = house.dial(max_tables=5).welcomed()
    for _ in range(5):
        ToySeat(peer.session, asks_itself=True, size=400).sit()
    peer.expect("start 1", "start 2", "start 3", "ask 1#1", "ask 2#1", "ask 3#1")
    peer.say()
    peer.expect("start 4", "start 5", "ask 4#1", "ask 5#1")
    peer.say()
    peer.expect()


def test_a_heartbeat_goes_when_nothing_else_did(house: House) -> None:
    peer = house.dial().welcomed()
    assert peer.link.next_event_at() == house.now + 15.0
    house.now += 14.9
    peer.expect()
    house.now += 0.1
    peer.expect("heartbeat")
    peer.say()
    peer.expect()


# -- answers
def test_every_answer_is_accepted_or_refused_by_name(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    seat.ask()
    peer.expect("ask 1#1")
    peer.answer((1, 1, None))
    peer.expect("refused 1#1 ILLEGAL 2")
    peer.answer((1, 1, OPTIONS))
    peer.expect("refused 1#1 ILLEGAL 1")
    peer.answer((1, 1, 1), (1, 1, 2), (1, 2, 0), (1, 0, 0), (2, 1, 0))
    peer.expect(
        "accepted 1",
        "refused 1#1 ALREADY_DECIDED 0",
        "refused 1#2 UNKNOWN_DECISION 0",
        "refused 1#0 UNKNOWN_DECISION 0",
        "refused 2#1 UNKNOWN_DECISION 0",
    )
    assert [(decision, option) for decision, option, _ in seat.answered] == [
        (0, None),
        (0, 3),
        (0, 1),
        (0, 2),
        (1, 0),
        (-1, 0),
    ]


def test_a_refusal_tells_how_many_options_there_were_and_nothing_else(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    seat.ask()
    peer.expect("ask 1#1")
    peer.answer((1, 1, 9))
    response = peer.read()
    assert response is not None
    (refusal,) = response.refusals
    assert refusal.options_count == OPTIONS
    assert refusal.text == "table 1, decision 1: answer with an option from 0 to 2; 2 more may be tried"
    peer.answer((1, 1, 9), (1, 1, 9))
    response = peer.read()
    assert response is not None
    assert [one.text for one in response.refusals] == [
        "table 1, decision 1: answer with an option from 0 to 2; 1 more may be tried",
        "table 1, decision 1: options were 0 to 2; the safe option was taken",
    ]
    assert SECRET not in str(response)


def test_giving_up_is_accepted_and_its_reason_cut_and_made_legible(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    seat.ask()
    peer.expect("ask 1#1")
    reason = "Key\nError \x1b[31m" + "x" * 300
    peer.say(give_ups=[arena_pb2.GiveUp(table=1, decision=1, reason=reason)])
    assert seat.given_up == [("Key?Error ?[31m" + "x" * 300)[:200]]
    peer.say(give_ups=[arena_pb2.GiveUp(table=1, decision=1), arena_pb2.GiveUp(table=9, decision=1)])
    peer.expect("accepted 1", "refused 1#1 UNKNOWN_DECISION 0", "refused 9#1 UNKNOWN_DECISION 0")


def test_a_match_that_is_over_frees_its_table_and_answers_to_it_are_stale(house: House) -> None:
    peer = house.dial(max_tables=1).welcomed()
    (seat,) = peer.tables(1)
    assert peer.session.free_tables == 0
    seat.end()
    assert peer.session.free_tables == 0
    peer.expect("end 1")
    assert peer.session.free_tables == 1
    assert house.lobby.told[-1] == "changed ann 1"
    peer.answer((1, 1, 0))  # acknowledges the end, too
    peer.answer((1, 1, 0))
    peer.expect("refused 1#1 STALE 0", "refused 1#1 STALE 0")
    assert peer.session.places == {}
    assert ToySeat(peer.session).sit().number == 2


def test_a_match_that_broke_down_is_told_with_its_number(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    seat.incident = "00c0ffee"
    seat.end()
    response = peer.read()
    assert response is not None
    assert told(response) == ["end 1", "problem INCIDENT 0"]
    assert (response.problems[0].table, response.problems[0].text) == (
        1,
        "the server made a fault, number 00c0ffee; its log says more",
    )


def test_the_number_of_tables_can_be_changed_at_any_time(house: House) -> None:
    peer = house.dial().welcomed()
    peer.say(max_tables=9)
    peer.say(max_tables=9)
    peer.say(max_tables=4_000_000_000)
    peer.say(max_tables=0)
    assert house.lobby.told == ["enter ann", "changed ann 4", "changed ann 9", "changed ann 64", "changed ann 0"]


# -- what is not allowed
def test_three_bad_messages_end_the_stream(house: House) -> None:
    peer = house.dial().welcomed()
    peer.link.receive(b"\xff\xff\xff", house.now)
    peer.expect("problem BAD_MESSAGE 2")
    peer.say(received=99)
    peer.say(hello=arena_pb2.Hello())
    assert peer.ended() == ("INVALID_ARGUMENT", "BAD_MESSAGE")
    assert "Hello may come in the first envelope" in peer.link.closed.text  # type: ignore[union-attr]
    assert house.lobby.told == ["enter ann", "changed ann 4", "leave ann"]


def test_nobody_sits_down_who_could_not_come_back(house: House) -> None:
    """Without its Welcome a bot has no secret: a match that began before would be lost with that envelope."""
    peer = house.dial()
    assert peer.session.free_tables == 0
    peer.expect("welcome")
    assert peer.session.free_tables == 0
    peer.say()
    assert peer.session.free_tables == 4
    assert house.lobby.told == ["enter ann", "changed ann 4"]
    back = house.dial(resume=_lose(peer))
    assert back.session.free_tables == 4  # whoever has the secret need not show it twice


def test_an_envelope_with_a_wrong_number_changes_nothing(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    seat.ask()
    peer.expect("ask 1#1")
    peer.answer((1, 1, 0), received=peer.received + 1)
    assert seat.answered == []
    peer.say()
    response = peer.read()
    assert response is not None
    assert told(response) == ["problem BAD_MESSAGE 2"]
    assert response.problems[0].text == ("PlayRequest.received is 4, but 3 was the last envelope sent on this stream")


def test_unknown_fields_are_ignored(house: House) -> None:
    peer = house.dial().welcomed()
    peer.link.receive(b"\xa2\x06\x03abc", house.now)  # field 100
    peer.expect()
    assert peer.link.closed is None


def test_refusals_that_nobody_reads_do_not_pile_up() -> None:
    house = House(Limits(most_unread=10))
    peer = house.dial().welcomed()
    peer.answer(*[(7, 1, 0)] * 1_000)
    response = peer.read()
    assert response is not None
    assert told(response) == ["refused 7#1 UNKNOWN_DECISION 0"] * 10 + ["problem BAD_MESSAGE 2"]


def test_a_flood_is_read_more_slowly_and_what_was_asked_for_is_free() -> None:
    house = House(Limits(envelopes_per_second=10, envelopes_at_once=5))
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    house.now += 1.0
    assert [peer.say() for _ in range(5)] == [0.0] * 5
    assert peer.say() == pytest.approx(0.1)
    assert peer.say() == pytest.approx(0.2)
    house.now += 0.35
    assert peer.say() == 0.0
    for _ in range(100):
        seat.ask()
        assert peer.read() is not None
        assert peer.say() == 0.0  # that it has the question
        number = seat.question
        assert peer.say(answers=[arena_pb2.Answer(table=1, decision=number, option=0)]) == 0.0


def test_refused_answers_are_paced_like_envelopes() -> None:
    house = House(Limits(envelopes_per_second=10, envelopes_at_once=20))
    peer = house.dial().welcomed()
    answers = [arena_pb2.Answer(table=9, decision=1, option=0)] * 50
    request = arena_pb2.PlayRequest(answers=answers).SerializeToString()
    assert peer.link.receive(request, house.now) >= 3.0  # fifty of them, twenty at once, ten a second


def test_a_ladder_named_a_thousand_times_is_kept_once(house: House) -> None:
    wanted = [arena_pb2.GameWanted(game="greed", ladders=["greed-fast", "greed"] * 1_000)]
    assert house.dial(games=wanted).session.introduction.wanted == {"greed": ("greed-fast", "greed")}


def test_a_fault_at_the_door_leaves_no_session_that_nobody_can_end(house: House) -> None:
    def breaks(session: Session) -> None:
        raise RuntimeError("the lobby broke")

    house.lobby.changed = breaks  # type: ignore[method-assign]
    hello = arena_pb2.Hello(protocol_major=1, bot="ann")
    with pytest.raises(RuntimeError):
        house.sessions.admit(arena_pb2.PlayRequest(hello=hello, max_tables=1), lambda: None, house.now)
    assert house.sessions.connected == 0
    house.sessions.tick(house.now + 60.0)
    assert len(house.sessions) == 0


def test_who_acknowledges_nothing_is_silent_in_the_end(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    seat.ask()
    peer.expect("ask 1#1")
    assert peer.link.next_event_at() == house.now + 30.0
    house.now += 29.9
    peer.say(received=0)  # talk alone does not help
    peer.link.tick(house.now)
    assert peer.link.closed is None
    house.now += 0.1
    peer.link.tick(house.now)
    assert peer.ended() == ("UNAVAILABLE", "SILENT")
    assert not seat.is_connected
    assert peer.session.free_tables == 0


def test_who_acknowledges_what_the_stream_has_not_taken_is_silent_as_well(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    seat.ask()
    assert peer.link.next_envelope(house.now) is not None
    peer.say(received=3)  # by guess: the write hangs, as nobody reads
    assert peer.link.next_event_at() == house.now + 30.0
    house.now += 30.0
    peer.link.tick(house.now)
    assert peer.ended() == ("UNAVAILABLE", "SILENT")
    assert peer.link.closed.text == "envelope 3 was not read for 30 s"  # type: ignore[union-attr]


def test_a_stall_of_the_server_is_no_silence_of_the_bot(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    seat.ask()
    peer.expect("ask 1#1")
    house.now += 40.0
    house.sessions.credit(40.0)
    peer.link.tick(house.now)
    assert peer.link.closed is None
    assert peer.link.next_event_at() == house.now + 30.0
    peer.say()
    assert peer.link.next_event_at() == house.now - 25.0  # the bot waits for a heartbeat all the same
    peer.link.tick(house.now)
    peer.expect("heartbeat")
    house.now += 30.0  # what was credited to one envelope is not to the next
    peer.link.tick(house.now)
    assert peer.ended() == ("UNAVAILABLE", "SILENT")


# -- coming back
def _lose(peer: Peer) -> arena_pb2.Resume:
    peer.house.sessions.lost(peer.link, peer.house.now)
    return arena_pb2.Resume(session=peer.session.id, secret=peer.session.secret)


def test_a_stall_of_the_server_gives_nobody_up(house: House) -> None:
    resume = _lose(house.dial().welcomed())
    house.now += 40.0
    house.sessions.credit(40.0)
    house.sessions.tick(house.now)
    house.now += 30.0
    again = house.dial(resume=resume)
    response = again.read()
    assert response is not None
    assert response.welcome.resumed
    resume = _lose(again)
    house.now += 30.1
    assert house.refusal(resume=resume).reason == "RESUME_EXPIRED"


def test_a_session_goes_on_with_everything_that_was_open(house: House) -> None:
    peer = house.dial().welcomed()
    asked, quiet, over, gone = peer.tables(4)
    asked.ask()
    gone.end()
    peer.expect("ask 1#1", "end 4")
    peer.say()
    resume = _lose(peer)
    assert house.lobby.told[-1] == "leave ann"
    assert [seat.is_connected for seat in (asked, quiet, over)] == [False] * 3
    over.end()
    house.now += 30.0
    back = house.dial(resume=resume)
    assert back.session is peer.session
    assert all(seat.is_connected for seat in (asked, quiet, over))
    response = back.read()
    assert response is not None
    assert response.welcome.resumed
    assert told(response) == ["welcome", "start 1", "start 2", "start 3", "ask 1#1", "end 3"]
    back.say()
    back.expect()
    assert list(back.session.places) == [1, 2]


def test_an_end_that_was_not_acknowledged_is_told_again(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    seat.end()
    peer.expect("end 1")
    back = house.dial(resume=_lose(peer))
    back.expect("welcome", "start 1", "end 1")
    back.say()
    assert back.session.places == {}
    assert back.session.free_tables == 4


def test_an_answer_that_crossed_counts_once(house: House) -> None:
    peer = house.dial().welcomed()
    first, second = peer.tables(2)
    first.ask()
    second.ask()
    peer.expect("ask 1#1", "ask 2#1")
    peer.answer((1, 1, 2))  # arrives; that it was accepted is never read
    resume = _lose(peer)
    back = house.dial(resume=resume)
    back.expect("welcome", "start 1", "start 2", "ask 2#1")
    back.answer((1, 1, 2), (2, 1, 0))
    back.expect("accepted 2", "refused 1#1 ALREADY_DECIDED 0")


def test_answers_may_come_with_the_hello_of_a_resume(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    seat.ask()
    peer.expect("ask 1#1")
    hello = arena_pb2.Hello(protocol_major=1, bot="ann", resume=_lose(peer))
    request = arena_pb2.PlayRequest(hello=hello, answers=[arena_pb2.Answer(table=1, decision=1, option=1)])
    link = house.sessions.admit(request, lambda: None, house.now)
    assert seat.answered == [(0, 1, house.now)]
    envelope = link.next_envelope(house.now)
    assert envelope is not None
    assert told(arena_pb2.PlayResponse.FromString(envelope)) == ["welcome", "accepted 1", "start 1"]


def test_after_the_window_a_session_is_gone_and_its_tables_go_on(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    resume = _lose(peer)
    house.now += 30.1
    refusal = house.refusal(resume=resume)
    assert refusal.reason == "RESUME_EXPIRED"
    house.sessions.tick(house.now)
    assert len(house.sessions) == 0
    assert peer.session.is_forgotten
    seat.ask()
    seat.end()  # nobody is told, and nothing is kept
    assert peer.session.places == peer.session.ready_places == {}


@pytest.mark.parametrize("secret", [b"", b"x" * 32, bytes(32)])
def test_a_wrong_secret_takes_nothing_over(house: House, secret: bytes) -> None:
    peer = house.dial().welcomed()
    refusal = house.refusal(resume=arena_pb2.Resume(session=peer.session.id, secret=secret))
    unknown = house.refusal(resume=arena_pb2.Resume(session="0" * 32, secret=secret))
    assert refusal == unknown
    assert refusal.reason == "RESUME_EXPIRED"
    assert peer.link.closed is None


def test_a_session_is_resumed_by_its_own_bot_only(house: House) -> None:
    peer = house.dial().welcomed()
    assert house.refusal(bot="bob", resume=_lose(peer)).reason == "HELLO"


def test_a_newer_stream_with_the_secret_takes_the_session(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    seat.ask()
    peer.expect("ask 1#1")
    back = house.dial(resume=arena_pb2.Resume(session=peer.session.id, secret=peer.session.secret))
    assert peer.ended() == ("UNAVAILABLE", "")  # whoever it was has the secret, so it may come back
    peer.answer((1, 1, 0))  # the older stream decides nothing any more
    assert seat.answered == []
    house.sessions.lost(peer.link, house.now)
    assert back.session.is_connected
    assert seat.is_connected
    back.expect("welcome", "start 1", "ask 1#1")


def test_a_newer_hello_of_the_same_bot_takes_over_and_the_older_cannot_come_back(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    other = house.dial(version="2").welcomed()
    newer = house.dial()
    assert peer.ended() == ("ABORTED", "SUPERSEDED")
    assert other.link.closed is None
    assert newer.session is not peer.session
    assert not seat.is_connected
    assert len(house.sessions) == 2
    assert house.refusal(resume=_lose(peer)).reason == "RESUME_EXPIRED"
    assert newer.link.closed is None


def test_ends_that_are_never_acknowledged_do_not_pile_up_however_often_the_bot_resumes(house: House) -> None:
    peer = house.dial(max_tables=3).welcomed()
    for _ in range(5):
        seats = [ToySeat(peer.session).sit() for _ in range(peer.session.free_tables)]
        peer.read()  # and never says so
        for seat in seats:
            seat.end()
        peer = house.dial(max_tables=3, resume=_lose(peer))
        peer.read()  # all that ended
        house.sessions.tick(house.now)
        house.now += 1.0
    assert len(peer.session.places) == 6
    assert peer.session.free_tables == 0
    told = len(house.lobby.told)
    peer.say()
    assert peer.session.free_tables == 3
    assert house.lobby.told[told:] == ["changed ann 3"]


# -- going
def test_a_bot_that_leaves_plays_to_the_end_and_is_let_go(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    peer.say(leaving=True)
    assert peer.session.free_tables == 0
    seat.ask()
    peer.expect("ask 1#1")
    peer.answer((1, 1, 0))
    seat.end()
    peer.expect("accepted 1", "end 1")
    assert peer.link.closed is None
    peer.say()
    assert peer.ended() == ("OK", "")
    house.sessions.lost(peer.link, house.now)
    assert len(house.sessions) == 0


def test_a_drain_is_told_and_ends_streams_as_their_tables_end(house: House) -> None:
    idle, busy = house.dial("idle").welcomed(), house.dial("busy").welcomed()
    (seat,) = busy.tables(1)
    house.sessions.drain(house.now + 60.0, house.now)
    response = idle.read()
    assert response is not None
    assert told(response) == ["drain"]
    assert response.drain.time_left_ms == 60_000
    assert 500 <= response.drain.reconnect_after_ms < 3_000
    idle.say()
    assert idle.ended() == ("UNAVAILABLE", "DRAINING")
    assert idle.link.closed.retry_s == response.drain.reconnect_after_ms / 1_000  # type: ignore[union-attr]
    busy.expect("drain")
    busy.say()
    assert house.refusal(bot="late").reason == "DRAINING"
    house.now += 20.0
    back = house.dial("busy", resume=_lose(busy))  # who has a table may come back to it
    response = back.read()
    assert response is not None
    assert told(response) == ["welcome", "start 1", "drain"]
    assert response.drain.time_left_ms == 40_000
    back.say()
    seat.end()
    back.expect("end 1")
    back.say()
    assert back.ended() == ("UNAVAILABLE", "DRAINING")


def test_at_the_end_every_stream_is_ended(house: House) -> None:
    peers = [house.dial(name).welcomed() for name in ("ann", "bob")]
    house.sessions.close(house.now)
    assert [peer.ended() for peer in peers] == [("UNAVAILABLE", "DRAINING")] * 2
    assert house.sessions.connected == 0


def test_trouble_is_told_once_for_each_envelope(house: House) -> None:
    peer = house.dial().welcomed()
    for _ in range(3):
        peer.session.tell("STORAGE", "results cannot be stored; no match is started until they can")
    peer.expect("problem STORAGE 0")
    house.sessions.lost(peer.link, house.now)
    peer.session.tell("STORAGE", "nobody is there to be told")


def test_whatever_a_bot_sends_the_stream_says_so_or_goes_on() -> None:
    """Garbage made of every kind of field never raises."""
    house = House(Limits(strikes=1_000_000))
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    seat.ask()
    peer.expect("ask 1#1")
    pieces: Sequence[Message | bytes] = [
        b"",
        b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        b"\x1a\x02\x08",
        arena_pb2.PlayRequest(answers=[arena_pb2.Answer(table=2**32 - 1, decision=2**32 - 1, option=2**32 - 1)]),
        arena_pb2.PlayRequest(answers=[arena_pb2.Answer(table=1, decision=1, option=2**32 - 1)]),
        arena_pb2.PlayRequest(give_ups=[arena_pb2.GiveUp(table=0, decision=0, reason="\x00")]),
        arena_pb2.PlayRequest(max_tables=2**32 - 1),
    ]
    for piece in pieces:
        peer.link.receive(piece if isinstance(piece, bytes) else piece.SerializeToString(), house.now)
    assert peer.link.closed is None
    assert seat.is_open


_FIELDS = st.integers(0, 2**32 - 1) | st.integers(0, 4)
_ANSWER = st.builds(arena_pb2.Answer, table=_FIELDS, decision=_FIELDS, option=st.none() | _FIELDS)
_GIVE_UP = st.builds(arena_pb2.GiveUp, table=_FIELDS, decision=_FIELDS, reason=st.text(max_size=300))
_ENVELOPE = st.builds(
    arena_pb2.PlayRequest,
    received=_FIELDS,
    answers=st.lists(_ANSWER, max_size=5),
    give_ups=st.lists(_GIVE_UP, max_size=2),
    max_tables=st.none() | _FIELDS,
    hello=st.none() | st.just(arena_pb2.Hello(protocol_major=1, bot="ann")),
).map(lambda request: request.SerializeToString())


@given(st.lists(st.binary(max_size=40) | _ENVELOPE, max_size=30))
@settings(max_examples=200, deadline=None)
def test_no_envelope_raises_or_is_answered_with_what_is_no_message(envelopes: list[bytes]) -> None:
    house = House(Limits(strikes=10))
    peer = house.dial().welcomed()
    seats = peer.tables(3)
    for envelope in envelopes:
        for seat in seats:
            if not seat.is_open:
                seat.ask()
        house.now += 0.01
        peer.link.receive(envelope, house.now)
        response = peer.read()
        if response is not None:
            texts = [one.text for one in response.refusals] + [one.text for one in response.problems]
            assert all(text.isprintable() for text in texts)
    handed_over = [len(seat.handed_over) for seat in seats]
    assert all(sent <= seat.question for sent, seat in zip(handed_over, seats, strict=True))
    assert (peer.link.closed is None) == peer.session.is_connected


# -- owners
ANN = Grant("ann", "annsfirst")
ANN_TOO = Grant("ann", "annsother")
BOB = Grant("bob", "bobsfirst")


def test_bots_of_one_name_and_two_owners_are_two_bots() -> None:
    house = House()
    one, other = house.dial("sneak", ANN).welcomed(), house.dial("sneak", BOB).welcomed()
    assert one.link.closed is other.link.closed is None
    assert one.session is not other.session
    (seat,) = one.tables(1)
    again = house.dial("sneak", ANN_TOO)  # another token of the same owner
    assert one.ended() == ("ABORTED", "SUPERSEDED")
    assert other.link.closed is None
    assert again.session is not one.session
    assert not seat.is_connected


def test_a_session_is_resumed_by_its_owner_only() -> None:
    house = House()
    peer = house.dial("sneak", ANN).welcomed()
    resume = arena_pb2.Resume(session=peer.session.id, secret=peer.session.secret)
    never = arena_pb2.Resume(session="nonesuch", secret=peer.session.secret)
    stolen = house.refusal(bot="sneak", grant=BOB, resume=resume)
    assert stolen == house.refusal(bot="sneak", grant=BOB, resume=never)
    assert stolen.reason == "RESUME_EXPIRED"
    assert peer.link.closed is None
    again = house.dial("sneak", ANN_TOO, resume=resume)
    assert again.session is peer.session
    assert peer.ended() == ("UNAVAILABLE", "")


def test_a_session_ends_with_its_token_and_cannot_be_resumed() -> None:
    house = House()
    ann, bob = house.dial("sneak", ANN).welcomed(), house.dial("thug", BOB).welcomed()
    (seat,) = ann.tables(1)
    house.bad.add(ANN.token)
    house.now += 1.0
    house.sessions.tick(house.now)
    assert ann.ended() == ("UNAUTHENTICATED", "TOKEN_INVALID")
    assert bob.link.closed is None
    assert not seat.is_connected  # its match goes on without it
    assert len(house.sessions) == 1
    resume = arena_pb2.Resume(session=ann.session.id, secret=ann.session.secret)
    assert house.refusal(bot="sneak", grant=ANN_TOO, resume=resume).reason == "RESUME_EXPIRED"


def test_a_session_without_a_stream_ends_with_its_token_too() -> None:
    house = House()
    ann = house.dial("sneak", ANN).welcomed()
    ann.link.lost(house.now)
    house.bad.add(ANN.token)
    house.sessions.check_tokens(house.now)
    assert len(house.sessions) == 0


def test_the_token_that_counts_is_that_of_the_present_stream() -> None:
    house = House()
    first = house.dial("sneak", ANN).welcomed()
    resume = arena_pb2.Resume(session=first.session.id, secret=first.session.secret)
    second = house.dial("sneak", ANN_TOO, resume=resume).welcomed()
    house.bad.add(ANN.token)
    house.sessions.check_tokens(house.now)
    assert second.link.closed is None
    house.bad.add(ANN_TOO.token)
    house.sessions.check_tokens(house.now)
    assert second.ended() == ("UNAUTHENTICATED", "TOKEN_INVALID")


NAMES = ["", " ann", "Ann", "ann\n", "ann\x1b[31m", "<b>ann</b>", "ann\u202ebob", "\U0001f600", "zoë", "-ann", "a" * 33]
NAMES += ["a" * 10_000, "../ann", "ann/bob", "ann,bob", "\0", "ann' OR '1'='1"]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_a_name_that_is_none_is_refused_in_a_line_that_can_be_shown(name: str) -> None:
    house = House()
    for refusal in (house.refusal(bot=name), house.refusal(version=name or " ")):
        assert refusal.reason == "HELLO"
        assert "it can be 1 to 32 of a-z, 0-9" in refusal.text
        assert refusal.text.isprintable()
        assert len(refusal.text) < 200
    assert len(house.sessions) == 0
