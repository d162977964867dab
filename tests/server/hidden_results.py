"""A league whose results are hidden until a time, with a clock that a test moves past it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest
from sqlalchemy import select, update

from cutpurse.engine.clocks import TimeControl
from cutpurse.leaderboard import seasons, tournaments, version_tests
from cutpurse.leaderboard.estimates.result_matrix import ladder_results, put_estimates
from cutpurse.leaderboard.events import EventEntry
from cutpurse.leaderboard.formats.brackets import ELIMINATION
from cutpurse.leaderboard.ladders import delete_ladder
from cutpurse.leaderboard.relations import EVENT_LADDERS, LADDERS
from cutpurse.leaderboard.results import Identity
from cutpurse.server.hosting import open_arena
from cutpurse.server.ladder_config import ladder_with_defaults
from cutpurse.server.parts.events import version_testing
from cutpurse.server.parts.events.season_plan import DivisionPlan, SeasonPlan
from cutpurse.server.parts.events.tournament_rules import TournamentPlan
from cutpurse.server.parts.events.version_test_results import plan_text
from tests.server.league_world import LeagueWorld, league_world

__all__ = ["LINE", "SERIES", "TEST", "TOURNAMENT", "HiddenLeague", "hidden_league"]

UNTIL: Final = (datetime.now(UTC) + timedelta(days=2)).replace(second=0, microsecond=0)
TEST: Final = "0123456789ab"  # a version test of ann on the ladder duel
TOURNAMENT: Final = "cdef01234567"  # on the ladder duel, of two bots that are away
SERIES: Final = "89ab01234567"  # seasons of one division, whose ladder is duel


def LINE(ladder: str) -> str:  # noqa: N802 # it is the text of one case
    """Return the line that refuses results of a ladder."""
    return f"results of {ladder} are hidden until {UNTIL:%Y-%m-%d %H:%M} UTC"


class HiddenLeague:
    """A league world with a public and a private ladder, both with hidden results, and the server's clock.

    `term` is the term of the ladders by which results are hidden.
    """

    def __init__(self, world: LeagueWorld, term: str) -> None:
        self.world = world
        self.term = term
        self.is_over = False

    def utc(self) -> datetime:
        """Return the server's time of day."""
        return UNTIL if self.is_over else UNTIL - timedelta(milliseconds=1)

    async def hide(self, ladder: str, until: datetime | None) -> None:
        """Hide the results of a ladder until a time, and also names if that is the term, or show them."""
        (found,) = [one for one in (await self.world.ask("ListLadders", "root")).ladders if one.defined.name == ladder]
        terms = found.defined.terms
        setattr(terms, self.term, 0 if until is None else int(until.timestamp() * 1_000))
        await self.world.ask("ChangeLadder", "root", ladder=ladder, terms=terms)


@asynccontextmanager
async def hidden_league(
    folder: Path, monkeypatch: pytest.MonkeyPatch, term: str = "results_hidden_until_ms"
) -> AsyncIterator[HiddenLeague]:
    """Run the league; results of its ladders are hidden, ratings are estimated, and ann has a version test."""
    leagues: list[HiddenLeague] = []
    monkeypatch.setattr(open_arena, "_utc", lambda: leagues[0].utc() if leagues else datetime.now(UTC))
    async with league_world(folder) as world:
        league = HiddenLeague(world, term)
        new, old = Identity("ann", "sneak", "1.1"), Identity("ann", "sneak", "1.0")
        text = plan_text("duel", new, old, version_testing._design(0))
        test = EventEntry(TEST, "duel", "ann", text, datetime.now(UTC))
        world.store.write(version_tests.start, test, new, old, 2, 10)
        plan = TournamentPlan("duel", ELIMINATION, 1, (old, Identity("bob", "thug", "2")))
        tournament = EventEntry(TOURNAMENT, "duel", "root", plan.text, datetime.now(UTC))
        world.store.write(tournaments.start, tournament, 9)
        _start_season(world, old)
        for ladder in ("duel", "hidden"):
            await league.hide(ladder, UNTIL)
            world.store.write(put_estimates, world.store.run(ladder_results, ladder).estimates(), datetime.now(UTC))
        leagues.append(league)
        yield league


def _start_season(world: LeagueWorld, bot: Identity) -> None:
    """Store seasons on the ladder duel. The server does not know them, so they stay as they are."""
    now = datetime.now(UTC)
    ladder = ladder_with_defaults("duel", "greed", 2, {}, TimeControl())
    plan = SeasonPlan(ladder, (DivisionPlan(0, 0, (bot[:2],)),), 9, 0, None, 0, 1, 60, None)
    series = EventEntry(SERIES, "", "root", plan.text, now, name="duel")
    world.store.write(seasons.start, series, plan.first_season(now), 9)
    to_duel = (
        update(EVENT_LADDERS)
        .where(EVENT_LADDERS.c.is_own)
        .values(ladder_id=select(LADDERS.c.id).where(LADDERS.c.name == "duel").scalar_subquery())
    )
    world.store.write_uncached(lambda connection: connection.execute(to_duel).close())
    world.store.write(delete_ladder, "duel-1-s1")
