"""The bot's side of a session, without a network: what came, what is to be done, what goes out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cutpurse.engine.commitment import commitment
from cutpurse.engine.match import EndCause, MatchResult
from cutpurse.games import GAMES
from cutpurse.v1 import arena_pb2
from cutpurse.wire.client_session import (
    Ask,
    Begin,
    ClientSession,
    Finish,
    Illegal,
    Opened,
    OwnerNotice,
    Todo,
    Welcomed,
)
from cutpurse.wire.errors import ServerRefused
from tests.sdk.arena import Meeting

WELCOME = arena_pb2.Welcome(
    session="s", resume_secret=b"secret", heartbeat_ms=15_000, most_tables=64, max_bytes=65_536, server="test"
)


def sent(session: ClientSession) -> arena_pb2.PlayRequest | None:
    """The next envelope from the bot."""
    data = session.next_envelope()
    return None if data is None else arena_pb2.PlayRequest.FromString(data)


class Script:
    """A session and what the server says to it, an envelope at a time."""

    def __init__(self, *meetings: Meeting, **wishes: Any) -> None:
        self.session = ClientSession("bot", **wishes)
        self.meetings = meetings
        self.envelopes = 0
        self.hello = arena_pb2.PlayRequest.FromString(self.session.opening()).hello

    def say(self, now: float = 0.0, **fields: Any) -> list[Todo]:
        self.envelopes += 1
        response = arena_pb2.PlayResponse(envelope=self.envelopes, **fields)
        return self.session.receive(response.SerializeToString(), now)

    def deal(self) -> list[Todo]:
        """Welcome, and a decision at every table."""
        starts = [meeting.started() for meeting in self.meetings]
        decisions = [decision for meeting in self.meetings if (decision := meeting.decision())]
        return self.say(welcome=WELCOME, starts=starts, decisions=decisions)

    def again(self) -> None:
        """The stream is lost and another one opened."""
        self.session.lost()
        self.hello = arena_pb2.PlayRequest.FromString(self.session.opening()).hello
        self.envelopes = 0


def meeting(number: int = 1, game: str = "greed") -> Meeting:
    """A match in which the bot is asked something."""
    made = Meeting(number, game, 3, 0, "bot")
    assert made.match.decision(0)
    return made


def test_hello_names_the_bot_its_games_and_the_rules_it_was_made_for() -> None:
    hello = Script(version="2", games=["greed", "greed", "szmal"], max_tables=3).hello
    assert (hello.protocol_major, hello.bot, hello.version, hello.max_tables) == (1, "bot", "2", 3)
    assert hello.events
    assert list(hello.features) == ["agenda", "nonces", "notes", "usage"]
    assert hello.sdk.startswith("cutpurse-python ")
    versions = [(game.game, game.rules_version) for game in hello.games]
    assert versions == [("greed", GAMES["greed"].words.version), ("szmal", GAMES["szmal"].words.version)]
    assert not hello.HasField("resume")
    assert list(Script().hello.games) == []


def test_nothing_is_sent_between_hello_and_welcome() -> None:
    script = Script()
    script.session.want_tables(9)
    assert script.session.next_envelope() is None
    assert script.say(welcome=WELCOME) == [Welcomed(False, "", "", "test", 64, ())]
    assert sent(script.session) == arena_pb2.PlayRequest(received=1, max_tables=9)


def test_what_came_is_done_in_order_and_acknowledged_at_once() -> None:
    script = Script(meeting(1), meeting(2, "szmal"))
    todos = script.deal()
    assert [type(todo) for todo in todos] == [Welcomed, Begin, Begin, Ask, Ask]
    begin = todos[1]
    assert isinstance(begin, Begin)
    table = begin.table
    assert (table.number, table.game, table.seat, table.names) == (1, "greed", 0, ("bot", "random", "random"))
    assert table.base_s == 1.0
    assert sent(script.session) == arena_pb2.PlayRequest(received=1)
    assert sent(script.session) is None


def test_answers_gather_until_the_next_envelope_goes_out() -> None:
    script = Script(meeting(1), meeting(2))
    script.deal()
    one, two = script.session.tables.values()
    script.session.answer(one, 1, 0)
    script.session.give_up(two, 1, "my_bot.py:7:\n KeyError " + 300 * "x")
    envelope = sent(script.session)
    assert envelope is not None
    assert list(envelope.answers) == [arena_pb2.Answer(table=1, decision=1, option=0)]
    (give_up,) = envelope.give_ups
    assert give_up.reason == ("my_bot.py:7: KeyError " + 300 * "x")[:200]


@pytest.mark.parametrize("number", [1, 1_023, 1_024, 2**32 - 1])
@pytest.mark.parametrize("decision", [1, 1_023, 1_024])
@pytest.mark.parametrize("option", [0, 1_023, 1_024, 2**32 - 1, None])
def test_an_answer_is_told_whatever_its_numbers(number: int, decision: int, option: int | None) -> None:
    script = Script(meeting(number))
    script.deal()
    (table,) = script.session.tables.values()
    script.session.answer(table, decision, option)
    envelope = sent(script.session)
    assert envelope is not None
    assert list(envelope.answers) == [arena_pb2.Answer(table=number, decision=decision, option=option)]


@pytest.mark.parametrize("option", [-1, 2**32])
def test_an_index_that_no_message_holds_is_told_as_none(option: int) -> None:
    script = Script(meeting())
    script.deal()
    (table,) = script.session.tables.values()
    script.session.answer(table, 1, option)
    envelope = sent(script.session)
    assert envelope is not None
    assert list(envelope.answers) == [arena_pb2.Answer(table=1, decision=1)]


def test_a_reason_of_which_no_text_can_be_made_is_told_all_the_same() -> None:
    """What is raised about the name of a file may hold bytes that are no text."""
    script = Script(meeting())
    script.deal()
    script.session.give_up(script.session.tables[1], 1, "my_bot.py:7: OSError: 'a\udc80b'\x00")
    envelope = sent(script.session)
    assert envelope is not None
    assert envelope.give_ups[0].reason == "my_bot.py:7: OSError: 'a b'"


@pytest.mark.parametrize("option", [None, -1, 1 << 32])
def test_an_answer_that_is_no_index_is_sent_without_one(option: int | None) -> None:
    script = Script(meeting())
    script.deal()
    script.session.answer(script.session.tables[1], 1, option)
    envelope = sent(script.session)
    assert envelope is not None
    assert not envelope.answers[0].HasField("option")


def test_an_envelope_is_never_greater_than_the_server_takes() -> None:
    script = Script(*[meeting(number) for number in range(1, 41)])
    small = arena_pb2.Welcome()
    small.CopyFrom(WELCOME)
    small.max_bytes = 4_096
    script.say(welcome=small, starts=[one.started() for one in script.meetings])
    for table in script.session.tables.values():
        script.session.give_up(table, 1, 200 * "𝄞")  # four bytes each
    sizes, tables = [], []
    while (data := script.session.next_envelope()) is not None:
        sizes.append(len(data))
        tables += [one.table for one in arena_pb2.PlayRequest.FromString(data).give_ups]
    assert tables == list(range(1, 41))
    assert max(sizes) <= 4_096


def test_an_illegal_answer_is_asked_again_while_it_may_be_put_right() -> None:
    script = Script(meeting())
    script.deal()
    table = script.session.tables[1]
    for left in (2, 1, 0):
        script.session.answer(table, 1, 99)
        refusal = arena_pb2.Refusal(
            table=1, decision=1, reason=arena_pb2.REFUSAL_REASON_ILLEGAL, corrections_left=left, options_count=3
        )
        assert script.say(refusals=[refusal]) == [Illegal(table, 1, left)]
    assert script.say(refusals=[refusal]) == []  # to an answer that was sent twice


@pytest.mark.parametrize(
    ("reason", "notes"),
    [
        (arena_pb2.REFUSAL_REASON_TOO_LATE, 1),
        (arena_pb2.REFUSAL_REASON_ALREADY_DECIDED, 0),
        (arena_pb2.REFUSAL_REASON_STALE, 0),
        (arena_pb2.REFUSAL_REASON_UNKNOWN_DECISION, 1),
    ],
)
def test_the_owner_is_told_of_refusals_that_are_his_business(reason: Any, notes: int) -> None:
    script = Script(meeting())
    script.deal()
    refusal = arena_pb2.Refusal(table=1, decision=1, reason=reason, late_by_ms=12, text="no")
    told = script.say(refusals=[refusal])
    assert len(told) == notes
    for note in told:
        assert isinstance(note, OwnerNotice)
        assert "decision 1" in note.text
        assert note.late == ("12 ms too late" in note.text)


# -- a stream is lost
def resumed() -> arena_pb2.Welcome:
    welcome = arena_pb2.Welcome()
    welcome.CopyFrom(WELCOME)
    welcome.resumed = True
    return welcome


def test_a_decision_that_is_put_again_is_not_asked_again_and_its_answer_goes_out_once_more() -> None:
    one, two, three = meeting(1), meeting(2), meeting(3)
    script = Script(one, two, three)
    starts = [each.started() for each in script.meetings]
    decisions = [decision for each in script.meetings if (decision := each.decision())]
    script.say(welcome=WELCOME, starts=starts, decisions=decisions)
    tables = script.session.tables
    script.session.answer(tables[1], 1, 0)  # sent, but who knows whether it came
    sent(script.session)
    script.session.answer(tables[2], 1, 1)  # never sent
    script.again()
    assert (script.hello.resume.session, script.hello.resume.secret) == ("s", b"secret")
    assert [type(todo) for todo in script.say(welcome=resumed(), starts=starts, decisions=decisions)] == [Welcomed]
    envelope = sent(script.session)
    assert envelope is not None
    assert [(answer.table, answer.option) for answer in envelope.answers] == [(1, 0), (2, 1)]
    script.session.answer(tables[3], 1, 2)  # thought about all the time
    envelope = sent(script.session)
    assert envelope is not None
    assert [(answer.table, answer.option) for answer in envelope.answers] == [(3, 2)]


def test_an_answer_given_while_there_is_no_stream_waits_for_its_question() -> None:
    one = meeting()
    script = Script(one)
    decision = one.decision()
    assert decision
    script.say(welcome=WELCOME, starts=[one.started()], decisions=[decision])
    script.again()
    script.session.answer(script.session.tables[1], 1, 0)
    script.say(welcome=resumed(), starts=[one.started()])
    assert sent(script.session) == arena_pb2.PlayRequest(received=1)
    script.say(decisions=[decision])
    envelope = sent(script.session)
    assert envelope is not None
    assert len(envelope.answers) == 1


def test_the_wish_to_leave_and_the_number_of_tables_are_told_again() -> None:
    script = Script(meeting(), max_tables=4)
    script.deal()
    script.session.want_tables(7)
    script.session.leave()
    assert sent(script.session) == arena_pb2.PlayRequest(received=1, max_tables=7, leaving=True)
    assert sent(script.session) is None
    script.again()
    assert script.hello.max_tables == 7
    script.say(welcome=resumed())
    assert sent(script.session) == arena_pb2.PlayRequest(received=1, leaving=True)
    assert not script.session.done()


@pytest.mark.parametrize("told_by_status", [True, False])
def test_a_session_that_is_forgotten_loses_its_tables(told_by_status: bool) -> None:
    one = meeting()
    script = Script(one)
    script.deal()
    (table,) = script.session.tables.values()
    if told_by_status:
        script.session.lost()
        script.session.forget()
    script.again()
    assert script.hello.HasField("resume") != told_by_status
    (welcomed,) = script.say(welcome=WELCOME)
    assert isinstance(welcomed, Welcomed)
    assert welcomed.lost == (table,)
    script.session.answer(table, 1, 0)
    assert sent(script.session) == arena_pb2.PlayRequest(received=1)
    assert [type(todo) for todo in script.say(starts=[one.started()])] == [Begin]  # tables are numbered anew


def test_silence_is_twice_the_time_between_heartbeats() -> None:
    script = Script()
    silent = [script.session.silent_at]
    script.say(now=100.0, welcome=WELCOME)
    silent.append(script.session.silent_at)
    script.say(now=107.0)
    silent.append(script.session.silent_at)
    script.session.lost()
    assert [*silent, script.session.silent_at] == [None, 130.0, 137.0, None]


# -- a match ends
def over(game: str = "greed") -> Meeting:
    """A match that is over."""
    played = Meeting(1, game, 3, 0, "bot")
    while asked := played.match.decision(0):
        played.match.answer(0, asked.number, 0)
        played.play_others()
    return played


def ended_with(change: Any) -> list[Todo]:
    """What is to be done when a match ends, after a test has had its hand in it."""
    played = over()
    script = Script()
    end = played.end()
    change(end)
    return script.say(welcome=WELCOME, starts=[played.started()], ends=[end])[2:]


def test_the_result_is_the_engines_and_the_promise_is_checked() -> None:
    played = over()
    (finish,) = ended_with(lambda end: None)
    assert isinstance(finish, Finish)
    assert finish.result == played.match.result()
    log = played.match.game.log
    assert log is not None
    assert finish.events() == [event.to(0) for event in log]
    assert finish.rated


def other_params(end: arena_pb2.MatchEnded) -> None:
    end.opening.params = json.dumps({"board": "another", "game": "greed"}).encode()


def another_board(end: arena_pb2.MatchEnded) -> None:
    end.opening.seed = bytes(32)


@pytest.mark.parametrize("change", [other_params, another_board])
def test_a_broken_promise_is_told_loudly(change: Any) -> None:
    _, note = ended_with(change)
    assert isinstance(note, OwnerNotice)
    assert note.text.startswith("WARNING: match ")
    assert "not dealt as promised" in note.text


@pytest.mark.parametrize("params", [b"[]", b"{}", b"\xff", b'{"board": "another", "game": "greed"}'])
def test_a_promise_must_be_of_this_board(params: bytes) -> None:
    played = over()
    start, end = played.started(), played.end()
    end.opening.params = params
    start.commitment = commitment(played.seed, params)
    *_, note = Script().say(welcome=WELCOME, starts=[start], ends=[end])
    assert isinstance(note, OwnerNotice)
    assert "what was promised before the deal" in note.text


def test_a_promise_that_is_not_opened_yet_is_no_broken_one() -> None:
    assert len(ended_with(lambda end: end.ClearField("opening"))) == 1


def test_what_was_dealt_on_a_board_is_checked_when_it_is_told_later() -> None:
    played = over()
    start, end = played.started(), played.end()
    opening = arena_pb2.Opening.FromString(end.opening.SerializeToString())
    end.ClearField("opening")
    board = arena_pb2.BoardOpened(match=start.match, board=start.board, opening=opening, rated=True)
    for is_right in (True, False):
        script = Script()
        (finish,) = script.say(welcome=WELCOME, starts=[start], ends=[end])[2:]
        assert isinstance(finish, Finish)
        assert not finish.opened
        if not is_right:
            board.opening.seed = bytes(32)
        todos = script.say(boards=[board])
        assert todos[-1] == Opened(start.match, True)
        warnings = [todo.text for todo in todos if isinstance(todo, OwnerNotice)]
        assert ["not dealt as promised" in text for text in warnings] == ([] if is_right else [True])
        assert script.say(boards=[board]) == []  # once; and of other matches nothing is known


def test_a_void_match_has_no_places() -> None:
    def void(end: arena_pb2.MatchEnded) -> None:
        end.voided = True
        for seat in end.seats:
            seat.place = seat.score = 0
            seat.end_cause = arena_pb2.END_CAUSE_NORMAL

    (finish,) = ended_with(void)
    assert isinstance(finish, Finish)
    assert finish.result == MatchResult((), (), (EndCause.NORMAL,) * 3)


def test_a_match_that_is_known_to_be_over_neither_begins_nor_ends_again() -> None:
    played = over()
    script = Script()
    script.say(welcome=WELCOME, starts=[played.started()], ends=[played.end()])
    script.again()
    assert len(script.say(welcome=resumed(), starts=[played.started()], ends=[played.end()])) == 1
    script.session.leave()
    assert script.session.done()


# -- a server of another kind
def other_version(start: arena_pb2.MatchStarted) -> None:
    start.rules_version = "99"


def other_game(start: arena_pb2.MatchStarted) -> None:
    start.game = "chess"


def other_numbers(start: arena_pb2.MatchStarted) -> None:
    start.catalogue_digest = "0" * 64


def other_settings(start: arena_pb2.MatchStarted) -> None:
    start.settings.append(arena_pb2.MatchStarted().settings.add(name="colour", value="red"))


def no_seats(start: arena_pb2.MatchStarted) -> None:
    del start.seats[:]


def other_seat(start: arena_pb2.MatchStarted) -> None:
    start.seat = 3


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (other_version, "rules version 99; here it is version"),
        (other_game, "the server deals chess"),
        (other_numbers, "with other numbers than here"),
        (other_settings, "no setting is called 'colour'"),
        (no_seats, "in a way that is not known here"),
        (other_seat, "seat 3 of 3"),
    ],
)
def test_a_match_that_cannot_be_played_here_is_refused(change: Any, says: str) -> None:
    start = meeting().started()
    change(start)
    with pytest.raises(ServerRefused, match=says):
        Script().say(welcome=WELCOME, starts=[start])


def test_what_is_no_message_is_refused() -> None:
    with pytest.raises(ServerRefused, match="no message of this protocol"):
        Script().session.receive(b"\xff\xff\xff", 0.0)


def test_what_concerns_no_table_is_passed_over() -> None:
    script = Script()
    decision = arena_pb2.Decision(table=7, decision=1)
    refusal = arena_pb2.Refusal(table=7, decision=1, reason=arena_pb2.REFUSAL_REASON_ILLEGAL)
    end = arena_pb2.MatchEnded(table=7)
    assert script.say(decisions=[decision], refusals=[refusal], ends=[end]) == []


def test_problems_and_the_end_of_the_server_are_told() -> None:
    script = Script()
    drain = arena_pb2.Drain(time_left_ms=30_000, reconnect_after_ms=1_500, text="a new version")
    problem = arena_pb2.Problem(text="too long", strikes_left=2)
    said, trouble = script.say(drain=drain, problems=[problem])
    assert said == OwnerNotice("the server is about to stop: a new version; open tables go on for 30 s")
    assert trouble == OwnerNotice("the server has a problem with this bot: too long; 2 more of these end the session")
    assert script.session.come_back_s == 1.5
    frozen = arena_pb2.Problem(reason=arena_pb2.ERROR_REASON_FROZEN, text="ladder it is frozen")
    assert script.say(problems=[frozen]) == [OwnerNotice("the server says: ladder it is frozen")]  # no fault of the bot


def test_tables_that_are_over_are_remembered_for_as_long_as_they_may_be_told_again() -> None:
    script = Script()
    script.say(welcome=WELCOME)
    first, last = 1, 3_000
    for number in range(first, last + 1):
        made = meeting(number)
        made.match.void(EndCause.VOID_SERVER)
        begun, *_ = script.say(starts=[made.started()])
        assert isinstance(begin := begun, Begin)
        assert begin.table.number == number
        finished = arena_pb2.MatchEnded(
            table=number, voided=True, seats=[arena_pb2.SeatOutcome(end_cause=arena_pb2.END_CAUSE_VOID_SERVER)] * 3
        )
        (end,) = script.say(ends=[finished])
        assert isinstance(end, Finish)
    script.again()
    script.say(welcome=arena_pb2.Welcome(resumed=True, session="s", heartbeat_ms=15_000))
    for number in range(last - 128, last + 1):
        assert script.say(starts=[meeting(number).started()], ends=[arena_pb2.MatchEnded(table=number)]) == []
    assert len(script.session._finished) < 2_000


def test_an_illegal_answer_whose_refusal_was_lost_is_sent_again_and_put_right() -> None:
    script = Script(meeting())
    script.deal()
    (table,) = script.session.tables.values()
    script.session.answer(table, 1, 99)
    assert sent(script.session) is not None
    script.again()
    (resumed,) = script.say(
        welcome=arena_pb2.Welcome(resumed=True, session="s", heartbeat_ms=15_000),
        starts=[script.meetings[0].started()],
        decisions=[arena_pb2.Decision(table=1, decision=1)],
    )
    assert isinstance(resumed, Welcomed)
    envelope = sent(script.session)
    assert envelope is not None
    assert list(envelope.answers) == [arena_pb2.Answer(table=1, decision=1, option=99)]
    refusal = arena_pb2.Refusal(
        table=1, decision=1, reason=arena_pb2.REFUSAL_REASON_ILLEGAL, corrections_left=2, options_count=3
    )
    assert script.say(refusals=[refusal]) == [Illegal(table, 1, 2)]


def test_a_bot_that_wants_no_tables_says_so_also_when_it_comes_back() -> None:
    session = Script().session  # a Hello that names no number leaves it to the server
    assert not arena_pb2.PlayRequest.FromString(session.opening()).HasField("max_tables")
    session.want_tables(0)
    opening = arena_pb2.PlayRequest.FromString(session.opening())
    assert opening.HasField("max_tables")
    assert opening.max_tables == 0
    session.want_tables(3)
    assert arena_pb2.PlayRequest.FromString(session.opening()).hello.max_tables == 3
