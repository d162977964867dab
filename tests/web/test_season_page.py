"""The page of a season: divisions with those who go up and down, its final, and what a host sees and stops."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cutpurse.engine.clocks import TimeControl
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.seasons import SeriesEntry
from cutpurse.leaderboard.tournaments import TournamentBoardEntry, TournamentEntry
from cutpurse.server.ladder_config import ladder_with_defaults
from cutpurse.server.matches.season_plan import DivisionPlan, FinalPlan, SeasonPlan
from cutpurse.server.matches.tournament_rules import ELIMINATION, TournamentPlan
from cutpurse.v1 import ladder_pb2
from tests.leaderboard.sample_results import result
from tests.server.league_world import LeagueWorld, league_world
from tests.server.test_season_calls import wanted
from tests.web.accounts import Person, text_of

ANN, BOB = Identity("ann", "sneak", "1.0"), Identity("bob", "thug", "2")


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[LeagueWorld]:
    async with league_world(tmp_path) as world:
        yield world


async def start(world: LeagueWorld, asked: ladder_pb2.SeasonWanted) -> str:
    plan = (await world.ask("PlanSeason", "root", wanted=asked)).season.plan
    series: str = (await world.ask("StartSeason", "root", wanted=asked, plan=plan)).season.series
    return series


async def test_everybody_follows_a_season_and_a_host_stops_it(world: LeagueWorld) -> None:
    asked = wanted(seasons=2)
    asked.divisions[0].bots.append(ladder_pb2.BotName(owner="cid", bot="hush_too"))
    series = await start(world, asked)
    players = [ANN, Identity("cid", "hush_too", "1")]
    for number in range(4):
        world.store.submit(result(f"played{number}", players, ladder="cup-1-s1")).result()
    world.store.put_estimates(world.store.ladder_estimates("cup-1-s1"), datetime.now(UTC)).result()
    root, stranger = Person(world.arena.address), Person(world.arena.address)
    await root.sign_in(world.tokens["root"])
    for person, path in ((root, f"/host/seasons/{series}"), (stranger, f"/seasons/{series}")):
        page = await person.get(path)
        text = text_of(page.text)
        assert (page.status_code, "data-pending" in page.text) == (200, True)
        assert "It ends when each bot has played 10 rated matches." in text
        assert "The best 2 bots of the first division play a knock-out final." in text
        assert "Division 1 Ladder cup-1-s1" in text
        assert "4 stays" in text, "the first bot of all stays"
        assert "4 goes down" in text
        assert "0 goes up" in text
        assert ("Stop it" in page.text) == (person is root)
    assert 'href="/seasons/' + series + '/1"' in (await stranger.get("/ladders/cup-1-s1")).text
    assert "/seasons/" not in (await stranger.get("/ladders/duel")).text
    assert "cup season 1, 2 divisions, played" in text_of((await root.get("/host")).text)
    for which, status in (("2", 404), ("0", 400), ("x", 400), ("9" * 30, 400)):
        assert (await stranger.get(f"/seasons/{series}/{which}")).status_code == status
    await root.post(f"/host/seasons/{series}/stop", {}, page=f"/host/seasons/{series}")
    page = await stranger.get(f"/seasons/{series}")
    assert ("A host stopped it." in text_of(page.text), "data-pending" in page.text) == (True, False)
    assert "seasons stopped" in text_of((await root.get("/host")).text)
    assert (await root.get(f"/host/seasons/{series}/stop", follow_redirects=False)).headers["location"] == "/host"
    assert (await stranger.post(f"/host/seasons/{series}/stop", {})).status_code in (401, 403)
    root.close()
    stranger.close()


async def test_the_final_its_champion_and_the_next_season_are_shown(world: LeagueWorld) -> None:
    now = datetime.now(UTC)
    divisions = (DivisionPlan(2, 1, (("ann", "sneak"), ("bob", "thug"))), DivisionPlan(0, 0))
    duel = ladder_with_defaults("cup", "greed", 2, {}, TimeControl())
    plan = SeasonPlan(duel, divisions, 1, 0, None, 3_600, 2, 60, FinalPlan(2, 1))
    store = world.store  # the server knows nothing of these seasons, so that they stay as they are
    state = store.start_series(SeriesEntry("5ea50", "cup", "root", plan.text, now), plan.first_season(now), 8)
    store.end_season_play("5ea50", 1, now)
    table = [
        replace(state.bots[0], place=2, version="1.0", rating=24.5, matches=9, next_division=2),
        replace(state.bots[1], place=1, version="2", rating=31.25, matches=9, next_division=0, has_left=True),
    ]
    final = TournamentPlan("cup-1-s1", ELIMINATION, 1, (BOB, ANN))
    entry = TournamentEntry("f1a1", "cup-1-s1", "root", final.text, now)
    store.put_season_table("5ea50", 1, table, entry, None, now)
    stranger = Person(world.arena.address)
    text = text_of((await stranger.get("/seasons/5ea50")).text)
    assert "The tables are final, and the final is being played." in text
    assert "Bracket Final 1 bob/thug:2 2 ann/sneak:1.0" in text
    assert "1st bob/thug 31.2 9 has left 2nd ann/sneak 24.5 9 goes down" in text
    store.put_tournament_board("f1a1", TournamentBoardEntry(0, 0, "match0001", "01"))
    store.end_tournament("f1a1", "finished", now)
    store.end_season_final("5ea50", 1, "ann/sneak", now + timedelta(hours=1), now)
    text = text_of((await stranger.get("/seasons/5ea50")).text)
    assert "It is over. The next season begins" in text
    assert "Champion: ann/sneak" in text
    store.begin_next_season("5ea50", 1, plan.season(2, now, [[("ann", "sneak")], []]))
    page = await stranger.get("/seasons/5ea50")
    assert "cup , season 2" in text_of(page.text)
    assert 'href="/seasons/5ea50/1"' in page.text
    assert "No bot yet." in text_of(page.text)
    first = (await stranger.get("/seasons/5ea50/1")).text
    assert ("Champion: ann/sneak" in text_of(first), "data-pending" in first) == (True, False)
    stranger.close()


async def test_nobody_else_sees_a_private_season(world: LeagueWorld) -> None:
    terms = ladder_pb2.LadderTerms(owners=["ann", "cid"], private=True)
    secret = ladder_pb2.LadderDefined(name="secret", game="greed", seats=2, terms=terms)
    series = await start(world, wanted(ladder=secret, divisions=[ladder_pb2.DivisionWanted()]))
    root, stranger = Person(world.arena.address), Person(world.arena.address)
    await root.sign_in(world.tokens["root"])
    page = await root.get(f"/host/seasons/{series}")
    assert (page.status_code, 'href="/ladders/secret-1-s1"' in page.text) == (200, False)
    assert (await stranger.get(f"/seasons/{series}")).status_code == 404
    root.close()
    stranger.close()
