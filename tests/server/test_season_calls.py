"""Calls about seasons: what can be planned, who may start and stop them, and who sees them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from cutpurse.leaderboard.results import Identity
from cutpurse.v1 import ladder_pb2
from tests.leaderboard.sample_results import result
from tests.server.dialling import Ended
from tests.server.league_world import LeagueWorld, league_world

Bot = ladder_pb2.BotName
Division = ladder_pb2.DivisionWanted


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[LeagueWorld]:
    async with league_world(tmp_path) as world:
        yield world


def wanted(**changed: Any) -> ladder_pb2.SeasonWanted:
    fields: dict[str, Any] = {
        "ladder": ladder_pb2.LadderDefined(name="cup", game="greed", seats=2),
        "divisions": [
            Division(size=2, down=1, bots=[Bot(owner="ann", bot="sneak")]),
            Division(bots=[Bot(owner="bob", bot="thug")]),
        ],
        "matches": 10,
        "final_top": 2,
        "final_best_of": 3,
    }
    return ladder_pb2.SeasonWanted(**(fields | changed))


def ladder(**changed: Any) -> ladder_pb2.LadderDefined:
    fields: dict[str, Any] = {"name": "cup", "game": "greed", "seats": 2}
    return ladder_pb2.LadderDefined(**(fields | changed))


def terms(**changed: Any) -> ladder_pb2.LadderDefined:
    return ladder(terms=ladder_pb2.LadderTerms(**changed))


async def refusal(world: LeagueWorld, method: str, who: str, **fields: Any) -> tuple[str, str]:
    with pytest.raises(Ended) as ended:
        await world.ask(method, who, **fields)
    assert "\n" not in ended.value.text
    return ended.value.reason, ended.value.text


SNEAK: Final = Bot(owner="ann", bot="sneak")
BAD: Final[list[tuple[dict[str, Any], str, str]]] = [
    ({"divisions": []}, "SETTINGS", "0 divisions: a season has 1 to 16"),
    ({"divisions": [Division()] * 17}, "SETTINGS", "17 divisions"),
    ({"divisions": [Division(size=3)]}, "SETTINGS", "the last division takes all other bots"),
    ({"divisions": [Division(size=1), Division()]}, "SETTINGS", "division 1 has size 1: it can be 2 to 256"),
    ({"divisions": [Division(size=257), Division()]}, "SETTINGS", "division 1 has size 257"),
    (
        {"divisions": [Division(size=2, down=2), Division()]},
        "SETTINGS",
        "2 bots go down from division 1: it can be 0 to 1",
    ),
    ({"divisions": [Division(size=2, bots=[SNEAK]), Division(bots=[SNEAK])]}, "SETTINGS", "bot ann/sneak is in the"),
    ({"divisions": [Division(bots=[Bot(owner="ann", bot="nobody")])]}, "NOT_FOUND", "no bot ann/nobody is known here"),
    ({"ladder": ladder(seats=4), "final_top": 0}, "SETTINGS", "division 1 has size 2: it can be 4 to 256, so that"),
    ({"ladder": ladder(seats=3), "divisions": [Division()]}, "SETTINGS", "a duel of the final has 2 bots, and 1 of 3"),
    ({"ladder": ladder(name="c" * 25)}, "SETTINGS", "'ccccccccccccccccccccccccc' has 25 characters"),
    ({"ladder": ladder(name="Cup!")}, "SETTINGS", "a ladder cannot be called 'Cup!'"),
    ({"ladder": ladder(game="chess")}, "NOT_FOUND", "no game is called 'chess'"),
    ({"ladder": ladder(hosted=True)}, "SETTINGS", "the divisions of a season are played on the server"),
    ({"ladder": ladder(boards=3)}, "SETTINGS", "a final needs plain boards"),
    ({"ladder": terms(most_bots=4)}, "SETTINGS", "a season freezes its ladders itself"),
    ({"ladder": terms(frozen_ms=4_000_000_000_000)}, "SETTINGS", "a season freezes its ladders itself"),
    ({"matches": 0}, "SETTINGS", "a season ends after a number of matches, after a time or at a time: set one"),
    ({"matches": 1_000_001}, "SETTINGS", "1,000,001 matches"),
    ({"pause_ms": 10**12}, "SETTINGS", "a season, its pause and the absence of a bot last ten years at most"),
    ({"ends_ms": 4_000_000_000_000}, "SETTINGS", "only a single season can end at a time"),
    ({"ends_ms": 1_000, "seasons": 1}, "SETTINGS", "1970-01-01 00:00 is over"),
    ({"ends_ms": 10**18, "seasons": 1}, "SETTINGS", "ends_ms is 1000000000000000000"),
    ({"final_top": 1}, "SETTINGS", "a final of 1 bots: it has 2 to 64"),
    ({"final_top": 65}, "SETTINGS", "a final of 65 bots"),
    ({"final_best_of": 2}, "SETTINGS", "best of 2: it can be an odd number from 1 to 99"),
    ({"seeds": "duel"}, "SETTINGS", "name the bots of the divisions, or a ladder that seeds them, and not both"),
    ({"seeds": "nowhere", "divisions": [Division()]}, "NOT_FOUND", "no ladder is called 'nowhere' here"),
]


async def test_what_cannot_be_planned_is_refused_in_one_line(world: LeagueWorld) -> None:
    for changed, reason, text in BAD:
        for method in ("PlanSeason", "StartSeason"):
            told = await refusal(world, method, "root", wanted=wanted(**changed))
            assert (told[0], told[1].startswith(text)) == (reason, True), told
    for method in ("PlanSeason", "StartSeason", "StopSeason"):
        assert (await refusal(world, method, "ann"))[0] == "TOKEN_SCOPE"
    assert world.store.series_list() == []


async def test_a_plan_is_shown_then_started_as_it_was_and_stopped(world: LeagueWorld) -> None:
    plan = (await world.ask("PlanSeason", "root", wanted=wanted())).season
    assert (plan.series, plan.number, plan.phase, plan.matches) == ("", 1, 0, 10)
    assert [(one.ladder, [standing.bot.bot for standing in one.standings]) for one in plan.divisions] == [
        ("cup-1-s1", ["sneak"]),
        ("cup-2-s1", ["thug"]),
    ]
    told = await refusal(world, "StartSeason", "root", wanted=wanted(matches=11), plan=plan.plan)
    assert (told[0], "look at it, and start that" in told[1]) == ("BAD_MESSAGE", True)
    assert (await refusal(world, "StartSeason", "root", wanted=wanted()))[1] == "name the plan that is to be started"
    started = (await world.ask("StartSeason", "root", wanted=wanted(), plan=plan.plan)).season
    assert (started.phase, started.plan, started.started_by) == (ladder_pb2.SEASON_PHASE_PLAYING, plan.plan, "root")
    again = await refusal(world, "StartSeason", "root", wanted=wanted(), plan=plan.plan)
    assert again == ("BAD_MESSAGE", "there is a ladder cup-1-s1 already; give the new one another name")
    for who in ("", "bob"):
        shown = (await world.ask("GetSeason", who, series=started.series)).season
        assert [one.series for one in (await world.ask("ListSeasons", who)).seasons] == [started.series]
        assert shown.divisions[0].standings[0].bot.bot == "sneak"
    ladders = (await world.ask("ListLadders", "bob")).ladders
    of = {one.defined.name: (one.season, one.season_number) for one in ladders}
    assert of == {"duel": ("", 0), "cup-1-s1": (started.series, 1), "cup-2-s1": (started.series, 1)}
    for number, series in ((2, started.series), (0, "0123456789ab")):
        assert (await refusal(world, "GetSeason", "root", series=series, number=number))[0] == "NOT_FOUND"
    stopped = (await world.ask("StopSeason", "root", series=started.series)).season
    assert (stopped.phase, stopped.outcome) == (ladder_pb2.SEASON_PHASE_STOPPED, "stopped")
    again = await refusal(world, "StopSeason", "root", series=started.series)
    assert again == ("SETTINGS", f"seasons {started.series} have ended already: stopped")
    assert all(one.is_frozen for one in (await world.ask("ListLadders")).ladders if one.season)
    acts = (Path(world.store.database.beside).parent).glob("*acts*")
    said = "".join(path.read_text(encoding="utf-8") for path in acts)
    assert f"{started.series}, cup, plan {plan.plan}" in said
    assert "seasons stopped" in said


async def test_a_ranking_fills_the_divisions(world: LeagueWorld) -> None:
    world.store.put_estimates(world.store.ladder_estimates("duel"), datetime.now(UTC)).result()
    divisions = [Division(size=2, down=1), Division()]
    seeded = wanted(seeds="duel", divisions=divisions)
    plan = (await world.ask("PlanSeason", "root", wanted=seeded)).season
    assert [[one.bot.bot for one in division.standings] for division in plan.divisions] == [["sneak", "thug"], []]
    players = [Identity("bob", "thug", "2"), Identity("ann", "sneak", "1.0")]
    for number in range(12):
        world.store.submit(result(f"more{number}", players, ladder="duel")).result()
    world.store.put_estimates(world.store.ladder_estimates("duel"), datetime.now(UTC)).result()
    told = await refusal(world, "StartSeason", "root", wanted=seeded, plan=plan.plan)
    assert (told[0], "a ranking changed" in told[1]) == ("BAD_MESSAGE", True)


async def test_seasons_are_seen_by_those_who_see_their_ladders_and_results(world: LeagueWorld) -> None:
    secret = wanted(
        ladder=terms(owners=["ann", "cid"], private=True),
        divisions=[Division(bots=[Bot(owner="ann", bot="hush"), Bot(owner="cid", bot="hush_too")])],
    )
    plan = (await world.ask("PlanSeason", "root", wanted=secret)).season.plan
    series = (await world.ask("StartSeason", "root", wanted=secret, plan=plan)).season.series
    for who in ("", "bob"):
        assert (await world.ask("ListSeasons", who)).seasons == []
        told = await refusal(world, "GetSeason", who, series=series)
        assert told == ("NOT_FOUND", f"there are no seasons '{series}' here")
    assert (await world.ask("GetSeason", "cid", series=series)).season.divisions[0].ladder == "cup-1-s1"
    until = datetime.now(UTC) + timedelta(hours=1)
    hidden = {"owners": ["ann", "cid"], "private": True, "results_hidden_until_ms": int(until.timestamp() * 1_000)}
    await world.ask("ChangeLadder", "root", ladder="cup-1-s1", terms=hidden)
    told = await refusal(world, "GetSeason", "cid", series=series)
    assert told == ("NOT_YOURS", f"results of cup-1-s1 are hidden until {until:%Y-%m-%d %H:%M} UTC")
    assert (await world.ask("ListSeasons", "cid")).seasons == []
    assert (await world.ask("GetSeason", "root", series=series)).season.series == series


async def test_at_most_eight_series_go_on(world: LeagueWorld) -> None:
    for number in range(9):
        asked = wanted(ladder=ladder(name=f"cup{number}"))
        plan = (await world.ask("PlanSeason", "root", wanted=asked)).season.plan
        if number < 8:
            await world.ask("StartSeason", "root", wanted=asked, plan=plan)
    told = await refusal(world, "StartSeason", "root", wanted=asked, plan=plan)
    assert told == ("FULL", "seasons of 8 plans go on, as many as may: stop one of them")
