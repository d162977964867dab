"""All sessions of a server: which bots are admitted, resume, supersede others, or expire.

There is one session per owner, bot and version, and the newest stream has it. This module knows no envelopes and no
clock: entropy and times (seconds on one monotonic clock) are passed in.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.tokens import HOUSE, PEOPLE
from cutpurse.server.access.owners import ANYBODY, BAD, Grant
from cutpurse.server.counts import Counts
from cutpurse.server.errors import LEFT, OVERTAKEN, CallRefused, call_status, incident
from cutpurse.server.invariants import QueueOverflow
from cutpurse.server.limits import ServerLimits
from cutpurse.server.matches.other_arenas import elsewhere
from cutpurse.server.streams.hello import FEATURES, Introduction, introduction
from cutpurse.server.streams.link import Link
from cutpurse.server.streams.match_port import Matches
from cutpurse.server.streams.server_session import ServerSession
from cutpurse.server.streams.session_stages import SessionStage
from cutpurse.v1 import arena_pb2
from cutpurse.wire.text import format_count
from cutpurse.wire.version import PROTOCOL

__all__ = ["Sessions"]

# Says whether a bot can play here, and which of its ladders are where; of what it plays, and its owner.
Locates: TypeAlias = Callable[[Callable[[str, str], bool], str], tuple[bool, Sequence[tuple[str, str]]]]

_RECONNECT_MS: Final = (500, 3_000)  # delay after a drain, spread so that bots do not reconnect all at once


class Sessions:
    """All sessions of a server."""

    def __init__(
        self,
        matches: Matches,
        limits: ServerLimits,
        server: str,
        entropy: Callable[[int], bytes],
        counts: Counts | None = None,
        *,
        is_good: Callable[[str], bool] = lambda token: True,
        broke: Callable[[Exception, ServerSession], str] = lambda problem, session: "",
        locate: Locates | None = None,
    ) -> None:
        """Start without sessions.

        Args:
            matches: The lobby.
            limits: The server's limits.
            server: Text of Welcome.server.
            entropy: Returns that number of unpredictable bytes.
            counts: Counters to update; new ones by default.
            is_good: Returns whether the token with this ID is still valid.
            broke: Called with a session that breaks an invariant; returns the incident number.
            locate: Says where a bot can play, as `Lobby.locate` does; None if there are no other arenas.
        """
        self.limits = limits
        self.counts = counts or Counts()
        self._is_good = is_good
        self._broke = broke
        self._locate = locate
        self._matches = matches
        self._server = server
        self._entropy = entropy
        self._by_id: dict[str, ServerSession] = {}
        self._by_identity: dict[Identity, ServerSession] = {}
        self._look_at = 0.0
        self._ends_at: float | None = None  # when the server stops, while it drains

    def __len__(self) -> int:
        return len(self._by_id)

    @property
    def connected(self) -> int:
        """Number of sessions with a stream."""
        return sum(session.is_connected for session in self._by_id.values())

    @property
    def waiting(self) -> tuple[int, int]:
        """Number of tables with something to send to connected bots, and of unsent refusals."""
        links = [session.link for session in self._by_id.values() if session.link is not None]
        return sum(len(link.session.ready_places) for link in links), sum(link.refusals for link in links)

    @property
    def notify_sessions(self) -> bool:
        """Whether no connected bot has a table left, so that all know the ends of their matches."""
        return not any(session.is_connected and session.places for session in self._by_id.values())

    def admit(
        self, request: arena_pb2.PlayRequest, wake: Callable[[], None], now: float, grant: Grant = ANYBODY
    ) -> Link:
        """Open or resume a session from the first envelope of a stream.

        An older stream of the session, or an older session of the same bot and version, is superseded. A new session is
        refused if its ladders are not for the bot, frozen or full, or if the bot is paused. These checks are skipped
        for a resumed session, which has matches to finish, and for a hosted bot.

        Raises:
            CallRefused: For an invalid Hello, a refused new session, RESUME_EXPIRED, STREAMS or DRAINING.
        """
        if not request.HasField("hello"):
            raise CallRefused("HELLO", "the first envelope of a stream must hold Hello")
        hello = request.hello
        entering = introduction(hello, grant, self._matches.ladders(grant.owner), self.limits)
        if hello.HasField("resume"):
            session = self._resumed(hello.resume, entering, now)
        else:
            if self._ends_at is not None:
                raise CallRefused("DRAINING", "the server is stopping and accepts no bots; come back later")
            if (other := self._only_elsewhere(entering)) is not None:
                raise elsewhere(*other)
            if grant.resident is None:  # a hosted bot was checked when it was submitted, and waits for its ladders
                self._matches.check(entering.identity, entering.wanted, entering.forgets)
            session = self._new(entering, now)
        is_resumed = session.stage is SessionStage.LOST
        if is_resumed:
            self.counts.sessions_resumed += 1
        else:
            self.counts.sessions_opened += 1
        self.counts.envelopes_in += 1
        try:
            link = Link(session, self.limits, self._welcome(session, is_resumed), wake, now, self.counts)
            link.take(request, now)
        except Exception:  # a server error: without the link the session would never expire
            if session.link is not None:
                session.link.lost(now)
            raise
        if self._ends_at is not None:
            link.drain(max(0, round((self._ends_at - now) * 1_000)), self._reconnect_after_ms())
        return link

    def is_run_elsewhere(self, identity: Identity) -> bool:
        """Return whether this version is connected by a process that is not the server's own."""
        session = self._by_identity.get(identity)
        return session is not None and session.is_connected and not session.introduction.is_run_here

    def _new(self, entering: Introduction, now: float) -> ServerSession:
        older = self._by_identity.get(entering.identity)
        if older is not None and older.is_connected and older.introduction.is_run_here and not entering.is_run_here:
            # The server would restart its own process, which would supersede in turn: both would lose their open
            # matches.
            raise CallRefused(
                "HELLO",
                f"{entering.identity.shown} was submitted, and the server runs it: give this one another version or "
                f"name, or retire that one with cutpurse bot change {entering.identity.bot} --retire",
            )
        if older is not None:
            if older.link is not None:
                older.link.close(call_status("SUPERSEDED", "a newer stream of this bot took over"), now)
            self._void_person(older)
            self._forget(older)
        if len(self._by_id) >= self.limits.most_sessions:
            raise CallRefused("STREAMS", f"there are {self.limits.most_sessions} sessions already; come back later")
        self._check_owner(entering)
        session = ServerSession(self._entropy(16).hex(), self._entropy(32), entering, self._matches)
        self._by_id[session.id] = self._by_identity[entering.identity] = session
        return session

    def _check_owner(self, entering: Introduction) -> None:
        """Check that the owner may have one more session.

        Without tokens all bots have one owner, hosted bots have limits of their own, and the page limits people.

        Raises:
            CallRefused: STREAMS.
        """
        owner, most = entering.identity.owner, self.limits.sessions_per_owner
        if not entering.token or owner in (HOUSE, PEOPLE) or entering.is_run_here:
            return
        sessions = [session for session in self._by_id.values() if session.identity.owner == owner]
        if sum(not session.introduction.is_run_here for session in sessions) >= most:
            raise CallRefused(
                "STREAMS",
                f"{owner} has {format_count(most, 'bot')} here, as many as an owner may; end one of them first",
            )

    def _resumed(self, resume: arena_pb2.Resume, entering: Introduction, now: float) -> ServerSession:
        session = self._by_id.get(resume.session)
        # A wrong secret, a session of another owner and an unknown session get the same answer.
        is_right = hmac.compare_digest(resume.secret, session.secret if session is not None else bytes(32))
        is_own = session is not None and session.identity.owner == entering.identity.owner
        is_own = is_own and session is not None and session.forgets == entering.forgets
        # Another process may not continue what one process began.
        is_own = is_own and session is not None and session.one_match is entering.one_match
        if session is None or not is_right or not is_own or self._is_given_up(session, now):
            raise CallRefused(
                "RESUME_EXPIRED", "there is no such session to resume (any more); say Hello without resume"
            )
        if session.identity != entering.identity:
            bot, version = session.identity.bot, session.identity.version
            raise CallRefused("HELLO", f"the session to resume is that of {bot} {version}; say Hello by that name")
        if session.link is not None:
            session.link.close(OVERTAKEN, now)
        session.introduce(entering)
        session.max_tables = entering.max_tables
        return session

    def _welcome(self, session: ServerSession, is_resumed: bool) -> arena_pb2.Welcome:
        limits, told = self.limits, session.introduction
        return arena_pb2.Welcome(
            session=session.id,
            resume_secret=session.secret,
            protocol_minor=min(PROTOCOL[1], told.minor),
            resumed=is_resumed,
            resume_window_ms=limits.resume_window_ms,
            max_tables=session.max_tables,
            most_tables=self._most_tables(told.identity),
            max_bytes=limits.most_bytes,
            max_envelopes_per_second=limits.envelopes_per_second,
            heartbeat_ms=limits.heartbeat_ms,
            server=self._server,
            bot=told.identity.bot,
            version=told.identity.version,
            features=sorted(FEATURES & told.features),
            owner=told.identity.owner,
            max_note_bytes=limits.note_bytes if "notes" in told.features else 0,
            elsewhere=[
                arena_pb2.LadderElsewhere(ladder=ladder, address=address)
                for ladder, address in self._elsewhere(told)[1]
            ],
        )

    def _elsewhere(self, entering: Introduction) -> tuple[bool, Sequence[tuple[str, str]]]:
        if self._locate is None or entering.identity.owner in (HOUSE, PEOPLE) or entering.is_run_here:
            return True, ()  # house and hosted bots are the server's own
        return self._locate(entering.plays, entering.identity.owner)

    def _only_elsewhere(self, entering: Introduction) -> tuple[str, str] | None:
        """Return a ladder of another arena and its address, if a bot can play nowhere else; None if it can."""
        is_here, others = self._elsewhere(entering)
        return others[0] if others and not is_here else None

    def tell(self, reason: str, text: str) -> None:
        """Notify every connected bot of an error that does not end its session."""
        for session in self._by_id.values():
            session.tell(reason, text)

    # -- the end of sessions
    def lost(self, link: Link, now: float) -> None:
        """Note that a stream has ended. Its session can be resumed for a while, unless the bot has left."""
        link.lost(now)
        session = link.session
        if link.closed is LEFT and session.leaving and not session.places and not session.is_connected:
            self._forget(session)

    def tick(self, now: float) -> None:
        """Remove expired sessions, and end those with overfull queues or invalid tokens.

        Checks all sessions once a second.
        """
        if now < self._look_at:
            return
        self._look_at = now + 1.0
        for session in [session for session in self._by_id.values() if self._is_given_up(session, now)]:
            self._void_person(session)
            self._forget(session)
        self.check_tokens(now)
        self._check_queues(now)
        self._send_on(now)

    def _send_on(self, now: float) -> None:
        """End the sessions whose ladders all went to other arenas, once they have no match."""
        if self._locate is None:
            return
        idle = [one for one in self._by_id.values() if one.link is not None and not one.places and not one.leaving]
        for session in idle:
            other = self._only_elsewhere(session.introduction)
            if other is not None and session.link is not None:
                session.link.close(elsewhere(*other).ending, now)
                self._forget(session)

    def _most_tables(self, identity: Identity) -> int:
        return self.limits.house_tables if identity.owner == HOUSE else self.limits.most_tables

    def _check_queues(self, now: float) -> None:
        for session in list(self._by_id.values()):
            try:
                session.check_queues(self._most_tables(session.identity))
            except QueueOverflow as problem:
                number = self._broke(problem, session)
                if session.link is not None:
                    session.link.close(incident(number), now)
                self._forget(session)

    def check_tokens(self, now: float) -> None:
        """End the sessions whose tokens are no longer valid; their open matches go on without them."""
        used = {session.introduction.token for session in self._by_id.values()}
        bad = {token for token in used if not self._is_good(token)}
        for session in [known for known in self._by_id.values() if bad and known.introduction.token in bad]:
            if session.link is not None:
                session.link.close(call_status("TOKEN_INVALID", BAD), now)
            self._forget(session)

    def credit(self, seconds: float) -> None:
        """Give every session more time after a stall of the server, in seconds."""
        for session in self._by_id.values():
            if session.link is not None:
                session.link.credit(seconds)
            elif session.stage is SessionStage.LOST:
                session.lost_at += seconds

    def drain(self, ends_at: float, now: float) -> None:
        """Announce to all bots when the server stops, and admit no new bot."""
        self._ends_at = ends_at
        for session in self._by_id.values():
            if session.link is not None:
                session.link.drain(max(0, round((ends_at - now) * 1_000)), self._reconnect_after_ms())

    def close(self, now: float) -> None:
        """End every stream, since the server stops now."""
        for session in self._by_id.values():
            if session.link is not None:
                after_s = self._reconnect_after_ms() / 1_000
                session.link.close(call_status("DRAINING", "the server is stopping", after_s), now)

    def _is_given_up(self, session: ServerSession, now: float) -> bool:
        return session.stage is SessionStage.LOST and now - session.lost_at > self.limits.resume_window_ms / 1_000

    def _forget(self, session: ServerSession) -> None:
        self._by_id.pop(session.id, None)
        if self._by_identity.get(session.identity) is session:
            del self._by_identity[session.identity]
        session.forget()

    def _void_person(self, session: ServerSession) -> None:
        """Void the match of a person's lost session: the page plays every seat to its end, so the page was lost."""
        if session.identity.is_person:
            self._matches.lose([session.identity], "the page of a person is lost")

    def _reconnect_after_ms(self) -> int:
        least, most = _RECONNECT_MS
        return least + int.from_bytes(self._entropy(2)) * (most - least) // 0x10000
