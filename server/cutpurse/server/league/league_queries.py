"""What a league answers whom: from the leaderboard's readings, and what the running lobby knows.

Here, and nowhere else, is who may see what. A ladder is there for a caller, or it is not; of one that is not, neither
name nor match, record, bot, number or place is told, and what is asked about it is answered as if it did not exist. A
bot is there for its owner, and for whoever may see a ladder where it was rated or is now. Notes, what a bot said of a
fault, and why it is paused are for its owner and whoever runs the server.

Every answer waits for the database, so it is to be called where nobody else has to wait. This module knows no stream,
no event loop and no command.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import takewhile
from typing import Final

from cutpurse.engine.errors import did_you_mean
from cutpurse.leaderboard import errors
from cutpurse.leaderboard.match_file_writer import match_file
from cutpurse.leaderboard.queries import BotEntry, LadderEntry, MatchEntry
from cutpurse.leaderboard.queries.matches import SHORTEST
from cutpurse.leaderboard.reader import Readings
from cutpurse.leaderboard.results import LadderTerms
from cutpurse.leaderboard.tokens import HOUSE, NOBODY
from cutpurse.server.errors import CallRefused, legible
from cutpurse.server.finished_match import Identity
from cutpurse.server.league.messages import (
    bot_name,
    course_shown,
    ladder_shown,
    match_shown,
    milliseconds,
    notes_kept,
    opponent_shown,
    ranking_shown,
    rating_point_shown,
    step_shown,
)
from cutpurse.server.league.presence import LiveMatchView, Presence
from cutpurse.v1 import arena_pb2, ladder_pb2

__all__ = ["ANYTHING", "STRANGER", "Answers", "Caller", "may_see"]

MOST_NAMED: Final = 20  # ladders or bots, in a refusal
MOST_NUMBER: Final = 2**63 - 1
LOG_BYTES: Final = 2 * 1024 * 1024  # of one answer, the last log whole; a client of gRPC takes 4 MiB as it comes
HISTORY: Final = (100, 1_000)  # steps of a page: as usual, and the most
MATCHES: Final = (50, 500)
RANKINGS: Final = (1_000, 1_000)  # a client that knows no pages gets what fits on one
MOST_CHOSEN: Final = 64  # bots for a match; no game has so many seats
LOGS: Final = (10, 100)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks.  owner: None without a token."""

    owner: str | None
    scopes: frozenset[str]

    @property
    def is_admin(self) -> bool:
        """Whether nothing is hidden from him."""
        return "admin" in self.scopes

    def answers_for(self, owner: str) -> bool:
        """Whether what is this owner's alone is his to see."""
        return self.is_admin or self.owner == owner

    def owner_of(self, bot: ladder_pb2.BotName) -> str:
        """Whose bot is meant: his own unless another is named."""
        return bot.owner or self.owner or NOBODY


STRANGER: Final = Caller(None, frozenset())
ANYTHING: Final = Caller(NOBODY, frozenset({"admin", "play", "read"}))  # who has the file itself


def may_see(caller: Caller, terms: LadderTerms) -> bool:
    """Whether a ladder with these terms is there for this caller."""
    if not terms.is_private or caller.is_admin:
        return True
    return caller.owner is not None and "read" in caller.scopes and (not terms.owners or caller.owner in terms.owners)


class Answers:
    """The answers of LadderService, for a caller.  Each raises Refused, and StoreError for a database in trouble."""

    def __init__(self, readings: Readings, utc: Callable[[], datetime]) -> None:
        self._readings = readings
        self._utc = utc

    # -- what is there for whom
    def visible(self, caller: Caller) -> dict[str, LadderEntry]:
        """Return the ladders that this caller can see, by name."""
        return self._visible(caller)[0]

    def _visible(self, caller: Caller) -> tuple[dict[str, LadderEntry], bool]:
        """Return the ladders that this caller can see, and whether they are all."""
        entries = self._readings.ladders()
        visible = {entry.name: entry for entry in entries if may_see(caller, entry.terms)}
        return visible, len(visible) == len(entries)

    def ladder(self, name: str, caller: Caller) -> LadderEntry:
        """One that is there for this caller.  Raises CallRefused, which names those that are."""
        return _ladder_of(self.visible(caller), name)

    def match(self, name: str, caller: Caller) -> MatchEntry:
        """Return a finished match that this caller can see, by its name or first characters.  Raises CallRefused.

        One of a board on which others are still played is told to nobody: it would open their cards. What begins so on
        ladders that he may not see is as if it were not there.
        """
        visible, sees_all = self._visible(caller)
        try:
            entry = self._readings.match(name, None if sees_all else visible)
        except errors.NoSuchEntry:
            raise _no_match(name) from None
        except errors.InvalidEntry as problem:
            raise CallRefused("BAD_MESSAGE", legible(str(problem), 1_500)) from None
        if entry.ladder not in visible:
            raise _no_match(name)
        if entry.is_sealed:
            text = f"match {entry.match} is over, and others with the same cards are not: it is told once they are"
            raise CallRefused("NOT_FOUND", text)
        return entry

    def bots(self, caller: Caller, presence: Presence, owner: str | None = None) -> list[ladder_pb2.BotShown]:
        """List the online versions that this caller can see, of an owner or of all."""
        visible = self.visible(caller)
        on: dict[Identity, set[str]] = {
            bot.identity: {name for name in bot.ladders if name in visible} for bot in presence.bots
        }
        tables = Counter(seat for match in presence.matches if match.ladder.name in visible for seat in match.seats)
        known = [(Identity(entry.owner, entry.bot, entry.version), entry) for entry in self._readings.bots(owner)]
        new = sorted(set(on) - {identity for identity, _ in known})
        shown = []
        for identity, entry in [*known, *((one, None) for one in new if owner in (None, one.owner))]:
            rated = {name for name in entry.ladders if name in visible} if entry is not None else set()
            here = on.get(identity, set())
            if rated or here or caller.answers_for(identity.owner):
                shown.append(
                    _bot_shown(
                        identity,
                        entry,
                        ladders=sorted(rated | here),
                        is_here=bool(here) or (identity in on and caller.answers_for(identity.owner)),
                        tables=tables[identity],
                        is_told_why=caller.answers_for(identity.owner),
                    )
                )
        return sorted(shown, key=lambda bot: (bot.bot.owner, bot.bot.bot))

    def bot(self, identity: Identity, caller: Caller, presence: Presence) -> ladder_pb2.BotShown:
        """One that is there for this caller."""
        (found,) = [
            bot
            for bot in self.bots(caller, presence, identity.owner)
            if (bot.bot.bot, bot.bot.version) == (identity.bot, identity.version)
        ]
        return found

    # -- ladders
    def list_ladders(
        self, asked: ladder_pb2.ListLaddersRequest, caller: Caller, presence: Presence
    ) -> ladder_pb2.ListLaddersResponse:
        """Answer ListLadders."""
        entries = [entry for entry in self.visible(caller).values() if asked.game in ("", entry.game)]
        return ladder_pb2.ListLaddersResponse(ladders=[self.shown(entry, presence) for entry in entries])

    def shown(self, entry: LadderEntry, presence: Presence) -> ladder_pb2.LadderShown:
        """Return a ladder as it is shown."""
        bots = sum(entry.name in bot.ladders for bot in presence.bots if bot.identity.owner != HOUSE)
        tables = sum(entry.name == match.ladder.name for match in presence.matches)
        return ladder_shown(entry, bots, tables, self._utc())

    def list_rankings(
        self, asked: ladder_pb2.ListRankingsRequest, caller: Caller, presence: Presence
    ) -> ladder_pb2.ListRankingsResponse:
        """Answer ListRankings."""
        entry = self.ladder(asked.ladder, caller)
        here = {bot.identity for bot in presence.bots if entry.name in bot.ladders}
        rankings = self._readings.rankings(entry.name, asked.every_version)
        end = asked.after + _limit(asked.limit, RANKINGS)
        page = rankings[asked.after : end]
        return ladder_pb2.ListRankingsResponse(
            rankings=[ranking_shown(one, Identity(one.owner, one.bot, one.version) in here) for one in page],
            next=end if end < len(rankings) else 0,
            estimated=max((one.estimated for one in rankings), default=0),
            boards=entry.matches,
            placed=sum(one.is_placed for one in rankings),
        )

    def list_history(
        self, asked: ladder_pb2.ListHistoryRequest, caller: Caller, presence: Presence
    ) -> ladder_pb2.ListHistoryResponse:
        """Answer ListHistory."""
        ladder, owner, bot = self._rated_on(asked.ladder, asked.bot, caller)
        limit, before = _limit(asked.limit, HISTORY), _before(asked.before)
        version = asked.bot.version or None
        try:
            steps = self._readings.history(ladder, owner, bot, version, limit, before)
            points = self._readings.rating_points(ladder, owner, bot, version) if before is None else []
        except errors.NoSuchEntry:
            steps, points = [], []
        if not steps and before is None:
            raise _never_rated(asked.bot, owner, ladder)
        return ladder_pb2.ListHistoryResponse(steps=map(step_shown, steps), ratings=map(rating_point_shown, points))

    def list_opponents(
        self, asked: ladder_pb2.ListOpponentsRequest, caller: Caller, presence: Presence
    ) -> ladder_pb2.ListOpponentsResponse:
        """Answer ListOpponents."""
        ladder, owner, bot = self._rated_on(asked.ladder, asked.bot, caller)
        try:
            opponents = self._readings.opponents(ladder, owner, bot)
        except errors.NoSuchEntry:
            opponents = []
        if not opponents:
            raise _never_rated(asked.bot, owner, ladder)
        return ladder_pb2.ListOpponentsResponse(opponents=map(opponent_shown, opponents))

    def _rated_on(self, ladder: str, bot: ladder_pb2.BotName, caller: Caller) -> tuple[str, str, str]:
        """Look up a ladder, an owner and a bot that are asked for together."""
        return self.ladder(ladder, caller).name, caller.owner_of(bot), _needed(bot).bot

    # -- matches
    def list_matches(
        self, asked: ladder_pb2.ListMatchesRequest, caller: Caller, presence: Presence
    ) -> ladder_pb2.ListMatchesResponse:
        """Answer ListMatches."""
        visible, sees_all = self._visible(caller)
        ladder = _ladder_of(visible, asked.ladder).name if asked.ladder else None
        limit, before = _limit(asked.limit, MATCHES), _before(asked.before)
        owner, bot = (caller.owner_of(asked.bot), asked.bot) if asked.HasField("bot") else (None, None)
        try:
            entries = self._readings.matches(
                ladder,
                owner,
                bot.bot or None if bot is not None else None,
                bot.version or None if bot is not None else None,
                asked.faulted,
                since=_moment(asked.since_ms),
                until=_moment(asked.until_ms),
                limit=limit + 1,
                before=before,
                among=None if sees_all or ladder is not None else visible,
            )
        except errors.NoSuchEntry:
            entries = []
        if bot is not None and owner is not None and not entries and not self._is_there(owner, bot, caller, presence):
            raise CallRefused("NOT_FOUND", f"there is no bot {_shown(bot, owner)} here")
        page = entries[:limit]
        return ladder_pb2.ListMatchesResponse(
            matches=map(match_shown, page), next=page[-1].number if len(entries) > limit else 0
        )

    def _is_there(self, owner: str, bot: ladder_pb2.BotName, caller: Caller, presence: Presence) -> bool:
        """Whether there is such a bot for this caller."""
        return any(
            bot.bot in ("", one.bot.bot) and bot.version in ("", one.bot.version)
            for one in self.bots(caller, presence, owner)
        )

    def list_open_matches(
        self, asked: ladder_pb2.ListOpenMatchesRequest, caller: Caller, presence: Presence
    ) -> ladder_pb2.ListOpenMatchesResponse:
        """Answer ListOpenMatches."""
        visible = {asked.ladder: self.ladder(asked.ladder, caller)} if asked.ladder else self.visible(caller)
        found = [
            match for match in presence.matches if match.ladder.name in visible and asked.match in ("", match.name)
        ]
        found.sort(key=lambda match: match.started, reverse=True)
        told = [_open_match(match) for match in found]
        told += [
            _open_match(match, is_over=True)
            for match in presence.unstored
            if match.ladder.name in visible and asked.match == match.name
        ]
        return ladder_pb2.ListOpenMatchesResponse(
            matches=told, requested=presence.requested(asked.match) if asked.match else ""
        )

    def get_match(
        self, asked: ladder_pb2.GetMatchRequest, caller: Caller, presence: Presence
    ) -> ladder_pb2.GetMatchResponse:
        """Answer GetMatch."""
        try:
            entry = self.match(asked.match, caller)
        except CallRefused:
            self._check_over(asked.match, caller, presence)
            raise
        courses = self._readings.courses(entry.match)
        if not any(courses):
            courses = ()
        return ladder_pb2.GetMatchResponse(
            match=match_shown(entry),
            courses=[
                course_shown(course, caller.answers_for(entry.seats[seat].owner)) for seat, course in enumerate(courses)
            ],
            commitment=entry.deal.commitment,
            opening=arena_pb2.Opening(seed=entry.deal.seed, params=entry.deal.params),
            has_record=self._readings.has_record(entry.match),
        )

    def _check_over(self, name: str, caller: Caller, presence: Presence) -> None:
        """Refuse a match that is still being played or stored.  Raises CallRefused."""
        for match in (*presence.matches, *presence.unstored):
            if match.name == name and match.ladder.name in self.visible(caller):
                if match in presence.unstored:
                    text = "is over, and its result is being stored; it is told once it is"
                elif match.is_sealed:
                    text = "is being played, as others are with its cards; it is told once all of them are over"
                else:
                    text = "is being played; it can be watched, and is told once it is over"
                raise CallRefused("NOT_FOUND", f"match {name} {text}")

    def match_file(self, asked: ladder_pb2.GetRecordRequest, caller: Caller) -> bytes:
        """Return what GetRecord sends in pieces."""
        entry = self.match(asked.match, caller)
        return match_file(entry, self._record(entry)).encode()

    def _record(self, entry: MatchEntry) -> str | None:
        try:
            return self._readings.record(entry.match)
        except errors.NoSuchEntry:
            return None

    def chosen(
        self, asked: ladder_pb2.RequestMatchRequest, caller: Caller, presence: Presence
    ) -> tuple[str, tuple[Identity, ...]]:
        """Return the ladder and the bots of a requested match, each in its newest online version.

        Who may play on a ladder may ask for a match by its rules, whether or not he may read.
        """
        ladder = self.ladder(asked.ladder, Caller(caller.owner, caller.scopes | {"read"})).name
        if not asked.bots or len(asked.bots) > MOST_CHOSEN:
            raise CallRefused("BAD_MESSAGE", f"{len(asked.bots)} bots are named; name one for each seat, or for some")
        versions = [Identity(entry.owner, entry.bot, entry.version) for entry in self._readings.bots()]
        ages = {identity: age for age, identity in enumerate(versions)}
        here = [bot.identity for bot in presence.bots if ladder in bot.ladders]
        here.sort(key=lambda identity: ages.get(identity, len(ages)))  # who is not known has just come
        return ladder, tuple(_one_of(bot, caller.owner_of(_needed(bot)), here, ladder) for bot in asked.bots)

    # -- bots
    def list_bots(
        self, asked: ladder_pb2.ListBotsRequest, caller: Caller, presence: Presence
    ) -> ladder_pb2.ListBotsResponse:
        """Answer ListBots."""
        if asked.ladder:
            self.ladder(asked.ladder, caller)
        bots = self.bots(caller, presence, asked.owner or None)
        return ladder_pb2.ListBotsResponse(
            bots=[bot for bot in bots if not asked.ladder or asked.ladder in bot.ladders]
        )

    def list_logs(
        self, asked: ladder_pb2.ListLogsRequest, caller: Caller, presence: Presence
    ) -> ladder_pb2.ListLogsResponse:
        """Answer ListLogs."""
        owner, bot = self.own(asked.bot, caller)
        visible = self.visible(caller)
        match = self.match(asked.match, caller).match if asked.match else None
        limit = _limit(asked.limit, LOGS)
        try:
            entries = self._readings.logs(owner, bot, asked.bot.version or None, match, asked.faulted, limit)
        except errors.NoSuchEntry:
            raise CallRefused("NOT_FOUND", f"there is no bot {_shown(asked.bot, owner)} here") from None
        logs = [
            ladder_pb2.SeatLog(
                match=match_shown(entry.match),
                seat=entry.seat,
                course=course_shown(entry.course, is_told_why=True),
                notes=notes_kept(entry.notes),
                dropped_bytes=entry.dropped_bytes,
            )
            for entry in entries
            if entry.match.ladder in visible
        ]
        sizes = [sum(log.ByteSize() for log in logs[:at]) for at in range(len(logs))]
        return ladder_pb2.ListLogsResponse(logs=logs[: len(list(takewhile(lambda size: size < LOG_BYTES, sizes)))])

    def named(self, bot: ladder_pb2.BotName, owner: str) -> str:
        """Name a requested bot in a refusal."""
        return _shown(bot, owner)

    def own(self, bot: ladder_pb2.BotName, caller: Caller) -> tuple[str, str]:
        """Return owner and name of a bot that belongs to the caller.  Raises CallRefused."""
        owner = caller.owner_of(_needed(bot))
        if not caller.answers_for(owner):
            raise CallRefused("NOT_YOURS", f"{_shown(bot, owner)} is another owner's; this is for him alone")
        return owner, bot.bot


def _ladder_of(visible: Mapping[str, LadderEntry], name: str) -> LadderEntry:
    if name not in visible:
        there = _named(sorted(visible))
        hint = did_you_mean(name, visible)
        raise CallRefused("NOT_FOUND", f"no ladder is called '{legible(name, 40)}' here{hint}; there are: {there}")
    return visible[name]


def _one_of(bot: ladder_pb2.BotName, owner: str, here: Sequence[Identity], ladder: str) -> Identity:
    """Of those that are there, from the oldest to the newest, the one that is meant."""
    for identity in reversed(here):
        if (identity.owner, identity.bot) == (owner, bot.bot) and bot.version in ("", identity.version):
            return identity
    there = _named(sorted({one.shown for one in here}))
    raise CallRefused("NOT_FOUND", f"{_shown(bot, owner)} is not there to play on ladder {ladder}; there are: {there}")


def _needed(bot: ladder_pb2.BotName) -> ladder_pb2.BotName:
    if not bot.bot:
        raise CallRefused("BAD_MESSAGE", "no bot is named; this is about one")
    return bot


def _bot_shown(
    identity: Identity, entry: BotEntry | None, *, ladders: list[str], is_here: bool, tables: int, is_told_why: bool
) -> ladder_pb2.BotShown:
    paused = entry.paused if entry is not None else None
    return ladder_pb2.BotShown(
        bot=bot_name(*identity),
        created_ms=milliseconds(entry.created) if entry is not None else 0,
        is_here=is_here,
        tables=tables,
        ladders=ladders,
        paused_ms=milliseconds(paused.since) if paused is not None else 0,
        paused_for=paused.cause if paused is not None and is_told_why else "",
    )


def _open_match(match: LiveMatchView, is_over: bool = False) -> ladder_pb2.OpenMatch:
    return ladder_pb2.OpenMatch(
        match=match.name,
        ladder=match.ladder.name,
        game=match.ladder.game,
        started_ms=milliseconds(match.started),
        seats=[arena_pb2.SeatTaken(owner=seat.owner, bot=seat.bot, version=seat.version) for seat in match.seats],
        requested_by=match.requested_by,
        is_over=is_over,
        is_sealed=match.is_sealed,
    )


def _named(names: Sequence[str]) -> str:
    more = ", ..." if len(names) > MOST_NAMED else ""
    return (", ".join(names[:MOST_NAMED]) or "none") + more


def _shown(bot: ladder_pb2.BotName, owner: str) -> str:
    """Name a requested bot in a refusal."""
    name = legible(bot.bot, 40) if owner == NOBODY else f"{legible(owner, 40)}/{legible(bot.bot, 40)}"
    return f"'{name}:{legible(bot.version, 40)}'" if bot.version else f"'{name}'"


def _no_match(name: str) -> CallRefused:
    text = f"there is no match '{legible(name, 40)}' here that is over"
    if len(name) < SHORTEST:
        text += f"; a match is named in full, or by the first {SHORTEST} or more characters of its name"
    return CallRefused("NOT_FOUND", text)


def _never_rated(bot: ladder_pb2.BotName, owner: str, ladder: str) -> CallRefused:
    return CallRefused("NOT_FOUND", f"no bot {_shown(bot, owner)} was rated on ladder {ladder}")


def _limit(asked: int, bounds: tuple[int, int]) -> int:
    usual, most = bounds
    return min(asked or usual, most)


def _before(asked: int) -> int | None:
    return min(asked, MOST_NUMBER) or None


def _moment(ms: int) -> datetime | None:
    """Return a requested timestamp; None for none, and the last possible one for what lies beyond."""
    if ms == 0:
        return None
    try:
        return datetime.fromtimestamp(ms / 1_000, UTC)
    except (OverflowError, ValueError, OSError):
        return datetime.max.replace(tzinfo=UTC)
