"""A second opinion on all that the server does: what each bot sent and was told, and what follows from that.

The watch sees the bytes of every call, the tables with their matches, and what is on the disk; of the server's own
books it believes nothing. It has its own count of time: `effective`, in which the server's stalls do not exist. A clock
may be more generous than that by the little that a stall is credited too much, and never less.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from google.protobuf.message import DecodeError
from google.rpc import code_pb2

from cutpurse.engine.match import CORRECTIONS, FAULTS, EndCause
from cutpurse.sdk.wire.encode import MatchEncoder
from cutpurse.server.errors import Ending
from cutpurse.server.table import Table
from cutpurse.v1 import arena_pb2
from tests.simulation.books import Asked, MatchBook, Read, SeatBook, SessionBook, StreamBook
from tests.simulation.disk import Kept
from tests.simulation.league import Rules
from tests.simulation.network import Call

if TYPE_CHECKING:
    from tests.simulation.world import World

__all__ = ["Watch"]

_EPS: Final = 2e-5
_BEAT_S: Final = 0.065  # what the credit of one stall may be too generous
_AFTER_S: Final = 0.004  # until a decision that is late is closed
_STRIKES: Final = 3
_OWN: Final = EndCause.NORMAL
_BY_ITSELF: Final = (EndCause.NORMAL, EndCause.CRASHED)
_TIME: Final = (EndCause.TIMEOUT, EndCause.DISCONNECTED)


class Watch:
    """See the module's docstring. What it finds wrong it tells the world."""

    def __init__(self, world: World) -> None:
        self.matches: dict[str, MatchBook] = {}
        self.decisions = 0
        self.rules = Rules(world)
        self._world = world
        self._streams: dict[int, StreamBook] = {}
        self._sessions: dict[str, SessionBook] = {}
        self._live: dict[str, int] = {}  # by bot, its newest call that was let in
        self._secrets: dict[str, bytes] = {}
        self._sealed: dict[str, bytes] = {}  # seeds that nobody may see, by match

    def restart(self) -> None:
        """The server has died: what it kept in memory is gone."""
        self._streams.clear()
        self._sessions.clear()
        self._live.clear()
        self._sealed.clear()

    def _wrong(self, what: str) -> None:
        self._world.fails(what)

    def session_of_another(self, name: str) -> str:
        """The id of a session that is not this bot's."""
        return next((id for id, session in self._sessions.items() if session.name != name), "0" * 32)

    # -- matches
    def made(self, table: Table) -> None:
        """A match was dealt."""
        identities = [player.player.identity for player in table.seats]
        names = [identity.bot for identity in identities]
        self.rules.check(table, identities)
        if len(set(names)) < len(names):
            self._wrong(f"match {table.name}: a bot sits at one table twice: {names}")
        if table.name in self.matches:
            self._wrong(f"match {table.name} was dealt twice")
        if self._world.is_draining:
            self._wrong(f"match {table.name} begins though the server drains")
        for taken in table.seats:
            name = taken.player.identity.bot
            if not self._world.has_stream(name):
                self._wrong(f"match {table.name} begins with {name}, which has no stream")
            bot = self._world.honest.get(name)
            session = self._sessions.get(getattr(taken.player, "id", ""))
            if bot is not None and session is not None and len(session.sits) >= bot.tables:
                self._wrong(f"{bot.name} sits at more than {bot.tables} tables: {sorted(session.sits)}")
        bank = table.ladder.control.bank_ms / 1e3
        seats = [
            SeatBook(taken.player.identity.bot, getattr(taken.player, "id", ""), (bank, bank)) for taken in table.seats
        ]
        self.matches[table.name] = MatchBook(table, seats, self._world.lives)
        if not self.rules.has_chosen(table.name):
            self._sealed[table.name] = table.deal.seed
        self._world.say(f"match {table.name[:8]} of {names} begins")

    def moved(self, table: Table) -> None:
        """Something may have happened in a match."""
        book = self.matches[table.name]
        match = table.match
        if table.incident is not None or book.life != self._world.lives:
            return
        now, effective = self._world.course.now, self._world.effective()
        for chosen in match.choices[book.choices :]:
            book.seats[chosen.seat].choices.append(chosen)
        book.choices = len(match.choices)
        for at, seat in enumerate(book.seats):
            open_now = match.decision(at)
            if seat.asked and not seat.asked[-1].is_closed:
                asked = seat.asked[-1]
                if open_now is None or open_now.number != asked.decision.number:
                    self._close(book, seat, asked, effective)
            if open_now is not None and open_now.number >= len(seat.asked):
                self.decisions += 1
                self._count_cards(book)
                seat.asked.append(Asked(open_now, effective, self._world.stalls))
        self._follow_windows(book, now)

    def _count_cards(self, book: MatchBook) -> None:
        game = book.table.match.game
        lies = sorted(card for zone in game.zones() for card in zone.cards)
        if lies != sorted(game.box(game.n, game.settings)):
            self._wrong(f"match {book.table.name}: CardsLost, before a decision is put")

    def _follow_windows(self, book: MatchBook, now: float) -> None:
        match = book.table.match
        if match.questions == book.questions and not match.over:
            return
        if book.is_window and not self._is_void(book):
            floor = book.table.ladder.control.poll_floor_ms / 1e3
            if now - book.put_at < floor - _EPS or match.questions > book.questions + 1:
                self._wrong(f"match {book.table.name}: a window shut {now - book.put_at:.6f} s after it was put")
        book.questions, book.put_at = match.questions, now
        book.is_window = not match.over and match.game.question.window

    def _is_void(self, book: MatchBook) -> bool:
        match = book.table.match
        return match.over and match.result().voided

    def _close(self, book: MatchBook, seat: SeatBook, asked: Asked, at: float) -> None:
        """A decision is open no more: was it right to close it, and as it was closed?"""
        asked.is_closed = True
        number = asked.decision.number
        if number >= len(seat.choices):
            if not self._is_void(book):
                self._wrong(f"{self._where(book, seat, asked)} is closed without a choice")
            return
        chosen = asked.chosen = seat.choices[number]
        control = book.table.ladder.control
        base, grace = control.base_ms / 1e3, control.grace_ms / 1e3
        started = self._started(book, asked)
        thought = max(0.0, at - started)
        slack = _AFTER_S + _BEAT_S * (self._world.stalls - asked.stalls + 1) * (self._world.stalls > asked.stalls)
        least, most = (bank + base + grace for bank in seat.bank)
        where = self._where(book, seat, asked)
        if thought > most + slack:
            self._wrong(f"{where} was open for {thought:.3f} s of {most:.3f}")
        if chosen.cause in _TIME:
            if thought < least - _EPS:
                self._wrong(f"{where} was closed after {thought:.3f} s of {least:.3f}")
            self._judge_time_out(seat, asked, started + least, where)
        elif chosen.cause is _OWN:
            options = asked.decision.options
            said = {read.option for read in asked.reads if read.is_live and not read.gives_up}
            said |= self._said_before_welcome(book, seat, asked)
            if not any(options[o] == chosen.option for o in said if o is not None and o < len(options)):
                self._wrong(f"{where}: {seat.name} never chose what was taken for it; it said {said}")
        elif chosen.cause is EndCause.ILLEGAL:
            count = self._illegal(asked)
            if count != CORRECTIONS + 1:
                self._wrong(f"{where} was closed after {count} illegal answers")
        elif not any(read.gives_up and read.is_live for read in asked.reads):
            self._wrong(f"{where} was closed for {chosen.cause} though nobody gave up")
        least, most = seat.bank
        spent = min(max(0.0, thought - grace - base), most)
        spared = max(0.0, thought - slack - grace - base) if self._world.stalls > asked.stalls else spent
        seat.bank = max(0.0, least - spent), max(0.0, most - spared)
        faults = [one for one in book.table.match.faults if one.seat == book.seats.index(seat)]
        if len(faults) > FAULTS:
            self._wrong(f"{where}: {len(faults)} faults and not played on")

    def _illegal(self, asked: Asked) -> int:
        """How many illegal answers count: one that was given on an earlier call is its repeat."""
        count = 0
        given_on: dict[int | None, int] = {}
        for read in asked.reads:
            if read.gives_up or self._is_legal(asked, read) or not read.is_live:
                continue
            count += given_on.setdefault(read.option, read.call) == read.call
        return count

    def _judge_time_out(self, seat: SeatBook, asked: Asked, deadline: float, where: str) -> None:
        for read in asked.reads:
            if read.is_sure and read.at <= deadline - _EPS and (read.gives_up or self._is_legal(asked, read)):
                self._wrong(f"{where}: {seat.name} answered in time, {deadline - read.at:.3f} s before the end")
        live = self._live.get(seat.name)
        stream = self._streams.get(live) if live is not None else None
        bot = self._world.honest.get(seat.name)
        if stream is None or bot is None or live in asked.told_on or live is None or self._world.is_gone(live):
            return
        if stream.session is not self._sessions.get(seat.session):
            return  # that one has forgotten its tables
        if stream.session is not None and stream.sent == stream.heard and stream.sent:
            self._wrong(f"{where}: {seat.name} was never asked on {live}, and has read all that it was sent")

    def _said_before_welcome(self, book: MatchBook, seat: SeatBook, asked: Asked) -> set[int | None]:
        """What was read of a decision on a stream that has resumed its session and was not welcomed yet."""
        session, secret = self._sessions.get(seat.session), self._secrets.get(seat.session)
        if session is None:
            return set()
        streams = (stream for stream in self._streams.values() if stream.session is None and stream.hello is not None)
        resuming = [stream for stream in streams if stream.hello is not None and stream.hello.resume.secret == secret]
        return {
            answer.option
            for stream in resuming
            for request, _ in stream.pending
            for answer in request.answers
            if session.tables.get(answer.table) == book.table.name and answer.decision == asked.decision.number + 1
        }

    def _is_being_taken_over(self, session: SessionBook) -> bool:
        """Whether another call has said who it is, as the same bot, and was not welcomed yet."""
        return any(
            stream.session is None and stream.hello is not None and stream.hello.bot == session.name
            for stream in self._streams.values()
            if not stream.is_ended
        )

    @staticmethod
    def _is_legal(asked: Asked, read: Read) -> bool:
        return read.option is not None and read.option < len(asked.decision.options)

    def _started(self, book: MatchBook, asked: Asked) -> float:
        latest = asked.put + book.table.ladder.control.handover_ms / 1e3
        return latest if asked.handed is None else min(latest, asked.handed)

    def _where(self, book: MatchBook, seat: SeatBook, asked: Asked) -> str:
        return f"match {book.table.name[:8]}, decision {asked.decision.number + 1} of {seat.name}"

    # -- what the server reads
    def read(self, call: Call, data: bytes) -> None:
        """An envelope was read on a call."""
        stream = self._streams.setdefault(call.number, StreamBook())
        try:
            request = arena_pb2.PlayRequest.FromString(data)
        except DecodeError:
            stream.strikes += 1
            return
        at = self._world.effective()
        if stream.session is None:
            if stream.hello is None and request.HasField("hello"):
                stream.hello = request.hello
            stream.pending.append((request, at))
            return
        self._take(call, stream, request, at)

    def _take(self, call: Call, stream: StreamBook, request: arena_pb2.PlayRequest, at: float) -> None:
        session = stream.session
        assert session is not None
        if request.received > stream.sent or (request.HasField("hello") and stream.sent):
            stream.strikes += 1
            return  # nothing of it counts
        is_live = self._live.get(session.name) == call.number
        is_sure = is_live and not self._world.is_gone(call.number) and not stream.is_ended and stream.strikes < _STRIKES
        is_sure = is_sure and not self._is_being_taken_over(session)
        if request.received > stream.heard:
            stream.heard = request.received
            for envelope in [one for one in stream.ends if one <= stream.heard]:
                if is_sure:
                    session.heard.update(stream.ends.pop(envelope))
                else:
                    session.maybe_heard.update(stream.ends[envelope])
        for answer in request.answers:
            option = answer.option if answer.HasField("option") else None
            self._said(session, answer.table, answer.decision, Read(option, at, is_live, is_sure, call.number))
        for given_up in request.give_ups:
            read = Read(None, at, is_live, is_sure, call.number, gives_up=True)
            self._said(session, given_up.table, given_up.decision, read)

    def _said(self, session: SessionBook, table: int, decision: int, read: Read) -> None:
        book = self.matches.get(session.tables.get(table, ""))
        if book is None:
            return
        seat = next(seat for seat in book.seats if seat.name == session.name)
        if 0 < decision <= len(seat.asked):
            asked = seat.asked[decision - 1]
            if not asked.is_closed:
                asked.reads.append(read)

    # -- what the server writes
    def written(self, call: Call, data: bytes) -> None:
        """An envelope was written to a call."""
        stream = self._streams[call.number]
        envelope = arena_pb2.PlayResponse.FromString(data)
        name = call.caller.name
        if envelope.HasField("welcome"):
            self._welcome(call, stream, envelope.welcome)
        session = stream.session
        if session is None or self._live.get(name) != call.number:
            self._wrong(f"{call} is told something though it has not got the session")
            return
        stream.sent += 1
        if stream.strikes > _STRIKES:
            self._wrong(f"{call} goes on after {stream.strikes} strikes")
        if envelope.envelope != stream.sent:
            self._wrong(f"{call}: envelope {envelope.envelope} after {stream.sent - 1}")
        if stream.heard < stream.sent - 1:
            self._wrong(f"{call}: two envelopes are unacknowledged")
        self._tell(call, stream, session, envelope, data)

    def _tell(
        self, call: Call, stream: StreamBook, session: SessionBook, envelope: arena_pb2.PlayResponse, data: bytes
    ) -> None:
        """What stands in an envelope, in the order in which it is read."""
        name = session.name
        for started in envelope.starts:
            self._start(session, name, started)
        opened = {ended.opening.seed for ended in envelope.ends if ended.HasField("opening")}
        opened |= {board.opening.seed for board in envelope.boards}
        for match, seed in self._sealed.items():
            if seed in data and seed not in opened:  # those are looked at below
                self._wrong(f"{call} is told the seed of match {match}, which goes on")
        for table in envelope.accepted:
            self._accepted(session, name, table)
        for refusal in envelope.refusals:
            self._refused(session, name, refusal)
        for decision in envelope.decisions:
            self._decision(call, stream, session, name, decision)
        for ended in envelope.ends:
            self._end(stream, session, name, ended)
        for board in envelope.boards:
            self._opened(session, name, board)
        for problem in envelope.problems:
            self._problem(name, problem)

    def _welcome(self, call: Call, stream: StreamBook, welcome: arena_pb2.Welcome) -> None:
        name, known = call.caller.name, self._sessions.get(welcome.session)
        hello = stream.hello
        assert hello is not None
        if known is None:
            known = self._sessions[welcome.session] = SessionBook(name)
            if welcome.resumed:
                self._wrong(f"{call} resumes a session that never was")
        elif known.name != name or hello.resume.secret != self._secrets.get(welcome.session):
            self._wrong(f"{call} has got the session of {known.name} without its secret")
        else:
            known.is_fresh = False
            known.sits = known.tables.keys() - known.heard - known.maybe_heard
        self._secrets[welcome.session] = welcome.resume_secret
        stream.session = known
        self._live[name] = call.number
        stream.sent = 0
        for request, at in stream.pending:
            self._take(call, stream, request, at)
        stream.pending.clear()

    def _start(self, session: SessionBook, name: str, started: arena_pb2.MatchStarted) -> None:
        book = self.matches.get(started.match)
        if book is None:
            self._wrong(f"{name} is told of match {started.match}, which never began")
            return
        if started.table in session.heard:
            self._wrong(f"{name} has heard the end of table {started.table} and is told that it begins")
        known = session.tables.setdefault(started.table, started.match)
        names = [seat.bot for seat in started.seats]
        if known != started.match or started.seat >= len(names) or names[started.seat] != name:
            self._wrong(f"{name} is told that it sits on seat {started.seat} of {names}, table {started.table}")
        if (started.ladder == "") is not (started.match in self.rules.asked):
            self._wrong(f"{name} is told that match {started.match} counts for ladder '{started.ladder}'")
        if names != [seat.name for seat in book.seats] or started.commitment != book.table.deal.commitment:
            self._wrong(f"{name} is told of match {started.match} what is not so")
        session.sits.add(started.table)

    def _accepted(self, session: SessionBook, name: str, table: int) -> None:
        """Which decision it was is not told; so there may not be more of these than answers that took effect."""
        book = self.matches.get(session.tables.get(table, ""))
        if book is None:
            self._wrong(f"{name} is told that an answer at table {table} is accepted, and gave none")
            return
        seat = next(seat for seat in book.seats if seat.name == name)
        seat.accepted += 1
        taken = sum(one.chosen is not None and one.chosen.cause in _BY_ITSELF for one in seat.asked)
        if seat.accepted > taken and not self._is_void(book):
            self._wrong(
                f"{name} was told {seat.accepted} times in match {book.table.name[:8]} that an answer is accepted, "
                f"and {taken} took effect"
            )

    def _refused(self, session: SessionBook, name: str, refusal: arena_pb2.Refusal) -> None:
        book = self.matches.get(session.tables.get(refusal.table, ""))
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
        book = self.matches.get(session.tables.get(told.table, ""))
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
        """What a seat is told is what an encoder that keeps nothing would tell it."""
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
            view=game.view(at),
            events=log[first : seat.events] if hello.events else (),
            first_event=first,
            base_left_ms=told.base_left_ms,
            bank_left_ms=told.bank_left_ms,
            safe_option=asked.decision.options.index(game.safe_option(at, asked.decision.options)),
            agenda="agenda" in hello.features,
        )
        if arena_pb2.Decision.FromString(body) != told:
            self._wrong(f"{self._where(book, seat, asked)} is not what this seat may be told")

    def _check_time(
        self, book: MatchBook, seat: SeatBook, asked: Asked, told: arena_pb2.Decision, effective: float
    ) -> None:
        """What it is told of its time is what is left of it."""
        control = book.table.ladder.control
        base, grace = control.base_ms / 1e3, control.grace_ms / 1e3
        used = max(0.0, effective - self._started(book, asked) - grace)
        stalls = self._world.stalls - asked.stalls
        spared = max(0.0, used - _BEAT_S * (stalls + 1)) if stalls else used
        least = max(0.0, base - used), seat.bank[0] - max(0.0, used - base)
        most = max(0.0, base - spared), seat.bank[1] - max(0.0, spared - base)
        left = told.base_left_ms / 1e3, told.bank_left_ms / 1e3
        for is_left, low, high in zip(left, least, most, strict=True):
            if not max(0.0, low) - 0.0011 <= is_left <= max(0.0, high) + 0.0001:
                where = self._where(book, seat, asked)
                self._wrong(f"{where}: it is told that {is_left:.3f} s are left; it has {low:.4f} to {high:.4f}")

    def _end(self, stream: StreamBook, session: SessionBook, name: str, ended: arena_pb2.MatchEnded) -> None:
        match = session.tables.get(ended.table, "")
        book = self.matches.get(match)
        if book is None:
            self._wrong(f"{name} is told the end of table {ended.table}, of which it was told nothing")
            return
        if ended.table in session.heard:
            self._wrong(f"{name} is told the end of table {ended.table} though it has heard of it")
        if any(ended.table in tables for tables in stream.ends.values()):
            self._wrong(f"{name} is told the end of table {ended.table} twice on one stream")
        stream.ends.setdefault(stream.sent, []).append(ended.table)
        session.sits.discard(ended.table)
        self._check_result(name, book, ended)
        kept = self._world.disk.kept().get(match)
        if ended.rated and (kept is None or kept.sequence is None):
            self._wrong(f"{name} is told that match {match} is rated; on the disk is {kept}")
        if not ended.voided and kept is None:
            self._wrong(f"{name} is told the end and the seed of match {match}, which is not stored")
        is_asked = match in self.rules.asked
        if not book.table.tables and ended.rated is (ended.voided or is_asked):
            self._wrong(f"match {match} is told to be both or neither of rated and void, or on request")
        if book.table.tables and ended.rated and not ended.HasField("opening"):
            self._wrong(f"match {match} is told to be rated before its board is over")
        if ended.HasField("opening"):
            self._unseal(name, book, ended.opening, ended.rated)
        elif not book.table.tables:
            self._wrong(f"{name} is told the end of match {match}, and not what was dealt")

    def _opened(self, session: SessionBook, name: str, opened: arena_pb2.BoardOpened) -> None:
        book = self.matches.get(opened.match)
        if book is None or opened.match not in session.tables.values() or book.told is None:
            self._wrong(f"{name} is told what was dealt in match {opened.match}, of whose end it was not told")
        elif opened.board != book.table.deal.board:
            self._wrong(f"{name} is told of board {opened.board}, and played on {book.table.deal.board}")
        else:
            self._unseal(name, book, opened.opening, opened.rated)

    def _unseal(self, name: str, book: MatchBook, opening: arena_pb2.Opening, is_rated: bool) -> None:
        """What was dealt is told: all matches with these cards are over, and kept if they count."""
        table = book.table
        if opening.seed != table.deal.seed or opening.params != table.deal.params:
            self._wrong(f"match {table.name} was opened with another seed than it was dealt from")
        kept = self._world.disk.kept()
        mates = [other for other in self.matches.values() if other.table.deal.seed == opening.seed and table.tables]
        for other in mates:
            if not other.table.over:
                self._wrong(f"{name} is told what was dealt while match {other.table.name} is played with it")
            self._sealed.pop(other.table.name, None)
        voids = [one.is_void for one in kept.values() if one.board == table.deal.board]
        if table.tables and is_rated and (any(voids) or len(voids) < len(table.tables)):
            self._wrong(f"{name} is told that board {table.deal.board} is rated, and of its matches void are {voids}")
        self._sealed.pop(table.name, None)

    def _check_result(self, name: str, book: MatchBook, ended: arena_pb2.MatchEnded) -> None:
        table = book.table
        if not table.over:
            self._wrong(f"{name} is told that match {table.name} is over, and it is not")
            return
        if not ended.voided:
            result = table.match.result()
            told = [(seat.place, seat.score) for seat in ended.seats]
            if told != list(zip(result.places, result.scores, strict=True)):
                self._wrong(f"{name} is told that match {table.name} ended {told}, and it ended {result}")
            names = {cause: number for number, cause in enumerate(EndCause, 1)}
            if [seat.end_cause for seat in ended.seats] != [names[cause] for cause in result.end_causes]:
                self._wrong(f"{name} is told other end causes of match {table.name} than {result.end_causes}")
        first = book.told
        if first is None:
            book.told = ended
        elif (first.voided, list(first.seats)) != (ended.voided, list(ended.seats)):
            self._wrong(f"match {table.name} ends differently for {name} than for others")

    def _problem(self, name: str, problem: arena_pb2.Problem) -> None:
        reason = arena_pb2.ErrorReason.Name(problem.reason)
        if problem.reason == 0 or (
            name in self._world.honest and not reason.endswith(("_STORAGE", "_INCIDENT", "_PAUSED"))
        ):
            self._wrong(f"{name} is told of a problem: {reason}, {problem.text}")

    def ended(self, call: Call, how: Ending) -> None:
        """The server ends a call with a status."""
        if call.number in self._streams:
            self._streams[call.number].is_ended = True
        known = f"ERROR_REASON_{how.reason}" in arena_pb2.ErrorReason.keys()  # noqa: SIM118 # no mapping
        if how.reason == "" and how.code == code_pb2.UNAVAILABLE:
            return  # another stream of the same session has come
        if not known or how.reason == "INCIDENT":
            self._wrong(f"{call} ends with {how}")
        if how.reason == "BAD_MESSAGE" and call.caller.name in self._world.honest:
            self._wrong(f"{call} of a bot that keeps all rules ends with {how}")

    # -- in the end
    def conclude(self) -> None:
        """Nothing goes on any more: what was told must be what is kept."""
        kept = self._world.disk.kept()
        self._conclude_kept(kept)
        for name, book in self.matches.items():
            if book.told is not None and not book.told.voided and name not in kept:
                self._wrong(f"match {name} was told as rated, and is lost")
            if book.life == self._world.lives and name not in kept:
                self._wrong(f"match {name} began under this server and is not kept")
        for name in sorted(self._world.disk.announced()):
            self._wrong(f"match {name} was announced, and is neither kept nor void")
        for problem in self._world.disk.problems():
            self._wrong(f"the leaderboard: {problem}")

    def _conclude_kept(self, kept: dict[str, Kept]) -> None:
        last: dict[str, dict[str, int]] = {}
        boards: dict[str, list[Kept]] = {}
        for match in kept.values():
            boards.setdefault(match.board, []).append(match)
        for name, match in kept.items():
            book = self.matches.get(name)
            mates = boards[match.board]
            counts = len(mates) == match.board_matches and not any(one.is_void for one in mates)
            if book is None and match.is_void and match.board_matches > 1:
                continue  # it never began
            if book is None:
                self._wrong(f"match {name} is on the disk and never was")
            elif match.is_rated is (name in self.rules.asked):
                self._wrong(f"match {name} was {'asked for' if match.is_rated else 'a ladder of its own'}: {match}")
            elif (counts and match.is_rated) is (match.sequence is None):
                self._wrong(f"match {name} or its board is void or asked for, and rated, or neither: {match}")
            elif book.told is not None and book.told.voided is not match.is_void:
                self._wrong(
                    f"match {name} was told as {'void' if book.told.voided else 'rated'} and is kept as {match}"
                )
            elif not match.is_void and not book.table.over:
                self._wrong(f"match {name} was never over, and is kept as {match}")
            elif not match.is_void and match.places != book.table.match.result().places:
                self._wrong(f"match {name} is kept with places {match.places}")
            if match.sequence is not None:
                last.setdefault(match.ladder, {})[match.board] = match.sequence
        for ladder, numbers in last.items():
            sequences = list(numbers.values())
            if sorted(sequences) != list(range(1, len(sequences) + 1)):
                self._wrong(f"the ledger of {ladder} has a gap or a number twice: {sorted(sequences)}")
