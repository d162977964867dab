"""The page of a season: divisions with those who go up and down, its final, and what a host sees and stops."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from cutpurse.engine.clocks import TimeControl
from cutpurse.leaderboard import events, seasons, tournaments
from cutpurse.leaderboard.estimates.result_matrix import ladder_results, put_estimates
from cutpurse.leaderboard.events import EventEntry
from cutpurse.leaderboard.formats.brackets import ELIMINATION
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.tournaments import TournamentBoardEntry
from cutpurse.server.ladder_config import ladder_with_defaults
from cutpurse.server.parts.events.season_plan import DivisionPlan, FinalPlan, SeasonPlan
from cutpurse.server.parts.events.tournament_rules import TournamentPlan
from cutpurse.v1 import event_pb2, ladder_pb2
from tests.leaderboard.sample_results import result
from tests.page.accounts import Person, text_of
from tests.parts.events.test_season_calls import wanted
from tests.server.league_world import LeagueWorld

ANN, BOB = Identity("ann", "sneak", "1.0"), Identity("bob", "thug", "2")


async def start(world: LeagueWorld, asked: event_pb2.EventRequest) -> str:
    plan = (await world.ask("PlanEvent", "root", event=asked)).event.plan
    series: str = (await world.ask("StartEvent", "root", event=asked, plan=plan, force=True)).event.event
    return series


async def test_everybody_follows_a_season_and_a_host_stops_it(world: LeagueWorld) -> None:
    asked = wanted(seasons=2)
    asked.season.divisions[0].bots.append(ladder_pb2.BotName(owner="cid", bot="hush_too"))
    series = await start(world, asked)
    players = [ANN, Identity("cid", "hush_too", "1")]
    for number in range(4):
        world.store.submit(result(f"played{number}", players, ladder="cup-1-s1")).result()
    world.store.write(put_estimates, world.store.run(ladder_results, "cup-1-s1").estimates(), datetime.now(UTC))
    root, stranger = Person(world.arena.address), Person(world.arena.address)
    await root.sign_in(world.tokens["root"])
    for person, path in ((root, f"/host/events/{series}"), (stranger, f"/events/{series}")):
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
    assert 'href="/events/' + series + '/1"' in (await stranger.get("/ladders/cup-1-s1")).text
    assert "/events/" not in (await stranger.get("/ladders/duel")).text
    assert "cup season 1, 2 divisions, played" in text_of((await root.get("/host")).text)
    for which, status in (("2", 404), ("0", 400), ("x", 400), ("9" * 30, 400)):
        assert (await stranger.get(f"/events/{series}/{which}")).status_code == status
    await root.post(f"/host/events/{series}/stop", {}, page=f"/host/events/{series}")
    page = await stranger.get(f"/events/{series}")
    assert ("A host stopped it." in text_of(page.text), "data-pending" in page.text) == (True, False)
    assert "seasons stopped" in text_of((await root.get("/host")).text)
    assert (await root.get(f"/host/events/{series}/stop", follow_redirects=False)).headers["location"] == "/host"
    assert (await stranger.post(f"/host/events/{series}/stop", {})).status_code in (401, 403)
    root.close()
    for old, new in ((f"/seasons/{series}", f"/events/{series}"), (f"/seasons/{series}/1", f"/events/{series}/1")):
        moved = await stranger.get(old, follow_redirects=False)
        assert (moved.status_code, moved.headers["location"]) == (308, new)
    assert "cup season 1, 2 divisions, stopped" in text_of((await stranger.get("/events")).text)
    stranger.close()


async def test_the_final_its_champion_and_the_next_season_are_shown(world: LeagueWorld) -> None:
    now = datetime.now(UTC)
    divisions = (DivisionPlan(2, 1, (("ann", "sneak"), ("bob", "thug"))), DivisionPlan(0, 0))
    duel = ladder_with_defaults("cup", "greed", 2, {}, TimeControl())
    plan = SeasonPlan(duel, divisions, 1, 0, None, 3_600, 2, 60, FinalPlan(2, 1))
    store = world.store  # the server knows nothing of these seasons, so that they stay as they are
    state = store.write(
        seasons.start, EventEntry("5ea50", "", "root", plan.text, now, name="cup"), plan.first_season(now), 8
    )
    store.write(seasons.end_play, "5ea50", 1, now)
    table = [
        replace(state.bots[0], place=2, version="1.0", rating=24.5, matches=9, next_division=2),
        replace(state.bots[1], place=1, version="2", rating=31.25, matches=9, next_division=0, has_left=True),
    ]
    final = TournamentPlan("cup-1-s1", ELIMINATION, 1, (BOB, ANN))
    entry = EventEntry("f1a1", "cup-1-s1", "root", final.text, now)
    store.write(seasons.put_table, "5ea50", 1, table, entry, None, now)
    stranger = Person(world.arena.address)
    text = text_of((await stranger.get("/events/5ea50")).text)
    assert "The tables are final, and the final is being played." in text
    assert "Bracket Final 1 bob/thug:2 2 ann/sneak:1.0" in text
    assert "1st bob/thug 31.2 9 has left 2nd ann/sneak 24.5 9 goes down" in text
    store.write(tournaments.put_board, "f1a1", TournamentBoardEntry(0, 0, "match0001", "01"))
    store.write(events.end, "f1a1", "finished", now)
    store.write(seasons.end_final, "5ea50", 1, "ann/sneak", now + timedelta(hours=1), now)
    text = text_of((await stranger.get("/events/5ea50")).text)
    assert "It is over. The next season begins" in text
    assert "Champion: ann/sneak" in text
    store.write(seasons.begin_next, "5ea50", 1, plan.season(2, now, [[("ann", "sneak")], []]))
    page = await stranger.get("/events/5ea50")
    assert "cup , season 2" in text_of(page.text)
    assert 'href="/events/5ea50/1"' in page.text
    assert "No bot yet." in text_of(page.text)
    first = (await stranger.get("/events/5ea50/1")).text
    assert ("Champion: ann/sneak" in text_of(first), "data-pending" in first) == (True, False)
    stranger.close()


async def test_nobody_else_sees_a_private_season(world: LeagueWorld) -> None:
    terms = ladder_pb2.LadderTerms(owners=["ann", "cid"], private=True)
    secret = ladder_pb2.LadderDefined(name="secret", game="greed", seats=2, terms=terms)
    series = await start(world, wanted(ladder=secret, divisions=[event_pb2.DivisionRequest()]))
    root, stranger = Person(world.arena.address), Person(world.arena.address)
    await root.sign_in(world.tokens["root"])
    page = await root.get(f"/host/events/{series}")
    assert (page.status_code, 'href="/ladders/secret-1-s1"' in page.text) == (200, False)
    assert (await stranger.get(f"/events/{series}")).status_code == 404
    root.close()
    stranger.close()
