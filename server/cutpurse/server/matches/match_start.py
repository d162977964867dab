"""Starting matches: those of dealt boards, those requested by owners, and those that the ladders pair.

A worker's lobby pairs nothing: it starts the matches that were paired and dealt elsewhere (`AssignedMatch`).

Every deal is stored as announced before any bot is notified of it. So a killed server leaves no match that its bots
know and its successor does not. A match whose announcement fails is void, and its bots never hear of it. A match that
cannot be set up is an incident of the server and costs no bot anything. A board of several matches is dealt at once,
and its matches begin one by one. A board that cannot be completed is given up (`open_boards.py`): its matches that have
not begun are void.

This module knows no stream, no clock and no chance: times and entropy are passed in. Of the store it knows only
announcements. `ended` reports the end of a match to it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Final, cast

from cutpurse.engine.chance import KEY_BYTES, Chance
from cutpurse.engine.match import EndCause
from cutpurse.leaderboard.comparisons import TEST
from cutpurse.leaderboard.results import EventBoard, Identity, MatchAnnouncement
from cutpurse.server.counts import Counts
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.admission import BotAdmission
from cutpurse.server.matches.deal_nonces import DealNonces
from cutpurse.server.matches.deals import dealt, dealt_for_all
from cutpurse.server.matches.loop_hooks import LoopHooks, MatchBegan
from cutpurse.server.matches.matchmaking import Pairing, Seating
from cutpurse.server.matches.open_boards import OpenBoard, OpenBoards
from cutpurse.server.matches.open_matches import OpenMatch, OpenMatches
from cutpurse.server.matches.outages import OutageLimit
from cutpurse.server.matches.requests import PendingRequest, Requests
from cutpurse.server.matches.roster import PairableBot
from cutpurse.server.matches.server_match import Incident, MatchPlan, ServerMatch, TableSession, incident_of
from cutpurse.server.matches.storing import RETRY_S, Log
from cutpurse.server.matches.version_tests import DrawnBoard, VersionTests
from cutpurse.server.result_store import ResultStore
from cutpurse.wire.phrase_cache import PhraseCache

__all__ = ["AssignedMatch", "Dealing", "LobbyEnvironment"]

MOST_STARTS: Final = 16  # matches per tick: a deal takes a millisecond, and other bots wait for it


@dataclass(frozen=True, slots=True)
class LobbyEnvironment:
    """What a lobby needs from outside of it.

    Attributes:
        entropy: Returns that number of unpredictable bytes.
        utc: Returns the time of day.
        log: The server's log.
        counts: Counters to update.
        incident_number: Returns a new incident number.
        wake: Asks for a call of `tick`; may be called on any thread.
        hooks: Where it is said that a match began.
    """

    entropy: Callable[[int], bytes]
    utc: Callable[[], datetime]
    log: Log
    counts: Counts
    incident_number: Callable[[], str]
    wake: Callable[[], None]
    hooks: LoopHooks


@dataclass(frozen=True, slots=True)
class AssignedMatch:
    """A match that was paired and dealt elsewhere, which begins once its bots are online."""

    plan: MatchPlan
    players: tuple[Identity, ...]


class Dealing:
    """Starts matches for the lobby and announces them to the store."""

    def __init__(
        self,
        pairing: Pairing,
        attendance: BotAdmission,
        requests: Requests,
        tests: VersionTests,
        matches: OpenMatches,
        store: ResultStore,
        environment: LobbyEnvironment,
    ) -> None:
        """Put matches that begin into `matches`; other parameters are as in `Lobby`."""
        self._pairing = pairing
        self._attendance = attendance
        self._requests = requests
        self._tests = tests
        self._test_chance: Chance | None = None  # made for the first test
        self._boards = OpenBoards()
        self._matches = matches
        self._store = store
        self._entropy = environment.entropy
        self._utc = environment.utc
        self._log = environment.log
        self._counts = environment.counts
        self._incident_number = environment.incident_number
        self._wake = environment.wake
        self._hooks = environment.hooks
        self._outages = OutageLimit(environment.utc)
        self._phrases: dict[str, PhraseCache] = {}  # by ladder
        self._announced: deque[tuple[OpenMatch, Future[None]]] = deque()  # filled by the store's thread
        self._assigned: list[AssignedMatch] = []
        self._closed: set[str] = set()  # ladders that another arena may have

    @property
    def is_waiting(self) -> bool:
        """Whether a match of a dealt board has not begun yet."""
        return self._boards.is_waiting

    def next_event_at(self) -> float | None:
        """Return when `give_up` is next due if nothing else happens."""
        return self._boards.next_event_at()

    @property
    def has_announced(self) -> bool:
        """Whether `begin_announced` has announcements to process."""
        return bool(self._announced)

    def assign(self, match: AssignedMatch) -> None:
        """Start a match that was dealt elsewhere, once each of its bots is online."""
        self._assigned.append(match)

    # -- a match begins
    def start(self, now: float, most: int) -> bool:
        """Start at most `most` matches.

        Returns:
            Whether there may be more to start.
        """
        at = self._utc()
        shut = {ladder.name for ladder in self._pairing.ladders if ladder.is_frozen(at)} | self._closed
        return all(self._start_next(now, shut) for _ in range(min(MOST_STARTS, most)))

    def _start_next(self, now: float, shut: Container[str]) -> bool:
        """Start a match of a dealt board, else a requested match, else deal for a version test or a ladder.

        Each call begins one match of a board of several. Returns whether there was anything to start.
        """
        here = self._attendance.here
        for match in self._assigned:
            if all(identity in here for identity in match.players):
                self._assigned.remove(match)
                self._start_assigned(match, [here[identity] for identity in match.players], now)
                return True
        begun = self._boards.next(here, self._may_begin)
        if begun is not None:
            board, at, there = begun
            self._begin(board, at, now, there)
            return True
        asked = self._requests.next(self._attendance.here, now, self._boards.reserved)
        self._pairing.keep(self._requests.reserved)
        if asked is not None:
            requested, players = asked
            position = requested.position
            reason = f"{requested.by} asked for it" + (f": {position.shown}" if position is not None else "")
            self._start(Seating(requested.ladder, (tuple(players),), reason), now, requested)
            return True
        is_paused, tables = self._attendance.is_paused, len(self._matches)
        drawn = self._tests.draw(now, tables, self._pairing, here, is_paused, shut, self._chance_of_tests)
        if drawn is not None:
            self._deal(drawn.seating, now, drawn)
            return True
        seating = self._pairing.next(now, shut)
        if seating is None:
            return False
        if len(seating.tables) == 1:
            self._start(seating, now, None)
        else:
            self._deal(seating, now)
        return True

    def _may_begin(self, board: OpenBoard) -> bool:
        """Return whether a match of a board may begin now; those of version tests have a share of the tables."""
        return board.drawn is None or self._tests.has_room(len(self._matches))

    def _chance_of_tests(self) -> Chance:
        if self._test_chance is None:
            self._test_chance = Chance(self._entropy(KEY_BYTES))
        return self._test_chance

    def _start(self, seating: Seating, now: float, requested: PendingRequest | None) -> None:
        ladder, reason = seating.ladder, seating.reason
        players = cast("tuple[TableSession, ...]", seating.players)
        seats = tuple(player.identity for player in players)
        name, by, seed = (
            (self._entropy(16).hex(), "", None) if requested is None else (requested.name, requested.by, requested.seed)
        )
        position = None if requested is None else requested.position
        try:
            hides_names = self._hides_names(ladder)
            deal = dealt(ladder, name, seats, self._entropy, seed, position, hides_names=hides_names)
            # The client that chose a seed wants the same cards again, and no record shows the deal of a position.
            nonces = DealNonces() if seed is None and position is None else None
            plan = MatchPlan(ladder, name, deal, by, reason, position=position, nonces=nonces, hides_names=hides_names)
            table = self._table(plan, players, now)
        except Exception as problem:
            incident = incident_of(problem, self._incident_number(), name)
            self._tell(incident)
            if requested is not None:
                self._requests.drop(name, f"the server made a fault, number {incident.number}")
            else:
                self._pairing.ended(seating, 0.0, is_void=True)
                self._pairing.postpone(ladder, now + RETRY_S)
            return
        if by:
            self._pairing.sat(players)
        entry = OpenMatch(table, players, seating, self._utc(), seats, is_paired=requested is None)
        rules = ladder.rules.words.version
        event_board = None if requested is None else requested.event_board
        announced = MatchAnnouncement(
            name, ladder.name, rules, deal, entry.started, seats, by, reason, event_board=event_board
        )
        self._seat(entry, self._store.announce(announced))

    def _start_assigned(self, match: AssignedMatch, players: Sequence[TableSession], now: float) -> None:
        plan = match.plan
        seating = Seating(plan.ladder, (tuple(players),), plan.reason)
        table = self._table(plan, players, now)
        self._pairing.sat(players)
        entry = OpenMatch(table, tuple(players), seating, self._utc(), match.players, is_paired=False)
        rules = plan.ladder.rules.words.version
        announced = MatchAnnouncement(
            plan.name, plan.ladder.name, rules, plan.deal, entry.started, match.players, reason=plan.reason
        )
        self._seat(entry, self._store.announce(announced))

    def _table(self, plan: MatchPlan, players: Sequence[TableSession], now: float) -> ServerMatch:
        """Deal a match, whose bots are not notified yet.  Raises what the rules raise."""
        phrases = self._phrases_of(plan.ladder)
        return ServerMatch(plan, players, now, self._matches.moved, self._incident_number, phrases, self._outages.take)

    def _hides_names(self, ladder: Ladder) -> bool:
        """Return whether a match that is dealt now hides its names, by the terms that the ladder has now."""
        current = self._pairing.ladder_named(ladder.name) or ladder
        return current.terms.hides_names(self._utc())

    # -- boards of several matches
    def _deal(self, seating: Seating, now: float, drawn: DrawnBoard | None = None) -> None:
        """Deal a board of several matches, for a ladder or a version test: announce all of them, and begin none."""
        ladder, utc = seating.ladder, self._utc()
        tables = tuple(tuple(player.identity for player in table) for table in seating.tables)
        matches = tuple(self._entropy(16).hex() for _ in tables)
        kind, by, event_board = ladder.boards, "", None
        if drawn is not None:
            kind, by, event_board = TEST, drawn.test.owner, EventBoard(drawn.test.id, 0, drawn.number)
        hides_names = self._hides_names(ladder)
        by_match = dict(zip(matches, tables, strict=True))
        deal = dealt_for_all(ladder, by_match, self._entropy, kind, hides_names=hides_names)
        if drawn is not None:
            for table in seating.tables:
                self._pairing.sat(table)
        rules = ladder.rules.words.version
        announced = tuple(
            self._store.announce(
                MatchAnnouncement(
                    name, ladder.name, rules, deal, utc, seats, by, seating.reason, len(tables), event_board
                )
            )
            for name, seats in zip(matches, tables, strict=True)
        )
        self._boards.dealt(OpenBoard(seating, deal, matches, announced, now, drawn, hides_names))
        self._log.info("board dealt", board=deal.board, ladder=ladder.name, kind=kind, matches=list(matches))

    def _begin(self, board: OpenBoard, at: int, now: float, there: tuple[PairableBot, ...] | None = None) -> None:
        """Begin a match of a board with the online bots `there`; if None, void it unplayed."""
        seating, name = board.seating, board.matches[at]
        ladder, players = seating.ladder, cast("tuple[TableSession, ...]", there or seating.tables[at])
        if there is not None:  # some may have reconnected since they were chosen
            self._pairing.rose(seating.tables[at])
            self._pairing.sat(there)
        seats = tuple(player.identity for player in seating.tables[at])
        drawn = board.drawn
        by = "" if drawn is None else drawn.test.owner
        matches = len(seating.tables)
        plan = MatchPlan(
            ladder,
            name,
            board.deal,
            by,
            seating.reason,
            matches,
            nonces=board.nonces,
            hides_names=board.hides_names,
        )
        if drawn is not None:
            self._tests.match_began()
        try:
            table = self._table(plan, players, now)
        except Exception as problem:
            self._tell(incident_of(problem, self._incident_number(), name))
            self._pairing.rose(players)
            if drawn is None:
                self._pairing.postpone(ladder, now + RETRY_S)
            self._ended_on(board, at, None, now, is_void=True)
            if board.is_over:
                board.open()
            return
        entry = OpenMatch(table, players, seating, self._utc(), seats, board)
        if there is not None:
            self._seat(entry, board.announced[at])
        else:
            self._matches.add(entry)
            table.void(EndCause.VOID_SERVER)

    def withdrawn(self, identity: Identity) -> None:
        """Give up what waits for this version, which will not return."""
        self._boards.withdrawn(identity)

    def give_up(self, now: float, is_stopping: bool) -> None:
        """Void the matches that have not begun on boards that cannot be completed.

        Args:
            now: Seconds on the lobby's clock.
            is_stopping: Whether no match may begin any more, so that every board is given up.
        """
        if not self._boards.is_waiting:
            return
        for board, at in self._boards.given_up(now, self._attendance.is_paused, is_stopping, self._closed):
            self._begin(board, at, now)

    # -- a match is over
    def ended(self, entry: OpenMatch, now: float, *, is_void: bool, places: Sequence[int] = ()) -> None:
        """Note the end of a match.

        Args:
            entry: The match.
            now: Seconds on the lobby's clock.
            is_void: Whether it counts for nothing.
            places: Places by seat; empty if it is void.
        """
        table = entry.table
        if entry.board is not None:
            self._pairing.rose(entry.players)
            at = entry.board.matches.index(table.name)
            self._ended_on(entry.board, at, table, now, is_void, places)
        elif entry.is_paired:
            self._pairing.ended(entry.seating, now - table.began, is_void)
        else:
            self._pairing.rose(entry.players)
            self._requests.ended(table.name)

    def _ended_on(
        self,
        board: OpenBoard,
        at: int,
        table: ServerMatch | None,
        now: float,
        is_void: bool,
        places: Sequence[int] = (),
    ) -> None:
        """Note the end of a match of a board; the last one ends the board."""
        board.ended(table, now, is_void)
        if board.drawn is not None:
            self._tests.match_ended(board.drawn, at, places)
        if board.is_over:
            self._boards.over(board)
            if board.drawn is None:
                self._pairing.closed(board.seating, now - board.began, board.is_void)
            else:
                self._tests.board_ended(board.drawn, now, board.is_void)
            self._log.info("board ended", board=board.deal.board, is_void=board.is_void)

    # -- all kinds of matches
    def _seat(self, entry: OpenMatch, announced: Future[None]) -> None:
        """Seat the bots of a dealt match, which begins once its announcement is stored."""
        self._matches.add(entry)
        entry.table.seat()
        for player in entry.players:
            self._pairing.changed(player)
        announced.add_done_callback(lambda done: self._is_announced(entry, done))

    def _is_announced(self, entry: OpenMatch, done: Future[None]) -> None:
        """Queue the announcement and wake the lobby; runs on the store's thread."""
        self._announced.append((entry, done))
        self._wake()

    def begin_announced(self, now: float, is_stopping: bool) -> None:
        """Begin the matches whose announcements are stored.

        Void those whose announcements failed, and all of them if the server is stopping.
        """
        while self._announced:
            entry, done = self._announced.popleft()
            if entry.table.over:  # voided in the meantime
                continue
            if is_stopping or done.cancelled() or done.exception() is not None:
                entry.table.void(EndCause.VOID_SERVER)
            else:
                self._tell_begun(entry, now)

    def _tell_begun(self, entry: OpenMatch, now: float) -> None:
        table, ladder = entry.table, entry.seating.ladder
        name, reason = table.name, table.reason
        self._counts.matches_started[ladder.name] += 1
        self._log.info("match started", match=name, ladder=ladder.name, bots=list(table.match.seats), reason=reason)
        table.begin(now, lambda: self._tell_dealt(entry))

    def _tell_dealt(self, entry: OpenMatch) -> None:
        self._hooks.send(MatchBegan(entry))

    def close_ladder(self, name: str) -> None:
        """Begin no match of a ladder, and give up those of its boards that have not begun, until it is removed."""
        self._closed.add(name)

    def forget_ladder(self, name: str) -> None:
        """Drop the phrase cache of a removed ladder, since a later ladder may reuse its name."""
        self._phrases.pop(name, None)
        self._closed.discard(name)

    def _phrases_of(self, ladder: Ladder) -> PhraseCache:
        phrases = self._phrases.get(ladder.name)
        if phrases is None:
            phrases = self._phrases[ladder.name] = PhraseCache(ladder.rules, ladder.seats)
        return phrases

    def _tell(self, incident: Incident) -> None:
        self._log.error("match broke down", **asdict(incident))
