"""A match on one line: written, read, replayed, verified.

A record is the key, the game with its rules version and settings, the seats, and the options chosen, in words and not
by index; a safe option that was taken for a seat says why. Questions with one option are left out, since their answers
follow, unless a seat was asked one and its answer was missing.
Replaying it gives every view, every event and the result again, byte for byte. A void match ends after its last choice.

The line is JSON without spaces, its keys sorted, but for the schema number, which comes first, and the digest, which
comes last: SHA-256 of all before `,"digest":`, as hex. `events` has a hash of all that each seat, and last the
spectator, heard. This module reads and writes no file.

`taken_over` has the seats that `Match.take_over` was called for: [choices made before, seat, cause]. Records of schema
1 have no such list. They are replayed and written again by the rule of their time for seats that fail (`CONDUCT`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final, NamedTuple

from cutpurse.engine.agenda import Act
from cutpurse.engine.documents import parse_json
from cutpurse.engine.errors import CutpurseError, RecordError
from cutpurse.engine.events import Event, Happened
from cutpurse.engine.game import Game
from cutpurse.engine.match import CONDUCT, Chosen, EndCause, Match, MatchResult, OpenDecision, TakenOver
from cutpurse.engine.words import FACE_DOWN, Words

__all__ = [
    "SCHEMA",
    "Record",
    "Verified",
    "Visit",
    "act_to_json",
    "event_hashes",
    "event_to_json",
    "read_record",
    "replay",
    "replay_on",
    "verified",
    "verify",
    "write_record",
]

SCHEMA: Final = 2
_CONDUCT: Final = {1: 1, 2: CONDUCT}  # by schema, the rule for seats that fail
_DIGEST: Final = ',"digest":"'
_encode: Final = json.JSONEncoder(separators=(",", ":")).encode  # json.dumps would make one for every event
LONE_CHOICE: Final = 5  # the parts of a faulted choice with one option: the number of its decision is the last
Visit = Callable[[Match, OpenDecision, Chosen], None]  # is given the match, the question, and what was chosen then
_ACT_FIELDS: Final = ("cards", "zone", "seat", "number", "places")


@dataclass(frozen=True, slots=True)
class Record:
    """A match as it was written down; `choices` in words."""

    game: str
    rules: str
    settings: dict[str, str]
    key: bytes
    seats: tuple[str, ...]
    choices: tuple[list[Any], ...]
    result: dict[str, list[Any]]
    events: tuple[str, ...]
    conduct: int = CONDUCT  # the rule for seats that fail, see `match.CONDUCT`
    taken_over: tuple[TakenOver, ...] = ()


# -- in words
def act_to_json(words: Words, act: Act) -> list[Any]:
    """Return [verb, {field: value}] with cards by name; leave out fields that say nothing."""
    fields: dict[str, Any] = {}
    for name in _ACT_FIELDS:
        value = getattr(act, name)
        if value not in ((), 0, None) or (name == "seat" and value == 0 and value is not None):
            fields[name] = list(value) if isinstance(value, tuple) else value
    if act.cards:
        fields["cards"] = [words.cards[card - 1].name if card != FACE_DOWN else None for card in act.cards]
    return [words.verbs[act.verb - 1].name, fields]


def _act_from_json(words: Words, verb: str, fields: dict[str, Any]) -> Act:
    return Act(
        words.verb_named(verb),
        tuple(words.card_named(name) for name in fields.get("cards", ())),
        fields.get("zone", 0),
        fields.get("seat"),
        fields.get("number", 0),
        tuple(fields.get("places", ())),
    )


def _choice_to_json(words: Words, chosen: Chosen) -> list[Any]:
    choice = [chosen.seat, *act_to_json(words, chosen.option)]
    if chosen.cause is not EndCause.NORMAL:
        choice.append(chosen.cause.value)
    if chosen.lone is not None:
        choice.append(chosen.lone)
    return choice


def event_to_json(event: Event) -> list[Any]:
    """Return [kind, *fields] of an event as one viewer hears it."""
    if isinstance(event, Happened):
        return ["happened", event.act.values()]
    values = [value for name, value in zip(event._fields, event, strict=True) if name != "masks"]
    return [type(event).__name__.lower(), *values]


# -- writing and reading
def write_record(match: Match) -> str:
    """Write the line of a match that is over and was logged from its start."""
    game = match.game
    if game.log is None:
        raise ValueError("a match without a log cannot be recorded")
    return _write(match, game.words.version, game.settings.changed())


def _write(match: Match, version: str, settings: Mapping[str, str]) -> str:
    """Write the line of a match as a record of this rules version and these settings."""
    game = match.game
    body: dict[str, object] = {
        "choices": [_choice_to_json(game.words, chosen) for chosen in match.choices],
        "events": event_hashes(game),
        "game": game.words.game,
        "key": match.key.hex(),
        "result": _result_to_json(match.result()),
        "rules": version,
        "seats": list(match.seats),
        "settings": settings,
    }
    schema = next(number for number, conduct in _CONDUCT.items() if conduct == match.conduct)
    if schema > 1:
        body["taken_over"] = [[taken.choices, taken.seat, taken.cause.value] for taken in match.taken_over]
    text = f'{{"schema":{schema},' + json.dumps(body, separators=(",", ":"), sort_keys=True)[1:-1]
    return f'{text}{_DIGEST}{sha256(text.encode()).hexdigest()}"}}'


def _result_to_json(result: MatchResult) -> dict[str, list[Any]]:
    return {
        "end_causes": [cause.value for cause in result.end_causes],
        "places": list(result.places),
        "scores": list(result.scores),
    }


@lru_cache(16_384)  # of a few microseconds each; matches are made of the same events again and again
def _lines_of(kind: str, event: Event, viewers: int) -> tuple[bytes, ...]:
    """Write an event as each viewer hears it, a JSON line each.  Tuples of two kinds can be equal, hence `kind`."""
    lines: dict[Event, bytes] = {}  # most events are alike for all
    views = [event.to(viewer) for viewer in range(viewers)]
    for seen in views:
        if seen not in lines:
            lines[seen] = _encode(event_to_json(seen)).encode() + b"\n"
    return tuple([lines[seen] for seen in views])


def event_hashes(game: Game) -> list[str]:
    """Hash the events with SHA-256 as each seat, and last the spectator, heard them, one JSON line each."""
    viewers = game.n + 1
    lines = [_lines_of(type(event).__name__, event, viewers) for event in game.log or ()]
    return [sha256(b"".join([by_viewer[viewer] for by_viewer in lines])).hexdigest() for viewer in range(viewers)]


def read_record(line: str) -> Record:
    """Read the record on a line, if its bytes agree with its digest.  Raises RecordError, which says what is wrong."""
    line = line.rstrip("\r\n")
    text, _, tail = line.rpartition(_DIGEST)
    if not text or not tail.endswith('"}') or not line.startswith('{"schema":'):
        raise RecordError("not a whole record: a line begins with its schema and ends with its digest")
    if sha256(text.encode()).hexdigest() != tail[:-2]:
        raise RecordError("the record was altered: its digest does not fit its bytes")
    try:
        body = parse_json(line)
        if body["schema"] not in _CONDUCT:
            raise RecordError(f"the record has schema {body['schema']!r:.100}; this version reads 1 to {SCHEMA}")
        _check_form(body)
        return Record(
            body["game"],
            body["rules"],
            body["settings"],
            bytes.fromhex(body["key"]),
            tuple(body["seats"]),
            tuple(body["choices"]),
            body["result"],
            tuple(body["events"]),
            _CONDUCT[body["schema"]],
            _taken_over_from_json(body["taken_over"], len(body["seats"])) if body["schema"] > 1 else (),
        )
    except (ValueError, KeyError, TypeError) as problem:
        raise RecordError(f"not a record of this form: {problem!r}") from None


def _taken_over_from_json(entries: list[list[Any]], seats: int) -> tuple[TakenOver, ...]:
    """Read who was taken over from its JSON form.  Raises TypeError or ValueError."""
    taken_over = []
    for choices, seat, cause in entries:
        if type(choices) is not int or type(seat) is not int or not 0 <= seat < seats:
            raise TypeError("taken_over has entries of a number of choices, a seat and a cause")
        if not EndCause(cause).is_taken_over:
            raise ValueError(f"no seat is taken over for the cause {cause}")
        taken_over.append(TakenOver(choices, seat, EndCause(cause)))
    return tuple(taken_over)


def _check_form(body: dict[str, Any]) -> None:
    """Check the form of what a replay needs.  Raises KeyError or TypeError."""
    for name in ("settings", "result"):
        if not isinstance(body[name], dict):
            raise TypeError(f"its {name} is no object of names with values")
    if not all(isinstance(value, str) for value in body["settings"].values()):
        raise TypeError("not all of its settings have a text as value")
    seats, result = body["seats"], body["result"]
    if not isinstance(seats, list):
        raise TypeError("its seats are no list")
    if not all(isinstance(text, str) for text in (body["game"], body["rules"], *seats)):
        raise TypeError("not all of its game, its rules and who sits in its seats are texts")
    is_void = result["end_causes"] and not result["places"] and not result["scores"]
    for name, kind in (("end_causes", str), ("places", int), ("scores", int)):
        values = result[name]
        if not isinstance(values, list) or any(type(value) is not kind for value in values):
            raise TypeError(f"{name} of its result are no list of {'texts' if kind is str else 'whole numbers'}")
        if len(values) != len(seats) and not (is_void and kind is int):
            raise TypeError(f"{name} of its result are {len(values)}, for {len(seats)} seats")


# -- replaying
def replay(
    record: Record, rules: type[Game], knowledge: str | None = None
) -> Iterator[tuple[Match, OpenDecision, Chosen]]:
    """Play a record again: before each choice the match, the question, and what was chosen then.

    The match goes on when the next is asked for, and after the last it is over. Raises RecordError where the record
    and the rules part. `knowledge` is that of `Match`.
    """
    yield from replay_on(_begin(record, rules, knowledge), record)


def replay_on(match: Match, record: Record) -> Iterator[tuple[Match, OpenDecision, Chosen]]:
    """Replay the rest of a record from a match that stands at some choice of it, such as a fork."""
    rules = match.rules
    faulted = _faulted_lone(record)
    while not match.over:
        at = len(match.choices)
        _take_over_unasked(match, record)
        if _answer_what_follows(match, faulted):
            continue
        if at >= len(record.choices):
            raise RecordError(f"the record ends after {at} choices, and the match goes on")
        chosen = _choice_from_json(rules.words, at, record.choices[at])
        decision = match.decision(chosen.seat)
        if decision is None or chosen.option not in decision.options:
            raise RecordError(f"choice {at} of the record, {record.choices[at]!r:.200}, was not possible there")
        yield match, decision, chosen
        if TakenOver(at, chosen.seat, chosen.cause) in record.taken_over:
            match.take_over(chosen.seat, chosen.cause, "as recorded")
        elif chosen.cause is EndCause.NORMAL:
            match.answer(chosen.seat, decision.number, chosen.option)
        else:
            match.fault(chosen.seat, decision.number, chosen.cause, "as recorded")
        if match.choices[at] != chosen:
            raise RecordError(f"choice {at} of the record is not the safe option that was to be taken there")
        _void_as_recorded(match, record)


def _faulted_lone(record: Record) -> set[tuple[int, int]]:
    """List the faulted decisions with one option, by seat and number."""
    faulted = set()
    for choice in record.choices:
        is_lone = isinstance(choice, list) and len(choice) == LONE_CHOICE
        if is_lone and type(choice[0]) is int and type(choice[-1]) is int:
            faulted.add((choice[0], choice[-1]))
    return faulted


def _answer_what_follows(match: Match, faulted: set[tuple[int, int]]) -> bool:
    """Answer the open questions with one option, without those that were faulted.  Returns whether there were any."""
    has_answered = False
    for decision in match.decisions():
        if len(decision.options) == 1 and (decision.seat, decision.number) not in faulted:
            match.answer(decision.seat, decision.number, 0)
            has_answered = True
    return has_answered


def _begin(record: Record, rules: type[Game], knowledge: str | None = None) -> Match:
    """Set up the match before its first choice; a match voided before that is over.  Raises RecordError."""
    settings = rules.settings_under(record.rules, record.settings)
    if settings is None:
        raise RecordError(
            f"the record was made under version {record.rules} of the rules of {record.game}; "
            f"this is version {rules.words.version}, which plays such a match otherwise: "
            "replay it with the cutpurse release that wrote it"
        )
    try:
        match = Match(
            rules,
            record.seats,
            record.key,
            settings,
            log=True,
            conduct=record.conduct,
            ask_all=True,
            knowledge=knowledge,
        )
    except (CutpurseError, ValueError) as problem:
        raise RecordError(f"the record cannot begin: {problem}") from None
    _void_as_recorded(match, record)
    return match


def _take_over_unasked(match: Match, record: Record) -> None:
    """Take over the seats that, by the record, were taken over at this point while no decision of theirs was open."""
    for choices, seat, cause in record.taken_over:
        if choices == len(match.choices) and match.decision(seat) is None:
            match.take_over(seat, cause, "as recorded")


def _void_as_recorded(match: Match, record: Record) -> None:
    """Void the match if it has come to the place where, by its record, it was voided."""
    causes = record.result.get("end_causes")
    if len(match.choices) < len(record.choices) or not isinstance(causes, list):
        return
    _take_over_unasked(match, record)
    for cause in EndCause:
        if cause.is_void and cause.value in causes:
            match.void(cause)


def _choice_from_json(words: Words, at: int, choice: list[Any]) -> Chosen:
    try:
        seat, verb, fields, *fault = choice
        if not isinstance(seat, int) or not isinstance(fields, dict):
            raise TypeError("a choice is a seat, a verb and named fields")
        why = EndCause(fault[0]) if fault else EndCause.NORMAL
        if why.is_void:
            raise ValueError(f"{why.value} voids a match and takes no safe option")
        lone = fault[1] if len(fault) > 1 else None
        if len(fault) > 2 or not (lone is None or type(lone) is int):
            raise ValueError("behind a cause stands only the number of a decision")
        return Chosen(seat, _act_from_json(words, verb, fields), why, lone)
    except (ValueError, KeyError, TypeError) as problem:
        raise RecordError(f"choice {at} of the record, {choice!r:.200}, cannot be read: {problem}") from None


class Verified(NamedTuple):
    """A record that holds: its match, played again to the end, and what was checked, in plain words."""

    match: Match
    checked: list[str]


def verify(line: str, rules: type[Game]) -> list[str]:
    """Replay a record and compare everything; return what was checked, in plain words.  Raises RecordError."""
    return verified(line, rules).checked


def verified(line: str, rules: type[Game], visit: Visit | None = None, knowledge: str | None = None) -> Verified:
    """Verify a record, and return its match too.  Raises RecordError.

    `visit` is called before each choice of the replay, so what it saw holds only if nothing is raised. `knowledge` is
    that of `Match`.
    """
    record = read_record(line)
    checked = [f"the digest fits the {len(line.rstrip())} bytes of the record"]
    match: Match | None = None
    for match, decision, chosen in replay(record, rules, knowledge):
        if visit is not None:
            visit(match, decision, chosen)
    if match is None:
        match = _begin(record, rules)
    again = [_choice_to_json(rules.words, chosen) for chosen in match.choices]
    if again != list(record.choices):
        raise RecordError(f"the record has {len(record.choices)} choices, and the match is over after {len(again)}")
    checked.append(f"all {len(again)} choices were possible, and the others followed by the rules")
    if (result := _result_to_json(match.result())) != record.result:
        raise RecordError(f"the result is not {record.result} but {result}")
    if match.result().voided:
        checked.append(f"the match is void: {result['end_causes'][0]}")
    else:
        checked.append(f"the result is {result['scores']}, places {result['places']}")
    if (hashes := event_hashes(match.game)) != list(record.events):
        if len(hashes) != len(record.events):
            raise RecordError(f"the record has events of {len(record.events)} viewers, and there are {len(hashes)}")
        viewer = next(i for i, (digest, said) in enumerate(zip(hashes, record.events, strict=True)) if digest != said)
        raise RecordError(f"viewer {viewer} was not told what the record says")
    checked.append(f"every seat and the spectator were told the same {len(match.game.log or ())} events")
    is_current = record.rules == rules.words.version
    again_line = write_record(match) if is_current else _write(match, record.rules, record.settings)
    if line.rstrip("\r\n") != again_line:
        raise RecordError("the record is not in its canonical form")
    return Verified(match, checked)
