"""Guards: they authenticate calls, by the owner of each token and as long as the token is valid.

A server whose leaderboard never had a token is open: every caller plays as the owner `local`. Any other server requires
`authorization: Bearer TOKEN`. All tokens are cached in memory as hashes. A separate thread reads them again whenever
the leaderboard reports a change. So a call costs no query, a bad token costs no more than a good one, and a revoked
token stops working within moments.

Refusals to an address that tries many bad tokens are delayed, and logged once. Good tokens from that address still work
at once. No error, log line or token ID contains a secret. Times are passed in: `now` is in seconds on one monotonic
clock, and `utc` returns aware timestamps.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple, Protocol

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.errors import LeaderboardError
from cutpurse.leaderboard.owner_registry import note_uses
from cutpurse.leaderboard.queries import TokenEntry
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tokens import HOUSE, LINK, NOBODY, PEOPLE, SCOPES, Token, read_token
from cutpurse.server.access.contact import Contact
from cutpurse.server.access.one_match import OneMatch
from cutpurse.server.errors import CallRefused
from cutpurse.server.logs import Logger

__all__ = [
    "ANYBODY",
    "BAD",
    "Grant",
    "Guard",
    "HouseGuard",
    "OpenGuard",
    "HostedBotIdentity",
    "TokenGuard",
    "TokenRefused",
    "address_of",
    "check_scope",
]

TRIES: Final = 10  # bad tokens that an address may send per minute without delay
MINUTE_S: Final = 60.0  # window of the count, and duration of the delays after it
MOST_ADDRESSES: Final = 4_096  # addresses remembered for bad tokens
HOUSE_SCOPES: Final = ("play", "read")
NOTE_S: Final = 60.0  # seconds between updates of the last use of tokens
AGAIN_S: Final = 1.0  # seconds until the next try after tokens could not be read

# One text for all, so that it does not reveal whether a token ever existed.
BAD: Final = (
    "this token is not valid here: it is unknown, malformed, expired or revoked; ask the operator of the server for "
    "another"
)
MISSING: Final = "this server lets bots in by token; send one with the call, as metadata: authorization: Bearer TOKEN"

_BEARER: Final = re.compile(r"bearer +(\S+)", re.IGNORECASE | re.ASCII)
_PEER: Final = re.compile(r"(?P<family>ipv4|ipv6):(?P<host>.+):\d+")


class HostedBotIdentity(NamedTuple):
    """The identity and limits of a hosted bot's process, whatever its Hello says.

    Args:
        bot: Its name.
        version: Its version.
        ladders: Ladders that it may play on; () means every ladder of its games.
        tables: Maximum simultaneous matches.
        one_match: State of the only match that the process plays; None if it plays any number.
        contact: Notes that the process sends something.
        is_for_tests: It is run for version tests alone.
    """

    bot: str
    version: str
    ladders: tuple[str, ...] = ()
    tables: int = 1
    one_match: OneMatch | None = None
    contact: Contact | None = None
    is_for_tests: bool = False


class Grant(NamedTuple):
    """What a call is authorized for.

    Args:
        owner: The owner.
        token: ID of the token; empty if the server requires none.
        scopes: Scopes of the token.
        forgets: Whether its bots keep no memory, because the server runs each match in a fresh process or object.
        resident: The only bot that the call may play as; None for any bot of the owner.
        is_person: Whether the page vouches that a person plays, who is signed in there.
    """

    owner: str
    token: str
    scopes: tuple[str, ...] = ()
    forgets: bool = False
    resident: HostedBotIdentity | None = None
    is_person: bool = False


ANYBODY: Final = Grant(NOBODY, "", SCOPES)


class TokenRefused(CallRefused):
    """A call that is not authorized. `is_late` delays the answer and skips the log, after too many like it."""

    def __init__(self, reason: str, text: str, is_late: bool = False) -> None:
        super().__init__(reason, text)
        self.is_late = is_late


def check_scope(grant: Grant | None, *scopes: str) -> None:
    """Check that a call has one of these scopes.

    Raises:
        TokenRefused: If it has none of them, or no token.
    """
    if grant is None:
        raise TokenRefused("TOKEN_INVALID", MISSING)
    if not set(scopes) & set(grant.scopes):
        text = f"this token is good for {', '.join(grant.scopes)}, not for {' or '.join(scopes)}; ask for one that is"
        raise TokenRefused("TOKEN_SCOPE", text)


class Guard(Protocol):
    """A check of the tokens of calls."""

    def enter(self, metadata: Iterable[tuple[str, str | bytes]], peer: str, scope: str, now: float) -> Grant:
        """Return the grant of a call with this scope, from its metadata and gRPC's name of its peer.

        Raises:
            TokenRefused: If it has no such token.
        """

    def recognise(self, metadata: Iterable[tuple[str, str | bytes]], peer: str, now: float) -> Grant | None:
        """Return the grant of a call; None without a token.

        Raises:
            TokenRefused: If the token is bad.
        """

    def is_good(self, token: str) -> bool:
        """Return whether the token of a grant is still valid."""

    def look(self, now: float) -> bool:
        """Return whether tokens may have become invalid since the previous call. Call it often; it never waits."""

    def close(self) -> None:
        """Release the guard; there will be no more calls."""


class OpenGuard:
    """A guard of a server without tokens."""

    def enter(self, metadata: Iterable[tuple[str, str | bytes]], peer: str, scope: str, now: float) -> Grant:
        """Admit every call as the owner `local`, whatever its metadata says."""
        return ANYBODY

    def recognise(self, metadata: Iterable[tuple[str, str | bytes]], peer: str, now: float) -> Grant | None:
        """Recognise every call as the owner `local`."""
        return ANYBODY

    def is_good(self, token: str) -> bool:
        """Return True: every token is good."""
        return True

    def look(self, now: float) -> bool:
        """Return False: nothing changes."""
        return False

    def close(self) -> None:
        """Do nothing."""


class HouseGuard:
    """A guard that admits a program of the server by a token of this run, which is stored nowhere.

    It asks another guard about all other tokens.
    """

    def __init__(self, others: Guard, token: Token, owner: str = HOUSE) -> None:
        """Admit by `token` the bots of `owner`: the house bots, or the people who play on the page."""
        self._others = others
        self._token = token
        self._grant = Grant(owner, token.id, HOUSE_SCOPES, forgets=owner == HOUSE)

    def enter(self, metadata: Iterable[tuple[str, str | bytes]], peer: str, scope: str, now: float) -> Grant:
        """Implement `Guard.enter`. The program may play and read."""
        said = [*metadata]
        if not self._is_house(said):
            return self._others.enter(said, peer, scope, now)
        check_scope(self._grant, scope)
        return self._grant

    def recognise(self, metadata: Iterable[tuple[str, str | bytes]], peer: str, now: float) -> Grant | None:
        """Return whose token was sent: the program's own, or one that the other guard knows."""
        said = [*metadata]
        return self._grant if self._is_house(said) else self._others.recognise(said, peer, now)

    def _is_house(self, metadata: Iterable[tuple[str, str | bytes]]) -> bool:
        token = _token([value for key, value in metadata if key == "authorization"])
        return token is not None and hmac.compare_digest(token.digest, self._token.digest)

    def is_good(self, token: str) -> bool:
        """Return whether it is the program's token, or one that the other guard holds for valid."""
        return token == self._token.id or self._others.is_good(token)

    def look(self, now: float) -> bool:
        """Return whether the other guard found tokens that may have become invalid."""
        return self._others.look(now)

    def close(self) -> None:
        """Close the other guard."""
        self._others.close()


class TokenGuard:
    """A guard that admits calls by stored tokens. Close it before the store."""

    def __init__(self, store: Store, utc: Callable[[], datetime], log: Logger) -> None:
        """Read all tokens.

        Raises:
            StoreError: If they cannot be read.
        """
        self._store = store
        self._utc = utc
        self._log = log
        self._changes = store.changes
        self._tokens = _by_id(store.run(queries.tokens))
        self._reading: Future[dict[str, TokenEntry]] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="tokens")
        self._tries = _Tries(log)
        self._used: dict[str, datetime] = {}
        self._note_at = 0.0
        self._read_at = 0.0  # earliest next read

    def enter(self, metadata: Iterable[tuple[str, str | bytes]], peer: str, scope: str, now: float) -> Grant:
        """Return whose stored token was sent.  Raises TokenRefused if there is none, or it lacks the scope."""
        grant = self._grant(metadata, peer, now)
        check_scope(grant, scope)
        assert grant is not None
        return grant

    def recognise(self, metadata: Iterable[tuple[str, str | bytes]], peer: str, now: float) -> Grant | None:
        """Implement `Guard.recognise`. Return None for a link, which permits nothing but to be redeemed."""
        grant = self._grant(metadata, peer, now)
        return None if grant is not None and grant.scopes == (LINK,) else grant

    def _grant(self, metadata: Iterable[tuple[str, str | bytes]], peer: str, now: float) -> Grant | None:
        shown = [value for key, value in metadata if key == "authorization"]
        if not shown:
            return None
        entry = self._entry(shown)
        if entry is None:
            raise TokenRefused("TOKEN_INVALID", BAD, self._tries.is_late(address_of(peer), now))
        self._used[entry.id] = self._utc()
        return Grant(entry.owner, entry.id, (LINK,) if LINK in entry.scopes else entry.scopes)

    def _entry(self, shown: Sequence[str | bytes]) -> TokenEntry | None:
        """Return the stored entry of the token that was sent; None if it is not valid, for any reason."""
        token = _token(shown)
        if token is None:
            return None
        entry = self._tokens.get(token.id)
        if entry is None or not hmac.compare_digest(entry.digest, token.digest) or not self._is_good(entry):
            return None
        return entry

    def _is_good(self, entry: TokenEntry) -> bool:
        # in older databases any owner could have these names
        return entry.owner not in (HOUSE, PEOPLE) and entry.is_good(self._utc())

    def is_good(self, token: str) -> bool:
        """Return whether a stored token with this ID is valid now."""
        entry = self._tokens.get(token)
        return entry is not None and self._is_good(entry)

    def look(self, now: float) -> bool:
        """Implement `Guard.look`.

        Reads the tokens again if they have changed, and periodically stores when they were used.
        """
        if now >= self._note_at:
            self._note_at = now + NOTE_S
            self._note()
        reading = self._reading
        if reading is None:
            changes = self._store.changes  # read before the tokens, so that later changes cause another read
            if changes != self._changes and now >= self._read_at:
                self._changes = changes
                self._reading = self._thread.submit(lambda: _by_id(self._store.run(queries.tokens)))
            return False
        if not reading.done():
            return False
        self._reading = None
        try:
            self._tokens = reading.result()
        except LeaderboardError as problem:
            self._changes, self._read_at = -1, now + AGAIN_S
            self._log.error("tokens not read", text=str(problem))
            return False
        return True

    def close(self) -> None:
        """Implement `Guard.close`. Store the latest uses first."""
        self._note()
        self._thread.shutdown()

    def _note(self) -> None:
        if self._used:
            used, self._used = self._used, {}
            self._thread.submit(_quietly, self._store, used)


def _token(shown: Sequence[str | bytes]) -> Token | None:
    """Return the token of a call, if it sent exactly one of the right form."""
    if len(shown) != 1 or not isinstance(shown[0], str) or (bearer := _BEARER.fullmatch(shown[0])) is None:
        return None
    return read_token(bearer[1])


class _Tries:
    """The number of bad tokens by address."""

    @dataclass(slots=True)
    class Count:
        """The bad tokens of one address."""

        since: float
        tries: int = 0
        late_until: float = 0.0

    def __init__(self, log: Logger) -> None:
        self._log = log
        self._by_address: dict[str, _Tries.Count] = {}

    def is_late(self, address: str, now: float) -> bool:
        """Count a bad token; return whether it is one too many."""
        count = self._by_address.pop(address, None)
        if count is None or now >= max(count.since + MINUTE_S, count.late_until):
            count = self.Count(now)
        self._by_address[address] = count  # the address with the latest try is forgotten last
        if len(self._by_address) > MOST_ADDRESSES:
            del self._by_address[next(iter(self._by_address))]
        count.tries += 1
        if count.tries == TRIES + 1:
            count.late_until = now + MINUTE_S
            self._log.warning("many bad tokens", address=address, tries=count.tries, late_for_s=MINUTE_S)
        return count.tries > TRIES


def _by_id(entries: Iterable[TokenEntry]) -> dict[str, TokenEntry]:
    return {entry.id: entry for entry in entries}


def _quietly(store: Store, used: Mapping[str, datetime]) -> None:
    """Store the uses of tokens; ignore failures, which are not worth a log line."""
    try:
        store.write(note_uses, used)
    except LeaderboardError:
        pass


def address_of(peer: str) -> str:
    """Return the host of a peer such as "ipv4:10.0.0.7:4711"; for IPv6 its /64 network, which belongs to one caller."""
    found = _PEER.fullmatch(peer)
    if found is None:
        return peer[:100]
    host = found["host"].replace("%5B", "").replace("%5D", "").strip("[]")
    if found["family"] == "ipv6":
        return _network(host)
    return host


def _network(host: str) -> str:
    try:
        return str(ipaddress.ip_network((host.partition("%")[0], 64), strict=False))
    except ValueError:
        return host
