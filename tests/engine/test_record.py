"""A record is one line that replays to the same match; whatever is changed in it is found."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from cutpurse.engine.errors import RecordError
from cutpurse.engine.match import EndCause, Match
from cutpurse.engine.record import read_record, replay, replay_on, verified, verify, write_record
from cutpurse.engine.words import Words
from tests.engine.toy import Toy

KEY = bytes(range(32))
OLD = Path(__file__).with_name("records_of_schema_1.jsonl")  # written by the version before schema 2


def played(rounds: int = 5) -> Match:
    """A short match with every sort of choice: own ones, a poll's, and a safe option taken for a seat."""
    match = Match(Toy, ["ann", "bob"], KEY, {"rounds": rounds}, log=True)
    while decision := match.decision():
        if decision.number == 2:
            match.give_up(decision.seat, decision.number, "")
        else:
            match.answer(decision.seat, decision.number, 0 if decision.ask == "take_one" else 1)
    return match


@pytest.fixture(scope="module")
def line() -> str:
    return write_record(played())


def sealed(text: str) -> str:
    """A record's text up to its digest, with a digest that fits."""
    return f'{text},"digest":"{sha256(text.encode()).hexdigest()}"}}'


def changed(line: str, **fields: Any) -> str:
    """The record with other values and, by somebody who knows how, a new digest."""
    body = json.loads(line)
    del body["digest"]
    schema = fields.pop("schema", body.pop("schema"))
    body.pop("schema", None)
    body.update(fields)
    return sealed(f'{{"schema":{schema},' + json.dumps(body, separators=(",", ":"), sort_keys=True)[1:-1])


def test_a_record_is_verified(line: str) -> None:
    checked = verify(line, Toy)
    assert len(checked) == 4
    assert f"the digest fits the {len(line)} bytes of the record" in checked
    assert verify(line + "\n", Toy) == checked
    assert verify(line + "\r\n", Toy)


def test_a_record_has_its_schema_first_and_its_digest_last(line: str) -> None:
    assert line.startswith('{"schema":2,"choices":[')
    text, digest = line.rsplit(',"digest":"', 1)
    assert digest == sha256(text.encode()).hexdigest() + '"}'
    keys = [key for key, _ in json.loads(line, object_pairs_hook=list)]
    assert keys[1:-1] == sorted(keys[1:-1])
    assert " " not in line.replace("bot ", "")


def test_what_a_record_holds_is_what_was_played(line: str) -> None:
    match = played()
    record = read_record(line)
    assert (record.game, record.rules, record.settings) == ("toy", "1", {"rounds": "5"})
    assert (record.key, record.seats) == (KEY, ("ann", "bob"))
    assert len(record.choices) == len(match.choices)
    assert record.choices[0] == [0, "take", {}]
    assert [choice for choice in record.choices if len(choice) == 4], "a safe option says why it was taken"
    assert record.result["scores"] == list(match.result().scores)
    assert len(record.events) == 3, "one for each seat and one for the spectator"
    assert len(set(record.events)) > 1
    assert changed(line) == line


def test_a_replay_stops_before_each_choice(line: str) -> None:
    match = played()
    for at, (again, decision, chosen) in enumerate(replay(read_record(line), Toy)):
        assert chosen == match.choices[at]
        assert decision == again.decision(chosen.seat)
        assert len(again.choices) == at
    assert again.over
    assert again.choices == match.choices
    assert again.game.log == match.game.log


def test_a_replay_goes_on_from_a_fork_at_any_choice(line: str) -> None:
    record, whole = read_record(line), played()
    forks = [(match.fork(), len(match.game.log or ())) for match, _, _ in replay(record, Toy)]
    assert len(forks) > 4
    for match, told in forks:
        for again, _, _ in replay_on(match, record):
            assert again is match
        assert match.choices == whole.choices
        # Decisions are numbered as a server does, which puts those with one option too.
        assert [replace(fault, number=0) for fault in match.faults] == [
            replace(fault, number=0, reason="as recorded") for fault in whole.faults
        ]
        assert match.result() == whole.result()
        assert match.game.log == (whole.game.log or [])[told:]
        assert match.game.save() == whole.game.save()


def test_any_changed_byte_is_found(line: str) -> None:
    raw = line.encode()
    for at in range(len(raw)):
        for flip in (1, 0x20, 0x80):
            altered = bytearray(raw)
            altered[at] ^= flip
            with pytest.raises(RecordError):
                verify(altered.decode("latin-1"), Toy)


def test_a_truncated_record_is_found(line: str) -> None:
    for length in range(len(line)):
        with pytest.raises(RecordError):
            verify(line[:length], Toy)


def test_a_record_of_another_rules_version_is_not_replayed(line: str) -> None:
    with pytest.raises(RecordError, match="under version 0 of the rules of toy; this is version 1, which plays"):
        verify(changed(line, rules="0"), Toy)


def test_a_record_of_another_schema_is_not_read(line: str) -> None:
    with pytest.raises(RecordError, match="has schema 3; this version reads 1 to 2"):
        verify(changed(line, schema=3), Toy)


@pytest.mark.parametrize("old", OLD.read_text().splitlines())
def test_a_record_of_schema_1_is_replayed_by_the_rule_of_its_time(old: str) -> None:
    verified = verify(old, Toy)
    assert "the result is [0, 0], places [1, 1]" in verified, "by the cards, though seat 0 was taken over"
    body = json.loads(old)
    assert body["result"]["end_causes"][0] in ("crashed", "disconnected")
    del body["schema"], body["digest"]
    with pytest.raises(RecordError):
        verify(changed(old, schema=2, taken_over=[]), Toy)


def test_a_new_record_cannot_be_passed_off_as_an_old_one() -> None:
    match = with_a_seat_taken_over(2, 0)
    text = write_record(match)
    body = json.loads(text)
    del body["taken_over"]
    with pytest.raises(RecordError):
        verify(changed(json.dumps(body), schema=1), Toy)


def with_a_seat_taken_over(after: int, seat: int, hold_polls: bool = False) -> Match:
    """A match in which a seat is taken over after so many answers and releases."""
    match = Match(Toy, ["ann", "bob", "cid"], KEY, {"rounds": 9}, log=True, hold_polls=hold_polls)
    turns = 0
    while not match.over:
        if turns == after:
            match.take_over(seat, EndCause.CRASHED, "its program ended")
        if match.held:
            match.release()
        elif decision := match.decision():
            match.answer(decision.seat, decision.number, turns % len(decision.options))
        turns += 1
    return match


@pytest.mark.parametrize("hold_polls", [False, True])
@pytest.mark.parametrize("seat", range(3))
def test_a_seat_taken_over_at_any_moment_is_recorded_and_replayed(seat: int, hold_polls: bool) -> None:
    open_then = set()
    for after in range(40):
        match = with_a_seat_taken_over(after, seat, hold_polls)
        line = write_record(match)
        assert len(verify(line, Toy)) == 4
        record = read_record(line)
        replayed = [again for again, _, _ in replay(record, Toy)][-1]
        assert [(fault.seat, fault.place) for fault in replayed.faults] == [
            (fault.seat, fault.place) for fault in match.faults
        ]
        assert len(record.taken_over) <= 1
        assert (match.result().places[seat] == 3) is bool(record.taken_over)
        open_then.add(bool(match.faults))
    assert open_then == {True, False}, "with an open decision and without"


def test_a_match_that_is_voided_after_a_seat_was_taken_over_is_verified() -> None:
    for seat in range(2):
        match = Match(Toy, ["ann", "bob"], KEY, {"rounds": 9}, log=True)
        match.take_over(seat, EndCause.CRASHED, "it could not start")
        match.void(EndCause.VOID_SERVER)
        assert len(verify(write_record(match), Toy)) == 4


def test_a_list_of_seats_taken_over_that_is_not_what_happened_is_found() -> None:
    line = write_record(with_a_seat_taken_over(0, 1))
    (entry,) = json.loads(line)["taken_over"]
    assert entry[1:] == [1, "crashed"]
    for forged in ([entry, entry], [[0, 7, "crashed"]], [[99, 1, "crashed"]], [[0, 1, "normal"]], [[0, 1]], 5):
        with pytest.raises(RecordError):
            verify(changed(line, taken_over=forged), Toy)


def test_a_record_altered_and_given_a_new_digest_is_found(line: str) -> None:
    body = json.loads(line)
    result, events, choices = body["result"], body["events"], body["choices"]
    forged: list[dict[str, Any]] = [
        {"result": {**result, "scores": [99, 0]}},
        {"result": {**result, "places": [1, 2]}},
        {"result": {**result, "end_causes": ["crashed", "normal"]}},
        {"events": events[::-1]},
        {"events": events[:-1]},
        {"events": [*events, events[0]]},
        {"choices": choices[:-1]},
        {"choices": [*choices, choices[-1]]},
        {"choices": [[1, *choices[0][1:]], *choices[1:]]},
        {"choices": [[0, "pass", {}], *choices[1:]]},
        {"choices": [[0, "take", {"cards": ["crown"]}], *choices[1:]]},
        {"choices": [[0, "juggle", {}], *choices[1:]]},
        {"choices": [[0, "take", {}, "crashed"], *choices[1:]]},
        {"choices": [[0, "take", {}, "bored"], *choices[1:]]},
        {"choices": [[0], *choices[1:]]},
        {"choices": [[*choices[0], "normal"], *choices[1:]]},
        {"settings": {"rounds": "7"}},
        {"settings": {"rounds": "8"}},
        {"settings": {"rounds": "5", "loud": "true"}},
        {"settings": {"tone": "high"}},
        {"seats": ["ann"]},
        {"seats": ["ann", "bob", "cid"]},
        {"key": bytes(32).hex()},
        {"key": "00"},
        {"key": "zz" * 32},
        {"game": 7},
        {"game": ["toy"]},
        {"rules": ["1"]},
        {"seats": [1, 2]},
        {"seats": ["ann", None]},
        {"result": {}},
        {"result": {**result, "places": []}},
        {"result": {**result, "places": [1]}},
        {"result": {**result, "places": "12"}},
        {"result": {**result, "scores": ["3", "2"]}},
        {"result": {**result, "end_causes": []}},
        {"settings": "5"},
        {"seats": 2},
        {"choices": 5},
        {"choices": [5]},
        {"choices": [["0", "take", {}], *choices[1:]]},
        {"choices": [[[0], "take", {}], *choices[1:]]},
        {"choices": [[0, "take", "fields"], *choices[1:]]},
        {"choices": [[0, "take", {"cards": 5}], *choices[1:]]},
        {"choices": [[0, "take", {"places": 5}], *choices[1:]]},
        {"choices": [[0, "take", {"colour": 5}], *choices[1:]]},
        {"note": "a field that no record has"},
    ]
    for fields in forged:
        with pytest.raises(RecordError):
            verify(changed(line, **fields), Toy)


def test_a_record_in_another_form_is_found(line: str) -> None:
    text = line.rsplit(',"digest":"', 1)[0]
    for other in (text.replace(",", ", ", 1), text.replace('"seats":["ann","bob"]', '"seats":["\\u0061nn","bob"]')):
        assert other != text
        with pytest.raises(RecordError):
            verify(sealed(other), Toy)


@pytest.mark.parametrize("line", ["", "{}", "null", "[1]", '{"schema":1}', "x" * 100, sealed('{"schema":1')])
def test_what_is_no_record_is_refused(line: str) -> None:
    with pytest.raises(RecordError):
        read_record(line)


def test_what_is_shown_of_a_record_before_it_is_checked_has_its_form(line: str) -> None:
    result = json.loads(line)["result"]
    wrong: list[dict[str, Any]] = [
        {"seats": [1, 2]},
        {"game": ["toy"]},
        {"result": {}},
        {"result": {**result, "places": [1]}},
        {"result": {**result, "scores": [None, None]}},
        {"result": {**result, "end_causes": "normal"}},
    ]
    for fields in wrong:
        with pytest.raises(RecordError, match="not a record of this form"):
            read_record(changed(line, **fields))
    depth = 100_000
    with pytest.raises(RecordError, match="not a record of this form"):
        read_record(sealed('{"schema":1,"choices":' + "[" * depth + "]" * depth))


def test_a_match_without_its_events_cannot_be_recorded() -> None:
    match = Match(Toy, ["ann", "bob"], KEY, {"rounds": 1})
    match.answer(0, 0, 0)
    with pytest.raises(ValueError, match="without a log"):
        write_record(match)


def test_every_verb_has_its_own_name() -> None:
    words = Words("toy", "Toy", "TY", "1", range(2, 3))
    with pytest.raises(KeyError):
        words.verb_named("juggle")
    with pytest.raises(KeyError):
        words.card_named("moon")


@pytest.mark.parametrize("cause", [EndCause.TIMEOUT, EndCause.DISCONNECTED])
def test_a_safe_option_says_for_which_cause_it_was_taken(cause: EndCause) -> None:
    match = Match(Toy, ["ann", "bob"], KEY, {"rounds": 9}, log=True)
    while decision := match.decision():
        match.fault(decision.seat, decision.number, cause, "no answer in 1150 ms")
    line = write_record(match)
    assert len(verify(line, Toy)) == 4
    body = json.loads(line)
    assert {choice[-1] for choice in body["choices"]} == {cause.value}
    assert body["result"]["end_causes"] == [cause.value] * 2


def voided(after: int, hold_polls: bool, cause: EndCause = EndCause.VOID_SERVER) -> Match:
    """A match that is voided after so many answers, as soon as it waits for another or holds a window."""
    match = Match(Toy, ["ann", "bob"], KEY, {"rounds": 9}, log=True, hold_polls=hold_polls)
    answers = 0
    while not match.over:
        if answers == after:
            match.void(cause)
        elif decision := match.decision():
            match.answer(decision.seat, decision.number, 0)
            answers += 1
        else:
            match.release()
    return match


def test_a_void_match_is_recorded_up_to_where_it_was_voided() -> None:
    whole = len(voided(99, hold_polls=False).choices)
    assert whole > 5
    for after in range(whole):
        match = voided(after, hold_polls=False)
        line = write_record(match)
        checked = verify(line, Toy)
        assert "the match is void: void_server" in checked
        assert len(checked) == 4
        body = json.loads(line)
        assert len(body["choices"]) == after
        assert body["result"] == {"end_causes": ["void_server"] * 2, "places": [], "scores": []}
        assert write_record(voided(after, hold_polls=True)) == line, "voided while a window is held"


def test_a_match_that_was_voided_at_its_very_end_is_verified() -> None:
    match = played()
    match.void(EndCause.VOID_OPERATOR)
    assert "the match is void: void_operator" in verify(write_record(match), Toy)


def test_a_record_cannot_claim_to_be_void_and_go_on(line: str) -> None:
    result = {"end_causes": ["void_server"] * 2, "places": [], "scores": []}
    cut = json.loads(line)["choices"][:-1]
    with pytest.raises(RecordError, match="was not told what the record says"):
        verify(changed(line, result=result, choices=cut), Toy)
    with pytest.raises(RecordError, match="the result is not"):
        verify(changed(line, result={**result, "end_causes": ["void_server", "normal"]}), Toy)
    with pytest.raises(RecordError, match="the record ends after"):
        verify(changed(line, choices=cut), Toy)


def test_a_choice_is_never_void(line: str) -> None:
    choices = json.loads(line)["choices"]
    choices[0] = [*choices[0][:3], "void_server"]
    with pytest.raises(RecordError, match="void_server voids a match and takes no safe option"):
        verify(changed(line, choices=choices), Toy)


@pytest.mark.parametrize("result", [[], "won", None])
def test_a_result_that_is_no_object_is_refused(line: str, result: object) -> None:
    with pytest.raises(RecordError, match="its result is no object of names with values"):
        verify(changed(line, result=result), Toy)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"game": ["toy"]}, "are texts"),
        ({"rules": 1}, "are texts"),
        ({"seats": ["ann", 2]}, "are texts"),
        ({"seats": "ab"}, "its seats are no list"),
        ({"result": {"end_causes": ["normal"] * 2, "places": "12", "scores": [1, 2]}}, "places of its result"),
        ({"result": {"end_causes": ["normal"] * 2, "places": [1, 2], "scores": ["1", "2"]}}, "scores of its result"),
        ({"result": {"end_causes": ["normal"] * 2, "places": [1], "scores": [1, 2]}}, "are 1, for 2 seats"),
        ({"result": {"end_causes": [], "places": [], "scores": []}}, "are 0, for 2 seats"),
        ({"result": {"places": [1, 2], "scores": [1, 2]}}, "KeyError('end_causes')"),
    ],
)
def test_a_field_that_is_something_else_is_told(line: str, fields: dict[str, Any], said: str) -> None:
    with pytest.raises(RecordError, match="not a record of this form") as refused:
        read_record(changed(line, **fields))
    assert said in str(refused.value)


def played_by_asking_all(fault_at: int, hold_polls: bool = False) -> Match:
    """A match that puts every question; decision `fault_at` of seat 1 is faulted."""
    match = Match(Toy, ["ann", "bob"], KEY, {"rounds": 5}, log=True, hold_polls=hold_polls, ask_all=True)
    while not match.over:
        if match.held:
            match.release()
        elif decision := match.decision():
            if (decision.seat, decision.number) == (1, fault_at):
                match.give_up(1, fault_at, "")
            else:
                match.answer(decision.seat, decision.number, len(decision.options) - 1)
    return match


@pytest.mark.parametrize("hold_polls", [False, True])
def test_a_faulted_question_with_one_option_is_recorded_with_its_number(hold_polls: bool) -> None:
    faulted = set()
    for fault_at in range(5):
        match = played_by_asking_all(fault_at, hold_polls)
        line = write_record(match)
        verify(line, Toy)
        (choice,) = [choice for choice in read_record(line).choices if len(choice) > 3]
        faulted.add(choice[4:] == [fault_at])
        again = [again for again, _, _ in replay(read_record(line), Toy)][-1]
        assert again.faults == [replace(fault, reason="as recorded") for fault in match.faults]
        assert [again.asked(seat) for seat in (0, 1)] == [match.asked(seat) for seat in (0, 1)]
    assert faulted == {False, True}, "of both kinds"


@pytest.mark.parametrize("number", [["1"], [True], [1, 1], [{}]])
def test_a_choice_with_no_number_behind_its_cause_is_refused(number: list[object]) -> None:
    record = read_record(write_record(played_by_asking_all(1)))
    at = next(at for at, choice in enumerate(record.choices) if len(choice) > 3)
    choices = list(record.choices)
    choices[at] = [*choices[at][:4], *number]
    with pytest.raises(RecordError, match=f"choice {at} of the record"):
        list(replay(replace(record, choices=tuple(choices)), Toy))


def test_a_visitor_of_the_verification_sees_each_choice_before_it_is_made(line: str) -> None:
    seen = []
    match = verified(
        line, Toy, lambda match, asked, chosen: seen.append((len(match.choices), asked.seat, chosen))
    ).match
    assert [place for place, _, _ in seen] == [*range(len(match.choices))]
    assert [seat for _, seat, _ in seen] == [chosen.seat for chosen in match.choices]
    assert [chosen for _, _, chosen in seen] == match.choices
