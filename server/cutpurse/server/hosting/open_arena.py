"""The assembly of an arena: a database, its ladders, a lobby and the address that bots dial.

Until its database has had a token, an arena requires none: bots play under any name, and it listens on this machine
only. After that it requires tokens. This module knows no command line.
"""

from __future__ import annotations

import os
import random
import secrets
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from cutpurse.engine.errors import UsageError
from cutpurse.experiments.sprt import Verdict
from cutpurse.games import GAMES
from cutpurse.leaderboard.address import is_postgresql
from cutpurse.leaderboard.arena_store import ArenaStore
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.schema import describe_upgrade, newest_revision
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tokens import HOUSE, PEOPLE, Token
from cutpurse.server.access.owners import Guard, HouseGuard, OpenGuard, TokenGuard
from cutpurse.server.access.person_guard import PersonGuard
from cutpurse.server.access.sign_in_service import SignIn
from cutpurse.server.access.sign_in_settings import SignInSettings
from cutpurse.server.act_log import ActLog, act_log_beside
from cutpurse.server.counts import Counts
from cutpurse.server.dealing.match_queue import PgMatchQueue
from cutpurse.server.dealing.stored_archives import ArchiveSweep, StoredArchives
from cutpurse.server.dealing.work_dealer import DealerSite, WorkDealer
from cutpurse.server.errors import AddressError
from cutpurse.server.hosting.arena import Arena, ArenaServices, Listening
from cutpurse.server.hosting.certificate import Certificate
from cutpurse.server.hosting.leased_tests import LeasedTests
from cutpurse.server.hosting.leasing import Leasing
from cutpurse.server.hosting.listen_address import checked, is_local
from cutpurse.server.hosting.season_play import SeasonPlay
from cutpurse.server.hosting.status_service import server_status
from cutpurse.server.hosting.tournament_play import TournamentPlay
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.league.hosted_ladders import missing_queue, why_not_hosted
from cutpurse.server.league.ladder_service import RunningLeague
from cutpurse.server.league.league_queries import Answers
from cutpurse.server.league.seasons import Seasons
from cutpurse.server.league.steering import LadderAdmin
from cutpurse.server.league.tournaments import Tournaments
from cutpurse.server.league.version_testing import VersionTesting
from cutpurse.server.limits import ServerLimits
from cutpurse.server.logs import Logger
from cutpurse.server.matches.lobby import Lobby
from cutpurse.server.matches.other_arenas import key_of
from cutpurse.server.matches.version_tests import SHARE
from cutpurse.server.notices.address_rule import AddressRule
from cutpurse.server.notices.channels import Channels, DeliveryTerms
from cutpurse.server.notices.own_networks import own_networks
from cutpurse.server.notices.sender import Sender
from cutpurse.server.places.host_facts import host_facts
from cutpurse.server.places.places import Places
from cutpurse.server.runners.port import Runner
from cutpurse.server.submissions.hosted_bots import HostingSite
from cutpurse.server.submissions.process_tokens import ProcessTokens
from cutpurse.server.submissions.resource_meters import ResourceMeters
from cutpurse.server.submissions.storage import Storage, storage_beside
from cutpurse.server.submissions.submission_desk import SubmissionDesk, owners_who_play
from cutpurse.server.watching.broadcast import Watching
from cutpurse.wire.errors import needs

__all__ = ["WATCH_DELAY_S", "OneOfSeveral", "OpenArena", "open_arena"]

WATCH_DELAY_S: Final = 10.0  # several decisions, so that a spectator's hints come too late for a bot


@dataclass(frozen=True, slots=True)
class OneOfSeveral:
    """An arena that shares the ladders of its database with others.

    Attributes:
        address: Where bots dial it.
        preferred: Ladders that it takes first, as in `leases.Holder`.
        people_ladders: Ladders on which the people of its page play.
    """

    address: str
    preferred: Sequence[str] = ()
    people_ladders: Sequence[str] = ()


@dataclass(frozen=True)
class OpenArena:
    """The parts that `open_arena` assembles."""

    arena: Arena
    lobby: Lobby
    store: Store
    asks_for_tokens: bool
    watching: Watching
    places: Places | None = None
    sender: Sender | None = None
    dealer: WorkDealer | None = None
    leasing: Leasing | None = None


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
    people: Token | None = None,
    has_page: bool = False,
    watch_delay_s: float = WATCH_DELAY_S,
    submissions: Runner | None = None,
    has_places: bool = False,
    one_of_several: OneOfSeveral | None = None,
    notify: DeliveryTerms | None = None,
    test_share: float = SHARE,
    sign_in: SignInSettings | None = None,
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
        people: Token of the people who play on the page; None if none do.
        has_page: Whether a web page will connect at `Arena.house_address`.
        watch_delay_s: Seconds that spectators are behind the bots.
        submissions: Builds, checks and runs hosted bots; None if no submissions are accepted.
        has_places: Whether hosted bots run at places instead of here.
        one_of_several: The arena plays the ladders that it leases; None means that it plays all, alone.
        notify: Send notices to receivers of these kinds; None means that none are sent. It takes tokens.
        test_share: Share of the tables in use that version tests may have; 0 means that none are played.
        sign_in: The provider of OpenID Connect at which people sign in; None if they cannot.

    Raises:
        AddressError: If other machines could reach the address without TLS, or while there is no token.
        StoreError: If the database cannot be used.
        InvalidEntry: If a stored ladder of one of these names differs.
        UsageError: If people are to sign in where no token is required.
    """
    checked(address, may_be_reached=certificate is not None or insecure)  # before the database is created
    counts = Counts()
    with _store(database, one_of_several, has_desk=submissions is not None) as store:
        asks = store.has_tokens()
        if not asks and not is_local(address):
            raise AddressError(
                f"nobody could come in at {address}: {store.database} has no token yet, so only this machine may. "
                f"Make one first: cutpurse token create OWNER --db {store.database}"
            )
        if sign_in is not None and not asks:
            raise UsageError(
                f"--sign-in needs tokens: {store.database} has none yet, so everybody may play without signing in. "
                f"Make one first: cutpurse token create OWNER --scope admin --db {store.database}"
            )
        if submissions is not None and submissions.name == "process":
            _check_alone(store, address)
        if callable(ladders):
            ladders = ladders(store)
        _tell_of_an_upgrade(store, log)
        for ladder in ladders:
            store.ensure(ladder.kept)
        own, has_workers = _take_over(store, ladders, submissions, log)
        guard = _guard(TokenGuard(store, _utc, log) if asks else OpenGuard(), house, people)
        desk: SubmissionDesk | None = None
        places: Places | None = None
        dealer: WorkDealer | None = None

        def pause(identity: Identity) -> None:
            arena.ask(lambda: lobby.paused_elsewhere(identity))

        leasing: Leasing | None = None
        channels = Channels(notify, AddressRule(notify.networks, own_networks), _utc) if notify and asks else None
        sender = Sender(store, channels.deliver, log, _utc, random.random) if channels is not None else None
        try:
            lobby = Lobby(
                own,
                store,
                entropy=secrets.token_bytes,
                utc=_utc,
                log=log,
                counts=counts,
                paused=[Identity(bot.owner, bot.bot, bot.version) for bot in store.bots() if bot.paused is not None],
                test_share=test_share,
            )
            if submissions is not None:
                guard = passes = ProcessTokens(guard)
                places = Places(log) if has_places else None
                site = HostingSite(submissions, _storage(store), store, passes, log, _utc, places)
                desk = _desk(site, lobby)
                dealer = _dealer(site, desk, pause, lobby) if has_workers else None
                if places is not None:
                    places.bots_of = desk.residents.bots_of
                    places.on_delay, places.on_crowding = lobby.delay, lobby.credit_to
                    places.on_lost, places.part = lobby.lose, lobby.part
            leasing = _leasing(store, lobby, log)
            answers = Answers(store, _utc)
            testing = _testing(store, answers, lobby, log)
            watching = Watching(lobby, log, delay_s=watch_delay_s, limits=limits)
            arena = Arena(
                Listening(address, certificate, insecure, has_house=house is not None or has_page),
                lobby,
                log,
                limits=limits,
                counts=counts,
                services=ArenaServices(
                    guard,
                    store if asks else None,
                    _running_league(store, answers, lobby, leasing, testing, log),
                    watching,
                    desk,
                    places,
                    host_facts(submissions.name) if submissions is not None else None,
                    ActLog(act_log_beside(store.database.beside), log),
                    partial(server_status, lobby, store, places, dealer, leasing),
                    dealer,
                    leasing,
                    None if leasing is None else LeasedTests(testing, lobby, leasing.epoch_of, log),
                    (store, channels) if channels is not None else None,
                    None if sign_in is None else _sign_in(sign_in, store),
                    (lobby.other_arenas, key_of(store.holder.name)) if isinstance(store, ArenaStore) else None,
                ),
            )
            if sender is not None:
                sender.begin()
            yield OpenArena(arena, lobby, store, asks, watching, places, sender, dealer, leasing)
        finally:
            for part in (dealer, desk, guard, leasing, sender):
                if part is not None:
                    part.close()


def _sign_in(settings: SignInSettings, store: Store) -> SignIn:
    with needs("openid"):
        from cutpurse.server.access.openid_provider import OpenIdProvider
    return SignIn(settings, OpenIdProvider(settings, _utc), store)


def _storage(store: Store) -> Storage:
    """Return the folder of the submitted bots; several arenas share the archives, and each has a folder."""
    if not isinstance(store, ArenaStore):
        return Storage(storage_beside(store.database.beside))
    alone = storage_beside(store.database.beside)
    return Storage(storage_beside(store.database.beside, store.holder.address), StoredArchives(store), alone)


def _store(database: str | os.PathLike[str], one_of_several: OneOfSeveral | None, *, has_desk: bool) -> Store:
    if one_of_several is None:
        return Store(database)
    return ArenaStore(
        database,
        one_of_several.address,
        games=tuple(GAMES),
        preferred=one_of_several.preferred,
        people_ladders=one_of_several.people_ladders,
        plays_hosted=has_desk and not missing_queue(),
    )


def _leasing(store: Store, lobby: Lobby, log: Logger) -> Leasing | None:
    """Take the first ladders; None if the server is alone."""
    if not isinstance(store, ArenaStore):
        return None
    leasing = Leasing(store, lobby, log, _utc)
    leasing.begin()
    return leasing


def _running_league(
    store: Store, answers: Answers, lobby: Lobby, leasing: Leasing | None, testing: VersionTesting, log: Logger
) -> RunningLeague:
    """Return what callers may ask and change, with what the server plays by itself.

    Only a server that is alone plays seasons.
    """
    tournaments = _tournaments(store, answers, lobby, leasing, log)
    return RunningLeague(
        answers,
        LadderAdmin(store, answers, _utc),
        lobby,
        None if leasing is None else lobby.other_arenas,
        testing,
        tournaments,
        None if leasing is not None else _seasons(store, answers, lobby, *tournaments, log),
    )


def _testing(store: Store, answers: Answers, lobby: Lobby, log: Logger) -> VersionTesting:
    """Return the version tests, and go on with those of an earlier server if this one is alone."""

    def end(test: str, verdict: Verdict) -> None:
        log.info("version test ended", test=test, outcome=verdict.value)
        store.end_version_test(test, verdict.value, _utc())  # if that fails, the next question about it does so

    testing = VersionTesting(store, answers, lobby.tests, _utc, is_paused=lobby.is_paused, plays_here=lobby.plays)
    lobby.tests.on_verdict = end
    if not isinstance(store, ArenaStore):  # otherwise `LeasedTests` goes on with those of leased ladders
        for entry in testing.unfinished():
            lobby.start_test(testing.resumed(entry))
    return testing


def _tournaments(
    store: Store, answers: Answers, lobby: Lobby, leasing: Leasing | None, log: Logger
) -> tuple[Tournaments, TournamentPlay]:
    """Return the tournaments, and those that are played here."""
    playing = TournamentPlay(store, lobby, log, _utc, epoch_of=None if leasing is None else leasing.epoch_of)
    return Tournaments(store, answers, _utc, plays_here=lobby.plays, waits_for=playing.waits_for), playing


def _seasons(
    store: Store, answers: Answers, lobby: Lobby, tournaments: Tournaments, finals: TournamentPlay, log: Logger
) -> tuple[Seasons, SeasonPlay]:
    """Return the seasons, and those that are played, whose ladders admit only their own bots from now on."""
    playing = SeasonPlay(store, lobby, finals.start, log, _utc)
    playing.restore()
    return Seasons(store, answers, tournaments, _utc), playing


def _desk(site: HostingSite, lobby: Lobby) -> SubmissionDesk:
    """Return the desk that accepts and runs submissions; add their resource usage to the results of their matches."""
    desk = SubmissionDesk(
        site,
        is_paused=lobby.is_paused,
        withdrawn=lobby.withdrawn,
        is_rotation=lambda name: (found := lobby.ladder_named(name)) is not None and found.boards == "rotation",
        ladders_of=lambda entry, manifest: entry.ladders or _every_ladder(lobby, entry.owner, manifest.games),
        plays_here=lobby.plays_here,
        needed_for_tests=lambda: lobby.tests.needed,
        is_shared=isinstance(site.store, ArenaStore),
        sweep=ArchiveSweep(site.store).look,
    )
    meters = ResourceMeters(desk.residents.uses)
    lobby.on_started.append(meters.started)
    lobby.measured = meters.measured
    return desk


def _every_ladder(lobby: Lobby, owner: str, games: Sequence[str]) -> Sequence[str]:
    """Return the ladders of these games that an owner can see; without games, those of every game."""
    return [name for game, names in lobby.ladders(owner).items() if not games or game in games for name in names]


def _dealer(
    site: HostingSite,
    desk: SubmissionDesk,
    paused: Callable[[Identity], None],
    lobby: Lobby,
) -> WorkDealer:
    """Return the dealer of the matches that workers play, on the ladders of this arena or on all."""

    def own_ladders() -> Collection[str] | None:
        return [ladder.name for ladder in lobby.own_ladders] if isinstance(site.store, ArenaStore) else None

    return WorkDealer(
        DealerSite(site.store, PgMatchQueue(), desk, site.log, _utc, secrets.token_bytes, paused, own_ladders)
    )


def _tell_of_an_upgrade(store: Store, log: Logger) -> None:
    if store.found not in (None, newest_revision()):
        log.info(
            "database upgraded",
            database=store.database.address,
            before=store.found,
            schema=newest_revision(),
            note=describe_upgrade(store.found or newest_revision()),
        )
    if not is_postgresql(store.database.address):
        _see_who_reads(store.database.beside, log)


def _take_over(
    store: Store, ladders: Sequence[Ladder], submissions: Runner | None, log: Logger
) -> tuple[Sequence[Ladder], bool]:
    """Void what an earlier server left open and nobody plays, if this server is alone.

    Returns:
        The ladders that are played from the start, and whether workers play here.
    """
    why_not = why_not_hosted(store.database.address)
    if submissions is None:
        why_not = why_not or "their bots are submitted: add --submissions RUNNER"
    if why_not and (hosted := [ladder.name for ladder in ladders if ladder.is_hosted]):
        log.warning("hosted ladders are not played", ladders=hosted, text=why_not)
    if isinstance(store, ArenaStore):
        return (), not why_not  # until they are leased
    if unfinished := store.void_unfinished(_utc(), has_workers=not why_not):
        log.warning("unfinished matches are void", count=len(unfinished))
    return ladders, not why_not


def _see_who_reads(database: Path, log: Logger) -> None:
    """Warn if other users can read the database, as older versions created it; leave its mode as it is."""
    mode = database.stat().st_mode & 0o777
    if mode & 0o004:
        text = "it holds all cards, notes and private ladders; chmod 600 it, and -wal and -shm beside it"
        log.warning("others can read the database", file=str(database), mode=f"{mode:o}", text=text)


def _guard(guard: Guard, house: Token | None, people: Token | None) -> Guard:
    """Return a guard that also knows the house bots, the page's people, and owners who play in person there."""
    for owner, token in ((HOUSE, house), (PEOPLE, people)):
        guard = guard if token is None else HouseGuard(guard, token, owner)
    return guard if people is None else PersonGuard(guard, people)


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
