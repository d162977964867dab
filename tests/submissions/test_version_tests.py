"""A version test of submitted bots: a version that is not active runs while the test needs it, and no longer."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from cutpurse.experiments.sprt import Design
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.version_tests import NewVersionTest
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.league.version_test_results import design_text, running_test
from tests.looking import looks, until_so
from tests.server.test_version_testing import play
from tests.submissions.desks import PATIENT, author_of, bot_folder, handed_in, running_desk

OLD, NEW = (Identity("local", "sneak", version) for version in "12")


async def test_a_version_that_is_not_active_runs_for_its_test_alone(short: Path) -> None:
    ladder = Ladder("duel", "greed", 2, control=PATIENT)
    async with running_desk(short, [ladder]) as arena:
        author, store, lobby = author_of(arena), arena.opened.store, arena.opened.lobby
        for version in "12":
            await handed_in(author, bot_folder(short, version=version))
        opponent = asyncio.create_task(play(arena.address, "brute", "1"))
        design = design_text(Design(min_boards=2, max_boards=2))
        entry = store.start_version_test(NewVersionTest("t1", "duel", NEW, OLD, design), datetime.now(UTC), 9, 9)
        lobby.start_test(running_test(entry, ()))
        async for _ in looks():
            if store.version_test("t1").ended is not None:
                break
        assert len(store.version_test_boards("t1")) == 2
        # Rated matches of the ladder went on, and the old version played in none of them.
        rated = [match for match in store.matches("duel", limit=500) if match.is_rated]
        assert OLD not in {Identity(seat.owner, seat.bot, seat.version) for match in rated for seat in match.seats}
        await until_so(lambda: OLD not in {bot.identity for bot in lobby.here()})
        assert NEW in {bot.identity for bot in lobby.here()}
        opponent.cancel()
        await asyncio.gather(opponent, return_exceptions=True)
