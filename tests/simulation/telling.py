"""The check of messages to bots: sessions, match starts, decisions and their remaining time.

No bot sees more of the cards than its seat may, and no seed before the match is over.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from cutpurse.engine.match import CORRECTIONS, EndCause
from cutpurse.v1 import arena_pb2
from cutpurse.wire.encode import MatchEncoder
from tests.simulation.books import BEAT_S, STRIKES, Asked, Books, MatchBook, SeatBook, SessionBook, StreamBook
from tests.simulation.ends import Ends
from tests.simulation.league import Rules
from tests.simulation.network import Call
from tests.simulation.reading import Reading

if TYPE_CHECKING:
    from tests.simulation.world import World

__all__ = ["Telling"]

_BY_ITSELF: Final = (EndCause.NORMAL, EndCause.CRASHED)
# Problems that an honest bot may get: of the store, the server or its ladders, or a pause caused by its network.
_NO_FAULT: Final = ("_STORAGE", "_INCIDENT", "_PAUSED", "_FROZEN", "_FULL", "_NOT_YOURS")


class Telling:
    """The check of messages to bots; after Welcome it passes waiting requests to `reading`."""

    def __init__(self, world: World, books: Books, rules: Rules, reading: Reading) -> None:
        self._world = world
        self._books = books
        self._rules = rules
        self._reading = reading
        self._ends = Ends(world, books, rules)

    def _wrong(self, what: str) -> None:
        self._world.fails(what)

    def written(self, call: Call, data: bytes) -> None:
        """Check an envelope written to a call."""
        stream = self._books.streams[call.number]
        envelope = arena_pb2.PlayResponse.FromString(data)
        name = call.caller.name
        if envelope.HasField("welcome"):
            self._welcome(call, stream, envelope.welcome)
        session = stream.session
        if session is None or self._books.live.get(name) != call.number:
            self._wrong(f"{call} is told something though it has not got the session")
            return
        stream.sent += 1
        if stream.strikes > STRIKES:
            self._wrong(f"{call} goes on after {stream.strikes} strikes")
        if envelope.envelope != stream.sent:
            self._wrong(f"{call}: envelope {envelope.envelope} after {stream.sent - 1}")
        if stream.heard < stream.sent - 1:
            self._wrong(f"{call}: two envelopes are unacknowledged")
        self._tell(call, stream, session, envelope, data)

    def _tell(
        self, call: Call, stream: StreamBook, session: SessionBook, envelope: arena_pb2.PlayResponse, data: bytes
    ) -> None:
        """Check the contents of an envelope, in the order of reading."""
        name = session.name
        for started in envelope.starts:
            self._start(session, name, started)
        opened = {ended.opening.seed for ended in envelope.ends if ended.HasField("opening")}
        opened |= {board.opening.seed for board in envelope.boards}
        for match, seed in self._books.sealed.items():
            if seed in data and seed not in opened:  # opened seeds are checked below
                self._wrong(f"{call} is told the seed of match {match}, which goes on")
        for table in envelope.accepted:
            self._accepted(session, name, table)
        for refusal in envelope.refusals:
            self._refused(session, name, refusal)
        for decision in envelope.decisions:
            self._decision(call, stream, session, name, decision)
        for ended in envelope.ends:
            self._ends.ended(stream, session, name, ended)
        for board in envelope.boards:
            self._ends.opened(session, name, board)
        for problem in envelope.problems:
            self._problem(name, problem)

    def _welcome(self, call: Call, stream: StreamBook, welcome: arena_pb2.Welcome) -> None:
        name, known = call.caller.name, self._books.sessions.get(welcome.session)
        hello = stream.hello
        assert hello is not None
        if known is None:
            known = self._books.sessions[welcome.session] = SessionBook(name)
            if welcome.resumed:
                self._wrong(f"{call} resumes a session that never was")
        elif known.name != name or hello.resume.secret != self._books.secrets.get(welcome.session):
            self._wrong(f"{call} has got the session of {known.name} without its secret")
        else:
            known.is_fresh = False
            known.sits = known.tables.keys() - known.heard - known.maybe_heard
        self._books.secrets[welcome.session] = welcome.resume_secret
        stream.session = known
        self._books.live[name] = call.number
        stream.sent = 0
        for request, at in stream.pending:
            self._reading.take(call, stream, request, at)
        stream.pending.clear()

    def _start(self, session: SessionBook, name: str, started: arena_pb2.MatchStarted) -> None:
        book = self._books.matches.get(started.match)
        if book is None or not book.is_begun:
            self._wrong(f"{name} is told of match {started.match}, which never began")
            return
        if started.table in session.heard:
            self._wrong(f"{name} has heard the end of table {started.table} and is told that it begins")
        known = session.tables.setdefault(started.table, started.match)
        names = [seat.bot for seat in started.seats]
        if known != started.match or started.seat >= len(names) or names[started.seat] != name:
            self._wrong(f"{name} is told that it sits on seat {started.seat} of {names}, table {started.table}")
        if (started.ladder == "") is not (started.match in self._rules.asked):
            self._wrong(f"{name} is told that match {started.match} counts for ladder '{started.ladder}'")
        if names != [seat.name for seat in book.seats] or started.commitment != book.table.deal.commitment:
            self._wrong(f"{name} is told of match {started.match} what is not so")
        session.sits.add(started.table)

    def _accepted(self, session: SessionBook, name: str, table: int) -> None:
        """Check an acceptance, which does not name its decision: there must not be more than accepted answers."""
        book = self._books.matches.get(session.tables.get(table, ""))
        if book is None:
            self._wrong(f"{name} is told that an answer at table {table} is accepted, and gave none")
            return
        seat = next(seat for seat in book.seats if seat.name == name)
        seat.accepted += 1
        taken = sum(one.chosen is not None and one.chosen.cause in _BY_ITSELF for one in seat.asked)
        if seat.accepted > taken and not book.is_void:
            self._wrong(
                f"{name} was told {seat.accepted} times in match {book.table.name[:8]} that an answer is accepted, "
                f"and {taken} took effect"
            )

    def _refused(self, session: SessionBook, name: str, refusal: arena_pb2.Refusal) -> None:
        book = self._books.matches.get(session.tables.get(refusal.table, ""))
        is_honest = name in self._world.honest
        reason = arena_pb2.RefusalReason.Name(refusal.reason)
        if is_honest and reason.endswith(("_ILLEGAL", "_UNKNOWN_DECISION", "_UNSPECIFIED")):
            self._wrong(f"{name} is refused: {refusal.text}")
        if book is None or refusal.reason != arena_pb2.REFUSAL_REASON_ILLEGAL:
            return
        seat = next(seat for seat in book.seats if seat.name == name)
        told = seat.asked[refusal.decision - 1].refused
        told.append(refusal.corrections_left)
        if sorted(told, reverse=True) != told or told[0] > CORRECTIONS:
            self._wrong(f"{name} is told of corrections left: {told}")

    def _decision(
        self, call: Call, stream: StreamBook, session: SessionBook, name: str, told: arena_pb2.Decision
    ) -> None:
        book = self._books.matches.get(session.tables.get(told.table, ""))
        if book is None or name not in (seat.name for seat in book.seats):
            self._wrong(f"{name} is asked at table {told.table}, where it does not sit")
            return
        at = next(at for at, seat in enumerate(book.seats) if seat.name == name)
        seat, match = book.seats[at], book.table.match
        now = match.decision(at)
        if now is None or now.number != told.decision - 1 or len(seat.asked) != told.decision:
            self._wrong(f"{name} is asked decision {told.decision} of table {told.table}, which is not open")
            return
        asked = seat.asked[-1]
        asked.told_on.add(call.number)
        effective = self._world.effective()
        is_new = asked.handed is None
        if is_new:
            asked.handed = effective
        hello = stream.hello
        assert hello is not None
        self._compare(book, at, told, hello, is_new)
        self._check_time(book, seat, asked, told, effective)

    def _compare(
        self, book: MatchBook, at: int, told: arena_pb2.Decision, hello: arena_pb2.Hello, is_new: bool
    ) -> None:
        """Compare a decision with the result of an encoder without caches."""
        seat, match = book.seats[at], book.table.match
        asked, game = seat.asked[-1], match.game
        log: Sequence[Any] = game.log or ()
        if is_new:
            first, seat.events = seat.events, len(log)
        else:
            first = asked.first
        asked.first = first
        encoder = MatchEncoder(match.rules, game.settings, len(match.seats))
        body = encoder.decision(
            table=told.table,
            number=asked.decision.number,
            ask=asked.decision.ask,
            options=asked.decision.options,
            observation=encoder.observation(game.view(at), "agenda" in hello.features),
            events=encoder.events(7, log[first : seat.events], at) if hello.events else b"",
            first_event=first,
            base_left_ms=told.base_left_ms,
            bank_left_ms=told.bank_left_ms,
            safe_option=asked.decision.options.index(game.safe_option(at, asked.decision.options)),
        )
        if arena_pb2.Decision.FromString(body) != told:
            self._wrong(f"{book.where(seat, asked)} is not what this seat may be told")

    def _check_time(
        self, book: MatchBook, seat: SeatBook, asked: Asked, told: arena_pb2.Decision, effective: float
    ) -> None:
        """Check the remaining time in a decision."""
        control = book.table.ladder.control
        base, grace = control.base_ms / 1e3, control.grace_ms / 1e3
        used = max(0.0, effective - book.started(asked) - grace)
        stalls = self._world.stalls - asked.stalls
        spared = max(0.0, used - BEAT_S * (stalls + 1)) if stalls else used
        least = max(0.0, base - used), seat.bank[0] - max(0.0, used - base)
        most = max(0.0, base - spared), seat.bank[1] - max(0.0, spared - base)
        left = told.base_left_ms / 1e3, told.bank_left_ms / 1e3
        for is_left, low, high in zip(left, least, most, strict=True):
            if not max(0.0, low) - 0.0011 <= is_left <= max(0.0, high) + 0.0001:
                where = book.where(seat, asked)
                self._wrong(f"{where}: it is told that {is_left:.3f} s are left; it has {low:.4f} to {high:.4f}")

    def _problem(self, name: str, problem: arena_pb2.Problem) -> None:
        reason = arena_pb2.ErrorReason.Name(problem.reason)
        if problem.reason == 0 or (name in self._world.honest and not reason.endswith(_NO_FAULT)):
            self._wrong(f"{name} is told of a problem: {reason}, {problem.text}")
