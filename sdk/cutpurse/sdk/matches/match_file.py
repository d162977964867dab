"""Files of matches: the records of `play --record` and the match files of a server, and how to verify them.

A match file has a head for each match, followed by the record if there is one. `docs/reference/match_file.md`
lists the fields. The file alone is enough to verify it. The commitment to the deal is opened, the cards are dealt,
every decision is replayed, and the result is compared with the file. The report names what a file alone cannot prove.
This module reads no file and knows no server.
"""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, NamedTuple

from cutpurse.engine.commitment import NONCE_BYTES, board_key, chosen_board, commitment
from cutpurse.engine.documents import parse_json
from cutpurse.engine.errors import RecordError
from cutpurse.engine.match import EndCause, Match
from cutpurse.engine.record import Record, Verified, Visit, read_record, verified
from cutpurse.games import game_named
from cutpurse.wire.hidden_names import are_hidden, names_of

__all__ = [
    "SCHEMA",
    "SCHEMA_WITH_NONCES",
    "MatchFileCheck",
    "FiledMatch",
    "Head",
    "HeadSeat",
    "check",
    "read_head",
    "read_matches",
]

SCHEMA: Final = "match/1"
SCHEMA_WITH_NONCES: Final = "match/2"  # of a deal to which seats added nonces
_BEGINS: Final = '{"schema":"match/'  # a head of any schema
_DIGEST: Final = ',"digest":"'
_HOUSE: Final = "house"  # the owner of a server's house bots
_NOBODY: Final = "local"  # the owner of bots on servers that need no token
_HEX: Final = re.compile(r"(?:[0-9a-f]{2})*")
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
_VOID: Final = tuple(cause.value for cause in EndCause if cause.is_void)


@dataclass(frozen=True, slots=True)
class HeadSeat:
    """The bot in a seat and its result; place and score are None in a void match."""

    owner: str
    bot: str
    version: str
    place: int | None
    score: int | None
    end_cause: str
    faults: int
    thinking_ms: int
    memory: bytes | None = None  # SHA-256 of the memory folder that it began with; None if it had none

    @property
    def named(self) -> str:
        """The name sent to the bots of the match: "ann/sneak"; without the owner on servers that need no token."""
        return self.bot if self.owner == _NOBODY else f"{self.owner}/{self.bot}"

    @property
    def shown(self) -> str:
        """The name in records: "ann/sneak 1.0"."""
        return f"{self.named} {self.version}"


@dataclass(frozen=True, slots=True)
class Head:
    """The facts that a server stored about a match; `record` is the SHA-256 of the line that follows.

    `nonces` are those of the seats of `nonces_match`, the first match on the board; empty if no seat added one.
    """

    board: str
    commitment: bytes
    decisions: int
    finished: str
    game: str
    ladder: str
    match: str
    params: str
    rated_number: int | None
    reason: str
    record: str | None
    requested_by: str
    rules: str
    seats: tuple[HeadSeat, ...]
    seed: bytes
    settings: Mapping[str, str]
    started: str
    void_cause: str | None
    nonces: tuple[bytes, ...] = ()
    nonces_match: str = ""


@dataclass(frozen=True, slots=True)
class FiledMatch:
    """A match in a file: its head and the line of its record; either may be missing.

    Attributes:
        line: Line number of its beginning in the file, from 1.
    """

    line: int
    head: Head | None
    head_bytes: int
    text: str | None

    @property
    def is_imagined(self) -> bool:
        """Whether the match went on from an imagined position, so that it has no record."""
        return self.head is not None and "position" in _settled(self.head)

    def record(self) -> Record:
        """Parse the record.  Raises RecordError if it is missing or damaged."""
        if self.text is None:
            why = "it went on from an imagined position" if self.is_imagined else "the platform broke down in it"
            raise RecordError(f"this match has no record, so it cannot be shown: {why}")
        return read_record(self.text)


class MatchFileCheck(NamedTuple):
    """The checks that passed, and what the file alone cannot prove, in plain words."""

    game: str
    seats: tuple[str, ...]
    checked: list[str]
    not_checked: list[str]


# -- reading
def read_matches(content: bytes | Iterable[bytes]) -> Iterator[FiledMatch]:
    """Yield the matches of a file, in order.

    Args:
        content: All bytes, or the lines with their ends, as an open file yields them. With lines, at most one match is
            in memory.

    Raises:
        RecordError: If it is no file of matches; names the line.
    """
    lines = enumerate(_lines(io.BytesIO(content) if isinstance(content, bytes) else content), 1)
    is_empty = True
    for begins, line in lines:
        is_empty = False
        if not line.startswith(_BEGINS):
            yield FiledMatch(begins, None, 0, line)
            continue
        try:
            head = read_head(line)
        except RecordError as problem:
            raise RecordError(f"line {begins}: {problem}") from None
        record = None
        if head.record is not None:
            at, record = next(lines, (begins + 1, ""))
            if sha256(record.encode()).hexdigest() != head.record:
                raise RecordError(f"line {at}: this is not the record that the head of match {head.match} names")
        yield FiledMatch(begins, head, len(line), record)
    if is_empty:
        raise RecordError("it is empty: it holds no match")


def _lines(content: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines without their ends.  Raises RecordError for a line that is no text or ends with a bare CR."""
    for at, line in enumerate(content, 1):
        try:
            text = line.decode()
        except UnicodeDecodeError as problem:
            raise RecordError(f"line {at}: it cannot be read as a record: {problem}") from None
        if text.endswith("\r"):
            raise RecordError(f"line {at}: it ends with half a line end")
        yield text.removesuffix("\n").removesuffix("\r")


def read_head(line: str) -> Head:
    """Parse a head and check its digest.  Raises RecordError, which says what is wrong."""
    text, _, tail = line.rpartition(_DIGEST)
    if not text or not tail.endswith('"}'):
        raise RecordError("not a whole head of a match: such a line ends with its digest")
    if sha256(text.encode()).hexdigest() != tail[:-2]:
        raise RecordError("the head of the match was altered: its digest does not fit its bytes")
    try:
        body = parse_json(line)
        schema = body["schema"]
        if schema not in (SCHEMA, SCHEMA_WITH_NONCES):
            possible = f"{SCHEMA} and {SCHEMA_WITH_NONCES}"
            raise RecordError(f"the head has schema {schema!r:.100}; this version reads {possible}")
        head = _head(body)
        again = f'{{"schema":"{schema}",' + json.dumps(_plain(body), separators=(",", ":"), sort_keys=True)[1:-1]
    except (ValueError, KeyError, TypeError) as problem:
        raise RecordError(f"not a head of this form: {problem!r:.300}") from None
    if again != text:
        raise RecordError("the head of the match is not in its canonical form")
    return head


def _plain(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in ("schema", "digest")}


def _head(body: dict[str, Any]) -> Head:
    """Read the fields of a head.  Raises ValueError, KeyError or TypeError for another form."""
    names = {*Head.__dataclass_fields__, "schema", "digest"}
    if body["schema"] == SCHEMA:
        names -= {"nonces", "nonces_match"}
    if body.keys() != names:
        raise ValueError(f"its fields are not {', '.join(sorted(names))}")
    settings = body["settings"]
    if not isinstance(settings, dict) or not all(isinstance(value, str) for value in settings.values()):
        raise TypeError("settings are texts by name")
    return Head(
        board=_text(body, "board"),
        commitment=_bytes(body, "commitment"),
        decisions=_count(body, "decisions"),
        finished=_moment(body, "finished"),
        game=_text(body, "game"),
        ladder=_text(body, "ladder"),
        match=_text(body, "match"),
        params=_text(body, "params"),
        rated_number=None if body["rated_number"] is None else _count(body, "rated_number"),
        reason=_text(body, "reason"),
        record=None if body["record"] is None else _bytes(body, "record").hex(),
        requested_by=_text(body, "requested_by"),
        rules=_text(body, "rules"),
        seats=tuple([_seat(seat) for seat in body["seats"]]),
        seed=_bytes(body, "seed"),
        settings=settings,
        started=_moment(body, "started"),
        void_cause=None if body["void_cause"] is None else _text(body, "void_cause"),
        nonces=tuple([_nonce(nonce) for nonce in body.get("nonces", ())]),
        nonces_match=_text(body, "nonces_match") if "nonces_match" in body else "",
    )


def _nonce(nonce: object) -> bytes:
    if not isinstance(nonce, str) or not _HEX.fullmatch(nonce) or len(nonce) not in (0, 2 * NONCE_BYTES):
        raise ValueError(f"a nonce is {NONCE_BYTES} bytes as hex, or empty")
    return bytes.fromhex(nonce)


def _seat(seat: dict[str, Any]) -> HeadSeat:
    if seat.keys() | {"memory"} != HeadSeat.__dataclass_fields__.keys():
        raise ValueError(f"the fields of a seat are not {', '.join(HeadSeat.__dataclass_fields__)}")
    return HeadSeat(
        owner=_text(seat, "owner"),
        bot=_text(seat, "bot"),
        version=_text(seat, "version"),
        place=None if seat["place"] is None else _count(seat, "place"),
        score=None if seat["score"] is None else _number(seat, "score"),
        end_cause=EndCause(seat["end_cause"]).value,
        faults=_count(seat, "faults"),
        thinking_ms=_count(seat, "thinking_ms"),
        memory=_bytes(seat, "memory") if "memory" in seat else None,
    )


def _text(body: dict[str, Any], name: str) -> str:
    if not isinstance(body[name], str):
        raise TypeError(f"{name} is no text")
    body[name].encode()  # raises for half a surrogate pair
    return str(body[name])


def _number(body: dict[str, Any], name: str) -> int:
    if type(body[name]) is not int:
        raise TypeError(f"{name} is no whole number")
    return int(body[name])


def _count(body: dict[str, Any], name: str) -> int:
    if _number(body, name) < 0:
        raise ValueError(f"{name} is less than 0")
    return int(body[name])


def _bytes(body: dict[str, Any], name: str) -> bytes:
    if not _HEX.fullmatch(_text(body, name)) or len(body[name]) != 64:
        raise ValueError(f"{name} is not 32 bytes as hex")
    return bytes.fromhex(body[name])


def _moment(body: dict[str, Any], name: str) -> str:
    if not _MOMENT.fullmatch(_text(body, name)):
        raise ValueError(f"{name} is no moment like 2026-11-21T19:30:00.000000Z")
    return str(body[name])


# -- checking
def check(filed: FiledMatch, visit: Visit | None = None, knowledge: str | None = None) -> MatchFileCheck:
    """Replay a match and compare it with all that the file says.

    Args:
        filed: The match.
        visit: Called before each choice of the replay; what it saw holds only if nothing is raised.
        knowledge: Level at which seats know hidden cards in the replay, as in `Match`.

    Raises:
        RecordError: If the file disagrees with itself or the replay.
        UnknownGame: If the game is not installed.
    """
    head = filed.head
    if head is None:
        record = filed.record()
        again = verified(filed.text or "", game_named(record.game), visit, knowledge)
        return MatchFileCheck(record.game, record.seats, again.checked, [])
    checked = [f"the digest fits the {filed.head_bytes} bytes of the head"]
    seats = tuple([seat.shown for seat in head.seats])
    _check_the_deal(head, checked)
    _check_the_head(head)
    if filed.text is None:
        checked += _imagined_lines(head) if head.void_cause is None else _void_lines(head)
    else:
        checked += _against_the_record(head, filed.text, visit, knowledge)
    return MatchFileCheck(head.game, seats, checked, _not_checked(head))


def _check_the_deal(head: Head, checked: list[str]) -> None:
    """Check that the commitment fits its opening, and is about this match.  Raises RecordError."""
    if commitment(head.seed, head.params.encode()) != head.commitment:
        raise RecordError("the deal is not the promised one: the commitment does not fit the seed that was opened")
    checked.append("the deal was fixed before the match: the commitment fits the seed that was opened")
    seats = [{"owner": seat.owner, "bot": seat.bot, "version": seat.version} for seat in head.seats]
    expected = {
        "board": head.board,
        "game": head.game,
        "rules": head.rules,
        "seats": seats,
        "settings": head.settings,
    }
    is_chosen = is_hidden = False
    tables = {head.match: seats}
    try:
        settled = _settled(head)
        kind = str(settled.get("boards", ""))
        if kind:  # the same cards in several matches, or again
            tables = _checked_tables(kind, settled["tables"])
            settled["seats"] = tables[head.match]
        if is_hidden := are_hidden(settled["seats"]):
            names = names_of(settled["seats"], seats)
            tables = {match: [names.get(seat["bot"], seat) for seat in seated] for match, seated in tables.items()}
            tables[head.match] = settled["seats"] = seats
        # The requester of a match may choose its seed, to get the same cards again. The board follows from the seed,
        # so another match may have it too. The store therefore saves each such match under a board of its own.
        is_chosen = bool(head.requested_by) and settled["board"] == chosen_board(head.seed)
        if is_chosen:
            expected["board"] = settled["board"]
        said = {name: settled[name] for name in expected}
    except (ValueError, LookupError, TypeError, AttributeError):
        raise RecordError("what was settled before the deal (params) cannot be read") from None
    for name, value in expected.items():
        if said[name] != value:
            text = f"what was settled before the deal has other {name} than the head: {said[name]!r:.200}"
            raise RecordError(text)
    settled_seats = "" if is_hidden else "seats and "
    checked.append(f"what was settled before the deal names this board, game, rules version, {settled_seats}settings")
    if is_hidden:
        checked.append("the names of the bots were hidden then: who sat where is the server's word alone")
    if kind:
        others = len(settled["tables"]) - 1
        checked.append(f"it is a board of kind {kind}: who sat in the other matches of it, {others}, was settled too")
    if is_chosen:
        checked.append("the seed was chosen by who asked for the match: the board follows from it")
    if head.nonces_match:
        checked.append(_checked_nonces(head, tables, is_chosen))


def _checked_nonces(head: Head, tables: Mapping[str, list[dict[str, str]]], is_chosen: bool) -> str:
    """Check that the nonces are those of a match on the board, and describe them.  Raises RecordError."""
    seats = tables.get(head.nonces_match)
    if seats is None:
        raise RecordError(f"the nonces are those of match {head.nonces_match:.100}, which is not on this board")
    if len(seats) != len(head.nonces):
        raise RecordError(f"the deal has {len(head.nonces)} nonces, and match {head.nonces_match} {len(seats)} seats")
    if not any(head.nonces):
        raise RecordError("the deal is said to have nonces, and each of them is empty")
    if is_chosen or "position" in _settled(head):
        raise RecordError("the deal has nonces, and the seed or a position was chosen: such a deal has none")
    if any(nonce for nonce, seat in zip(head.nonces, seats, strict=True) if seat["owner"] == _HOUSE):
        raise RecordError("the deal has a nonce of a house bot, which the server itself runs: such bots add none")
    given = [f"seat {number}" for number, nonce in enumerate(head.nonces) if nonce]
    of = "" if head.nonces_match == head.match else f" of match {head.nonces_match}, the first on the board"
    return f"after the commitment, these added a nonce to the deal: {', '.join(given)}{of}"


def _checked_tables(kind: str, tables: list[dict[str, Any]]) -> dict[str, list[dict[str, str]]]:
    """Return the bots in the seats of each match of a board.

    Raises RecordError for an invalid board, and KeyError, TypeError or ValueError for another form.
    """
    by_match = {str(table["match"]): list(table["seats"]) for table in tables}
    bots = [[(seat["owner"], seat["bot"], seat["version"]) for seat in seats] for seats in by_match.values()]
    if kind == "rotation":
        players = set(bots[0])
        by_seat = list(zip(*bots, strict=True))
        if len(bots) != len(players) or any(set(seats) != players for seats in (*bots, *by_seat)):
            raise RecordError("the board is said to be a rotation, and not everybody had every seat once")
    elif kind == "duplicate":
        everybody = [bot for seats in bots for bot in seats]
        sides = [bot[:2] if bot[0] in ("", _NOBODY, _HOUSE) else bot[:1] for bot in everybody]
        if len(bots) < 2 or len(bots) != len(tables) or len(set(sides)) < len(sides):
            raise RecordError("the board is said to be a duplicate, and somebody sat at two of its tables")
    elif kind == "test":
        if len(bots) != 2 or sum(mine != theirs for mine, theirs in zip(*bots, strict=True)) != 1:
            raise RecordError("the board is said to be of a test, and its two matches do not differ in one seat")
    else:
        raise RecordError(f"there are no boards of kind {kind!r:.100}")
    return by_match


def _check_the_head(head: Head) -> None:
    """Check that the head is consistent about the end of the match.  Raises RecordError."""
    is_void = head.void_cause is not None
    if is_void and head.void_cause not in _VOID:
        raise RecordError(f"a match is void for {' or '.join(_VOID)}, not for {head.void_cause!r:.100}")
    for number, seat in enumerate(head.seats):
        if is_void and (seat.place, seat.score, seat.end_cause) != (None, None, head.void_cause):
            raise RecordError(f"the match is void, and seat {number} has a result")
        if not is_void and (seat.place is None or seat.score is None or seat.end_cause in _VOID):
            raise RecordError(f"the match counts, and seat {number} has no result")
    if head.rated_number is not None and (is_void or head.requested_by):
        raise RecordError(f"the match {'is void' if is_void else 'was asked for'}, and is said to be rated")
    if head.rated_number == 0:
        raise RecordError("rated matches are numbered from 1")
    is_imagined = "position" in _settled(head)
    if is_imagined and (not head.requested_by or head.record is not None):
        raise RecordError("the match went on from an imagined position: it was asked for, and has no record")
    if not is_void and head.record is None and not is_imagined:
        raise RecordError("the match counts, and has no record to show how it was played")


def _settled(head: Head) -> dict[str, Any]:
    """Return what was settled before the deal; nothing if it cannot be read."""
    try:
        settled = parse_json(head.params)
    except ValueError:
        return {}
    return settled if isinstance(settled, dict) else {}


def _imagined_lines(head: Head) -> list[str]:
    position = _settled(head)["position"]
    return [
        f"the match went on from an imagined position ({json.dumps(position, sort_keys=True):.200}), and was not rated",
        "there is no record of it: what was played cannot be shown",
    ]


def _void_lines(head: Head) -> list[str]:
    return [
        f"the match is void: {head.void_cause}; it has no places and no scores, and was not rated",
        "there is no record of it: what was played cannot be shown",
    ]


def _against_the_record(head: Head, text: str, visit: Visit | None, knowledge: str | None) -> list[str]:
    """Verify the record, and that the head agrees with it.  Raises RecordError."""
    record = read_record(text)
    for name, said, expected in (
        ("game", record.game, head.game),
        ("rules version", record.rules, head.rules),
        ("settings", record.settings, dict(head.settings)),
        ("seats", record.seats, tuple([seat.shown for seat in head.seats])),
    ):
        if said != expected:
            raise RecordError(f"the record has other {name} than the head: {said!r:.200}, not {expected!r:.200}")
    if record.key != board_key(head.seed, head.params.encode(), head.nonces):
        what = "seed that was promised and the nonces" if head.nonces else "seed that was promised"
        raise RecordError(f"the cards of the record were not dealt from the {what}")
    played: Verified = verified(text, game_named(record.game), visit, knowledge)
    source = "that seed and the nonces" if head.nonces else "that seed"
    follows = "them" if head.nonces else "it"
    checked = [
        f"the cards were dealt from {source}: the record has the key that follows from {follows}",
        *played.checked,
    ]
    _compare_the_end(head, played.match)
    if head.void_cause is not None and not played.match.result().voided:
        checked.append(f"the match was played to its end, and then made void: {head.void_cause}")
    what = "faults" if head.void_cause is not None else "places, scores, end causes and faults"
    checked.append(f"number of decisions, {what} of the head are those of the match played again")
    return checked


def _compare_the_end(head: Head, match: Match) -> None:
    """Compare the head with the replayed match.  Raises RecordError for a difference."""
    result = match.result()
    faults = Counter(fault.seat for fault in match.faults)
    comparisons: list[tuple[str, object, object]] = [("decisions", head.decisions, len(match.choices))]
    comparisons += [(f"faults of seat {s}", seat.faults, faults[s]) for s, seat in enumerate(head.seats)]
    if head.void_cause is None:
        if result.voided:
            raise RecordError("the match counts by its head, and by its record it is void")
        for s, seat in enumerate(head.seats):
            comparisons.append((f"place of seat {s}", seat.place, result.places[s]))
            comparisons.append((f"score of seat {s}", seat.score, result.scores[s]))
            comparisons.append((f"end cause of seat {s}", seat.end_cause, result.end_causes[s].value))
    elif result.voided and result.end_causes[0].value != head.void_cause:
        comparisons.append(("void cause", head.void_cause, result.end_causes[0].value))
    for what, said, expected in comparisons:
        if said != expected:
            raise RecordError(f"by the head, {what} is {said}; by the match played again it is {expected}")


def _not_checked(head: Head) -> list[str]:
    """Describe what no file can prove."""
    publication = (
        f"that this commitment was published before the match: {head.commitment.hex()}; "
        "compare it with the one that a bot in this match received: see `cutpurse bot run --json`"
    )
    word = (
        "the server's word alone: the names of match and ladder, the rated number, who asked for the match and why, "
        "the times, how long seats thought"
    )
    nonces = "that the server did not choose among seeds before it published this commitment: no seat added a nonce"
    if head.nonces_match:
        nonces = "that bots sent these nonces, and no others: a bot knows its own; see `cutpurse bot run --json`"
    memories = [
        f"that seat {number} began with a memory, SHA-256 {seat.memory.hex()}: only its owner and the server know it"
        for number, seat in enumerate(head.seats)
        if seat.memory is not None
    ]
    return [publication, nonces, word, *memories]
