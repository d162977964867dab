"""The streams of one bot to the servers of a league that share its ladders.

The bot says the same Hello everywhere, so each server pairs it on the ladders that it has, now and later. The bot's
tables are divided among the streams. A stream whose server is gone ends while others go on; another server then takes
its ladders, and one of the other streams asks where they are. With one server this adds nothing to its `Client`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from cutpurse.engine.errors import CutpurseError
from cutpurse.sdk.online.bot_pool import RemoteBots
from cutpurse.sdk.online.client import Client, Companions
from cutpurse.wire.connection import Dialling
from cutpurse.wire.errors import ServerUnreachable

__all__ = ["ArenaStreams"]

ASK_AGAIN_S: Final = (1.0, 15.0)  # seconds after the end of a stream until the others ask where its ladders are
MOST_STREAMS: Final = 16  # a server that names more addresses is wrong


@dataclass(slots=True)
class _BotStream:
    client: Client
    bots: RemoteBots
    task: asyncio.Task[None] | None = None


class ArenaStreams:
    """All streams of one bot."""

    def __init__(
        self,
        first: Dialling,
        make: Callable[[Dialling, Companions], tuple[Client, RemoteBots]],
        say: Callable[[str], None],
        upper: int | None,
    ) -> None:
        """Set up the stream to the first server.

        Args:
            first: The server that the user named.
            make: Creates a client and its bots, for a server.
            say: Prints a message for the user.
            upper: Maximum number of simultaneous matches, and so of streams. None means no limit.
        """
        self._first = first
        self._make = make
        self._say = say
        self._most = MOST_STREAMS if upper is None else min(upper, MOST_STREAMS)
        self._streams: list[_BotStream] = []
        self._over: list[_BotStream] = []
        self._refused: set[str] = set()  # addresses that are not dialled
        self._is_leaving = False
        self._has_enough = False
        self._woken = asyncio.Event()  # set when there is a new stream
        self._add(first)

    # -- results
    @property
    def played(self) -> int:
        """Number of matches that have ended."""
        return sum(stream.client.played for stream in (*self._streams, *self._over))

    @property
    def faults(self) -> int:
        """Number of exceptions in the bot's methods, and of illegal answers."""
        return sum(stream.bots.faults for stream in (*self._streams, *self._over))

    @property
    def open_matches(self) -> int:
        """Number of open matches."""
        return sum(len(stream.client.session.tables) for stream in self._streams)

    # -- the bot
    def leave(self) -> None:
        """Finish the open matches, then stop."""
        self._is_leaving = True
        for stream in self._streams:
            stream.client.leave()

    def broken(self, problem: BaseException) -> None:
        """Store an error of this program: `play` ends with it."""
        for stream in self._streams[:1]:
            stream.client.broken(problem)

    async def play(self) -> None:
        """Play until the bot has left.  Raises what the last client raises."""
        try:
            while True:
                self._woken.clear()
                woken = asyncio.ensure_future(self._woken.wait())
                tasks = [self._begun(stream) for stream in self._streams]
                await asyncio.wait([woken, *tasks], return_when=asyncio.FIRST_COMPLETED)
                woken.cancel()
                for stream in [
                    open_stream
                    for open_stream in self._streams
                    if open_stream.task is not None and open_stream.task.done()
                ]:
                    self._ended(stream)
                if not self._streams:
                    return
        finally:
            tasks = [stream.task for stream in self._streams if stream.task is not None]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _begun(self, stream: _BotStream) -> asyncio.Task[None]:
        if stream.task is None:
            stream.task = asyncio.get_running_loop().create_task(stream.client.play(stream.bots))
        return stream.task

    def _ended(self, stream: _BotStream) -> None:
        """Remove a stream that has ended; the last one ends the bot's stay."""
        assert stream.task is not None
        self._streams.remove(stream)
        self._over.append(stream)
        problem = stream.task.exception()
        if problem is not None and (not self._streams or not isinstance(problem, CutpurseError)):
            raise problem
        if problem is not None:
            if not isinstance(problem, ServerUnreachable):
                self._refused.add(stream.client.address)
            self._say(f"no more matches there: {problem}")
        self._divide()
        if self._streams and not self._is_leaving:
            for seconds in ASK_AGAIN_S:
                asyncio.get_running_loop().call_later(seconds, self._ask)

    def _ask(self) -> None:
        if self._streams and not self._is_leaving:
            self._streams[0].client.refresh()

    def _add(self, there: Dialling) -> None:
        client, bots = self._make(there, self)
        self._streams.append(_BotStream(client, bots))
        self._divide()

    def _divide(self) -> None:
        for stream in self._streams:
            if stream.task is not None:
                stream.client.limit_tables()

    # -- `Companions`
    def share(self, client: Client, tables: int) -> int:
        """Implement `Companions.share`: at least one table each."""
        there = [stream.client for stream in self._streams]
        if client not in there:  # it is being made
            return tables
        return max(1, (tables + there.index(client)) // len(there))

    def begun(self, client: Client) -> int:
        """Count the matches that the other streams have begun, those that are over too."""
        return sum(stream.client.begun for stream in (*self._streams, *self._over) if stream.client is not client)

    def welcomed(self, client: Client, elsewhere: Sequence[tuple[str, str]]) -> None:
        """Implement `Companions.welcomed`: dial every server that is new."""
        for ladder, address in elsewhere:
            if self._is_leaving or self._has_enough or address in self._refused or self.is_dialled(address):
                continue
            if len(self._streams) >= self._most:
                self._refused.add(address)
                self._say(f"not played: ladder {ladder} at {address}, for the bot plays one match at a time or too few")
                continue
            try:
                there = self._first.at(address)
            except CutpurseError as problem:
                self._refused.add(address)
                self._say(f"not played: ladder {ladder}, for {problem}")
                continue
            if not self.is_dialled(there.address):
                self._add(there)
                self._woken.set()  # `play` starts it

    def is_dialled(self, address: str) -> bool:
        """Return whether one of the streams goes to this address."""
        return any(stream.client.address == address for stream in self._streams)

    def ended_early(self, client: Client) -> bool:
        """Implement `Companions.ended_early`: as long as another stream is left."""
        return len(self._streams) > 1

    def enough(self, client: Client) -> None:
        """Let the other streams ask for no more matches."""
        self._has_enough = True
        for stream in self._streams:
            if stream.client is not client:
                stream.client.want_no_more()
