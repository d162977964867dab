"""The speed of a place: how often it plays one fixed match by itself in a second.

It is measured in a process of its own, as bots run, and the fastest of many playouts counts. So other programs on the
machine do not make a place slow (see `processor_time` for them), but an old processor does, or an uncompiled Python.

Run as a program, it prints the speed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import inf
from time import perf_counter
from typing import Final

from cutpurse.engine.chance import KEY_BYTES, Chance
from cutpurse.engine.errors import CutpurseError
from cutpurse.games import GAMES
from cutpurse.process.interpreter import module_command

__all__ = ["measure_speed", "speed_of_this_machine"]

GAME: Final = "greed"
SEATS: Final = 4
PLAYOUTS: Final = 400  # of about a millisecond each
FEW_PLAYOUTS: Final = 20  # enough on a machine that is so busy that they take LONG_S
LONG_S: Final = 5.0
TOTAL_S: Final = 60.0  # for the process


def measure_speed(clock: Callable[[], float] = perf_counter) -> float:
    """Return the playouts per second of this process, by the fastest of PLAYOUTS."""
    began, fastest_s = clock(), inf
    for number in range(PLAYOUTS):
        fastest_s = min(fastest_s, _playout_s(clock))
        if number >= FEW_PLAYOUTS and clock() - began > LONG_S:
            break
    return 1.0 / fastest_s


def _playout_s(clock: Callable[[], float]) -> float:
    chance, rules = Chance(bytes(KEY_BYTES)), GAMES[GAME]
    began = clock()
    rules.new(SEATS, bytes(KEY_BYTES)).playout(chance.below)
    return clock() - began


async def speed_of_this_machine() -> float:
    """Measure the speed in a new process.

    Raises:
        CutpurseError: If that does not succeed.
    """
    process = await asyncio.create_subprocess_exec(
        *module_command(__name__),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,  # Ctrl-C at a terminal is for the place alone
    )
    try:
        output, _ = await asyncio.wait_for(process.communicate(), TOTAL_S)
        return float(output)
    except (TimeoutError, ValueError):
        raise CutpurseError("the speed of this machine cannot be measured; is it overloaded?") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


if __name__ == "__main__":
    print(measure_speed())  # noqa: T201
