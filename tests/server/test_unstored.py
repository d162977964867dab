"""A match that is over and not stored yet is told as such to whoever names it, and to nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cutpurse.leaderboard.ladders import NewLadder, change_ladder, create_ladder
from cutpurse.leaderboard.results import LadderTerms
from cutpurse.leaderboard.store import Store
from cutpurse.server.errors import CallRefused
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.league.league_queries import STRANGER, Answers
from cutpurse.server.league.presence import Presence
from cutpurse.server.matches.storing import RETRY_S, SAID_S
from cutpurse.v1 import ladder_pb2
from tests.server.small_world import World

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "league.db") as store:
        store.write(create_ladder, NewLadder("it", game="greed", seats=2, rating=Ladder("it", "greed", 2).rating), NOW)
        yield store


def seen(world: World) -> Presence:
    lobby = world.lobby
    return Presence(lobby.here(), lobby.open_matches(), lobby.requested, lobby.unstored_matches())


def opened(answers: Answers, presence: Presence, match: str = "") -> list[ladder_pb2.OpenMatch]:
    request = ladder_pb2.ListOpenMatchesRequest(match=match)
    return list(answers.list_open_matches(request, STRANGER, presence).matches)


def test_a_match_is_told_as_being_stored_until_it_is(store: Store) -> None:
    world, answers = World([Ladder("it", "greed", 2, matches_wanted=1)]), Answers(store, lambda: NOW)
    world.store.takes_s = 5.0
    for name in ("ann", "bob"):
        world.bot(name)
    world.run(lambda: bool(world.lobby.open_matches()))
    name = world.lobby.open_matches()[0].name
    assert [one.is_over for one in opened(answers, seen(world), name)] == [False]

    world.run(lambda: not world.lobby.open_matches())
    presence = seen(world)
    (told,) = opened(answers, presence, name)
    assert (told.match, told.ladder, told.game, told.is_over) == (name, "it", "greed", True)
    assert {seat.bot for seat in told.seats} == {"ann", "bob"}
    assert opened(answers, presence) == []  # it is not being played
    assert opened(answers, presence, name[:8]) == []
    with pytest.raises(CallRefused, match="is over; its result is being stored"):
        answers.get_match(ladder_pb2.GetMatchRequest(match=name), STRANGER, presence)

    store.write(change_ladder, "it", LadderTerms(owners=("ann",), is_private=True))
    assert opened(answers, presence, name) == []

    world.run(lambda: name in world.store.kept and world.lobby.is_idle)
    assert world.lobby.unstored_matches() == []


def test_a_void_match_that_the_store_has_not_taken_is_one_of_them() -> None:
    world = World([Ladder("it", "greed", 2)])
    world.store.is_broken = True
    bots = [world.bot(name, tables=1) for name in ("ann", "bob")]
    world.run(lambda: all(bot.done for bot in bots))
    (unstored,) = world.lobby.unstored_matches()
    (announced,) = world.store.announced
    assert (unstored.name, unstored.ladder.name) == (announced, "it")
    assert unstored.seats == world.store.announced[announced].players
    world.store.is_broken = False
    world.run(lambda: world.lobby.is_storing)
    assert announced in world.store.kept
    assert world.lobby.unstored_matches() == []


def test_a_store_that_fails_all_night_is_tried_every_second_and_told_of_once_a_minute() -> None:
    world = World([Ladder("it", "greed", 2)])
    world.store.is_broken = True
    bots = [world.bot(name, tables=1) for name in ("ann", "bob")]
    world.run(lambda: all(bot.done for bot in bots))
    began, tries, told = world.now, world.lobby.counts.not_stored, len(world.log.errors())
    assert told >= 1
    world.run(lambda: world.now >= began + 10 * SAID_S)
    assert world.lobby.counts.not_stored - tries >= 9 * SAID_S / RETRY_S
    assert len(world.log.errors()) - told in range(9, 12)
    assert world.lobby.counts.incidents == len(world.log.errors())
    world.store.is_broken = False
    world.run(lambda: world.lobby.is_storing)
    assert "results are stored again" in [event for _, event, _ in world.log.lines]
