"""The assembly of an arena: a database, its ladders, a lobby and the address that bots dial.

Until its database has had a token, an arena requires none: bots play under any name, and it listens on this machine
only. After that it requires tokens. This module knows no command line.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from sqlalchemy import Connection

from cutpurse.engine.errors import UsageError
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.address import is_postgresql
from cutpurse.leaderboard.copying import undeclared_tables
from cutpurse.leaderboard.errors import NoSuchEntry
from cutpurse.leaderboard.ladders import change_ladder, ensure_ladder
from cutpurse.leaderboard.queries import LadderEntry
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.schema import newest_revision
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tokens import Token
from cutpurse.leaderboard.write_hooks import WriteHooks
from cutpurse.server.access.owners import Guard, HouseGuard, OpenGuard, TokenGuard
from cutpurse.server.act_log import ActLog, act_log_beside
from cutpurse.server.counts import Counts
from cutpurse.server.errors import AddressError
from cutpurse.server.hosting.arena import Arena, ArenaServices, Listening
from cutpurse.server.hosting.certificate import Certificate
from cutpurse.server.hosting.listen_address import check_free, checked, is_local
from cutpurse.server.hosting.part import Core, Part, PartKind, PartWithSettings, ladders_of_parts
from cutpurse.server.hosting.status_service import server_status
from cutpurse.server.installed_parts import write_hooks
from cutpurse.server.ladder_config import Ladder, ladder_of
from cutpurse.server.league.hosted_ladders import why_not_hosted
from cutpurse.server.league.ladder_service import RunningLeague
from cutpurse.server.league.league_queries import Answers
from cutpurse.server.league.steering import LadderAdmin
from cutpurse.server.limits import ServerLimits
from cutpurse.server.logs import Logger
from cutpurse.server.matches.lobby import Lobby
from cutpurse.server.matches.version_tests import SHARE
from cutpurse.server.watching.broadcast import Watching

__all__ = ["WATCH_DELAY_S", "OpenArena", "open_arena"]

WATCH_DELAY_S: Final = 10.0  # several decisions, so that a spectator's hints come too late for a bot


@dataclass(frozen=True)
class OpenArena:
    """The parts that `open_arena` assembles."""

    arena: Arena
    lobby: Lobby
    store: Store
    asks_for_tokens: bool
    watching: Watching
    parts: Mapping[str, Part] = field(default_factory=dict)
    off: Sequence[PartKind] = ()


@contextmanager
def open_arena(
    address: str,
    database: str | os.PathLike[str],
    ladders: Sequence[Ladder] | Callable[[Store], Sequence[Ladder]],
    log: Logger,
    limits: ServerLimits | None = None,
    *,
    certificate: Certificate | None = None,
    insecure: bool = False,
    house: Token | None = None,
    has_page: bool = False,
    watch_delay_s: float = WATCH_DELAY_S,
    parts: Sequence[PartWithSettings] = (),
    test_share: float = SHARE,
    entropy: Callable[[int], bytes] = secrets.token_bytes,
) -> Iterator[OpenArena]:
    """Open an arena that can be started; when the block is left, every result is stored.

    Matches that an earlier server announced and did not finish are voided first, since they cannot go on without their
    clocks.

    Args:
        address: HOST:PORT or unix:PATH.
        database: The leaderboard: a path, or `postgresql://...`.
        ladders: The ladders, or a function that reads them from the database.
        log: The server's log.
        limits: The server's limits.
        certificate: As in `Arena`.
        insecure: As in `Arena`.
        house: Token of the house bots; None if there are none.
        has_page: Whether a web page will connect at `Arena.house_address`.
        watch_delay_s: Seconds that spectators are behind the bots.
        parts: The installed parts with their settings.
        test_share: Share of the tables in use that version tests may have; 0 means that none are played.
        entropy: Returns that number of unpredictable bytes, for deals and pairings.

    Raises:
        AddressError: If other machines could reach the address without TLS, or while there is no token.
        StoreError: If the database cannot be used.
        InvalidEntry: If a stored ladder of one of these names differs.
        UsageError: If a part does not work, or not here.
    """
    # before the database is created
    check_free(checked(address, may_be_reached=certificate is not None or insecure))
    counts = Counts()
    plays_hosted = any(part.kind.plays_hosted and part.settings is not None for part in parts)
    hooks, of_parts = write_hooks((part.kind for part in parts), _refuse), ladders_of_parts(parts)
    parts = sorted(parts, key=lambda part: part.kind.open_store is None)  # who opens the store comes first
    with _store(database, parts, hooks, of_parts, plays_hosted=plays_hosted) as store, ExitStack() as closing:
        asks = store.run(queries.has_tokens)
        _check_callers(store, address, asks_for_tokens=asks)
        own = _take_over(store, ladders, of_parts, log, plays_hosted=plays_hosted)
        guard: Guard = TokenGuard(store, _utc, log) if asks else OpenGuard()
        guard = guard if house is None else HouseGuard(guard, house)
        closing.callback(guard.close)
        lobby = Lobby(
            own,
            store,
            entropy=entropy,
            utc=_utc,
            log=log,
            counts=counts,
            paused=_paused(store),
            test_share=test_share,
        )
        answers, opened = Answers(store, _utc), dict[str, Part]()
        watching = Watching(lobby, log, delay_s=watch_delay_s, limits=limits)
        services = ArenaServices(
            guard,
            store if asks else None,
            RunningLeague(answers, LadderAdmin(store, answers, _utc), lobby),
            watching,
            ActLog(act_log_beside(store.database.beside), log),
            partial(server_status, lobby, store, opened),
        )
        listening = Listening(address, certificate, insecure, has_house=house is not None or has_page)
        arena = Arena(listening, lobby, log, limits=limits, counts=counts, services=services)
        arena.parts = opened
        core = _core(arena, address, lobby, store, answers, log, services.acts, asks_for_tokens=asks)
        _open_parts(parts, core, closing)
        arena.session_token_days, arena.servers = core.session_token_days, core.servers
        off = [part.kind for part in parts if part.settings is None]
        yield OpenArena(arena, lobby, store, asks, watching, opened, off)


def _core(
    arena: Arena,
    address: str,
    lobby: Lobby,
    store: Store,
    answers: Answers,
    log: Logger,
    acts: ActLog,
    *,
    asks_for_tokens: bool,
) -> Core:
    """Return what parts may use of an arena that listens at an address."""
    return Core(
        store,
        answers,
        lobby,
        arena.entrance,
        log,
        acts,
        _utc,
        arena.incident_number,
        asks_for_tokens,
        address,
        arena.address_of_house,
        arena.is_open,
        arena.is_run_elsewhere,
        arena.beat,
        arena.ask,
        arena.servers,
        arena.parts,
    )


def _open_parts(parts: Sequence[PartWithSettings], core: Core, closing: ExitStack) -> None:
    """Open each part that is on, add it to the core at once, and close it in the end."""
    for part in parts:
        if part.settings is not None:
            core.parts[part.kind.name] = opened = part.kind.open(part.settings, core)
            closing.callback(opened.close)


def _check_callers(store: Store, address: str, *, asks_for_tokens: bool) -> None:
    """Check that somebody may come in at an address.

    Raises:
        AddressError: If other machines may come, and there is no token.
    """
    if not asks_for_tokens and not is_local(address):
        raise AddressError(
            f"nobody could come in at {address}: {store.database} has no token yet, so only this machine may. "
            f"Make one first: cutpurse token create OWNER --db {store.database}"
        )


def _paused(store: Store) -> Sequence[Identity]:
    """Return the versions that are paused."""
    bots = store.run(queries.bots)
    return [Identity(bot.owner, bot.bot, bot.version) for bot in bots if bot.paused is not None]


def _refuse(problem: str) -> None:
    """Refuse to start without what a part writes in the transactions of others."""
    raise UsageError(problem)


def _store(
    database: str | os.PathLike[str],
    parts: Sequence[PartWithSettings],
    hooks: WriteHooks,
    of_parts: Sequence[Ladder],
    *,
    plays_hosted: bool,
) -> Store:
    """Open the store, or let the part do so that has one."""
    for part in parts:
        if part.settings is not None and part.kind.open_store is not None:
            own_ladders = [ladder.name for ladder in of_parts]
            return part.kind.open_store(part.settings, database, hooks, own_ladders, plays_hosted)
    return Store(database, hooks=hooks)


def _tell_of_the_database(store: Store, log: Logger) -> None:
    if store.found not in (None, newest_revision()):
        log.info(
            "database upgraded",
            database=store.database.address,
            before=store.found,
            schema=newest_revision(),
        )
    if not is_postgresql(store.database.address):
        _see_who_reads(store.database.beside, log)
    if tables := store.run(undeclared_tables):
        log.warning("tables left alone", tables=tables, text="they are of a part that is not installed here")


def _take_over(
    store: Store,
    ladders: Sequence[Ladder] | Callable[[Store], Sequence[Ladder]],
    of_parts: Sequence[Ladder],
    log: Logger,
    *,
    plays_hosted: bool,
) -> Sequence[Ladder]:
    """Store the ladders; void what an earlier server left open and nobody plays, if this server is alone.

    Args:
        store: The leaderboard.
        ladders: As in `open_arena`.
        of_parts: Ladders that parts bring.
        log: The server's log.
        plays_hosted: Whether a part plays the matches of hosted ladders.

    Returns:
        The ladders that are played from the start.
    """
    _tell_of_the_database(store, log)
    stored = [ladder_of(store.write(_make_or_change, ladder)) for ladder in of_parts]
    ladders = ladders(store) if callable(ladders) else [*ladders, *stored]
    for ladder in ladders:
        store.write(ensure_ladder, ladder.kept)
    if not plays_hosted and (hosted := [ladder.name for ladder in ladders if ladder.is_hosted]):
        why_not = why_not_hosted(store.database.address) or (
            "workers play submitted bots there: add --submissions RUNNER, and have part workers installed"
        )
        log.warning("hosted ladders are not played", ladders=hosted, text=why_not)
    if store.is_shared:
        return ()  # until they are leased
    if unfinished := store.void_unfinished(_utc(), has_workers=plays_hosted):
        log.warning("unfinished matches are void", count=len(unfinished))
    return ladders


def _see_who_reads(database: Path, log: Logger) -> None:
    """Warn if other users can read the database, as older versions created it; leave its mode as it is."""
    mode = database.stat().st_mode & 0o777
    if mode & 0o004:
        text = "it holds all cards, notes and private ladders; chmod 600 it, and -wal and -shm beside it"
        log.warning("others can read the database", file=str(database), mode=f"{mode:o}", text=text)


def _make_or_change(connection: Connection, ladder: Ladder) -> LadderEntry:
    """Make a ladder if it is missing, or give the stored one these terms."""
    try:
        stored = queries.ladder(connection, ladder.name)
    except NoSuchEntry:
        ensure_ladder(connection, ladder.kept, _utc())
        return queries.ladder(connection, ladder.name)
    return stored if stored.terms == ladder.terms else change_ladder(connection, ladder.name, ladder.terms)


def _utc() -> datetime:
    return datetime.now(UTC)
