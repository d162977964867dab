"""The bots that run at this place: started and stopped as the server says, and reported to it.

Each bot gets the files with the digest that the server names, a socket to the server through the tunnel, and what the
runner gives every program. All methods are for the event loop; files and processes are handled on threads. This module
knows no stream: `report` fills the place's envelopes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any, Final

from cutpurse.engine.errors import CutpurseError
from cutpurse.server.logs import Logger, traceback_locations
from cutpurse.server.parts.hosts.output_tail import OutputTail
from cutpurse.server.parts.hosts.place_service import CAUSES
from cutpurse.server.parts.submissions.memory_folder import add_empty, pack_all, unpack_folder
from cutpurse.server.parts.submissions.packed_files import MAX_PACKED_BYTES, FilesError, unpack_files
from cutpurse.server.parts.submissions.relays import Relay
from cutpurse.server.parts.submissions.storage import Storage
from cutpurse.server.parts.submissions.tasks import runtime_variables, without_paths
from cutpurse.server.runners.output_log import remove_talk
from cutpurse.server.runners.port import SOCKET, ProgramSpec, ResourceLimits, ResourceUse, Runner, Running
from cutpurse.server.runners.runtimes import python_runtime
from cutpurse.v1 import place_pb2

__all__ = ["PlaceBots"]

THREADS: Final = 64  # bots that are started or stopped at the same time
REPORT_S: Final = 0.5  # between two reports of usage and output
MAX_OUTPUT: Final = 12_000  # bytes of output in an envelope, of all bots; a server takes envelopes of 64 KiB


@dataclass(slots=True, eq=False)
class _Bot:
    """A bot that was to be started here and whose end was not reported yet."""

    number: int  # by which the server knows it; another server may use it again
    folder: str  # name of its folders and of its output
    running: Running | None = None  # None until it is started
    relay: Relay | None = None
    tail: OutputTail | None = None
    digest: bytes = b""
    is_reported: bool = False  # its start was reported
    stop_s: float | None = None  # grace in seconds, once the server wants it stopped
    memory: Path | None = None
    returning: asyncio.Task[None] | None = None  # sends its memory to the server, after its end
    left_out: str = ""  # what was not sent of its memory
    failure: str = ""  # why it could not be started
    use: ResourceUse = field(default_factory=lambda: ResourceUse(0.0, 0))  # as reported last


class PlaceBots:
    """All bots of a place. Call `close` at the end."""

    def __init__(
        self,
        runner: Runner,
        storage: Storage,
        fetch: Callable[[bytes, int], Awaitable[bytes]],
        log: Logger,
        get_memory: Callable[[int], Awaitable[bytes]],
        put_memory: Callable[[int, bytes], Awaitable[None]],
    ) -> None:
        """Start with no bots.

        Args:
            runner: Runs the bots.
            storage: Folders of this place; bots connect to its `server_socket`.
            fetch: Returns the packed files with this SHA-256 and size from the server.
            log: The place's log.
            get_memory: Returns the packed memory folder of a bot from the server.
            put_memory: Sends it to the server.
        """
        self._get_memory, self._put_memory = get_memory, put_memory
        self._runner = runner
        self._storage = storage
        self._fetch = fetch
        self._log = log
        self._bots: dict[int, _Bot] = {}
        self._count = 0  # bots started
        self._unpacked: set[bytes] = set()  # digests unpacked since the start of this place
        self._fetching: dict[bytes, asyncio.Lock] = {}
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="bots")
        self._tasks: set[asyncio.Task[None]] = set()
        self._reported_at = 0.0
        self._ended_cpu_s = 0.0  # of bots that have ended

    @property
    def numbers(self) -> list[int]:
        """Numbers of the bots that are started or run."""
        return [*self._bots]

    @property
    def cpu_s(self) -> float:
        """CPU time of all bots so far, also of those that have ended."""
        return self._ended_cpu_s + sum(
            bot.running.use().cpu_s for bot in self._bots.values() if bot.running is not None
        )

    # -- orders of the server
    def start(self, order: place_pb2.StartBot) -> None:
        """Start a bot; whether that succeeds is reported later."""
        self._count += 1
        bot = self._bots[order.bot] = _Bot(order.bot, f"bot-{self._count}", digest=order.sha256)
        self._work(self._start(bot, order))

    def stop(self, number: int, grace_s: float) -> None:
        """Stop a bot; its end is reported later."""
        bot = self._bots.get(number)
        if bot is None:
            return
        bot.stop_s = grace_s
        if bot.running is not None:
            self._work(self._stop(bot.running, grace_s))

    def stop_all(self) -> None:
        """Stop all bots at once, and report nothing of them, since their server is gone."""
        bots, self._bots = self._bots, {}
        for bot in bots.values():
            bot.stop_s = 0.0
            if bot.running is not None:
                self._work(self._end(bot, bot.running))

    async def close(self) -> None:
        """Stop all bots, and wait for their end."""
        self.stop_all()
        while self._tasks:
            await asyncio.wait([*self._tasks])
        self._threads.shutdown()

    def _work(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _start(self, bot: _Bot, order: place_pb2.StartBot) -> None:
        loop = asyncio.get_running_loop()
        try:
            await self._provide(order.sha256, order.size)
            arena = self._storage.arena(bot.folder)
            bot.relay = Relay(arena / SOCKET, self._storage.server_socket, loop, self._log, bot=order.name)
            if order.memory_ladders:
                bot.memory = self._storage.arena(f"{bot.folder}-memory")
                content = await self._get_memory(bot.number)
                await loop.run_in_executor(self._threads, unpack_folder, content, bot.memory)
                add_empty(bot.memory, order.memory_ladders)
            task = self._task(order, arena, self._storage.talk / bot.folder, bot.memory)
            bot.tail = OutputTail(task.talk)
            running = await loop.run_in_executor(self._threads, self._runner.start, task)
        except Exception as problem:
            if not isinstance(problem, (CutpurseError, OSError, FilesError, ValueError)):
                self._log.error("start broke", error=type(problem).__name__, places=traceback_locations(problem))
            bot.failure = self._clean(bot, f"it cannot be run at this place: {problem}")
            self._clear(bot)
            self._log.warning("bot not started", bot=order.name, why=bot.failure)
            return
        bot.running = running
        self._log.info("bot started", bot=order.name, pid=running.pid)
        if self._bots.get(bot.number) is not bot:  # `stop_all` was called meanwhile
            await self._end(bot, running)
        elif bot.stop_s is not None:
            await self._stop(running, bot.stop_s)

    async def _provide(self, digest: bytes, size: int) -> None:
        """See that the files with this digest are here, unpacked; the packed ones are checked each time.

        Raises:
            FilesError: If the server sends other files, or too many.
            OSError: If the disk fails.
        """
        async with self._fetching.setdefault(digest, asyncio.Lock()):
            loop = asyncio.get_running_loop()
            try:
                content = await loop.run_in_executor(self._threads, self._storage.archive, digest)
            except FileNotFoundError:  # missing or damaged
                if size > MAX_PACKED_BYTES:
                    raise FilesError(f"it has {size:,} bytes; the maximum is {MAX_PACKED_BYTES:,}") from None
                content = await self._fetch(digest, size)
                self._storage.remove(digest)
                self._unpacked.discard(digest)
                if await loop.run_in_executor(self._threads, self._storage.keep, content) != digest:
                    raise FilesError("the server has sent files with another SHA-256") from None
            if digest not in self._unpacked:
                await loop.run_in_executor(self._threads, self._unpack, digest, content)
                self._unpacked.add(digest)

    def _unpack(self, digest: bytes, content: bytes) -> None:
        unpack_files(content, self._storage.part(digest))
        self._storage.built(digest)

    def _task(self, order: place_pb2.StartBot, arena: Path, talk: Path, memory: Path | None) -> ProgramSpec:
        limits = order.limits
        return ProgramSpec(
            name=order.name,
            folder=self._storage.tree(order.sha256),
            command=tuple(order.command),
            talk=talk,
            arena=arena,
            environment=dict(order.environment),
            limits=ResourceLimits(
                memory_bytes=limits.memory_bytes,
                processes=limits.processes,
                open_files=limits.open_files,
                file_bytes=limits.file_bytes,
                cpu_cores=limits.cpu_cores,
                talk_bytes_per_s=limits.output_bytes_per_s,
                talk_bytes=limits.output_bytes,
            ),
            runtimes=python_runtime(),
            for_runtimes=runtime_variables(),
            memory=memory,
        )

    async def _stop(self, running: Running, grace_s: float) -> None:
        await asyncio.get_running_loop().run_in_executor(self._threads, running.stop, grace_s)

    async def _end(self, bot: _Bot, running: Running) -> None:
        await self._stop(running, 0.0)
        self._clear(bot)

    def _clear(self, bot: _Bot) -> None:
        """Remove what is left of a bot that runs no more."""
        if bot.relay is not None:
            bot.relay.close()
        if bot.tail is not None:
            bot.tail.close()
        with suppress(OSError):
            self._storage.no_arena(bot.folder)
            self._storage.no_arena(f"{bot.folder}-memory")
            remove_talk(self._storage.talk / bot.folder)

    # -- reports to the server
    def report(self, envelope: place_pb2.AttendRequest) -> None:
        """Add to an envelope what is new of all bots."""
        now = monotonic()
        is_time = now >= self._reported_at + REPORT_S
        if is_time:
            self._reported_at = now
        left = MAX_OUTPUT
        for bot in [*self._bots.values()]:
            ended = bot.running.ended() if bot.running is not None else None
            if bot.running is not None and not bot.is_reported:
                envelope.started.add(bot=bot.number)
                bot.is_reported = True
            if bot.tail is not None and left > 0 and (is_time or ended is not None):
                left -= self._report_output(bot, bot.tail, left, envelope)
            if bot.failure:
                envelope.ended.add(bot=bot.number, cause=place_pb2.BOT_END_CAUSE_NOT_STARTED, text=bot.failure)
                del self._bots[bot.number]
            elif ended is not None and left > 0 and self._is_memory_sent(bot):  # and all its output
                if bot.left_out:
                    envelope.outputs.add(bot=bot.number, text=f"memory: not sent to the server: {bot.left_out}\n")
                report = envelope.ended.add(
                    bot=bot.number, cause=CAUSES[ended.cause], text=self._clean(bot, ended.text)
                )
                if ended.code is not None:
                    report.code = ended.code
                _fill(report.use, bot.number, ended.use)
                self._ended_cpu_s += ended.use.cpu_s
                self._clear(bot)
                del self._bots[bot.number]
            elif bot.running is not None and is_time and (use := bot.running.use()) != bot.use:
                bot.use = use
                _fill(envelope.uses.add(), bot.number, use)

    def _is_memory_sent(self, bot: _Bot) -> bool:
        """Return whether the server has what an ended bot left in its memory folder, or cannot have it; send it."""
        if bot.memory is None:
            return True
        if bot.returning is None:
            bot.returning = asyncio.get_running_loop().create_task(self._send_memory(bot, bot.memory))
        return bot.returning.done()

    async def _send_memory(self, bot: _Bot, folder: Path) -> None:
        try:
            loop = asyncio.get_running_loop()
            content, bot.left_out = await loop.run_in_executor(self._threads, pack_all, folder)
            await self._put_memory(bot.number, content)
        except (FilesError, OSError) as problem:
            self._log.warning("memory not sent", bot=bot.number, why=str(problem))

    def _report_output(self, bot: _Bot, tail: OutputTail, most: int, envelope: place_pb2.AttendRequest) -> int:
        """Add new output of a bot to an envelope, and return its bytes."""
        with suppress(OSError):  # a full disk must not stop the place
            if text := tail.read(most):
                envelope.outputs.add(bot=bot.number, text=self._clean(bot, text))
            return len(text.encode())
        return 0

    def _clean(self, bot: _Bot, text: str) -> str:
        return without_paths(text, self._storage.tree(bot.digest), self._storage.run / bot.folder)


def _fill(message: place_pb2.BotUse, number: int, use: ResourceUse) -> None:
    message.bot, message.cpu_us, message.peak_bytes = number, round(use.cpu_s * 1e6), use.peak_bytes
