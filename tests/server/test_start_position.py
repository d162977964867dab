"""Positions of finished matches that are played on: the cards that the seat did not know are dealt anew."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from cutpurse.engine.chance import match_key
from cutpurse.engine.game import Game
from cutpurse.engine.match import Match
from cutpurse.engine.record import Record, read_record, replay, write_record
from cutpurse.games import GAMES
from cutpurse.leaderboard.tokens import HOUSE, PEOPLE
from cutpurse.server.errors import CallRefused
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.requests import MatchRequest
from cutpurse.server.matches.start_position import StartPosition, position_of
from tests.server.small_world import World

NAME = "ab" * 16
KEYS = [match_key("anew", number) for number in range(3)]


def recorded(game: str, seats: int = 3, settings: dict[str, object] | None = None) -> Record:
    """Play a match by chance, and return its record."""
    match = Match(GAMES[game], [f"bot{seat}" for seat in range(seats)], match_key(game, 1), settings, log=True)
    drawn = random.Random(game)
    while (decision := match.decision()) is not None:
        match.answer(decision.seat, decision.number, drawn.randrange(len(decision.options)))
    return read_record(write_record(match))


def moments(record: Record, step: int) -> Iterator[tuple[int, int, Match]]:
    """Yield some decisions: choices before, seat, and the match, which goes on when the next is fetched."""
    for match, asked, _ in replay(record, GAMES[record.game]):
        if len(match.choices) % step == 0:
            yield len(match.choices), asked.seat, match


def ladder_of(game: str, seats: int = 3) -> Ladder:
    return Ladder(f"people.{game}.{seats}", game, seats, matches_wanted=0)


@pytest.mark.parametrize("game", list(GAMES))
def test_a_seat_plays_on_with_what_it_knew_and_other_hidden_cards(game: str) -> None:
    record = recorded(game)
    step = max(1, len(record.choices) // 8)
    anew = 0
    for choice, seat, match in moments(record, step):
        position = position_of(NAME, record, ladder_of(game), choice, seat)
        view, asked = match.game.view(seat), match.decision(seat)
        assert asked is not None
        for key in KEYS[:1]:
            imagined = position.imagined(key)
            assert imagined.view(seat) == view
            anew += cards_of(imagined) != cards_of(match.game)
            playing = Match(GAMES[game], record.seats, key, log=True, ask_all=True, position=imagined)
            first = playing.decision(seat)
            assert first is not None
            assert first.options == asked.options
            play_to_the_end(playing)
            assert not playing.result().voided
    assert anew > 0


def play_to_the_end(match: Match) -> None:
    drawn = random.Random(1)
    while (decision := match.decision()) is not None:
        match.answer(decision.seat, decision.number, drawn.randrange(len(decision.options)))


def cards_of(game: Game) -> list[list[int]]:
    return [list(zone.cards) for zone in game.zones()]


@pytest.mark.parametrize("game", list(GAMES))
def test_two_worlds_that_a_seat_cannot_tell_apart_are_played_on_alike(game: str) -> None:
    """The real hidden cards come into nothing: the same seed deals the same cards anew, whatever they were."""
    record = recorded(game)
    choice, seat, match = list(moments_kept(record))[len(record.choices) // 3]
    twin = StartPosition(NAME, choice, seat, match.view(seat)).imagined(match_key("twin", 1))
    assert cards_of(twin) != cards_of(match)  # another world
    assert twin.view(seat) == match.view(seat)  # which the seat cannot tell from the real one
    for key in KEYS:
        here = StartPosition(NAME, choice, seat, match.view(seat)).imagined(key)
        there = StartPosition(NAME, choice, seat, twin.view(seat)).imagined(key)
        assert here.save() == there.save()
    assert len({str(StartPosition(NAME, choice, seat, match.view(seat)).imagined(key).save()) for key in KEYS}) > 1


def moments_kept(record: Record) -> Iterator[tuple[int, int, Game]]:
    for choice, seat, match in moments(record, 1):
        yield choice, seat, match.game.fork()


@pytest.mark.parametrize(
    ("ladder", "choice", "off", "line"),
    [
        (ladder_of("szmal"), 0, 0, "is greed with 3 seats; people.szmal.3 is not"),
        (ladder_of("greed", 4), 0, 0, "is greed with 3 seats; people.greed.4 is not"),
        (ladder_of("greed"), 0, 1, "was not asked after 0 choices"),
        (ladder_of("greed"), 10**6, 0, "was not asked after 1000000 choices"),
    ],
)
def test_a_position_that_is_none_is_refused(ladder: Ladder, choice: int, off: int, line: str) -> None:
    record = recorded("greed")
    first, *_ = moments(record, 1)
    with pytest.raises(CallRefused, match=line):
        position_of(NAME, record, ladder, choice, (first[1] + off) % 3)


def test_a_match_from_a_position_begins_there_is_unrated_and_has_no_record() -> None:
    record = recorded("greed")
    choice, seat, _ = list(moments_kept(record))[5]
    ladder = ladder_of("greed")
    world = World([ladder])
    person = world.bot("person-1", 1, owner=PEOPLE)
    house = [world.bot(name, 2, owner=HOUSE) for name in ("people.random", "people.greedy")]
    bots = [bot.identity for bot in house]
    bots.insert(seat, person.identity)
    position = position_of(NAME, record, ladder, choice, seat)
    world.lobby.request(MatchRequest(ladder.name, tuple(bots), None, PEOPLE, position=position), world.now)
    world.run(lambda: bool(person.done))
    ended = person.done[0].ended
    assert ended is not None
    assert not ended.rated
    assert not ended.voided
    (result,) = world.store.kept.values()
    assert result.record() == ""
    assert not result.is_rated
    assert result.requested_by == PEOPLE
    assert result.reason == (
        f"people asked for it: seat {seat} plays on from decision {choice} of match abababab, hidden cards dealt anew"
    )
    assert b'"position":{"choice":' in result.deal.params
