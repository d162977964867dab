"""The management of submissions: quotas per owner, states, logs and archives, and which bots run.

It combines the storage, the store, the intake and the hosted bots. Its methods wait for the disk, so call them outside
the event loop. Owners see only their own submissions. This module knows no call.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Final

from cutpurse.engine.errors import UsageError, did_you_mean
from cutpurse.leaderboard import errors, queries
from cutpurse.leaderboard.results import PERSON, Identity
from cutpurse.leaderboard.store import Store
from cutpurse.server.errors import CallRefused, legible
from cutpurse.server.matches.ladder_terms import paused_message
from cutpurse.server.parts.submissions import submission_queries, submissions
from cutpurse.server.parts.submissions.bot_memories import BotMemories
from cutpurse.server.parts.submissions.building import manifest_of
from cutpurse.server.parts.submissions.hosted_bots import HostedBots, HostingSite
from cutpurse.server.parts.submissions.intake import Intake
from cutpurse.server.parts.submissions.relays import Relay
from cutpurse.server.parts.submissions.submission_queries import SubmissionEntry
from cutpurse.server.parts.submissions.submissions import (
    ACCEPTED,
    BUILT,
    RECEIVED,
    REFUSED,
    TAKEN_OFF,
    UNDER_WAY,
    UNPACKED,
    NewSubmission,
)
from cutpurse.server.parts.submissions.tasks import without_paths
from cutpurse.v1 import submission_pb2
from cutpurse.wire.archive import ArchiveError
from cutpurse.wire.manifest import Manifest
from cutpurse.wire.text import format_count

__all__ = [
    "MOST_BOTS",
    "MOST_BYTES",
    "MOST_KEPT",
    "MOST_WAITING",
    "SubmissionDesk",
    "owners_who_play",
    "published_to_proto",
    "requested_ladders",
]

MOST_BOTS: Final = 5  # active bots per owner
MOST_KEPT: Final = 20  # stored archives per owner
MOST_BYTES: Final = 256 * 1024 * 1024  # of an owner's stored archives together
MOST_WAITING: Final = 3  # unchecked submissions per owner
MOST_IN_ALL: Final = 64  # unchecked submissions of all owners
MOST_LISTED: Final = 500
_LATEST_MS: Final = 4_102_444_800_000  # the year 2100
LOOK_S: Final = 2.0  # between two looks at what other arenas have changed
SILENT_S: Final = 30.0  # after which a submission of an arena that is gone is taken up
_STATES: Final = {
    RECEIVED: submission_pb2.SUBMISSION_STATE_RECEIVED,
    UNPACKED: submission_pb2.SUBMISSION_STATE_UNPACKED,
    BUILT: submission_pb2.SUBMISSION_STATE_BUILT,
    ACCEPTED: submission_pb2.SUBMISSION_STATE_ACCEPTED,
    REFUSED: submission_pb2.SUBMISSION_STATE_REFUSED,
    TAKEN_OFF: submission_pb2.SUBMISSION_STATE_TAKEN_OFF,
}


def requested_ladders(
    manifest: Manifest, ladders: Sequence[str], offered: Mapping[str, Sequence[str]]
) -> dict[str, Sequence[str]]:
    """Return the ladders, by game, that a submitted bot asks to play.

    Args:
        manifest: Content of its bot.toml.
        ladders: Requested ladders; empty for all ladders of its games.
        offered: Ladders that its owner can see, by game.

    Raises:
        CallRefused: If a ladder is unknown or has another game, or no game of the bot is offered.
    """
    offered = {game: names for game, names in offered.items() if names}
    games = {name: game for game, names in offered.items() for name in names}
    wanted: dict[str, list[str]] = {}
    for name in ladders:
        game = games.get(name)
        if game is None:
            there = ", ".join(sorted(games)[:20])
            hint = did_you_mean(name, games)
            raise CallRefused("NOT_FOUND", f"no ladder is called '{legible(name, 40)}'{hint}; there are: {there}")
        if manifest.games and game not in manifest.games:
            raise CallRefused(
                "BAD_MESSAGE", f"ladder {name} plays {game}; by its bot.toml it plays {', '.join(manifest.games)} only"
            )
        wanted.setdefault(game, []).append(name)
    missing = [game for game in manifest.games if game not in offered]
    if missing and len(missing) == len(manifest.games):
        raise CallRefused(
            "NOT_FOUND", f"{', '.join(missing)} is not played here; there are: {', '.join(sorted(offered))}"
        )
    if not wanted:
        return {game: () for game in manifest.games if game in offered}
    return {game: tuple(dict.fromkeys(names)) for game, names in wanted.items()}


def owners_who_play(store: Store, at: datetime) -> set[str]:
    """Return the owners that have a valid token for playing.

    Raises:
        StoreError: If the store fails.
    """
    return {token.owner for token in store.run(queries.tokens) if token.is_good(at) and "play" in token.scopes}


class SubmissionDesk:
    """The management of all submissions.

    Call `begin` once the server listens at `address`, and `close` before closing the store.
    """

    def __init__(
        self,
        site: HostingSite,
        *,
        is_paused: Callable[[Identity], bool],
        withdrawn: Callable[[Identity], None] = lambda identity: None,
        is_rotation: Callable[[str], bool] = lambda ladder: False,
        ladders_of: Callable[[SubmissionEntry, Manifest], Sequence[str]] = lambda entry, manifest: entry.ladders,
        plays_here: Callable[[Sequence[str], Sequence[str]], bool] = lambda games, ladders: True,
        needed_for_tests: Callable[[], Collection[Identity]] = frozenset,
        is_shared: bool = False,
        sweep: Callable[[float], None] = lambda now: None,
        memories: BotMemories | None = None,
    ) -> None:
        """Create the desk; nothing runs before `begin`.

        Args:
            site: Where the bots are stored and run.
            is_paused: Returns whether a bot is paused.
            withdrawn: Called, on any thread, with each bot that is no longer hosted.
            is_rotation: Returns, on any thread, whether a ladder is only for bots that keep no memory.
            ladders_of: Returns, on any thread, the ladders that a bot plays on.
            plays_here: Returns, on any thread, whether a bot for these games and ladders plays on a ladder of this
                server; workers play the matches of hosted ladders.
            needed_for_tests: Returns, on any thread, the versions that version tests need; an accepted one runs while
                it is needed, even if it is not active.
            is_shared: Whether other arenas have desks for the same submissions. Then each runs the bots that play on
                its ladders, and takes up the submissions of an arena that is gone.
            memories: The memories of the bots; None if they have none.
            sweep: Called often, if it is shared, to remove shared files that nothing needs; it may raise StoreError.
        """
        self._sweep = sweep
        self._is_isolated = site.runner.name != "process"
        self._is_rotation = is_rotation
        self._plays_here = plays_here
        self._needed_for_tests = needed_for_tests
        self._is_shared = is_shared
        self._look_at = 0.0  # next look at what other arenas have changed
        self._needed: Collection[Identity] = frozenset()  # as of the last change of the hosted bots
        self._storage = site.storage
        self._store = site.store
        self._log = site.log
        self._utc = site.utc
        self._is_paused = is_paused
        self._keeping = threading.Lock()  # serializes submissions and activations
        self._syncing = threading.Lock()
        self._is_behind = False  # the hosted bots may be outdated, because the store failed
        self._manifests: dict[bytes, Manifest] = {}  # of the hosted bots, by archive digest
        self.built: Sequence[tuple[SubmissionEntry, Manifest]] = ()  # active bots; replaced, never changed
        self.residents = HostedBots(
            site,
            is_paused=is_paused,
            withdrawn=withdrawn,
            plays_one=self.plays_one,
            ladders_of=ladders_of,
            catch_up=self._catch_up,
            open_relay=self._open_relay,
            memories=memories,
        )
        self.intake = Intake(site.runner, site.storage, site.store, site.log, site.utc, self._sync)

    @property
    def address(self) -> str:
        """Address on which the server must listen for hosted bots."""
        return f"unix:{self._storage.server_socket}"

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start the active bots, and continue with unfinished submissions.

        Args:
            loop: Event loop for the relays between bots and server.
        """
        self._loop = loop
        entries = self._store.run(submission_queries.submissions)
        if gone := self._storage.remove_others(entry.digest for entry in entries if entry.is_kept):
            self._log.info("archives removed", count=gone)
        if self._is_shared:
            self._share(entries)
        self._sync()
        self.residents.begin()
        if not self._is_shared:
            self.intake.put(entry for entry in reversed(entries) if entry.state in UNDER_WAY)
        self.intake.begin()

    def _share(self, entries: Iterable[SubmissionEntry]) -> None:
        """Let other arenas have the archives that are here, such as those of a time when this server was alone."""
        for entry in entries:
            if entry.is_kept:
                try:
                    self._storage.share(entry.digest)
                except (ArchiveError, OSError) as problem:
                    self._log.warning("archive not shared", bot=entry.shown, text=str(problem))

    def _open_relay(self, path: Path, bot: str) -> Relay:
        """Open the socket of one process of a bot.

        Raises:
            OSError: If the system refuses the socket.
        """
        return Relay(path, self._storage.server_socket, self._loop, self._log, bot=bot)

    def drain(self) -> None:
        """Accept and start nothing new, since the server is about to stop. It does not wait."""
        self.intake.drain()
        self.residents.drain()

    def close(self) -> None:
        """Stop the intake and all bots, and remove their sockets and output."""
        self.intake.close()
        self.residents.close()
        self._storage.close()

    def _sync(self) -> None:
        """Set the hosted bots to the active submissions; if the store fails, retry later.

        A failure is not raised, because the change that led here, such as a retirement, is stored already.
        """
        with self._syncing:  # so that an older list of bots does not replace a newer one
            try:
                self._sync_now()
            except errors.LeaderboardError as problem:
                if not self._is_behind:
                    self._log.error("active bots not read", text=str(problem))
                self._is_behind = True
            else:
                self._is_behind = False

    def _catch_up(self) -> None:
        if self._is_shared and (now := monotonic()) >= self._look_at:
            self._look_at = now + LOOK_S
            self._look_at_others()
        elif self._is_behind or self._needed_for_tests() != self._needed:
            self._sync()

    def _look_at_others(self) -> None:
        """Follow what other arenas have changed and the ladders that moved, and take up what a lost arena left."""
        try:
            self.intake.put(self._store.write_uncached(submissions.claim, self.intake.at_hand, SILENT_S))
            self._sweep(monotonic())
        except errors.LeaderboardError as problem:
            if not self._is_behind:  # otherwise `_sync` has logged it
                self._log.error("submissions not claimed", text=str(problem))
        self._sync()

    def _sync_now(self) -> None:
        wanted = []
        needed = self._needed_for_tests()
        for entry in self._store.run(submission_queries.submissions):
            is_needed = Identity(entry.owner, entry.bot, entry.version) in needed and entry.is_kept
            if (entry.is_active or is_needed) and entry.state == ACCEPTED:
                try:
                    manifest = self._manifests.get(entry.digest) or manifest_of(self._storage.archive(entry.digest))
                except (OSError, ArchiveError, UsageError) as problem:
                    self._log.error("archive lost", bot=entry.shown, error=type(problem).__name__)
                else:
                    wanted.append((entry, manifest))
        self._manifests = {entry.digest: manifest for entry, manifest in wanted}
        built = [(entry, manifest) for entry, manifest in wanted if self._has_tree(entry)]
        active = [(entry, manifest) for entry, manifest in built if entry.is_active]
        if active != self.built:
            self.built = active
        self.residents.set([one for one in built if self._plays_here(one[1].games, one[0].ladders)])
        self._needed = needed

    def _has_tree(self, entry: SubmissionEntry) -> bool:
        """Return whether the built files of a submission exist; if not, queue it to be built again.

        They may be missing after a restore without them.
        """
        try:
            if self._storage.has_tree(entry.digest):
                return True
        except OSError as problem:
            self._log.error("built files not read", bot=entry.shown, error=type(problem).__name__)
            return False
        if not entry.is_active:  # a new check would make it active: it waits until its owner submits it again
            return False
        self._store.write(submissions.set_state, entry.id, RECEIVED, self._utc(), "its files are built again")
        self.intake.put([entry])
        return False

    # -- for matches that workers play
    def tree(self, digest: bytes) -> Path:
        """Return the folder with the built files of an archive."""
        return self._storage.tree(digest)

    def check_again(self, submission: int, why: str) -> None:
        """Build and check a submission again before it plays."""
        entry = self._store.write(submissions.set_state, submission, RECEIVED, self._utc(), why)
        self._sync()
        self.intake.put([entry])

    def take_off(self, submission: int, why: str) -> None:
        """Let a submission play no more."""
        self._store.write(submissions.set_state, submission, TAKEN_OFF, self._utc(), " ".join(why.split()))
        self._sync()

    def plays_one(self, ladders: Sequence[str]) -> bool:
        """Return whether a bot on these ladders plays one match per process, since one of them plays rotations.

        Always False without isolation, because a plain process can store data anywhere.
        """
        return self._is_isolated and any(self._is_rotation(ladder) for ladder in ladders)

    # -- requests
    def check_ladders(self, ladders: Sequence[str]) -> None:
        """Check that hosted bots may play on these ladders.

        Raises:
            CallRefused: If a ladder plays rotations, and the runner has no isolation.
        """
        for ladder in ladders:
            if self._is_rotation(ladder) and not self._is_isolated:
                raise CallRefused(
                    "NOT_YOURS",
                    f"ladder {legible(ladder, 40)} plays rotations, for bots that keep no memory; bots are run here as "
                    "plain processes, of which nobody can promise that: name another ladder",
                )

    def look(self, content: bytes) -> Manifest:
        """Read the bot.toml of an archive.

        Raises:
            CallRefused: If the archive or its bot.toml is rejected.
        """
        try:
            manifest = manifest_of(content)
        except (ArchiveError, UsageError) as problem:
            raise CallRefused("BAD_MESSAGE", legible(str(problem), 500)) from None
        if manifest.name == PERSON:
            text = f"'{PERSON}' is the name of people who play on the page; give the bot another one in its bot.toml"
            raise CallRefused("BAD_MESSAGE", text)
        return manifest

    def hand_in(self, owner: str, manifest: Manifest, content: bytes, ladders: Sequence[str]) -> SubmissionEntry:
        """Store a submission and queue it for the intake. Return when it is on the disk.

        Raises:
            CallRefused: If a quota is exceeded, or several owners share a server without isolation.
            InvalidEntry: If the leaderboard rejects it.
            StoreError: If the store fails.
            OSError: If the disk fails.
        """
        self._check_alone()
        with self._keeping:
            return self._hand_in(owner, manifest, content, ladders)

    def _hand_in(self, owner: str, manifest: Manifest, content: bytes, ladders: Sequence[str]) -> SubmissionEntry:
        mine = self._store.run(submission_queries.submissions, owner)
        same = [one for one in mine if (one.bot, one.version) == (manifest.name, manifest.version)]
        if not any(one.state != REFUSED for one in same):
            self._check_quotas(owner, manifest.name, len(content), mine)
        digest = self._storage.keep(content)
        new = NewSubmission(owner, manifest.name, manifest.version, digest, len(content), ladders)
        try:
            entry = self._store.write(submissions.hand_in, new, self._utc())
        except errors.InvalidEntry:
            self._remove([digest])
            raise
        self._remove([one.digest for one in same if one.digest != digest])  # archives of a rejected submission
        if self._is_shared:
            self._share([entry])  # again, since it may have been removed before anything needed it
        self._log.info("submission received", bot=entry.shown, bytes=len(content), sha256=digest.hex()[:16])
        if entry.state in UNDER_WAY:
            self.intake.put([entry])
        elif entry.is_active:  # its archive may have been lost, and is now stored again
            self._sync()
        self._prune(owner)
        return entry

    def _check_alone(self) -> None:
        """Check that a server without isolation has only one owner, now and not only at its start.

        Raises:
            CallRefused: If it has several.
        """
        if not self._is_isolated and len(owners := owners_who_play(self._store, self._utc())) > 1:
            raise CallRefused(
                "NOT_YOURS",
                f"{len(owners)} owners have tokens here, and bots are run as plain processes, which can do all that "
                "the server can: nothing is accepted; the operator must use --submissions bubblewrap",
            )

    def _check_quotas(self, owner: str, bot: str, size: int, mine: Sequence[SubmissionEntry]) -> None:
        playing = _playing(mine)
        if bot not in playing and len(playing) >= MOST_BOTS:
            raise CallRefused("FULL", _too_many(owner, playing))
        waiting, total = self.intake.waiting(owner), self.intake.total
        if self._is_shared:
            under_way = [
                entry.owner for entry in self._store.run(submission_queries.submissions) if entry.state in UNDER_WAY
            ]
            waiting, total = under_way.count(owner), len(under_way)
        if waiting >= MOST_WAITING or total >= MOST_IN_ALL:
            raise CallRefused("FULL", f"{waiting} submissions of {owner} wait for their check: submit it later")
        kept = sum(entry.size for entry in mine if entry.is_kept and entry.is_active)
        if kept + size > MOST_BYTES:
            raise CallRefused(
                "FULL", f"the bots of {owner} that play have {kept:,} bytes; the maximum is {MOST_BYTES:,}"
            )

    def _prune(self, owner: str) -> None:
        """Remove an owner's oldest inactive archives above MOST_KEPT and MOST_BYTES."""
        mine = [entry for entry in self._store.run(submission_queries.submissions, owner) if entry.is_kept]
        room, count, gone = MOST_BYTES, 0, []
        mine = [entry for entry in mine if not entry.licence]  # a published archive stays
        for entry in sorted(mine, key=lambda entry: (not entry.is_active, entry.state not in UNDER_WAY, -entry.id)):
            room, count = room - entry.size, count + 1
            if (room < 0 or count > MOST_KEPT) and not entry.is_active and entry.state not in UNDER_WAY:
                gone.append(entry)
        if not gone:
            return
        self._store.write(submissions.not_kept, [entry.id for entry in gone])
        self._remove([entry.digest for entry in gone])

    def _remove(self, digests: Sequence[bytes]) -> None:
        """Remove archives, except those that another stored submission uses too."""
        if digests:
            still = {entry.digest for entry in self._store.run(submission_queries.submissions) if entry.is_kept}
            for digest in digests:
                if digest not in still:
                    self._storage.remove(digest)

    def entries(self, owner: str, bot: str = "", version: str = "") -> list[SubmissionEntry]:
        """List the submissions of an owner, the newest first."""
        return self._store.run(submission_queries.submissions, owner, bot or None, version or None, MOST_LISTED)

    def entry(self, owner: str, bot: str, version: str = "") -> SubmissionEntry:
        """Return a submission of an owner's bot; without a version, the newest.

        Raises:
            CallRefused: If there is none.
        """
        entries = self.entries(owner, bot, version) if bot else []
        if not entries:
            named = f"{legible(bot, 40)}:{legible(version, 40)}" if version else legible(bot, 40)
            raise CallRefused("NOT_FOUND", f"{owner} has submitted no bot {named}")
        return entries[0]

    def published(self, owner: str, bot: str = "", version: str = "") -> list[SubmissionEntry]:
        """List the versions of an owner that others may fetch now, the newest first."""
        return self._store.run(
            submission_queries.published, owner, bot or None, version or None, self._utc(), MOST_LISTED
        )

    def published_entry(self, owner: str, bot: str, version: str) -> SubmissionEntry:
        """Return a version that others may fetch now; without a version, the newest.  Raises CallRefused."""
        entries = self.published(owner, bot, version) if bot else []
        if not entries:
            name = f"{legible(owner, 40)}/{legible(bot, 40)}" + (f":{legible(version, 40)}" if version else "")
            raise CallRefused("NOT_FOUND", f"no published version is called {name}, or not yet")
        return entries[0]

    def publish(self, owner: str, call: submission_pb2.PublishVersionRequest) -> SubmissionEntry:
        """Publish or withdraw a version.

        Raises:
            CallRefused: If there is no such version, or the time is beyond all times.
            InvalidEntry: If the leaderboard does not allow it.
        """
        entry = self.entry(owner, call.bot, call.version)
        if call.public_from_ms > _LATEST_MS:
            raise CallRefused("BAD_MESSAGE", f"public_from_ms is {call.public_from_ms}; it is before 2100")
        moment = datetime.fromtimestamp(call.public_from_ms / 1_000, UTC) if call.public_from_ms else None
        entry = self._store.write(submissions.publish, entry.id, call.licence, moment, call.public_after)
        self._log.info("submission published", bot=entry.shown, licence=entry.licence)
        return entry

    def log(self, entry: SubmissionEntry) -> tuple[str, str]:
        """Return a submission's log of build and check, and its output since the server started."""
        talk = without_paths(
            self.residents.talk(entry.id), self._storage.tree(entry.digest), self._storage.run / f"bot-{entry.id}"
        )
        return self._store.run(submission_queries.submission_log, entry.id), talk

    def archive(self, entry: SubmissionEntry) -> bytes:
        """Return the archive of a submission, with its hash checked.

        Raises:
            CallRefused: If it is no longer stored.
        """
        try:
            return self._storage.archive(entry.digest)
        except OSError:
            raise _not_kept(entry) from None

    def piece(self, entry: SubmissionEntry, at: int, size: int) -> bytes:
        """Return `size` bytes of a submission's archive from offset `at` on.

        Raises:
            CallRefused: If it is no longer stored.
        """
        try:
            return self._storage.piece(entry.digest, at, size)
        except OSError:
            raise _not_kept(entry) from None

    def retire(self, owner: str, bot: str, version: str = "") -> SubmissionEntry:
        """Retire the active version of a bot.

        Raises:
            CallRefused: If no such version is active.
        """
        active = [one for one in self.entries(owner, bot, version) if one.is_active] if bot else []
        if not active:
            self.entry(owner, bot, version)
            raise CallRefused("NOT_FOUND", f"no such version of {legible(bot, 40)} plays")
        entry = self._store.write(submissions.retire, active[0].id, self._utc())
        self._log.info("submission retired", bot=entry.shown)
        self._sync()
        return entry

    def activate(self, owner: str, bot: str, version: str) -> SubmissionEntry:
        """Activate a version of a bot.

        Raises:
            CallRefused: If there is no such version, or too many bots of the owner are active.
            InvalidEntry: If the leaderboard does not allow it.
        """
        with self._keeping:
            entry = self.entry(owner, bot, version)
            others = _playing(self._store.run(submission_queries.submissions, owner)) - {entry.bot}
            if len(others) >= MOST_BOTS:
                raise CallRefused("FULL", _too_many(owner, others))
            entry = self._store.write(submissions.activate, entry.id, self._utc())
        self._log.info("submission activated", bot=entry.shown)
        self._sync()
        return entry

    def shown(self, entry: SubmissionEntry) -> submission_pb2.SubmissionShown:
        """Convert a submission to its protobuf message."""
        identity = Identity(entry.owner, entry.bot, entry.version)
        is_paused = entry.is_active and self._is_paused(identity)
        return submission_pb2.SubmissionShown(
            owner=entry.owner,
            bot=entry.bot,
            version=entry.version,
            sha256=entry.digest,
            size=entry.size,
            state=_STATES[entry.state],
            why=legible(entry.why, 500) or (paused_message(identity) if is_paused else ""),
            is_active=entry.is_active,
            is_running=self.residents.is_running(entry.id),
            ladders=entry.ladders,
            received_ms=round(entry.received.timestamp() * 1_000),
            changed_ms=round(entry.changed.timestamp() * 1_000),
            before=self.intake.before(entry.id),
            is_kept=entry.is_kept,
            public_after=entry.public_after,
            public_from_ms=0 if entry.public_from is None else round(entry.public_from.timestamp() * 1_000),
            licence=entry.licence,
        )


def published_to_proto(entry: SubmissionEntry) -> submission_pb2.SubmissionShown:
    """Convert what others learn of a published submission."""
    return submission_pb2.SubmissionShown(
        owner=entry.owner,
        bot=entry.bot,
        version=entry.version,
        sha256=entry.digest,
        size=entry.size,
        is_kept=True,
        licence=entry.licence,
    )


def _not_kept(entry: SubmissionEntry) -> CallRefused:
    return CallRefused("NOT_FOUND", f"the archive of {entry.bot}:{entry.version} was deleted")


def _playing(entries: Iterable[SubmissionEntry]) -> set[str]:
    """Return the bots with a version that is active, or may become active after its check."""
    return {entry.bot for entry in entries if entry.is_active or entry.state in UNDER_WAY}


def _too_many(owner: str, playing: Collection[str]) -> str:
    bots = format_count(len(playing), f"bot of {owner} plays", f"bots of {owner} play")
    return f"{bots} already ({', '.join(sorted(playing))}), as many as may: retire one"
