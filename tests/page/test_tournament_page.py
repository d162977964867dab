"""A host plans, starts and stops a tournament on the page; everybody sees how it goes."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from cutpurse.leaderboard import events, tournaments
from cutpurse.leaderboard.events import FINISHED, TOURNAMENT, EventEntry
from cutpurse.leaderboard.formats.brackets import DOUBLE_ELIMINATION, ELIMINATION, Lane
from cutpurse.leaderboard.formats.duels import Duels
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.tournaments import TournamentBoardEntry
from cutpurse.server.parts.events.tournament_rules import TournamentPlan
from tests.looking import looks
from tests.page.accounts import Person, text_of
from tests.server.awarded_matches import MATCHES, put_matches
from tests.server.league_world import LeagueWorld

FORM = {
    "kind": "tournament",
    "ladder": "duel",
    "format": "elimination",
    "best_of": "3",
    "bots": "ann/sneak, bob/thug",
    "top": "",
}


async def test_a_host_plans_starts_follows_and_stops_a_tournament(world: LeagueWorld) -> None:
    root, stranger = Person(world.arena.address), Person(world.arena.address)
    await root.sign_in(world.tokens["root"])
    plan = await root.post("/host/events/plan", FORM, page="/host")
    assert plan.status_code == 200
    text = text_of(plan.text)
    assert "Plan of a tournament" in text
    assert "Nothing is started yet" in text
    assert "Elimination, best of 3, by the rules of duel ." in text
    assert world.store.run(events.entries, [TOURNAMENT]) == []
    digest = re.search(r'name="plan" value="([0-9a-f]{64})"', plan.text)
    assert digest is not None
    assert digest[1] in text
    refused = await root.post("/host/events", {**FORM, "best_of": "5", "plan": digest[1]}, page="/host")
    assert (refused.status_code, "look at it, and start that" in text_of(refused.text)) == (400, True)
    assert "Cannot play now: ann/sneak:1.0 is paused bob/thug:2 is away" in text
    assert '<input type="checkbox" name="force">' in plan.text
    refused = await root.post("/host/events", {**FORM, "plan": digest[1]}, page="/host")
    assert (refused.status_code, "2 of 2 cannot play now" in text_of(refused.text)) == (400, True)
    form = {**FORM, "plan": digest[1], "force": "on"}
    started = await root.post("/host/events", form, page="/host", follow_redirects=False)
    assert started.status_code == 303
    (entry,) = world.store.run(events.entries, [TOURNAMENT])
    assert started.headers["location"] == f"/host/events/{entry.id}"
    world.store.write(tournaments.put_board, entry.id, TournamentBoardEntry(0, 0, "match0001", "10"))
    for person, path in ((root, f"/host/events/{entry.id}"), (stranger, f"/events/{entry.id}")):
        page = await person.get(path)
        assert page.status_code == 200
        assert "Bracket Final 1 ann/sneak:1.0 1 2 bob/thug:2 0 Boards" in text_of(page.text)
        assert 'href="/matches/match0001"' in page.text
        assert "data-pending" in page.text
        assert "ann/sneak:1.0 against bob/thug:2 1 : 0 match000" in text_of(page.text)
        assert "ann/sneak:1.0 1 0 of 0 1 of 1 still in" in text_of(page.text), "no rank while it may still win"
        assert ("Stop it" in page.text) == (person is root)
    assert f"{entry.id} on duel , 2 bots, 0 of 1 duel, played" in text_of((await root.get("/host")).text)
    await root.post(f"/host/events/{entry.id}/stop", {}, page=f"/host/events/{entry.id}")
    page = await stranger.get(f"/events/{entry.id}")
    assert ("It is stopped." in text_of(page.text), "data-pending" in page.text) == (True, False)
    assert "tournament started" in text_of((await root.get("/host")).text)
    for old, new in (
        (f"/tournaments/{entry.id}", f"/events/{entry.id}"),
        (f"/host/tournaments/{entry.id}", f"/host/events/{entry.id}"),
    ):
        moved = await root.get(old, follow_redirects=False)
        assert (moved.status_code, moved.headers["location"]) == (308, new)
    for path in ("/host/events/plan", "/host/events", f"/host/events/{entry.id}/stop"):
        assert (await root.get(path, follow_redirects=False)).headers["location"] == "/host"
    root.close()
    stranger.close()


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"best_of": "2"}, "best of 2: it can be an odd number from 1 to 99"),
        ({"best_of": "two"}, "'two' is no number"),
        ({"format": "swiss"}, "a tournament has one of these formats: elimination, round_robin, double_elimination"),
        ({"bots": "sneak:"}, "'sneak:' names no bot"),
        ({"top": "3"}, "name bots, or how many of the best, and not both"),
    ],
)
async def test_a_form_that_makes_no_sense_is_answered_in_one_line(
    world: LeagueWorld, changed: dict[str, str], text: str
) -> None:
    root = Person(world.arena.address)
    await root.sign_in(world.tokens["root"])
    answer = await root.post("/host/events/plan", {**FORM, **changed}, page="/host")
    assert (answer.status_code, text in text_of(answer.text)) == (400, True)
    root.close()


async def test_nobody_else_plans_starts_or_stops_one(world: LeagueWorld) -> None:
    ann = Person(world.arena.address)
    await ann.sign_in(world.tokens["ann"])
    for path in ("/host/events/plan", "/host/events", "/host/events/0123456789ab/stop"):
        assert (await ann.post(path, FORM)).status_code == 403
    assert (await ann.get("/host/events/0123456789ab")).status_code == 403
    assert (await ann.get("/events/0123456789ab")).status_code == 404
    assert world.store.run(events.entries, [TOURNAMENT]) == []
    ann.close()


async def test_both_brackets_are_drawn_and_each_duel_stands_between_those_that_lead_to_it(world: LeagueWorld) -> None:
    bots = tuple(Identity("ann", f"bot{number}", "1") for number in range(5))
    plan = TournamentPlan("duel", DOUBLE_ELIMINATION, 1, bots)
    world.store.write(tournaments.start, EventEntry("0123456789ab", "duel", "root", plan.text, datetime.now(UTC)), 9)
    results: dict[int, list[str]] = {}
    while due := [duel for duel in Duels(plan.format, len(plan.bots), plan.best_of, results).all if duel.is_due]:
        for duel in due:
            is_last = duel.lane is Lane.FINAL and duel.round == 0
            results[duel.number] = ["01" if is_last else "10"]
            board = TournamentBoardEntry(duel.number, 0, f"match{duel.number:04}", results[duel.number][0])
            world.store.write(tournaments.put_board, "0123456789ab", board)
    ann = Person(world.arena.address)
    page = await ann.get("/events/0123456789ab")
    html = page.text
    text = text_of(html)
    assert "Double elimination, best of 1" in text
    titles = ["Winners' bracket", "Losers' bracket", "The finals"]
    heads = [title.replace("&#39;", "'") for title in re.findall(r"<h2>(.*?)</h2>", html)]
    assert heads == [*titles, "Boards"]
    assert re.findall(r"<h3>(.*?)</h3>", html) == [
        *("Round 1", "Round 2", "Round 3"),
        *("Round 1", "Round 2", "Round 3", "Round 4"),
        *("Grand final", "Reset duel"),
    ]
    lanes = html.split('class="bracket"')[1:]
    widths = [[column.count('class="slot') for column in lane.split("<h3>")[1:]] for lane in lanes]
    assert widths == [[4, 2, 1], [2, 2, 1, 1], [1, 1]]
    assert lanes[1].count('class="slot gap" aria-hidden="true"') == 1, "nobody comes down from two byes"
    assert re.findall(r'<li class="(\w+)"><h3>', lanes[1]) == ["straight", "halves", "straight", "nothing"]
    assert re.search(r"Reset duel 1 ann/bot0:1 won 1 \d ann/bot\d:1 0 Boards", text)
    assert "Losers' bracket: Round 4" in text
    german = await ann.get("/events/0123456789ab", headers={"Accept-Language": "de"})
    assert "Verliererrunde" in german.text
    ann.close()


async def test_a_tournament_that_is_over_shows_awards_and_none_before(world: LeagueWorld) -> None:
    bots = (Identity("ann", "sneak", "1.0"), Identity("bob", "thug", "2"))
    put_matches(world.store, "duel", bots, is_rated=False)
    plan = TournamentPlan("duel", ELIMINATION, 3, bots)
    world.store.write(tournaments.start, EventEntry("0123456789ab", "duel", "root", plan.text, datetime.now(UTC)), 9)
    for board, match in enumerate(MATCHES):
        world.store.write(tournaments.put_board, "0123456789ab", TournamentBoardEntry(0, board, match, "=="))
    ann = Person(world.arena.address)
    assert "wards" not in (await ann.get("/events/0123456789ab")).text
    world.store.write(events.end, "0123456789ab", FINISHED, datetime.now(UTC))
    page = await ann.get("/events/0123456789ab")
    assert "The awards are being worked out." in page.text
    assert "data-pending" in page.text
    async for _ in looks():
        page = await ann.get("/events/0123456789ab")
        if "data-pending" not in page.text:
            break
    text = text_of(page.text)
    assert "Awards" in text
    assert "Calmest clock: ann/sneak:1.0 , its slowest answer took 9 ms." in text
    assert 'href="/matches/ad0000ac"' in page.text
    ann.close()
