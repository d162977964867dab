"""A bot of the SDK in its own process, as `cutpurse bot run` runs it (`python -m benchmarks.arena.players`)."""

import asyncio
import time

from benchmarks.arena.child import Does, serve
from cutpurse.sdk.run import connect

__all__ = ["prepare"]


class Player:
    """A process that runs one bot at a time."""

    def __init__(self) -> None:
        self._playing: asyncio.Task[object] | None = None

    async def play(self, bot: str, name: str, address: str) -> dict[str, object]:
        """Connect, and start to play."""
        self._playing = asyncio.create_task(connect(bot, "greed", server=address, name=name, quiet=True))
        return {}

    async def cpu(self) -> dict[str, object]:
        """Return the CPU seconds of this process so far, and the current time."""
        return {"cpu_s": time.process_time(), "at": time.monotonic()}

    async def rest(self) -> dict[str, object]:
        """Stop the bot at once.  Raises the error that ended it before, if any."""
        if self._playing is not None:
            self._playing.cancel()
            await asyncio.wait([self._playing])
            if not self._playing.cancelled():
                self._playing.result()
                raise RuntimeError("the bot left by itself")
        return {}


def prepare() -> Does:
    """Return the commands of this process, by name."""
    player = Player()
    return {"play": player.play, "cpu": player.cpu, "rest": player.rest}


if __name__ == "__main__":
    serve(prepare)
