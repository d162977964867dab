"""A bot whose task is cancelled is gone, at whatever moment: also while its call has not begun yet."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

from cutpurse.sdk.bot import BotMaker
from cutpurse.sdk.run import connect

STEPS = 40  # of the loop, until its call has failed several times over


class First:
    def choose(self, view: Any, decision: Any) -> int:
        return 0


async def test_a_bot_is_gone_at_whatever_step_it_is_cancelled() -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))  # and does not listen
        address = f"127.0.0.1:{deaf.getsockname()[1]}"
        for steps in range(STEPS):
            bot = asyncio.create_task(connect(BotMaker("pupil", First), "szmal", server=address, quiet=True))
            for _ in range(steps):
                await asyncio.sleep(0)
            bot.cancel()
            await asyncio.wait([bot], timeout=240)
            assert bot.cancelled(), f"cancelled after {steps} steps it is still there"
