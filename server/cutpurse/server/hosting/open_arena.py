"""The assembly of an arena: a database, its ladders, a lobby and the address that bots dial.

Until its database has had a token, an arena requires none: bots play under any name, and it listens on this machine
only. After that it requires tokens. This module knows no command line.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from cutpurse.leaderboard.schema import describe_upgrade, newest_revision
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tokens import Token
from cutpurse.server.access.owners import Guard, HouseGuard, OpenGuard, TokenGuard
from cutpurse.server.counts import Counts
from cutpurse.server.errors import AddressError
from cutpurse.server.hosting.arena import Arena
from cutpurse.server.hosting.certificate import Certificate
from cutpurse.server.hosting.listen_address import checked, is_local
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.league.ladder_service import RunningLeague
from cutpurse.server.league.league_queries import Answers
from cutpurse.server.league.steering import LadderAdmin
from cutpurse.server.limits import ServerLimits
from cutpurse.server.logs import Logger
from cutpurse.server.matches.leaderboard_store import Ledger
from cutpurse.server.matches.lobby import Lobby
from cutpurse.server.runners.port import Runner
from cutpurse.server.submissions.process_tokens import ProcessTokens
from cutpurse.server.submissions.resource_meters import ResourceMeters
from cutpurse.server.submissions.storage import Storage, storage_beside
from cutpurse.server.submissions.submission_desk import SubmissionDesk, owners_who_play
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


@contextmanager
def open_arena(
    address: str,
    database: Path,
    ladders: Sequence[Ladder] | Callable[[Store], Sequence[Ladder]],
    log: Logger,
    limits: ServerLimits | None = None,
    *,
    certificate: Certificate | None = None,
    insecure: bool = False,
    house: Token | None = None,
    has_page: bool = False,
    watch_delay_s: float = WATCH_DELAY_S,
    submissions: Runner | None = None,
) -> Iterator[OpenArena]:
    """Open an arena that can be started; when the block is left, every result is stored.

    Matches that an earlier server announced and did not finish are voided first, since they cannot go on without their
    clocks.

    Args:
        address: HOST:PORT or unix:PATH.
        database: The leaderboard's file.
        ladders: The ladders, or a function that reads them from the database.
        log: The server's log.
        limits: The server's limits.
        certificate: As in `Arena`.
        insecure: As in `Arena`.
        house: Token of the house bots; None if there are none.
        has_page: Whether a web page will connect at `Arena.house_address`.
        watch_delay_s: Seconds that spectators are behind the bots.
        submissions: Runs hosted bots; None if no submissions are accepted.

    Raises:
        AddressError: If other machines could reach the address without TLS, or while there is no token.
        StoreError: If the database cannot be used.
        InvalidEntry: If a stored ladder of one of these names differs.
    """
    checked(address, may_be_reached=certificate is not None or insecure)  # before the database is created
    counts = Counts()
    with Store(database) as store:
        asks = store.has_tokens()
        if not asks and not is_local(address):
            raise AddressError(
                f"nobody could come in at {address}: {database} has no token yet, so only this machine may. "
                f"Make one first: cutpurse token create OWNER --db {database}"
            )
        if submissions is not None and submissions.name == "process":
            _check_alone(store, address)
        if callable(ladders):
            ladders = ladders(store)
        if store.found not in (None, newest_revision()):
            log.info(
                "database upgraded",
                file=str(store.path),
                before=store.found,
                schema=newest_revision(),
                note=describe_upgrade(store.found or newest_revision()),
            )
        _see_who_reads(Path(store.path), log)
        if unfinished := store.void_unfinished(_utc()):
            log.warning("unfinished matches are void", count=len(unfinished))
        ledger = Ledger(store, ladders)
        guard: Guard = TokenGuard(store, _utc, log) if asks else OpenGuard()
        if house is not None:
            guard = HouseGuard(guard, house)
        desk: SubmissionDesk | None = None
        try:
            lobby = Lobby(
                ladders,
                ledger,
                entropy=secrets.token_bytes,
                utc=_utc,
                log=log,
                counts=counts,
                paused=ledger.paused(),
            )
            if submissions is not None:
                guard = passes = ProcessTokens(guard)
                desk = _desk(submissions, store, passes, lobby, log)
            answers = Answers(store, _utc)
            watching = Watching(lobby, log, delay_s=watch_delay_s, limits=limits)
            arena = Arena(
                address,
                lobby,
                log=log,
                limits=limits,
                counts=counts,
                guard=guard,
                tokens=store if asks else None,
                league=RunningLeague(answers, LadderAdmin(store, answers, _utc), lobby),
                watching=watching,
                certificate=certificate,
                insecure=insecure,
                has_house=house is not None or has_page,
                desk=desk,
            )
            yield OpenArena(arena, lobby, store, asks, watching)
        finally:
            if desk is not None:
                desk.close()
            guard.close()
            ledger.close()


def _desk(runner: Runner, store: Store, passes: ProcessTokens, lobby: Lobby, log: Logger) -> SubmissionDesk:
    """Return the desk that accepts and runs submissions; add their resource usage to the results of their matches."""
    desk = SubmissionDesk(
        runner,
        Storage(storage_beside(Path(store.path))),
        store,
        passes,
        log,
        _utc,
        is_paused=lobby.is_paused,
        withdrawn=lobby.withdrawn,
        is_rotation=lambda name: (found := lobby.ladder_named(name)) is not None and found.boards == "rotation",
    )
    meters = ResourceMeters(desk.residents.uses)
    lobby.on_started.append(meters.started)
    lobby.measured = meters.measured
    return desk


def _see_who_reads(database: Path, log: Logger) -> None:
    """Warn if other users can read the database, as older versions created it; leave its mode as it is."""
    mode = database.stat().st_mode & 0o777
    if mode & 0o004:
        text = "it holds all cards, notes and private ladders; chmod 600 it, and -wal and -shm beside it"
        log.warning("others can read the database", file=str(database), mode=f"{mode:o}", text=text)


def _check_alone(store: Store, address: str) -> None:
    """Check that only one owner's bots run, since the process runner does not isolate them.

    Raises:
        AddressError: If other owners or other machines could submit bots.
    """
    owners = owners_who_play(store, _utc())
    if len(owners) > 1 or not is_local(address):
        who = f"{len(owners)} owners have tokens" if len(owners) > 1 else f"other machines can reach {address}"
        raise AddressError(
            f"{who}, and what is run as a plain process can do all that the server can: use --submissions bubblewrap"
        )


def _utc() -> datetime:
    return datetime.now(UTC)
