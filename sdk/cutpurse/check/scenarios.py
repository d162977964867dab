"""The situations that a bot must handle, each a short script.

A scenario returns what it saw, or raises Failed or Warned with what it saw and what to do. At its start the bot is
connected, and it leaves no match open. `arena.proto` has the requirements. Seconds are own time (see `OwnTime`).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Protocol

import grpc

from cutpurse.check.check_match import EXTRA, Sitting
from cutpurse.check.findings import Failed, Late, Warned
from cutpurse.check.guest import Guest, HostTable, StreamStatus
from cutpurse.check.local_arena import Host, elsewhere
from cutpurse.check.local_match import CONTROL, DIAL_IN_S, when_asked_too_long_s
from cutpurse.engine.clocks import TimeControl
from cutpurse.engine.commitment import NONCE_BYTES
from cutpurse.engine.match import EndCause
from cutpurse.games import GAMES
from cutpurse.process.own_time import OwnTime
from cutpurse.v1 import arena_pb2
from cutpurse.wire.errors import IN_END
from cutpurse.wire.text import format_count
from cutpurse.wire.wire_format import field as wire_field

__all__ = ["SCENARIOS", "WITH_OTHER", "CheckedProgram", "Visit", "whole_match"]

BACK_S: Final = 10.0  # to reconnect after a lost stream
LEAVE_S: Final = 5.0
LOST: Final = StreamStatus(grpc.StatusCode.UNAVAILABLE, "lost on purpose, by the check")
RESTART_S: Final = 0.2
PROBLEMS: Final = arena_pb2.PlayResponse.PROBLEMS_FIELD_NUMBER
NONCE_MS: Final = 1_000  # as a server waits
QUIET_S: Final = 0.5  # to wait for the acknowledgement of a match's end
MOST_TABLES: Final = 4
MOST_HELLOS: Final = 5  # of a bot that never hears its welcome
ALONE: Final = 40  # decisions at one table, after which a fast bot should have requested more tables
STOP: Final = "let it go on to the next envelope whatever happens at one table"
LADDER: Final = "another"  # name of a ladder of the second server
TRUSTED_DOMAIN: Final = ".league.example"  # besides the second server's host; nothing is there
STRANGER_S: Final = 1.0  # to dial a foreign server, which no bot should
SDK: Final = "cutpurse-python "  # prefix of Hello.sdk; this SDK handles envelopes itself
STUCK: Final = "one of the bot's methods has not returned: look for what it waits for, or let it think for less"


class CheckedProgram(Protocol):
    """A program that is checked, such as a `Child`, while it runs and afterwards."""

    @property
    def code(self) -> int | None:
        """The exit code; None while it runs."""

    @property
    def left_behind(self) -> int:
        """The number of its own processes that outlived it; 0 before `stop`."""

    def how_it_ended(self) -> str:
        """Describe the end in words: "ended with exit code 1"."""

    def last_words(self) -> str:
        """Return the last lines of its output in one line."""

    def stop(self, grace_s: float = 2.0) -> bool:
        """Ask the program to end, then kill it; return whether it ended by itself."""


class Seated(Protocol):
    """A seat of the bot in a match, such as a `Sitting`."""

    @property
    def guest(self) -> Guest:
        """The bot."""

    @property
    def table(self) -> HostTable:
        """The table of the match."""


@dataclass
class Visit:
    """A check of one bot: its program while it runs, and the host."""

    host: Host
    games: tuple[str, ...]  # games to check; empty: all that the bot plays
    start: Callable[[], CheckedProgram]  # starts the program
    own_time: OwnTime  # of this process and the program; the clock of both hosts
    other: Host | None = None  # a second server of the league, on a port of 127.0.0.1, which the program trusts
    child: CheckedProgram | None = None
    dial_in_s: float = field(default_factory=lambda: DIAL_IN_S)
    answer_s: float = field(default_factory=when_asked_too_long_s)
    played: int = 0  # number of matches, so that each has another deal
    fails_alone: bool = False  # whether it also fails at one table, so that the number of tables is not the cause
    answered: int = 0  # decisions answered, by this process or earlier ones
    control: TimeControl | None = None  # clock that whole matches are judged by; None: slow answers only warn
    raised_in_end: str = ""  # the SDK's first message about a method `end` that raised

    def hear(self, line: str) -> None:
        """Process a line of the program's output. May be called from any thread."""
        _, separator, where = line.partition(IN_END)
        if separator and not self.raised_in_end:
            self.raised_in_end = where.strip()

    async def guest(self) -> Guest:
        """Return the bot's session, and start the program if it does not run.  Raises Failed if it does not connect."""
        if self.child is None or self.child.code is not None:
            self.child = self.start()
        child = self.child
        refused = len(self.host.refused)
        for _ in range(MOST_HELLOS):
            guest = await self.host.bot(
                self.dial_in_s, lambda: child.code is None and len(self.host.refused) == refused
            )
            if guest is None:
                break
            # Until it knows its welcome, a bot whose stream is lost has nothing to resume, and says Hello anew.
            await guest.until(partial(_has_settled, guest, child), BACK_S)
            if not guest.is_forgotten:
                return guest
        else:
            raise Failed(f"it said Hello {MOST_HELLOS} times, on one stream after the other; stay on the first")
        if len(self.host.refused) > refused:
            raise Failed(f"its Hello is refused: {self.host.refused[-1]}")
        words = child.last_words() or "none"
        if child.code is not None:
            raise Failed(f"the program {child.how_it_ended()}; its last words: {words}")
        raise Late(f"it did not dial in to $CUTPURSE_SERVER in {self.dial_in_s:g} s; its last words: {words}")

    async def restart(self) -> None:
        """End the program, so that the next scenario starts with a fresh one."""
        if self.child is not None:
            await asyncio.to_thread(self.child.stop, RESTART_S)
        self.host.forget()

    def plays(self, guest: Guest) -> tuple[str, ...]:
        """Return the games that the bot is checked with."""
        named = tuple([game_played.game for game_played in guest.hello.games]) or tuple(GAMES)
        return tuple([game for game in self.games or named if game in named])

    def sit(
        self, guest: Guest, game: str | None = None, seats: int | None = None, extra: bytes = b"", nonce_ms: int = 0
    ) -> Sitting:
        """Start a new match, by default of the first game that the bot plays."""
        self.played += 1
        control = self.control or CONTROL
        return Sitting(guest, game or self.plays(guest)[0], self.played, seats, extra, nonce_ms, control)

    async def reply(self, sitting: Seated, what: str = "a decision") -> float:
        """Wait for the reply to the open decision; return the seconds it took.  Raises Failed if none comes."""
        guest, table, child = sitting.guest, sitting.table, self.child
        assert child is not None

        def gone() -> bool:
            return child.code is not None or guest.is_forgotten

        await guest.until(lambda: table.reply is not None or gone(), self.answer_s)
        if table.reply is not None:
            self.answered += 1
            return table.reply_at - table.put_at
        if child.code is not None:
            raise Failed(f"after {what} the program {child.how_it_ended()}; its last words: {child.last_words()}")
        if guest.is_forgotten:
            raise Failed(f"after {what} it said Hello anew, without Resume, so its matches are lost; send Resume")
        hint = STUCK if guest.hello.sdk.startswith(SDK) else STOP
        raise Late(f"no answer to {what} in {self.answer_s:g} s; {hint}")

    async def ask(self, sitting: Sitting, what: str = "a decision") -> float:
        """Send the open decision and process replies until it is closed; return the seconds of the last reply.

        Raises Failed if none comes. Illegal answers are only refused here: `whole_match` reports them.
        """
        sitting.put()
        seconds = 0.0
        number = sitting.decision
        while sitting.decision == number:
            seconds = await self.reply(sitting, what)
            sitting.take()
        return seconds

    async def go_on(self, sitting: Sitting, what: str, decisions: int = 3) -> None:
        """Ask some more decisions, then end the match."""
        for _ in range(decisions):
            if sitting.over:
                break
            await self.ask(sitting, what)
        await self.end(sitting)

    async def end(self, sitting: Sitting) -> None:
        """End the match, and give the bot a moment to acknowledge it."""
        sitting.end()
        await sitting.guest.until(lambda: sitting.table.is_end_known, QUIET_S)


def _has_settled(guest: Guest, child: CheckedProgram) -> bool:
    """Return whether a bot knows its welcome, or never will."""
    return guest.is_in or guest.is_forgotten or child.code is not None


def percentile(values: list[float], percent: int) -> float:
    """Return the percentile by nearest rank."""
    return sorted(values)[(percent * len(values) + 99) // 100 - 1]


async def handshake(visit: Visit) -> str:
    """Wait for Hello, which must come within 10 seconds and name bot, games and number of tables."""
    guest = await visit.guest()
    hello = guest.hello
    names = [game_played.game for game_played in hello.games]
    if missing := [game for game in visit.games if names and game not in names]:
        raise Failed(f"it was to be checked with {', '.join(missing)}, but its Hello names {', '.join(names)}")
    if len(set(names)) < len(names):
        raise Failed("Hello.games names a game twice; name it once, with all its ladders")
    seen = (
        f"{hello.bot} version {hello.version or '1'} ({hello.sdk or 'no SDK'}) plays {', '.join(names) or 'every game'}"
    )
    if any(not game_played.rules_version for game_played in hello.games):
        raise Warned(f"{seen}; name the rules_version too: a server of other rules then refuses it at once")
    return f"{seen}, at {format_count(guest.max_tables, 'table', 'tables')}"


async def whole_match(visit: Visit, game: str) -> str:
    """Play a match of each game against random answers: all answers legal and in time, without `give_ups`."""
    guest = await visit.guest()
    sitting = visit.sit(guest, game)
    took: list[float] = []
    while not sitting.over:
        sitting.put()
        took.append(await visit.reply(sitting, f"decision {len(took) + 1}"))
        if visit.control is not None and not sitting.spend(took[-1]):
            sitting.end()
            raise Late(_too_slow(took, visit.control))
        if wrong := sitting.take():
            sitting.end()
            visit.fails_alone = True
            raise Failed(f"{wrong}; after three such decisions the seat is played on by safe options")
    sitting.end()
    if not await guest.until(lambda: sitting.table.is_end_known, visit.answer_s):
        raise Late("it did not acknowledge the end of the match; acknowledge every envelope by its number")
    if not took:
        return "it was asked nothing"
    p50, p95 = percentile(took, 50), percentile(took, 95)
    seen = f"{len(took)} decisions, half of them in {p50 * 1000:.1f} ms, 95 in 100 in {p95 * 1000:.1f} ms"
    base_s = sitting.control.base_ms / 1_000
    if p95 > base_s:
        raise Warned(f"{seen}; beyond {base_s:g} s a decision costs from the bank of the match")
    return seen


def _too_slow(took: list[float], control: TimeControl) -> str:
    """Describe the decision that the clock had no time for, and the slowest."""
    slowest = max(took)
    return (
        f"decision {len(took)} was late: it took {took[-1]:.2f} s, and the bank of the match was spent; the slowest, "
        f"decision {took.index(slowest) + 1}, took {slowest:.2f} s; the clock is {control.base_ms / 1_000:g} s + "
        f"{control.bank_ms / 1_000:g} s bank"
    )


async def second_match(visit: Visit) -> str:
    """Play another match on the same stream: answers as before, and the end is acknowledged."""
    guest = await visit.guest()
    for _ in range(2):
        sitting = visit.sit(guest, seats=2 if 2 in GAMES[visit.plays(guest)[0]].words.seats else None)
        await visit.go_on(sitting, "a match that came after another", 10)
        if not sitting.table.is_end_known:
            raise Late("it did not acknowledge the end of a match; acknowledge every envelope by its number")
    return "two matches, one after the other"


async def several_tables(visit: Visit) -> str:
    """Play up to four matches at once: every table must get its own answers."""
    guest = await visit.guest()
    await _until_it_wants_several(visit, guest)
    count = min(MOST_TABLES, guest.max_tables)
    if count < 2:
        return "it sits at one table at a time"
    sittings = [visit.sit(guest) for _ in range(count)]
    open_ones = [sitting for sitting in sittings if not sitting.over]
    for sitting in open_ones:
        sitting.put()
    answered = 0
    while open_ones and answered < 40 * count:
        if not await guest.until(lambda: any(candidate.table.reply for candidate in open_ones), visit.answer_s):
            await visit.reply(open_ones[0], f"decisions at {len(open_ones)} tables")
        for sitting in [candidate for candidate in open_ones if candidate.table.reply]:
            answered += 1
            if wrong := sitting.take():
                hint = "" if visit.fails_alone else "; keep what belongs to a match apart, by its table"
                raise Failed(f"with {count} tables open {wrong}{hint}")
            if sitting.over:
                open_ones.remove(sitting)
            else:
                sitting.put()
    for sitting in sittings:
        sitting.end()
    return f"{count} tables, {answered} decisions"


async def _until_it_wants_several(visit: Visit, guest: Guest) -> None:
    """Play matches until the bot requests several tables, as it may after it knows its speed."""
    while guest.max_tables < 2 and visit.answered < ALONE:
        sitting = visit.sit(guest)
        while not sitting.over and guest.max_tables < 2 and visit.answered < ALONE:
            sitting.put()
            await visit.reply(sitting)
            if wrong := sitting.take():
                raise Failed(f"at one table already {wrong}")
        await visit.end(sitting)


async def illegal_answer(visit: Visit) -> str:
    """Refuse an answer as `ILLEGAL`, with corrections left: another answer or `give_ups` must come."""
    sitting = visit.sit(await visit.guest())
    sitting.put()
    await visit.reply(sitting)
    sitting.refuse()
    seconds = await visit.reply(sitting, "an answer that was refused as ILLEGAL")
    how = "gave up" if isinstance(sitting.table.reply, arena_pb2.GiveUp) else "answered again"
    sitting.take()
    await visit.go_on(sitting, "a corrected answer")
    return f"it {how} after {seconds * 1000:.1f} ms, and went on"


async def refused_thrice(visit: Visit) -> str:
    """Use up all corrections of a decision and take the safe option: the next decision must be answered."""
    sitting = visit.sit(await visit.guest())
    sitting.put()
    for left in (2, 1, 0):
        await visit.reply(sitting, f"a refusal with {left + 1} corrections left")
        if isinstance(sitting.table.reply, arena_pb2.GiveUp):
            sitting.take()
            break
        sitting.refuse(left)
        if not left:
            sitting.safe(EndCause.ILLEGAL)
    await visit.go_on(sitting, "the last of three refusals")
    return "it went on with the next decision"


async def too_late(visit: Visit) -> str:
    """Refuse an answer as `TOO_LATE` and take the safe option: the next decision must be answered."""
    sitting = visit.sit(await visit.guest())
    sitting.put()
    await visit.reply(sitting)
    sitting.guest.refuse(sitting.table, arena_pb2.REFUSAL_REASON_TOO_LATE, late_by_ms=20, text="the check says so")
    sitting.safe(EndCause.TIMEOUT)
    await visit.go_on(sitting, "an answer that was refused as TOO_LATE")
    return "it went on with the next decision"


async def heartbeat(visit: Visit) -> str:
    """Send an empty envelope, also while a decision is open: `received` must come back before any thinking."""
    guest = await visit.guest()
    sitting = visit.sit(guest)
    before = len(guest.ack_s)
    sitting.put()
    await guest.until(lambda: guest.is_up_to_date, visit.answer_s)
    while_thinking = sitting.table.reply is None
    guest.heartbeat()
    if not await guest.until(lambda: guest.is_up_to_date, visit.answer_s):
        raise Late(
            f"an empty envelope was not acknowledged in {visit.answer_s:g} s; acknowledge every envelope by its "
            "number, or the server must take the stream for lost"
        )
    await visit.reply(sitting)
    sitting.take()
    await visit.go_on(sitting, "a heartbeat")
    slowest = max(guest.ack_s[before:])
    base_s = sitting.control.base_ms / 1_000
    if slowest > base_s:
        raise Warned(
            f"an envelope was acknowledged only after {slowest:.1f} s; acknowledge on receipt, before thinking, or a "
            "long thought holds up its other tables"
        )
    return f"acknowledged in {slowest * 1000:.1f} ms" + (", also while it thought" if while_thinking else "")


async def unknown_fields(visit: Visit) -> str:
    """Send fields of a later version in every message, and a `Problem`: the bot must ignore them."""
    guest = await visit.guest()
    extra = wire_field(EXTRA, b"from a later version")
    problem = arena_pb2.Problem(text="said by the check, and of no consequence")
    guest.extra = extra + wire_field(PROBLEMS, problem.SerializeToString())
    try:
        sitting = visit.sit(guest, extra=extra)
        await visit.go_on(sitting, "fields of a later version", 5)
    finally:
        guest.extra = b""
    return "it took no notice of them"


async def nonce(visit: Visit) -> str:
    """Ask for a nonce, if Hello has the feature `nonces`: one of 32 bytes within a second, or none."""
    guest = await visit.guest()
    is_asked = "nonces" in guest.hello.features
    sitting = visit.sit(guest, nonce_ms=NONCE_MS if is_asked else 0)
    given = sitting.table.nonces
    if is_asked:
        await guest.until(lambda: given, NONCE_MS / 1_000)
    is_late = not given
    await visit.go_on(sitting, "a match to whose deal it may add a nonce")
    if given and not is_asked:
        raise Failed("it sent a nonce that nobody asked for; name the feature nonces in Hello, and look at nonce_ms")
    if any(len(item) != NONCE_BYTES for item in given):
        raise Failed(f"it sent a nonce of {len(given[0])} bytes; a nonce has {NONCE_BYTES}")
    if len(given) > 1:
        raise Failed(f"it sent {len(given)} nonces to one deal; a server reads the first")
    if is_asked and is_late:
        raise Warned(f"no nonce came in {NONCE_MS} ms, for which each deal waits; send it as you acknowledge the start")
    return "it added one to the deal" if given else "it adds none to deals, and need not"


async def lost_stream(visit: Visit) -> str:
    """End the stream with `UNAVAILABLE` during a decision: Hello with `resume` within 10 seconds, then the answer."""
    guest = await visit.guest()
    sitting = visit.sit(guest)
    await visit.ask(sitting)
    before = guest.resumed
    guest.end_stream(LOST)
    if not sitting.over:
        sitting.put()
    began = time.monotonic()
    await guest.until(lambda: guest.resumed > before or guest.is_forgotten or _ended(visit), BACK_S)
    if guest.resumed == before:
        why = "it said Hello anew, without Resume" if guest.is_forgotten else f"it did not come back in {BACK_S:g} s"
        if _ended(visit) and visit.child is not None:
            why = f"the program {visit.child.how_it_ended()}; its last words: {visit.child.last_words()}"
        kind = Failed if guest.is_forgotten or _ended(visit) else Late
        raise kind(f"{why}; reconnect with the Hello.resume of Welcome: the clocks of open decisions keep running")
    back = time.monotonic() - began
    if not sitting.over:
        await visit.reply(sitting, "a resume")
        sitting.take()
    await visit.go_on(sitting, "a resume")
    return f"it was back after {back:.1f} s and answered what was open"


def _ended(visit: Visit) -> bool:
    return visit.child is None or visit.child.code is not None


async def forgotten_session(visit: Visit) -> str:
    """End the stream and refuse the resume with `NOT_FOUND`: Hello without `resume` must come, and no old table."""
    guest = await visit.guest()
    sitting = visit.sit(guest)
    await visit.ask(sitting)
    host = visit.host
    host.forget()
    guest.end_stream(LOST)
    await guest.until(lambda: host.guest is not guest or _ended(visit), BACK_S)
    if host.guest is guest or host.guest is None:
        raise Late(
            f"it did not say Hello anew in {BACK_S:g} s after its Resume was refused as RESUME_EXPIRED; "
            "say Hello without Resume then, and forget the tables that were open"
        )
    await visit.go_on(visit.sit(host.guest), "a new session")
    return "it began a new session"


async def drain(visit: Visit) -> str:
    """Send `drain`, play on and end the stream: the bot must reconnect, and not before the time that was named."""
    guest = await visit.guest()
    sitting = visit.sit(guest)
    guest.drain(arena_pb2.Drain(time_left_ms=5_000, reconnect_after_ms=1_000, text="the check says so"))
    await visit.go_on(sitting, "Drain", 5)
    guest.end_stream(StreamStatus(grpc.StatusCode.UNAVAILABLE, "the server is stopping", "DRAINING", 1_000))
    began, hellos = time.monotonic(), len(visit.host.hellos)  # the bot's own clock: it must not be earlier
    await guest.until(lambda: len(visit.host.hellos) > hellos or _ended(visit), BACK_S)
    if _ended(visit):
        return "it played on, and ended with the server"
    if len(visit.host.hellos) == hellos:
        raise Warned(f"it played on, but did not come back in {BACK_S:g} s; a server that is renewed would miss it")
    back = time.monotonic() - began
    if back < 0.9:
        raise Warned(f"it came back after {back:.1f} s instead of 1 s; wait for Drain.reconnect_after_ms")
    return f"it played on, and was back after {back:.1f} s"


async def several_servers(visit: Visit) -> str:
    """Send the bot to a second server and back, then name both: it plays there, then at both, or gets a warning."""
    host, other = visit.host, visit.other
    assert other is not None
    guest = await visit.guest()
    host.sends_to = other.address
    try:
        host.forget()
        guest.end_stream(elsewhere(other.address))
        there = await _dials(visit, other)
        if there is None:
            await visit.restart()  # its session was sent away
            raise Warned(
                "it plays only at the server that it dialled; when a call ends with ELSEWHERE, dial the address in "
                "the metadata of ErrorInfo, if its host is trusted"
            )
    finally:
        host.sends_to = ""
    await visit.go_on(visit.sit(there), "ELSEWHERE")
    other.sends_to, host.elsewhere = host.address, ((LADDER, other.address),)
    try:
        other.forget()
        there.end_stream(elsewhere(host.address))
        if await _dials(visit, host) is None:
            raise Late(f"it did not come back in {BACK_S:g} s when the second server sent it to the first one again")
        other.sends_to = ""
        guest = await visit.guest()
        guest.end_stream(LOST)
        there = await _dials(visit, other)
        if there is None:
            raise Warned(
                "it plays only at one server at a time; open a stream to each address in Welcome.elsewhere, if its "
                "host is trusted, and divide the tables"
            )
        here = await visit.guest()
        sittings = [visit.sit(here), visit.sit(there)]
        for _ in range(3):
            for sitting in [open_sitting for open_sitting in sittings if not open_sitting.over]:
                await visit.ask(sitting, "a stream to each of two servers")
        for sitting in sittings:
            await visit.end(sitting)
        # Its second stream is sent where the first one is already. So it ends: another Hello would end the first one.
        other.sends_to, host.elsewhere = host.address, ()
        other.forget()
        there.end_stream(elsewhere(host.address))
        await there.until(lambda: not there.is_connected, BACK_S)
        await visit.go_on(visit.sit(here), "the end of the stream to the second server")
    finally:
        other.sends_to, host.elsewhere = "", ()
    return "it followed, and played at two servers at once"


async def foreign_server(visit: Visit) -> str:
    """Send the bot to a host that it has no reason to trust with its token: it must not dial.

    The second address ends like a trusted one. Who reads it as a URI dials the host at its beginning.
    """
    host, other = visit.host, visit.other
    assert other is not None
    guest = await visit.guest()
    stranger = other.address.replace("127.0.0.1", "localhost")
    strangers = (stranger, f"{stranger}#{TRUSTED_DOMAIN}:7777")
    dials_before, resumes_before = len(other.hellos), guest.resumed
    host.elsewhere = tuple((f"{LADDER}{number}", address) for number, address in enumerate(strangers))
    try:
        guest.end_stream(LOST)
        await guest.until(lambda: guest.resumed > resumes_before or _ended(visit), BACK_S)
        await visit.go_on(visit.sit(await visit.guest()), "Welcome.elsewhere")
    finally:
        host.elsewhere = ()
    for address in strangers:
        guest = await visit.guest()
        host.sends_to = address
        try:
            guest.end_stream(elsewhere(address))
            await guest.until(lambda: len(other.hellos) > dials_before or _ended(visit), STRANGER_S)
        finally:
            host.sends_to = ""
        # A program that is sent only to a host that it doesn't trust may also end: it is started again.
        await host.bot(visit.dial_in_s, lambda: not _ended(visit))
        if len(other.hellos) > dials_before:
            raise Failed(
                f"it dialled {stranger} because a server named {' or '.join(strangers)}, and would have sent its "
                "token there; dial only the host of CUTPURSE_SERVER, and hosts that CUTPURSE_TRUST names, and refuse "
                "what is no host and port"
            )
    await visit.go_on(visit.sit(await visit.guest()), "a server that sent it to a foreign host")
    return "it did not dial there"


async def _dials(visit: Visit, host: Host) -> Guest | None:
    """Return the bot's session at a server, or None if it does not dial there in time."""
    return await host.bot(BACK_S, lambda: not _ended(visit))


async def leaving(visit: Visit) -> str:
    """Send SIGTERM: the bot must send `leaving`, and end with all its processes within 5 seconds."""
    guest = await visit.guest()
    await guest.until(lambda: guest.is_in, BACK_S)  # before its welcome, a bot may end without a message
    child = visit.child
    assert child is not None
    by_itself = await asyncio.to_thread(child.stop, LEAVE_S)
    if not by_itself:
        raise Late(f"it was still there {LEAVE_S:g} s after SIGTERM and had to be killed; send `leaving`, then end")
    if left := child.left_behind:
        processes = format_count(left, "process", "processes")
        raise Late(
            f"it ended, but {processes} that it had started still ran {LEAVE_S:g} s after SIGTERM and had to be "
            "killed; end what you start"
        )
    if not guest.leaving:
        raise Warned("it ended without saying so; with PlayRequest.leaving its open matches are played to the end")
    return "it said that it leaves, and ended"


Scenario = Callable[[Visit], Awaitable[str]]

# After the first scenario comes a whole match for each game.
SCENARIOS: Final[tuple[tuple[str, Scenario], ...]] = (
    ("handshake", handshake),
    ("a second match", second_match),
    ("several tables", several_tables),
    ("illegal answer", illegal_answer),
    ("refused thrice", refused_thrice),
    ("too late", too_late),
    ("heartbeat", heartbeat),
    ("unknown fields", unknown_fields),
    ("nonce", nonce),
    ("lost stream", lost_stream),
    ("forgotten session", forgotten_session),
    ("drain", drain),
    ("several servers", several_servers),
    ("foreign server", foreign_server),
    ("leaving", leaving),
)
WITH_OTHER: Final[tuple[Scenario, ...]] = (several_servers, foreign_server)  # need `Visit.other`
