"""The part `submissions` of a server: it accepts bots of owners, checks them and runs them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from cutpurse.server.errors import AddressError
from cutpurse.server.hosting.listen_address import is_local
from cutpurse.server.hosting.part import Core, Part, Service
from cutpurse.server.parts.submissions import submissions
from cutpurse.server.parts.submissions.bot_memories import BotMemories
from cutpurse.server.parts.submissions.hosted_bots import HostingSite
from cutpurse.server.parts.submissions.process_tokens import ProcessTokens
from cutpurse.server.parts.submissions.resource_meters import ResourceMeters
from cutpurse.server.parts.submissions.storage import Storage
from cutpurse.server.parts.submissions.stored_archives import ArchiveSweep, StoredArchives
from cutpurse.server.parts.submissions.submission_desk import SubmissionDesk, owners_who_play
from cutpurse.server.parts.submissions.submission_queries import SubmissionEntry
from cutpurse.server.parts.submissions.submission_service import SUBMISSIONS, SubmissionService
from cutpurse.server.runners.port import Runner
from cutpurse.server.submitted_files import storage_beside
from cutpurse.wire.manifest import Manifest

__all__ = ["SubmissionsPart"]


class SubmissionsPart(Part):
    """Submitted bots, which run on this machine unless another part has `desk.residents` run them elsewhere."""

    def __init__(self, runner: Runner, core: Core) -> None:
        """Set up; nothing is built or run before `begin`.

        Raises:
            AddressError: If bots would run without isolation, and other owners or machines could submit them.
        """
        if runner.name == "process":
            _check_alone(core)
        self.runner = runner
        self._core = core
        store, lobby = core.store, core.lobby
        passes = core.entrance.put_before(ProcessTokens)
        memories = BotMemories(store, core.utc, self._memory_kib)
        self.desk = SubmissionDesk(
            HostingSite(runner, _storage(core), store, passes, core.log, core.utc),
            is_paused=lobby.is_paused,
            withdrawn=lobby.withdrawn,
            is_rotation=lambda name: (found := lobby.ladder_named(name)) is not None and found.boards == "rotation",
            ladders_of=self._ladders_of,
            plays_here=lobby.plays_here,
            needed_for_tests=lambda: lobby.tests.needed,
            is_shared=store.is_shared,
            sweep=ArchiveSweep(store).look,
            memories=memories,
        )
        memories.listen(lobby.hooks)
        ResourceMeters(self.desk.residents.uses).listen(lobby.hooks)
        lobby.find_submitted = lambda owner: store.run(submissions.versions_of, owner)
        self._service: SubmissionService | None = None

    def services(self) -> Sequence[Service]:
        """Return the service of submissions."""
        core = self._core
        self._service = SubmissionService(
            self.desk,
            core.lobby,
            core.entrance,
            core.log,
            is_open=core.is_open,
            is_run_elsewhere=core.is_run_elsewhere,
            incident_number=core.incident_number,
            acts=core.acts,
            servers=core.servers,
        )
        return [Service(SUBMISSIONS, self._service.handler())]

    def addresses(self) -> Sequence[str]:
        """Return the address that hosted bots dial."""
        return [self.desk.address]

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start the active bots, and go on with unfinished submissions."""
        self.desk.begin(loop)

    def drain(self) -> None:
        """Accept and start nothing new."""
        self.desk.drain()

    def close(self) -> None:
        """Stop all bots."""
        if self._service is not None:
            self._service.close()
        self.desk.close()

    def greeting(self) -> Sequence[str]:
        """Return how bots run, and what the runner cannot do here."""
        image = f" with {self.runner.image}" if self.runner.image else ""
        weaker = [f"  {line}" for line in self.runner.weaker()]
        return [f"bots may be submitted; runner: {self.runner.name}{image}", *weaker]

    def _memory_kib(self, ladder: str) -> int:
        """Return the size of the memory of a bot on a ladder; 0 if it has none, or the ladder is played elsewhere."""
        entry = self._core.lobby.ladder_named(ladder)
        return 0 if entry is None else entry.terms.memory_kib

    def _ladders_of(self, entry: SubmissionEntry, manifest: Manifest) -> Sequence[str]:
        """Return the ladders that a bot plays on: by default each of its games that its owner can see."""
        if entry.ladders:
            return entry.ladders
        offered, games = self._core.lobby.ladders(entry.owner), manifest.games
        return [name for game, names in offered.items() if not games or game in games for name in names]


def _check_alone(core: Core) -> None:
    """Check that only one owner's bots run, since the process runner does not isolate them.

    Raises:
        AddressError: If other owners or other machines could submit bots.
    """
    owners = owners_who_play(core.store, core.utc())
    if len(owners) > 1 or not is_local(core.address):
        who = f"{len(owners)} owners have tokens" if len(owners) > 1 else f"other machines can reach {core.address}"
        raise AddressError(
            f"{who}, and what is run as a plain process can do all that the server can: use --submissions bubblewrap"
        )


def _storage(core: Core) -> Storage:
    """Return the folder of the submitted bots; several arenas share the archives, and each has a folder."""
    store = core.store
    alone = storage_beside(store.database.beside)
    if not store.is_shared:
        return Storage(alone)
    return Storage(storage_beside(store.database.beside, core.servers.address), StoredArchives(store), alone)
