"""Calls about seasons: what can be planned, who may start and stop them, and who sees them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from cutpurse.leaderboard import events
from cutpurse.leaderboard.estimates.result_matrix import ladder_results, put_estimates
from cutpurse.leaderboard.events import SERIES
from cutpurse.leaderboard.results import Identity
from cutpurse.v1 import event_pb2, ladder_pb2
from tests.leaderboard.sample_results import result
from tests.server.league_world import LeagueWorld
from tests.server.raw_bot import RawBot

Bot = ladder_pb2.BotName
Division = event_pb2.DivisionRequest


def wanted(**changed: Any) -> event_pb2.EventRequest:
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
    return event_pb2.EventRequest(season=event_pb2.SeasonRequest(**(fields | changed)))


def ladder(**changed: Any) -> ladder_pb2.LadderDefined:
    fields: dict[str, Any] = {"name": "cup", "game": "greed", "seats": 2}
    return ladder_pb2.LadderDefined(**(fields | changed))


def terms(**changed: Any) -> ladder_pb2.LadderDefined:
    return ladder(terms=ladder_pb2.LadderTerms(**changed))


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
    (
        {"ladder": ladder(seats=3), "divisions": [Division()]},
        "SETTINGS",
        "a duel of the final has 2 bots, which leaves 1 seat for",
    ),
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
    ({"final_top": 1}, "SETTINGS", "a final of 1 bot: it has 2 to 64"),
    ({"final_top": 65}, "SETTINGS", "a final of 65 bots"),
    ({"final_best_of": 2}, "SETTINGS", "best of 2: it can be an odd number from 1 to 99"),
    ({"seeds": "duel"}, "SETTINGS", "name the bots of the divisions, or a ladder that seeds them, and not both"),
    ({"seeds": "nowhere", "divisions": [Division()]}, "NOT_FOUND", "no ladder is called 'nowhere' here"),
]


async def test_what_cannot_be_planned_is_refused_in_one_line(world: LeagueWorld) -> None:
    for changed, reason, text in BAD:
        for method in ("PlanEvent", "StartEvent"):
            told = await world.refusal(method, "root", event=wanted(**changed))
            assert (told[0], told[1].startswith(text)) == (reason, True), told
    for method in ("PlanEvent", "StartEvent"):
        assert (await world.refusal(method, "ann", event=wanted()))[0] == "TOKEN_SCOPE"
    assert world.store.run(events.entries, [SERIES]) == []


async def test_a_plan_is_shown_then_started_as_it_was_and_stopped(world: LeagueWorld) -> None:
    plan = (await world.ask("PlanEvent", "root", event=wanted())).event
    assert (plan.event, plan.season.number, plan.season.phase, plan.season.matches) == ("", 1, 0, 10)
    assert [(one.ladder, [standing.bot.bot for standing in one.standings]) for one in plan.season.divisions] == [
        ("cup-1-s1", ["sneak"]),
        ("cup-2-s1", ["thug"]),
    ]
    told = await world.refusal("StartEvent", "root", event=wanted(matches=11), plan=plan.plan)
    assert (told[0], "look at it, and start that" in told[1]) == ("BAD_MESSAGE", True)
    assert (await world.refusal("StartEvent", "root", event=wanted()))[1] == "name the plan that is to be started"
    started = (await world.ask("StartEvent", "root", event=wanted(), plan=plan.plan, force=True)).event
    assert (started.season.phase, started.plan, started.started_by) == (
        event_pb2.SEASON_PHASE_PLAYING,
        plan.plan,
        "root",
    )
    again = await world.refusal("StartEvent", "root", event=wanted(), plan=plan.plan, force=True)
    assert again == ("BAD_MESSAGE", "there is a ladder cup-1-s1 already; give the new one another name")
    for who in ("", "bob"):
        shown = (await world.ask("GetEvent", who, event=started.event)).event
        assert [one.event for one in (await world.ask("ListEvents", who)).events] == [started.event]
        assert shown.season.divisions[0].standings[0].bot.bot == "sneak"
    ladders = (await world.ask("ListLadders", "bob")).ladders
    of = {one.defined.name: (one.season, one.season_number) for one in ladders}
    assert of == {"duel": ("", 0), "cup-1-s1": (started.event, 1), "cup-2-s1": (started.event, 1)}
    for number, series in ((2, started.event), (0, "0123456789ab")):
        assert (await world.refusal("GetEvent", "root", event=series, season=number))[0] == "NOT_FOUND"
    assert (await world.refusal("StopEvent", "ann", event=started.event))[0] == "TOKEN_SCOPE"
    stopped = (await world.ask("StopEvent", "root", event=started.event)).event
    assert (stopped.season.phase, stopped.outcome) == (event_pb2.SEASON_PHASE_STOPPED, "stopped")
    again = await world.refusal("StopEvent", "root", event=started.event)
    assert again == ("SETTINGS", f"event {started.event} has ended already: stopped")
    assert all(one.is_frozen for one in (await world.ask("ListLadders")).ladders if one.season)
    acts = (Path(world.store.database.beside).parent).glob("*acts*")
    said = "".join(path.read_text(encoding="utf-8") for path in acts)
    assert f"{started.event}, cup, plan {plan.plan}" in said
    assert "seasons stopped" in said


async def test_a_ranking_fills_the_divisions(world: LeagueWorld) -> None:
    world.store.write(put_estimates, world.store.run(ladder_results, "duel").estimates(), datetime.now(UTC))
    divisions = [Division(size=2, down=1), Division()]
    seeded = wanted(seeds="duel", divisions=divisions)
    plan = (await world.ask("PlanEvent", "root", event=seeded)).event
    assert [[one.bot.bot for one in division.standings] for division in plan.season.divisions] == [["thug"], []]
    assert [(one.bot.bot, one.why, one.is_left_out) for one in plan.absent] == [
        ("sneak", "is paused and left out", True),
        ("thug", "is away", False),
    ]
    players = [Identity("bob", "thug", "2"), Identity("cid", "fox", "1")]
    for number in range(12):
        world.store.submit(result(f"more{number}", players, ladder="duel")).result()
    world.store.write(put_estimates, world.store.run(ladder_results, "duel").estimates(), datetime.now(UTC))
    told = await world.refusal("StartEvent", "root", event=seeded, plan=plan.plan)
    assert (told[0], "bots, ratings or its file changed" in told[1]) == ("BAD_MESSAGE", True)


async def test_a_season_begins_once_two_bots_can_fill_a_match(world: LeagueWorld) -> None:
    asked = wanted(divisions=[Division(bots=[Bot(owner="bob", bot="thug")])])
    plan = (await world.ask("PlanEvent", "root", event=asked)).event.plan
    needs = (
        "a season needs two bots, and a division whose bots can fill a match: wait for them, or start it with --force"
    )
    reasons = ["1 of 1 cannot play now: bob/thug is away; ", ""]
    async with (
        RawBot(world.arena.address, world.tokens["bob"]) as bob,
        RawBot(world.arena.address, world.tokens["ann"]) as ann,
    ):
        for reason in reasons:
            told = await world.refusal("StartEvent", "root", event=asked, plan=plan)
            assert told == ("SETTINGS", f"{reason}{needs}")
            if reason:
                await bob.hello("thug", version="9")  # any version will do
        await ann.hello("newcomer")  # who comes into the last division
        assert (await world.ask("StartEvent", "root", event=asked, plan=plan)).event.absent == []


async def test_seasons_are_seen_by_those_who_see_their_ladders_and_results(world: LeagueWorld) -> None:
    secret = wanted(
        ladder=terms(owners=["ann", "cid"], private=True),
        divisions=[Division(bots=[Bot(owner="ann", bot="hush"), Bot(owner="cid", bot="hush_too")])],
    )
    plan = (await world.ask("PlanEvent", "root", event=secret)).event.plan
    series = (await world.ask("StartEvent", "root", event=secret, plan=plan, force=True)).event.event
    for who in ("", "bob"):
        assert (await world.ask("ListEvents", who)).events == []
        told = await world.refusal("GetEvent", who, event=series)
        assert told == ("NOT_FOUND", f"there is no event '{series}' here")
    assert (await world.ask("GetEvent", "cid", event=series)).event.season.divisions[0].ladder == "cup-1-s1"
    until = datetime.now(UTC) + timedelta(hours=1)
    hidden = {"owners": ["ann", "cid"], "private": True, "results_hidden_until_ms": int(until.timestamp() * 1_000)}
    await world.ask("ChangeLadder", "root", ladder="cup-1-s1", terms=hidden)
    told = await world.refusal("GetEvent", "cid", event=series)
    assert told == ("NOT_YOURS", f"results of cup-1-s1 are hidden until {until:%Y-%m-%d %H:%M} UTC")
    assert (await world.ask("ListEvents", "cid")).events == []
    assert (await world.ask("GetEvent", "root", event=series)).event.event == series


async def test_at_most_eight_series_go_on(world: LeagueWorld) -> None:
    for number in range(9):
        asked = wanted(ladder=ladder(name=f"cup{number}"))
        plan = (await world.ask("PlanEvent", "root", event=asked)).event.plan
        if number < 8:
            await world.ask("StartEvent", "root", event=asked, plan=plan, force=True)
    told = await world.refusal("StartEvent", "root", event=asked, plan=plan, force=True)
    assert told == ("FULL", "seasons of 8 plans go on, as many as may: stop one of them")
