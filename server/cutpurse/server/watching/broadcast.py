"""The broadcast of open matches: to spectators after a delay, and to a seat's owner at once.

A match that nobody watches costs nothing. Updates are encoded once per match and viewer, and all subscribers get the
same bytes. There are at most ten updates per second, each with all events since the last one. Fast bots play a thousand
times faster than people can watch, and an update costs more than a move. Only a person at the table gets each choice of
the others by itself, to be shown in turn.

Spectators get only public information, after a delay that makes it useless to bots. An update is sent only when there
are events. So a change without an event, such as a sealed answer, stays hidden until the next event.

Subscribers that do not read are dropped; no match waits for them. An error here ends the watch, not the match. This
module knows no stream, no token and no clock. Its caller passes a clock, and calls `tick` at `next_event_at`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import heappop, heappush
from math import inf
from typing import Final

from cutpurse.engine.events import Event
from cutpurse.leaderboard.results import PERSON
from cutpurse.leaderboard.tokens import PEOPLE
from cutpurse.server.errors import LEFT, CallRefused, CallStatus, call_status, incident, legible, no_ladder
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.limits import ServerLimits
from cutpurse.server.logs import Logger, traceback_locations
from cutpurse.server.matches.lobby import Lobby, OpenMatch
from cutpurse.server.matches.loop_hooks import MatchBegan, TermsChanged
from cutpurse.server.matches.other_arenas import elsewhere, moving
from cutpurse.server.matches.server_match import ServerMatch
from cutpurse.v1 import ladder_pb2
from cutpurse.v1.ladder_pb2 import WatchEnded, WatchMatchResponse, WatchMoved, WatchStarted
from cutpurse.wire.wire_format import field, uint_field

__all__ = ["STOPPING", "Visitor", "WatchSubscriber", "Watching"]

_SAME_CARDS: Final = (
    "the same cards are played at other tables, or again: until all of these matches are over, only owners can "
    "watch their own seats"
)
_HIDDEN: Final = call_status("NOT_FOUND", "this ladder is no longer shown here")
STOPPING: Final = call_status("DRAINING", "the server is stopping")
LEAST_NAME: Final = 8  # characters of a match ID that may stand for it
MOST_NAMED: Final = 5  # matches that an error lists if an abbreviation is ambiguous
WATCHES_OF_A_PERSON: Final = 4  # of their own seat: one, and those that were cut off and are not yet noticed
EVERY_S: Final = 0.1  # minimum time between two updates of a match for one viewer

_NOTHING_MORE: Final = ("SILENT", "TOKEN_INVALID")  # reasons to end a watch without delivering unread updates

# Field numbers of WatchMatchResponse.
_STARTED: Final = WatchMatchResponse.STARTED_FIELD_NUMBER
_MOVED: Final = WatchMatchResponse.MOVED_FIELD_NUMBER
_ENDED: Final = WatchMatchResponse.ENDED_FIELD_NUMBER


@dataclass(frozen=True, slots=True)
class Visitor:
    """The caller of a watch.

    Attributes:
        owner: Owner of the caller's token; None without a token.
        address: Network address of the caller.
        sees: Returns whether the caller may see a ladder.
        is_good: Returns whether the caller's token is still valid.
        why_hidden: Returns why the caller may not see a match with bots of these owners on a visible ladder now; empty
            if it may. Without owners, it is about every match of the ladder.
    """

    owner: str | None
    address: str
    sees: Callable[[Ladder], bool]
    is_good: Callable[[], bool] = lambda: True
    why_hidden: Callable[[Ladder, Collection[str] | None], str] = lambda ladder, owners: ""


class WatchSubscriber:
    """The subscriber of one watch call; `woken` is called when there is a message to take, or at the end."""

    __slots__ = ("_most", "_unread", "_unread_bytes", "ending", "ladder", "shows", "source", "visitor", "woken")

    def __init__(self, visitor: Visitor, ladder: str, woken: Callable[[], None], most: int) -> None:
        self.visitor = visitor
        self.ladder = ladder  # ladder whose matches it follows in turn; empty for a single match
        self.woken = woken
        self.source = visitor.address  # by which watches are counted; that of a person at a table is their seat
        self.shows: list[_Show] = []
        self.ending: CallStatus | None = None  # status of the call, once all messages are taken
        self._unread: deque[bytes] = deque()
        self._unread_bytes = 0
        self._most = most

    def take(self) -> bytes | None:
        """Return the next unread WatchMatchResponse, or None."""
        if not self._unread:
            return None
        message = self._unread.popleft()
        self._unread_bytes -= len(message)
        return message

    def tell(self, message: bytes) -> CallStatus | None:
        """Queue a message. Return None, or a status to end the watch with if the message is not queued.

        A message is not queued if too many bytes are unread, or the token is no longer valid.
        """
        if not self.visitor.is_good():
            return call_status("TOKEN_INVALID", "the token is no longer good here")
        if self._unread and self._unread_bytes + len(message) > self._most:
            return call_status("SILENT", f"more than {self._most} bytes were not read: watch again, and read faster")
        self._unread.append(message)
        self._unread_bytes += len(message)
        self.woken()
        return None

    def end(self, how: CallStatus) -> None:
        """End the watch call. Deliver unread updates, unless the subscriber stopped reading or lost permission."""
        if self.ending is None:
            self.ending = how
            if how.reason in _NOTHING_MORE:
                self._unread.clear()
                self._unread_bytes = 0
            self.woken()


class _Show:
    """One watched match for one viewer: a seat, or None for spectators."""

    def __init__(self, watching: Watching, match: OpenMatch, viewer: int | None) -> None:
        self.watching = watching
        self.match = match
        self.viewer = viewer
        self.watchers: dict[WatchSubscriber, bool] = {}  # subscribers; True once the start of the match was sent
        self.is_closed = False
        self._every_s = 0.0 if viewer is not None and _is_person(match, viewer) else EVERY_S
        self._shown: bytes | None = None  # last observation sent; None before the first
        self._told = 0  # number of events encoded
        self._looked_at = self._moved_at = watching.clock()
        self._is_waiting = False  # whether the next look is scheduled
        self._later(partial(self._tell, b"", self._look()))

    # -- changes of the match
    def moved(self) -> None:
        """Handle a possible change of the match: look at it now or soon, and schedule its end if it has ended."""
        table, now = self.match.table, self.watching.clock()
        if self.is_closed:
            return
        if self._news():
            self._moved_at = now
            if now >= self._looked_at + self._every_s:
                self.look()
            elif not self._is_waiting:
                self._is_waiting = True
                self.watching.look_later(self._looked_at + self._every_s, self)
        if table.ended(self._viewer, 0, self._told, wants_events=False) is not None:
            self.look()
            body = table.ended(self._viewer, 0, self._told, wants_events=True) or b""
            self.is_closed = True
            self._later(partial(self._end, field(_ENDED, field(WatchEnded.MATCH_FIELD_NUMBER, body))))

    def look(self) -> None:
        """Encode the events since the last look, and schedule their delivery."""
        self._is_waiting = False
        events = self._news()
        if self.is_closed or not events or not self.watchers:
            return
        table, first = self.match.table, self._told
        self._looked_at = self.watching.clock()
        observation = self._look()
        at_ms = max(0, round((self._moved_at - table.began) * 1_000))
        moved = uint_field(WatchMoved.AT_MS_FIELD_NUMBER, at_ms) + uint_field(
            WatchMoved.FIRST_EVENT_FIELD_NUMBER, first
        )
        moved += table.encoder.events(WatchMoved.EVENTS_FIELD_NUMBER, events, self._viewer)
        message = field(_MOVED, moved + field(WatchMoved.OBSERVATION_FIELD_NUMBER, observation))
        self._later(partial(self._tell, message, observation))

    def _news(self) -> Sequence[Event]:
        """Return the events since the last look; none after an incident, since they may be wrong or fail to encode."""
        table = self.match.table
        return (table.match.game.log or ())[self._told :] if table.incident is None else ()

    def _look(self) -> bytes:
        """Encode the viewer's current observation, and count all events as encoded."""
        table = self.match.table
        game = table.match.game
        self._told = len(game.log or ())
        return table.encoder.observation_of(game, self.viewer, agenda=True)

    @property
    def _viewer(self) -> int:
        """Number of the viewer, as events count viewers."""
        return len(self.match.seats) if self.viewer is None else self.viewer

    @property
    def _delay_s(self) -> float:
        return self.watching.delay_s if self.viewer is None else 0.0

    def _later(self, what: Callable[[], None]) -> None:
        self.watching.after(self._delay_s, self, what)

    # -- messages to the subscribers
    def join(self, watcher: WatchSubscriber) -> None:
        """Add a subscriber. If the end of its match before is still delayed, this match starts after that."""
        self.watchers[watcher] = False
        watcher.shows.append(self)
        if self._is_next(watcher):
            self._later(partial(self._begin, watcher))
        else:
            self._begin(watcher)

    def _begin(self, watcher: WatchSubscriber) -> None:
        """Send the start with the current observation; if the first is still delayed, `_tell` sends it later."""
        if self._shown is None or self.watchers.get(watcher, True):
            return
        self.watchers[watcher] = True
        started = self.match.table.started(self.viewer or 0, 0)
        message = field(WatchStarted.MATCH_FIELD_NUMBER, started)
        message += uint_field(WatchStarted.DELAY_MS_FIELD_NUMBER, round(self._delay_s * 1_000))
        message += field(WatchStarted.OBSERVATION_FIELD_NUMBER, self._shown)
        self.watching.tell(self, watcher, field(_STARTED, message))

    def _tell(self, message: bytes, observation: bytes) -> None:
        is_first, self._shown = self._shown is None, observation
        for watcher, has_begun in list(self.watchers.items()):
            if has_begun:
                self.watching.tell(self, watcher, message)
            elif is_first and not self._is_next(watcher):
                self._begin(watcher)

    def _is_next(self, watcher: WatchSubscriber) -> bool:
        return watcher.shows[0] is not self

    def _end(self, message: bytes) -> None:
        for watcher in list(self.watchers):
            self.watching.tell(self, watcher, message)
            if watcher.ladder:
                self.leave(watcher)
            else:
                self.watching.dismiss(watcher, LEFT)
        self.watching.forget(self)

    def leave(self, watcher: WatchSubscriber) -> None:
        """Remove a subscriber."""
        self.watchers.pop(watcher, None)
        if self in watcher.shows:
            watcher.shows.remove(self)


class Watching:
    """The broadcast of all open matches. Call `begin` before the first watch."""

    def __init__(
        self,
        lobby: Lobby,
        log: Logger,
        *,
        delay_s: float,
        limits: ServerLimits | None = None,
    ) -> None:
        """Create a broadcast without subscribers.

        Args:
            lobby: Lobby with the matches.
            log: Server log.
            delay_s: Seconds by which spectators see a match later.
            limits: Limits on watches.
        """
        self.delay_s = delay_s
        self._lobby = lobby
        self._log = log
        self._limits = limits or ServerLimits()
        self._shows: dict[str, dict[int | None, _Show]] = {}  # by match ID and viewer
        self._waiting: dict[str, list[WatchSubscriber]] = {}  # for the next match of a ladder
        self._watchers: dict[WatchSubscriber, None] = {}  # subscribers with an open call
        self._sources: Counter[str] = Counter()  # of these subscribers
        self._later: deque[tuple[float, _Show, Callable[[], None]]] = deque()  # sorted, since all have the same delay
        self._looks: list[tuple[float, int, _Show]] = []  # a heap
        self._count = 0
        lobby.hooks.on(MatchBegan, lambda event: self._started(event.match))
        lobby.hooks.on(TermsChanged, lambda event: self._terms_changed(event.ladder))

    def begin(self, *, clock: Callable[[], float], due: Callable[[], None], incident_number: Callable[[], str]) -> None:
        """Set what is known only after the server has started.

        Args:
            clock: Clock of the lobby, in seconds.
            due: Called when `next_event_at` may have become earlier.
            incident_number: Returns a new incident ID.
        """
        self.clock = clock
        self._due = due
        self._incident_number = incident_number

    # -- watch calls
    def watch(
        self, asked: ladder_pb2.WatchMatchRequest, visitor: Visitor, woken: Callable[[], None]
    ) -> WatchSubscriber:
        """Add a subscriber; remove it by `leave`.

        Args:
            asked: Request with the match or ladder, and the seat if any.
            visitor: The caller.
            woken: Called when there is a message to take, or at the end.

        Raises:
            CallRefused: If the caller may not watch that, or there are too many watches.
        """
        seat = asked.seat if asked.HasField("seat") else None
        if bool(asked.match) == bool(asked.ladder):
            raise CallRefused("BAD_MESSAGE", "watch a match or a ladder: name one of them")
        if seat is not None and not asked.match:
            raise CallRefused("BAD_MESSAGE", "a seat is watched in one match: name it")
        watcher = WatchSubscriber(visitor, asked.ladder, woken, self._limits.watcher_bytes)
        if seat is None:
            self._check_room(watcher, self._limits.watchers_per_address)
        if asked.match:
            match = self._match(asked.match, visitor, is_at_once=seat is not None)
            _check(visitor, self._ladder_of(match), {taken.owner for taken in match.seats})
            if seat is not None:
                _check_owner(match, seat, visitor)
                is_person = _is_person(match, seat)
                if is_person:  # all people come from the page's address
                    watcher.source = f"seat {seat} of match {match.name}"
                self._check_room(watcher, WATCHES_OF_A_PERSON if is_person else self._limits.watchers_per_address)
            elif match.table.board_matches > 1:
                raise CallRefused("NOT_YOURS", f"of match {match.name} {_SAME_CARDS}")
            self._join(watcher, match, seat)
        else:
            others = self._lobby.other_arenas
            ladder = self._lobby.ladder_named(asked.ladder) or others.ladder_named(asked.ladder)
            if ladder is None or not visitor.sees(ladder):
                raise CallRefused("NOT_FOUND", no_ladder(asked.ladder, visitor.owner))
            _check(visitor, ladder, None)
            if others.ladder_named(ladder.name) is not None:
                address = others.address_of(ladder.name)
                raise elsewhere(ladder.name, address) if address else moving(ladder.name)
            if ladder.boards != "plain":
                raise CallRefused("NOT_YOURS", f"on ladder {ladder.name} {_SAME_CARDS}")
            self._go_on(watcher)
        self._add(watcher)
        return watcher

    def pass_on(self, visitor: Visitor, ended: Callable[[], None]) -> WatchSubscriber:
        """Add a subscriber that another arena serves, so that limits hold; remove it by `leave`.

        Args:
            visitor: The caller.
            ended: Called when the server stops.

        Raises:
            CallRefused: If there are too many watches.
        """
        watcher = WatchSubscriber(visitor, "", ended, self._limits.watcher_bytes)
        self._check_room(watcher, self._limits.watchers_per_address)
        self._add(watcher)
        return watcher

    def _add(self, watcher: WatchSubscriber) -> None:
        self._watchers[watcher] = None
        self._sources[watcher.source] += 1

    def leave(self, watcher: WatchSubscriber) -> None:
        """Remove a subscriber whose call has ended."""
        if watcher in self._watchers:
            del self._watchers[watcher]
            self._sources[watcher.source] -= 1
            if not self._sources[watcher.source]:
                del self._sources[watcher.source]
            self._let_go(watcher)

    @property
    def watchers(self) -> int:
        """Number of open watch calls."""
        return len(self._watchers)

    def close(self) -> None:
        """Deliver delayed messages, then end all watches, because the server stops. Call it after the last match."""
        self.tick(inf)
        for watcher in list(self._watchers):
            self.dismiss(watcher, STOPPING)

    def _check_room(self, watcher: WatchSubscriber, most: int) -> None:
        """Check that a source with at most `most` watches has room for another one.

        Raises:
            CallRefused: If there are too many watches.
        """
        if len(self._watchers) >= self._limits.most_watchers:
            raise CallRefused("STREAMS", f"{self._limits.most_watchers} are watching already; come back later")
        if self._sources[watcher.source] >= most:
            whence = "this address" if watcher.source == watcher.visitor.address else watcher.source
            raise CallRefused("STREAMS", f"{most} from {whence} are watching already")

    def _match(self, name: str, visitor: Visitor, *, is_at_once: bool) -> OpenMatch:
        """Return an open match, or one whose end spectators have not seen yet.

        Raises:
            CallRefused: If there is no such match, or the name is ambiguous.
        """
        there = {match.name: match for match in self._lobby.open_matches()}
        if not is_at_once:
            there |= {key: shows[None].match for key, shows in self._shows.items() if None in shows}
        found = [
            match
            for key, match in there.items()
            if (key == name or (len(name) >= LEAST_NAME and key.startswith(name))) and self._may_see(visitor, match)
        ]
        if len(found) != 1:
            shown = legible(name, 40)
            if found:
                names = ", ".join(match.name for match in found[:MOST_NAMED])
                more = " and others" if len(found) > MOST_NAMED else ""
                text = f"several matches that are played begin with '{shown}', give more of it: {names}{more}"
                raise CallRefused("BAD_MESSAGE", text)
            if len(name) < LEAST_NAME:
                text = f"a match is named in full, or by the first {LEAST_NAME} or more characters of its name"
                raise CallRefused("NOT_FOUND", f"no match '{shown}' is being played; {text}")
            raise CallRefused(
                "NOT_FOUND",
                f"no match '{shown}' is being played; one that is over is shown by: cutpurse match replay {shown}",
            )
        return found[0]

    def _may_see(self, visitor: Visitor, match: OpenMatch) -> bool:
        """Return whether a caller may see a match, by its ladder's present terms, not those at the match's start."""
        return visitor.sees(self._ladder_of(match))

    def _ladder_of(self, match: OpenMatch) -> Ladder:
        return self._lobby.ladder_named(match.ladder.name) or match.ladder

    def _why_not(self, visitor: Visitor, match: OpenMatch, is_spectator: bool) -> CallStatus | None:
        """Return the status that ends a watch whose caller may no longer see the match; None if it may."""
        if is_spectator and not self._may_see(visitor, match):
            return _HIDDEN
        why = visitor.why_hidden(self._ladder_of(match), {seat.owner for seat in match.seats})
        return call_status("NOT_YOURS", why) if why else None

    @staticmethod
    def _why_no_match(visitor: Visitor, ladder: Ladder) -> CallStatus | None:
        """Return the status that ends a watch of a ladder whose caller may no longer see any match of it."""
        if not visitor.sees(ladder):
            return _HIDDEN
        why = visitor.why_hidden(ladder, None)
        return call_status("NOT_YOURS", why) if why else None

    def _join(self, watcher: WatchSubscriber, match: OpenMatch, viewer: int | None) -> None:
        """Add a subscriber to a match, as a viewer.

        Raises:
            CallRefused: If an error occurs.
        """
        try:
            shows = self._shows.get(match.name)
            if shows is None:
                shows = self._shows[match.name] = {}
                match.table.on_moved.append(self._moved)
            if viewer not in shows:
                shows[viewer] = _Show(self, match, viewer)
            shows[viewer].join(watcher)
        except Exception as problem:
            how = self._broke(problem, match.name)
            self._let_go(watcher)
            self._unhook_if_unwatched(match)
            raise CallRefused(how.reason, how.text) from None

    # -- the matches of a ladder in turn
    def _go_on(self, watcher: WatchSubscriber) -> None:
        """Follow the newest match of the subscriber's ladder, or wait for the next one.

        Raises:
            CallRefused: If an error occurs.
        """
        name, visitor = watcher.ladder, watcher.visitor
        if watcher.ending is not None:
            return
        ladder = self._lobby.ladder_named(name)
        if ladder is not None and (how := self._why_no_match(visitor, ladder)) is not None:
            self.dismiss(watcher, how)
            return
        for match in reversed(self._lobby.open_matches()):
            if match.ladder.name == name and self._why_not(visitor, match, is_spectator=True) is None:
                self._join(watcher, match, None)
                return
        self._waiting.setdefault(name, []).append(watcher)

    def _started(self, match: OpenMatch) -> None:
        """Handle the start of a match. Never raises."""
        for watcher in self._waiting.pop(match.ladder.name, ()):
            try:
                self._go_on(watcher)
            except CallRefused as refused:
                self.dismiss(watcher, refused.ending)

    def _terms_changed(self, name: str) -> None:
        """End the watches that wait on a ladder that is deleted or lost, or that their callers may no longer see."""
        ladder = self._lobby.ladder_named(name)
        lost = self._lobby.other_arenas.ladder_named(name)
        for watcher in list(self._waiting.get(name, ())):
            if ladder is None and lost is not None and watcher.visitor.sees(lost):
                self.dismiss(watcher, moving(name).ending)
            elif (how := _HIDDEN if ladder is None else self._why_no_match(watcher.visitor, ladder)) is not None:
                self.dismiss(watcher, how)

    # -- changes of matches
    def _moved(self, table: ServerMatch) -> None:
        """Handle a possible change of a watched match. Never raises."""
        shows = list(self._shows.get(table.name, {}).values())
        try:
            for show in shows:
                was_closed, followers = show.is_closed, [one for one in show.watchers if one.ladder]
                show.moved()
                if show.is_closed and not was_closed:
                    for watcher in followers:
                        self._go_on(watcher)
        except Exception as problem:
            how = problem.ending if isinstance(problem, CallRefused) else self._broke(problem, table.name)
            for show in shows:
                self._break_off(show, how)

    def _break_off(self, show: _Show, how: CallStatus) -> None:
        for watcher in list(show.watchers):
            self.dismiss(watcher, how)
        self.forget(show)

    def _broke(self, problem: Exception, match: str) -> CallStatus:
        number = self._incident_number()
        self._log.error(
            "watching broke",
            incident=number,
            match=match,
            error=type(problem).__name__,
            places=traceback_locations(problem),
        )
        return incident(number)

    # -- timers
    def after(self, delay_s: float, show: _Show, what: Callable[[], None]) -> None:
        """Call `what` after a delay in seconds, which must be 0 or the spectators' delay."""
        if not delay_s:
            what()
            return
        self._later.append((self.clock() + delay_s, show, what))
        if len(self._later) == 1:
            self._due()

    def look_later(self, at: float, show: _Show) -> None:
        """Schedule a look at a match at a time."""
        self._count += 1
        heappush(self._looks, (at, self._count, show))
        self._due()

    def next_event_at(self) -> float | None:
        """Return the time at which `tick` must be called next; None if nothing is scheduled."""
        moments = [one[0][0] for one in (self._later, self._looks) if one]
        return min(moments, default=None)

    def tick(self, now: float) -> None:
        """Run all scheduled looks and deliveries that are due."""
        while self._looks and self._looks[0][0] <= now:
            _, _, show = heappop(self._looks)
            self._guarded(show, show.look)
        while self._later and self._later[0][0] <= now:
            _, show, what = self._later.popleft()
            self._guarded(show, what)

    def _guarded(self, show: _Show, what: Callable[[], None]) -> None:
        try:
            what()
        except Exception as problem:
            self._break_off(show, self._broke(problem, show.match.name))

    # -- for the shows
    def tell(self, show: _Show, watcher: WatchSubscriber, message: bytes) -> None:
        """Send a message to a subscriber; end its watch if it does not read, or may no longer see the match."""
        if watcher.ending is not None:
            return
        why_not = self._why_not(watcher.visitor, show.match, show.viewer is None)
        if (how := why_not or watcher.tell(message)) is not None:
            self.dismiss(watcher, how)

    def dismiss(self, watcher: WatchSubscriber, how: CallStatus) -> None:
        """Remove a subscriber from all matches, and end its call."""
        self._let_go(watcher)
        watcher.end(how)

    def forget(self, show: _Show) -> None:
        """Remove a show that has no subscribers."""
        shows = self._shows.get(show.match.name, {})
        if shows.get(show.viewer) is show:
            del shows[show.viewer]
        self._unhook_if_unwatched(show.match)

    def _let_go(self, watcher: WatchSubscriber) -> None:
        for show in list(watcher.shows):
            show.leave(watcher)
            if not show.watchers:
                self.forget(show)
        waiting = self._waiting.get(watcher.ladder, [])
        if watcher in waiting:
            waiting.remove(watcher)
            if not waiting:
                del self._waiting[watcher.ladder]

    def _unhook_if_unwatched(self, match: OpenMatch) -> None:
        if match.name in self._shows and not self._shows[match.name]:
            del self._shows[match.name]
            # A new list, because a loop may be running over the old one.
            match.table.on_moved = [hook for hook in match.table.on_moved if hook != self._moved]


def _check(visitor: Visitor, ladder: Ladder, owners: Collection[str] | None) -> None:
    """Check that a caller may see a match with bots of these owners now, or any of the ladder.  Raises CallRefused."""
    if why := visitor.why_hidden(ladder, owners):
        raise CallRefused("NOT_YOURS", why)


def _is_person(match: OpenMatch, seat: int) -> bool:
    """Return whether a person plays in a seat, on the page."""
    bot = match.seats[seat]
    return bot.owner == PEOPLE or bot.bot == PERSON


def _check_owner(match: OpenMatch, seat: int, visitor: Visitor) -> None:
    """Check that a seat's bot belongs to the caller.

    Raises:
        CallRefused: If it does not, or there is no such seat.
    """
    if seat >= len(match.seats):
        raise CallRefused("BAD_MESSAGE", f"the match has seats 0 to {len(match.seats) - 1}")
    if visitor.owner is None or match.seats[seat].owner != visitor.owner:
        raise CallRefused("NOT_YOURS", f"only the owner of its bot may watch seat {seat}, with a token")
