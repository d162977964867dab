"""What a league answers: from the leaderboard's readings, and what the running lobby knows, to ladder.proto's messages.

Here, and nowhere else, is who may see what. A ladder is there for a caller, or it is not; of one that is not, neither
name nor match, record, bot, number or place is told, and what is asked about it is answered as if it did not exist.
Every function waits for the database, so call it where nobody else has to wait. This module knows no stream, no event
loop and no command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Protocol

from google.protobuf.message import Message

from cutpurse.engine.errors import CutpurseError
from cutpurse.leaderboard import errors
from cutpurse.leaderboard.queries import LadderEntry, MatchEntry, SeatEntry
from cutpurse.leaderboard.queries import Ranking as RankingEntry
from cutpurse.leaderboard.ratings import Skill
from cutpurse.leaderboard.reader import Reader, Readings
from cutpurse.leaderboard.tokens import NOBODY
from cutpurse.sdk.errors import NotFound
from cutpurse.sdk.league import League, problem_of
from cutpurse.server.errors import Refused, legible
from cutpurse.server.results import Identity
from cutpurse.v1 import arena_pb2, game_pb2, ladder_pb2

__all__ = ["ANYTHING", "STRANGER", "Answers", "BotHere", "Caller", "MatchHere", "Presence", "local"]

MOST_NAMED: Final = 20  # ladders, in a refusal
MOST_NUMBER: Final = 2**63 - 1
MATCHES: Final = (50, 500)  # of a page: as usual, and the most


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks.  owner: None without a token."""

    owner: str | None
    scopes: frozenset[str]

    @property
    def is_admin(self) -> bool:
        """Whether nothing is hidden from him."""
        return "admin" in self.scopes

    def is_(self, owner: str) -> bool:
        """Whether he is this owner, or may see what is his."""
        return self.is_admin or self.owner == owner


STRANGER: Final = Caller(None, frozenset())
ANYTHING: Final = Caller(NOBODY, frozenset({"admin", "play", "read"}))  # who runs an open server, or has the file


class BotHere(Protocol):
    """A bot that is there, as the lobby tells of it."""

    @property
    def identity(self) -> Identity:
        """Who."""

    @property
    def tables(self) -> int:
        """At how many it sits."""

    @property
    def ladders(self) -> tuple[str, ...]:
        """Where it is to be paired."""


class MatchHere(Protocol):
    """A match that is being played, as the lobby tells of it."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def started(self) -> datetime:
        """When it began."""

    @property
    def seats(self) -> tuple[Identity, ...]:
        """Who sits where."""

    @property
    def requested_by(self) -> str:
        """Who asked for it."""


@dataclass(frozen=True, slots=True)
class Presence:
    """What the running lobby knows at a moment.  matches: by the name of the ladder."""

    bots: Sequence[BotHere] = ()
    matches: Sequence[tuple[str, MatchHere]] = ()

    def count(self, ladder: str) -> tuple[int, int]:
        """Bots that are there and matches that are played on a ladder."""
        return sum(ladder in bot.ladders for bot in self.bots), sum(name == ladder for name, _ in self.matches)


class Answers:
    """The answers of LadderService, for a caller.  Each raises Refused, and what the leaderboard raises."""

    def __init__(self, readings: Readings, utc: Callable[[], datetime]) -> None:
        self._readings = readings
        self._utc = utc

    # -- what is there
    def visible(self, caller: Caller) -> dict[str, LadderEntry]:
        """The ladders that are there for this caller, by name."""
        return {entry.name: entry for entry in self._readings.ladders() if may_see(caller, entry)}

    def ladder(self, name: str, caller: Caller) -> LadderEntry:
        """One that is there for this caller.  Raises Refused, which names those that are."""
        visible = self.visible(caller)
        if name in visible:
            return visible[name]
        names = sorted(visible)
        there = ", ".join(names[:MOST_NAMED]) + (", ..." if len(names) > MOST_NAMED else "")
        raise Refused("NOT_FOUND", f"no ladder is called '{legible(name, 40)}' here; there are: {there or 'none'}")

    # -- ladders
    def list_ladders(
        self, asked: ladder_pb2.ListLaddersRequest, caller: Caller, presence: Presence
    ) -> ladder_pb2.ListLaddersResponse:
        """The call ListLadders."""
        entries = [entry for entry in self.visible(caller).values() if asked.game in ("", entry.game)]
        return ladder_pb2.ListLaddersResponse(ladders=[self.shown(entry, presence) for entry in entries])

    def shown(self, entry: LadderEntry, presence: Presence) -> ladder_pb2.LadderShown:
        """A ladder as it is shown."""
        bots, tables = presence.count(entry.name)
        return ladder_pb2.LadderShown(
            defined=ladder_pb2.LadderDefined(
                name=entry.name,
                game=entry.game,
                settings=_settings(entry.settings),
                seats=entry.seats,
                clock=_clock(entry.clock),
            ),
            matches=entry.matches,
            bots=bots,
            tables=tables,
        )

    def list_rankings(
        self, asked: ladder_pb2.ListRankingsRequest, caller: Caller, presence: Presence
    ) -> ladder_pb2.ListRankingsResponse:
        """The call ListRankings."""
        entry = self.ladder(asked.ladder, caller)
        here = {bot.identity for bot in presence.bots if entry.name in bot.ladders}
        rankings = self._readings.rankings(entry.name, asked.every_version)
        return ladder_pb2.ListRankingsResponse(rankings=[_ranking(ranking, here) for ranking in rankings])

    # -- matches
    def list_matches(
        self, asked: ladder_pb2.ListMatchesRequest, caller: Caller, presence: Presence
    ) -> ladder_pb2.ListMatchesResponse:
        """The call ListMatches."""
        limit = _limit(asked.limit, MATCHES)
        entries = self._readings.matches(
            self.ladder(asked.ladder, caller).name if asked.ladder else None,
            limit=limit + 1,
            before=min(asked.before, MOST_NUMBER) or None,
        )
        more = entries[limit - 1].number if len(entries) > limit else 0
        return ladder_pb2.ListMatchesResponse(matches=map(match_shown, entries[:limit]), next=more)

    def get_match(
        self, asked: ladder_pb2.GetMatchRequest, caller: Caller, presence: Presence
    ) -> ladder_pb2.GetMatchResponse:
        """The call GetMatch."""
        entry = self.match(asked.match, caller)
        return ladder_pb2.GetMatchResponse(
            match=match_shown(entry),
            commitment=entry.deal.commitment,
            opening=arena_pb2.Opening(seed=entry.deal.seed, params=entry.deal.params),
        )

    def match(self, name: str, caller: Caller) -> MatchEntry:
        """A match that is there for this caller.  Raises Refused."""
        try:
            entry = self._readings.match(name)
        except errors.NotFound:
            raise _no_match(name) from None
        if entry.ladder not in self.visible(caller):
            raise _no_match(name)
        return entry


def may_see(caller: Caller, entry: LadderEntry) -> bool:
    """Whether a ladder is there for this caller."""
    return True


def match_shown(entry: MatchEntry) -> ladder_pb2.MatchShown:
    """A match as it is shown."""
    return ladder_pb2.MatchShown(
        number=entry.number,
        match=entry.match,
        board=entry.board,
        ladder=entry.ladder,
        game=entry.game,
        rules_version=entry.rules,
        settings=_settings(entry.settings),
        started_ms=_ms(entry.started),
        finished_ms=_ms(entry.finished),
        decisions=entry.decisions,
        void_cause=entry.void_cause or "",
        rated_number=entry.sequence or 0,
        seats=map(_seat, entry.seats),
    )


def _seat(seat: SeatEntry) -> ladder_pb2.MatchSeat:
    return ladder_pb2.MatchSeat(
        bot=_bot(seat.owner, seat.bot, seat.version),
        place=seat.place or 0,
        score=seat.score or 0,
        end_cause=_cause(seat.end_cause),
        faults=seat.faults,
        thinking_ms=seat.thinking_ms,
        before=_skill(seat.before),
        after=_skill(seat.after),
    )


def _ranking(entry: RankingEntry, here: set[Identity]) -> ladder_pb2.Ranking:
    return ladder_pb2.Ranking(
        place=entry.place,
        bot=_bot(entry.owner, entry.bot, entry.version),
        skill=_skill(entry.skill),
        low=entry.skill.mu - 1.96 * entry.skill.sigma,
        high=entry.skill.mu + 1.96 * entry.skill.sigma,
        matches=entry.matches,
        wins=entry.wins,
        faulted=entry.faulted,
        is_here=Identity(entry.owner, entry.bot, entry.version) in here,
    )


def _no_match(name: str) -> Refused:
    return Refused("NOT_FOUND", f"there is no match '{legible(name, 64)}' here that is over")


def _bot(owner: str, bot: str, version: str = "") -> ladder_pb2.BotName:
    return ladder_pb2.BotName(owner=owner, bot=bot, version=version)


def _skill(skill: Skill | None) -> ladder_pb2.SkillShown | None:
    return None if skill is None else ladder_pb2.SkillShown(mu=skill.mu, sigma=skill.sigma)


def _cause(cause: str) -> arena_pb2.EndCause.ValueType:
    return arena_pb2.EndCause.Value(f"END_CAUSE_{cause.upper()}")


def _settings(settings: Mapping[str, Any]) -> Iterable[game_pb2.Setting]:
    return [game_pb2.Setting(name=name, value=str(value)) for name, value in settings.items()]


def _clock(clock: Mapping[str, Any]) -> ladder_pb2.LadderClock:
    told = {field.name for field in ladder_pb2.LadderClock.DESCRIPTOR.fields}
    return ladder_pb2.LadderClock(**{name: value for name, value in clock.items() if name in told})


def _limit(asked: int, bounds: tuple[int, int]) -> int:
    usual, most = bounds
    return min(asked or usual, most)


def _ms(moment: datetime | None) -> int:
    return 0 if moment is None else int(moment.timestamp() * 1_000)


# -- a league in a file
@contextmanager
def local(path: Path) -> Iterator[League]:
    """The league of a database file, also while a server has it open; the entry point `db` of `cutpurse.leagues`.

    Whoever can read the file may see all of it. Raises NotFound if it is not there; its calls raise as those of a
    `League` do, and CutpurseError for what takes a running server.
    """
    if not path.is_file():
        raise NotFound(f"no database {path}: it does not exist")
    with _told(), Reader(path) as reader:
        answers = Answers(reader, lambda: datetime.now(UTC))
        calls: dict[str, Callable[[Any, Caller, Presence], Message]] = {
            "ListLadders": answers.list_ladders,
            "ListRankings": answers.list_rankings,
            "ListMatches": answers.list_matches,
            "GetMatch": answers.get_match,
        }

        def ask(name: str, request: Message) -> Any:
            if name not in calls:
                raise CutpurseError(f"{path} is a file: that takes a server that runs; ask it with --server")
            with _told():
                return calls[name](request, ANYTHING, Presence())

        yield League(ask)


@contextmanager
def _told() -> Iterator[None]:
    """What the leaderboard or this module does not take, as an error of the command line."""
    try:
        yield
    except Refused as refused:
        raise problem_of(refused.ending.reason, refused.ending.text) from None
    except errors.NotFound as problem:
        raise NotFound(str(problem)) from None
    except errors.LeaderboardError as problem:
        raise CutpurseError(str(problem)) from None
