"""The check of decisions: which were asked of which seat, and whether they were closed rightly.

A clock may give slightly more time than the watch's own count, because the credit for a stall is rounded up. It may
never give less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cutpurse.engine.match import CORRECTIONS, FAULTS, Chosen, EndCause, OpenDecision
from cutpurse.server.matches.server_match import ServerMatch
from tests.simulation.books import BEAT_S, EPS, Asked, Books, MatchBook, Read, SeatBook

if TYPE_CHECKING:
    from tests.simulation.world import World

__all__ = ["Deciding"]

_AFTER_S: Final = 0.004  # maximum delay until a late decision is closed
_OWN: Final = EndCause.NORMAL
_TIME: Final = (EndCause.TIMEOUT, EndCause.DISCONNECTED)


class Deciding:
    """The check of decisions."""

    def __init__(self, world: World, books: Books) -> None:
        self.count = 0  # number of decisions asked
        self._world = world
        self._books = books

    def _wrong(self, what: str) -> None:
        self._world.fails(what)

    def moved(self, table: ServerMatch) -> None:
        """Process all changes of a match since the last call."""
        book = self._books.matches[table.name]
        match = table.match
        if table.incident is not None or book.life != self._world.lives:
            return
        now, effective = self._world.course.now, self._world.effective()
        for chosen in match.choices[book.choices :]:
            if chosen.lone is None:
                book.seats[chosen.seat].choices.append(chosen)
            else:
                book.seats[chosen.seat].lone_faults[chosen.lone] = chosen
        book.choices = len(match.choices)
        for at, seat in enumerate(book.seats):
            open_now = match.decision(at)
            if seat.asked and not seat.asked[-1].is_closed:
                asked = seat.asked[-1]
                if open_now is None or open_now.number != asked.decision.number:
                    self._close(book, seat, asked, effective)
            if open_now is not None and open_now.number >= len(seat.asked):
                self.count += 1
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
        if book.is_window and not book.is_void:
            floor = book.table.ladder.control.poll_floor_ms / 1e3
            if now - book.put_at < floor - EPS or match.questions > book.questions + 1:
                self._wrong(f"match {book.table.name}: a window shut {now - book.put_at:.6f} s after it was put")
        book.questions, book.put_at = match.questions, now
        book.is_window = not match.over and match.game.question.window

    def _chosen(self, book: MatchBook, seat: SeatBook, decision: OpenDecision) -> Chosen | None:
        """Return the choice of a decision, or None; in a void match the last decisions with one option are unknown."""
        number, options = decision.number, decision.options
        if len(options) == 1:
            if number in seat.lone_faults:
                return seat.lone_faults[number]
            return None if book.is_void else Chosen(decision.seat, options[0], _OWN)
        before = sum(len(one.decision.options) > 1 for one in seat.asked[:number])
        return seat.choices[before] if before < len(seat.choices) else None

    def _close(self, book: MatchBook, seat: SeatBook, asked: Asked, at: float) -> None:
        """Check that a decision was closed rightly, and with the right choice."""
        asked.is_closed = True
        found = self._chosen(book, seat, asked.decision)
        if found is None:
            if not book.is_void:
                self._wrong(f"{book.where(seat, asked)} is closed without a choice")
            return
        chosen = asked.chosen = found
        control = book.table.ladder.control
        base, grace = control.base_ms / 1e3, control.grace_ms / 1e3
        started = book.started(asked)
        thought = max(0.0, at - started)
        slack = _AFTER_S + BEAT_S * (self._world.stalls - asked.stalls + 1) * (self._world.stalls > asked.stalls)
        least, most = (bank + base + grace for bank in seat.bank)
        where = book.where(seat, asked)
        guesses = self._guesses(seat, asked)
        if thought > most + slack:
            self._wrong(f"{where} was open for {thought:.3f} s of {most:.3f}")
        if chosen.cause in _TIME:
            if thought < least - EPS:
                self._wrong(f"{where} was closed after {thought:.3f} s of {least:.3f}")
            self._judge_time_out(seat, asked, started + least, where)
        elif chosen.cause is _OWN:
            options = asked.decision.options
            said = {read.option for read in [*asked.reads, *guesses] if read.is_live and not read.gives_up}
            said |= self._said_before_welcome(book, seat, asked)
            if not any(options[o] == chosen.option for o in said if o is not None and o < len(options)):
                self._wrong(f"{where}: {seat.name} never chose what was taken for it; it said {said}")
        elif chosen.cause is EndCause.ILLEGAL:
            count = self._illegal(asked)
            if count != CORRECTIONS + 1 and not guesses:
                self._wrong(f"{where} was closed after {count} illegal answers")
        elif not any(read.gives_up and read.is_live for read in [*asked.reads, *guesses]):
            self._wrong(f"{where} was closed for {chosen.cause} though nobody gave up")
        least, most = seat.bank
        spent = min(max(0.0, thought - grace - base), most)
        spared = max(0.0, thought - slack - grace - base) if self._world.stalls > asked.stalls else spent
        seat.bank = max(0.0, least - spent), max(0.0, most - spared)
        faults = [one for one in book.table.match.faults if one.seat == book.seats.index(seat)]
        if len(faults) > FAULTS:
            self._wrong(f"{where}: {len(faults)} faults and not played on")

    def _guesses(self, seat: SeatBook, asked: Asked) -> list[Read]:
        """Return possible answers to a decision from before the seat knew its table, because numbers can be guessed."""
        session = self._books.sessions.get(seat.session)
        if session is None or asked.told_on:
            return []
        number = asked.decision.number + 1
        return [read for decision, read in session.guessed if decision == number and read.at >= asked.put - EPS]

    def _illegal(self, asked: Asked) -> int:
        """Count the illegal answers; the same answer on another call is a repetition and does not count."""
        count = 0
        given_on: dict[int | None, int] = {}
        for read in asked.reads:
            if read.gives_up or asked.is_legal(read) or not read.is_live:
                continue
            count += given_on.setdefault(read.option, read.call) == read.call
        return count

    def _judge_time_out(self, seat: SeatBook, asked: Asked, deadline: float, where: str) -> None:
        for read in asked.reads:
            if read.is_sure and read.at <= deadline - EPS and (read.gives_up or asked.is_legal(read)):
                self._wrong(f"{where}: {seat.name} answered in time, {deadline - read.at:.3f} s before the end")
        live = self._books.live.get(seat.name)
        stream = self._books.streams.get(live) if live is not None else None
        bot = self._world.honest.get(seat.name)
        if stream is None or bot is None or live in asked.told_on or live is None or self._world.is_gone(live):
            return
        if stream.session is not self._books.sessions.get(seat.session):
            return  # that session has lost its tables
        if stream.session is not None and stream.sent == stream.heard and stream.sent:
            self._wrong(f"{where}: {seat.name} was never asked on {live}, and has read all that it was sent")

    def _said_before_welcome(self, book: MatchBook, seat: SeatBook, asked: Asked) -> set[int | None]:
        """Return the answers to a decision read on a stream that has resumed its session but has no Welcome yet."""
        session, secret = self._books.sessions.get(seat.session), self._books.secrets.get(seat.session)
        if session is None:
            return set()
        streams = (
            stream for stream in self._books.streams.values() if stream.session is None and stream.hello is not None
        )
        unmet = (stream for stream in streams if stream.session is None and stream.hello is not None)
        resuming = [stream for stream in unmet if stream.hello is not None and stream.hello.resume.secret == secret]
        return {
            answer.option
            for stream in resuming
            for request, _ in stream.pending
            for answer in request.answers
            if session.tables.get(answer.table) == book.table.name and answer.decision == asked.decision.number + 1
        }
