"""A version test of submitted bots: a version that is not active runs while the test needs it, and no longer."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from cutpurse.leaderboard import events, queries, version_tests
from cutpurse.leaderboard.events import EventEntry
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.statistics.sprt import Design
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.parts.events.version_test_results import plan_text, running_test
from tests.looking import looks, until_so
from tests.parts.events.test_version_testing import play
from tests.parts.submissions.desks import PATIENT, author_of, bot_folder, handed_in, running_desk

OLD, NEW = (Identity("local", "sneak", version) for version in "12")


async def test_a_version_that_is_not_active_runs_for_its_test_alone(short: Path) -> None:
    ladder = Ladder("duel", "greed", 2, control=PATIENT)
    async with running_desk(short, [ladder]) as arena:
        author, store, lobby = author_of(arena), arena.opened.store, arena.opened.lobby
        for version in "12":
            await handed_in(author, bot_folder(short, version=version))
        opponent = asyncio.create_task(play(arena.address, "brute", "1"))
        plan = plan_text("duel", NEW, OLD, Design(min_boards=2, max_boards=2))
        event = EventEntry("t1", "duel", "local", plan, datetime.now(UTC))
        entry = store.write(version_tests.start, event, NEW, OLD, 9, 9)
        lobby.start_test(running_test(entry, ()))
        async for _ in looks():
            if store.run(events.entry, "t1").ended is not None:
                break
        assert len(store.run(version_tests.boards, "t1")) == 2
        # Rated matches of the ladder went on, and the old version played in none of them.
        rated = [match for match in store.run(queries.matches, "duel", limit=500) if match.is_rated]
        assert OLD not in {Identity(seat.owner, seat.bot, seat.version) for match in rated for seat in match.seats}
        await until_so(lambda: OLD not in {bot.identity for bot in lobby.here()})
        assert NEW in {bot.identity for bot in lobby.here()}
        opponent.cancel()
        await asyncio.gather(opponent, return_exceptions=True)
