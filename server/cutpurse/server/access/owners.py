"""Who may come in: which owner a call's token belongs to, and for how long.

A server whose leaderboard never had a token is open: whoever reaches it plays as the owner `local`. Any other asks each
call for `authorization: Bearer TOKEN`. All tokens are kept in memory, as hashes, and read again on a thread of their
own whenever the leaderboard says that they have changed. So a call costs no look-up, a bad token no more than a good
one, and a token that is revoked is good for nothing a moment later.

Whoever tries many bad tokens from one address hears of it late, and the log of it once; a good token from the same
address is let in as ever. No text, line or name here holds a secret. Moments are handed in: those of `now` are seconds
on one monotonic clock, those of `utc` have a time zone.
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

from cutpurse.leaderboard.errors import LeaderboardError
from cutpurse.leaderboard.owner_registry import SCOPES
from cutpurse.leaderboard.queries import TokenEntry
from cutpurse.leaderboard.tokens import HOUSE, NOBODY, Token, read_token
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
    "TokenStore",
    "address_of",
    "check_scope",
]

TRIES: Final = 10  # bad tokens a minute that an address may show
MINUTE_S: Final = 60.0  # in which they are counted; and for so long after them bad tokens are answered late
MOST_ADDRESSES: Final = 4_096  # that are remembered for their bad tokens
HOUSE_SCOPES: Final = ("play", "read")
NOTE_S: Final = 60.0  # between two notes in the leaderboard of which tokens were used
AGAIN_S: Final = 1.0  # after tokens could not be read

# One text for all: it tells nobody whether a token ever existed.
BAD: Final = (
    "this token is not good here: it is unknown, malformed, expired or revoked; ask whoever runs the server for another"
)
MISSING: Final = "this server lets bots in by token; send one with the call, as metadata: authorization: Bearer TOKEN"

_BEARER: Final = re.compile(r"bearer +(\S+)", re.IGNORECASE | re.ASCII)
_PEER: Final = re.compile(r"(?P<family>ipv4|ipv6):(?P<host>.+):\d+")


class HostedBotIdentity(NamedTuple):
    """A bot that the server itself runs: who it is, whatever it says of itself, and where and how much it plays.

    ladders: () is every ladder of its games. one_match: that which this process plays, and no more; None: all it gets.
    contact: what notes that this process was heard.
    """

    bot: str
    version: str
    ladders: tuple[str, ...] = ()
    tables: int = 1
    one_match: OneMatch | None = None
    contact: Contact | None = None


class Grant(NamedTuple):
    """What a call is let in as: whose it is, by which token (its name; empty where none is asked for), for what.

    forgets: what comes with it keeps nothing from one match to the next, for it is run in a fresh process or as a fresh
    object for each, by us. resident: it can only be this bot.
    """

    owner: str
    token: str
    scopes: tuple[str, ...] = ()
    forgets: bool = False
    resident: HostedBotIdentity | None = None


ANYBODY: Final = Grant(NOBODY, "", SCOPES)


class TokenRefused(CallRefused):
    """A call is not let in.  is_late: to be answered late, and not to be logged, as many like it came before."""

    def __init__(self, reason: str, text: str, is_late: bool = False) -> None:
        super().__init__(reason, text)
        self.is_late = is_late


def check_scope(grant: Grant | None, *scopes: str) -> None:
    """Whether a call may do what takes one of these scopes.  Raises TokenRefused."""
    if grant is None:
        raise TokenRefused("TOKEN_INVALID", MISSING)
    if not set(scopes) & set(grant.scopes):
        text = f"this token is good for {', '.join(grant.scopes)}, not for {' or '.join(scopes)}; ask for one that is"
        raise TokenRefused("TOKEN_SCOPE", text)


class Guard(Protocol):
    """Lets calls in, or not."""

    def enter(self, metadata: Iterable[tuple[str, str | bytes]], peer: str, scope: str, now: float) -> Grant:
        """Whose call it is, by its metadata and what gRPC says of its peer.  Raises TokenRefused."""

    def recognise(self, metadata: Iterable[tuple[str, str | bytes]], peer: str, now: float) -> Grant | None:
        """Whose call it is; None for one without a token.  Raises TokenRefused for a bad token."""

    def is_good(self, token: str) -> bool:
        """Whether the token of a grant still counts."""

    def look(self, now: float) -> bool:
        """To be called often: whether a grant may have lost its token since the last time. Waits for nothing."""

    def close(self) -> None:
        """There will be no more calls."""


class OpenGuard:
    """Everybody is let in."""

    def enter(self, metadata: Iterable[tuple[str, str | bytes]], peer: str, scope: str, now: float) -> Grant:
        """Admit everybody as the owner `local`, whatever the metadata says."""
        return ANYBODY

    def recognise(self, metadata: Iterable[tuple[str, str | bytes]], peer: str, now: float) -> Grant | None:
        """Recognise everybody as the owner `local`."""
        return ANYBODY

    def is_good(self, token: str) -> bool:
        """Return True: every token is good."""
        return True

    def look(self, now: float) -> bool:
        """Return False: nothing changes."""
        return False

    def close(self) -> None:
        """Nothing to do."""


class HouseGuard:
    """Lets the bots of the house in by a token that was made for this run and is kept nowhere; others another guard."""

    def __init__(self, others: Guard, token: Token) -> None:
        self._others = others
        self._token = token
        self._grant = Grant(HOUSE, token.id, HOUSE_SCOPES, forgets=True)

    def enter(self, metadata: Iterable[tuple[str, str | bytes]], peer: str, scope: str, now: float) -> Grant:
        """See `Guard`. The house plays and reads."""
        said = [*metadata]
        if not self._is_house(said):
            return self._others.enter(said, peer, scope, now)
        check_scope(self._grant, scope)
        return self._grant

    def recognise(self, metadata: Iterable[tuple[str, str | bytes]], peer: str, now: float) -> Grant | None:
        """See `Guard`."""
        said = [*metadata]
        return self._grant if self._is_house(said) else self._others.recognise(said, peer, now)

    def _is_house(self, metadata: Iterable[tuple[str, str | bytes]]) -> bool:
        token = _token([value for key, value in metadata if key == "authorization"])
        return token is not None and hmac.compare_digest(token.digest, self._token.digest)

    def is_good(self, token: str) -> bool:
        """See `Guard`."""
        return token == self._token.id or self._others.is_good(token)

    def look(self, now: float) -> bool:
        """See `Guard`."""
        return self._others.look(now)

    def close(self) -> None:
        """See `Guard`."""
        self._others.close()


class TokenStore(Protocol):
    """Where tokens are kept: a `Store`."""

    changes: int

    def tokens(self) -> list[TokenEntry]:
        """All of them."""

    def note_uses(self, uses: Mapping[str, datetime]) -> Future[None]:
        """Write down when they were used last."""


class TokenGuard:
    """Whoever has a token is let in as its owner. `close` it before the store."""

    def __init__(self, store: TokenStore, utc: Callable[[], datetime], log: Logger) -> None:
        """Read all tokens.  Raises StoreError."""
        self._store = store
        self._utc = utc
        self._log = log
        self._changes = store.changes
        self._tokens = _by_id(store.tokens())
        self._reading: Future[dict[str, TokenEntry]] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="tokens")
        self._tries = _Tries(log)
        self._used: dict[str, datetime] = {}
        self._note_at = 0.0
        self._read_at = 0.0  # not before

    def enter(self, metadata: Iterable[tuple[str, str | bytes]], peer: str, scope: str, now: float) -> Grant:
        """See `Guard`."""
        grant = self.recognise(metadata, peer, now)
        check_scope(grant, scope)
        assert grant is not None
        return grant

    def recognise(self, metadata: Iterable[tuple[str, str | bytes]], peer: str, now: float) -> Grant | None:
        """See `Guard`."""
        shown = [value for key, value in metadata if key == "authorization"]
        if not shown:
            return None
        entry = self._entry(shown)
        if entry is None:
            raise TokenRefused("TOKEN_INVALID", BAD, self._tries.is_late(address_of(peer), now))
        self._used[entry.id] = self._utc()
        return Grant(entry.owner, entry.id, entry.scopes)

    def _entry(self, shown: Sequence[str | bytes]) -> TokenEntry | None:
        """Return what is stored of the token that was shown; None if it is not valid, for any reason."""
        token = _token(shown)
        if token is None:
            return None
        entry = self._tokens.get(token.id)
        if entry is None or not hmac.compare_digest(entry.digest, token.digest) or not self._is_good(entry):
            return None
        return entry

    def _is_good(self, entry: TokenEntry) -> bool:
        return entry.owner != HOUSE and entry.is_good(self._utc())  # that name was anybody's in older databases

    def is_good(self, token: str) -> bool:
        """See `Guard`."""
        entry = self._tokens.get(token)
        return entry is not None and self._is_good(entry)

    def look(self, now: float) -> bool:
        """See `Guard`. Reads the tokens again if they have changed, and notes now and then which were used."""
        if now >= self._note_at:
            self._note_at = now + NOTE_S
            self._note()
        reading = self._reading
        if reading is None:
            changes = self._store.changes  # seen before they are read: what changes meanwhile is read the next time
            if changes != self._changes and now >= self._read_at:
                self._changes = changes
                self._reading = self._thread.submit(lambda: _by_id(self._store.tokens()))
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
        """See `Guard`."""
        self._note()
        self._thread.shutdown()

    def _note(self) -> None:
        if self._used:
            used, self._used = self._used, {}
            self._thread.submit(_quietly, self._store, used)


def _token(shown: Sequence[str | bytes]) -> Token | None:
    """Return the token of a call, if it has one of the right form."""
    if len(shown) != 1 or not isinstance(shown[0], str) or (bearer := _BEARER.fullmatch(shown[0])) is None:
        return None
    return read_token(bearer[1])


class _Tries:
    """How many bad tokens came from which address."""

    @dataclass(slots=True)
    class Count:
        """Of one address."""

        since: float
        tries: int = 0
        late_until: float = 0.0

    def __init__(self, log: Logger) -> None:
        self._log = log
        self._by_address: dict[str, _Tries.Count] = {}

    def is_late(self, address: str, now: float) -> bool:
        """Another bad token came: whether it is one too many."""
        count = self._by_address.pop(address, None)
        if count is None or now >= max(count.since + MINUTE_S, count.late_until):
            count = self.Count(now)
        self._by_address[address] = count  # the one that tried last is the last to be forgotten
        if len(self._by_address) > MOST_ADDRESSES:
            del self._by_address[next(iter(self._by_address))]
        count.tries += 1
        if count.tries == TRIES + 1:
            count.late_until = now + MINUTE_S
            self._log.warning("many bad tokens", address=address, tries=count.tries, late_for_s=MINUTE_S)
        return count.tries > TRIES


def _by_id(entries: Iterable[TokenEntry]) -> dict[str, TokenEntry]:
    return {entry.id: entry for entry in entries}


def _quietly(store: TokenStore, used: Mapping[str, datetime]) -> None:
    """When a token was used is not worth a word if it cannot be written down."""
    try:
        store.note_uses(used).result()
    except LeaderboardError:
        pass


def address_of(peer: str) -> str:
    """Where a call came from, of "ipv4:10.0.0.7:4711": the host; of IPv6 its network, which is one caller's."""
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
