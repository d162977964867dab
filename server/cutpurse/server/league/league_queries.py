"""The answers of the league by caller, from the leaderboard and from the running lobby.

This module alone decides who may see what. A ladder is visible to a caller or not. Nothing of a hidden ladder is
revealed: no name, match, record, bot, number or place. Queries about it are answered as if it did not exist. A bot is
visible to its owner, and to callers who may see a ladder where it was rated or plays now. Notes, the texts of faults,
and the reason of a pause are for its owner and the server's admins.

The results of a visible ladder may be hidden until a time, see `why_hidden`: queries about them are refused, and they
are left out of lists. Owners still get the logs of their own bots, without the result of the match. The names of the
bots in its matches may be hidden, too, and then the results are, see `hides_names`: those logs name no other bot, and
nothing tells which bots of other owners are online or play there now. How a match of a ladder goes, while it is played
and afterwards, may be hidden until a time from all who had no bot in it, see `why_no_replay`; its result is not.

Inner ladders, on which people on the page play with house bots, are left out of every list and refusal unless they are
named or asked for, see `is_inner`.

Every answer waits for the database, so call these methods only where no other work waits. This module knows no stream,
no event loop and no command.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import takewhile
from typing import Final, TypeAlias

from cutpurse.engine.record import read_record
from cutpurse.leaderboard import errors, events, queries, seasons
from cutpurse.leaderboard.estimates.history import rating_points
from cutpurse.leaderboard.match_file_writer import match_file
from cutpurse.leaderboard.queries import BotEntry, LadderEntry, MatchEntry
from cutpurse.leaderboard.queries.matches import SHORTEST
from cutpurse.leaderboard.reader import Readings
from cutpurse.leaderboard.results import Identity, LadderTerms, SeatNote
from cutpurse.leaderboard.tokens import HOUSE, NOBODY, PEOPLE
from cutpurse.server.access.owners import Grant
from cutpurse.server.errors import CallRefused, legible, no_ladder
from cutpurse.server.inner_ladders import is_inner, is_inner_bot
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.league.messages import (
    bot_name,
    course_shown,
    ladder_shown,
    match_shown,
    match_without_result,
    milliseconds,
    notes_kept,
    opponent_shown,
    ranking_shown,
    rating_point_shown,
    step_shown,
)
from cutpurse.server.league.presence import LiveMatchView, Presence
from cutpurse.server.matches.deals import opening_to_proto
from cutpurse.server.matches.start_position import StartPosition, position_of
from cutpurse.v1 import arena_pb2, event_pb2, ladder_pb2

__all__ = ["ANYTHING", "STRANGER", "Answers", "Caller", "hides_names", "may_see", "why_hidden", "why_no_replay"]

MOST_NAMED: Final = 20  # maximum ladders or bots named in a refusal
MOST_NUMBER: Final = 2**63 - 1
# maximum bytes of an answer, plus the rest of its last log; gRPC clients accept 4 MiB by default
LOG_BYTES: Final = 2 * 1024 * 1024
HISTORY: Final = (100, 1_000)  # default and maximum steps of a page
MATCHES: Final = (50, 500)
RANKINGS: Final = (1_000, 1_000)  # a client without paging gets one page
MOST_CHOSEN: Final = 64  # maximum bots of a request; every game has fewer seats
EVENT_KINDS: Final = (events.TOURNAMENT, events.SEASON, events.TEST)  # by which matches can be listed
MOST_TOGETHER: Final = 8  # maximum bots of one list of matches; no game has more seats
LOGS: Final = (10, 100)


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a query. `owner` is None without a token."""

    owner: str | None
    scopes: frozenset[str]
    is_hosted_bot: bool = False  # its token is that of a process of a hosted bot

    @property
    def is_admin(self) -> bool:
        """Whether the caller may see everything."""
        return "admin" in self.scopes

    @property
    def grant(self) -> Grant | None:
        """What the caller's token permits, as `check_scope` takes it; None without a token."""
        return None if self.owner is None else Grant(self.owner, "", tuple(sorted(self.scopes)))

    def answers_for(self, owner: str) -> bool:
        """Return whether the caller may see what is private to this owner."""
        return self.is_admin or self.owner == owner

    def owner_of(self, bot: ladder_pb2.BotName) -> str:
        """Return the owner of the named bot: the caller unless another is given."""
        return bot.owner or self.owner or NOBODY


STRANGER: Final = Caller(None, frozenset())
ANYTHING: Final = Caller(NOBODY, frozenset({"admin", "play", "read"}))  # for local access to the file


def may_see(caller: Caller, terms: LadderTerms) -> bool:
    """Return whether a ladder with these terms is visible to this caller."""
    if not terms.is_private or caller.is_admin:
        return True
    return caller.owner is not None and "read" in caller.scopes and (not terms.owners or caller.owner in terms.owners)


def why_hidden(caller: Caller, ladder: str, terms: LadderTerms, at: datetime) -> str:
    """Return the line that refuses the results of a visible ladder to this caller now; empty if they are shown."""
    until = terms.results_shown_from
    if until is None or caller.is_admin or not terms.hides_results(at):
        return ""
    return f"results of {ladder} are hidden until {_utc_text(until)}"


def why_no_replay(caller: Caller, ladder: str, terms: LadderTerms, owners: Collection[str], at: datetime) -> str:
    """Return the line that refuses how a match goes, with bots of these owners, to this caller now; empty if not."""
    if caller.is_admin or caller.owner in owners or not terms.hides_replays(at):
        return ""
    return f"replays of {ladder} are only for those who played until {_utc_text(terms.replays_hidden_until)}"


def hides_names(caller: Caller, terms: LadderTerms, at: datetime) -> bool:
    """Return whether it is hidden from this caller now which bot plays in which seat on a visible ladder."""
    return not caller.is_admin and terms.hides_names(at)


GetEvent: TypeAlias = Callable[[event_pb2.GetEventRequest, Caller, Presence], event_pb2.GetEventResponse]


class Answers:
    """The answers of LadderService to a caller. All methods raise CallRefused, and StoreError if the database fails.

    Attributes:
        get_event: Answers GetEvent; None where no installed part does.
    """

    def __init__(self, readings: Readings, utc: Callable[[], datetime]) -> None:
        self._readings = readings
        self.utc = utc
        self.get_event: GetEvent | None = None

    # -- visibility
    def visible(self, caller: Caller) -> dict[str, LadderEntry]:
        """Return the ladders that this caller can see, by name."""
        return self._visible(caller)[0]

    def _visible(self, caller: Caller) -> tuple[dict[str, LadderEntry], bool]:
        """Return the ladders that this caller can see, and whether these are all ladders."""
        entries = self._readings.run(queries.ladders)
        visible = {entry.name: entry for entry in entries if may_see(caller, entry.terms)}
        return visible, len(visible) == len(entries)

    def ladder(self, name: str, caller: Caller) -> LadderEntry:
        """Return a ladder that this caller can see.

        Raises:
            CallRefused: NOT_FOUND, with the names of the visible ladders.
        """
        return _ladder_of(self.visible(caller), name, caller)

    def why_hidden(self, ladder: str, caller: Caller) -> str:
        """Return the line that refuses the results of a ladder; empty if they are shown, or it is not visible."""
        entry = self.visible(caller).get(ladder)
        return "" if entry is None else self._why_hidden(entry, caller)

    def check_results(self, ladder: str, caller: Caller) -> None:
        """Check that this caller may see a ladder and its results.  Raises CallRefused: NOT_FOUND or NOT_YOURS."""
        self._check_results(self.ladder(ladder, caller), caller)

    def with_results(self, caller: Caller) -> dict[str, LadderEntry]:
        """Return the ladders whose results this caller can see, by name."""
        return self._with_results(self.visible(caller), caller)

    def _why_hidden(self, entry: LadderEntry, caller: Caller) -> str:
        return why_hidden(caller, entry.name, entry.terms, self.utc())

    def _hides_names(self, entry: LadderEntry, caller: Caller) -> bool:
        return hides_names(caller, entry.terms, self.utc())

    def _check_results(self, entry: LadderEntry, caller: Caller) -> None:
        """Check that this caller may see the results of a visible ladder.  Raises CallRefused: NOT_YOURS."""
        if why := self._why_hidden(entry, caller):
            raise CallRefused("NOT_YOURS", why)

    def _with_results(self, visible: Mapping[str, LadderEntry], caller: Caller) -> dict[str, LadderEntry]:
        """Return those of the visible ladders whose results this caller may see."""
        return {name: entry for name, entry in visible.items() if not self._why_hidden(entry, caller)}

    def match(self, name: str, caller: Caller) -> MatchEntry:
        """Return a finished match whose result this caller can see, by its ID or the first characters of it.

        A match of a board on which others are still played is hidden from all callers, since it would reveal their
        cards. IDs on ladders that the caller cannot see are not considered.

        Raises:
            CallRefused: NOT_FOUND, NOT_YOURS if results of its ladder are hidden, or BAD_MESSAGE for an invalid ID.
        """
        entry = self._stored(name, caller)
        self._check_results(self.ladder(entry.ladder, caller), caller)
        return entry

    def _why_no_replay(self, entry: MatchEntry, caller: Caller) -> str:
        owners, terms = {seat.owner for seat in entry.seats}, self.ladder(entry.ladder, caller).terms
        return why_no_replay(caller, entry.ladder, terms, owners, self.utc())

    def _stored(self, name: str, caller: Caller) -> MatchEntry:
        """Return a finished match as `match` does, even if results of its ladder are hidden."""
        visible, sees_all = self._visible(caller)
        try:
            entry = self._readings.run(queries.match, name, None if sees_all else visible)
        except errors.NoSuchEntry:
            raise _no_match(name) from None
        except errors.InvalidEntry as problem:
            raise CallRefused("BAD_MESSAGE", legible(str(problem), 1_500)) from None
        if entry.ladder not in visible:
            raise _no_match(name)
        if entry.is_sealed:
            text = (
                f"match {entry.match} is over; its result is shown when the other matches with the same cards are over"
            )
            raise CallRefused("NOT_FOUND", text)
        return entry

    def bots(self, caller: Caller, presence: Presence, owner: str | None = None) -> list[ladder_pb2.BotShown]:
        """List the versions, stored or online, that this caller can see, of one owner or of all."""
        visible = self.visible(caller)
        nameless = {name for name, entry in visible.items() if self._hides_names(entry, caller)}
        on: dict[Identity, set[str]] = {
            bot.identity: {name for name in bot.ladders if name in visible} for bot in presence.bots
        }
        tables = Counter(
            seat
            for match in presence.matches
            if match.ladder.name in visible
            for seat in match.seats
            if match.ladder.name not in nameless or caller.answers_for(seat.owner)
        )
        known = [
            (Identity(entry.owner, entry.bot, entry.version), entry)
            for entry in self._readings.run(queries.bots, owner)
        ]
        new = sorted(set(on) - {identity for identity, _ in known})
        pickable = {bot.identity for bot in presence.bots if bot.takes_requests}
        shown = []
        for identity, entry in [*known, *((one, None) for one in new if owner in (None, one.owner))]:
            rated = {name for name in entry.ladders if name in visible} if entry is not None else set()
            here = on.get(identity, set())
            is_own = caller.answers_for(identity.owner)
            if rated or here or is_own:
                shown.append(
                    _bot_shown(
                        identity,
                        entry,
                        ladders=sorted(rated | here),
                        is_here=bool(here - nameless) or (identity in on and is_own),
                        tables=tables[identity],
                        is_told_when=is_own or not (rated | here) & nameless,
                        is_told_why=is_own,
                        takes_people=identity in pickable and bool(here - nameless) and not is_inner_bot(*identity[:2]),
                    )
                )
        return sorted(shown, key=lambda bot: (bot.bot.owner, bot.bot.bot))

    def bot(self, identity: Identity, caller: Caller, presence: Presence) -> ladder_pb2.BotShown:
        """Return one version that this caller can see."""
        (found,) = [
            bot
            for bot in self.bots(caller, presence, identity.owner)
            if (bot.bot.bot, bot.bot.version) == (identity.bot, identity.version)
        ]
        return found

    # -- ladders
    def list_ladders(
        self, request: ladder_pb2.ListLaddersRequest, caller: Caller, presence: Presence
    ) -> ladder_pb2.ListLaddersResponse:
        """Answer ListLadders."""
        entries = [
            entry
            for entry in self.visible(caller).values()
            if request.game in ("", entry.game) and (request.with_inner or not is_inner(entry.terms))
        ]
        response = ladder_pb2.ListLaddersResponse(ladders=[self.shown(entry, presence) for entry in entries])
        divisions = self._readings.run(seasons.series_by_ladder)
        for ladder in response.ladders:
            ladder.season, ladder.season_number = divisions.get(ladder.defined.name, ("", 0))
        return response

    def shown(self, entry: LadderEntry, presence: Presence) -> ladder_pb2.LadderShown:
        """Encode a ladder with its current numbers of bots and matches."""
        bots = sum(entry.name in bot.ladders for bot in presence.bots if bot.identity.owner != HOUSE)
        tables = sum(entry.name == match.ladder.name for match in presence.matches)
        return ladder_shown(entry, bots, tables, self.utc())

    def list_rankings(
        self, request: ladder_pb2.ListRankingsRequest, caller: Caller, presence: Presence
    ) -> ladder_pb2.ListRankingsResponse:
        """Answer ListRankings."""
        entry = self.ladder(request.ladder, caller)
        self._check_results(entry, caller)
        here = {bot.identity for bot in presence.bots if entry.name in bot.ladders}
        rankings = self._readings.run(queries.rankings, entry.name, request.every_version)
        end = request.after + _limit(request.limit, RANKINGS)
        page = rankings[request.after : end]
        return ladder_pb2.ListRankingsResponse(
            rankings=[
                ranking_shown(ranking, Identity(ranking.owner, ranking.bot, ranking.version) in here)
                for ranking in page
            ],
            next=end if end < len(rankings) else 0,
            estimated=max((ranking.estimated for ranking in rankings), default=0),
            boards=entry.matches,
            placed=sum(ranking.is_placed for ranking in rankings),
        )

    def list_history(
        self, request: ladder_pb2.ListHistoryRequest, caller: Caller, presence: Presence
    ) -> ladder_pb2.ListHistoryResponse:
        """Answer ListHistory."""
        ladder, owner, bot = self._rated_on(request.ladder, request.bot, caller)
        limit, before = _limit(request.limit, HISTORY), _before(request.before)
        version = request.bot.version or None
        try:
            steps = self._readings.run(queries.history, ladder, owner, bot, version, limit, before)
            points = self._readings.run(rating_points, ladder, owner, bot, version) if before is None else []
        except errors.NoSuchEntry:
            steps, points = [], []
        if not steps and before is None:
            raise self._never_rated(request.bot, owner, ladder)
        return ladder_pb2.ListHistoryResponse(steps=map(step_shown, steps), ratings=map(rating_point_shown, points))

    def list_opponents(
        self, request: ladder_pb2.ListOpponentsRequest, caller: Caller, presence: Presence
    ) -> ladder_pb2.ListOpponentsResponse:
        """Answer ListOpponents."""
        ladder, owner, bot = self._rated_on(request.ladder, request.bot, caller)
        try:
            opponents = self._readings.run(queries.opponents, ladder, owner, bot)
        except errors.NoSuchEntry:
            opponents = []
        if not opponents:
            raise self._never_rated(request.bot, owner, ladder)
        return ladder_pb2.ListOpponentsResponse(opponents=map(opponent_shown, opponents))

    def _never_rated(self, bot: ladder_pb2.BotName, owner: str, ladder: str) -> CallRefused:
        there = _named_bots((ranking.owner, ranking.bot) for ranking in self._readings.run(queries.rankings, ladder))
        text = f"no bot {_shown(bot, owner)} was rated on ladder {ladder}; there are: {there}"
        return CallRefused("NOT_FOUND", text)

    def _rated_on(self, ladder: str, bot: ladder_pb2.BotName, caller: Caller) -> tuple[str, str, str]:
        """Return ladder name, owner and bot name of a query about a bot on a ladder.

        Raises:
            CallRefused: If the ladder is not visible, its results are hidden, or no bot is named.
        """
        entry = self.ladder(ladder, caller)
        self._check_results(entry, caller)
        return entry.name, caller.owner_of(bot), _needed(bot).bot

    # -- matches
    def list_matches(
        self, request: ladder_pb2.ListMatchesRequest, caller: Caller, presence: Presence
    ) -> ladder_pb2.ListMatchesResponse:
        """Answer ListMatches."""
        visible, sees_all = self._visible(caller)
        ladder = None
        if request.ladder:
            ladder = _ladder_of(visible, request.ladder, caller).name
            self._check_results(visible[ladder], caller)
        shown_ladders = self._with_results(visible if request.with_inner else _outer(visible), caller)
        sees_all = sees_all and len(shown_ladders) == len(visible)
        limit, before = _limit(request.limit, MATCHES), _before(request.before)
        if len(request.bots) > MOST_TOGETHER:
            raise CallRefused("BAD_MESSAGE", f"{len(request.bots)} bots are named; {MOST_TOGETHER} are the maximum")
        if request.event:
            self._check_event(request.event, caller, presence)
        bots = [(caller.owner_of(bot), bot.bot or None, bot.version or None) for bot in request.bots]
        owner, bot, version = bots[0] if bots else (None, None, None)
        try:
            entries = self._readings.run(
                queries.matches,
                ladder,
                owner,
                bot,
                version,
                request.faulted,
                since=_moment(request.since_ms),
                until=_moment(request.until_ms),
                limit=limit + 1,
                before=before,
                among=None if sees_all or ladder is not None else shown_ladders,
                others=bots[1:],
                event=request.event,
            )
        except errors.NoSuchEntry:
            entries = []
        for name in () if entries else request.bots:
            if not self._is_there(caller.owner_of(name), name, caller, presence):
                there = [(entry.bot.owner, entry.bot.bot) for entry in self.bots(caller, presence)]
                text = f"there is no bot {_shown(name, caller.owner_of(name))} here; there are: {_named_bots(there)}"
                raise CallRefused("NOT_FOUND", text)
        page = entries[:limit]
        return ladder_pb2.ListMatchesResponse(
            matches=map(match_shown, page), next=page[-1].number if len(entries) > limit else 0
        )

    def _check_event(self, event: str, caller: Caller, presence: Presence) -> None:
        """Check that this caller can see an event, named by its ID, or that there are events of a kind."""
        if self.get_event is None:
            raise CallRefused("SETTINGS", "there are no events here: the part `events` is not installed")
        if event not in EVENT_KINDS:
            self.get_event(event_pb2.GetEventRequest(event=event), caller, presence)

    def _is_there(self, owner: str, bot: ladder_pb2.BotName, caller: Caller, presence: Presence) -> bool:
        """Return whether this caller can see such a bot."""
        return any(
            bot.bot in ("", entry.bot.bot) and bot.version in ("", entry.bot.version)
            for entry in self.bots(caller, presence, owner)
        )

    def list_open_matches(
        self, request: ladder_pb2.ListOpenMatchesRequest, caller: Caller, presence: Presence
    ) -> ladder_pb2.ListOpenMatchesResponse:
        """Answer ListOpenMatches."""
        visible = self.visible(caller)
        if request.ladder:
            visible = {request.ladder: _ladder_of(visible, request.ladder, caller)}
            self._check_results(visible[request.ladder], caller)
        elif not (request.match or request.with_inner):
            visible = _outer(visible)
        visible = self._with_results(visible, caller)
        matches = [
            match for match in presence.matches if match.ladder.name in visible and request.match in ("", match.name)
        ]
        matches.sort(key=lambda match: match.started, reverse=True)
        sent = [_open_match(match) for match in matches]
        sent += [
            _open_match(match, is_over=True)
            for match in presence.unstored
            if match.ladder.name in visible and request.match == match.name
        ]
        return ladder_pb2.ListOpenMatchesResponse(
            matches=sent, requested=presence.requested(request.match) if request.match else ""
        )

    def get_match(
        self, request: ladder_pb2.GetMatchRequest, caller: Caller, presence: Presence
    ) -> ladder_pb2.GetMatchResponse:
        """Answer GetMatch."""
        entry = self._finished(request.match, caller, presence)
        is_hidden = bool(self._why_no_replay(entry, caller))
        until = self.ladder(entry.ladder, caller).terms.replays_hidden_until if is_hidden else None
        courses = self._readings.run(queries.courses, entry.match)
        notes = self._published_notes(entry, caller)
        if not any(courses) and not notes:
            courses = ()
        return ladder_pb2.GetMatchResponse(
            match=match_shown(entry),
            courses=[
                course_shown(course, caller.answers_for(entry.seats[seat].owner), notes.get(seat, ()))
                for seat, course in enumerate(courses)
            ],
            commitment=entry.deal.commitment,
            opening=None if is_hidden else opening_to_proto(entry.deal),
            has_record=not is_hidden and self._readings.run(queries.has_record, entry.match),
            replay_hidden_until_ms=milliseconds(until),
        )

    def _published_notes(self, entry: MatchEntry, caller: Caller) -> Mapping[int, tuple[SeatNote, ...]]:
        """Return the notes of a finished match that everybody may see, by seat; it is decided here alone.

        Their owner publishes them, and the ladder is public and hides nothing now, from hosts neither.
        """
        terms = self.ladder(entry.ladder, caller).terms
        if terms.is_private or terms.hides_results(self.utc()) or terms.hides_replays(self.utc()):
            return {}
        return self._readings.run(queries.published_notes, entry.number)

    def _finished(self, name: str, caller: Caller, presence: Presence) -> MatchEntry:
        """Return a finished match as `match` does; the refusal says if it is still being played or stored."""
        try:
            return self.match(name, caller)
        except CallRefused:
            self._check_over(name, caller, presence)
            raise

    def position(
        self, start: ladder_pb2.StartPosition, ladder: Ladder, caller: Caller, presence: Presence
    ) -> StartPosition:
        """Return a position of a finished match to play on from, by the rules of a ladder.

        Raises:
            CallRefused: NOT_FOUND (no such match, or it is not over, or it has no record), NOT_YOURS (its replay is
                hidden), or SETTINGS (it was not played by these rules, or the seat was not asked then).
        """
        entry = self._finished(start.match, caller, presence)
        line = self._record(entry, caller)
        if line is None:
            raise CallRefused("NOT_FOUND", f"match {entry.match} has no record, so nobody can play on from it")
        return position_of(entry.match, read_record(line), ladder, start.choice, start.seat)

    def _check_over(self, name: str, caller: Caller, presence: Presence) -> None:
        """Check that a visible match is not still being played or stored.

        Raises:
            CallRefused: NOT_FOUND, or NOT_YOURS if results of its ladder are hidden.
        """
        for match in (*presence.matches, *presence.unstored):
            if match.name == name and (entry := self.visible(caller).get(match.ladder.name)) is not None:
                self._check_results(entry, caller)
                if match in presence.unstored:
                    text = "is over; its result is being stored and will be shown then"
                elif match.is_sealed:
                    text = "is being played; its result is shown when all matches with the same cards are over"
                else:
                    text = "is being played; you can watch it, and its result is shown when it is over"
                raise CallRefused("NOT_FOUND", f"match {name} {text}")

    def match_file(self, request: ladder_pb2.GetRecordRequest, caller: Caller) -> bytes:
        """Return the file that GetRecord sends in pieces."""
        entry = self.match(request.match, caller)
        return match_file(entry, self._record(entry, caller)).encode()

    def _record(self, entry: MatchEntry, caller: Caller) -> str | None:
        if why := self._why_no_replay(entry, caller):
            raise CallRefused("NOT_YOURS", why)
        try:
            return self._readings.run(queries.record, entry.match)
        except errors.NoSuchEntry:
            return None

    def chosen(
        self, request: ladder_pb2.RequestMatchRequest, caller: Caller, presence: Presence
    ) -> tuple[str, tuple[Identity, ...]]:
        """Return the ladder and the bots of a requested match, each in its newest online version.

        A caller who may play on a ladder may request a match by its rules, even without the scope "read". While names
        on it are hidden, only an admin may name bots of other owners, since their seats would be known.

        Raises:
            CallRefused: NOT_FOUND, NOT_YOURS, or BAD_MESSAGE.
        """
        entry = self.ladder(request.ladder, Caller(caller.owner, caller.scopes | {"read"}))
        ladder, own = entry.name, {caller.owner or NOBODY, HOUSE}
        is_nameless = self._hides_names(entry, caller)
        if not request.bots or len(request.bots) > MOST_CHOSEN:
            raise CallRefused("BAD_MESSAGE", f"{len(request.bots)} bots are named; name one for each seat, or for some")
        versions = [Identity(entry.owner, entry.bot, entry.version) for entry in self._readings.run(queries.bots)]
        ages = {identity: age for age, identity in enumerate(versions)}
        if is_nameless and any(caller.owner_of(bot) not in own for bot in request.bots):
            text = f"names on {ladder} are hidden until {_utc_text(entry.terms.names_hidden_until)}"
            raise CallRefused("NOT_YOURS", f"{text}; name your own bots and house bots")
        here = [bot.identity for bot in presence.bots if ladder in bot.ladders]
        if is_nameless:
            here = [identity for identity in here if identity.owner in own]
        if caller.owner == PEOPLE:
            here += self._open_to_people(entry.game, presence)
        here.sort(key=lambda identity: ages.get(identity, len(ages)))  # unknown versions have just come online
        return ladder, tuple(_one_of(bot, caller.owner_of(_needed(bot)), here, ladder) for bot in request.bots)

    def _open_to_people(self, game: str, presence: Presence) -> list[Identity]:
        """List the online bots that people may pick as opponents at this game; see `BotShown.takes_people`."""
        ladders = {entry.name for entry in _outer(self.visible(STRANGER)).values() if entry.game == game}
        there = {bot.identity for bot in presence.bots if ladders & {*bot.ladders}}
        bots = [bot.bot for bot in self.bots(STRANGER, presence) if bot.takes_people]
        return [identity for bot in bots if (identity := Identity(bot.owner, bot.bot, bot.version)) in there]

    # -- bots
    def list_bots(
        self, request: ladder_pb2.ListBotsRequest, caller: Caller, presence: Presence
    ) -> ladder_pb2.ListBotsResponse:
        """Answer ListBots."""
        if request.ladder:
            self.ladder(request.ladder, caller)
        bots = self.bots(caller, presence, request.owner or None)
        return ladder_pb2.ListBotsResponse(
            bots=[
                entry
                for entry in bots
                if (request.ladder in entry.ladders if request.ladder else True)
                and (
                    request.ladder
                    or request.owner
                    or request.with_inner
                    or not is_inner_bot(entry.bot.owner, entry.bot.bot)
                )
            ]
        )

    def list_logs(
        self, request: ladder_pb2.ListLogsRequest, caller: Caller, presence: Presence
    ) -> ladder_pb2.ListLogsResponse:
        """Answer ListLogs."""
        owner, bot = self.own(request.bot, caller)
        visible = self.visible(caller)
        match = self._stored(request.match, caller).match if request.match else None
        shown_ladders = self._with_results(visible, caller)
        limit = _limit(request.limit, LOGS)
        try:
            entries = self._readings.run(
                queries.logs, owner, bot, request.bot.version or None, match, request.faulted, limit
            )
        except errors.NoSuchEntry:
            raise CallRefused("NOT_FOUND", f"there is no bot {_shown(request.bot, owner)} here") from None
        logs = [
            ladder_pb2.SeatLog(
                match=match_shown(entry.match)
                if entry.match.ladder in shown_ladders
                else match_without_result(
                    entry.match, entry.seat, hides_names=self._hides_names(visible[entry.match.ladder], caller)
                ),
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
        """Return owner and name of a bot of the caller.

        Raises:
            CallRefused: NOT_YOURS, or BAD_MESSAGE if no bot is named.
        """
        owner = caller.owner_of(_needed(bot))
        if not caller.answers_for(owner):
            raise CallRefused(
                "NOT_YOURS", f"{_shown(bot, owner)} belongs to another owner; only that owner may do this"
            )
        return owner, bot.bot


def _utc_text(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _outer(ladders: Mapping[str, LadderEntry]) -> dict[str, LadderEntry]:
    """Return the ladders that lists show: all but the inner ones."""
    return {name: entry for name, entry in ladders.items() if not is_inner(entry.terms)}


def _ladder_of(visible: Mapping[str, LadderEntry], name: str, caller: Caller) -> LadderEntry:
    if name not in visible:
        names = sorted(_outer(visible))
        raise CallRefused("NOT_FOUND", f"{no_ladder(name, caller.owner, names)}; there are: {_named(names)}")
    return visible[name]


def _one_of(bot: ladder_pb2.BotName, owner: str, here: Sequence[Identity], ladder: str) -> Identity:
    """Return the newest bot of `here`, which is sorted from old to new, that matches the name.

    Raises:
        CallRefused: NOT_FOUND.
    """
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
    identity: Identity,
    entry: BotEntry | None,
    *,
    ladders: list[str],
    is_here: bool,
    tables: int,
    is_told_when: bool,
    is_told_why: bool,
    takes_people: bool,
) -> ladder_pb2.BotShown:
    paused = entry.paused if entry is not None else None
    declines_people = entry is not None and entry.declines_people
    return ladder_pb2.BotShown(
        bot=bot_name(*identity),
        created_ms=milliseconds(entry.created) if entry is not None and is_told_when else 0,
        is_here=is_here,
        tables=tables,
        ladders=ladders,
        paused_ms=milliseconds(paused.since) if paused is not None and is_told_when else 0,
        paused_for=paused.cause if paused is not None and is_told_why else "",
        declines_people=declines_people,
        takes_people=takes_people and identity.owner != HOUSE and not declines_people,
        publishes_notes=entry is not None and entry.publishes_notes,
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


def _named_bots(bots: Iterable[tuple[str, str]]) -> str:
    """List bots, without inner ones, in a refusal."""
    return _named(
        [
            _shown(ladder_pb2.BotName(bot=bot), owner)[1:-1]
            for owner, bot in sorted({*bots})
            if not is_inner_bot(owner, bot)
        ]
    )


def _shown(bot: ladder_pb2.BotName, owner: str) -> str:
    """Name a requested bot in a refusal."""
    name = legible(bot.bot, 40) if owner == NOBODY else f"{legible(owner, 40)}/{legible(bot.bot, 40)}"
    return f"'{name}:{legible(bot.version, 40)}'" if bot.version else f"'{name}'"


def _no_match(name: str) -> CallRefused:
    text = f"there is no match '{legible(name, 40)}' here that is over"
    if len(name) < SHORTEST:
        text += f"; a match is named in full, or by the first {SHORTEST} or more characters of its name"
    return CallRefused("NOT_FOUND", text)


def _limit(requested: int, bounds: tuple[int, int]) -> int:
    usual, most = bounds
    return min(requested or usual, most)


def _before(requested: int) -> int | None:
    return min(requested, MOST_NUMBER) or None


def _moment(ms: int) -> datetime | None:
    """Return a requested timestamp: None for 0, and the latest possible one for values beyond it."""
    if ms == 0:
        return None
    try:
        return datetime.fromtimestamp(ms / 1_000, UTC)
    except (OverflowError, ValueError, OSError):
        return datetime.max.replace(tzinfo=UTC)
