"""The bot's side of a session with a server: envelopes in, tasks out; answers in, envelopes out.

    session = ClientSession("my_bot", "1", games=["greed"])
    send(session.opening())
    for todo in session.receive(envelope, now):
        ...                                 # Begin a match, Ask its bot, Finish it, print an OwnerNotice, ...
    session.answer(table, decision, option)
    send(session.next_envelope())

A session outlives its streams. After `lost` the next `opening` resumes it: the server repeats open decisions, and an
answer that may be lost is sent again. Where a server asks for a nonce, the session adds one to the deal, and checks
when the deal is opened that it counts. This module knows no network, no clock and no bot; times are passed in.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple, TypeAlias

from google.protobuf.message import DecodeError

from cutpurse.engine.commitment import NONCE_BYTES
from cutpurse.engine.events import Event
from cutpurse.engine.match import MatchResult
from cutpurse.games import GAMES
from cutpurse.v1 import arena_pb2
from cutpurse.v1.arena_pb2 import Answer, Note
from cutpurse.wire.client_table import NOBODY, ClientTable, result_of, table_of
from cutpurse.wire.deal_check import broken_promise, counts_nonce
from cutpurse.wire.decode import events_of
from cutpurse.wire.errors import ServerRefused
from cutpurse.wire.text import printable
from cutpurse.wire.usage import FALLBACKS, ReportedUsage
from cutpurse.wire.version import PROTOCOL, VERSION
from cutpurse.wire.wire_format import LOW, field, frames, present_uint_field, uint_field, uint_fields

__all__ = [
    "Ask",
    "Begin",
    "Finish",
    "Illegal",
    "OwnerNotice",
    "Opened",
    "ClientSession",
    "Todo",
    "Welcomed",
]

FEATURES: Final = ("agenda", "nonces", "notes", "usage")  # agenda: so that views equal those of local play
REASON_MOST: Final = 200  # characters of GiveUp.reason that a server stores
WITHOUT_ANSWERS: Final = 64  # most bytes of an envelope besides answers
MOST_FINISHED: Final = 1_024  # finished matches remembered; a server may repeat the ends of its last 128

# Problems of the league, not of the bot.
NO_FAULT: Final = (
    arena_pb2.ERROR_REASON_STORAGE,
    arena_pb2.ERROR_REASON_FROZEN,
    arena_pb2.ERROR_REASON_FULL,
    arena_pb2.ERROR_REASON_NOT_YOURS,
)

# Field numbers of PlayRequest.
_RECEIVED: Final = arena_pb2.PlayRequest.RECEIVED_FIELD_NUMBER
_ANSWERS: Final = arena_pb2.PlayRequest.ANSWERS_FIELD_NUMBER
_GIVE_UPS: Final = arena_pb2.PlayRequest.GIVE_UPS_FIELD_NUMBER
_MAX_TABLES: Final = arena_pb2.PlayRequest.MAX_TABLES_FIELD_NUMBER
_LEAVING: Final = arena_pb2.PlayRequest.LEAVING_FIELD_NUMBER
_NOTES: Final = arena_pb2.PlayRequest.NOTES_FIELD_NUMBER
_USAGES: Final = arena_pb2.PlayRequest.USAGES_FIELD_NUMBER
_NONCES: Final = arena_pb2.PlayRequest.NONCES_FIELD_NUMBER
_ANSWER: Final = frames(_ANSWERS)  # tag and length of an answer, by its length
# Fields of an Answer, by their values below LOW; option 0 is encoded too.
_TABLE: Final = uint_fields(Answer.TABLE_FIELD_NUMBER)
_DECISION: Final = uint_fields(Answer.DECISION_FIELD_NUMBER)
_OPTION: Final = tuple([present_uint_field(Answer.OPTION_FIELD_NUMBER, option) for option in range(LOW)])


class Welcomed(NamedTuple):
    """The server accepted the session."""

    resumed: bool
    bot: str
    version: str
    server: str
    most_tables: int
    lost: tuple[ClientTable, ...]  # matches of a session that could not be resumed
    owner: str = ""  # the token's owner; empty on servers that need no token
    elsewhere: tuple[tuple[str, str], ...] = ()  # ladders that other servers of the league play, with their addresses


class Begin(NamedTuple):
    """A match begins."""

    table: ClientTable


class Ask(NamedTuple):
    """A decision is to be answered."""

    table: ClientTable
    decision: arena_pb2.Decision
    at: float  # time of arrival


class Illegal(NamedTuple):
    """The answer to a decision was not offered; `left` corrections are possible."""

    table: ClientTable
    decision: int  # its number on the wire; the next one may have come in the same envelope
    left: int


class Finish(NamedTuple):
    """A match has ended."""

    table: ClientTable
    result: MatchResult
    events: Callable[[], list[Event]]  # decodes this seat's events since the last decision; raises ValueError
    first_event: int
    rated: bool
    opened: bool = True  # whether the deal was opened


class Opened(NamedTuple):
    """The deal of a finished match was opened; `rated` says whether its board was rated."""

    match: str
    rated: bool


class OwnerNotice(NamedTuple):
    """A message for the bot's owner."""

    text: str
    late: bool = False  # a decision was answered too late
    table: ClientTable | None = None


Todo: TypeAlias = Welcomed | Begin | Ask | Illegal | Finish | Opened | OwnerNotice


class ClientSession:
    """One session of one bot, through any number of streams."""

    def __init__(
        self,
        bot: str,
        version: str = "1",
        games: Iterable[str] = (),
        max_tables: int = 0,
        events: bool = True,
        entropy: Callable[[int], bytes] = secrets.token_bytes,
    ) -> None:
        """Create a session that has not begun.

        Args:
            bot: Name of the bot.
            version: Version of the bot.
            games: Games to play; none means every game.
            max_tables: Most simultaneous matches; 0 leaves the number to the server.
            events: Whether to request events.
            entropy: Returns that number of bytes that nobody can predict, for nonces.

        Raises:
            UnknownGame: If a game is not installed.
        """
        self.bot = bot
        self.version = version
        self.games = tuple(dict.fromkeys(games))
        self.ladders: Mapping[str, Sequence[str]] = {}  # to be paired on, by game; without an entry, all of the game
        self.events = events
        self.declines_requests = False  # whether to decline match requests of other owners
        self.tables: dict[int, ClientTable] = {}
        self.leaving = False
        self.max_bytes = 65_536
        self.keeps_notes = False  # whether the server stores notes
        self.keeps_usage = False  # whether it stores usage; if not, a usage becomes a note
        self.come_back_s: float | None = None  # seconds until reconnecting, if the server has said so
        self.silent_at: float | None = None  # when the stream counts as lost; None: no deadline
        self._name = ""  # session ID; empty: there is none to resume
        self._secret = b""
        self._heartbeat_s = 0.0
        self._forgotten: tuple[ClientTable, ...] = ()
        # Finished matches in order. After a resume a server may end a match again, if the first end may be lost.
        self._finished: dict[int, None] = {}
        self._sealed: dict[str, ClientTable] = {}  # finished matches whose deal is not opened yet
        self._entropy = entropy
        # Matches that have a nonce of this bot, by commitment. With another nonce for one the server could deal again.
        self._nonces: dict[bytes, str] = {}
        self._in = False  # whether this stream is welcomed
        self._received = 0  # last envelope of this stream
        self._acknowledged = 0
        self._desired_tables = self._sent_tables = max_tables
        self._wants_none = False  # a Hello that names no tables leaves their number to the server
        self._leaving_told = False
        self._out: list[bytes] = []  # answers and give-ups, as fields of PlayRequest

    # -- the stream
    def done(self) -> bool:
        """Return whether the bot has left and no match is open."""
        return self.leaving and not self.tables

    def opening(self) -> bytes:
        """Return the first envelope of a stream."""
        self._in = False
        self._received = self._acknowledged = 0
        self._leaving_told = False
        self._sent_tables = self._desired_tables
        hello = arena_pb2.Hello(
            protocol_major=PROTOCOL[0],
            protocol_minor=PROTOCOL[1],
            sdk=f"cutpurse-python {VERSION}",
            bot=self.bot,
            version=self.version,
            games=[self._game_request(game) for game in dict.fromkeys((*self.games, *self.ladders))],
            max_tables=self._desired_tables,
            events=self.events,
            features=FEATURES,
            declines_requests=self.declines_requests,
        )
        if self._name:
            hello.resume.session = self._name
            hello.resume.secret = self._secret
        return arena_pb2.PlayRequest(hello=hello, max_tables=0 if self._wants_none else None).SerializeToString()

    def _game_request(self, game: str) -> arena_pb2.GameWanted:
        version = GAMES[game].words.version
        return arena_pb2.GameWanted(game=game, rules_version=version, ladders=self.ladders.get(game, ()))

    def lost(self) -> None:
        """Note that the stream has ended. The server will repeat what was not answered."""
        self._in = False
        self.silent_at = None
        self._out.clear()
        for table in self.tables.values():
            table.nonce_may_be_lost |= bool(table.nonce) and not table.asked

    @property
    def can_resume(self) -> bool:
        """Whether there is a session to resume."""
        return bool(self._name)

    def forget(self) -> None:
        """Discard this session, as the server did: the next stream opens a new one, without the open matches."""
        self._name, self._secret = "", b""
        for table in self.tables.values():
            table.over = True
        self._forgotten += tuple(self.tables.values())
        self.tables.clear()
        self._finished.clear()

    # -- from the server
    def receive(self, data: bytes, now: float) -> list[Todo]:
        """Return what an envelope asks for, in order.

        Args:
            data: The envelope.
            now: Seconds of any monotonic clock.

        Raises:
            ServerRefused: If the envelope makes no sense, as from a server with other rules.
        """
        try:
            envelope = arena_pb2.PlayResponse.FromString(data)
        except DecodeError:
            raise ServerRefused("the server sent something that is no message of this protocol") from None
        self._received = max(self._received, envelope.envelope)
        todos: list[Todo] = []
        if envelope.HasField("welcome"):
            todos.append(self._welcome(envelope.welcome))
        if self._heartbeat_s:
            self.silent_at = now + 2 * self._heartbeat_s
        for refusal in envelope.refusals:
            self._refused(refusal, todos)
        for started in envelope.starts:
            self._start(started, todos)
        for decision in envelope.decisions:
            self._decision(decision, todos, now)
        for ended in envelope.ends:
            self._end(ended, todos)
        for opened in envelope.boards:
            self._open(opened, todos)
        if envelope.HasField("drain"):
            self._drain(envelope.drain, todos)
        for problem in envelope.problems:
            left = f"; {problem.strikes_left} more of these end the session" if problem.strikes_left else ""
            what = "the server says" if problem.reason in NO_FAULT else "the server has a problem with this bot"
            todos.append(OwnerNotice(f"{what}: {printable(problem.text)}{left}"))
        return todos

    def _welcome(self, welcome: arena_pb2.Welcome) -> Welcomed:
        self._in = True
        if not welcome.resumed:
            self.forget()
        self._name, self._secret = welcome.session, welcome.resume_secret
        self._heartbeat_s = welcome.heartbeat_ms / 1000
        self.max_bytes = welcome.max_bytes or self.max_bytes
        self.keeps_notes = "notes" in welcome.features
        self.keeps_usage = "usage" in welcome.features
        self.come_back_s = None
        lost, self._forgotten = self._forgotten, ()
        return Welcomed(
            welcome.resumed,
            welcome.bot,
            welcome.version,
            welcome.server,
            welcome.most_tables or 1,
            lost,
            "" if welcome.owner == NOBODY else welcome.owner,
            tuple((other.ladder, other.address) for other in welcome.elsewhere),
        )

    def _start(self, started: arena_pb2.MatchStarted, todos: list[Todo]) -> None:
        if started.table in self._finished:
            return  # the match is known to have ended
        table = self.tables.get(started.table)
        if table is None:
            table = self.tables[started.table] = table_of(started)
            todos.append(Begin(table))
            if started.nonce_ms:
                self._draw_nonce(table, todos)
        elif started.commitment != table.commitment:
            self._warn(table, "the server promises another deal than before, for a match that has begun", todos)
        if started.nonce_ms and table.nonce:
            said = arena_pb2.Nonce(table=table.number, nonce=table.nonce)
            self._out.append(field(_NONCES, said.SerializeToString()))

    def _draw_nonce(self, table: ClientTable, todos: list[Todo]) -> None:
        other = self._nonces.get(table.commitment)
        if other is not None:
            self._warn(table, f"the server asks again for a nonce to the promised deal of match {other}", todos)
            return
        table.nonce = self._entropy(NONCE_BYTES)
        self._nonces[table.commitment] = table.match
        if len(self._nonces) > MOST_FINISHED:
            del self._nonces[next(iter(self._nonces))]

    def _decision(self, decision: arena_pb2.Decision, todos: list[Todo], now: float) -> None:
        table, number = self.tables.get(decision.table), decision.decision
        if table is None:
            return  # of a match that this session does not know
        if table.asked == number:  # repeated after a resume
            if table.answer:
                self._out.append(table.answer)
            return
        if not table.asked and decision.events and not decision.first_event:
            table.first = decision
        table.asked, table.answer = number, b""
        todos.append(Ask(table, decision, now))

    def _refused(self, refusal: arena_pb2.Refusal, todos: list[Todo]) -> None:
        table = self.tables.get(refusal.table)
        if table is None:
            return
        if refusal.decision == 0:
            self._nonce_refused(table, refusal, todos)
            return
        which = f"match {table.match}, decision {refusal.decision}"
        if refusal.reason == arena_pb2.REFUSAL_REASON_ILLEGAL:
            if table.asked == refusal.decision and table.answer:
                table.answer = b""
                todos.append(Illegal(table, refusal.decision, refusal.corrections_left))
        elif refusal.reason == arena_pb2.REFUSAL_REASON_TOO_LATE:
            text = f"{which}: the answer came {refusal.late_by_ms} ms too late, and the safe option was taken"
            todos.append(OwnerNotice(text, True, table))
        elif refusal.reason not in (
            arena_pb2.REFUSAL_REASON_ALREADY_DECIDED,  # an answer that was sent again
            arena_pb2.REFUSAL_REASON_STALE,  # nobody's fault
        ):
            todos.append(OwnerNotice(f"{which}: the answer was refused: {printable(refusal.text)}", False, table))

    def _nonce_refused(self, table: ClientTable, refusal: arena_pb2.Refusal, todos: list[Todo]) -> None:
        if table.nonce and refusal.reason != arena_pb2.REFUSAL_REASON_ALREADY_DECIDED:  # else it was sent again
            table.nonce = b""
            if refusal.reason != arena_pb2.REFUSAL_REASON_STALE:
                text = f"match {table.match}: the server did not count this bot's nonce: {printable(refusal.text)}"
                todos.append(OwnerNotice(text, False, table))

    def _end(self, ended: arena_pb2.MatchEnded, todos: list[Todo]) -> None:
        table = self.tables.pop(ended.table, None)
        if table is None:
            return
        table.over = True
        if ended.voided and not ended.opening.nonces:
            table.nonce = b""  # it may have ended before the deal
        self._finished[table.number] = None
        if len(self._finished) > MOST_FINISHED:
            del self._finished[next(iter(self._finished))]
        result = result_of(table, ended)
        events = partial(events_of, ended, table.info)
        todos.append(Finish(table, result, events, ended.first_event, ended.rated, ended.HasField("opening")))
        if ended.HasField("opening"):
            self._check_promise(table, ended.opening, todos)
        else:  # other matches with the same cards go on
            self._sealed[table.match] = table
            if len(self._sealed) > MOST_FINISHED:
                del self._sealed[next(iter(self._sealed))]

    def _open(self, opened: arena_pb2.BoardOpened, todos: list[Todo]) -> None:
        table = self._sealed.pop(printable(opened.match), None)
        if table is not None:
            self._check_promise(table, opened.opening, todos)
            todos.append(Opened(table.match, opened.rated))

    def _check_promise(self, table: ClientTable, opening: arena_pb2.Opening, todos: list[Todo]) -> None:
        if table.nonce_may_be_lost and not counts_nonce(table, opening):
            table.nonce = b""
            text = f"match {table.match}: a lost stream took this bot's nonce along; the deal was made without it"
            todos.append(OwnerNotice(text, False, table))
        if broken := broken_promise(table, opening):
            self._warn(table, broken, todos)

    def _warn(self, table: ClientTable, what: str, todos: list[Todo]) -> None:
        todos.append(
            OwnerNotice(
                f"WARNING: match {table.match}: {what}. Keep this line and send it to the operator of the server."
            )
        )

    def _drain(self, drain: arena_pb2.Drain, todos: list[Todo]) -> None:
        self.come_back_s = drain.reconnect_after_ms / 1000
        text = f": {printable(drain.text)}" if drain.text else ""
        todos.append(
            OwnerNotice(f"the server is about to stop{text}; open tables go on for {drain.time_left_ms / 1000:g} s")
        )

    # -- from the bot
    def answer(
        self,
        table: ClientTable,
        decision: int,
        option: int | None,
        notes: str = "",
        usage: ReportedUsage | None = None,
    ) -> None:
        """Queue the bot's answer to a decision.

        Args:
            table: The match.
            decision: Number of the decision.
            option: Index of the option; None for an answer that is no index.
            notes: Notes on the decision.
            usage: What the bot used for it.
        """
        number = table.number
        if option is not None and 0 <= option < LOW and number < LOW and 0 <= decision < LOW:
            said = _TABLE[number] + _DECISION[decision] + _OPTION[option]
            said = _ANSWER[len(said)] + said
        else:
            if option is not None and not 0 <= option < 1 << 32:
                option = None
            said = uint_field(Answer.TABLE_FIELD_NUMBER, number) + uint_field(Answer.DECISION_FIELD_NUMBER, decision)
            said = field(_ANSWERS, said + present_uint_field(Answer.OPTION_FIELD_NUMBER, option))
        self._say(table, decision, said, notes, usage)

    def give_up(
        self,
        table: ClientTable,
        decision: int,
        reason: str,
        notes: str = "",
        usage: ReportedUsage | None = None,
        *,
        whole_match: bool = False,
    ) -> None:
        """Give up a decision at which the bot's own code failed, or the whole match if the bot cannot play it."""
        reason = printable(reason, REASON_MOST)
        said = arena_pb2.GiveUp(table=table.number, decision=decision, reason=reason, whole_match=whole_match)
        self._say(table, decision, field(_GIVE_UPS, said.SerializeToString()), notes, usage)

    def _say(self, table: ClientTable, decision: int, said: bytes, notes: str, usage: ReportedUsage | None) -> None:
        if table.over:
            return
        if usage is not None:
            if self.keeps_usage:
                said = field(_USAGES, _usage(table.number, decision, usage).SerializeToString()) + said
            else:
                notes = f"{usage.text()}\n{notes}" if notes else usage.text()
        if table.before or notes:
            said = self._noted(table, decision, notes) + said
        if table.asked == decision:
            table.answer = said
        if self._in:  # else it is sent when the decision is repeated
            self._out.append(said)

    def _noted(self, table: ClientTable, decision: int, notes: str) -> bytes:
        """Encode notes as fields of PlayRequest; return nothing for a server that would ignore them."""
        said = ((0, table.before), (decision, notes)) if self.keeps_notes else ()
        table.before = ""
        number = uint_field(Note.TABLE_FIELD_NUMBER, table.number)
        notes_sent = b""
        for which, text in said:
            if text:
                note = number + uint_field(Note.DECISION_FIELD_NUMBER, which)
                note += field(Note.TEXT_FIELD_NUMBER, text.encode(errors="replace"))
                notes_sent += field(_NOTES, note)
        return notes_sent

    def want_tables(self, tables: int) -> None:
        """Set the number of simultaneous matches; with 0 no new match begins."""
        self._desired_tables, self._wants_none = tables, not tables

    def leave(self) -> None:
        """Finish the open matches, and begin none."""
        self.leaving = True

    def next_envelope(self) -> bytes | None:
        """Return the next envelope to send: acknowledgement, answers, changed requests; None if there is nothing."""
        tables = None if self._desired_tables == self._sent_tables else self._desired_tables
        leaving = self.leaving and not self._leaving_told
        if not self._in or not (self._out or leaving or tables is not None or self._received > self._acknowledged):
            return None
        room = self.max_bytes - WITHOUT_ANSWERS
        taken = size = 0
        for said in self._out:
            size += len(said)
            if size > room and taken:
                break
            taken += 1
        answers = self._out[:taken]
        del self._out[:taken]
        self._acknowledged, self._sent_tables, self._leaving_told = self._received, self._desired_tables, self.leaving
        wishes = present_uint_field(_MAX_TABLES, tables) + uint_field(_LEAVING, self.leaving)
        return b"".join((uint_field(_RECEIVED, self._received), *answers, wishes))


def _usage(table: int, decision: int, usage: ReportedUsage) -> arena_pb2.Usage:
    return arena_pb2.Usage(
        table=table,
        decision=decision,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cost_micros=usage.cost_micros,
        model=usage.model,
        fallback=arena_pb2.Fallback.ValueType(FALLBACKS.index(usage.fallback)),
    )
