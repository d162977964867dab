"""The lobby: it admits bots, starts and drives matches, and passes their results on.

The event loop admits bots with `enter`. It calls `tick` at `next_event_at` at the latest, and whenever `wake` was
called. Only `tick` starts matches, closes late decisions and reports stored results. The end of a match is reported
only once its result is stored (`storing.py`). While a result could not be stored, no match starts. So a slow store only
fills tables, and a broken store lets nothing be played that could not be stored.

Ladders may be added, lost to another arena, and their terms changed, while the lobby runs. Requested matches
(`requests.py`) come before those of the ladders. `match_start.py` starts and gives up matches and boards, and
`open_matches.py` tracks those in play.

This module knows no stream, no clock, no chance and no database: times, entropy and the store are passed in.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from math import inf
from typing import Final

from cutpurse.engine.chance import KEY_BYTES, Chance
from cutpurse.engine.errors import did_you_mean
from cutpurse.leaderboard.results import FinishedMatch, Identity, StoreOutcome
from cutpurse.server.counts import Counts
from cutpurse.server.errors import CallRefused, legible
from cutpurse.server.invariants import QueueOverflow, check_queue_limit
from cutpurse.server.ladder_config import DivisionMembers, Ladder
from cutpurse.server.matches.admission import BotAdmission
from cutpurse.server.matches.loop_hooks import LoopHooks, ResultMeasured, TermsChanged
from cutpurse.server.matches.match_start import AssignedMatch, Dealing, LobbyEnvironment
from cutpurse.server.matches.matchmaking import Pairing
from cutpurse.server.matches.open_matches import OpenMatch, OpenMatches, Unstored
from cutpurse.server.matches.other_arenas import OtherArenas
from cutpurse.server.matches.readiness import AWAY, why_not_ready
from cutpurse.server.matches.requests import WAITS_S, MatchRequest, PendingRequest, Requests, seats_for, takes_requests
from cutpurse.server.matches.server_match import ServerMatch, TableSession, incident_of
from cutpurse.server.matches.storing import Log, Storing
from cutpurse.server.matches.version_tests import SHARE, VersionTest, VersionTests
from cutpurse.server.result_store import ResultStore

__all__ = ["OnlineBot", "Lobby", "Log", "MatchRequest", "OpenMatch"]

LOOK_S: Final = 1.0  # seconds between checks of the queue lengths
MOST_TABLES: Final = 4_096  # maximum open matches
AT_ONCE: Final = 0.0  # a time that is always due


@dataclass(frozen=True, slots=True)
class OnlineBot:
    """An online bot.

    Attributes:
        identity: Owner, bot and version.
        tables: Its open matches.
        ladders: The ladders it is paired on; none while it is paused.
        takes_requests: Whether it plays matches that other owners request.
    """

    identity: Identity
    tables: int
    ladders: tuple[str, ...]
    takes_requests: bool


class Lobby:
    """All matches and online bots of a server. The owner sets `wake`, which may be called on any thread."""

    def __init__(
        self,
        ladders: Iterable[Ladder],
        store: ResultStore,
        *,
        entropy: Callable[[int], bytes],
        utc: Callable[[], datetime],
        log: Log,
        most_tables: int = MOST_TABLES,
        counts: Counts | None = None,
        paused: Iterable[Identity] = (),
        test_share: float = SHARE,
    ) -> None:
        """Start a lobby with no bots online.

        Args:
            ladders: The ladders to pair on.
            store: Where results are stored.
            entropy: Returns that number of unpredictable bytes.
            utc: Returns the time of day, for the store and for ladders that freeze.
            log: The server's log.
            most_tables: Maximum open matches.
            counts: Counters to update; new ones by default.
            paused: Versions that get no match.
            test_share: Share of the tables in use that version tests may have.

        Raises:
            ValueError: If two ladders have the same name.
        """
        self.wake: Callable[[], None] = lambda: None
        self.hooks = LoopHooks()
        # As `submitted_versions`; set by the part that accepts submissions.
        self.find_submitted: Callable[[str], Mapping[Identity, str]] = lambda owner: {}
        self._pairing = Pairing(ladders, Chance(entropy(KEY_BYTES)))
        self.other_arenas = OtherArenas()
        self.is_held = False  # see `hold`
        self._attendance = BotAdmission(self._pairing, store, paused, self._woken, self.other_arenas)
        self._requests = Requests()
        self.tests = VersionTests(test_share)
        self._store = store
        self._entropy = entropy
        self._utc = utc
        self._log = log
        self._most_tables = most_tables
        self._withdrawn: deque[Identity] = deque()  # since the last `tick`
        self._is_changed = False  # since matchmaking last ran
        self._is_draining = False
        self.counts = counts or Counts()
        self._storing: Storing[OpenMatch] = Storing(store, self, self.counts, log)
        self._matches = OpenMatches(self._finish, self._woken)
        self._dealing = Dealing(
            self._pairing,
            self._attendance,
            self._requests,
            self.tests,
            self._matches,
            store,
            LobbyEnvironment(entropy, utc, log, self.counts, self.incident_number, self._woken, self.hooks),
        )
        self._look_at = 0.0  # next check of the queues
        self._terms_at = AT_ONCE  # next check of the terms: at once after a change, else when a ladder freezes

    # -- ladders
    def ladders(self, owner: str = "") -> Mapping[str, Sequence[str]]:
        """List the names of the ladders of all arenas by game, without those that `owner` cannot see."""
        return self._attendance.ladders(owner)

    def plays(self, ladder: str) -> bool:
        """Return whether a ladder is played here; thread-safe."""
        return self._pairing.ladder_named(ladder) is not None

    @property
    def own_ladders(self) -> Sequence[Ladder]:
        """The ladders that are played here."""
        return self._pairing.ladders

    def locate(self, plays: Callable[[str, str], bool], owner: str) -> tuple[bool, Sequence[tuple[str, str]]]:
        """Return where a bot can play.

        Args:
            plays: Whether the bot wants to play, by game and ladder.
            owner: Its owner.

        Returns:
            Whether it can play here, and the ladders that other arenas have, each with an address.
        """
        is_here = any(plays(ladder.game, ladder.name) for ladder in self._pairing.ladders)
        return is_here, [place for place in self.other_arenas.wanted(plays, owner) if place[1]]

    def ladder_named(self, name: str) -> Ladder | None:
        """Return the ladder of this name with its current terms, or None."""
        return self._pairing.ladder_named(name)

    def set_ladder(self, ladder: Ladder) -> None:
        """Add a ladder, or put its new terms in force; open matches go on.

        Raises:
            ValueError: If the ladder of this name differs in more than its terms.
        """
        self._pairing.set_ladder(ladder)
        self._terms_changed(ladder.name)

    def set_members(self, name: str, members: DivisionMembers) -> None:
        """Admit only these bots to a ladder that is a division; do nothing if it is not played here."""
        if (ladder := self._pairing.ladder_named(name)) is not None:
            self.set_ladder(replace(ladder, members=members))

    def is_quiet(self, name: str) -> bool:
        """Return whether no paired match is being played on a ladder, or has a result to store."""
        return self._pairing.is_quiet(name)

    def remove_ladder(self, name: str) -> None:
        """Remove a ladder, with its bots and the matches requested there.

        Raises:
            CallRefused: If a match is being played there, since its result needs the ladder.
        """
        try:
            if self._requests.is_open_on(name) or self.tests.is_open_on(name):
                raise ValueError(f"a match is being played on ladder {name}")
            self._pairing.remove_ladder(name)
        except ValueError as problem:
            raise CallRefused("BAD_MESSAGE", f"{problem}, and a ladder that has a match is kept") from None
        self._requests.forget_ladder(name, f"ladder {name} was deleted")
        self._dealing.forget_ladder(name)
        self._terms_changed(name)

    def take_ladder(self, ladder: Ladder) -> None:
        """Add a ladder whose bots may be online already, with what the store knows of them."""
        self.set_ladder(ladder)
        self._attendance.ask_again(self._utc())

    def lose_ladder(self, name: str) -> bool:
        """Void the matches of a ladder that another arena may take, and remove it once their ends are settled.

        Returns:
            Whether it is removed; if not, call again later.
        """
        if self._pairing.ladder_named(name) is None:
            return True
        self._dealing.close_ladder(name)
        self.tests.forget_ladder(name)
        self._requests.forget_ladder(name, f"another arena plays ladder {name} now")
        if voided := self._matches.void_ladder(name):
            self._log.info("matches void", why="another arena may have the ladder", ladder=name, matches=voided)
        try:
            self.remove_ladder(name)
        except CallRefused:  # the ends of its matches are not settled
            self._woken()
            return False
        return True

    def see_pauses(self, paused: Iterable[Identity], lifted: Iterable[Identity]) -> None:
        """Apply pauses that began or ended at other arenas."""
        for identity in paused:
            self._attendance.pause(identity)
            self._requests.forget(identity, f"{identity.shown} is paused")
        for identity in lifted:
            self.lifted(identity)

    def _terms_changed(self, ladder: str) -> None:
        self._terms_at = AT_ONCE
        self.hooks.send(TermsChanged(ladder))
        self._seek()

    # -- online bots
    def check(self, identity: Identity, ladders: Mapping[str, Sequence[str]], forgets: bool = False) -> None:
        """Check that a bot may enter for the ladders that it wants to play.

        Args:
            identity: The bot.
            ladders: Names of ladders by game; () means every ladder of that game, and empty means every game.
            forgets: Whether the bot keeps no memory between matches.

        Raises:
            CallRefused: PAUSED, NOT_YOURS, FROZEN or FULL.
        """
        self._attendance.check(identity, ladders, self._utc(), forgets)

    def check_submitted(self, identity: Identity, ladders: Mapping[str, Sequence[str]], forgets: bool) -> None:
        """Check that a bot may be submitted for these ladders; arguments and errors are those of `check`."""
        self._attendance.check_submitted(identity, ladders, self._utc(), forgets)

    def enter(self, session: TableSession) -> None:
        """Admit a bot for the first time or after a reconnect."""
        self._attendance.enter(session, self._utc())
        self._seek()

    def leave(self, session: TableSession) -> None:
        """Remove a bot from pairing. Its open matches go on, and it is still notified of them."""
        self._attendance.leave(session)
        self._seek()

    def changed(self, session: TableSession) -> None:
        """Note that a bot's number of free tables changed."""
        if self._pairing.changed(session) or session.is_for_tests or self.tests.is_waiting:
            self._seek()

    def lifted(self, identity: Identity) -> None:
        """End the pause of a version."""
        self._storing.forgive(identity)
        self._attendance.lift(identity)
        self._seek()

    def paused_elsewhere(self, identity: Identity) -> None:
        """Pause a version, because of a match that a worker played; call it on the event loop."""
        self._attendance.pause(identity)
        self._requests.forget(identity, f"{identity.shown} is paused")

    def plays_here(self, games: Sequence[str], ladders: Sequence[str]) -> bool:
        """Return whether a bot for these games and ladders, each empty for all, has a ladder here; thread-safe."""
        return any(
            not ladder.is_hosted and (ladder.name in ladders if ladders else not games or ladder.game in games)
            for ladder in self._pairing.ladders
        )

    def withdrawn(self, identity: Identity) -> None:
        """Note that a hosted version no longer runs, so that no match waits for it; thread-safe."""
        self._withdrawn.append(identity)
        self._woken()

    def here(self) -> list[OnlineBot]:
        """List all online bots."""
        sits = Counter(identity for entry in self._matches.played() for identity in entry.seats)
        return [
            OnlineBot(identity, sits[identity], self._pairing.ladders_of(player), takes_requests(player))
            for identity, player in self._attendance.here.items()
        ]

    def open_matches(self) -> list[OpenMatch]:
        """List the open matches in the order in which they began."""
        return [entry for entry in self._matches.played() if entry.table.is_begun]

    def unstored_matches(self) -> list[Unstored]:
        """List the finished matches whose results are not stored yet.

        Includes void matches whose end was already reported.
        """
        unstored = [
            Unstored(
                result.match, ladder, result.started, tuple(seat.player for seat in result.seats), result.requested_by
            )
            for result in self._storing.void_results()
            if (ladder := self._pairing.ladder_named(result.ladder)) is not None
        ]
        return [*self._matches.unstored(), *unstored]

    # -- matches on request
    def request(self, match_request: MatchRequest, now: float) -> str:
        """Queue an unrated match, to begin once each of its bots has a free table.

        House bots take the seats that the request leaves empty. Bots of one owner may meet. The rules of a frozen
        ladder may still be used.

        Args:
            match_request: Ladder, bots and seed.
            now: Seconds on the lobby's clock.

        Returns:
            The match ID.

        Raises:
            CallRefused: NOT_FOUND (ladder or bot), PAUSED, NOT_YOURS (the bot declines requests), FULL, DRAINING, or
                SETTINGS (seats or seed are invalid).
        """
        if self._is_draining:
            raise CallRefused("DRAINING", "the server is stopping and begins no match")
        ladder = self._pairing.ladder_named(match_request.ladder)
        if ladder is None:
            names = sorted(name for names in self.ladders(match_request.by).values() for name in names)
            called = f"'{legible(match_request.ladder, 40)}'{did_you_mean(match_request.ladder, names)}"
            raise CallRefused("NOT_FOUND", f"no ladder is called {called}; there are: {', '.join(names)}")
        seats = seats_for(match_request, ladder, self._attendance.here, self._attendance.is_paused)
        name = self._entropy(16).hex()
        until = now + WAITS_S
        is_admin, position, event_board = match_request.is_by_admin, match_request.position, match_request.event_board
        self._requests.ask(
            PendingRequest(
                name, ladder, seats, match_request.seed, match_request.by, until, is_admin, position, event_board
            )
        )
        self._seek()
        return name

    def assign(self, match: AssignedMatch) -> None:
        """Start a match that was paired and dealt elsewhere, once each of its bots is online."""
        self._dealing.assign(match)
        self._seek()

    def submitted_versions(self, owner: str) -> Mapping[Identity, str]:
        """Return the versions that an owner has submitted, and why one cannot play (empty: it can); thread-safe."""
        return self.find_submitted(owner)

    def is_paused(self, identity: Identity) -> bool:
        """Return whether this version is paused; thread-safe."""
        return self._attendance.is_paused(identity)

    def requested(self, name: str) -> str:
        """Return the state of a request.

        Returns:
            "waiting", "open", or "dropped: " and the reason; empty if the match is over or unknown.
        """
        answer = self._requests.told(name)
        return "waiting" if answer == "open" and not self._matches.is_begun(name) else answer

    def away(self, ladder: str, bots: Sequence[Identity]) -> dict[Identity, str]:
        """Return those of these bots with which an admin could request no match on a ladder now, and why."""
        own_ladder = self._pairing.ladder_named(ladder)
        whys = ((bot, AWAY if own_ladder is None else self.why_not_ready(bot, own_ladder, True)) for bot in bots)
        return {bot: why for bot, why in whys if why}

    def why_not_ready(self, bot: Identity, ladder: Ladder, is_requested: bool) -> str:
        """Return why a bot cannot play on a ladder now, by its present terms if it is played here; thread-safe."""
        ladder = self._pairing.ladder_named(ladder.name) or ladder
        return why_not_ready(bot, ladder, self._attendance.here, self.is_paused, is_requested=is_requested)

    # -- version tests
    def start_test(self, test: VersionTest) -> None:
        """Deal boards for a version test from now on."""
        self.tests.add(test)
        self._seek()

    def stop_test(self, test: str) -> None:
        """Deal no more boards for a version test; an open one is played to its end."""
        self.tests.remove(test)

    # -- state
    @property
    def waiting_requests(self) -> int:
        """Requested matches that wait for their bots."""
        return len(self._requests)

    @property
    def tables(self) -> int:
        """Matches being played, or whose results are being stored."""
        return len(self._matches)

    @property
    def unstored(self) -> int:
        """Results that the store has not accepted yet; no match starts while there are any."""
        return self._storing.unstored

    @property
    def is_storing(self) -> bool:
        """Whether the store accepts results, as far as known."""
        return not self._storing.is_behind

    @property
    def is_complete(self) -> bool:
        """Whether every ladder has had all its wanted matches, and all of them are over."""
        return not self._matches and self._pairing.is_complete

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being played or stored."""
        return not self._matches and not self._storing.is_behind and not self._dealing.is_waiting

    # -- driving
    def tick(self, now: float) -> None:
        """Do what is due: report stored results, close late decisions, start matches."""
        self._attendance.take()
        self._storing.take(now)
        self._matches.tick(now)
        self._storing.retry(now)
        while self._withdrawn:
            self._dealing.withdrawn(self._withdrawn.popleft())
        self._dealing.give_up(now, self._is_draining)
        if self._may_start:
            has_more = self._dealing.start(now, self._most_tables - len(self._matches))
            self._is_changed = has_more and len(self._matches) < self._most_tables
        self._dealing.begin_announced(now, self._is_draining)
        self._look_at_terms(now)
        self._check_queues(now)

    def next_event_at(self) -> float | None:
        """Return when `tick` is next due if nothing else happens; 0 means at once, None never."""
        if self._storing.has_answers or self._dealing.has_announced or self._attendance.has_news or self._withdrawn:
            return AT_ONCE
        if self._is_changed and self._may_start:
            return AT_ONCE
        moments = [at for at in (self._storing.next_event_at, self._terms_at) if at < inf]
        if (at_first := self._matches.next_event_at()) is not None:
            moments.append(at_first)
        if self._may_start and len(self._matches) < self._most_tables:  # otherwise pairing waits for a table to close
            starters = (self._pairing, self._requests, self.tests)
            moments += [at for starter in starters if (at := starter.next_event_at()) is not None]
        if (at_last := self._dealing.next_event_at()) is not None:
            moments.append(at_last)
        return min(moments, default=None)

    def _look_at_terms(self, now: float) -> None:
        """Reload the terms after a change or when a ladder freezes."""
        if now < self._terms_at:
            return
        at = self._utc()
        self._attendance.reload_terms(at)
        frozen = [ladder.terms.frozen for ladder in self._pairing.ladders]
        left = [(moment - at).total_seconds() for moment in frozen if moment is not None and moment > at]
        self._terms_at = now + min(left, default=inf)

    def _check_queues(self, now: float) -> None:
        """Check the queue lengths once a second; log the first overflow and stop checking."""
        if now < self._look_at:
            return
        self._look_at = now + LOOK_S
        try:
            check_queue_limit(len(self._matches), self._most_tables)
            check_queue_limit(self._storing.unstored, self._most_tables)
            check_queue_limit(self._storing.answers, self._most_tables)
        except QueueOverflow as problem:
            self._look_at = inf
            self._log.error("lobby broke", **asdict(incident_of(problem, self.incident_number(), "")))

    def credit(self, seconds: float) -> None:
        """Credit a stall of the server, in seconds, to every clock."""
        self._matches.credit(seconds)

    def delay(self, bots: Collection[Identity], seconds: float) -> None:
        """Credit a delay of the machine that runs these bots to the clocks of their matches; void those beyond 1 s."""
        if voided := self._matches.delay(bots, seconds):
            self._log.info("matches void", why="a place stood still", matches=voided)

    def credit_to(self, bots: Collection[Identity], seconds: float) -> None:
        """Credit time to every clock of these bots' matches, which go on."""
        self._matches.credit_to(bots, seconds)

    def lose(self, bots: Collection[Identity], why: str) -> None:
        """Void the matches of these bots, since the machine that runs them is lost or slow, and pair them no more."""
        if voided := self._matches.void(bots):
            self._log.info("matches void", why=why, matches=voided)
        self.part(bots)

    def part(self, bots: Collection[Identity]) -> Collection[Identity]:
        """Pair these bots no more until they connect again. Return those that have open matches, which go on."""
        for identity in bots:
            if (player := self._attendance.here.get(identity)) is not None:
                self.leave(player)
        return self._matches.busy(bots)

    def hold(self, is_held: bool) -> None:
        """Start no match while `is_held`, since another arena may take the ladders soon; open matches go on."""
        self.is_held = is_held
        self._seek()

    @property
    def is_draining(self) -> bool:
        """Whether no more matches start because the server stops."""
        return self._is_draining

    def drain(self, now: float) -> None:
        """Start no more matches; open matches go on."""
        self._is_draining = True
        self._dealing.give_up(now, is_stopping=True)

    def void_all(self) -> None:
        """Void every match in play by the server's fault."""
        self._matches.void_all()

    @property
    def _may_start(self) -> bool:
        return not (self._is_draining or self.is_held or self._storing.is_behind)

    def _woken(self) -> None:
        self.wake()

    def _seek(self) -> None:
        if not self._is_changed:
            self._is_changed = True
            self.wake()

    # -- a match ends
    def _finish(self, entry: OpenMatch) -> None:
        table = entry.table
        measured = ResultMeasured(table.finish(entry.started, self._utc()))
        self.hooks.send(measured)
        if table.incident is not None:
            self._log.error("match broke down", **asdict(table.incident))
        self._count(table)
        self._storing.submit(entry, measured.result)

    def _count(self, table: ServerMatch) -> None:
        counts = self.counts
        counts.storing += 1
        for fault in table.match.faults:
            counts.faults[fault.cause.value] += 1
        counts.thinking.add(*table.timed.all_thinking_times_s())

    # -- storing (`Settles`)
    def apply_rating_changes(self, result: FinishedMatch, kept: StoreOutcome) -> None:
        """Apply the effects of a rated match: pairing skills and pauses."""
        self._pairing.rated(result.ladder, kept.changes)
        for identity in kept.paused:
            self._attendance.pause(identity)
            self._requests.forget(identity, f"{identity.shown} is paused")
            self._log.info("bot paused", owner=identity.owner, bot=identity.bot, version=identity.version)

    def tell_ended(self, entry: OpenMatch, result: FinishedMatch, now: float) -> None:
        """Report the settled end of a match to its bots, spectators and the pairing."""
        table = entry.table
        self._matches.remove(table.name)
        self.counts.storing -= 1
        ended = self.counts.matches_finished if not result.is_void else self.counts.matches_void
        ended[result.ladder] += 1
        is_void, board = result.is_void, entry.board
        places = () if is_void else [seat.place or 0 for seat in result.seats]
        self._dealing.ended(entry, now, is_void=is_void, places=places)
        is_opened = board is None or board.is_over
        self._log.info(
            "match ended",
            match=result.match,
            ladder=result.ladder,
            places=[seat.place or 0 for seat in result.seats] if is_opened else [],
            end_causes=[seat.end_cause for seat in result.seats],
            void=result.void_cause,
        )
        if board is None:
            table.close(result, is_rated=result.is_rated and not is_void)
        else:
            table.close(result, is_rated=is_opened and board.is_rated, is_opened=is_opened)
            if is_opened:
                board.open()
        if not table.is_begun:  # no session will report that its bot has a free table again
            for player in entry.players:
                self._pairing.changed(player)
        self._seek()

    def store_recovered(self) -> None:
        """Resume starting matches, since the store accepts results again."""
        self._seek()

    def incident_number(self) -> str:
        """Return a new incident number and count it."""
        self.counts.incidents += 1
        return self._entropy(4).hex()
