"""A bot of the SDK in a process of its own, as `cutpurse bot run` has it (`python -m benchmarks.arena.players`)."""

import asyncio
import time

from benchmarks.arena.child import Does, serve
from cutpurse.sdk.run import connect

__all__ = ["prepare"]


class Player:
    """One bot at a time."""

    def __init__(self) -> None:
        self._playing: asyncio.Task[object] | None = None

    async def play(self, bot: str, name: str, address: str) -> dict[str, object]:
        """Dial in, and play from now on."""
        self._playing = asyncio.create_task(connect(bot, "greed", server=address, name=name, quiet=True))
        return {}

    async def cpu(self) -> dict[str, object]:
        """CPU seconds of this process until now, and the moment."""
        return {"cpu_s": time.process_time(), "at": time.monotonic()}

    async def rest(self) -> dict[str, object]:
        """Go at once.  Raises what ended the bot before."""
        if self._playing is not None:
            self._playing.cancel()
            await asyncio.wait([self._playing])
            if not self._playing.cancelled():
                self._playing.result()
                raise RuntimeError("the bot left by itself")
        return {}


def prepare() -> Does:
    """What this process does."""
    player = Player()
    return {"play": player.play, "cpu": player.cpu, "rest": player.rest}


if __name__ == "__main__":
    serve(prepare)
