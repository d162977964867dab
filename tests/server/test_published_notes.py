"""Notes that an owner publishes: who may switch it, and who sees them on which ladder."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from cutpurse.leaderboard.ladders import change_ladder
from cutpurse.leaderboard.results import LadderTerms
from tests.server.dialling import Ended
from tests.server.league_world import LeagueWorld


async def notes_of(world: LeagueWorld, match: str, who: str = "") -> list[list[tuple[int, str]]]:
    courses = (await world.ask("GetMatch", who, match=match)).courses
    return [[(note.decision, note.text) for note in course.notes] for course in courses]


async def test_an_owner_publishes_the_notes_of_a_bot_and_keeps_them_again(world: LeagueWorld) -> None:
    sneak = {"owner": "ann", "bot": "sneak"}
    assert await notes_of(world, "match0000") == [[], []], "kept unless the owner says otherwise"
    with pytest.raises(Ended) as refused:
        await world.ask("ChangeBot", "bob", bot=sneak, publishes_notes=True)
    assert refused.value.reason == "NOT_YOURS"
    with pytest.raises(Ended) as refused:
        await world.ask("ChangeBot", "ann", bot={"bot": "nobody"}, publishes_notes=True)
    assert refused.value.reason == "NOT_FOUND"
    for _ in range(2):  # twice is once
        answer = (await world.ask("ChangeBot", "ann", bot={"bot": "sneak"}, publishes_notes=True)).bot
        assert (answer.bot.version, answer.publishes_notes) == ("1.0", True)
    assert await notes_of(world, "match0000") == [[(1, "whispered")], []]
    assert [bot.publishes_notes for bot in (await world.ask("ListBots", owner="ann")).bots] == [True]
    people = (await world.ask("ChangeBot", "ann", bot=sneak, declines_people=True)).bot
    assert (people.declines_people, people.publishes_notes) == (True, True), "what is absent stays"
    kept = (await world.ask("ChangeBot", "ann", bot=sneak, publishes_notes=False)).bot
    assert (kept.declines_people, kept.publishes_notes) == (True, False)
    assert (await world.ask("ChangeBot", "ann", bot=sneak)).bot == kept, "nothing is changed"
    assert await notes_of(world, "match0000") == [[], []]


async def test_ladders_that_hide_something_never_show_notes_not_even_to_hosts(world: LeagueWorld) -> None:
    for bot in ("sneak", "hush"):
        await world.ask("ChangeBot", "ann", bot={"bot": bot}, publishes_notes=True)
    for who in ("ann", "cid", "root"):
        assert await notes_of(world, "feedc0de0000", who) == [[], []], "the ladder is private"
    later = datetime.now(UTC) + timedelta(days=1)
    for terms in (LadderTerms(results_hidden_until=later), LadderTerms(names_hidden_until=later)):
        world.store.write(change_ladder, "duel", terms)
        assert await notes_of(world, "match0000", "root") == [[], []]
    world.store.write(change_ladder, "duel", LadderTerms())
    assert await notes_of(world, "match0000", "root") == [[(1, "whispered")], []]
