"""A class of sixty behind one address: all of them come in, on one ladder, and each has a match."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.store import Store
from cutpurse.sdk.bot import BotMaker
from cutpurse.sdk.run import connect
from tests.faults.league import tokens_of
from tests.faults.processes import server

STUDENTS = [f"student{number:02}" for number in range(60)]


class First:
    """Takes what is offered first."""

    def choose(self, view: Any, decision: Any) -> int:
        return 0


async def test_sixty_owners_from_one_address_are_all_in_and_each_has_a_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = await asyncio.to_thread(tokens_of, tmp_path, STUDENTS)
    assert len(set(tokens.values())) == 60
    played: Counter[str] = Counter()
    all_have = asyncio.Event()

    def over(student: str) -> None:
        played[student] += 1
        if len(played) == len(STUDENTS):
            all_have.set()

    with server(tmp_path, "--game", "szmal") as host:
        bots = []
        for student in STUDENTS:
            monkeypatch.setenv("CUTPURSE_TOKEN", tokens[student])
            stay = connect(
                BotMaker("pupil", First),
                ladders="szmal",
                server=host.address,
                max_tables=1,
                on_match=lambda match, student=student: over(student),  # type: ignore[misc]
                quiet=True,
            )
            bots.append(asyncio.create_task(stay))
            await asyncio.sleep(0)  # it reads its token before it waits for anything
        finished = asyncio.create_task(all_have.wait())
        await asyncio.wait([finished, *bots], return_when=asyncio.FIRST_COMPLETED)
        assert finished.done(), [bot.exception() for bot in bots if bot.done()]
        host.process.terminate()  # open matches are played to their ends, and no other begins
        assert await asyncio.to_thread(host.ends) == 0, host.said
        for bot in bots:
            bot.cancel()
        await asyncio.gather(*bots, return_exceptions=True)
    assert {line["owner"] for line in host.events("stream opened")} == set(STUDENTS)
    # Of those who dial all at once, a busy machine may read a hello too late; they dial again.
    assert {line["reason"] for line in host.events("stream refused")} <= {"SILENT"}
    with Store(host.database) as store:
        (ladder,) = store.run(queries.ladders)
        assert {ranking.owner for ranking in store.run(queries.rankings, ladder.name)} >= set(played)
