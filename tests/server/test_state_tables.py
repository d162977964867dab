"""The state machines of the server: every state has a row and can be reached, and a misplaced event is refused."""

from __future__ import annotations

import pytest

from cutpurse.server.hosting.arena_stages import ARENA_STAGES, ENDING, RUNNING, ArenaEvent, ArenaStage
from cutpurse.server.matches.match_stages import BEGUN, MATCH_STAGES, MatchEvent, MatchStage
from cutpurse.server.matches.result_stages import RESULT_STAGES, RETRIED, ResultStage, StoreAnswer
from cutpurse.server.parts.submissions.bot_stages import BOT_STAGES, BotEvent, BotStage
from cutpurse.server.state_table import EventMisplaced, next_state
from cutpurse.server.streams.session_stages import SESSION_STAGES, SessionEvent, SessionStage
from cutpurse.server.streams.table_stages import TABLE_STAGES, TableEvent, TableStage
from scripts.reference.states import MACHINES, Machine


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.title)
def test_every_state_has_a_row_and_can_be_reached_and_every_event_happens(machine: Machine) -> None:
    assert list(machine.table) == list(machine.states)
    reached = [next(iter(machine.table))]
    for state in reached:
        reached += [after for after in machine.table[state].values() if after not in reached]
    assert set(reached) == set(machine.states)
    assert {event for row in machine.table.values() for event in row} == set(machine.events)


@pytest.mark.parametrize(
    ("events", "stage"),
    [
        ("seat begin close", MatchStage.OVER),
        ("seat begin close_sealed unseal", MatchStage.OVER),
        ("seat close", MatchStage.DROPPED),
        ("close_sealed unseal", MatchStage.DROPPED),
    ],
)
def test_the_stages_of_a_match(events: str, stage: MatchStage) -> None:
    now = MatchStage.DEALT
    for event in events.split():
        now = next_state(MATCH_STAGES, now, MatchEvent(event))
    assert now is stage
    assert (now in BEGUN) is ("begin" in events)


@pytest.mark.parametrize(
    ("answers", "stage"),
    [
        ("store", ResultStage.STORED),
        ("fail", ResultStage.VOIDED),  # reported as void at once, so it must never be stored as it was
        ("fail doubt fail store", ResultStage.STORED),
        ("refuse refuse", ResultStage.GIVEN_UP),
        ("doubt", ResultStage.UNSURE),
        ("doubt fail doubt store", ResultStage.STORED),  # not reported before the store is sure
        ("doubt fail refuse", ResultStage.VOIDED),
    ],
)
def test_the_stages_of_a_result(answers: str, stage: ResultStage) -> None:
    now = ResultStage.SUBMITTED
    for answer in answers.split():
        now = next_state(RESULT_STAGES, now, StoreAnswer(answer))
    assert now is stage
    assert (now in RETRIED) is bool(RESULT_STAGES[now])


def test_a_new_stream_sends_everything_again_but_what_has_not_begun() -> None:
    after = {stage: next_state(TABLE_STAGES, stage, TableEvent.RECONNECT) for stage in TableStage}
    assert after.pop(TableStage.SEATED) is TableStage.SEATED
    assert set(after.values()) == {TableStage.BEGUN}


@pytest.mark.parametrize(
    ("events", "stage"),
    [
        ("connect", SessionStage.WELCOMED),
        ("connect acknowledge", SessionStage.ONLINE),
        ("connect disconnect connect", SessionStage.ONLINE),  # only a bot with the secret resumes
        ("connect acknowledge disconnect forget forget", SessionStage.FORGOTTEN),
        ("forget", SessionStage.FORGOTTEN),
    ],
)
def test_the_stages_of_a_session(events: str, stage: SessionStage) -> None:
    now = SessionStage.OPENED
    for event in events.split():
        now = next_state(SESSION_STAGES, now, SessionEvent(event))
    assert now is stage


def test_a_forgotten_session_gets_no_stream_any_more() -> None:
    with pytest.raises(EventMisplaced, match="connect cannot happen in state forgotten; possible: forget"):
        next_state(SESSION_STAGES, SessionStage.FORGOTTEN, SessionEvent.CONNECT)


def test_a_hosted_bot_starts_no_second_process() -> None:
    assert next_state(BOT_STAGES, BotStage.WAITING, BotEvent.START) is BotStage.RUNNING
    for stage in (BotStage.RUNNING, BotStage.STOPPING):
        with pytest.raises(EventMisplaced, match=f"start cannot happen in state {stage.value}"):
            next_state(BOT_STAGES, stage, BotEvent.START)
        assert next_state(BOT_STAGES, stage, BotEvent.END) is BotStage.WAITING


def test_an_arena_that_is_stopped_again_goes_on_to_its_end_and_never_back() -> None:
    life = list(ArenaStage)
    assert set(life) - {ArenaStage.STARTING} == RUNNING | ENDING
    for stage in life[1:]:
        after = next_state(ARENA_STAGES, stage, ArenaEvent.DRAIN)
        assert after is not ArenaStage.OPEN
        assert life.index(after) >= life.index(stage)
        assert next_state(ARENA_STAGES, next_state(ARENA_STAGES, after, ArenaEvent.CLOSE), ArenaEvent.END) is life[-1]
    with pytest.raises(EventMisplaced, match="drain cannot happen in state starting; possible: start"):
        next_state(ARENA_STAGES, ArenaStage.STARTING, ArenaEvent.DRAIN)


def test_a_misplaced_event_names_what_is_possible() -> None:
    with pytest.raises(EventMisplaced, match="begin cannot happen in state dealt; possible: seat, close, close_sealed"):
        next_state(MATCH_STAGES, MatchStage.DEALT, MatchEvent.BEGIN)
    with pytest.raises(EventMisplaced, match="close cannot happen in state over; possible: nothing"):
        next_state(MATCH_STAGES, MatchStage.OVER, MatchEvent.CLOSE)
