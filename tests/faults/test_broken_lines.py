"""Bots of the SDK on a real server over lines that break, are held and lie: it costs them time and nothing else."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest

from cutpurse.leaderboard.results import NORMAL, FinishedMatch
from cutpurse.sdk.bot import BotMaker, MatchInfo
from cutpurse.sdk.online import client
from cutpurse.sdk.run import PlayedMatch, connect
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.server_match import ServerMatch
from tests.faults.proxy import DOWN, UP, Hurt, Proxy
from tests.faults.streams import answers_taken
from tests.server.arenas import running_arena
from tests.server.stores import match_of

MATCHES = 2
HURTS = 6


class Books:
    """What bots did, by name and match."""

    def __init__(self) -> None:
        self.answers: dict[tuple[str, str], dict[int, int]] = {}
        self.heard: dict[str, list[PlayedMatch]] = {}

    def maker(self, name: str) -> BotMaker:
        """A bot that writes down what it does."""
        answers = self.answers

        class Bot:
            def start(self, match: MatchInfo) -> None:
                assert (name, match.match) not in answers, "a match began twice"
                self.seat, self.answers = match.seat, answers.setdefault((name, match.match), {})

            async def choose(self, view: Any, decision: Any) -> int:
                number = decision.number + 1
                assert number == len(self.answers) + 1, "a decision was left out, or put twice"
                await asyncio.sleep(0.005)
                option: int = (7 * number + self.seat) % decision.count
                self.answers[number] = option
                return option

        return BotMaker(name, Bot)


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch) -> list[FinishedMatch]:
    """All matches that end on servers of this process."""
    ended: list[FinishedMatch] = []
    finish = ServerMatch.finish

    def noted(table: ServerMatch, started: datetime, finished: datetime) -> FinishedMatch:
        ended.append(finish(table, started, finished))
        return ended[-1]

    monkeypatch.setattr(ServerMatch, "finish", noted)
    return ended


@pytest.fixture
def folder() -> Iterator[Path]:
    """One whose path is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="lines-") as name:
        yield Path(name)


async def hurt_again_and_again(proxy: Proxy, how: Hurt, chance: Random) -> None:
    """One line of the bot after the other."""
    for _ in range(HURTS):
        while proxy.line is None:
            await asyncio.sleep(0.005)
        await asyncio.sleep(chance.uniform(0.0, 0.1))
        if (line := proxy.line) is not None:
            await line.hurt(how, chance.choice((UP, DOWN)), 0.15, chance.randrange(3_000))


@pytest.mark.parametrize("how", Hurt, ids=lambda how: how.name.lower())
async def test_a_line_that_breaks_costs_time_only(
    how: Hurt, folder: Path, results: list[FinishedMatch], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "BACKOFF_S", (0.01, 0.05))
    books, ladder = Books(), Ladder("szmal", "szmal", 3, matches_wanted=MATCHES)

    async def stay(name: str, address: str) -> None:
        heard = books.heard.setdefault(name, [])
        maker = books.maker(name)
        await connect(maker, server=address, name=name, matches=MATCHES, on_match=heard.append, max_tables=1)

    async with running_arena(folder, [ladder]) as arena, Proxy(folder / "ann.sock", arena.address) as proxy:
        hurting = asyncio.create_task(hurt_again_and_again(proxy, how, Random(how.value)))
        others = [stay(name, arena.address) for name in ("bob", "cid")]
        await asyncio.gather(stay("ann", proxy.address), *others)
        hurting.cancel()
        await asyncio.gather(hurting, return_exceptions=True)
    if how is not Hurt.HOLD:
        assert proxy.dialled > 2
    assert len(results) == MATCHES
    for result in results:
        assert [seat.end_cause for seat in result.seats] == [NORMAL] * 3
        assert match_of(result).faults == []
        for taken, seat in zip(answers_taken(result, with_lone=False), result.seats, strict=True):
            assert books.answers[seat.player.bot, result.match] == taken
    matches = sorted(result.match for result in results)
    assert [sorted(match.match for match in heard) for heard in books.heard.values()] == [matches] * 3
    for word in ("stream broke", "match broke down", "lobby broke"):
        assert word not in arena.log
