"""A bot that gets no match from a server that does not tell why."""

from __future__ import annotations

import pytest

from cutpurse.sdk.bot import bot_makers
from cutpurse.sdk.online.bot_pool import RemoteBots
from cutpurse.sdk.online.client import Client, StayOptions
from cutpurse.sdk.online.concurrency import ConcurrencyControl
from cutpurse.sdk.online.thinking import Thinker
from cutpurse.wire.client_session import ClientSession
from cutpurse.wire.connection import dialling
from tests.sdk.arena import Ending, arena


async def test_a_server_that_does_not_tell_is_asked_less_and_less_often_and_nothing_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("CUTPURSE_TOKEN", raising=False)
    lines: list[str] = []
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 5:
            client.leave()

    async with arena(matches=0, no_ladders=[Ending()]) as server:  # then it tells of no ladder at all
        pace, session = ConcurrencyControl(1), ClientSession("bot", games=["greed"])
        client = Client(dialling(server.address), session, pace, lines.append, StayOptions(says_why=True), pause=pause)
        thinker = Thinker(False, client.broken)
        (maker,) = bot_makers(["random"])
        await client.play(RemoteBots(maker, session, thinker, pace, lines.append, lambda match: None, client.wake))
        thinker.close()
    assert pauses == [15.0, 15.0, 30.0, 60.0, 120.0]
    assert lines == [f"bot (version 1) plays at {server.address} (test)"]
