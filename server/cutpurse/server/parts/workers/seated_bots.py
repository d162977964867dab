"""The processes of the bots of one match on a worker: submitted bots in their sandboxes, and house bots.

Each process is fresh, has a socket and a token of its own, and ends with the match. A process that ends is not started
again: its seat is then played by the clocks, as on a server. Call the methods on the event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.tokens import HOUSE
from cutpurse.process.interpreter import module_command
from cutpurse.process.last_words import last_words
from cutpurse.server.access.one_match import OneMatch
from cutpurse.server.access.owners import HostedBotIdentity
from cutpurse.server.hosting.children import Children
from cutpurse.server.house_bots import HOUSE_BOTS
from cutpurse.server.logs import Logger
from cutpurse.server.parts.submissions.packed_files import FilesError
from cutpurse.server.parts.submissions.process_tokens import ProcessTokens
from cutpurse.server.parts.submissions.relays import Relay
from cutpurse.server.parts.submissions.storage import Storage
from cutpurse.server.parts.submissions.tasks import play_task, without_paths
from cutpurse.server.parts.workers.bot_files import BotFiles
from cutpurse.server.parts.workers.match_task import TaskSeat
from cutpurse.server.runners.output_log import remove_talk
from cutpurse.server.runners.port import SOCKET, ResourceUse, Runner, RunnerError, Running
from cutpurse.wire.manifest import MANIFEST, read_manifest
from cutpurse.wire.server_address import SERVER_VARIABLE, TOKEN_VARIABLE

__all__ = ["NotStarted", "SeatedBots"]

GRACE_S: Final = 1.0  # for a bot to end by itself after its match
PATIENCE_S: Final = 10.0  # without a server until a house bot ends; a busy worker may stand still for seconds


class NotStarted(CutpurseError):
    """The reason why a bot did not start, in one line for its owner."""


class SeatedBots:
    """The bots of one match."""

    def __init__(
        self, name: str, socket: Path, runner: Runner, storage: Storage, tokens: ProcessTokens, log: Logger
    ) -> None:
        """Start with no processes.

        Args:
            name: Name of the match among those at hand, for folders.
            socket: Where the match's server listens.
            runner: Runs the submitted bots.
            storage: Folders for their sockets and output.
            tokens: Makes their tokens.
            log: The worker's log.
        """
        self._name = name
        self._socket = socket
        self._runner = runner
        self._storage = storage
        self._tokens = tokens
        self._log = log
        self._house = Children(None, grace_s=GRACE_S)
        self._running: dict[Identity, Running] = {}
        self._trees: dict[Identity, Path] = {}
        self._relays: list[Relay] = []
        self._folders: list[str] = []

    def uses(self) -> Mapping[Identity, Callable[[], ResourceUse]]:
        """Return functions that read the resource usage of the submitted bots."""
        return {identity: running.use for identity, running in self._running.items()}

    async def start(self, number: int, seat: TaskSeat, files: BotFiles) -> None:
        """Start the bot of a seat.

        Raises:
            NotStarted: If it cannot be started.
        """
        player = seat.player
        resident = HostedBotIdentity(player.bot, player.version, one_match=OneMatch())
        token = self._tokens.give(player.owner, resident)
        try:
            if player.owner == HOUSE:
                self._start_house_bot(player.bot, token.reveal())
            else:
                await self._start(number, player, await files.provide(bytes.fromhex(seat.files)), token.reveal())
        except (OSError, RunnerError, FilesError, UsageError) as problem:
            raise NotStarted(f"it cannot be run: {self._clean(player, str(problem))}") from None

    def _start_house_bot(self, bot: str, token: str) -> None:
        command = (
            *(*module_command("cutpurse.cli"), "bot", "run", bot, "--name", bot, "--quiet", "--tables", "1"),
            *("--reconnect-timeout", f"{PATIENCE_S:g}"),
        )
        environment = {SERVER_VARIABLE: f"unix:{self._socket}", TOKEN_VARIABLE: token}
        self._house.start(bot, command, {**HOUSE_BOTS[bot].environment, **environment})

    async def _start(self, number: int, player: Identity, tree: Path, token: str) -> None:
        self._trees[player] = tree
        manifest = read_manifest((tree / MANIFEST).read_bytes())
        folder = f"{self._name}-{number}"
        arena = self._storage.arena(folder)
        self._folders.append(folder)
        loop = asyncio.get_running_loop()
        self._relays.append(Relay(arena / SOCKET, self._socket, loop, self._log, bot=player.shown))
        task = play_task(manifest, tree, arena, self._storage.talk / folder, token)
        self._running[player] = await asyncio.to_thread(self._runner.start, task)

    def ended(self) -> tuple[Identity, str] | None:
        """Return a submitted bot whose process has ended, and how; None if all run."""
        for player, running in self._running.items():
            if (ended := running.ended()) is not None:
                said = last_words(self._clean(player, running.talk()).splitlines())
                return player, ended.text + (f"; its last words: {said}" if said else "")
        return None

    async def stop(self) -> None:
        """Stop all processes, and remove their sockets and output."""
        stops = [asyncio.to_thread(running.stop, GRACE_S) for running in self._running.values()]
        await asyncio.gather(*stops, asyncio.to_thread(self._house.stop))
        for relay in self._relays:
            relay.close()
        with suppress(OSError):
            for folder in self._folders:
                self._storage.no_arena(folder)
                remove_talk(self._storage.talk / folder)

    def _clean(self, player: Identity, text: str) -> str:
        tree = self._trees.get(player)
        return text if tree is None else without_paths(text, tree, self._storage.run)
