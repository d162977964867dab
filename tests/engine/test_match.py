"""A match takes answers and faults, never breaks, and ends with a result."""

from __future__ import annotations

import pytest

from cutpurse.engine.agenda import PASS, Option
from cutpurse.engine.errors import IllegalAnswer, SettingsError, WrongDecision
from cutpurse.engine.match import CORRECTIONS, FAULTS, Chosen, EndCause, Match, OpenDecision
from cutpurse.engine.record import write_record
from cutpurse.games import GAMES
from tests.engine.toy import STAR, TAKE, YES, Toy, Window

KEY = bytes(range(32))
NO_CARD = 99


def toy_match(rounds: int = 3, seats: int = 2, hold_polls: bool = False) -> Match:
    return Match(Toy, [f"bot {i}" for i in range(seats)], KEY, {"rounds": rounds}, log=True, hold_polls=hold_polls)


def asked(match: Match) -> OpenDecision:
    decision = match.decision()
    assert decision is not None
    return decision


def with_a_star(match: Match, *seats: int) -> None:
    """Give these seats a star, as if they had drawn it; told to no one but them."""
    for seat in seats:
        match.game.move(STAR, match.game.deck, match.game.hand[seat])  # type: ignore[attr-defined]  # a toy


def test_a_match_is_answered_until_there_is_a_result() -> None:
    match = toy_match()
    numbers: list[list[int]] = [[], []]
    while decision := match.decision():
        numbers[decision.seat].append(decision.number)
        match.answer(decision.seat, decision.number, len(decision.options) - 1)
    assert numbers == [[0, 1], [0]]
    assert match.over
    result = match.result()
    assert result.scores == (0, 0)
    assert result.places == (1, 1)
    assert result.end_causes == (EndCause.NORMAL, EndCause.NORMAL)
    assert match.faults == []


def test_an_answer_is_an_option_or_its_place() -> None:
    match = toy_match()
    first = asked(match)
    assert (first.seat, first.number, first.ask, first.options) == (0, 0, "take_one", [Option(TAKE), PASS])
    match.answer(0, 0, 1)
    second = asked(match)
    match.answer(second.seat, second.number, Option(TAKE))
    assert match.choices[:2] == [Chosen(0, PASS, EndCause.NORMAL), Chosen(1, Option(TAKE), EndCause.NORMAL)]


def test_a_question_with_one_option_is_answered_by_the_match_and_not_recorded() -> None:
    match = toy_match(rounds=1)
    match.answer(0, 0, 1)  # nobody holds a star: both windows close by themselves
    assert match.over
    assert match.choices == [Chosen(0, PASS, EndCause.NORMAL)]
    log = [type(event).__name__ for event in match.game.log or ()]
    assert log.count("Asked") == 2, "the public event is the same as if they had been asked"


def test_the_number_of_a_decision_does_not_tell_who_else_had_something_to_decide() -> None:
    numbers = []
    for holders in ((), (1, 2)):
        match = toy_match(rounds=9, seats=3)
        with_a_star(match, *holders)
        mine = []
        while decision := match.decision():
            if decision.seat == 0:
                mine.append(decision.number)
            match.answer(decision.seat, decision.number, PASS)
        numbers.append(mine)
        assert (len(match.choices) > 9) == bool(holders), "who holds a star is asked in each window too"
    assert numbers[0] == numbers[1] == [0, 1, 2]


def test_a_poll_waits_for_all_who_have_a_choice_and_stays_sealed() -> None:
    match = toy_match(seats=3)
    with_a_star(match, 1, 2)
    match.answer(0, 0, 1)
    assert isinstance(match.game.question, Window)
    one, other = match.decisions()
    assert (one.seat, other.seat) == (1, 2)
    assert match.decision(0) is None
    assert match.decision(2) == other
    before = match.game.view(None).to_bytes()
    match.answer(2, other.number, Option(YES, (STAR,)))
    assert match.game.view(None).to_bytes() == before, "an answer is sealed until the last is in"
    assert match.decisions() == [one]
    match.answer(1, one.number, Option(YES, (STAR,)))
    assert match.game.scores() == [0, 10, 0], "the order of the answers does not matter"


@pytest.mark.parametrize("answer", [2, -1, True, False, None, "pass", 1.0, Option(TAKE, (NO_CARD,)), [1], {}, (), (2,)])
def test_an_illegal_answer_may_be_corrected_twice_and_then_the_safe_option_is_taken(answer: object) -> None:
    match = toy_match()
    for _ in range(CORRECTIONS):
        with pytest.raises(
            IllegalAnswer,
            match=r"decision 0 of seat 0 \(take_one\) has options 0-1: 'take a card', 'pass'; it answered",
        ):
            match.answer(0, 0, answer)  # type: ignore[arg-type]  # that is the point
        assert asked(match).number == 0
        assert match.choices == []
    with pytest.raises(IllegalAnswer):
        match.answer(0, 0, answer)  # type: ignore[arg-type]
    assert match.choices[0] == Chosen(0, PASS, EndCause.ILLEGAL)
    (fault,) = match.faults
    assert (fault.seat, fault.place, fault.ask, fault.cause) == (0, 0, "take_one", EndCause.ILLEGAL)
    assert asked(match).seat == 1


def test_corrections_begin_anew_with_each_question() -> None:
    match = toy_match(rounds=9)
    for _ in range(4):
        decision = asked(match)
        for _ in range(CORRECTIONS):
            with pytest.raises(IllegalAnswer):
                match.answer(decision.seat, decision.number, NO_CARD)
        match.answer(decision.seat, decision.number, PASS)
    assert match.faults == []


def test_a_seat_with_three_faults_is_played_on_by_safe_options() -> None:
    match = toy_match(rounds=9)
    while decision := match.decision():
        if decision.seat == 0:
            match.give_up(0, decision.number, "KeyError: 7")
        else:
            match.answer(1, decision.number, PASS)
    assert len(match.faults) == FAULTS
    result = match.result()
    assert result.end_causes == (EndCause.CRASHED, EndCause.NORMAL)
    of_seat_0 = [chosen for chosen in match.choices if chosen.seat == 0]
    assert len(of_seat_0) == 5, "five of nine turns are his, though he was asked only three times"
    assert set(of_seat_0) == {Chosen(0, PASS, EndCause.CRASHED)}


def test_the_first_fault_names_the_end_cause() -> None:
    match = toy_match(rounds=9)
    causes = [EndCause.ILLEGAL, EndCause.CRASHED, EndCause.CRASHED]
    while decision := match.decision():
        if decision.seat == 0:
            match.fault(0, decision.number, causes.pop(0), "")
        else:
            match.answer(1, decision.number, PASS)
    assert causes == []
    assert match.result().end_causes[0] is EndCause.ILLEGAL


def test_two_faults_do_not_name_an_end_cause() -> None:
    match = toy_match(rounds=3)
    while decision := match.decision():
        if decision.seat == 0:
            match.give_up(0, decision.number, "")
        else:
            match.answer(1, decision.number, PASS)
    assert len(match.faults) == FAULTS - 1
    assert match.result().end_causes == (EndCause.NORMAL, EndCause.NORMAL)


def test_a_seat_with_two_faults_keeps_its_place_and_one_with_three_comes_last() -> None:
    for faults, places in ((FAULTS - 1, (1, 2)), (FAULTS, (2, 1))):
        match = toy_match(rounds=9)
        with_a_star(match, 0)
        while decision := match.decision():
            if decision.seat == 0 and decision.ask == "take_one" and len(match.faults) < faults:
                match.give_up(0, decision.number, "")
            else:
                yes = Option(YES, (STAR,))
                match.answer(decision.seat, decision.number, yes if yes in decision.options else PASS)
        result = match.result()
        assert result.scores[0] > result.scores[1], "by the cards seat 0 is ahead"
        assert result.places == places


@pytest.mark.parametrize("seat", [0, 1])
def test_a_seat_that_never_started_is_taken_over_from_the_beginning(seat: int) -> None:
    match = toy_match(rounds=3)
    match.take_over(seat, EndCause.CRASHED, "it could not start")
    while decision := match.decision():
        assert decision.seat != seat
        match.answer(decision.seat, decision.number, 0)
    result = match.result()
    assert result.end_causes[seat] is EndCause.CRASHED
    assert result.places[seat] == 2
    assert {chosen.option for chosen in match.choices if chosen.seat == seat} <= {PASS}
    assert len(match.faults) == (seat == 0), "a decision that was open is a fault; the rest were never put"


def test_a_lost_connection_that_outlasts_a_clock_takes_the_seat_over_at_once() -> None:
    match = toy_match(rounds=9)
    match.fault(0, 0, EndCause.TIMEOUT, "")
    assert not match.is_taken_over(0)
    match.answer(1, 0, PASS)
    match.fault(0, 1, EndCause.DISCONNECTED, "")
    assert match.is_taken_over(0)
    while decision := match.decision():
        match.answer(1, decision.number, PASS)
    assert match.result().end_causes == (EndCause.DISCONNECTED, EndCause.NORMAL)
    assert match.result().places == (2, 1)


def test_taking_a_seat_over_again_or_after_the_end_changes_nothing() -> None:
    match = toy_match(rounds=3)
    match.take_over(0, EndCause.CRASHED, "")
    before = (match.choices[:], match.faults[:])
    match.take_over(0, EndCause.TIMEOUT, "")
    assert (match.choices, match.faults) == before
    while decision := match.decision():
        match.answer(decision.seat, decision.number, 0)
    match.take_over(1, EndCause.CRASHED, "")
    assert match.result().end_causes == (EndCause.CRASHED, EndCause.NORMAL)


def test_a_seat_is_taken_over_after_the_window_that_is_held() -> None:
    match = toy_match(rounds=3, hold_polls=True)
    match.answer(0, 0, PASS)
    assert is_held(match)
    match.take_over(1, EndCause.CRASHED, "")
    assert not match.is_taken_over(1)
    match.release()
    assert match.is_taken_over(1)
    assert is_held(match), "the turn of seat 1 is over, and its window is held"


@pytest.mark.parametrize("cause", [EndCause.NORMAL, EndCause.VOID_SERVER, EndCause.VOID_OPERATOR])
def test_a_seat_is_taken_over_only_because_it_failed(cause: EndCause) -> None:
    with pytest.raises(ValueError, match=f"not for the cause {cause.value}"):
        toy_match().take_over(0, cause, "")


def test_an_answer_to_a_question_that_is_not_open_changes_nothing() -> None:
    match = toy_match()
    before = match.game.save()
    with pytest.raises(WrongDecision, match="decision 0 is not open for seat 1: seat 1 is asked nothing"):
        match.answer(1, 0, PASS)
    with pytest.raises(WrongDecision, match="decision 7 is not open for seat 0: seat 0 is asked decision 0"):
        match.answer(0, 7, PASS)
    with pytest.raises(WrongDecision):
        match.give_up(5, 0, "no such seat")
    assert match.game.save() == before
    assert match.faults == []
    match.answer(0, 0, PASS)
    with pytest.raises(WrongDecision, match="decision 0 is not open for seat 0"):
        match.answer(0, 0, PASS)


def test_there_is_no_result_before_the_end() -> None:
    with pytest.raises(WrongDecision, match="goes on: 1 decisions are open"):
        toy_match().result()


def test_a_match_needs_players_and_settings_that_the_game_has() -> None:
    with pytest.raises(SettingsError, match="2 to 4 players, not 1"):
        Match(Toy, ["alone"], KEY)
    with pytest.raises(SettingsError, match="no setting"):
        Match(Toy, ["a", "b"], KEY, {"colour": "red"})


@pytest.mark.parametrize("name", GAMES)
def test_a_match_of_nothing_but_faults_comes_to_its_end(name: str) -> None:
    rules = GAMES[name]
    match = Match(rules, ["bot"] * rules.usual_seats, KEY, log=True)
    while decision := match.decision():
        match.give_up(decision.seat, decision.number, "")
    result = match.result()
    assert set(result.end_causes) == {EndCause.CRASHED}
    assert len(match.faults) == FAULTS * rules.usual_seats
    assert set(result.places) == {1}, "none did better than another"


def test_the_place_of_the_safe_option_among_the_options() -> None:
    match = toy_match()
    assert asked(match).options[match.safe_option(0)] == PASS
    with pytest.raises(WrongDecision, match="seat 1 is asked nothing, so it has no safe option"):
        match.safe_option(1)


def test_how_often_an_answer_may_still_be_corrected() -> None:
    match = toy_match()
    left = [match.corrections_left(0)]
    while asked(match).seat == 0:
        with pytest.raises(IllegalAnswer):
            match.answer(0, 0, NO_CARD)
        left.append(match.corrections_left(0))
    assert left == [2, 2, 1, 0]


def test_how_many_decisions_a_seat_was_put() -> None:
    match = toy_match()
    before = [match.asked(seat) for seat in (0, 1)]
    match.answer(0, 0, PASS)
    assert (before, [match.asked(seat) for seat in (0, 1)]) == ([1, 0], [1, 1])


def is_held(match: Match) -> bool:
    return match.held  # a call, since mypy believes that an attribute stays what it was


def test_a_window_is_held_until_it_is_released_even_if_nobody_is_asked() -> None:
    match = toy_match(rounds=3, hold_polls=True)
    assert not is_held(match)
    match.answer(0, 0, PASS)
    assert is_held(match)
    assert not match.over
    assert match.decisions() == []
    assert isinstance(match.game.question, Window)
    with pytest.raises(WrongDecision, match="goes on: a window is held"):
        match.result()
    match.release()
    assert not is_held(match)
    assert asked(match).seat == 1
    with pytest.raises(WrongDecision, match="no window is held"):
        match.release()


def test_the_last_answer_of_a_window_is_sealed_until_the_release() -> None:
    match = toy_match(seats=3, hold_polls=True)
    with_a_star(match, 1, 2)
    match.answer(0, 0, PASS)
    before = match.game.view(None).to_bytes()
    match.answer(2, 0, Option(YES, (STAR,)))
    assert not is_held(match)
    match.answer(1, 0, Option(YES, (STAR,)))
    assert is_held(match)
    assert match.game.view(None).to_bytes() == before
    with pytest.raises(WrongDecision):
        match.answer(1, 0, PASS)
    match.release()
    assert match.game.scores() == [0, 10, 0]


@pytest.mark.parametrize("name", GAMES)
def test_a_match_is_the_same_with_and_without_holding(name: str) -> None:
    rules = GAMES[name]
    lines, questions = [], []
    for hold_polls in (False, True):
        match = Match(rules, ["bot"] * rules.usual_seats, KEY, log=True, hold_polls=hold_polls)
        while not match.over:
            if match.held:
                match.release()
            elif decision := match.decision():
                answer = (decision.number * 7 + decision.seat) % len(decision.options)
                if decision.number % 40 == 39:
                    match.give_up(decision.seat, decision.number, "")
                else:
                    match.answer(decision.seat, decision.number, answer)
        lines.append(write_record(match))
        questions.append(match.questions)
    assert lines[0] == lines[1]
    assert questions[0] <= questions[1], "windows in which nobody is asked are put only if they are held"


def test_with_ask_all_a_window_puts_everybody_a_decision() -> None:
    match = Match(Toy, ["bot 0", "bot 1", "bot 2"], KEY, {"rounds": 3}, hold_polls=True, ask_all=True)
    with_a_star(match, 2)
    match.answer(0, 0, PASS)
    assert [(decision.seat, decision.number) for decision in match.decisions()] == [(0, 1), (1, 0), (2, 0)]
    assert [len(decision.options) for decision in match.decisions()] == [1, 1, 2]
    with pytest.raises(IllegalAnswer):
        match.answer(1, 0, 1)
    for seat, number in ((1, 0), (0, 1), (2, 0)):
        assert not is_held(match)
        match.answer(seat, number, 0)
    assert is_held(match)
    assert match.choices == [Chosen(0, PASS, EndCause.NORMAL), Chosen(2, PASS, EndCause.NORMAL)]
    assert match.lone_asked == [1, 1, 0]


def test_with_ask_all_a_question_with_one_option_can_be_faulted() -> None:
    match = Match(Toy, ["bot 0", "bot 1"], KEY, {"rounds": 9}, ask_all=True)
    for number in range(3):
        match.answer(asked(match).seat, asked(match).number, PASS)
        if match.decision(0) is not None:
            match.answer(0, match.asked(0) - 1, PASS)
        match.fault(1, match.asked(1) - 1, EndCause.TIMEOUT, "late")
        fault = match.faults[number]
        assert match.choices[fault.place] == Chosen(1, PASS, EndCause.TIMEOUT, fault.number)
    decisions = match.asked(1)
    while not match.over:
        decision = asked(match)
        assert decision.seat == 0, "seat 1 is played on, so it is asked nothing"
        match.answer(0, decision.number, PASS)
    assert match.asked(1) == decisions
    assert match.result().end_causes == (EndCause.NORMAL, EndCause.TIMEOUT)


@pytest.mark.parametrize("name", GAMES)
def test_a_match_is_the_same_whether_all_is_asked_or_not(name: str) -> None:
    rules = GAMES[name]
    for void_at in (10_000, 30):
        lines = []
        for ask_all in (False, True):
            match = Match(rules, ["bot"] * rules.usual_seats, KEY, log=True, hold_polls=ask_all, ask_all=ask_all)
            while not match.over and len(match.choices) < void_at:
                if match.held:
                    match.release()
                elif decision := match.decision():
                    number = decision.number - match.lone_asked[decision.seat]
                    match.answer(decision.seat, decision.number, number % len(decision.options))
            if len(match.choices) >= void_at:
                match.void(EndCause.VOID_SERVER)
            lines.append(write_record(match))
        assert lines[0] == lines[1], void_at


@pytest.mark.parametrize("cause", [EndCause.VOID_SERVER, EndCause.VOID_OPERATOR])
def test_a_void_match_is_over_and_has_no_places(cause: EndCause) -> None:
    match = toy_match()
    match.void(cause)
    assert match.over
    assert match.decisions() == []
    result = match.result()
    assert result.voided
    assert (result.scores, result.places, result.end_causes) == ((), (), (cause, cause))
    match.void(EndCause.VOID_OPERATOR)
    assert match.result() == result, "a second time changes nothing"
    with pytest.raises(WrongDecision):
        match.answer(0, 0, PASS)


def test_a_match_that_has_just_ended_can_still_be_voided() -> None:
    match = toy_match(rounds=1)
    match.answer(0, 0, PASS)
    assert not match.result().voided
    match.void(EndCause.VOID_SERVER)
    assert match.result().voided


@pytest.mark.parametrize("cause", [cause for cause in EndCause if not cause.is_void])
def test_no_other_cause_voids_a_match(cause: EndCause) -> None:
    with pytest.raises(ValueError, match=f"the cause {cause.value} voids no match"):
        toy_match().void(cause)
