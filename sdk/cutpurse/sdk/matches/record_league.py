"""The league of a file of matches, so that what shows a server's league shows local matches too.

Every game of the file has a ladder of its own, unless the head of a match names another. Nothing is rated: the order of
a ladder is that of the mean place. The file is read once, and only results stay in memory. Deals are not checked here;
a replay checks its record.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Final

from cutpurse.engine.errors import CutpurseError, RecordError, UsageError
from cutpurse.engine.record import Record
from cutpurse.sdk.matches.match_file import FiledMatch, Head, read_matches
from cutpurse.v1 import arena_pb2, game_pb2, ladder_pb2
from cutpurse.wire.client_table import NOBODY
from cutpurse.wire.errors import NotFound
from cutpurse.wire.league import League

__all__ = ["MOST_MATCHES", "answer_about", "record_league"]

MOST_MATCHES: Final = 100_000
PAGE: Final = 50  # matches of an answer, unless the request names a number
LEAST_ID: Final = 8  # characters of a match's ID that are enough to find it
FORM: Final = 10  # newest places of a bot in the rankings
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Stored:
    """A match of the file: the answer about it, and where its lines are."""

    answer: ladder_pb2.GetMatchResponse
    start: int  # offsets in the file, in bytes
    end: int


@dataclass(slots=True)
class _Results:
    """The results of a bot on a ladder."""

    places: list[int] = field(default_factory=list)  # in the order of the file
    faulted: int = 0
    met: dict[tuple[str, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))


def record_league(path: str | os.PathLike[str]) -> League:
    """Read the matches of a file, and return the league that they make.

    Args:
        path: A file of `play --record`, or match files of a server.

    Raises:
        NotFound: If there is no such file.
        UsageError: If it is no file of matches, or has more than MOST_MATCHES.
    """
    file = Path(path)
    try:
        with file.open("rb") as lines:
            matches = list(_stored_matches(lines))
    except FileNotFoundError:
        raise NotFound(f"no file {file}: it does not exist") from None
    except OSError as problem:
        raise UsageError(f"{file} cannot be read: {problem.strerror}") from None
    except RecordError as problem:
        raise UsageError(f"{file} is no file of matches, as `cutpurse play --record` writes one: {problem}") from None
    return League(_Answers(file, matches).answer)


# -- reading
def _stored_matches(file: BinaryIO) -> Iterator[_Stored]:
    starts = [0]  # offset of each line, and the end of the last one

    def lines() -> Iterator[bytes]:
        for line in file:
            starts.append(starts[-1] + len(line))
            yield line

    for number, filed in enumerate(read_matches(lines()), 1):
        if number > MOST_MATCHES:
            raise UsageError(f"{file.name} has more than {MOST_MATCHES:,} matches; show a part of it: head -n")
        length = 1 + (filed.head is not None and filed.text is not None)
        begins = filed.line - 1
        yield _Stored(answer_about(number, filed), starts[begins], starts[begins + length])


def answer_about(number: int, filed: FiledMatch) -> ladder_pb2.GetMatchResponse:
    """Return what a file says of its match with this number, counted from 1.  Raises RecordError if it is damaged."""
    record = None if filed.text is None else filed.record()
    if filed.head is not None:
        match = _match_of_head(filed.head)
    else:
        assert record is not None  # one of the two is there
        assert filed.text is not None
        match = _match_of_record(record, sha256(filed.text.encode()).hexdigest()[:32])
    match.number = number
    courses = [ladder_pb2.SeatCourse() for _ in match.seats] if record is None else _courses(record)
    for seat, course in zip(match.seats, courses, strict=True):
        seat.faults = seat.faults or len(course.faults)
    answer = ladder_pb2.GetMatchResponse(match=match, courses=courses, has_record=record is not None)
    if filed.head is not None:
        answer.commitment = filed.head.commitment
        answer.opening.seed = filed.head.seed
        answer.opening.params = filed.head.params.encode()
        answer.opening.nonces[:] = filed.head.nonces
        answer.opening.nonces_match = filed.head.nonces_match
    return answer


def _match_of_head(head: Head) -> ladder_pb2.MatchShown:
    return ladder_pb2.MatchShown(
        match=head.match,
        board=head.board,
        ladder=head.ladder,
        game=head.game,
        rules_version=head.rules,
        settings=_settings(head.settings.items()),
        started_ms=_milliseconds(head.started),
        finished_ms=_milliseconds(head.finished),
        decisions=head.decisions,
        void_cause=head.void_cause or "",
        requested_by=head.requested_by,
        reason=head.reason,
        seats=[
            ladder_pb2.MatchSeat(
                bot=ladder_pb2.BotName(owner=seat.owner, bot=seat.bot, version=seat.version),
                place=seat.place or 0,
                score=seat.score or 0,
                end_cause=_cause(seat.end_cause),
                faults=seat.faults,
                thinking_ms=seat.thinking_ms,
            )
            for seat in head.seats
        ],
    )


def _match_of_record(record: Record, match: str) -> ladder_pb2.MatchShown:
    causes = record.result["end_causes"]
    void = next((cause for cause in causes if cause.startswith("void")), "")
    known = len(causes) if not void else 0
    return ladder_pb2.MatchShown(
        match=match,
        ladder=record.game,
        game=record.game,
        rules_version=record.rules,
        settings=_settings(record.settings.items()),
        decisions=len(record.choices),
        void_cause=void,
        seats=[
            ladder_pb2.MatchSeat(
                bot=ladder_pb2.BotName(owner=NOBODY, bot=name),
                place=record.result["places"][seat] if known else 0,
                score=record.result["scores"][seat] if known else 0,
                end_cause=_cause(causes[seat]),
            )
            for seat, name in enumerate(record.seats)
        ],
    )


def _courses(record: Record) -> list[ladder_pb2.SeatCourse]:
    """Return the faults of each seat. A record has no thinking times."""
    courses = [ladder_pb2.SeatCourse() for _ in record.seats]
    decisions = Counter[int]()
    for at, (seat, _verb, _fields, *rest) in enumerate(record.choices):
        decisions[seat] += 1
        if rest and isinstance(rest[0], str):
            courses[seat].faults.add(decision=decisions[seat], at=at, cause=_cause(rest[0]))
    return courses


def _settings(items: Iterable[tuple[str, str]]) -> list[game_pb2.Setting]:
    return [game_pb2.Setting(name=name, value=str(value)) for name, value in items]


def _milliseconds(text: str) -> int:
    return (datetime.fromisoformat(text) - _EPOCH) // timedelta(milliseconds=1)


def _cause(cause: str) -> arena_pb2.EndCause.ValueType:
    try:
        return arena_pb2.EndCause.Value(f"END_CAUSE_{cause.upper()}")
    except ValueError:
        raise RecordError(f"unknown end of a seat: {cause!r:.40}") from None


# -- answers
class _Answers:
    """What the file answers to the calls of a league."""

    def __init__(self, file: Path, matches: Sequence[_Stored]) -> None:
        self._file = file
        self._matches = matches
        self._by_id = {stored.answer.match.match: stored for stored in matches}
        self._results: dict[str, dict[tuple[str, str], _Results]] = defaultdict(lambda: defaultdict(_Results))
        self._ladders: dict[str, ladder_pb2.LadderShown] = {}
        for stored in matches:
            self._count(stored.answer.match)

    def answer(self, name: str, request: Any) -> Any:
        """Answer a call of `League`.

        Raises:
            NotFound: If there is no such match.
            CutpurseError: If the call needs a server.
        """
        match name:
            case "ListLadders":
                ladders = [ladder for ladder in self._ladders.values() if request.game in ("", ladder.defined.game)]
                return ladder_pb2.ListLaddersResponse(ladders=sorted(ladders, key=lambda ladder: ladder.defined.name))
            case "ListRankings":
                return self._rankings(request)
            case "ListHistory":
                return ladder_pb2.ListHistoryResponse()
            case "ListOpponents":
                return self._opponents(request)
            case "ListMatches":
                return self._listed(request)
            case "ListOpenMatches":
                return ladder_pb2.ListOpenMatchesResponse()
            case "ListBots":
                return self._bots(request)
            case "GetMatch":
                return self._find(request.match).answer
            case "GetRecord":
                return iter([ladder_pb2.GetRecordResponse(piece=self._lines(self._find(request.match)))])
        raise CutpurseError(f"{self._file} is a file of matches: that takes a server that runs")

    def _count(self, match: ladder_pb2.MatchShown) -> None:
        """Add a match to its ladder and to the results of its bots."""
        ladder = self._ladders.setdefault(
            match.ladder,
            ladder_pb2.LadderShown(
                defined=ladder_pb2.LadderDefined(
                    name=match.ladder, game=match.game, seats=len(match.seats), boards=ladder_pb2.BOARD_KIND_PLAIN
                )
            ),
        )
        if match.void_cause:
            return
        ladder.matches += 1
        results = self._results[match.ladder]
        for seat, seat_taken in enumerate(match.seats):
            mine = results[_key(seat_taken.bot)]
            mine.places.append(seat_taken.place)
            mine.faulted += seat_taken.faults > 0
            for other_seat, other in enumerate(match.seats):
                if other_seat != seat and _key(other.bot) != _key(seat_taken.bot):
                    met = mine.met[_key(other.bot)]
                    met["matches"] += 1
                    met["ahead"] += seat_taken.place < other.place
                    met["level"] += seat_taken.place == other.place
        ladder.bots = len(results)

    def _rankings(self, request: ladder_pb2.ListRankingsRequest) -> ladder_pb2.ListRankingsResponse:
        by_bot = self._results.get(request.ladder, {})
        ordered = sorted(by_bot.items(), key=lambda item: (sum(item[1].places) / len(item[1].places), item[0]))
        rankings = [
            ladder_pb2.Ranking(
                place=place,
                bot=ladder_pb2.BotName(owner=owner, bot=bot),
                matches=len(results.places),
                wins=results.places.count(1),
                faulted=results.faulted,
                form=results.places[: -FORM - 1 : -1],
            )
            for place, ((owner, bot), results) in enumerate(ordered, 1)
        ]
        begin, limit = request.after, request.limit or len(rankings)
        page = rankings[begin : begin + limit]
        more = begin + len(page) < len(rankings)
        return ladder_pb2.ListRankingsResponse(rankings=page, next=begin + len(page) if more else 0)

    def _opponents(self, request: ladder_pb2.ListOpponentsRequest) -> ladder_pb2.ListOpponentsResponse:
        met = self._results.get(request.ladder, {}).get(_key(request.bot), _Results()).met
        return ladder_pb2.ListOpponentsResponse(
            opponents=[
                ladder_pb2.Opponent(
                    bot=ladder_pb2.BotName(owner=owner, bot=bot),
                    matches=counts["matches"],
                    ahead=counts["ahead"],
                    level=counts["level"],
                )
                for (owner, bot), counts in sorted(met.items(), key=lambda item: (-item[1]["matches"], item[0]))
            ]
        )

    def _listed(self, request: ladder_pb2.ListMatchesRequest) -> ladder_pb2.ListMatchesResponse:
        bots = {_key(bot) for bot in request.bots}
        limit = request.limit or PAGE
        page: list[ladder_pb2.MatchShown] = []
        for stored in reversed(self._matches[: request.before - 1 if request.before else None]):
            match = stored.answer.match
            if (
                request.ladder in ("", match.ladder)
                and bots.issubset(_key(seat.bot) for seat in match.seats)
                and (not request.faulted or any(seat.faults for seat in match.seats))
                and match.finished_ms >= request.since_ms
                and (not request.until_ms or match.finished_ms < request.until_ms)
            ):
                if len(page) == limit:
                    return ladder_pb2.ListMatchesResponse(matches=page, next=page[-1].number)
                page.append(match)
        return ladder_pb2.ListMatchesResponse(matches=page)

    def _bots(self, request: ladder_pb2.ListBotsRequest) -> ladder_pb2.ListBotsResponse:
        ladders = defaultdict[tuple[str, str], list[str]](list)
        for ladder, results in sorted(self._results.items()):
            for bot in results:
                ladders[bot].append(ladder)
        return ladder_pb2.ListBotsResponse(
            bots=[
                ladder_pb2.BotShown(bot=ladder_pb2.BotName(owner=owner, bot=bot), ladders=names)
                for (owner, bot), names in sorted(ladders.items())
                if request.owner in ("", owner) and (not request.ladder or request.ladder in names)
            ]
        )

    def _find(self, name: str) -> _Stored:
        exact = self._by_id.get(name)
        alike = [stored for match, stored in self._by_id.items() if len(name) >= LEAST_ID and match.startswith(name)]
        fitting = [exact] if exact is not None else alike
        if len(fitting) != 1:
            raise NotFound(f"there is no match {name!r:.80} in {self._file}")
        return fitting[0]

    def _lines(self, stored: _Stored) -> bytes:
        try:
            with self._file.open("rb") as file:
                file.seek(stored.start)
                return file.read(stored.end - stored.start)
        except OSError as problem:
            raise CutpurseError(f"{self._file} cannot be read any more: {problem.strerror}") from None


def _key(bot: ladder_pb2.BotName) -> tuple[str, str]:
    return bot.owner or NOBODY, bot.bot
